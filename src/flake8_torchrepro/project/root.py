"""Where a project begins."""

from __future__ import annotations

from pathlib import Path

MARKS = ("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", ".flake8")


def find_root(file: Path) -> Path:
    """The root of the project that a file is in, as an absolute path.

    The nearest folder upward with ``.git``; else the outermost with a packaging or flake8 file; else the file's own.
    """
    folder = file.absolute().parent
    upward = [folder, *folder.parents]
    for candidate in upward:
        if (candidate / ".git").exists():
            return candidate
    marked = [candidate for candidate in upward if any((candidate / mark).is_file() for mark in MARKS)]
    return marked[-1] if marked else folder
