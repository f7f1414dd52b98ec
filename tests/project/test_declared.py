"""``[tool.torchrepro]``: what it may hold, and how a mistake in it is put."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_torchrepro.project.declared import Declared, declared

HEAD = "[tool.torchrepro]\n"


def read(folder: Path, text: str) -> Declared:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return declared(folder)


def test_nothing(tmp_path: Path) -> None:
    assert declared(tmp_path) == Declared()


@pytest.mark.parametrize("text", ["", HEAD, "[tool.ruff]\nline-length = 88\n", "not toml ][", 'name = "torchrepro"\n'])
def test_nothing_of_ours(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == Declared()


def test_everything(tmp_path: Path) -> None:
    text = 'torch-version = "1.13.1"\nseeders = ["lib.seed_all"]\nguards = ["lib.frozen", "größe.still"]\n'
    assert read(tmp_path, HEAD + text) == Declared((1, 13), ("lib.seed_all",), ("lib.frozen", "größe.still"))


@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_windows(tmp_path: Path, mark: str) -> None:
    text = mark + HEAD.replace("\n", "\r\n") + 'torch-version = "2.0"\r\n'
    (tmp_path / "pyproject.toml").write_bytes(text.encode())
    assert declared(tmp_path) == Declared((2, 0))


VERSION = "write a text such as"
NAMES = 'write a list of dotted names, such as ["mylib.name"]'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("torch-version = 1.10", f'torch-version: 1.1 is not a version: {VERSION} "2.1"'),
        ("torch-version = '>=1.9'", f"torch-version: '>=1.9' is not a version: {VERSION} \"2.1\""),
        ("torch-version = '2'", f"torch-version: '2' is not a version: {VERSION} \"2.1\""),
        ("torch-version = true", f'torch-version: True is not a version: {VERSION} "2.1"'),
        ("seeders = 'lib.seed'", f"seeders: {NAMES}"),
        ("seeders = [1]", f"seeders: {NAMES}"),
        ("guards = ['lib.frozen()']", f"guards: {NAMES}"),
        ("guards = {a = 1}", f"guards: {NAMES}"),
        ("torch_version = '2.1'", "torch_version: there is no such key: write torch-version, seeders or guards"),
    ],
)
def test_bad_values(tmp_path: Path, line: str, said: str) -> None:
    found = read(tmp_path, HEAD + line + "\n")
    assert found == Declared(problems=(f"pyproject.toml: [tool.torchrepro] {said}",))


def test_a_bad_value_leaves_the_others(tmp_path: Path) -> None:
    found = read(tmp_path, HEAD + "torch-version = 2\nguards = ['lib.frozen']\n")
    assert (found.guards, len(found.problems)) == (("lib.frozen",), 1)


def test_a_value_instead_of_a_section(tmp_path: Path) -> None:
    found = read(tmp_path, "[tool]\ntorchrepro = '2.1'\n")
    assert found.problems == ("pyproject.toml: torchrepro is a section: write [tool.torchrepro]",)


def test_not_toml(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, HEAD + "torch-version = 2.1.0\n").problems
    assert problem.startswith("pyproject.toml: not readable: ")
    assert "\n" not in problem


def test_a_link_that_leads_outside(tmp_path: Path) -> None:
    (tmp_path / "outside.toml").write_text(HEAD + "torch-version = '2.1'\n")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "pyproject.toml").symlink_to(tmp_path / "outside.toml")
    assert declared(tmp_path / "root") == Declared()
