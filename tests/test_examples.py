"""The examples show each rule, and nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from flake8_torchrepro.analysis import analyze
from flake8_torchrepro.rule import all_rules
from flake8_torchrepro.settings import Settings
from flake8_torchrepro.source import Source

EXAMPLES = Path(__file__).parent.parent / "examples"
SHOWN = {
    "train.py": ["TRP101", "TRP104", "TRP201", "TRP301", "TRP303"],
    "infer.py": ["TRP105", "TRP201", "TRP201", "TRP202", "TRP204"],
    "notebook_like.py": ["TRP103", "TRP205", "TRP302"],
}
CODES = {code for codes in SHOWN.values() for code in codes}


@pytest.mark.parametrize("name", SHOWN)
def test_example(name: str) -> None:
    path = EXAMPLES / name
    findings = analyze(Source.parse(path.read_text(encoding="utf-8"), path), Settings())
    known = {rule.code for rule in all_rules()}
    wanted = Counter(code for code in SHOWN[name] if code in known)
    assert Counter(finding.code for finding in findings if finding.code in CODES) == wanted


def test_every_example_is_listed() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SHOWN)
