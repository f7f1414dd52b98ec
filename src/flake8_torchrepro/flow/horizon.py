"""The modules whose callers, needs and stores count as known when one file is judged.

Facts are shared by all files of a program, and each module that is read adds callers to what it calls. What is said of
a file must not depend on which files were read before it, so every question passes through the horizon of that file:
the file itself, and the modules that were looked at to find its callers.
"""

from __future__ import annotations

from .facts import Call, ClassFacts, FunctionFacts, ModuleFacts, Site
from .needs import Needs
from .values import Class, Function, Made, Obj, Outer, Param, Part, Self, Value


class Horizon:
    """Answers about shared facts as one file may know them."""

    def __init__(self, modules: list[ModuleFacts]) -> None:
        self.modules = modules
        self.program = modules[0].program
        self._needs = Needs(modules)
        self._callers: dict[FunctionFacts, list[Call]] = {}

    @property
    def linted(self) -> ModuleFacts:
        """The file that is judged."""
        return self.modules[0]

    def callers(self, facts: FunctionFacts) -> list[Call]:
        """The known calls of a function; for a method also those of the one that it overrides, on an instance."""
        known = self._callers.get(facts)
        if known is None:
            known = [call for call in facts.callers if call.caller.module in self.modules]
            for base in self.program.ancestors(facts.owner)[1:] if facts.owner is not None else ():
                overridden = base.methods.get(facts.name)
                if overridden is None:
                    continue
                self.program.complete(base, facts.name)  # else it would depend on what was linted before
                for call in overridden.callers:
                    is_on_self = isinstance(call.callee, Function) and isinstance(call.callee.bound, Self)
                    if is_on_self and (call.caller.owner is base or call.caller.module in self.modules):
                        known.append(call)
            self._callers[facts] = known
        return known

    def loose_calls(self, name: str) -> list[Call]:
        """Calls of a method of that name on objects that are not known."""
        return [call for module in self.modules for call in module.loose.get(name, ())]

    def is_handed_out(self, facts: FunctionFacts) -> bool:
        """Whether a function is used as a value, so that unknown code may call it."""
        return any(module in self.modules for module in facts.handed_by)

    def is_needed(self, site: Site) -> bool:
        """Whether something differentiates the result of a forward pass."""
        return self._needs.holds(site)

    def family(self, cls: ClassFacts) -> list[ClassFacts]:
        """A class, its bases, and its subclasses as far as they are in view."""
        found = self.program.ancestors(cls)
        pending = [cls]
        while pending and len(found) < 40:
            for child in pending.pop().children:
                if child not in found and child.module in self.modules:
                    found.append(child)
                    pending.append(child)
        return found

    def stored(self, holder: Obj, name: str) -> Value | None:
        """All that was stored in an attribute of an object."""
        home = self._home(holder)
        if isinstance(holder.root, Self):
            self.program.complete(holder.root.cls, _attribute(holder, name))
        found = None
        for module in self.modules if home is None or home in self.modules else (home, *self.modules):
            value = module.stores.get((holder, name))
            if value is not None:
                found = value if found is None else found | value
        return found

    def elements(self, display: Made) -> list[Value]:
        """The elements of a list (or tuple, or dict) that was made at one place."""
        home = self._home(display)
        modules = self.modules if home is None or home in self.modules else (home, *self.modules)
        return [v for module in modules for (holder, _), v in module.elements.items() if holder is display]

    def _home(self, obj: Obj) -> ModuleFacts | None:
        """The module that an object comes from."""
        root = obj
        while isinstance(root, Part):
            root = root.parent
        if isinstance(root, Self):
            return root.cls.module
        if isinstance(root, Param):
            return root.function.module
        if isinstance(root, Outer):
            return root.scope.module
        if isinstance(root, Made):
            return self.linted if root.module == self.linted.name else self.program.named_module(root.module)
        return None


def _attribute(holder: Obj, name: str) -> str:
    """The attribute of the instance at the start of a path."""
    at = holder
    while isinstance(at, Part):
        name = at.name
        at = at.parent
    return name


__all__ = ["Class", "Horizon"]
