"""flake8's own configuration, found and read as flake8 does it, so that both tools leave the same code alone."""

from __future__ import annotations

import configparser
import os
import re
from dataclasses import dataclass
from pathlib import Path

from ..settings import dotted_names, version_of

_NAMES = ("setup.cfg", "tox.ini", ".flake8")
_FILE_OR_COLON = re.compile(r"[^\s:,]+|:")
_CODE = re.compile(r"[A-Z]+[0-9]*")

PerFile = tuple[tuple[str, tuple[str, ...]], ...]


class ConfigProblem(Exception):
    """A configuration that cannot be used, in words for the user."""


@dataclass(frozen=True, slots=True)
class Config:
    """What the ``[flake8]`` section says of the options that matter here; None where it does not mention one."""

    path: str | None = None
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    per_file_ignores: PerFile = ()
    exclude: tuple[str, ...] = ()
    disable_noqa: bool = False
    torch_version: tuple[int, int] | None = None
    seeders: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    root: Path | None = None


def load_config(path: str | None = None, *, isolated: bool = False) -> Config:
    """The configuration in a given file, or in the nearest one from the working folder upwards."""
    if isolated:
        return Config()
    if path is not None and not os.path.isfile(path):
        raise ConfigProblem(f"{path}: no such configuration file")
    path = path or _find(os.path.abspath("."))
    return Config() if path is None else _read(path)


def items_of(text: str) -> tuple[str, ...]:
    """The items of a list that is separated by commas or whitespace."""
    return tuple(re.sub(r"[,\s]+", " ", text).split())


def normalized(pattern: str, folder: str) -> str:
    """A file pattern as flake8 understands it: one with a slash is a path, seen from a folder."""
    if pattern == "." or os.sep in pattern or (os.altsep and os.altsep in pattern):
        pattern = os.path.abspath(os.path.join(folder, pattern))
    return pattern.rstrip(os.sep + (os.altsep or ""))


def _find(folder: str) -> str | None:
    """The first file with a flake8 section, upwards as far as the home folder (which is searched only from within)."""
    home = os.path.expanduser("~")
    while True:
        for path in (os.path.join(folder, name) for name in _NAMES):
            if _has_section(path):
                return path
        parent = os.path.dirname(folder)
        if parent == folder or _same(parent, home):
            return None
        folder = parent


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _has_section(path: str) -> bool:
    try:
        parser = _parse(path)
    except (UnicodeDecodeError, configparser.ParsingError):
        return False  # of another tool, as far as flake8 is concerned
    except configparser.Error as problem:
        raise _unreadable(path, problem) from None
    return "flake8" in parser or "flake8:local-plugins" in parser


def _unreadable(path: str, problem: Exception) -> ConfigProblem:
    return ConfigProblem(f"{path}: not a readable configuration ({str(problem).splitlines()[0]})")


def _parse(path: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser()
    parser.read(path, encoding="UTF-8")
    return parser


def _read(path: str) -> Config:
    try:
        parser = _parse(path)
    except (UnicodeDecodeError, configparser.Error) as problem:
        raise _unreadable(path, problem) from None
    items = parser.items("flake8") if parser.has_section("flake8") else ()
    options = {name.replace("-", "_"): value or "" for name, value in items}
    folder = os.path.dirname(path)
    patterns = items_of(options.get("exclude", "")) + items_of(options.get("extend_exclude", ""))
    return Config(
        path,
        select=items_of(options["select"]) if "select" in options else None,
        extend_select=items_of(options.get("extend_select", "")),
        ignore=items_of(options.get("ignore", "")),
        extend_ignore=items_of(options.get("extend_ignore", "")),
        per_file_ignores=_per_file(options.get("per_file_ignores", ""), path),
        exclude=tuple(normalized(pattern, folder) for pattern in patterns),
        disable_noqa=options.get("disable_noqa", "").lower() in ("1", "yes", "true", "on"),
        torch_version=_version(options.get("torchrepro_torch_version"), path),
        seeders=_names(options, "torchrepro_seeders", path),
        guards=_names(options, "torchrepro_guards", path),
        root=_root(options.get("torchrepro_root"), path),
    )


def _version(text: str | None, path: str) -> tuple[int, int] | None:
    try:
        return None if text is None else version_of(text)
    except ValueError as problem:
        raise ConfigProblem(f"{path}: torchrepro-torch-version: {problem}") from None


def _names(options: dict[str, str], name: str, path: str) -> tuple[str, ...]:
    try:
        return dotted_names(items_of(options.get(name, "")))
    except ValueError as problem:
        raise ConfigProblem(f"{path}: {name.replace('_', '-')}: {problem}") from None


def _root(text: str | None, path: str) -> Path | None:
    if text is None:
        return None
    folder = normalized(text.strip(), os.path.dirname(path))
    if not os.path.isdir(folder):
        raise ConfigProblem(f"{path}: torchrepro-root: {text.strip()} is not a folder")
    return Path(folder)


def _per_file(text: str, path: str) -> PerFile:
    """``files:codes`` pairs; a name behind codes begins the next pair."""
    pairs: list[tuple[str, tuple[str, ...]]] = []
    files: list[str] = []
    codes: list[str] | None = None
    for word in _FILE_OR_COLON.findall(text):
        if word == ":" and files and codes is None:
            codes = []
        elif codes is None and word != ":":
            files.append(word)
        elif codes is not None and _CODE.fullmatch(word):
            codes.append(word)
        elif codes is not None and word != ":":
            pairs += [(file, tuple(codes)) for file in files if codes]
            files, codes = [word], None
        else:
            raise ConfigProblem(f"{path}: per-file-ignores: expected file names, a colon and codes")
    if files and codes is None:
        raise ConfigProblem(f"{path}: per-file-ignores: no codes for {files[-1]}")
    return (*pairs, *((file, tuple(codes or ())) for file in files if codes))
