"""The classes of a program: their bases and subclasses, methods, and which object is of which class."""

from __future__ import annotations

from collections.abc import Iterable

from ..torch_api.grad import FRAMEWORK_BASES
from ..torch_api.modules import is_module_class
from .facts import ClassFacts, FunctionFacts
from .values import Atom, Class, Dotted, Imported, Made, Obj, Param, Part, Self, Value


class Hierarchy:
    """Answers about classes."""

    def __init__(self) -> None:
        self._module_class: dict[ClassFacts, bool] = {}

    def ancestors(self, cls: ClassFacts) -> list[ClassFacts]:
        """A class and its bases within the project, nearest first."""
        found = [cls]
        for current in found:
            for base in current.bases:
                known = self.class_named(base.only)
                if known is not None and known not in found and len(found) < 20:
                    found.append(known)
        return found

    def class_named(self, atom: Atom | None) -> ClassFacts | None:
        """The project's class that an atom is, imported ones included."""
        if isinstance(atom, Imported):
            found = self.resolve(atom)
            atom = found.only if found is not None else None
        return atom.facts if isinstance(atom, Class) else None

    def complete(self, cls: ClassFacts, name: str) -> None:
        """Interpret the methods of a class that store or call an attribute, whatever was linted before."""
        if not cls.module.is_whole and name not in cls.complete:
            cls.complete.add(name)
            for method in list(cls.methods.values()):
                if f".{name}" in cls.module.segment(method.span):
                    self.summarise(method)

    def summarise(self, facts: FunctionFacts) -> bool:
        """See ``program``."""
        raise NotImplementedError

    def resolve(self, name: Imported) -> Value | None:
        """See ``program``."""
        raise NotImplementedError

    def method(self, cls: ClassFacts, name: str, near: bool = False) -> FunctionFacts | None:
        """The method of that name, the project's bases included. ``near``: without those that are in other files."""
        found = cls.methods.get(name)
        if found is not None or not cls.bases:
            return found
        for ancestor in self.near_ancestors(cls) if near else self.ancestors(cls):
            found = ancestor.methods.get(name)
            if found is not None:
                return found
        return None

    def near_ancestors(self, cls: ClassFacts) -> list[ClassFacts]:
        """A class and its bases in the same file, nearest first."""
        found = [cls]
        for current in found:
            for base in current.bases:
                if isinstance(base.only, Class) and base.only.facts not in found and len(found) < 20:
                    found.append(base.only.facts)
        return found

    def class_attribute(self, cls: ClassFacts, name: str) -> Value | None:
        """A class-level name."""
        for ancestor in self.ancestors(cls):
            if name in ancestor.attributes:
                return ancestor.attributes[name]
        return None

    def external_bases(self, cls: ClassFacts) -> Iterable[Value]:
        """The bases that are not the project's."""
        for ancestor in self.ancestors(cls):
            for base in ancestor.bases:
                if self.class_named(base.only) is None:
                    yield base

    def is_module_class(self, cls: ClassFacts) -> bool:
        """Whether a class is an ``nn.Module`` (by a base that is known to be one)."""
        known = self._module_class.get(cls)
        if known is None:
            known = any(_is_module_base(base) for base in self.external_bases(cls))
            self._module_class[cls] = known
        return known

    def is_framework_class(self, cls: ClassFacts) -> bool:
        """Whether a framework calls the methods of a class, with a grad mode and modes of its own choice."""
        return any(
            isinstance(atom, Dotted) and FRAMEWORK_BASES.search(atom.name)
            for base in self.external_bases(cls)
            for atom in base.atoms
        )

    def class_of(self, obj: Obj, near: bool = False) -> ClassFacts | None:
        """The project's class of an object, where it can only be one. ``near``: without looking into other files."""
        if isinstance(obj, Made):
            return self._named(obj.maker, near)
        if isinstance(obj, Self):
            return obj.cls
        if isinstance(obj, Param):
            return self._named(obj.function.annotated.get(obj.name), near) if obj.function.annotated else None
        if isinstance(obj, Imported) and not near:
            found = self.resolve(obj)
            only = found.only if found is not None else None
            return self.class_named(only.maker) if isinstance(only, Made) else None
        if isinstance(obj, Part) and isinstance(obj.parent, (Self, Made)):
            holder = self.class_of(obj.parent, near)
            if holder is not None:
                return self._class_of_attribute(holder, obj.name, near)
        return None

    def _named(self, atom: Atom | None, near: bool) -> ClassFacts | None:
        return None if near and isinstance(atom, Imported) else self.class_named(atom)

    def _class_of_attribute(self, holder: ClassFacts, name: str, near: bool) -> ClassFacts | None:
        for ancestor in self.near_ancestors(holder) if near else self.ancestors(holder):
            if not near:
                self.complete(ancestor, name)
            stored = ancestor.module.stores.get((ancestor.instance, name))
            if stored is not None:
                only = stored.only
                return self._named(only.maker, near) if isinstance(only, Made) else None
        return None


def _is_module_base(base: Value) -> bool:
    return any(isinstance(atom, Dotted) and is_module_class(atom.name) for atom in base.atoms)
