"""The cases: small files shaped after public reports, each with the findings that it must give, half of them none.

A file says ``# expect: 18:TRP101  # about TRP101`` (or ``clean``) in its header; a folder has a file ``EXPECT``.
Every expected finding of a rule that exists must be given at its line, and no rule that the case is about may say more.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from flake8_torchrepro.analysis import analyze, program_for
from flake8_torchrepro.rule import all_rules
from flake8_torchrepro.settings import Settings
from flake8_torchrepro.source import Source

CASES = Path(__file__).parent / "cases"
EXPECTED = re.compile(r"(?:(?P<file>[\w/]+\.py):)?(?P<line>\d+):(?P<code>TRP\d+)")
SETTINGS = Settings(select=("TRP", "TRP9"))

# What a folder without any expected finding must stay clean of.
CROSS_FILE = {"TRP101", "TRP103", "TRP106", "TRP201", "TRP301"}

# Remove this mark from `parameters` once findings see other files of the project.

# Cases that are not right yet, each with the reason. A case that starts to pass must leave this table.
KNOWN: dict[str, str] = {}


class Place(NamedTuple):
    """Where a finding stands: the file as the case names it, the line, the code."""

    file: str
    line: int
    code: str


def read_case(case: Path) -> tuple[set[Place], set[str]]:
    """What a case expects, and the codes that it is about."""
    if case.is_dir():
        lines = (case / "EXPECT").read_text(encoding="utf-8").splitlines()
        marks, about = "\n".join(line for line in lines if not line.startswith("#")), ""
    else:
        lines = case.read_text(encoding="utf-8").splitlines()
        header = next(line for line in lines if line.startswith("# expect:"))
        marks, _, about = header.partition("# about ")
    expected = {Place(m["file"] or case.name, int(m["line"]), m["code"]) for m in EXPECTED.finditer(marks)}
    codes = {place.code for place in expected} | set(about.strip().split(",")) - {""}
    return expected, codes or CROSS_FILE


def lint(root: Path) -> set[Place]:
    """What the analysis says of every file of a project."""
    return {
        Place(path.relative_to(root).as_posix(), finding.span.line, finding.code)
        for path in sorted(root.rglob("*.py"))
        for finding in analyze(
            Source.parse(path.read_text(encoding="utf-8"), path), SETTINGS, program_for(path, SETTINGS)
        )
    }


def parameters() -> list[object]:
    cases = sorted(path for path in CASES.iterdir() if path.suffix == ".py" or (path / "EXPECT").exists())
    return [
        pytest.param(
            case,
            id=case.name,
            marks=[pytest.mark.xfail(strict=True, reason=KNOWN[case.name])] if case.name in KNOWN else [],
        )
        for case in cases
    ]


@pytest.mark.parametrize("case", parameters())
def test_case(case: Path, tmp_path: Path) -> None:
    """A case is a project of its own, so that no case sees another."""
    expected, about = read_case(case)
    (tmp_path / ".git").mkdir()
    if case.is_dir():
        shutil.copytree(case, tmp_path, dirs_exist_ok=True)
    else:
        shutil.copy(case, tmp_path)
    known = {rule.code for rule in all_rules()}
    given = {place for place in lint(tmp_path) if place.code in about}
    wanted = {place for place in expected if place.code in known}
    assert {"missed": wanted - given, "false alarms": given - wanted} == {"missed": set(), "false alarms": set()}


def test_known_names_cases_that_exist() -> None:
    assert {name for name in KNOWN if not (CASES / name).exists()} == set()
