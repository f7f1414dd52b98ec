"""What a project declares for this tool: ``[tool.torchrepro]`` in the ``pyproject.toml`` of its root."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..settings import dotted_names, version_of
from .texts import text_of

FILE = "pyproject.toml"
SECTION = "[tool.torchrepro]"
KEYS = ("torch-version", "seeders", "guards")


class Declared(NamedTuple):
    """The values of the section, and what is wrong with it: one line each, which names the file and what to write."""

    torch_version: tuple[int, int] | None = None
    seeders: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@functools.cache
def declared(root: Path) -> Declared:
    """What the project of a root declares; a bad value counts as none and is among the problems."""
    text = text_of(root, FILE)
    if "torchrepro" not in text:
        return Declared()
    try:
        section = table(parse_toml(text), "tool").get("torchrepro", {})
    except ValueError as problem:
        return Declared(problems=(f"{FILE}: not readable: {problem}",))
    if not isinstance(section, dict):
        return Declared(problems=(f"{FILE}: torchrepro is a section: write {SECTION}",))
    return Declared(
        _version(section.get("torch-version")),
        _names(section.get("seeders")) or (),
        _names(section.get("guards")) or (),
        tuple(f"{FILE}: {SECTION} {problem}" for problem in _problems(section)),
    )


def parse_toml(text: str) -> dict[str, Any]:
    """The content of a TOML file; raises ``ValueError``. Empty where Python cannot read TOML (3.10 without tomli)."""
    try:
        if sys.version_info >= (3, 11):
            import tomllib
        else:
            import tomli as tomllib
        content: dict[str, Any] = tomllib.loads(text.replace("\r\n", "\n"))
    except ImportError:  # nothing is declared, as far as we can tell
        return {}
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return content


def table(parent: object, key: str) -> dict[str, Any]:
    """A table within another; empty where there is none."""
    found = parent.get(key) if isinstance(parent, dict) else None
    return found if isinstance(found, dict) else {}


def _problems(section: dict[str, Any]) -> Iterator[str]:
    for key, value in section.items():
        if key not in KEYS:
            yield f"{key}: there is no such key: write {', '.join(KEYS[:-1])} or {KEYS[-1]}"
        elif key == "torch-version" and _version(value) is None:
            yield f'{key}: {value!r} is not a version: write a text such as "2.1"'
        elif key != "torch-version" and _names(value) is None:
            yield f'{key}: write a list of dotted names, such as ["mylib.name"]'


def _version(value: object) -> tuple[int, int] | None:
    """A number is refused: as one, 1.10 is 1.1."""
    try:
        return version_of(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _names(value: object) -> tuple[str, ...] | None:
    try:
        return dotted_names(value) if isinstance(value, list) and all(isinstance(name, str) for name in value) else None
    except ValueError:
        return None
