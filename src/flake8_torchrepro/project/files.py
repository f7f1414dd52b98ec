"""The Python files of a project: which there are, and their text. Nothing outside the root is ever read."""

from __future__ import annotations

import io
import os
import tokenize
from collections.abc import Iterator
from pathlib import Path

SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "build", "dist", "venv", "env", "wandb", "mlruns"})
MOST_FILES = 10_000  # Python files that are listed
MOST_KEPT = 100_000_000  # characters of text that are kept; what comes after is read again when it is asked for
MOST_ENTRIES = 200_000  # folder entries that are looked at
MOST_BYTES = 1_000_000  # a larger file is data, or generated


class ProjectFiles:
    """Reads a project, each file once at most. Files that vanish or cannot be decoded are as if they were not there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._real_root = os.path.realpath(root)
        self._prefix = os.path.join(root, "")
        self._texts: dict[str, str | None] = {}
        self._kept = 0  # characters
        self._is_file: dict[str, bool] = {}
        self._folders: dict[str, frozenset[str]] = {}
        self._listed: list[str] | None = None

    def relative(self, path: str) -> str:
        """The path as messages show it: from the root, with forward slashes."""
        inner = path[len(self._prefix) :] if path.startswith(self._prefix) else os.path.relpath(path, self.root)
        return inner.replace(os.sep, "/")

    def is_inside(self, path: str) -> bool:
        """Whether a path, its links followed, is within the root."""
        real = os.path.realpath(path)
        return real == self._real_root or real.startswith(self._real_root + os.sep)

    def entries(self, folder: str) -> frozenset[str]:
        """The names in a folder; none where it cannot be read."""
        known = self._folders.get(folder)
        if known is None:
            try:
                known = frozenset(os.listdir(folder))
            except OSError:
                known = frozenset()
            self._folders[folder] = known
        return known

    def is_file(self, path: str) -> bool:
        """Whether a file of the project is there."""
        known = self._is_file.get(path)
        if known is None:
            folder, name = os.path.split(path)
            known = name in self.entries(folder) and os.path.isfile(path) and self.is_inside(path)
            self._is_file[path] = known
        return known

    def is_folder(self, path: str) -> bool:
        """Whether a folder of the project is there."""
        folder, name = os.path.split(path)
        return name in self.entries(folder) and os.path.isdir(path) and self.is_inside(path)

    def text(self, path: str) -> str | None:
        """The text of a file; None where it cannot be had."""
        if path in self._texts:
            return self._texts[path]
        text = self._read(path)
        self._kept += len(text or "")
        if self._kept <= MOST_KEPT:
            self._texts[path] = text
        return text

    def _read(self, path: str) -> str | None:
        if not self.is_file(path):
            return None
        try:
            if os.path.getsize(path) > MOST_BYTES:
                return None
            with open(path, "rb") as file:
                return decode(file.read())
        except (OSError, SyntaxError, UnicodeDecodeError, LookupError):
            return None

    def all(self) -> list[str]:
        """Every Python file of the project, sorted."""
        if self._listed is None:
            self._listed = sorted(self._walk())
            self._is_file.update(dict.fromkeys(self._listed, True))  # no link was followed: they are inside
        return self._listed

    def _walk(self) -> Iterator[str]:
        pending, files, seen = [str(self.root)], 0, 0
        while pending:
            folder = pending.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:
                continue
            if any(entry.name == "pyvenv.cfg" for entry in entries):
                continue
            for entry in entries:
                seen += 1
                if seen > MOST_ENTRIES or files >= MOST_FILES:
                    return
                if entry.name.startswith(".") or entry.name in SKIPPED:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                elif entry.name.endswith(".py") and entry.is_file(follow_symlinks=False):
                    files += 1
                    yield entry.path


def decode(content: bytes) -> str:
    """The text of a Python file by its coding line (PEP 263), with newlines as ``\n``; an unknown codec is taken for UTF-8."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except SyntaxError as error:
        if not (error.msg or "").startswith("unknown encoding"):
            raise
        encoding = "utf-8"
    return content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
