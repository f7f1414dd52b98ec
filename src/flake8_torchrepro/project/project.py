"""One project: its root, its files, and how they import each other."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from .environment import mentions
from .files import ProjectFiles
from .imports import Imports
from .index import Index
from .root import find_root


class Project:
    """What is asked of the files around the linted one. Nothing is read before it is asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = ProjectFiles(root)
        self.imports = Imports(self.files)
        self.index = Index(self.files, self.imports)
        self._mentions: dict[str, bool] = {}

    @staticmethod
    def of(file: Path, root: Path | None = None) -> Project:
        """The project that a file is in (kept: one object a root). ``root`` overrides the search."""
        return _project(str(root.absolute() if root is not None else _root_of(str(file.absolute().parent))))

    def prepare(self) -> None:
        """Read the project and index it now, if it has to do with torch."""
        if any("torch" in (self.files.text(path) or "") for path in self.files.all()):
            self.index.build()

    def environment_mentions(self, variable: str) -> bool:
        """Whether the project's shell, container, make or CI files mention an environment variable."""
        if variable not in self._mentions:
            self._mentions[variable] = mentions(self.root, variable)
        return self._mentions[variable]


@functools.cache
def _project(root: str) -> Project:
    return Project(Path(root))


@functools.cache
def _root_of(folder: str) -> Path:
    return find_root(Path(os.path.join(folder, "file.py")))
