"""The oldest torch that a project supports, by the requirements that it declares. No code of it is run."""

from __future__ import annotations

import ast
import configparser
import functools
import os
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..patterns import Pattern
from .bounds import Version, bound_in, lower_bound
from .declared import parse_toml, table
from .texts import names_in, text_of

MOST_FILES = 200  # requirement files that are read
_REQUIREMENTS = Pattern(r"[\w.-]*requirements[\w.-]*\.(?:txt|in)", re.IGNORECASE)
_ENVIRONMENT = Pattern(r"environment[\w.-]*\.ya?ml", re.IGNORECASE)
_INCLUDE = Pattern(r"(?:-r|--requirement|-c|--constraint)[\s=]*(?P<path>[^\s#]+)")
_ITEM = Pattern(r"^\s*-\s+[\"']?(?P<text>[^\"'\n]+)", re.MULTILINE)

Bounds = Iterator[Version | None]


def torch_allowed(declared: Version | None, root: Path | None) -> Version | None:
    """The oldest torch that code must run on: what was declared for this tool, else what the project requires."""
    return declared if declared is not None or root is None else oldest_torch(root)


@functools.cache
def oldest_torch(root: Path) -> Version | None:
    """The lowest of all lower bounds in the packaging files at the root; None where there is none."""
    return min((bound for source in _SOURCES for bound in _known(source, root)), default=None)


def _known(source: Callable[[Path], Bounds], root: Path) -> list[Version]:
    """What a kind of file says. One that is not what its name promises says nothing."""
    try:
        return [bound for bound in source(root) if bound is not None]
    except (ValueError, SyntaxError, RecursionError, MemoryError, configparser.Error):
        return []


def _of_pyproject(root: Path) -> Bounds:
    text = text_of(root, "pyproject.toml")
    if "torch" not in text:
        return
    content = parse_toml(text)
    project = table(content, "project")
    groups = (table(project, "optional-dependencies"), table(content, "dependency-groups"))
    for requirements in (project.get("dependencies"), *(list_ for group in groups for list_ in group.values())):
        yield from map(bound_in, _texts(requirements))
    poetry = table(table(content, "tool"), "poetry")
    for group in (poetry, *table(poetry, "group").values()):
        for name in ("dependencies", "dev-dependencies"):
            yield from _of_poetry(table(group, name).get("torch"))


def _of_poetry(value: object) -> Bounds:
    """A constraint, a table with a ``version`` (or the ``url`` of a wheel), or a list of these."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            yield from (bound_in(text) for text in _texts([item.get("url")]))
            item = item.get("version")
        if isinstance(item, str):
            yield lower_bound(item)


def _texts(items: Any) -> list[str]:
    return [item for item in items if isinstance(item, str)] if isinstance(items, list) else []


def _of_setup_cfg(root: Path) -> Bounds:
    text = text_of(root, "setup.cfg")
    if "torch" not in text:
        return
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    values = [parser.get("options", "install_requires", fallback="")]
    if parser.has_section("options.extras_require"):
        values += [value or "" for _, value in parser.items("options.extras_require")]
    for value in values:
        yield from map(bound_in, value.splitlines())


def _of_setup_py(root: Path) -> Bounds:
    """Every constant text in it that is a requirement, wherever it stands: lists are built in many ways."""
    text = text_of(root, "setup.py")
    if "torch" not in text:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nodes = list(ast.walk(ast.parse(text)))
    pieces = {id(piece) for node in nodes if isinstance(node, ast.JoinedStr) for piece in node.values}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in pieces:
            yield from map(bound_in, node.value.splitlines())


def _of_requirements(root: Path) -> Bounds:
    names = [name for folder in ("", "requirements") for name in names_in(root, folder)]
    yield from _Requirements(root).of_files([name for name in names if _is_requirements(name)])


def _is_requirements(name: str) -> bool:
    folder, base = os.path.split(name)
    return _REQUIREMENTS.fullmatch(base) is not None or (folder != "" and base.endswith((".txt", ".in")))


def _of_environment(root: Path) -> Bounds:
    """conda's files, by their list items alone: those of ``dependencies`` and of ``pip`` below it are alike to us."""
    reader = _Requirements(root)
    for name in names_in(root):
        if _ENVIRONMENT.fullmatch(name):
            for item in _ITEM.finditer(text_of(root, name)):
                yield from reader.of_line(item["text"], "")


class _Requirements:
    """Reads requirement files and those that they include, each once."""

    def __init__(self, root: Path) -> None:
        self._root, self._read = root, set[str]()

    def of_files(self, names: list[str]) -> Bounds:
        """The bounds in files that are given as paths from the root."""
        for name in map(os.path.normpath, names):
            if name in self._read or len(self._read) >= MOST_FILES:
                continue
            self._read.add(name)
            for line in text_of(self._root, name).replace("\\\n", " ").splitlines():
                yield from self.of_line(line.strip(), os.path.dirname(name))

    def of_line(self, line: str, folder: str) -> Bounds:
        """The bound in a line, or those of the file that it includes."""
        include = _INCLUDE.match(line)
        if include is None:
            yield bound_in(line)
        else:
            yield from self.of_files([os.path.join(folder, include["path"])])


_SOURCES = (_of_pyproject, _of_setup_cfg, _of_setup_py, _of_requirements, _of_environment)
