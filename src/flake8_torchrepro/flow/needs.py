"""Who needs a graph: a need of a name or an attribute is a need of all that was stored there or handed in for it."""

from __future__ import annotations

from collections.abc import Iterable

from .facts import ModuleFacts, Site
from .values import Made, Obj, Origin, Outer, Param, Part, Value, value_of


def spread_needs(facts: ModuleFacts) -> None:
    """A need of a symbol is a need of all that was ever stored there or handed in for it."""
    pending: list[Origin] = [need for function in (facts.body, *facts.functions) for need in function.needs]
    seen: set[Origin] = set()
    while pending:
        need = pending.pop()
        if need in seen:
            continue
        seen.add(need)
        if isinstance(need, Site):
            need.needed = True
        elif isinstance(need, Obj):
            for value in _values_behind(facts, need):
                pending.extend(value.derived)
                pending.extend(atom for atom in value.atoms if isinstance(atom, (Part, Param, Outer)))
                pending.extend(_content(facts, value))


def _content(facts: ModuleFacts, value: Value) -> list[Origin]:
    found: list[Origin] = []
    for atom in value.atoms:
        if isinstance(atom, Made) and atom.maker is None:
            for (holder, _), stored in facts.stores.items():
                if holder is atom:
                    found.extend(stored.derived)
    return found


def _values_behind(facts: ModuleFacts, need: Obj) -> Iterable[Value]:
    if isinstance(need, Part):
        stored = facts.stores_by_name.get(need.name)
        if stored is not None:
            yield stored
        if need.name.startswith("["):
            yield value_of(need.parent)
    elif isinstance(need, Outer):
        value = need.scope.exit_env.get(need.name)
        if value is not None:
            yield value
    elif isinstance(need, Param):
        for call in need.function.callers:
            given = call.bindings.get(need.name)
            if given is not None:
                yield given
