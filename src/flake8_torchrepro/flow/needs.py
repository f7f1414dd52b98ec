"""Who needs a graph: a need of a name or an attribute is a need of all that was stored there or handed in for it."""

from __future__ import annotations

from collections.abc import Iterable

from .facts import FunctionFacts, ModuleFacts, Site
from .values import Made, Obj, Origin, Outer, Param, Part, Self, Value, value_of


class Needs:
    """The forward passes whose graph something differentiates, as far as some modules tell."""

    def __init__(self, modules: list[ModuleFacts]) -> None:
        self.modules = modules
        self._sites: set[Site] | None = None

    def holds(self, site: Site) -> bool:
        """Whether the graph of a forward pass is needed."""
        if site.needed_inside or any(module in self.modules for module in site.needed_by):
            return True
        if self._sites is None:
            self._sites = self._spread()
        return site in self._sites

    def _functions(self) -> Iterable[FunctionFacts]:
        for module in self.modules:
            yield module.body
            yield from module.functions

    def _spread(self) -> set[Site]:
        pending: list[Origin] = [need for function in self._functions() for need in function.needs]
        seen: set[Origin] = set()
        while pending:
            need = pending.pop()
            if need in seen:
                continue
            seen.add(need)
            if isinstance(need, Obj):
                for value in self._values_behind(need):
                    pending.extend(value.derived)
                    pending.extend(atom for atom in value.atoms if isinstance(atom, (Part, Param, Outer)))
                    pending.extend(self._content(value))
        return {need for need in seen if isinstance(need, Site)}

    def _stored_under(self, need: Part) -> Iterable[Value]:
        """What was stored in an attribute: of the instance's own classes, or of anything if the object is not known."""
        if not isinstance(need.parent, Self):
            yield from (m.stores_by_name[need.name] for m in self.modules if need.name in m.stores_by_name)
            return
        program = need.parent.cls.module.program
        mine = program.ancestors(need.parent.cls)
        for module in self.modules:
            for (holder, name), stored in module.stores.items():
                cls = program.class_of(holder) if name == need.name else None
                if cls is not None and (cls in mine or need.parent.cls in program.ancestors(cls)):
                    yield stored

    def _content(self, value: Value) -> Iterable[Origin]:
        """What the elements of a list were computed from."""
        for atom in value.atoms:
            if isinstance(atom, Made) and atom.maker is None:
                for module in self.modules:
                    for (holder, _), stored in module.stores.items():
                        if holder is atom:
                            yield from stored.derived

    def _values_behind(self, need: Obj) -> Iterable[Value]:
        if isinstance(need, Part):
            yield from self._stored_under(need)
            if need.name.startswith("["):
                yield value_of(need.parent)
        elif isinstance(need, Outer):
            value = need.scope.exit_env.get(need.name)
            if value is not None:
                yield value
        elif isinstance(need, Param):
            for call in need.function.callers:
                given = call.bindings.get(need.name) if call.caller.module in self.modules else None
                if given is not None:
                    yield given
