"""The flake8 plugin: the only file that knows flake8."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Protocol

from . import __version__
from .analysis import analyze, program_for
from .settings import Settings
from .source import Source

FAILED = "TRP000"  # flake8 would end its whole run at an exception, and lose what others found

_NAMES: dict[str, Any] = {"comma_separated_list": True, "default": ()}


class OptionManager(Protocol):
    """The part of flake8's that is used here."""

    def add_option(self, name: str, **kwargs: Any) -> None:
        """Register an option."""


class TorchReproPlugin:
    """What flake8 makes for each file: yields ``(line, column, text, type)``."""

    name = "flake8-torchrepro"
    version = __version__
    settings: ClassVar[Settings] = Settings()

    def __init__(self, tree: ast.Module, filename: str, lines: list[str]) -> None:
        self._tree, self._path, self._lines = tree, filename, lines

    @classmethod
    def add_options(cls, options: OptionManager) -> None:
        """What the user may declare, on the command line or in flake8's configuration."""
        for name, form, metavar, text in (
            ("--torch-version", {"type": _version}, "X.Y", "The oldest torch that the code must run on."),
            ("--torch-seeders", _NAMES, "names", "Your own functions that seed everything, as dotted names."),
            ("--torch-guards", _NAMES, "names", "Your own decorators and context managers that switch gradients off."),
        ):
            options.add_option(name, parse_from_config=True, metavar=metavar, help=text, **form)

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Learn from flake8 whether opinions were selected: ``--select TRP`` alone must not switch them on."""
        chosen = [*(options.select or ()), *(options.extend_select or ())]
        cls.settings = Settings(
            select=("TRP", *(code for code in chosen if code.startswith("TRP9"))),
            torch_version=options.torch_version,
            seeders=tuple(options.torch_seeders),
            guards=tuple(options.torch_guards),
        )

    def run(self) -> Iterator[tuple[int, int, str, type[Any]]]:
        """The findings of the file. A file that is nested too deeply to follow gives none, never an exception."""
        source = Source(Path(self._path), "".join(self._lines), self._tree)
        try:
            findings = analyze(source, self.settings, program_for(source.path, self.settings))
        except (RecursionError, MemoryError):
            return
        except Exception as problem:
            yield 1, 0, f"{FAILED} an error in flake8-torchrepro, please report it: {_in_one_line(problem)}", type(self)
            return
        for finding in findings:
            column = source.character(finding.span.line, finding.span.column)
            yield finding.span.line, column, f"{finding.code} {finding.message}", type(self)


def _in_one_line(problem: Exception) -> str:
    return " ".join(f"{type(problem).__name__}: {problem}".split())


def _version(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)\.(\d+)(\.\d+)*", text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a version such as 2.1")
    return int(found[1]), int(found[2])
