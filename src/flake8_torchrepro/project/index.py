"""Who imports whom in a project, read from the import lines alone: no file is parsed for it."""

from __future__ import annotations

import functools
import os
import re

from .files import ProjectFiles
from .imports import Imports

IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<home>[.\w]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n#;]+)|import[ \t]+(?P<whole>[^\n#;]+))",
    re.MULTILINE,
)
DYNAMIC = re.compile(r"import_module\(\s*f?[\"'](?P<prefix>[\w.]*)")
NAME = re.compile(r"[\w.]+")
MAIN = re.compile(r"^if\s+__name__\s*==", re.MULTILINE)
EFFECT = re.compile(r"^(?:for|while|with|[\w.]+\()", re.MULTILINE)
TESTS = re.compile(r"(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$")


class Index:
    """The import graph of a project, built when first asked."""

    def __init__(self, files: ProjectFiles, imports: Imports) -> None:
        self.files, self.imports = files, imports

    @functools.cached_property
    def _graph(self) -> tuple[dict[str, frozenset[str]], dict[str, set[str]]]:
        forward: dict[str, frozenset[str]] = {}
        backward: dict[str, set[str]] = {}
        for path in self.files.all():
            targets = forward[path] = frozenset(self._imports_of(path))
            for target in targets:
                backward.setdefault(target, set()).add(path)
        return forward, backward

    def imported_by(self, path: str) -> frozenset[str]:
        """The files that a file imports (packages on the way included)."""
        found = self._graph[0].get(path)
        return frozenset(self._imports_of(path)) if found is None else found

    def importers(self, path: str) -> list[str]:
        """The files that import a file, directly or through the ``__init__`` files that hand its names on; sorted."""
        found, pending = set(), [path]
        while pending:
            for importer in self._graph[1].get(pending.pop(), ()):
                if importer not in found and importer != path:
                    found.add(importer)
                    if os.path.basename(importer) == "__init__.py":
                        pending.append(importer)
        return sorted(found)

    def _imports_of(self, path: str) -> set[str]:
        text = self.files.text(path) or ""
        if "import" not in text:
            return set()
        found: set[str] = set()
        for match in IMPORT.finditer(text):
            for dotted in _names(match):
                self._add(path, dotted, found)
        for match in DYNAMIC.finditer(text):
            found.update(self._below(path, match["prefix"]))
        found.discard(path)
        return found

    def _add(self, path: str, dotted: str, found: set[str]) -> None:
        located = self.imports.locate(path, dotted)
        if located is None:
            return
        found.add(located.path)
        folder = os.path.dirname(located.path)
        while folder.startswith(str(self.files.root)) and folder != str(self.files.root):
            init = os.path.join(folder, "__init__.py")
            if not self.files.is_file(init):
                break
            found.add(init)
            folder = os.path.dirname(folder)

    def _below(self, path: str, prefix: str) -> set[str]:
        """What ``import_module`` with a constant (or a constant beginning) may load."""
        if not prefix.strip("."):
            return set()
        located = self.imports.locate(path, prefix.rstrip("."))
        if located is None:
            return set()
        if os.path.basename(located.path) != "__init__.py":
            return {located.path}
        folder = os.path.dirname(located.path)
        return {other for other in self.files.all() if os.path.dirname(other) == folder}

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

    @functools.cached_property
    def _reached(self) -> dict[str, frozenset[str]]:
        return {}

    def scripts(self, path: str) -> list[str]:
        """The scripts that reach a file; itself where nothing (but tests) imports it."""
        above, pending = {path}, [path]
        while pending:
            for importer in self._graph[1].get(pending.pop(), ()):
                if importer not in above and not self.is_test(importer):
                    above.add(importer)
                    pending.append(importer)
        found = [other for other in sorted(above) if self.is_script(other)]
        return found or [path]

    def is_script(self, path: str) -> bool:
        """Whether a file is run: it has a ``__main__`` block, or acts when it is loaded and nothing imports it."""
        text = self.files.text(path) or ""
        if MAIN.search(text):
            return True
        return EFFECT.search(text) is not None and not any(
            not self.is_test(importer) for importer in self._graph[1].get(path, ())
        )

    def is_imported(self, path: str) -> bool:
        """Whether any file of the project imports a file."""
        return bool(self._graph[1].get(path))

    def is_test(self, path: str) -> bool:
        """Whether a file is a test: what a test does says nothing about the program."""
        return TESTS.search(self.files.relative(path)) is not None


def _names(match: re.Match[str]) -> list[str]:
    if match["whole"]:
        found = (NAME.match(part.strip()) for part in match["whole"].split(","))
        return [name[0] for name in found if name]
    home = match["home"]
    joint = "" if home.endswith(".") else "."
    names = [part.split(" as ")[0].strip() for part in match["names"].strip("()").replace("\\", " ").split(",")]
    return [f"{home}{joint}{name}" if NAME.fullmatch(name) else home for name in names] or [home]
