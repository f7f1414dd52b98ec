"""The plugin in flake8: found by it, quiet where it should be, and never the end of a run."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import flake8_torchrepro
from flake8_torchrepro import analysis, plugin
from flake8_torchrepro.finding import Finding
from flake8_torchrepro.plugin import TorchReproPlugin
from flake8_torchrepro.rule import all_rules
from flake8_torchrepro.settings import Settings
from flake8_torchrepro.source import span_of
from flake8_torchrepro.triggers import Trigger

SOURCES = str(Path(flake8_torchrepro.__file__).parents[1])


def is_installed() -> bool:
    """Whether flake8 finds the plugin by itself."""
    return any(point.name == "TRP" for point in metadata.entry_points(group="flake8.extension"))


# A working tree that is not installed is made known to flake8 by its configuration.
CONFIG = (
    "[flake8]\n"
    if is_installed()
    else f"""\
[flake8:local-plugins]
extension = TRP = flake8_torchrepro.plugin:TorchReproPlugin
paths = {SOURCES}
[flake8]
"""
)


class Calls:
    """A rule that flags each call of a function."""

    torch_below = (2, 0)

    def __init__(self, code: str, function: str) -> None:
        self.code, self.function = code, function
        self.triggers = (Trigger(function),)

    def is_live(self, torch_version: tuple[int, int] | None) -> bool:
        return torch_version is None or torch_version < self.torch_below

    def check(self, view: Any) -> Iterator[Finding]:
        for node in ast.walk(view.source.tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == self.function:
                yield Finding(self.code, span_of(node), f"{self.function} is called")


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "all_rules", lambda: (Calls("TRP201", "bad"), Calls("TRP901", "opinion")))
    monkeypatch.setattr(TorchReproPlugin, "settings", Settings())


def lint(text: str) -> list[tuple[int, int, str]]:
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    found = TorchReproPlugin(ast.parse(text), "x.py", lines).run()
    return [(line, column, message.split()[0]) for line, column, message, _ in found]


def choose(**options: Any) -> None:
    """What flake8 does with its options before it looks at files."""
    ours = {
        "torchrepro_torch_version": None,
        "torchrepro_seeders": (),
        "torchrepro_guards": (),
        "torchrepro_root": None,
    }
    standard = {"select": None, "extend_select": None, **ours}
    TorchReproPlugin.parse_options(SimpleNamespace(**{**standard, **options}))  # type: ignore[arg-type]


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ({}, ["TRP201"]),
        ({"select": ["TRP"]}, ["TRP201"]),
        ({"select": ["E", "F"]}, ["TRP201"]),
        ({"select": ["TRP9"]}, ["TRP201", "TRP901"]),
        ({"extend_select": ["TRP901"]}, ["TRP201", "TRP901"]),
        ({"extend_select": ["TRP902"]}, ["TRP201"]),
        ({"torchrepro_torch_version": (2, 1)}, []),
    ],
)
def test_options(options: dict[str, Any], codes: list[str]) -> None:
    choose(**options)
    assert [code for _, _, code in lint("bad()\nopinion()\n")] == codes


@pytest.mark.usefixtures("rules")
def test_names_of_own_helpers() -> None:
    choose(torchrepro_seeders=["a.seed"], torchrepro_guards=["a.guard", "b.guard"])
    settings = TorchReproPlugin.settings
    assert (settings.seeders, settings.guards) == (("a.seed",), ("a.guard", "b.guard"))


@pytest.mark.parametrize(
    ("jobs", "names", "method", "reads"),
    [
        ("2", ["."], "fork", True),
        ("2", [], "fork", True),
        ("2", ["a.py"] * plugin.MANY_FILES, "fork", True),
        ("2", ["a.py", "b.py"], "fork", False),  # a hook: a few files of what may be a large project
        ("1", ["."], "fork", False),
        ("2", ["."], "spawn", False),  # such workers inherit nothing
    ],
)
def test_the_project_is_read_before_the_workers_fork(
    jobs: str, names: list[str], method: str, reads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Path] = []
    monkeypatch.setattr(plugin, "prepare", lambda paths, settings: seen.extend(paths))
    monkeypatch.setattr("multiprocessing.get_start_method", lambda allow_none: method)
    choose(jobs=SimpleNamespace(is_auto=False, n_jobs=int(jobs)), filenames=names)
    assert seen == ([Path(name) for name in names or ["."]] if reads else [])


@pytest.mark.usefixtures("rules")
def test_columns_are_characters() -> None:
    assert lint("x = 'äöü😀', bad()\n") == [(1, 12, "TRP201")]


def test_an_error_of_ours_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, repairs: bool) -> list[Finding]:
        raise KeyError("x\ny")

    monkeypatch.setattr(plugin, "analyze", fail)
    ((line, column, text, _),) = TorchReproPlugin(ast.parse(""), "x.py", []).run()
    assert (line, column) == (1, 0)
    assert text == r"TRP000 an error in flake8-torchrepro, please report it: KeyError: 'x\ny'"


def flake8(folder: Path, *arguments: str, config: str = CONFIG) -> subprocess.CompletedProcess[str]:
    (folder / "config").write_text(config)
    command = [sys.executable, "-m", "flake8", "--config", "config", *arguments]
    environment = {**os.environ, "PYTHONPATH": SOURCES}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


TORCH = "import torch\n"
ODD: dict[str, bytes] = {
    "empty": b"",
    "blank": b"\n\n\n",
    "comment": b"# torch",
    "bom": "\ufeffimport torch\nx = torch.rand(3)\n".encode(),
    "windows": b"import torch\r\nx = torch.rand(\r\n    3)\r\n",
    "old mac": b"import torch\rx = torch.rand(3)\r",
    "form feed": b"import torch\n\f\nx = torch.rand(3)\n\f",
    "no newline": b"import torch\nx = torch.rand(3)",
    "latin-1": "# coding: latin-1\nimport torch\nx = 'ä', torch.rand(3)\n".encode("latin-1"),
    "not utf-8": b"import torch\nx = '\xff'\n",
    "nested calls": (TORCH + "x = " + "torch.abs(" * 90 + "1" + ")" * 90 + "\n").encode(),
    "nested blocks": (
        TORCH + "".join("    " * depth + "if torch:\n" for depth in range(90)) + "    " * 90 + "pass\n"
    ).encode(),
    "long chain": (TORCH + "x = torch" + ".x()" * 900 + "\n").encode(),
    "long sum": (TORCH + "x = torch" + " + 1" * 900 + "\n").encode(),
    "long elif": (TORCH + "if torch:\n    pass\n" + "elif torch:\n    pass\n" * 300).encode(),
}


def test_odd_files(tmp_path: Path) -> None:
    """flake8 ends its run where a plugin raises: here no file may make it do so."""
    for number, content in enumerate(ODD.values()):
        (tmp_path / f"odd{number}.py").write_bytes(content)
    run = flake8(tmp_path, "--select", "TRP,E9", ".")
    assert run.stderr == ""
    assert "TRP000" not in run.stdout
    assert run.returncode in (0, 1)


def test_options_of_flake8(tmp_path: Path) -> None:
    """Options and configuration arrive, and a bad value is an error of the user's."""
    (tmp_path / "a.py").write_text("x = 1\n")
    assert "--torchrepro-torch-version X.Y" in flake8(tmp_path, "--help").stdout
    declared = CONFIG + "torchrepro-torch-version = 2.1\ntorchrepro-seeders = a.seed,\n    b.seed\n"
    assert flake8(tmp_path, "a.py", config=declared).returncode == 0
    assert (
        flake8(tmp_path, "--torchrepro-torch-version", "1.13", "--torchrepro-guards", "a.guard", "a.py").returncode == 0
    )
    wrong = flake8(tmp_path, "a.py", config=CONFIG + "torchrepro-torch-version = new\n")
    assert "'new' is not a version such as 2.1" in wrong.stderr
    assert "Traceback" not in wrong.stderr
    assert flake8(tmp_path, "--torchrepro-root", ".", "a.py").returncode == 0
    nowhere = flake8(tmp_path, "a.py", config=CONFIG + "torchrepro-root = ./none\n")
    assert "none is not a folder" in nowhere.stdout + nowhere.stderr
    assert "Traceback" not in nowhere.stdout + nowhere.stderr


LOADER = next(rule for rule in all_rules() if rule.code == "TRP301").bad[0].code


def codes_in(folder: Path, *arguments: str, config: str = CONFIG) -> list[str]:
    run = flake8(folder, "--select", "TRP", "--format", "%(code)s", *arguments, config=config)
    assert run.stderr == ""
    return run.stdout.split()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "data.py").write_text(LOADER)
    return tmp_path


def test_the_oldest_torch_is_declared_in_flake8(project: Path) -> None:
    assert codes_in(project, "package") == ["TRP301"]
    assert codes_in(project, "--torchrepro-torch-version", "1.9", "package") == []
    assert codes_in(project, "--torchrepro-torch-version", "1.8", "package") == ["TRP301"]
    assert codes_in(project, "package", config=CONFIG + "torchrepro-torch-version = 1.9\n") == []


def test_the_oldest_torch_is_declared_by_the_project(project: Path) -> None:
    (project / "requirements.txt").write_text("torch>=1.9\n")
    assert codes_in(project, "package") == []
    (project / "pyproject.toml").write_text('[tool.torchrepro]\ntorch-version = "1.8"\n')
    assert codes_in(project, "package") == ["TRP301"]
    assert codes_in(project, "--torchrepro-torch-version", "1.9", "package") == []
    assert codes_in(project, "--torchrepro-root", "package", "package") == ["TRP301"]


def test_a_bad_declaration_is_said_once(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.torchrepro]\ntorch-version = 1.9\n")
    (project / "a.py").write_text("")
    run = flake8(project, "--select", "TRP", "--jobs", "1", ".")
    line = (
        "./a.py:1:1: TRP000 pyproject.toml: [tool.torchrepro] torch-version: 1.9 is not a version: write a text such as"
    )
    assert run.stdout.splitlines()[0] == f'{line} "2.1"'
    assert run.stdout.count("TRP000") == 1
    assert run.stdout.count("TRP301") == 1


@pytest.mark.skipif(not is_installed(), reason="the package is not installed")
def test_flake8_shows_the_plugin(tmp_path: Path) -> None:
    assert f"flake8-torchrepro: {metadata.version('flake8-torchrepro')}" in flake8(tmp_path, "--version").stdout


def test_importing_the_plugin_is_cheap() -> None:
    program = (
        "import sys, flake8_torchrepro.plugin;"
        "print([name for name in ('libcst', 'torch', 'flake8', 'rich', 'numpy') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": SOURCES}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
