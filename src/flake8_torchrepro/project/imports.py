"""From an import to the file that it names."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

from .files import ProjectFiles

# Never looked for in a project: a folder of that name is not what an import of it means.
LIBRARIES = frozenset(sys.stdlib_module_names) | {"torch", "numpy"}
# Nor looked for in folders that are added to ``sys.path``, where a file of that name would be a coincidence.
INSTALLED = frozenset(
    "torchvision torchaudio scipy matplotlib cv2 PIL tqdm pandas sklearn yaml transformers tensorboardX wandb pytest"
    " skimage h5py einops lightning pytorch_lightning".split()
)


class Located(NamedTuple):
    """The file of a module, and the names that are left to look up in it."""

    path: str
    rest: tuple[str, ...]


class Imports:
    """Finds modules as Python would: beside the importing file, in a folder above it up to the root, or in ``src``."""

    def __init__(self, files: ProjectFiles) -> None:
        self.files = files
        self._root = str(files.root)
        self._found: dict[tuple[str, str], Located | None] = {}
        self._bases_of: dict[str, list[str]] = {}
        self._bases_by_first: dict[tuple[str, str], list[str]] = {}
        self._bases_by_name: dict[str, set[str]] | None = None

    def locate(self, importer: str, dotted: str) -> Located | None:
        """The module (and the rest) that a dotted name means in a file; None for what is not the project's."""
        folder = importer[: importer.rfind(os.sep)]
        key = (folder, dotted)
        if key not in self._found:
            self._found[key] = next(self._locate(folder, dotted), None)
        found = self._found[key]
        if found is not None and found.path == importer:  # a file does not import itself
            return next((other for other in self._locate(folder, dotted) if other.path != importer), None)
        return found

    def _locate(self, folder: str, dotted: str) -> Iterator[Located]:
        """What a name may mean in the files of a folder, the likeliest first."""
        bare = dotted.lstrip(".")
        level = len(dotted) - len(bare)
        parts = tuple(bare.split(".")) if bare else ()
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            bases, is_package = [folder] if self.files.is_inside(folder) else [], True
        elif not parts or parts[0] in LIBRARIES:
            return
        else:
            bases, is_package = self._bases_with(folder, parts[0]), False
            added = self._added_base(parts[0]) if parts[0] not in INSTALLED else None
            bases = [*bases, added] if added is not None else bases
        for base in bases:
            found = self._walk(base, parts, is_package)
            if found is not None:
                yield found

    def _added_base(self, name: str) -> str | None:
        """The one folder that holds a module of a name, in a project that adds folders to ``sys.path``."""
        if self._bases_by_name is None:
            self._bases_by_name = self._find_added_bases()
        bases = self._bases_by_name.get(name, ())
        return next(iter(bases)) if len(bases) == 1 else None

    def _find_added_bases(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        paths = self.files.all()
        if not any("sys.path" in (self.files.text(path) or "") for path in paths):
            return found
        for path in paths:
            folder, file = os.path.split(path)
            name, base = (
                (os.path.basename(folder), os.path.dirname(folder)) if file == "__init__.py" else (file[:-3], folder)
            )
            found.setdefault(name, set()).add(base)
        return found

    def _bases_with(self, folder: str, name: str) -> list[str]:
        """The folders where modules are looked for, as far as they hold something of that name."""
        found = self._bases_by_first.get((folder, name))
        if found is None:
            bases = self._bases_of.get(folder)
            if bases is None:
                bases = self._bases_of[folder] = self._bases(folder)
            file = f"{name}.py"
            found = [base for base in bases if not self.files.entries(base).isdisjoint((name, file))]
            self._bases_by_first[(folder, name)] = found
        return found

    def _bases(self, folder: str) -> list[str]:
        bases = [folder]
        while folder != self._root and folder.startswith(self._root):
            folder = os.path.dirname(folder)
            bases.append(folder)
        return [*bases, os.path.join(self._root, "src"), os.path.join(self._root, "lib")]

    def _walk(self, base: str, parts: tuple[str, ...], is_package: bool = False) -> Located | None:
        """As deep as folders and files go. ``is_package``: the base itself may hold the names (a relative import)."""
        at = base
        for position, part in enumerate(parts):
            names = self.files.entries(at)
            inner = f"{at}{os.sep}{part}"
            if part in names and (
                self.files.is_file(f"{inner}{os.sep}__init__.py")
                or (position + 1 < len(parts) and self.files.is_folder(inner))
            ):
                at = inner
                continue
            if f"{part}.py" in names and self.files.is_file(inner + ".py"):
                return Located(inner + ".py", parts[position + 1 :])
            return self._package(at, parts[position:]) if position or is_package else None
        return self._package(at, ()) if parts or is_package else None

    def _package(self, folder: str, rest: tuple[str, ...]) -> Located | None:
        init = os.path.join(folder, "__init__.py")
        return Located(init, rest) if self.files.is_file(init) else None

    def folder(self, importer: str, dotted: str) -> str | None:
        """The folder without ``__init__.py`` that a dotted name means in a file."""
        parts = dotted.lstrip(".").split(".")
        for base in self._bases_with(os.path.dirname(importer), parts[0]):
            folder = os.path.join(base, *parts)
            if self.files.is_folder(folder):
                return folder
        return None

    def submodule(self, path: str, name: str) -> str | None:
        """The file of a package's submodule."""
        if os.path.basename(path) != "__init__.py":
            return None
        inner = os.path.join(os.path.dirname(path), name)
        for candidate in (inner + ".py", os.path.join(inner, "__init__.py")):
            if self.files.is_file(candidate):
                return candidate
        return None
