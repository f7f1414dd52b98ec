"""What held when a function was entered: the join of its callers, as far as they can be known.

A summary speaks of ENTRY; here ENTRY is replaced by what the callers did. Callers are all known if a function is
private, nested, or in a script, and is not used as a value; otherwise an open entry joins in: grad on, mode unknown.
"""

from __future__ import annotations

from .facts import Call, FunctionFacts
from .horizon import Horizon
from .state import ENTRY, FRESH, GRAD_ON, NO_EVENTS, ON, OPEN, UNKNOWN_EVENTS, Event, Events, _for_part
from .values import ANY, LEAF, NOTHING, Made, Obj, Outer, Param, Part, Self, Value, value_of

OPEN_MODE: Events = frozenset((Event(OPEN),))
MOST_PARTS = 8
MOST_ASKS = 500  # questions that one question may lead to, before the answer is that nobody knows


class Entries:
    """Answers what reaches a place, with the callers' join put in for ENTRY."""

    def __init__(self, horizon: Horizon) -> None:
        self.horizon = horizon
        self._modes: dict[tuple[FunctionFacts, Obj], Events] = {}
        self._grads: dict[FunctionFacts, Events] = {}
        self._asked: set[tuple[FunctionFacts, Obj]] = set()
        self._is_cut = False
        self._asks = 0

    # -- who calls ---------------------------------------------------------------

    def is_closed(self, facts: FunctionFacts) -> bool:
        """Whether every caller of a function is known."""
        if not self.horizon.callers(facts) or self.horizon.is_handed_out(facts) or not facts.entry_kept:
            return False
        if facts.name.startswith("__") and facts.name.endswith("__"):
            return False
        is_private = facts.name.startswith("_")
        is_nested = facts.parent is not None and not facts.parent.is_module and facts.owner is None
        return is_private or is_nested or facts.kind == "lambda" or facts.module.is_script

    # -- grad mode ---------------------------------------------------------------

    def grad(self, facts: FunctionFacts, events: Events) -> Events:
        """The grad mode at a place of a function."""
        found = NO_EVENTS
        for event in events:
            found |= self.entry_grad(facts) if event.kind == ENTRY else {event}
        return found

    def entry_grad(self, facts: FunctionFacts) -> Events:
        """The grad mode at the entry of a function."""
        known = self._grads.get(facts)
        if known is not None:
            return known
        if facts.owner is not None and facts.name != "__init__" and self._is_hook(facts):
            self._grads[facts] = UNKNOWN_EVENTS
            return UNKNOWN_EVENTS
        self._grads[facts] = NO_EVENTS  # a recursive call adds nothing
        found = self._grad_of_callers(facts)
        if not self.is_closed(facts):
            found |= self._open_grad(facts)
        self._grads[facts] = found
        return found

    def _is_hook(self, facts: FunctionFacts) -> bool:
        """Whether a framework may call a method, with a grad mode of its own choice."""
        owner = facts.owner
        return owner is not None and facts.module.program.is_framework_class(owner)

    def _grad_of_callers(self, facts: FunctionFacts) -> Events:
        found = NO_EVENTS
        for call in self.horizon.callers(facts):
            found |= self.grad(call.caller, call.grad)
        if facts.owner is not None:  # calls of a method of that name on something unknown: only for silence
            for call in self.horizon.loose_calls(facts.name):
                grads = self.grad(call.caller, call.grad)
                found |= frozenset(event for event in grads if event.kind != ON)
        return found

    def _open_grad(self, facts: FunctionFacts) -> Events:
        """Unknown callers run with gradients on, unless the module (or another method) switched them off for good."""
        if self.horizon.is_handed_out(facts) and (
            facts.kind == "lambda" or (facts.parent is not None and not facts.parent.is_module)
        ):
            return UNKNOWN_EVENTS
        at_exit = facts.module.body.exit_grad or GRAD_ON
        if facts.owner is not None:
            for method in facts.owner.methods.values():
                if method is not facts and method.done and method.exit_grad != method.entry_grad:
                    at_exit |= frozenset(event for event in method.exit_grad if event.kind != ENTRY)
        return at_exit

    # -- modes ---------------------------------------------------------------

    def modes(self, facts: FunctionFacts, events: Events) -> Events:
        """The mode events at a place of a function."""
        found = NO_EVENTS
        for event in events:
            if event.kind == ENTRY and event.obj is not None:
                found |= self.entry_mode(facts, event.obj)
            else:
                found |= {event}
        return found

    def entry_mode(self, facts: FunctionFacts, obj: Obj) -> Events:
        """The mode of an object at the entry of a function."""
        if isinstance(obj, Part) and obj.depth > MOST_PARTS:  # a recursive call asks for a part of a part of a part
            return OPEN_MODE
        key = (facts, obj)
        known = self._modes.get(key)
        if known is not None:
            return known
        if key in self._asked:  # recursion adds nothing, but what is found on the way is not whole
            self._is_cut = True
            return NO_EVENTS
        outermost = not self._asked
        if outermost:
            self._asks = 0
        elif self._asks > MOST_ASKS:
            return OPEN_MODE
        self._asked.add(key)
        found = self._entry_mode(facts, obj)
        self._asked.discard(key)
        self._asks += 1
        if outermost or not self._is_cut:
            self._modes[key] = found
        if outermost:
            self._is_cut = False
        return found

    def _entry_mode(self, facts: FunctionFacts, obj: Obj) -> Events:
        root = obj.root
        if isinstance(root, Self):
            found = self._mode_of_instance(facts, obj)
        elif isinstance(root, Outer):
            found = self._mode_of_outer(facts, obj, root)
        elif isinstance(root, Param) and root.function is facts:
            found = self._mode_of_callers(facts, obj)
            if not self.is_closed(facts) or not found:
                found |= OPEN_MODE
        else:
            found = OPEN_MODE
        return found

    def _mode_of_callers(self, facts: FunctionFacts, obj: Obj) -> Events:
        found = NO_EVENTS
        for call in self.horizon.callers(facts)[:200]:
            for there in self._at_call(facts, obj, call).objects():
                found |= self.modes(call.caller, mode_at(call, there))
        return found

    def _at_call(self, facts: FunctionFacts, obj: Obj, call: Call) -> Value:
        """What an object of the callee is in the caller's terms."""
        if isinstance(obj, Part):
            parent = self._at_call(facts, obj.parent, call)
            found = NOTHING
            for atom in parent.objects():
                held = call.heap.get((atom, obj.name))
                found = found | (held if held is not None else value_of(atom.part(obj.name)))
            return found
        if isinstance(obj, Param):
            given = call.bindings.get(obj.name)
            return given if given is not None else facts.defaults.get(obj.name, ANY)
        if isinstance(obj, Self):
            first = facts.parameters[0] if facts.parameters else ""
            bound = call.bindings.get(first)
            return bound if bound is not None else value_of(obj)
        if isinstance(obj, Outer) and obj.scope is call.caller:
            return call.env.get(obj.name, ANY)
        return value_of(obj)

    def may_be_leaf(self, facts: FunctionFacts, obj: Obj, steps: int = 4) -> bool:
        """Whether an input requires gradients, by what callers hand in or what is stored in an attribute."""
        if steps <= 0:
            return False
        if isinstance(obj, Part) and isinstance(obj.parent, Self):
            stored = self.horizon.stored(obj.parent, obj.name)
            return stored is not None and LEAF in stored.derived
        if not isinstance(obj, Param) or obj.function is not facts:
            return False
        for call in self.horizon.callers(facts)[:50]:
            given = call.bindings.get(obj.name)
            if given is None:
                continue
            if LEAF in given.derived or any(self.may_be_leaf(call.caller, o, steps - 1) for o in given.objects()):
                return True
        return False

    def may_be_frozen(self, facts: FunctionFacts, obj: Obj, steps: int = 4) -> bool:
        """Whether a caller (or the scope that holds the name) froze a module's parameters before."""
        root = obj.root
        if steps <= 0:
            return False
        for call in self.horizon.callers(facts)[:50]:
            for there in self._at_call(facts, obj, call).objects():
                if _is_frozen(call.frozen, there) or self.may_be_frozen(call.caller, there, steps - 1):
                    return True
        if isinstance(root, Outer):
            there_too = self._at_end(root.scope, obj).objects()
            return any(_is_frozen(root.scope.exit_frozen, there) for there in there_too)
        if isinstance(root, Self):
            methods = [m for cls in self.horizon.family(root.cls) for m in cls.methods.values()]
            return any(_is_frozen(m.exit_frozen, alias) for m in methods for alias in aliases(m, obj))
        return False

    def _mode_of_instance(self, facts: FunctionFacts, obj: Obj) -> Events:
        """The instance (or a part of it): what its callers set if they are all known, else what any method leaves."""
        root = obj.root
        if not isinstance(root, Self) or facts.owner is None:
            return OPEN_MODE
        if self.is_closed(facts):
            found = self._mode_of_callers(facts, obj)
            if found:
                return found
        found = NO_EVENTS
        for cls in self.horizon.family(facts.owner):
            mine = _same_path(obj, cls.instance)
            for method in cls.methods.values():
                if method.done and mine is not None:
                    found |= self._left_by(method, mine, obj)
        return found or OPEN_MODE

    def _left_by(self, method: FunctionFacts, mine: Obj, asked: Obj) -> Events:
        """The events with which a method leaves the mode of an object; nothing where it does not touch it."""
        found = NO_EVENTS
        targets: list[Obj] = [mine]
        if isinstance(mine, Part):
            stored = method.exit_heap.get((mine.parent, mine.name))
            if stored is not None and mine not in method.exit_modes:
                targets = stored.objects()
        for target in targets:
            at: Obj = target
            while True:
                if at in method.exit_modes:
                    for event in method.exit_modes[at]:
                        if event.kind == ENTRY and event.obj is not None:
                            if event.obj.root is not asked.root:
                                found |= self.entry_mode(method, event.obj)
                        else:
                            found |= {event._replace(obj=asked)}
                    break
                if not isinstance(at, Part):
                    if at in method.exit_made and target is not mine:
                        found |= {Event(FRESH, obj=asked)}
                    break
                at = at.parent
        return found

    def _mode_of_outer(self, facts: FunctionFacts, obj: Obj, root: Outer) -> Events:
        """A name of an enclosing scope: as the callers left it; for unknown callers, as the scope left it at its end."""
        found = self._mode_of_callers(facts, obj)
        if not self.is_closed(facts) or not found:
            at_end = self._at_end(root.scope, obj)
            for there in at_end.objects():
                found |= self.modes(root.scope, mode_of_exit(root.scope, there))
            for function in root.scope.module.functions:
                if function is not facts and obj in function.exit_modes and not self.is_closed(function):
                    found |= frozenset(e for e in function.exit_modes[obj] if e.kind != ENTRY)
        return found or OPEN_MODE

    def _at_end(self, scope: FunctionFacts, obj: Obj) -> Value:
        if isinstance(obj, Outer):
            return scope.exit_env.get(obj.name, NOTHING)
        if isinstance(obj, Part):
            found = NOTHING
            for parent in self._at_end(scope, obj.parent).objects():
                held = scope.exit_heap.get((parent, obj.name))
                found = found | (held if held is not None else value_of(parent.part(obj.name)))
            return found
        return NOTHING


def mode_at(call: Call, obj: Obj) -> Events:
    """The mode of an object of the caller at a call."""
    return _mode_in(call.modes, obj)


def mode_of_exit(scope: FunctionFacts, obj: Obj) -> Events:
    """The mode of an object of a scope at its end."""
    return _mode_in(scope.exit_modes, obj)


def _mode_in(modes: dict[Obj, Events], obj: Obj) -> Events:
    at: Obj = obj
    while True:
        if at in modes:
            return modes[at] if at is obj else _for_part(modes[at], at, obj)
        if not isinstance(at, Part):
            break
        at = at.parent
    kind = FRESH if isinstance(at, Made) else ENTRY
    return frozenset((Event(kind, obj=obj),))


def aliases(method: FunctionFacts, obj: Obj) -> list[Obj]:
    """A part of the instance, and what a method stored there."""
    stored = method.exit_heap.get((obj.parent, obj.name)) if isinstance(obj, Part) else None
    return [obj, *(stored.objects() if stored is not None else ())]


def _is_frozen(frozen: frozenset[Obj], obj: Obj) -> bool:
    at: Obj = obj
    while at not in frozen and isinstance(at, Part):
        at = at.parent
    return at in frozen


def _same_path(obj: Obj, instance: Self) -> Obj | None:
    """The same part of the instance as another class of the family sees it."""
    if isinstance(obj, Self):
        return instance
    if isinstance(obj, Part):
        parent = _same_path(obj.parent, instance)
        return parent.part(obj.name) if parent is not None else None
    return None


__all__ = ["Entries", "mode_at"]
