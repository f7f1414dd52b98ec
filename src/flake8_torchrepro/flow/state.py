"""What holds at one point of a function, and how two such states are joined.

A setting (a module's mode, the grad mode) maps to the set of events that may have set it last, so that a finding can
name the line and a caller can say what held at the entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..source import Span
from .values import NOTHING, Made, Obj, Part, Value

EVAL, TRAIN, FRESH, ENTRY, OPEN = "eval", "train", "fresh", "entry", "open"  # modes; OPEN: nobody knows
ON, OFF = "on", "off"  # grad modes, with ENTRY and OPEN as above

NOWHERE = Span(0, 0, 0, 0)


class Event(NamedTuple):
    """Something that set a setting. ``at`` is the place in the function at hand (a call, if a callee did it);
    ``origin`` the place that really did it, with its module. An ENTRY event names the object whose mode a caller knows.
    """

    kind: str
    at: Span = NOWHERE
    origin: Span = NOWHERE
    module: str = ""
    obj: Obj | None = None


Events = frozenset[Event]
NO_EVENTS: Events = frozenset()
GRAD_ENTRY: Events = frozenset((Event(ENTRY),))
GRAD_ON: Events = frozenset((Event(ON),))
UNKNOWN_EVENTS: Events = frozenset((Event(OPEN),))


def surely(events: Events, *kinds: str) -> bool:
    """Whether every event is of one of the kinds (and there is one)."""
    return bool(events) and all(event.kind in kinds for event in events)


class State:
    """Names, attributes, modes and grad mode at a point. Joined with ``|``; a missing key means what held at entry."""

    __slots__ = ("either", "env", "frozen", "grad", "heap", "made", "modes")

    def __init__(self, grad: Events) -> None:
        self.env: dict[str, Value] = {}
        self.heap: dict[tuple[Obj, str], Value] = {}
        self.modes: dict[Obj, Events] = {}
        self.either: dict[str, tuple[Value, Events]] = {}  # names of one of several modules, whichever: its mode
        self.made: set[Obj] = set()  # the objects of this function that exist here
        self.frozen: frozenset[Obj] = frozenset()  # modules whose parameters may take no gradient
        self.grad = grad

    def copy(self) -> State:
        """A state that can change on its own."""
        twin = State(self.grad)
        twin.env, twin.heap, twin.modes = self.env.copy(), self.heap.copy(), self.modes.copy()
        twin.made, twin.frozen = self.made.copy(), self.frozen
        twin.either = self.either.copy()
        return twin

    def __or__(self, other: State) -> State:
        if self is other:
            return self
        joined = State(self.grad if self.grad == other.grad else self.grad | other.grad)
        joined.made = self.made | other.made
        joined.frozen = self.frozen | other.frozen
        if self.either and other.either:
            joined.either = _join_either(self.either, other.either)
        joined.env = _join_names(self.env, other.env)
        joined.heap = _join_heaps(self.heap, other.heap)
        if self.modes == other.modes:
            joined.modes = self.modes.copy()
        else:
            joined.modes = {obj: _join_modes(obj, self, other) for obj in (*self.modes, *other.modes)}
        return joined

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, State)
            and self.grad == other.grad
            and self.modes == other.modes
            and self.env == other.env
            and self.heap == other.heap
            and self.frozen == other.frozen
            and self.either == other.either
        )

    __hash__ = None  # type: ignore[assignment]

    def mode(self, obj: Obj) -> Events:
        """The events that may have set the mode of a module last: its own, or those of what it is a part of."""
        at: Obj = obj
        while True:
            found = self.modes.get(at)
            if found is not None:
                return found if at is obj else _for_part(found, at, obj)
            if not isinstance(at, Part):
                break
            at = at.parent
        kind = FRESH if isinstance(at, Made) else ENTRY
        return frozenset((Event(kind, at.span if isinstance(at, Made) else NOWHERE, obj=obj),))

    def set_mode(self, obj: Obj, events: Events, weak: bool = False) -> None:
        """Set the mode of a module and of all that it holds. ``weak``: it may be another module that is set."""
        if self.either:
            self.either = {name: known for name, known in self.either.items() if obj not in known[0].expanded().atoms}
        pending, seen = [obj], {obj}
        while pending:
            at = pending.pop()
            for part in _below(self.modes, at):
                if weak:
                    self.modes[part] = self.modes[part] | events
                else:
                    del self.modes[part]
            self.modes[at] = self.mode(at) | events if weak else events
            if len(seen) > 64:
                return
            for (holder, _), value in self.heap.items():
                if holder is at or (isinstance(holder, Part) and _is_below(holder, at)):
                    held = value.only
                    if isinstance(held, Obj) and held not in seen:
                        seen.add(held)
                        pending.append(held)

    def mode_of_either(self, name: str, value: Value) -> Events | None:
        """The mode of what a name holds, where it is one of several modules and was set through the name."""
        known = self.either.get(name)
        return known[1] if known is not None and known[0] is value else None

    def remake(self, obj: Obj) -> None:
        """An object is made anew: nothing that was known of the one made here before holds for it."""
        if obj not in self.made:
            self.made.add(obj)
            return
        if self.modes:
            self.modes.pop(obj, None)
            for part in _below(self.modes, obj):
                del self.modes[part]
        for place in [place for place in self.heap if place[0] is obj]:
            del self.heap[place]
        if obj in self.frozen:
            self.frozen -= {obj}


def _for_part(events: Events, whole: Obj, part: Obj) -> Events:
    """What holds for a whole, said of a part of it: what held at the entry is asked for the part."""
    if not any(event.kind == ENTRY and event.obj is whole for event in events):
        return events
    return frozenset(event._replace(obj=part) if event.obj is whole else event for event in events)


def _join_modes(obj: Obj, left: State, right: State) -> Events:
    """What was made on one path only has the mode that it has there."""
    root = obj.root
    if isinstance(root, Made) and (root in left.made) != (root in right.made):
        return (left if root in left.made else right).mode(obj)
    return left.mode(obj) | right.mode(obj)


def _below(objects: Iterable[Obj], top: Obj) -> list[Part]:
    """Those that are parts of ``top``, or parts of its parts."""
    return [obj for obj in objects if isinstance(obj, Part) and _is_below(obj, top)]


def _is_below(part: Part, top: Obj) -> bool:
    at: Obj = part
    while isinstance(at, Part):
        at = at.parent
        if at is top:
            return True
    return False


def _join_either(
    left: dict[str, tuple[Value, Events]], right: dict[str, tuple[Value, Events]]
) -> dict[str, tuple[Value, Events]]:
    return {
        name: (value, events | right[name][1])
        for name, (value, events) in left.items()
        if name in right and right[name][0] is value
    }


def _join_names(left: dict[str, Value], right: dict[str, Value]) -> dict[str, Value]:
    if left == right:
        return left.copy()
    joined = left.copy()
    for name, value in right.items():
        mine = joined.get(name)
        if mine is None:
            joined[name] = value
        elif mine is not value:
            joined[name] = mine | value
    return joined


def initial(obj: Obj, name: str) -> Value:
    """What an attribute is before anything is stored there: a part of a symbol; nothing of what was made here."""
    is_display = isinstance(obj, Made) and obj.maker is None
    return NOTHING if is_display else obj.part(name).value


def _join_heaps(
    left: dict[tuple[Obj, str], Value], right: dict[tuple[Obj, str], Value]
) -> dict[tuple[Obj, str], Value]:
    if left == right:
        return left.copy()
    joined = left.copy()
    for place, other in right.items():
        mine = left.get(place)
        if mine is not other:
            joined[place] = (initial(*place) if mine is None else mine) | other
    if len(joined) > len(right):
        for place in left.keys() - right.keys():
            joined[place] = left[place] | initial(*place)
    return joined


__all__ = [
    "ENTRY",
    "EVAL",
    "FRESH",
    "GRAD_ENTRY",
    "GRAD_ON",
    "NOWHERE",
    "NO_EVENTS",
    "OFF",
    "ON",
    "OPEN",
    "TRAIN",
    "UNKNOWN_EVENTS",
    "Event",
    "Events",
    "State",
    "initial",
    "surely",
]
