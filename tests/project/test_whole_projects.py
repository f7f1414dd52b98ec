"""What is said of a file of a project: the same in every order, from every folder, alone or with all others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flake8_torchrepro.analysis import analyze
from flake8_torchrepro.flow.program import Program
from flake8_torchrepro.project.project import Project
from flake8_torchrepro.settings import Settings
from flake8_torchrepro.source import Source

PROJECT = {
    "run.py": """
import torch

from lib.evaluate import evaluate, score
from lib.models import Net, build
from lib.seeds import fix

fix(3)
net = build()
evaluate(net, [1])
with torch.no_grad():
    score(net, 2)
""",
    "other.py": """
from lib.evaluate import run_quietly, score
from lib.models import Net

net = Net().eval()
print(run_quietly(net, 1), score(net, 2).argmax())
""",
    "lib/__init__.py": "",
    "lib/seeds.py": """
import torch


def fix(seed):
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
""",
    "lib/models.py": """
from torch import nn


class Net(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.rnn = nn.LSTM(4, 4, layers, dropout=0.5)


def build():
    net = Net()
    net.eval()
    return net
""",
    "lib/evaluate.py": """
import torch


def evaluate(net, rows):
    net.eval()
    return [float(net(row).sum()) for row in rows]


def score(net, row):
    return net(row)


@torch.no_grad()
def run_quietly(net, row):
    net.eval()
    return net(row)
""",
    "lib/data.py": """
import numpy as np
from torch.utils.data import Dataset


class Rows(Dataset):
    def __getitem__(self, index):
        return np.random.rand()
""",
    "load.py": """
from torch.utils.data import DataLoader

from lib.data import Rows

loader = DataLoader(Rows(), num_workers=2)
""",
}
WANTED = {
    ("lib/evaluate.py", 7, "TRP201"),
    ("lib/models.py", 8, "TRP103"),
    ("load.py", 6, "TRP301"),
    ("other.py", 6, "TRP201"),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    for name, text in PROJECT.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def found(root: Path, names: list[str], program: Program) -> set[tuple[str, int, str]]:
    """The findings of some files, one after the other in one program."""
    return {
        (name, finding.span.line, finding.code)
        for name in names
        for finding in analyze(Source.parse((root / name).read_text("utf-8"), root / name), Settings(), program)
    }


def test_what_other_files_say(root: Path) -> None:
    assert found(root, sorted(PROJECT), Program(Settings(), Project(root))) == WANTED


@pytest.mark.parametrize("turn", range(len(PROJECT)))
def test_the_order_of_files_does_not_matter(root: Path, turn: int) -> None:
    names = sorted(PROJECT)
    names = [*names[turn:], *names[:turn]]
    assert found(root, names, Program(Settings(), Project(root))) == WANTED
    assert found(root, names[::-1], Program(Settings(), Project(root))) == WANTED


def test_one_file_alone_gets_the_same(root: Path) -> None:
    alone = set()
    for name in PROJECT:
        alone |= found(root, [name], Program(Settings(), Project(root)))
    assert alone == WANTED


@pytest.mark.parametrize(("folder", "jobs"), [(".", "1"), (".", "3"), ("lib", "1"), ("..", "2")])
def test_neither_do_the_folder_and_the_jobs(root: Path, folder: str, jobs: str) -> None:
    command = [sys.executable, "-m", "flake8", "--isolated", "--select", "TRP", "-j", jobs, str(root)]
    run = subprocess.run(command, cwd=root / folder, capture_output=True, text=True, check=False)
    lines = {line.removeprefix(str(root) + os.sep) for line in run.stdout.splitlines()}
    assert {(p, int(n), rest.split()[0]) for p, n, _, rest in (line.split(":", 3) for line in lines)} == WANTED


def test_the_other_place_is_named(root: Path) -> None:
    path = root / "load.py"
    [finding] = analyze(Source.parse(path.read_text("utf-8"), path), Settings(), Program(Settings(), Project(root)))
    assert "lib/data.py:8" in finding.message


HOSTILE = {
    "cycle_a.py": "from cycle_b import b\nfrom cycle_a import a\n\ndef a(m):\n    m.eval()\n    return b(m)\n",
    "cycle_b.py": "import cycle_a\nfrom cycle_a import *\n\ndef b(m):\n    m.eval()\n    return cycle_a.a(m)\n",
    "broken.py": "def broken(:\n",
    "nul.py": "x = 1\0\n",
    "uses.py": (
        "from broken import f\nfrom nul import x\nfrom gone import y\nfrom cycle_a import a\nfrom outside import o\n"
        "from latin import z\n\ndef g(m):\n    m.eval()\n    f(m), x(m), y(m), a(m), o(m), z(m)\n    return m(1)\n"
    ),
}


def test_files_that_cannot_be_had(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "outside.py"
    outside.write_text("def o(m):\n    pass\n", encoding="utf-8")
    for name, text in HOSTILE.items():
        (root / name).write_text(text, encoding="utf-8")
    (root / "latin.py").write_bytes(b"z = '\xe9'\n")
    (root / "outside.py").symlink_to(outside)
    (root / "loop").symlink_to(root)
    (root / "gone.py").symlink_to(root / "nowhere.py")
    program = Program(Settings(), Project(root))
    assert {code for _, _, code in found(root, ["uses.py", "cycle_a.py", "cycle_b.py"], program)} <= {"TRP201"}
    assert program.project is not None
    assert program.project.files.text(str(root / "outside.py")) is None
    assert not any("loop" in path for path in program.project.files.all())


def test_nothing_outside_the_root_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = open

    def watched(path: object, *args: object, **kwargs: object) -> object:
        read.append(os.path.realpath(str(path)))
        return real(path, *args, **kwargs)  # type: ignore[call-overload]

    (root / "up.py").write_text("from ....etc import passwd\nfrom ..sibling import f\nimport outside.thing\n", "utf-8")
    (root.parent / "sibling.py").write_text("def f(): pass\n", "utf-8")
    monkeypatch.setattr("builtins.open", watched)
    program = Program(Settings(), Project(root))
    names = ["up.py", *PROJECT]
    for name in names:
        text = Path(root, name).read_text("utf-8")
        analyze(Source.parse(text, root / name), Settings(), program)
    assert {path for path in read if not path.startswith(os.path.realpath(root) + os.sep)} == set()


def test_a_file_that_vanishes(root: Path) -> None:
    project = Project(root)
    assert str(root / "lib" / "data.py") in project.files.all()
    (root / "lib" / "data.py").unlink()
    assert found(root, ["load.py"], Program(Settings(), project)) == set()


def test_a_huge_root_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flake8_torchrepro.project.files.MOST_FILES", 50)
    for number in range(80):
        (tmp_path / f"m{number}.py").write_text("", encoding="utf-8")
    assert len(Project(tmp_path).files.all()) == 50


def test_declared_guards(root: Path) -> None:
    (root / "mine.py").write_text(
        """
import torch
from somewhere import quiet, silent


@quiet
def first(net, row):
    net.eval()
    return net(row)


def second(net, row):
    net.eval()
    with silent():
        return net(row)


def third(net, row):  # torchrepro: guarded
    net.eval()
    return net(row)


def fourth(net, row):
    net.eval()
    return net(row)
""",
        "utf-8",
    )
    settings = Settings(guards=("somewhere.quiet", "silent"))
    path = root / "mine.py"
    given = analyze(Source.parse(path.read_text("utf-8"), path), settings, Program(settings, Project(root)))
    assert [finding.span.line for finding in given] == [25]
