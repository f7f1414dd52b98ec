"""The flake8 plugin: the only file that knows flake8."""

from __future__ import annotations

import argparse
import ast
import gc
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Protocol

from . import __version__
from .analysis import analyze, effective, prepare, program_for
from .finding import PROBLEM
from .forking import workers_inherit
from .project.declared import declared
from .settings import Settings, dotted_names, version_of
from .source import Source

MANY_FILES = 20  # so many make it worth to read their project before flake8 forks its workers

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
    _told: ClassVar[set[Path]] = set()  # the roots whose declarations were complained of, by this process

    def __init__(self, tree: ast.Module, filename: str, lines: list[str]) -> None:
        self._tree, self._path, self._lines = tree, filename, lines

    @classmethod
    def add_options(cls, options: OptionManager) -> None:
        """What the user may declare, on the command line or in flake8's configuration."""
        for name, form, metavar, text in (
            ("root", {"normalize_paths": True}, "FOLDER", "Where the project begins (default: found from each file)."),
            ("torch-version", {"type": _version}, "X.Y", "The oldest torch that the code must run on."),
            ("seeders", _NAMES, "names", "Your own functions that seed everything, as dotted names."),
            ("guards", _NAMES, "names", "Your own decorators and context managers that switch gradients off."),
        ):
            options.add_option(f"--torchrepro-{name}", parse_from_config=True, metavar=metavar, help=text, **form)

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Learn from flake8 whether opinions were selected: ``--select TRP`` alone must not switch them on."""
        chosen = [*(options.select or ()), *(options.extend_select or ())]
        cls.settings = Settings(
            select=("TRP", *(code for code in chosen if code.startswith("TRP9"))),
            torch_version=options.torchrepro_torch_version,
            seeders=_own_names("seeders", options.torchrepro_seeders),
            root=_folder(options.torchrepro_root),
            guards=_own_names("guards", options.torchrepro_guards),
        )
        names = getattr(options, "filenames", None) or ["."]
        if _will_fork(options, names):
            # What fails here fails again where a file asks for it, and is reported there.
            with garbage_left_alone(), suppress(Exception):
                prepare([Path(name) for name in names], cls.settings)

    def run(self) -> Iterator[tuple[int, int, str, type[Any]]]:
        """The findings of the file. A file that is nested too deeply to follow gives none, never an exception."""
        source = Source(Path(self._path), "".join(self._lines), self._tree)
        try:
            with garbage_left_alone():
                settings = effective(self.settings, source.path)
                findings = analyze(source, settings, program_for(source.path, settings), repairs=False)
        except (RecursionError, MemoryError):
            return
        except Exception as problem:  # flake8 would end its whole run, and lose what others found
            yield (
                1,
                0,
                f"{PROBLEM} an error in flake8-torchrepro, please report it: {_in_one_line(problem)}",
                type(self),
            )
            return
        for problem_of_user in self._problems(settings.root):
            yield 1, 0, f"{PROBLEM} {problem_of_user}", type(self)
        for finding in findings:
            column = source.character(finding.span.line, finding.span.column)
            yield finding.span.line, column, f"{finding.code} {finding.message}", type(self)

    @classmethod
    def _problems(cls, root: Path | None) -> tuple[str, ...]:
        """What is wrong with the declarations of a project: said once, not for each of its files."""
        if root is None or root in cls._told:
            return ()
        cls._told.add(root)
        return declared(root).problems


@contextmanager
def garbage_left_alone() -> Iterator[None]:
    """Analyse without collections of garbage: what is kept of a project is large, and searching it again and again is slow.

    What is still alive afterwards is not searched by later collections either.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.freeze()
            gc.enable()


def _will_fork(options: argparse.Namespace, names: list[str]) -> bool:
    """Whether flake8 is about to fork workers, which inherit what this process knows by then."""
    jobs = getattr(options, "jobs", None)
    if jobs is None or (len(names) < MANY_FILES and not any(map(os.path.isdir, names))):
        return False
    count = os.cpu_count() if jobs.is_auto else jobs.n_jobs
    return (count or 1) > 1 and workers_inherit()


def _in_one_line(problem: Exception) -> str:
    return " ".join(f"{type(problem).__name__}: {problem}".split())


def _version(text: str) -> tuple[int, int]:
    try:
        return version_of(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


def _own_names(option: str, names: Iterable[str]) -> tuple[str, ...]:
    try:
        return dotted_names(names)
    except ValueError as problem:
        raise _refusal(f"--torchrepro-{option}: {problem}") from None


def _folder(text: str | None) -> Path | None:
    """A mistyped folder would silently be an empty project: flake8 ends with these words instead."""
    if text is None or Path(text).is_dir():
        return None if text is None else Path(text)
    raise _refusal(f"--torchrepro-root: {text} is not a folder")


def _refusal(words: str) -> Exception:
    """What makes flake8 end with some words for the user."""
    from flake8.exceptions import ExecutionError

    refusal: Exception = ExecutionError(words)
    return refusal
