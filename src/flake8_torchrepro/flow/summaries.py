"""Calls of project functions: what a callee does, told in its own symbols, is said again in the caller's terms."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..source import Span
from ..torch_api.grad import PLAIN_ATTRIBUTES
from .facts import Call, ClassFacts, FunctionFacts, Site, bind
from .frame import Frame, place
from .state import ENTRY, EVAL, NO_EVENTS, OFF, Event, Events
from .values import (
    ANY,
    LEAF,
    NO_ORIGINS,
    NOTHING,
    Arguments,
    Choice,
    Class,
    Function,
    Made,
    Obj,
    Origin,
    Outer,
    Param,
    Part,
    Partial,
    Self,
    Value,
    value_of,
)

YIELDED = "=yield"  # the part of a generator-based context manager that ``as`` binds
MOST_GENERATIONS = 4  # calls through which an object is handed back as one of its own
MOST_CLONES = 60  # objects that one call hands back
MOST_INNER = 12  # forward passes of a callee that are followed at one call


class Mapping:
    """From the symbols of a callee to what they are at one call."""

    def __init__(self, frame: Summaries, node: ast.expr, callee: FunctionFacts, bindings: dict[str, Value]) -> None:
        self.frame, self.node, self.callee, self.bindings = frame, node, callee, bindings
        self._objects: dict[Obj, Value] = {}
        self._clones: list[tuple[Made, Made]] = []
        self._count = 0

    def obj(self, obj: Obj) -> Value:
        """What an object of the callee is here."""
        known = self._objects.get(obj)
        if known is None:
            known = self._objects[obj] = self._map(obj)
        return known

    def _map(self, obj: Obj) -> Value:
        frame = self.frame
        if isinstance(obj, Part):
            parents = self.obj(obj.parent)
            if parents.atoms is ANY.atoms:
                return ANY if obj.name in PLAIN_ATTRIBUTES else parents
            found = NOTHING
            for atom in parents.ordered():
                found = found | (frame.attribute(atom, obj.name) if isinstance(atom, Obj) else ANY)
            return found.with_origins(parents.derived)
        if isinstance(obj, Param):
            if obj.function is not self.callee:
                return value_of(obj)
            given = self.bindings.get(obj.name)
            return given if given is not None else self.callee.defaults.get(obj.name, ANY)
        if isinstance(obj, Self):
            first = self.callee.parameters[0] if self.callee.parameters else ""
            bound = self.bindings.get(first)
            related = self.callee.owner is not None and obj.cls is self.callee.owner
            return bound if related and bound is not None else value_of(obj)
        if isinstance(obj, Outer):
            return frame.outer_object(obj)
        if isinstance(obj, Made) and obj in self.callee.exit_made:
            if obj.generation >= MOST_GENERATIONS or self._count >= MOST_CLONES:
                return ANY
            return value_of(self._clone(obj))
        return value_of(obj)

    def _clone(self, made: Made) -> Made:
        """Each call makes objects of its own."""
        self._count += 1
        key = (id(self.node), made)
        twin = self.frame.clones.get(key)
        if twin is None:
            twin = Made(made.module, made.span, made.maker)
            twin.generation = made.generation + 1
            self.frame.clones[key] = twin
        self.frame.state.remake(twin)
        self._objects[made] = value_of(twin)
        self._clones.append((made, twin))
        twin.arguments = self.arguments(made.arguments)
        return twin

    def arguments(self, arguments: Arguments) -> Arguments:
        """The arguments of a call in the callee."""
        return Arguments(
            tuple(self.value(value) for value in arguments.positional),
            tuple((name, self.value(value)) for name, value in arguments.keywords),
            arguments.open,
        )

    def value(self, value: Value) -> Value:
        """What a value of the callee is here."""
        if value.atoms is ANY.atoms and not value.derived:
            return value
        found = NOTHING
        for atom in value.ordered():  # what is cloned before there are too many must be the same in every run
            found = found | self._atom(atom)
        origins = self.origins(value.derived)
        return found.with_origins(origins) if origins else found

    def _atom(self, atom: object) -> Value:
        if isinstance(atom, Obj):
            return self.obj(atom)
        if isinstance(atom, Function) and atom.bound is not None:
            bound = self.obj(atom.bound).only
            return value_of(Function(atom.facts, bound if isinstance(bound, Obj) else atom.bound))
        if isinstance(atom, Partial):
            return value_of(Partial(self.value(atom.callee), self.arguments(atom.arguments), atom.span))
        if isinstance(atom, Choice):
            left, right = self.value(atom.condition.left), self.value(atom.condition.right)
            condition = atom.condition._replace(left=left, right=right)
            return value_of(Choice(condition, self.value(atom.then), self.value(atom.orelse)))
        return Value(frozenset((atom,)))  # type: ignore[arg-type]

    def origins(self, origins: Iterable[Origin]) -> frozenset[Origin]:
        """What a value of the callee was computed from, in the caller's terms."""
        found: frozenset[Origin] = NO_ORIGINS
        for origin in origins:
            found = found | (self.frame.origins(self.obj(origin)) if isinstance(origin, Obj) else {origin})
        return found

    def events(self, events: Events) -> Events:
        """Mode events of the callee: what it did happens here, what it found is what holds here."""
        found: Events = NO_EVENTS
        at = place(self.node)
        for event in events:
            if event.kind == ENTRY and event.obj is not None:
                value = self.obj(event.obj)
                for obj in value.objects():
                    found |= self.frame.state.mode(obj)
                if not value.objects():
                    found |= {Event("open")}
            else:
                found |= {event._replace(at=at, obj=None)}
        return found

    def copy_clones(self) -> None:
        """Give the objects that this call made the attributes and modes that the callee left them with."""
        state, exits = self.frame.state, self.callee
        while self._clones:
            made, twin = self._clones.pop()
            for (holder, name), value in exits.exit_heap.items():
                if holder is made:
                    state.heap[(twin, name)] = held = self.value(value)
                    record = self.frame.module.elements if made.maker is None else self.frame.module.stores
                    record[(twin, name)] = held
            if made in exits.exit_modes:
                state.modes[twin] = self.events(exits.exit_modes[made])
            if made in exits.exit_frozen:
                state.frozen |= {twin}


class Summaries(Frame):
    """Runs project functions by their summaries."""

    def outer_object(self, symbol: Outer) -> Value:
        """What a name of an enclosing scope is here: in that scope its value, elsewhere still a symbol."""
        changed = self.state.heap.get((symbol, "="))
        if changed is not None:
            return changed
        if symbol.scope is self.facts:
            return self.state.env.get(symbol.name, ANY)
        return value_of(symbol)

    def enter(self, node: ast.expr, function: Function, arguments: Arguments) -> Value:
        """A call of a project function."""
        callee = function.facts
        bound = self._bound(function)
        bindings = bind(callee, arguments, bound)
        call = self.record_call(node, function, arguments)
        self._note_bindings(call, bindings)
        self.note_state(call, callee)
        if call not in callee.callers:
            callee.callers.append(call)
        if not self.program.summarise(callee):
            return self._unfinished(arguments)
        return self._apply_summary(node, callee, bindings)

    def _bound(self, function: Function) -> Value | None:
        if function.facts.kind == "class" and function.facts.owner is not None:
            return value_of(Class(function.facts.owner))
        return value_of(function.bound) if function.bound is not None else None

    def _note_bindings(self, call: Call, bindings: dict[str, Value]) -> None:
        for name, value in bindings.items():
            known = call.bindings.get(name)
            call.bindings[name] = value if known is None else known | value

    def note_state(self, call: Call, callee: FunctionFacts | None) -> None:
        """What holds at the call, joined over its visits."""
        state = self.state
        if call.modes:
            for obj, events in state.modes.items():
                known = call.modes.get(obj)
                call.modes[obj] = events if known is None else known | events
        else:
            call.modes = state.modes.copy()
        call.frozen |= state.frozen
        call.heap = {**call.heap, **state.heap} if call.heap else state.heap.copy()
        if callee is not None and callee.parent is self.facts:  # the callee sees this function's names
            call.env = {**call.env, **state.env} if call.env else state.env.copy()

    def _unfinished(self, arguments: Arguments) -> Value:
        """The callee is being interpreted at this moment (recursion), or too deep: nothing is known of it."""
        origins = self.origins_of_all(arguments.values())
        self.hand_over(arguments, "")
        return Value(ANY.atoms, origins)

    def hand_over(self, arguments: Arguments, name: str) -> None:
        """See ``calls``."""
        raise NotImplementedError

    def _apply_summary(self, node: ast.expr, callee: FunctionFacts, bindings: dict[str, Value]) -> Value:
        mapping = Mapping(self, node, callee, bindings)
        if callee.needs:
            self.need_origins(mapping.origins(callee.needs))
        elif callee.takes_gradients:
            self.facts.takes_gradients = True
        sites = self._inner_sites(node, callee, mapping)
        is_manager = callee.is_context_manager
        left = callee.yield_modes if is_manager else callee.exit_modes
        modes = [(obj, events) for obj, events in left.items() if not isinstance(obj.root, Made)]
        modes.sort(key=lambda known: getattr(known[0], "depth", 0))  # a whole first: it sets its parts
        mapped = [(obj, mapping.obj(obj), mapping.events(events)) for obj, events in modes]
        self._store(callee, mapping)
        for obj, value, events in mapped:
            if not events or events == frozenset((Event(ENTRY, obj=obj),)):
                continue
            for target in value.objects():
                self.state.set_mode(target, events, weak=len(value.atoms) > 1)
            self._note_callee_mode(node, value, events)
        if callee.exit_grad != callee.entry_grad and not is_manager:
            self.state.grad = self.grad_after(callee.exit_grad, node)
        for obj in callee.exit_frozen:
            if not isinstance(obj, Made):
                self.state.frozen |= frozenset(mapping.obj(obj).objects())
        if is_manager:
            manager = self.make(node, Function(callee))
            self.state.heap[(manager, YIELDED)] = mapping.value(callee.yields)
            mapping.copy_clones()
            return value_of(manager)
        result = mapping.value(callee.yields if callee.is_generator else callee.returns)
        if callee.is_generator:
            result = self._generator(node, result)
        mapping.copy_clones()
        return result.with_origins(frozenset(sites)) if sites else result

    def _generator(self, node: ast.expr, elements: Value) -> Value:
        made = self.make(node, None)
        self.state.heap[(made, "[]")] = elements
        return value_of(made)

    def _store(self, callee: FunctionFacts, mapping: Mapping) -> None:
        """What the callee stored in attributes of what it was handed."""
        is_super = (
            isinstance(self.facts.owner, ClassFacts)
            and callee.owner is not None
            and callee.owner is not self.facts.owner
        )
        for (holder, name), value in callee.exit_heap.items():
            if isinstance(holder.root, Made):
                continue
            if name == "=":
                self._store_outer(holder, mapping.value(value))
                continue
            targets = mapping.obj(holder)
            stored = mapping.value(value)
            if stored.derived and not all(isinstance(target.root, Made) for target in targets.objects()):
                self.note_escape(stored.derived, "stored")
            for target in targets.objects():
                if isinstance(target, Part) and target.depth > 4:
                    continue
                # What a constructor stores is known as its class's, with the tests around it.
                if (is_super and isinstance(target, Self)) or (callee.name == "__init__" and isinstance(target, Made)):
                    self.state.heap[(target, name)] = stored
                    continue
                self.set_attribute(target, name, stored, weak=len(targets.atoms) > 1)

    def _store_outer(self, symbol: Obj, value: Value) -> None:
        if isinstance(symbol, Outer) and symbol.scope is self.facts:
            self.state.env[symbol.name] = value
        else:
            self.state.heap[(symbol, "=")] = value

    def grad_after(self, events: Events, node: ast.expr) -> Events:
        """The grad mode that a callee leaves behind."""
        at = place(node)
        found: Events = NO_EVENTS
        for event in events:
            found |= self.state.grad if event.kind == ENTRY else {event._replace(at=at)}
        return found

    def _note_callee_mode(self, node: ast.expr, value: Value, events: Events) -> None:
        kinds = {event.kind for event in events}
        if len(kinds) == 1:
            self.note_mode(place(node), kinds.pop(), frozenset(value.objects()))

    def note_mode(self, span: Span, kind: str, objects: frozenset[Obj]) -> None:
        """A mode is set here; see ``statements``."""
        raise NotImplementedError

    def _inner_sites(self, node: ast.expr, callee: FunctionFacts, mapping: Mapping) -> list[Site]:
        """The callee's forward passes whose mode this caller knows better than the callee does."""
        found = []
        span = place(node)
        for inner in list(callee.sites.values())[:MOST_INNER]:
            if inner.needed_inside or not any(event.kind == ENTRY for event in inner.modes):
                continue
            if all(event.kind == OFF for event in inner.grad):
                continue
            modes = mapping.events(inner.modes)
            if not any(event.kind in (EVAL, ENTRY) for event in modes):
                continue
            key = (span, inner)
            site = self.facts.sites.get(key)
            if site is None:
                site = self.facts.sites[key] = Site(self.facts, span, inner=frozenset((inner,)))
            objects = [obj for o in inner.objects for obj in mapping.obj(o).objects()]
            site.objects |= frozenset(objects)
            site.modes |= modes
            site.grad |= self.grad_after(inner.grad, node)
            site.frozen = site.frozen or inner.frozen or self.may_be_frozen(site.objects)
            site.leaves = site.leaves or inner.leaves or LEAF in self._leaves(mapping)
            site.inputs |= frozenset(o for o in mapping.origins(inner.inputs) if isinstance(o, Obj))
            site.hooked = site.hooked or inner.hooked
            found.append(site)
        return found

    def _leaves(self, mapping: Mapping) -> frozenset[Origin]:
        return self.origins_of_all(mapping.bindings.values())

    def may_be_frozen(self, objects: frozenset[Obj]) -> bool:
        """Whether the parameters of one of the objects may take no gradient."""
        for obj in objects:
            at: Obj = obj
            while at not in self.state.frozen and isinstance(at, Part):
                at = at.parent
            if at in self.state.frozen:
                return True
        return False

    # -- classes ---------------------------------------------------------------

    def construct(self, node: ast.expr, cls: Class, arguments: Arguments) -> Value:
        """A call of a project class: a new object, with what ``__init__`` stores in it."""
        made = self.make(node, cls, arguments)
        call = self.record_call(node, cls, arguments)
        self.facts.made_classes[call.span] = call
        init = self.program.method(cls.facts, "__init__")
        if init is not None:
            self.enter(node, Function(init, made), arguments)
        elif cls.facts.fields:
            self._fill_fields(made, cls, arguments)
        else:
            for value in arguments.values():
                self.state.heap[(made, "[]")] = self.state.heap.get((made, "[]"), NOTHING) | value
        after = self.program.method(cls.facts, "__post_init__")
        if after is not None and init is None:
            self.enter(node, Function(after, made), Arguments())
        return value_of(made)

    def _fill_fields(self, made: Made, cls: Class, arguments: Arguments) -> None:
        given = dict(zip(cls.facts.fields, arguments.positional, strict=False))
        given.update(arguments.keywords)
        for name, value in given.items():
            self.set_attribute(made, name, value)
