"""What is wrong with one file is said in one line, leaves the file as it was, and does not keep others from repair."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from fakes import Ran

from flake8_torchrepro.fix.files import read_file

Fix = Callable[..., Ran]
Write = Callable[..., Path]

DEEP = "bad(1)\nx = " + "-" * 50_000 + "1\n"

CONTENTS: dict[str, tuple[str | bytes, str]] = {
    "syntax error": ("bad(1)\n\ndef f(:\n", "x.py:3: does not parse: invalid syntax"),
    "syntax error where no rule looks": ("x = (\n", "x.py:1: does not parse: '(' was never closed"),
    "bad indent": ("def f():\nbad(1)\n", "x.py:2: does not parse: expected an indented block"),
    "python 2": ("bad(1)\nprint 'x'\n", "x.py:2: does not parse: Missing parentheses"),
    "unclosed": ("bad(1\n", "x.py:1: does not parse: '(' was never closed"),
    "latin-1": ("bad(1)  # ä\n".encode("latin-1"), "x.py"),
    "unknown encoding": ("# coding: klingon\nbad(1)  # ä\n".encode("latin-1"), "x.py"),
    "wrong encoding": ("# coding: ascii\nbad(1)  # ä\n", "x.py"),
    "utf-16": ("bad(1)\n".encode("utf-16"), "x.py"),
    "nul bytes": (b"bad(1)\n\0\0\n", "x.py"),
    "nested too deeply": (DEEP, "x.py: nested too deeply to analyse"),
    "our own mistake": (
        "bad(1)\nexplode\n",
        "x.py: left alone because of an error in torchrepro-fix, please report it",
    ),
}


@pytest.mark.parametrize("kind", CONTENTS)
@pytest.mark.parametrize("action", [[], ["--check"], ["--diff"], ["--jobs", "2"]])
def test_content(fix: Fix, write: Write, kind: str, action: list[str]) -> None:
    content, said = CONTENTS[kind]
    path = write("x.py", content)
    good = [write("a.py", "bad(1)\n"), write("z.py", "bad(1)\n")]
    before = path.read_bytes()
    ran = fix(*action, ".")
    first, last = ran.err.splitlines()
    assert ran.status == 2
    assert first.startswith(f"./{said}")
    assert last.startswith(("2 findings in 2 files", "2 findings repaired in 2", "2 findings would be repaired in 2"))
    assert path.read_bytes() == before
    repaired = "bad(1)\n" if action in (["--check"], ["--diff"]) else "good(1)\n"
    assert [other.read_text() for other in good] == [repaired, repaired]


def test_a_path_that_does_not_exist(fix: Fix, write: Write) -> None:
    path = write("a.py", "bad(1)\n")
    ran = fix("none.py", "a.py", "none")
    assert (ran.status, ran.err.splitlines()[:2]) == (
        2,
        ["none.py: no such file or folder", "none: no such file or folder"],
    )
    assert path.read_text() == "good(1)\n"


def test_a_folder_without_python_files(fix: Fix, write: Write) -> None:
    write("empty/notes.txt")
    write("empty/.hidden/a.py")
    ran = fix("--check", "empty")
    assert (ran.status, ran.err.splitlines()[0]) == (2, "empty: no Python files in this folder")


def test_a_link_that_leads_nowhere(fix: Fix, write: Write, project: Path) -> None:
    write("a.py", "bad(1)\n")
    (project / "link.py").symlink_to("gone.py")
    (project / ".#a.py").symlink_to("user@host.1234")
    for path in (".", "link.py"):
        ran = fix("--check", path)
        assert ran.status == 2
        assert "link.py: a link that leads nowhere\n" in ran.err
    assert ".#a.py" not in fix("--check", ".").err


def test_links_in_a_circle(fix: Fix, write: Write, project: Path) -> None:
    write("a.py", "bad(3)\n")
    (project / "one.py").symlink_to("two.py")
    (project / "two.py").symlink_to("one.py")
    (project / "loop").symlink_to(".", target_is_directory=True)
    ran = fix("--check", ".")
    assert (ran.status, ran.places) == (2, ["./a.py:1:1 TRP201"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_does_not_hang(fix: Fix, write: Write, project: Path) -> None:
    write("a.py", "")
    os.mkfifo(project / "pipe.py")
    assert fix("--check", ".").status == 0
    assert fix("--check", "pipe.py").err.splitlines()[0] == "pipe.py: not a regular file"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is unreadable to this user")
def test_an_unreadable_file_and_folder(fix: Fix, write: Write, project: Path) -> None:
    write("a.py").chmod(0)
    (project / "closed").mkdir(mode=0)
    ran = fix("--check", ".")
    assert ran.status == 2
    assert "a.py: cannot be read: Permission denied" in ran.err
    assert "closed: cannot be read: Permission denied" in ran.err


def test_a_file_that_vanishes(fix: Fix, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a.py")
    write("b.py", "bad(3)\n")

    def late(name: Path) -> object:
        path.unlink(missing_ok=True)
        return read_file(name)

    monkeypatch.setattr("flake8_torchrepro.cli.examine.read_file", late)
    ran = fix("--check", ".")
    assert (ran.status, ran.places) == (2, ["./b.py:1:1 TRP201"])
    assert ran.err.splitlines()[0].startswith("./a.py: ")


def test_a_notebook_is_refused_by_name(fix: Fix, write: Write) -> None:
    write("a.ipynb", "{}")
    assert fix("--check", "a.ipynb").err.splitlines()[0] == "a.ipynb: notebooks are not supported yet"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name the files or folders to look at"),
        (["--check"], "name the files or folders to look at"),
        (["--check", "--diff", "a.py"], "not allowed with argument"),
        (["--jobs", "0", "a.py"], "'0' is not a number of processes"),
        (["--jobs", "x", "a.py"], "'x' is not a number of processes"),
        (["--torch-version", "two", "a.py"], "'two' is not a version such as 2.1"),
        (["--torchrepro-root", "none", "a.py"], "none is not a folder"),
        (["--root", "a.py", "a.py"], "a.py is not a folder"),
        (["--output-format", "xml", "a.py"], "invalid choice"),
        (["--diff", "--output-format", "json", "a.py"], "leave out --output-format"),
        (["--nonsense", "a.py"], "unrecognized arguments"),
        (["--select", "TRP202", "a.py"], "there is no rule TRP202; the nearest is TRP201"),
        (["--select", "trp201", "a.py"], "there is no rule trp201; the nearest is TRP201"),
        (["--select", "TRP2,E501", "a.py"], "there is no rule E501; the nearest is TRP"),
        (["--ignore", "TPR301", "a.py"], "there is no rule TPR301; the nearest is TRP301"),
        (["--torchrepro-guards", "a.b,c-d", "."], "'c-d' is not a dotted name such as mylib.quiet"),
        (["--torchrepro-seeders", "a..b", "."], "'a..b' is not a dotted name such as mylib.quiet"),
        (["--explain", "TRP999"], "there is no rule TRP999; the nearest is TRP901"),
        (["--explain", "bad-cal"], "there is no rule bad-cal; the nearest is bad-call"),
        (["--why", "a.py"], "--why needs FILE:LINE, not a.py"),
        (["--why", "a.py:x"], "--why needs FILE:LINE, not a.py:x"),
        (["--why", "a.py:0"], "a.py has 2 lines"),
        (["--why", "a.py:99"], "a.py has 2 lines"),
        (["--why", "a.py:-1"], "--why needs FILE:LINE, not a.py:-1"),
        (["--why", "none.py:1"], "none.py: no such file or folder"),
        (["--why", "broken.py:1"], "broken.py:1: does not parse: "),
        (["--why", "deep.py:1"], "deep.py: nested too deeply to analyse"),
    ],
)
def test_arguments(fix: Fix, write: Write, arguments: list[str], said: str) -> None:
    path = write("a.py", "bad(1)\nx = 1")
    write("broken.py", "def f(:\n")
    write("deep.py", DEEP)
    ran = fix(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err.splitlines()[-1]
    assert path.read_text() == "bad(1)\nx = 1"


def test_what_is_skipped_in_a_folder(fix: Fix, write: Write) -> None:
    skipped = ["build", "dist", ".tox", ".eggs", "x.egg", "__pycache__", "node_modules", ".git", "env"]
    for folder in skipped:
        write(f"{folder}/a.py")
    write("env/pyvenv.cfg", "")
    write("stub.pyi")
    write("notes.txt")
    write("kept/a.py")
    assert [place.split(":")[0] for place in fix("--check", ".").places] == ["./kept/a.py"]


def test_what_is_named_is_taken(fix: Fix, write: Write) -> None:
    for name in ("script", "stub.pyi", ".hidden/a.py", "build/a.py", "env/a.py", "env/build/b.py"):
        write(name)
    write("env/pyvenv.cfg", "")
    ran = fix("--check", "script", "stub.pyi", ".hidden/a.py", "build", "env")
    places = [place.split(":")[0] for place in ran.places]
    assert places == ["script", "stub.pyi", ".hidden/a.py", "build/a.py", "env/a.py"]


def test_the_compilers_warnings_are_not_shown(fix: Fix, write: Write) -> None:
    write("a.py", "bad(3)\nx = '\\d' is 1\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fix("--check", "a.py").err == "1 finding in 1 file\n"


def test_the_garbage_collector_is_given_back(fix: Fix, write: Write) -> None:
    write("a.py", "bad(3)\n")
    fix("--check", "a.py")
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_interrupted(fix: Fix, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(name: Path) -> object:
        raise KeyboardInterrupt

    write("a.py")
    monkeypatch.setattr("flake8_torchrepro.cli.examine.read_file", interrupt)
    assert fix("--check", "a.py") == Ran(130, "", "torchrepro-fix: interrupted\n")


def test_names_that_the_terminal_cannot_show(fix: Fix, project: Path) -> None:
    Path(os.fsdecode(os.fsencode(project) + b"/\xff.py")).write_text("bad(3)\n")
    ran = fix("--check", ".")
    assert (ran.status, ran.out) == (1, "./\\udcff.py:1:1: TRP201 `bad` is called\n")


def test_a_repair_that_would_do_harm_is_not_made(fix: Fix, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a.py", "bad(1)\n")
    monkeypatch.setattr("flake8_torchrepro.fix.apply.apply_edits", lambda text, edits: "def f(:\n")
    ran = fix("a.py")
    assert (ran.status, ran.places) == (1, ["a.py:1:1 TRP201"])
    assert ran.err.splitlines()[0].startswith("a.py: not repaired: TRP201 at line 1: ")
    assert path.read_text() == "bad(1)\n"


def test_a_folder_that_cannot_be_written_to(fix: Fix, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    path = write("a.py", "bad(1)\n")
    monkeypatch.setattr("os.replace", full)
    ran = fix("a.py")
    assert (ran.status, ran.err.splitlines()[0]) == (2, "a.py: cannot be written: No space left on device")
    assert path.read_text() == "bad(1)\n"
    assert [entry.name for entry in path.parent.iterdir()] == ["a.py"]


@pytest.mark.parametrize("problem", [BrokenProcessPool("died"), OSError(28, "No space left on device")])
def test_no_traceback_when_the_run_itself_fails(
    fix: Fix, write: Write, monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    def fail(*arguments: object) -> None:
        raise problem

    write("a.py")
    monkeypatch.setattr("flake8_torchrepro.cli.main.run", fail)
    ran = fix("--check", "a.py")
    assert (ran.status, ran.err.count("\n")) == (2, 1)
