"""The lattice: joins of values and of states lose nothing, and their order does not matter."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_torchrepro.flow.state import (
    ENTRY,
    EVAL,
    FRESH,
    GRAD_ENTRY,
    GRAD_ON,
    OFF,
    ON,
    OPEN,
    TRAIN,
    Event,
    Events,
    State,
    surely,
)
from flake8_torchrepro.flow.values import (
    LEAF,
    MOST_ATOMS,
    NOTHING,
    UNKNOWN,
    Atom,
    Const,
    Dotted,
    Made,
    Obj,
    Origin,
    Value,
    value_of,
)
from flake8_torchrepro.source import Span

MODEL, OTHER = Dotted("lib.model"), Dotted("lib.other")
MADE = [Made("f.py", Span(line, 0, line, 9), None if line == 3 else Dotted("lib.Net")) for line in (1, 2, 3)]
PLACES: list[Obj] = [MODEL, OTHER, *MADE]
OBJECTS: list[Obj] = [
    *PLACES,
    *(place.part(name) for place in PLACES for name in ("head", "body")),
    MODEL.part("head").part("norm"),
    MADE[0].part("head").part("norm"),
]
ATOMS: list[Atom] = [
    UNKNOWN,
    Const(1),
    Const(True),
    Const(1, sure=False),
    Const("a"),
    MODEL,
    MADE[0],
    MODEL.part("head"),
]
ORIGINS: list[Origin] = [LEAF, MODEL, MADE[1]]

values = st.builds(Value, st.frozensets(st.sampled_from(ATOMS), max_size=4), st.frozensets(st.sampled_from(ORIGINS)))
events = st.frozensets(
    st.builds(
        lambda kind, line: Event(kind, Span(line, 0, line, 5)), st.sampled_from((EVAL, TRAIN, OPEN)), st.integers(1, 4)
    ),
    min_size=1,
    max_size=2,
)
grads = st.sampled_from((GRAD_ENTRY, GRAD_ON, frozenset((Event(OFF, Span(2, 0, 2, 5)),))))
objects = st.sampled_from(OBJECTS)

Step = Callable[[State], None]


def _make(obj: Made) -> Step:
    return lambda state: state.remake(obj)


def _set(obj: Obj, given_events: Events, weak: bool) -> Step:
    def step(state: State) -> None:
        if not isinstance(obj.root, Made) or obj.root in state.made:  # what was not made has no name here
            state.set_mode(obj, given_events, weak)

    return step


def _name(name: str, value: Value) -> Step:
    return lambda state: state.env.__setitem__(name, value)


def _store(obj: Obj, name: str, value: Value) -> Step:
    return lambda state: state.heap.__setitem__((obj, name), value)


def _freeze(obj: Obj) -> Step:
    def step(state: State) -> None:
        state.frozen |= {obj}

    return step


def _switch(grad: Events) -> Step:
    def step(state: State) -> None:
        state.grad = grad

    return step


steps = st.one_of(
    st.builds(_make, st.sampled_from(MADE)),
    st.builds(_set, objects, events, st.booleans()),
    st.builds(_name, st.sampled_from("xyz"), values),
    st.builds(_store, objects, st.sampled_from(("head", "[]", "['key']")), values),
    st.builds(_freeze, objects),
    st.builds(_switch, grads),
)


def _run(program: list[Step]) -> State:
    state = State(GRAD_ENTRY)
    for step in program:
        step(state)
    return state


states = st.lists(steps, max_size=8).map(_run)


def covers(whole: Value, part: Value) -> bool:
    """Whether a value tells of everything that another may be."""
    return (part.atoms <= whole.atoms or UNKNOWN in whole.atoms) and part.derived <= whole.derived


def kinds(found: Events) -> set[str]:
    return {event.kind for event in found}


def same(left: State, right: State) -> bool:
    return left == right and left.made == right.made and all(left.mode(obj) == right.mode(obj) for obj in OBJECTS)


# -- values ------------------------------------------------------------------------------------------------------------


@given(values)
def test_value_join_is_idempotent(a: Value) -> None:
    assert a | a == a
    assert a | NOTHING == a == NOTHING | a


@given(values, values)
def test_value_join_is_commutative(a: Value, b: Value) -> None:
    assert a | b == b | a


@given(values, values, values)
def test_value_join_is_associative(a: Value, b: Value, c: Value) -> None:
    assert (a | b) | c == a | (b | c)


@given(values, values)
def test_value_join_holds_both(a: Value, b: Value) -> None:
    assert covers(a | b, a)
    assert covers(a | b, b)


@given(st.lists(st.integers(0, 3 * MOST_ATOMS).map(Const).map(value_of), max_size=20))
def test_value_join_is_bounded_and_still_holds_all(several: list[Value]) -> None:
    joined = NOTHING
    for value in several:
        joined = joined | value
    assert len(joined.atoms) <= MOST_ATOMS
    assert all(covers(joined, value) for value in several)


@given(values, values, values)
def test_value_join_is_monotone(a: Value, b: Value, c: Value) -> None:
    assert covers((a | b) | c, a | c)


@given(values, st.frozensets(st.sampled_from(ORIGINS)))
def test_origins_are_added(a: Value, origins: frozenset[Origin]) -> None:
    assert a.with_origins(origins).derived == a.derived | origins
    assert a.with_origins(origins).atoms == a.atoms


@pytest.mark.parametrize(
    ("left", "right"),
    [(Const(1), Const(True)), (Const(0), Const(0.0)), (Const(1), Const(1, sure=False)), (Const(None), Const(False))],
)
def test_constants_that_differ(left: Const, right: Const) -> None:
    assert left != right
    assert len((value_of(left) | value_of(right)).atoms) == 2


def test_parts_are_known_by_their_path() -> None:
    assert MODEL.part("head") is MODEL.part("head")
    assert MODEL.part("head") is not OTHER.part("head")
    assert MODEL.part("head").part("norm").root is MODEL


# -- states ------------------------------------------------------------------------------------------------------------


@given(states)
def test_state_join_is_idempotent(a: State) -> None:
    assert same(a | a, a)
    assert same(a | a.copy(), a)


@given(states, states)
def test_state_join_is_commutative(a: State, b: State) -> None:
    assert same(a | b, b | a)


@given(states, states, states)
def test_state_join_is_associative(a: State, b: State, c: State) -> None:
    left, right = (a | b) | c, a | (b | c)
    assert (left.grad, left.made, left.frozen) == (right.grad, right.made, right.frozen)
    assert left.env == right.env
    assert {obj: kinds(left.mode(obj)) for obj in OBJECTS} == {obj: kinds(right.mode(obj)) for obj in OBJECTS}
    assert left.heap == right.heap


@given(states, states)
def test_state_join_holds_both(a: State, b: State) -> None:
    joined = a | b
    for state in (a, b):
        assert state.grad <= joined.grad
        assert state.made <= joined.made
        assert state.frozen <= joined.frozen
        assert all(covers(joined.env[name], value) for name, value in state.env.items())
        assert all(covers(joined.heap[place], value) for place, value in state.heap.items())


@given(states, states, objects)
def test_state_join_holds_the_modes_of_both(a: State, b: State, obj: Obj) -> None:
    """What exists on one path only has the mode that it has there."""
    joined = a | b
    for state in (a, b):
        if not isinstance(obj.root, Made) or obj.root in state.made:
            assert kinds(state.mode(obj)) <= kinds(joined.mode(obj))


@given(states, states)
def test_join_leaves_its_operands_alone(a: State, b: State) -> None:
    before, other = a.copy(), b.copy()
    joined = a | b
    joined.set_mode(MODEL, frozenset((Event(OPEN),)))
    joined.env["x"] = NOTHING
    joined.heap[(MODEL, "head")] = NOTHING
    joined.made.clear()
    assert a == before or a is b
    assert b == other or a is b
    assert a.made == before.made


@given(states, steps)
def test_a_copy_changes_on_its_own(a: State, step: Step) -> None:
    before, twin = a.copy(), a.copy()
    assert same(twin, a)
    step(twin)
    assert same(a, before)


@given(states, objects, events)
def test_mode_gives_what_was_set(a: State, obj: Obj, given_events: Events) -> None:
    a.set_mode(obj, given_events)
    assert a.mode(obj) == given_events


@given(states, objects, events, st.sampled_from(("head", "body")))
def test_children_inherit(a: State, obj: Obj, given_events: Events, name: str) -> None:
    a.set_mode(obj, given_events)
    assert a.mode(obj.part(name)) == given_events
    assert a.mode(obj.part(name).part("norm")) == given_events


@given(states, objects, events)
def test_a_weak_change_keeps_what_held(a: State, obj: Obj, given_events: Events) -> None:
    before = a.mode(obj)
    a.set_mode(obj, given_events, weak=True)
    assert kinds(before | given_events) == kinds(a.mode(obj))


@given(states, events)
def test_a_part_does_not_change_the_whole(a: State, given_events: Events) -> None:
    a.heap.clear()  # a part may hold the whole
    before, beside = a.mode(MODEL), a.mode(MODEL.part("body"))
    a.set_mode(MODEL.part("head"), given_events)
    assert (a.mode(MODEL), a.mode(MODEL.part("body"))) == (before, beside)


@given(states, states, states)
def test_state_join_is_monotone(a: State, b: State, c: State) -> None:
    narrow, wide = a | c, (a | b) | c
    assert narrow.grad <= wide.grad
    assert all(covers(wide.env[name], value) for name, value in narrow.env.items())
    assert all(covers(wide.heap[place], value) for place, value in narrow.heap.items())


def test_what_holds_at_the_entry() -> None:
    state = State(GRAD_ENTRY)
    assert kinds(state.mode(MODEL)) == {ENTRY}
    assert kinds(state.mode(MODEL.part("head"))) == {ENTRY}
    assert kinds(state.mode(MADE[0])) == {FRESH}


def test_a_mode_reaches_what_is_stored() -> None:
    state = State(GRAD_ENTRY)
    state.heap[(MADE[0], "net")] = value_of(MODEL)
    state.set_mode(MADE[0], frozenset((Event(EVAL),)))
    assert kinds(state.mode(MODEL)) == {EVAL}


def test_modules_that_hold_each_other() -> None:
    state = State(GRAD_ENTRY)
    state.heap[(MODEL, "net")] = value_of(OTHER)
    state.heap[(OTHER, "net")] = value_of(MODEL)
    state.set_mode(MODEL, frozenset((Event(EVAL),)))
    assert kinds(state.mode(OTHER)) == {EVAL}


def test_what_is_made_anew_is_fresh() -> None:
    state = State(GRAD_ENTRY)
    state.remake(MADE[0])
    state.set_mode(MADE[0], frozenset((Event(EVAL),)))
    state.set_mode(MADE[0].part("head"), frozenset((Event(TRAIN),)))
    state.heap[(MADE[0], "name")] = value_of(Const(1))
    state.frozen |= {MADE[0]}
    state.remake(MADE[0])
    assert kinds(state.mode(MADE[0])) == kinds(state.mode(MADE[0].part("head"))) == {FRESH}
    assert (MADE[0], "name") not in state.heap
    assert MADE[0] not in state.frozen


def test_what_was_made_on_one_path_has_the_mode_that_it_has_there() -> None:
    state = State(GRAD_ENTRY)
    without = state.copy()
    state.remake(MADE[0])
    state.set_mode(MADE[0], frozenset((Event(EVAL),)))
    assert kinds((state | without).mode(MADE[0])) == kinds((without | state).mode(MADE[0])) == {EVAL}


def test_surely() -> None:
    assert surely(frozenset((Event(ON), Event(OFF))), ON, OFF)
    assert not surely(frozenset((Event(ON), Event(OFF))), ON)
    assert not surely(frozenset(), ON)
