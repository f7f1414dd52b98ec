"""Which files a run is about: those that were named, and the Python files in folders that were named."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

SUFFIXES = (".py",)  # what is taken from a folder
LATER = (".ipynb",)  # what is refused by name, because it would be read as something it is not

_SKIPPED = frozenset({"__pycache__", "node_modules", "build", "dist", "CVS"})


@dataclass(slots=True)
class Found:
    """The files of a run in a fixed order, and what is wrong with the paths that were given."""

    files: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    excluded: int = 0


def discover(paths: Sequence[str], excludes: Callable[[str], bool]) -> Found:
    """All files of a run, each once. What flake8's configuration excludes is left out even if it was named."""
    found = Found()

    def left_out(path: str) -> bool:
        found.excluded += (hit := excludes(path))
        return hit

    for path in paths:
        if left_out(path):
            continue
        if os.path.isdir(path):
            _take_folder(path, left_out, found)
        elif problem := complaint(path):
            found.problems.append(f"{path}: {problem}")
        else:
            found.files.append(path)
    once: dict[str, str] = {}
    for path in found.files:
        once.setdefault(os.path.abspath(path), path)
    found.files = list(once.values())
    return found


def _take_folder(folder: str, left_out: Callable[[str], bool], found: Found) -> None:
    before = len(found.problems), found.excluded
    files = list(_walk(folder, left_out, found.problems))
    if not files and before == (len(found.problems), found.excluded):
        found.problems.append(f"{folder}: no Python files in this folder")
    found.files += files


def complaint(path: str) -> str | None:
    """Why a path that was named cannot be read."""
    if not os.path.lexists(path):
        return "no such file or folder"
    if not os.path.exists(path):
        return "a link that leads nowhere"
    if not os.path.isfile(path):
        return "not a regular file"
    if path.endswith(LATER):
        return "notebooks are not supported yet"
    return None


def _walk(folder: str, left_out: Callable[[str], bool], problems: list[str]) -> Iterator[str]:
    """The Python files below a folder, by name; links to folders are not followed."""

    def complain(error: OSError) -> None:
        problems.append(f"{error.filename}: cannot be read: {error.strerror or error}")

    for root, folders, files in os.walk(folder, onerror=complain):
        if root != folder and "pyvenv.cfg" in files:
            folders.clear()
            continue
        kept = (name for name in folders if not _is_skipped(name) and not left_out(os.path.join(root, name)))
        folders[:] = sorted(kept)
        for name in sorted(files):
            path = os.path.join(root, name)
            if not name.endswith(SUFFIXES) or name.startswith(".#") or left_out(path):
                continue  # `.#name.py` is the lock of an editor: a link that leads nowhere
            if os.path.isfile(path):
                yield path
            elif os.path.islink(path):
                problems.append(f"{path}: a link that leads nowhere")


def _is_skipped(folder: str) -> bool:
    return folder.startswith(".") or folder in _SKIPPED or folder.endswith(".egg")
