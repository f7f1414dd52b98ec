"""What a value really is, once callers, constructors and stores are asked: constants, functions, classes, objects.

The result keeps provenance: a parameter's default is assumed, what flows from a literal is sure.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .entry import Entries
from .facts import Call, ClassFacts, FunctionFacts, bind
from .horizon import Horizon
from .values import (
    ANY,
    NOTHING,
    UNKNOWN,
    Arguments,
    Atom,
    Choice,
    Class,
    Condition,
    Const,
    Function,
    Imported,
    Made,
    Obj,
    Outer,
    Param,
    Part,
    Self,
    Value,
    assumed,
    join_all,
    value_of,
)

MOST_STEPS = 14
MOST_VISITS = 2000  # atoms that one question may look at
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


class Context:
    """One chain of calls: what it hands in for parameters, and which object ``self`` is."""

    __slots__ = ("bindings", "cls", "instance", "parent")

    def __init__(
        self,
        bindings: dict[Param, Value] | None = None,
        instance: Obj | None = None,
        cls: ClassFacts | None = None,
        parent: Context | None = None,
    ) -> None:
        self.bindings = {} if bindings is None else bindings
        self.instance, self.cls, self.parent = instance, cls, parent


TOP = Context()


class Resolver:
    """Resolves values as one file may know them."""

    def __init__(self, horizon: Horizon, entries: Entries) -> None:
        self.horizon, self.entries = horizon, entries
        self.program = horizon.program
        self._fuel = MOST_VISITS
        self._depth = 0
        self._known: dict[tuple[Atom, Context], Value] = {}

    def resolve(self, value: Value, context: Context = TOP, steps: int = MOST_STEPS) -> Value:
        """The value with its symbols replaced by what they can be; UNKNOWN joins in where somebody else may decide."""
        if not any(isinstance(atom, (Obj, Choice)) for atom in value.atoms):
            return value
        if steps <= 0:
            return ANY
        if not self._depth:
            self._fuel = MOST_VISITS
        self._depth += 1
        found = join_all(self._once(atom, context, steps) for atom in value.atoms)
        self._depth -= 1
        return found

    def _once(self, atom: Atom, context: Context, steps: int) -> Value:
        """Resolve an atom in a context once; a cycle adds nothing."""
        self._fuel -= 1
        if self._fuel <= 0:
            return ANY
        key = (atom, context)
        known = self._known.get(key)
        if known is None:
            self._known[key] = NOTHING
            known = self._known[key] = self._atom(atom, context, steps)
        return known

    def _atom(self, atom: Atom, context: Context, steps: int) -> Value:
        match atom:
            case Param():
                return self._param(atom, context, steps - 1)
            case Part():
                return self._part(atom, context, steps - 1)
            case Outer():
                return self._outer(atom, context, steps - 1)
            case Self():
                return self._self(atom, context)
            case Choice():
                return self._choice(atom, context, steps - 1)
            case Imported():
                found = self.program.resolve(atom)
                return value_of(atom) if found is None else self.resolve(found, TOP, steps - 1)
            case Made(maker=Imported() as maker):
                return self._made_elsewhere(atom, maker, context, steps - 1)
        return value_of(atom)

    def _self(self, symbol: Self, context: Context) -> Value:
        if context.instance is None or context.cls is None or symbol.cls not in self.horizon.family(context.cls):
            return value_of(symbol)
        return value_of(context.instance)

    def _made_elsewhere(self, made: Made, maker: Imported, context: Context, steps: int) -> Value:
        """What a function of another file gave back; an object of another file's class stays the object that it is."""
        found = self.program.resolve(maker)
        only = found.only if found is not None else None
        if not isinstance(only, Function) or steps <= 0 or not self.program.summarise(only.facts):
            return value_of(made)
        facts = only.facts
        given = bind(facts, made.arguments, value_of(only.bound) if only.bound is not None else None)
        bindings = {facts.params[name]: value for name, value in given.items() if name in facts.params}
        for name, param in facts.params.items():
            if param not in bindings and name in facts.defaults and not made.arguments.open:
                bindings[param] = self._default(facts, param, surely=True)
        return self.resolve(facts.returns, Context(bindings, None, None, context), steps)

    # -- parameters ---------------------------------------------------------------

    def _param(self, param: Param, context: Context, steps: int) -> Value:
        at: Context | None = context
        while at is not None:
            if param in at.bindings:
                return self.resolve(at.bindings[param], at.parent or TOP, steps)
            at = at.parent
        facts = param.function
        found = self._handed_up(facts, param, context, steps)
        if found.atoms:
            return found
        for call in self.horizon.callers(facts)[:50]:
            given = call.bindings.get(param.name)
            found = found | (
                self.resolve(given, TOP, steps) if given is not None else self._missing(facts, param, call)
            )
        if not self.entries.is_closed(facts):
            found = found | self._default(facts, param) | value_of(UNKNOWN)
            annotated = self.program.class_named(facts.annotated.get(param.name))
            if annotated is not None:
                found = found | value_of(annotated.instance)
        return found if found.atoms else ANY

    def _handed_up(self, facts: FunctionFacts, param: Param, context: Context, steps: int) -> Value:
        """What the constructor of an instance's class hands to that of its base."""
        found = NOTHING
        if context.cls is None or facts.owner is None or facts.name != "__init__":
            return found
        family = self.program.ancestors(context.cls)
        if facts.owner not in family:
            return found
        for call in facts.callers:
            if call.caller.owner in family and call.caller.name == "__init__":
                given = call.bindings.get(param.name)
                found = found | (
                    self._missing(facts, param, call) if given is None else self.resolve(given, context, steps)
                )
        return found

    def _missing(self, facts: FunctionFacts, param: Param, call: Call) -> Value:
        return ANY if call.arguments.open else self._default(facts, param, surely=True)

    def _default(self, facts: FunctionFacts, param: Param, surely: bool = False) -> Value:
        default = facts.defaults.get(param.name)
        if default is None:
            return ANY
        if surely:  # nobody overrides it at this call
            atoms = (Const(a.value) if isinstance(a, Const) else a for a in default.atoms)
            return Value(frozenset(atoms))
        return self.resolve(default, TOP, 4)

    # -- attributes and names ---------------------------------------------------------------

    def _part(self, part: Part, context: Context, steps: int) -> Value:
        parents = self.resolve(value_of(part.parent), context, steps)
        found = NOTHING
        for parent in parents.atoms:
            held = self.held(parent, part.name, context, steps) if isinstance(parent, (Obj, Class)) else None
            found = found | (ANY if held is None else held)
        return found if found.atoms else ANY

    def held(self, holder: Obj | Class, name: str, context: Context, steps: int = MOST_STEPS) -> Value | None:
        """What an attribute of a resolved object is; None where nothing is known to be stored there."""
        if isinstance(holder, Class):
            return self.program.class_attribute(holder.facts, name)
        stored = self._stored(holder, name)
        if stored is not None:
            inner = context if context.instance is holder else TOP
            return self.resolve(stored, inner, steps)
        cls = self.program.class_of(holder)
        if cls is None:
            same = self._stored(holder, f"[{name!r}]") if not name.startswith("[") else self._stored(holder, name[2:-2])
            if same is None and isinstance(holder, Made):  # options that are made from keywords
                given = holder.arguments.keyword(name)
                same = assumed(given) if given is not None else None
            return None if same is None else self.resolve(same, TOP, steps)
        return self._held_by_class(holder, cls, name, context, steps)

    def _held_by_class(self, holder: Obj, cls: ClassFacts, name: str, context: Context, steps: int) -> Value | None:
        inner = self.instance_context(holder, cls, context)
        found = NOTHING
        for ancestor in self.program.ancestors(cls):
            for stored in self._stored_by_class(ancestor, name, inner, steps - 2):
                found = found | self.resolve(stored, inner, steps)
        shared = self.program.class_attribute(cls, name)
        if shared is not None and not found.atoms:
            found = found | shared
        return found if found.atoms else None

    def _stored_by_class(self, cls: ClassFacts, name: str, context: Context, steps: int) -> Iterator[Value]:
        """What the methods of a class store in an attribute, as far as the tests around it allow it in a context."""
        guarded = cls.module.guarded_stores.get((cls.instance, name))
        if guarded is None:
            stored = self._stored(cls.instance, name)
            guarded = [(stored, ())] if stored is not None else []
        for value, conditions in guarded:
            if steps <= 0 or not any(self.decide(condition, context, steps) is False for condition in conditions):
                yield value

    def _stored(self, holder: Obj, name: str) -> Value | None:
        found = self.horizon.stored(holder, name)
        if isinstance(holder, Made) and holder.maker is None and name.startswith("["):
            elements = join_all(self.horizon.elements(holder))
            found = elements if found is None else found | elements
            return found if found.atoms else None
        return found

    def instance_context(self, holder: Obj, cls: ClassFacts, context: Context) -> Context:
        """The context in which a constructor's parameters are what this object was made with."""
        if context.instance is holder:
            return context
        init = self.program.method(cls, "__init__")
        if init is not None:
            self.program.summarise(init)
        bindings: dict[Param, Value] = {}
        if isinstance(holder, Made) and init is not None:
            for name, value in bind(init, holder.arguments, value_of(holder)).items():
                param = init.params.get(name)
                if param is not None:
                    bindings[param] = value
            for name, param in init.params.items():
                if param not in bindings and name in init.defaults and not holder.arguments.open:
                    bindings[param] = self._default(init, param, surely=True)
        return Context(bindings, holder, cls, context)

    def _outer(self, outer: Outer, context: Context, steps: int) -> Value:
        found = outer.scope.exit_env.get(outer.name, NOTHING)
        changed = self._stored(outer, "=")
        if changed is not None:
            found = found | changed
        if not found.atoms and outer.scope.running:
            return ANY
        inner = context if context.bindings else TOP
        return self.resolve(found, inner, steps) if found.atoms else ANY

    # -- choices and tests ---------------------------------------------------------------

    def _choice(self, choice: Choice, context: Context, steps: int) -> Value:
        decided = self.decide(choice.condition, context, steps)
        found = NOTHING
        if decided is not False:
            found = found | self.resolve(choice.then, context, steps)
        if decided is not True:
            found = found | self.resolve(choice.orelse, context, steps)
        return found

    def decide(self, condition: Condition, context: Context = TOP, steps: int = MOST_STEPS) -> bool | None:
        """Whether a test holds; None where it may go either way."""
        left = self.resolve(condition.left, context, steps)
        if condition.op == "truth":
            truths = {_truth(atom) for atom in left.atoms}
        else:
            right = self.resolve(condition.right, context, steps)
            truths = {_compare(condition.op, a, b) for a in left.atoms for b in right.atoms}
        if len(truths) != 1:
            return None
        truth = truths.pop()
        return None if truth is None else truth == condition.holds

    def is_ruled_out(self, call: Call, context: Context) -> bool:
        """Whether a call cannot be reached in a context, by the tests around it."""
        return any(self.decide(condition, context) is False for condition in call.conditions)

    # -- arguments ---------------------------------------------------------------

    def contexts(self, facts: FunctionFacts) -> Iterator[Context]:
        """One context for each known call of a function; the open one if there may be others."""
        for call in self.horizon.callers(facts)[:50]:
            bindings = {facts.params[n]: v for n, v in call.bindings.items() if n in facts.params}
            for name, param in facts.params.items():
                if param not in bindings and name in facts.defaults and not call.arguments.open:
                    bindings[param] = self._default(facts, param, surely=True)
            yield Context(bindings)
        if not self.entries.is_closed(facts):
            yield TOP


def _truth(atom: Atom) -> bool | None:
    if isinstance(atom, Const):
        return bool(atom.value)
    if isinstance(atom, (Function, Class)):
        return True
    return None


def _compare(op: str, left: Atom, right: Atom) -> bool | None:
    if not isinstance(left, Const) or not isinstance(right, Const):
        return None
    try:
        return bool(COMPARE[op](left.value, right.value))
    except TypeError:
        return None


def argument(arguments: Arguments, name: str, order: Iterable[str]) -> Value | None:
    """An argument by keyword or by its position in ``order``; None where it is not given."""
    names = list(order)
    return arguments.get(name, names.index(name) if name in names else None)


__all__ = ["Context", "Resolver", "argument"]
