"""Who imports whom in a project, read from the import lines alone: no file is parsed for it."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..patterns import Pattern
from .files import ProjectFiles
from .imports import LIBRARIES, Imports

# What stands before the word ``import`` on its (logical) line, and what behind it.
BEFORE = Pattern(r"(?:.*[;:])?\s*(?:from[ \t\f]+(?P<home>[.\w]+(?:[ \t]*\.[ \t]*\w+)*)\s*)?")
BEHIND = Pattern(r"import(?!\w)[ \t\f]*(?P<names>\([^()#]*(?:#[^\n]*\n[^()#]*)*\)|[^\n#;\\(]+(?:\\\n[^\n#;\\(]*)*)")
LONGEST_BEFORE = 500  # characters of a line before the word, in a statement
COMMENT = Pattern(r"#[^\n]*")
DYNAMIC = Pattern(r"import_module\(\s*f?[\"'](?P<prefix>[\w.]*)")
MAIN = Pattern(r"^if\s+__name__\s*==", re.MULTILINE)
EFFECT = Pattern(r"^(?:for|while|with|[\w.]+\()", re.MULTILINE)
TESTS = Pattern(r"(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$")


class Index:
    """The import graph of a project, built when first asked."""

    def __init__(self, files: ProjectFiles, imports: Imports) -> None:
        self.files, self.imports = files, imports
        self._packages: dict[str, tuple[str, ...]] = {}
        self._directly: dict[str, frozenset[str]] = {}
        self._imported: dict[str, frozenset[str]] = {}
        self._reached: dict[str, frozenset[str]] = {}
        self._is_script: dict[str, bool] = {}
        self._is_test: dict[str, bool] = {}

    @functools.cached_property
    def _importers(self) -> dict[str, set[str]]:
        """File -> the files that import it, if only on the way to another one."""
        return self._backward(self.imported_by)

    @functools.cached_property
    def _direct_importers(self) -> dict[str, set[str]]:
        """File -> the files whose imports name it."""
        return self._backward(self._direct)

    def _backward(self, targets: Callable[[str], frozenset[str]]) -> dict[str, set[str]]:
        backward: dict[str, set[str]] = {}
        for path in self.files.all():
            for target in targets(path):
                backward.setdefault(target, set()).add(path)
        return backward

    def build(self) -> None:
        """Read the imports of every file now rather than when the first question comes."""
        _ = self._importers, self._direct_importers

    def imported_by(self, path: str) -> frozenset[str]:
        """The files that a file imports (packages on the way included)."""
        found = self._imported.get(path)
        if found is None:
            direct = self._direct(path)
            packages = (init for target in direct for init in self._packages_of(target))
            found = self._imported[path] = direct.union(packages) - {path}
        return found

    def mentioning(self, path: str, names: set[str]) -> list[str]:
        """The files that import a file (or a package that hands its names on) and mention one of some names; sorted."""
        offers = {path}
        for init in self._packages_of(path):
            if not offers.isdisjoint(self._direct(init)):
                offers.add(init)
        importers = set().union(*(self._direct_importers.get(offer, ()) for offer in offers)) - offers
        return [other for other in sorted(importers) if any(name in (self.files.text(other) or "") for name in names)]

    def _direct(self, path: str) -> frozenset[str]:
        """The files that the imports of a file name."""
        found = self._directly.get(path)
        if found is None:
            found = self._directly[path] = frozenset(self._imports_of(path))
        return found

    def defining_file(self, path: str, name: str, steps: int = 6) -> str | None:
        """The file where a name that a module offers is defined, by what the texts say: no file is parsed."""
        text = self.files.text(path) or ""
        if steps <= 0 or any(start in text for start in (f"def {name}(", f"class {name}", f"\n{name} =", f"\n{name}:")):
            return path
        if name not in text and "import *" not in text:
            return None
        stars = []
        for statement in _imports_in(text):
            located = self.imports.locate(path, statement.home) if statement.home else None
            if located is None or located.rest:
                continue
            if "*" in statement.names:
                stars.append(located.path)
            elif name in statement.names:
                inner = self.imports.submodule(located.path, name)
                return inner or self.defining_file(located.path, name, steps - 1)
        for star in reversed(stars):
            if name in (self.files.text(star) or "") or "import *" in (self.files.text(star) or ""):
                found = self.defining_file(star, name, steps - 1)
                if found is not None:
                    return found
        return None

    def _imports_of(self, path: str) -> set[str]:
        text = self.files.text(path) or ""
        found: set[str] = set()
        for statement in _imports_in(text):
            for dotted in _dotted(statement):
                self._add(path, dotted, found)
        for match in DYNAMIC.finditer(text):
            found.update(self._below(path, match["prefix"]))
        found.discard(path)
        return found

    def _add(self, path: str, dotted: str, found: set[str]) -> None:
        located = self.imports.locate(path, dotted)
        if located is not None:
            found.add(located.path)

    def _packages_of(self, path: str) -> tuple[str, ...]:
        """The ``__init__`` files that run before a module does, the nearest first."""
        found = self._packages.get(path)
        if found is None:
            found = self._packages[path] = tuple(self._find_packages(path))
        return found

    def _find_packages(self, path: str) -> Iterator[str]:
        root, folder = str(self.files.root), os.path.dirname(path)
        while folder.startswith(root) and folder != root:
            init = os.path.join(folder, "__init__.py")
            if not self.files.is_file(init):
                return
            if init != path:
                yield init
            folder = os.path.dirname(folder)

    def _below(self, path: str, prefix: str) -> set[str]:
        """What ``import_module`` with a constant (or a constant beginning) may load."""
        if not prefix.strip("."):
            return set()
        dotted = prefix.rstrip(".")
        located = self.imports.locate(path, dotted)
        if located is not None and os.path.basename(located.path) != "__init__.py":
            return {located.path}
        folder = os.path.dirname(located.path) if located is not None else self.imports.folder(path, dotted)
        if folder is None:
            return set()
        inside = (os.path.join(folder, name) for name in self.files.entries(folder) if name.endswith(".py"))
        return {path for path in inside if self.files.is_file(path)}

    # -- programs ----------------------------------------------------------------------------------------------------

    def reach(self, path: str) -> frozenset[str]:
        """A file and all that it imports, directly or not."""
        known = self._reached.get(path)
        if known is None:
            found, pending = {path}, [path]
            while pending:
                for target in self.imported_by(pending.pop()):
                    if target not in found:
                        found.add(target)
                        pending.append(target)
            known = self._reached[path] = frozenset(found)
        return known

    def scripts(self, path: str) -> list[str]:
        """The scripts that reach a file; itself where nothing (but tests) imports it."""
        above, pending = {path}, [path]
        while pending:
            for importer in self._importers.get(pending.pop(), ()):
                if importer not in above and not self.is_test(importer):
                    above.add(importer)
                    pending.append(importer)
        found = [other for other in sorted(above) if self.is_script(other)]
        return found or [path]

    def is_script(self, path: str) -> bool:
        """Whether a file is run: it has a ``__main__`` block, or acts when it is loaded and nothing imports it."""
        known = self._is_script.get(path)
        if known is None:
            text = self.files.text(path) or ""
            known = "__name__" in text and MAIN.search(text) is not None
            if not known and all(self.is_test(importer) for importer in self._importers.get(path, ())):
                known = EFFECT.search(text) is not None
            self._is_script[path] = known
        return known

    def is_test(self, path: str) -> bool:
        """Whether a file is a test: what a test does says nothing about the program."""
        known = self._is_test.get(path)
        if known is None:
            known = self._is_test[path] = TESTS.search(self.files.relative(path)) is not None
        return known


class Import(NamedTuple):
    """One import statement: the module after ``from`` (empty where there is none), and the names."""

    home: str
    names: list[str]


def _imports_in(text: str) -> Iterator[Import]:
    """The import statements of a text, found by their word rather than by matching each line."""
    at = text.find("import")
    while at >= 0:
        behind = BEHIND.match(text, at)
        end = at + 1
        if behind is not None:
            home = _home(text, at)
            if home is not None:
                names = behind["names"].strip()
                end = behind.end() if names[:1] != "(" or "import" not in names else end
                yield Import(home, _names(names))
        at = text.find("import", end)


def _home(text: str, at: int) -> str | None:
    """The module between ``from`` and the ``import`` at a place, empty without a ``from``; None: it is no statement."""
    start = text.rfind("\n", 0, at) + 1
    if start == at:
        return ""
    if text.startswith("from ", start) and text.find(" ", start + 5, at) in (at - 1, -1):  # nearly all of them
        return text[start + 5 : at].strip()
    if at - start > LONGEST_BEFORE:
        return None
    while start > 1 and text[start - 2] == "\\":
        start = text.rfind("\n", 0, start - 1) + 1
    before = BEFORE.fullmatch(text[start:at].replace("\\\n", " "))
    return None if before is None else (before["home"] or "").replace(" ", "").replace("\t", "")


def _names(text: str) -> list[str]:
    """The names of an import, without what they are bound to; ``*`` among them."""
    if "#" in text:
        text = COMMENT.sub("", text)
    parts = (part.split(None, 1) for part in text.strip("()").replace("\\\n", " ").split(","))
    return [part[0] for part in parts if part]


def _dotted(statement: Import) -> list[str]:
    """What a statement imports, as dotted names from the importing file."""
    home = statement.home
    if not home:
        return statement.names
    if home.partition(".")[0] in LIBRARIES:
        return []
    joint = "" if home.endswith(".") else "."
    return [f"{home}{joint}{name}" if name.isidentifier() else home for name in statement.names] or [home]
