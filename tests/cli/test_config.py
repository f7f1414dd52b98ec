"""flake8's configuration: found where flake8 finds it, read as flake8 reads it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import Ran

from flake8_torchrepro.cli.choices import Choices
from flake8_torchrepro.cli.config import Config, ConfigProblem, load_config

Fix = Callable[..., Ran]
Write = Callable[..., Path]

EVERYTHING = "bad(3)\nother(3)\nopinion(3)\n"


def codes(ran: Ran) -> list[str]:
    return [place.split()[1] for place in ran.places]


@pytest.mark.parametrize("name", ["setup.cfg", "tox.ini", ".flake8"])
def test_each_file_is_read(fix: Fix, write: Write, name: str) -> None:
    write("a.py", EVERYTHING)
    write(name, "[flake8]\nignore = TRP2\n")
    assert codes(fix("--check", "a.py")) == ["TRP301"]


def test_the_first_file_with_a_section_counts(write: Write) -> None:
    write("setup.cfg", "[metadata]\nname = x\n")
    write("tox.ini", "[flake8]\nignore = TRP2\n")
    write(".flake8", "[flake8]\nignore = TRP3\n")
    assert load_config().ignore == ("TRP2",)


def test_folders_above_are_searched(write: Write, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(".flake8", "[flake8]\nignore = TRP2\nexclude = sub/old,gen_*.py\n")
    (project / "sub" / "deep").mkdir(parents=True)
    monkeypatch.chdir(project / "sub" / "deep")
    config = load_config()
    assert config.ignore == ("TRP2",)
    assert config.exclude == (str(project / "sub" / "old"), "gen_*.py")


def test_the_home_folder_is_not_searched_from_below(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.parent / ".flake8").write_text("[flake8]\nignore = TRP2\n")
    assert load_config() == Config()
    monkeypatch.chdir(project.parent)
    assert load_config().ignore == ("TRP2",)


def test_a_section_for_local_plugins_ends_the_search(write: Write, project: Path) -> None:
    write("setup.cfg", "[flake8:local-plugins]\nextension = X = x:X\n")
    write("tox.ini", "[flake8]\nignore = TRP2\n")
    assert load_config() == Config(str(project / "setup.cfg"))


def test_isolated(fix: Fix, write: Write) -> None:
    write("a.py", EVERYTHING)
    write(".flake8", "[flake8]\nignore = TRP\nexclude = a.py\n")
    assert codes(fix("--check", "--isolated", "a.py")) == ["TRP201", "TRP301"]


def test_config_option(fix: Fix, write: Write) -> None:
    write("a.py", EVERYTHING)
    write(".flake8", "[flake8]\nignore = TRP\n")
    write("other.cfg", "[flake8]\nignore = TRP3\n")
    assert codes(fix("--check", "--config", "other.cfg", "a.py")) == ["TRP201"]
    ran = fix("--check", "--config", "none.cfg", "a.py")
    assert (ran.status, ran.err) == (2, "torchrepro-fix: none.cfg: no such configuration file\n")


SECTIONS = {
    "select = E,F": ["TRP201", "TRP301"],
    "select = TRP2": ["TRP201"],
    "select =\n    E\n    TRP3  TRP901": ["TRP301", "TRP901"],
    "select = E,F\nextend-select = TRP9": ["TRP901"],
    "select = E,F\nextend-select = TRP2": ["TRP201"],
    "extend-select = TRP901": ["TRP201", "TRP301", "TRP901"],
    "extend_select = TRP901\nextend_ignore = TRP201": ["TRP301", "TRP901"],
    "ignore = TRP": [],
    "ignore = T": [],
    "ignore = E203": ["TRP201", "TRP301"],
    "select = E,F\nextend-ignore = TRP301": ["TRP201"],
    "select = TRP2\nignore = TRP201": [],
    "select = TRP301\nignore = TRP": ["TRP301"],
    "ignore = TRP\nextend-select = TRP301": ["TRP301"],
    "per-file-ignores = a.py:TRP2": ["TRP301"],
    "per-file-ignores = b.py:TRP2": ["TRP201", "TRP301"],
    "per-file-ignores = b.py,a.py : TRP2": ["TRP301"],
    "per-file-ignores =\n    b.py: TRP\n    *.py: TRP201, TRP301\n": [],
    "per-file-ignores =\n    *.py: TRP201\n    a.py: TRP301": ["TRP301"],
    "per-file-ignores =\n    ./a.py: TRP201\n    a.py: TRP301": ["TRP301"],
    "per_file_ignores = a.py:E501 TRP2": ["TRP301"],
    "select = TRP201,TRP3\nper-file-ignores = a.py:TRP": ["TRP201", "TRP301"],
    "disable-noqa = yes": ["TRP201", "TRP301"],
}

PLUGIN = """\
import ast

class Calls:
    name, version = "calls", "1"

    def __init__(self, tree):
        self.tree = tree

    def run(self):
        for line, code in enumerate(("TRP201", "TRP301"), 1):
            yield line, 0, code + " called", type(self)
"""

# Where we mean to differ: whoever runs this command wants its rules.
OURS = ["select = E,F", "select = E,F\nextend-ignore = TRP301"]


@pytest.mark.parametrize("section", SECTIONS)
def test_sections(fix: Fix, write: Write, section: str) -> None:
    write("a.py", EVERYTHING)
    write(".flake8", f"[flake8]\n{section}\n")
    assert codes(fix("--check", "a.py")) == SECTIONS[section]


@pytest.mark.parametrize("section", [section for section in SECTIONS if section not in OURS])
def test_sections_mean_the_same_to_flake8(write: Write, project: Path, section: str) -> None:
    write("a.py", EVERYTHING)
    write("calls.py", PLUGIN)
    write(".flake8", f"[flake8]\n{section}\n[flake8:local-plugins]\nextension = TRP = calls:Calls\npaths = .\n")
    command = [sys.executable, "-m", "flake8", "--format", "%(code)s", "a.py"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    said = [code for code in run.stdout.split() if code.startswith("TRP")]
    assert said == [code for code in SECTIONS[section] if code != "TRP901"]


def test_options_win(fix: Fix, write: Write) -> None:
    write("a.py", EVERYTHING)
    write(".flake8", "[flake8]\nselect = TRP2\nignore = TRP3\n")
    assert codes(fix("--check", "--select", "TRP3", "--ignore", "TRP2", "a.py")) == ["TRP301"]


OWN = """\
[flake8]
torchrepro-torch-version = 2.1
torchrepro-seeders = a.seed, b.seed
torchrepro-guards = a.guard
torchrepro-root = ./lib
"""


def test_what_only_our_rules_need(fix: Fix, write: Write) -> None:
    write("a.py", EVERYTHING)
    write("lib/a.py")
    write(".flake8", OWN)
    assert codes(fix("--check", "a.py")) == ["TRP201"]
    assert codes(fix("--check", "--torch-version", "1.8", "a.py")) == ["TRP201", "TRP301"]
    settings = Choices.of(load_config()).settings
    assert (settings.torch_version, settings.seeders, settings.guards) == ((2, 1), ("a.seed", "b.seed"), ("a.guard",))
    assert settings.root == Path("lib").absolute()


def test_exclude(fix: Fix, write: Write) -> None:
    for name in ("a.py", "gen_a.py", "old/b.py", "new/old/c.py", "new/b.py"):
        write(name, "bad(1)\n")
    write(".flake8", "[flake8]\nexclude = gen_*\nextend-exclude = ./old,new/b.py\n")
    places = [place.split(":")[0] for place in fix("--check", ".").places]
    assert places == ["./a.py", "./new/old/c.py"]


def test_exclude_counts_for_files_that_are_named(fix: Fix, write: Write) -> None:
    """pre-commit names each file, and must not repair what the project excludes."""
    path = write("gen.py", "bad(1)\n")
    write("old/a.py", "bad(1)\n")
    write(".flake8", "[flake8]\nexclude = gen.py,old\n")
    assert fix("gen.py", "old") == Ran(0, "", "no findings in 0 files\n")
    assert fix(".").status == 0
    assert path.read_text() == "bad(1)\n"


def test_a_config_that_is_not_for_flake8_is_passed_over(fix: Fix, write: Write) -> None:
    write("a.py", EVERYTHING)
    write("setup.cfg", "not a configuration\n")
    write("tox.ini", b"[flake8]\nignore = \xff\n")
    write(".flake8", "[flake8]\nignore = TRP2\n")
    assert codes(fix("--check", "a.py")) == ["TRP301"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[flake8]\nignore = A\nignore = B\n", ".flake8: not a readable configuration ("),
        ("[flake8]\nper-file-ignores = a.py\n", ".flake8: per-file-ignores: no codes for a.py\n"),
        (
            "[flake8]\ntorchrepro-torch-version = new\n",
            ".flake8: torchrepro-torch-version: 'new' is not a version such as 2.1\n",
        ),
        ("[flake8]\ntorchrepro-root = none\n", ".flake8: torchrepro-root: none is not a folder\n"),
        ("[flake8]\nper-file-ignores = : TRP\n", "expected file names, a colon and codes\n"),
        ("[flake8]\nper-file-ignores = a.py: TRP: TRP\n", "expected file names, a colon and codes\n"),
    ],
)
def test_a_config_that_cannot_be_used(fix: Fix, write: Write, text: str, said: str) -> None:
    path = write("a.py", "bad(1)\n")
    write(".flake8", text)
    ran = fix("a.py")
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert path.read_text() == "bad(1)\n"


def test_a_named_config_must_be_readable(write: Write) -> None:
    write("own.cfg", "nonsense\n")
    with pytest.raises(ConfigProblem, match=r"own\.cfg: not a readable configuration"):
        load_config("own.cfg")


def test_choices_can_be_sent_to_another_process() -> None:
    import pickle

    choices = Choices.of(Config(per_file_ignores=(("a.py", ("TRP",)),)))
    assert pickle.loads(pickle.dumps(choices)) == choices


def test_a_name_that_is_none(fix: Fix, write: Write) -> None:
    write("setup.cfg", "[flake8]\ntorchrepro-guards = a-b\n")
    write("a.py", "x = 1\n")
    assert "torchrepro-guards: 'a-b' is not a dotted name such as mylib.quiet" in fix(".").err
