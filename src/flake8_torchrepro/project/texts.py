"""Small text files of a project, read with care: within the root, regular, not huge, in whatever encoding."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

MOST_BYTES = 1_000_000
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def text_of(root: Path, relative: str) -> str:
    """The text of a file; empty where there is none, or where its link leads out of the root."""
    path = os.path.join(root, relative)
    try:
        if not os.path.isfile(path) or not _is_inside(path, root) or os.path.getsize(path) > MOST_BYTES:
            return ""
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES)
    except (OSError, ValueError):
        return ""
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8")
    return content.decode(encoding, errors="replace")


def names_in(root: Path, folder: str = "") -> list[str]:
    """What is in a folder of the project, sorted, as paths from the root."""
    path = os.path.join(root, folder)
    try:
        names = sorted(os.listdir(path)) if _is_inside(path, root) else []
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names]


def _is_inside(path: str, root: Path) -> bool:
    """Whether a path, its links followed, is within the root."""
    real, home = os.path.realpath(path), os.path.realpath(root)
    return real == home or real.startswith(home.rstrip(os.sep) + os.sep)
