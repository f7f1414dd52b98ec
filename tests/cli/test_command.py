"""What the command does with good files: repair, check, diff, and the exit status of each."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import FakeRule, Ran, python

from flake8_torchrepro import __version__
from flake8_torchrepro.flow.program import ModuleView

Fix = Callable[..., Ran]
Write = Callable[..., Path]

ALL_KINDS = "bad(1)\nbad(2)\nbad(3)\n"


def test_repairs_in_place(fix: Fix, write: Write) -> None:
    path = write("a.py", "bad(1)\n")
    assert fix("a.py") == Ran(0, "", "1 finding repaired in 1 file\n")
    assert path.read_text() == "good(1)\n"


def test_lists_what_is_left_after_repairs(fix: Fix, write: Write) -> None:
    path = write("a.py", ALL_KINDS)
    write("b.py", ALL_KINDS)
    ran = fix("a.py", "b.py")
    assert ran.status == 1
    assert ran.out.splitlines()[0] == "a.py:2:1: TRP201 `bad` is called"
    assert ran.places == ["a.py:2:1 TRP201", "a.py:3:1 TRP201", "b.py:2:1 TRP201", "b.py:3:1 TRP201"]
    assert ran.err == "2 findings repaired in 2 files, 4 left (2 more with --unsafe-fixes)\n"
    assert path.read_text() == "good(1)\nbad(2)\nbad(3)\n"


def test_unsafe_fixes(fix: Fix, write: Write) -> None:
    path = write("a.py", ALL_KINDS)
    ran = fix("--unsafe-fixes", "a.py")
    assert (ran.status, ran.places) == (1, ["a.py:3:1 TRP201"])
    assert ran.err == "2 findings repaired in 1 file, 1 left\n"
    assert path.read_text() == "good(1)\ngood(2)\nbad(3)\n"


def test_nothing_to_repair_leaves_the_file_alone(fix: Fix, write: Write) -> None:
    path = write("a.py", "bad(2)\n")
    before = path.stat()
    ran = fix("a.py")
    assert (ran.status, ran.err) == (1, "nothing repaired, 1 left (1 more with --unsafe-fixes)\n")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


@pytest.mark.parametrize("action", [[], ["--check"], ["--diff"], ["--check", "--jobs", "2"]])
def test_nothing_to_say(fix: Fix, write: Write, action: list[str]) -> None:
    write("a.py", "good(1)\n")
    write("b.py", "")
    assert fix(*action, ".") == Ran(0, "", "no findings in 2 files\n")


def test_check_writes_nothing(fix: Fix, write: Write) -> None:
    path = write("a.py", ALL_KINDS)
    ran = fix("--check", "a.py")
    assert ran.status == 1
    assert ran.places == ["a.py:1:1 TRP201", "a.py:2:1 TRP201", "a.py:3:1 TRP201"]
    assert ran.err == "3 findings in 1 file (1 can be repaired, 1 more with --unsafe-fixes)\n"
    assert path.read_text() == ALL_KINDS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bad(2)\n", "1 finding in 1 file (1 can be repaired with --unsafe-fixes)\n"),
        ("bad(1)\n", "1 finding in 1 file (1 can be repaired)\n"),
        ("bad(3)\n", "1 finding in 1 file\n"),
    ],
)
def test_summary_of_check(fix: Fix, write: Write, text: str, said: str) -> None:
    write("a.py", text)
    assert fix("--check", "a.py").err == said


def test_columns_are_counted_in_characters_from_one(fix: Fix, write: Write) -> None:
    write("a.py", "x = 'äöü€😀', bad(3)\n\tif_tab = 1\n".replace("\t", ""))
    assert fix("--check", "a.py").places == ["a.py:1:14 TRP201"]


def test_diff(fix: Fix, write: Write) -> None:
    path = write("a.py", "import x\nbad(1)\nbad(2)\n")
    ran = fix("--diff", "a.py")
    assert ran.status == 1
    assert ran.out == "--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n import x\n-bad(1)\n+good(1)\n bad(2)\n"
    assert ran.err == "1 finding would be repaired in 1 file, 1 left (1 more with --unsafe-fixes)\n"
    assert path.read_text() == "import x\nbad(1)\nbad(2)\n"


def test_diff_where_all_would_be_repaired(fix: Fix, write: Write) -> None:
    write("a.py")
    assert fix("--diff", "a.py").status == 1


def test_diff_with_nothing_to_change(fix: Fix, write: Write) -> None:
    write("a.py", "bad(3)\n")
    assert fix("--diff", "a.py") == Ran(1, "", "nothing to repair, 1 left\n")


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no patch command here")
def test_diff_can_be_applied(fix: Fix, write: Write) -> None:
    """The texts that make diffs go wrong: no newline at the end, Windows lines, form feeds."""
    texts = {"a.py": "x = 1\n\f\nbad(1)", "b.py": "x = 1\r\nbad(1)\r\n", "folder/c.py": "bad(1)\n"}
    for name, text in texts.items():
        write(name, text)
    ran = fix("--diff", ".")
    applied = subprocess.run(["patch", "-p0", "--binary"], input=ran.out.encode(), capture_output=True, check=False)
    assert applied.returncode == 0, applied.stdout
    for name, text in texts.items():
        assert Path(name).read_bytes().decode() == text.replace("bad(1)", "good(1)")


def test_json(fix: Fix, write: Write) -> None:
    write("a.py", "bad(1)\n  \nx = bad(2)\nbad(3)\n")
    ran = fix("--check", "--output-format", "json", "a.py")
    first, second, third = json.loads(ran.out)
    assert ran.status == 1
    assert first == {
        "path": "a.py",
        "line": 1,
        "column": 1,
        "code": "TRP201",
        "message": "`bad` is called",
        "fix": "safe",
    }
    assert (second["line"], second["column"], second["fix"]) == (3, 5, "unsafe")
    assert third["fix"] == "show"


def test_json_of_nothing_is_an_empty_list(fix: Fix, write: Write) -> None:
    write("a.py", "")
    assert json.loads(fix("--check", "--output-format=json", "a.py").out) == []


def test_github(fix: Fix, write: Write) -> None:
    write("sub/a,b.py", "bad(3)\n")
    ran = fix("--check", "--output-format", "github", ".")
    assert ran.out == "::warning file=sub/a%2Cb.py,line=1,col=1,title=TRP201::TRP201 `bad` is called\n"


def test_noqa_counts_for_repairs_too(fix: Fix, write: Write) -> None:
    text = "bad(1)  # noqa: TRP201\n"
    path = write("a.py", text)
    assert fix("a.py").err == "no findings in 1 file\n"
    assert path.read_text() == text
    path.write_text(text + "bad(1)\n")
    assert fix("a.py").err == "1 finding repaired in 1 file\n"
    assert path.read_text() == text + "good(1)\n"


def test_disable_noqa(fix: Fix, write: Write) -> None:
    write("a.py", "bad(3)  # noqa\n")
    write("b.py", "# flake8: noqa\nbad(3)\n")
    assert fix("--check", ".").status == 0
    assert fix("--check", "--disable-noqa", ".").places == ["./a.py:1:1 TRP201", "./b.py:2:1 TRP201"]


def test_select_and_ignore(fix: Fix, write: Write) -> None:
    write("a.py", "bad(3)\nother(3)\nopinion(3)\n")
    codes = {
        (): ["TRP201", "TRP301"],
        ("--select", "TRP2"): ["TRP201"],
        ("--select", "TRP"): ["TRP201", "TRP301"],
        ("--select", "TRP,TRP9"): ["TRP201", "TRP301", "TRP901"],
        ("--select", "TRP901, TRP301"): ["TRP301", "TRP901"],
        ("--ignore", "TRP2"): ["TRP301"],
        ("--ignore", "T"): [],
        ("--select", "TRP2,TRP3", "--ignore", "TRP301"): ["TRP201"],
        ("--select", "TRP301", "--ignore", "TRP"): ["TRP301"],
    }
    for arguments, expected in codes.items():
        ran = fix("--check", *arguments, "a.py")
        assert [place.split()[1] for place in ran.places] == expected, arguments
        assert ran.status == bool(expected)


def test_torch_version(fix: Fix, write: Write) -> None:
    write("a.py", "other(3)\n")
    assert fix("--check", "--torch-version", "1.8", "a.py").status == 1
    assert fix("--check", "--torch-version", "1.10.1", "a.py").status == 0
    assert fix("--check", "--torchrepro-torch-version", "2.0", "a.py").status == 0


def test_order_is_that_of_the_arguments_then_of_the_names(fix: Fix, write: Write) -> None:
    for name in ("b/z.py", "b/a.py", "b/m/x.py", "a.py", "c.py"):
        write(name, "bad(3)\n")
    alone = fix("--check", "c.py", "b", "b/a.py", "./c.py", "a.py")
    assert [place.split(":")[0] for place in alone.places] == ["c.py", "b/a.py", "b/z.py", "b/m/x.py", "a.py"]
    assert fix("--check", "--jobs", "3", "c.py", "b", "b/a.py", "./c.py", "a.py") == alone


def test_jobs_repair_as_one_process_does(fix: Fix, write: Write) -> None:
    paths = [write(f"{number}.py", ALL_KINDS) for number in range(5)]
    ran = fix("--jobs", "2", ".")
    assert ran.err == "5 findings repaired in 5 files, 10 left (5 more with --unsafe-fixes)\n"
    assert {path.read_text() for path in paths} == {"good(1)\nbad(2)\nbad(3)\n"}


def test_a_file_without_trigger_words_is_not_analysed(fix: Fix, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.py", "import numpy\n" * 10)
    monkeypatch.setattr("flake8_torchrepro.cli.examine.analyze", None)
    assert fix("--check", "a.py").status == 0


def test_version(fix: Fix) -> None:
    assert fix("--version") == Ran(0, f"torchrepro-fix {__version__}\n", "")


def test_explain(fix: Fix, rules: tuple[FakeRule, ...]) -> None:
    rule = rules[0]
    for word in ("TRP201", "trp201", "bad-call"):
        ran = fix("--explain", word)
        assert ran.status == 0
        for part in (rule.code, rule.name, rule.summary, rule.why, rule.advice):
            assert part in ran.out
    assert "    bad(1)  # <-\n" in ran.out
    assert "Repaired:\n\n    good(1)\n" in ran.out
    assert "Not flagged (another function):" in ran.out
    assert "where it is safe" in ran.out


def test_explain_without_a_code_lists_the_rules(fix: Fix, rules: tuple[FakeRule, ...]) -> None:
    ran = fix("--explain")
    assert ran.status == 0
    assert [line.split()[:2] for line in ran.out.splitlines()] == [[rule.code, rule.name] for rule in rules]


def test_explain_what_is_no_rule(fix: Fix) -> None:
    assert fix("--explain", "trp000").out.startswith("TRP000 is no rule")


def test_files_that_cannot_be_read_are_counted(fix: Fix, write: Write) -> None:
    write("a.py", "x = (\n")
    write("b.py", "x = 1\n")
    assert fix(".").err.splitlines()[-1] == "no findings in 1 file; 1 file could not be read"


def test_explain_says_what_decides_that_a_rule_runs(fix: Fix) -> None:
    assert "gone in torch 1.9" in fix("--explain", "TRP301").out
    assert "--select TRP901" in fix("--explain", "TRP901").out


def test_why(fix: Fix, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def explain(view: ModuleView, line: int) -> list[str]:
        return [f"{view.source.path}, line {line}: {view.source.lines[line - 1]}", "nothing else is known"]

    write("a.py", "x = 1\nbad(1)\n")
    monkeypatch.setattr("flake8_torchrepro.cli.why.explain_line", explain)
    told = "a.py, line 2: bad(1)\nnothing else is known\nfinding: TRP201 `bad` is called\n"
    assert fix("--why", "a.py:2") == Ran(0, told, "")


def test_runs_as_a_module(write: Write) -> None:
    """In a process of its own, with the real rules: a file without torch has no findings."""
    write("a.py", "print('hello')\n")
    run = python("-m", "flake8_torchrepro.cli.main", "--check", "a.py")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "no findings in 1 file\n")


def test_checking_imports_no_libcst(write: Write) -> None:
    write("a.py", "import torch\n")
    program = (
        "import sys; from flake8_torchrepro.cli.main import main; main(['--check', 'a.py'])\n"
        "print([name for name in ('libcst', 'flake8', 'torch', 'rich') if name in sys.modules])"
    )
    assert python("-c", program).stdout == "[]\n"


def test_a_reader_that_has_seen_enough(write: Write) -> None:
    """``torchrepro-fix --check … | head -0`` ends without a traceback."""
    write("a.py", "")
    read, written = os.pipe()
    os.close(read)
    run = python("-m", "flake8_torchrepro.cli.main", "--check", "--output-format", "json", "a.py", stdout=written)
    os.close(written)
    assert run.stderr == ""
