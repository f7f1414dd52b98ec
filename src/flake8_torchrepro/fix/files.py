"""Reads source files as Python does and writes them back without harm."""

from __future__ import annotations

import io
import os
import shutil
import stat
import tempfile
import tokenize
from dataclasses import dataclass
from pathlib import Path


class FileProblem(Exception):
    """A file that cannot be read or written; the message is one line and names it."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text, with its own line ends and without a byte-order mark, and the bytes that it was read from."""

    path: Path
    text: str
    data: bytes


def read_file(path: Path) -> FileText:
    """Read a source file, by its coding cookie or byte-order mark, else as UTF-8; raises ``FileProblem``."""
    data = _read(path)
    if b"\0" in data:
        raise FileProblem(path, "has NUL bytes, so it is not Python source")
    encoding = _encoding(path, data)
    try:
        return FileText(path, data.decode(encoding), data)
    except UnicodeError as error:
        raise FileProblem(path, f"is not {encoding} text, as it says it is, or says nothing") from error
    except LookupError as error:
        raise FileProblem(path, f"{encoding} is not an encoding of text") from error


def write_atomically(path: Path, text: str, original: bytes) -> None:
    """Replace a file that still holds ``original`` by the text, in the encoding of ``original``.

    A link stays a link, permissions stay, and at no time is there half a file. Raises ``FileProblem``.
    """
    data = _encode(path, text, original)
    real = Path(os.path.realpath(path))
    if _read(path) != original:
        raise FileProblem(path, "has changed on disk meanwhile; nothing was written")
    try:
        _replace(real, data)
    except OSError as error:
        raise FileProblem(path, f"cannot be written: {error.strerror or error}") from error


def _replace(real: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{real.name}.", suffix=".tmp", dir=real.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        shutil.copymode(real, name)
        os.replace(name, real)
    except BaseException:
        os.unlink(name)
        raise


def _encode(path: Path, text: str, original: bytes) -> bytes:
    encoding = _encoding(path, original)
    try:
        return text.encode(encoding)
    except UnicodeError as error:
        raise FileProblem(path, f"the repaired text cannot be written in {encoding}") from error


def _encoding(path: Path, data: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        if (error.msg or "").startswith("unknown encoding") and is_utf8(data):
            return "utf-8"  # a codec that a package brings, such as future_fstrings: UTF-8 with something added
        raise FileProblem(path, f"cannot be decoded: {error.msg}") from error


def is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _read(path: Path) -> bytes:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise FileProblem(path, "is a directory")
        if not stat.S_ISREG(mode):
            raise FileProblem(path, "is not a regular file")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise FileProblem(path, "is a broken link" if path.is_symlink() else "does not exist") from error
    except OSError as error:
        raise FileProblem(path, f"cannot be read: {error.strerror or error}") from error
