"""What a project declares reaches the rules, whichever way it is declared, and a mistake in it is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import Ran, python

from flake8_torchrepro.rules.trp301_worker_numpy import WorkerNumpy

Fix = Callable[..., Ran]
Write = Callable[..., Path]

# How a project may say which torch it needs; {} is the version.
WAYS: dict[str, tuple[str, str]] = {
    "own section": ("pyproject.toml", '[tool.torchrepro]\ntorch-version = "{}"\n'),
    "pyproject": ("pyproject.toml", '[project]\nname = "x"\ndependencies = ["torch>={}"]\n'),
    "extra": ("pyproject.toml", '[project.optional-dependencies]\ngpu = ["torch>={}"]\n'),
    "poetry": ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^{}"\n'),
    "requirements": ("requirements.txt", "numpy\ntorch>={}\n"),
    "requirements folder": ("requirements/base.txt", "torch~={}\n"),
    "setup.cfg": ("setup.cfg", "[options]\ninstall_requires =\n    numpy\n    torch>={}\n"),
    "setup.py": ("setup.py", 'from setuptools import setup\n\nsetup(install_requires=["torch>={}"])\n'),
    "conda": ("environment.yml", "dependencies:\n  - pytorch>={}\n"),
    "flake8": (".flake8", "[flake8]\ntorchrepro-torch-version = {}\n"),
}


@pytest.fixture(autouse=True)
def repository(write: Write) -> None:
    write(".git/HEAD", "")
    write("package/data.py", "other(3)\n")


@pytest.mark.parametrize("way", WAYS)
def test_ways_of_declaring_torch(fix: Fix, write: Write, way: str) -> None:
    assert fix("--check", "package").status == 1
    name, text = WAYS[way]
    write(name, text.format("1.9"))
    assert fix("--check", "package").places == []


@pytest.mark.parametrize("way", WAYS)
def test_an_older_torch(fix: Fix, write: Write, way: str) -> None:
    name, text = WAYS[way]
    write(name, text.format("1.8"))
    assert fix("--check", "package").places == ["package/data.py:1:1 TRP301"]
    assert fix("--check", "--torch-version", "1.9", "package").places == []


def test_the_nearer_declaration_counts(fix: Fix, write: Write) -> None:
    write("requirements.txt", "torch>=2.0\n")
    write("pyproject.toml", '[tool.torchrepro]\ntorch-version = "1.8"\n')
    assert fix("--check", "package").status == 1
    write(".flake8", "[flake8]\ntorchrepro-torch-version = 1.9\n")
    assert fix("--check", "package").status == 0
    assert fix("--check", "--torch-version", "1.8", "package").status == 1


def test_the_root_may_be_chosen(fix: Fix, write: Write) -> None:
    write("requirements.txt", "torch>=2.0\n")
    write("package/requirements.txt", "torch>=1.8\n")
    assert fix("--check", "--root", "package", "package").status == 1
    assert fix("--check", "package").status == 0


def test_projects_in_one_run(fix: Fix, write: Write) -> None:
    write("requirements.txt", "torch>=1.8\n")
    write("package/.git/HEAD", "")
    write("package/requirements.txt", "torch>=2.0\n")
    write("a.py", "other(3)\n")
    assert fix("--check", ".").places == ["./a.py:1:1 TRP301"]


@pytest.mark.parametrize("arguments", [["package"], ["--check", "package"], ["--why", "package/data.py:1"]])
def test_a_bad_declaration(fix: Fix, write: Write, arguments: list[str]) -> None:
    path = write("package/data.py", "bad(1)\n")
    write("pyproject.toml", '[tool.torchrepro]\nguards = "mylib.frozen"\n')
    said = "pyproject.toml: [tool.torchrepro] guards: write a list of dotted names"
    ran = fix(*arguments)
    assert (ran.status, ran.out, ran.err) == (2, "", f'torchrepro-fix: {said}, such as ["mylib.name"]\n')
    assert path.read_text() == "bad(1)\n"


@pytest.mark.parametrize("way", WAYS)
def test_the_real_rule(write: Write, way: str) -> None:
    write("package/data.py", WorkerNumpy.bad[0].code)
    name, text = WAYS[way]
    for version, status in (("1.8", 1), ("1.9", 0)):
        write(name, text.format(version))
        ran = python("-m", "flake8_torchrepro.cli.main", "--check", "package")
        assert (ran.returncode, ran.stdout.count("TRP301"), ran.stdout.count("\n")) == (status, status, status)
