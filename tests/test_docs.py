"""The docs say what the rules say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def test_pages_and_table_are_up_to_date() -> None:
    run = subprocess.run([sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", ""), "run `make docs`"


def test_links_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
    links = [(page, link) for page in pages for link in LINK.findall(page.read_text(encoding="utf-8"))]
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []
