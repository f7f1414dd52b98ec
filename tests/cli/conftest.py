"""A command with rules of its own, in an empty folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from fakes import FakeRule, Ran

from flake8_torchrepro import analysis
from flake8_torchrepro.cli import choices
from flake8_torchrepro.cli.main import main
from flake8_torchrepro.project.declared import declared
from flake8_torchrepro.project.versions import oldest_torch
from flake8_torchrepro.rule import Rule


@pytest.fixture(autouse=True)
def rules(monkeypatch: pytest.MonkeyPatch) -> tuple[Rule, ...]:
    fakes = (
        FakeRule("TRP201", "bad-call", "bad"),
        FakeRule("TRP301", "other-call", "other", torch_below=(1, 9)),
        FakeRule("TRP901", "opinion", "opinion"),
    )
    found = cast(tuple[Rule, ...], fakes)
    monkeypatch.setattr(analysis, "all_rules", lambda: found)
    monkeypatch.setattr(choices, "all_rules", lambda: found)
    monkeypatch.setattr("flake8_torchrepro.cli.main.all_rules", lambda: found)
    return found


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, in a home of its own so that no configuration from outside is found."""
    folder = tmp_path / "home" / "project"
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv("USERPROFILE", str(folder.parent))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def fix(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run ``torchrepro-fix`` with these arguments."""

    def run(*argv: str) -> Ran:
        for remembered in (declared, oldest_torch, analysis._effective):
            remembered.cache_clear()  # as in a process of its own
        try:
            status = main(argv)
        except SystemExit as leave:
            status = int(leave.code or 0)
        said = capsys.readouterr()
        return Ran(status, said.out, said.err)

    return run


@pytest.fixture
def write(project: Path) -> Callable[..., Path]:
    """Write a file into the working folder: text as UTF-8, or bytes."""

    def put(name: str, content: str | bytes = "bad(1)\n") -> Path:
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put
