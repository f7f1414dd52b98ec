"""What an expression may be: small sets of atoms, and the forward passes that a value was computed from.

An object (a module, a dataset, a parameter's unknown argument) is known by identity, so that aliases share it. Atoms
that stand for something outside the function (parameters, ``self``, outer names) are symbols: callers say later what
they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..source import Span

if TYPE_CHECKING:
    from .facts import ClassFacts, FunctionFacts

MOST_ATOMS = 20
MOST_DERIVED = 40


class Atom:
    """One thing that a value may be. Compared by identity unless a subclass says otherwise."""

    __slots__ = ()


class Unknown(Atom):
    """Anything at all."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "?"


UNKNOWN = Unknown()


class Const(Atom):
    """A constant. ``sure`` is false where it is only a default that a caller, an option or a config may change."""

    __slots__ = ("sure", "value")

    def __init__(self, value: Any, sure: bool = True) -> None:
        self.value, self.sure = value, sure

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Const)
            and type(self.value) is type(other.value)
            and self.sure == other.sure
            and bool(self.value == other.value)
        )

    def __hash__(self) -> int:
        return hash((type(self.value), self.value, self.sure))

    def __repr__(self) -> str:
        return repr(self.value) if self.sure else f"{self.value!r} (assumed)"


class Obj(Atom):
    """Something with attributes and, if it is a module, a mode. Its parts are interned, so identity is equality."""

    __slots__ = ("_parts", "_value")

    def __init__(self) -> None:
        self._parts: dict[str, Part] = {}
        self._value: Value | None = None

    @property
    def value(self) -> Value:
        """The value that is surely this object: one for all who ask, since most values are of this kind."""
        if self._value is None:
            self._value = Value(frozenset((self,)))
        return self._value

    def part(self, name: str) -> Part:
        """The attribute, item or element of that name as this object held it before anything was stored there."""
        found = self._parts.get(name)
        if found is None:
            found = self._parts[name] = Part(self, name)
        return found

    @property
    def root(self) -> Obj:
        """The object at the start of the path."""
        return self

    def attr(self, name: str) -> str:
        """The text of an attribute's path (for messages)."""
        return f"{self!r}{name}" if name.startswith("[") else f"{self!r}.{name}"


class Part(Obj):
    """``parent.name``, ``parent["key"]`` (name ``['key']``) or any element of it (name ``[]``)."""

    __slots__ = ("_path", "depth", "name", "parent")

    def __init__(self, parent: Obj, name: str) -> None:
        super().__init__()
        self.parent, self.name = parent, name
        self._path = ""  # its text, once somebody asked
        self.depth: int = getattr(parent, "depth", 0) + 1

    @property
    def root(self) -> Obj:
        """The object at the start of the path."""
        found = self.parent
        while isinstance(found, Part):
            found = found.parent
        return found

    def __repr__(self) -> str:
        if not self._path:
            self._path = self.parent.attr(self.name)
        return self._path


class Param(Obj):
    """What a caller hands in for a parameter."""

    __slots__ = ("function", "name")

    def __init__(self, function: FunctionFacts, name: str) -> None:
        super().__init__()
        self.function, self.name = function, name

    def __repr__(self) -> str:
        return self.name


class Self(Obj):
    """The instance in the methods of a class; one for all of its methods."""

    __slots__ = ("cls",)

    def __init__(self, cls: ClassFacts) -> None:
        super().__init__()
        self.cls = cls

    def __repr__(self) -> str:
        return "self"


class Outer(Obj):
    """A name of an enclosing scope (a module or a function) as a nested function sees it."""

    __slots__ = ("name", "scope")

    def __init__(self, scope: FunctionFacts, name: str) -> None:
        super().__init__()
        self.scope, self.name = scope, name

    def __repr__(self) -> str:
        return self.name


class Dotted(Obj):
    """An imported name by its full path, such as ``torch.nn.LSTM``; also a builtin, as ``builtins.len``."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def __repr__(self) -> str:
        return self.name


class Imported(Dotted):
    """A name that an import says is the project's own: a module's file, and what to look up in it.

    It is resolved only when a question needs it, since that reads the other file.
    """

    __slots__ = ("path", "rest")

    def __init__(self, name: str, path: str, rest: tuple[str, ...]) -> None:
        super().__init__(name)
        self.path, self.rest = path, rest


class Arguments(NamedTuple):
    """What a call hands over. ``open`` means that a ``*`` or ``**`` may hand over more than is listed."""

    positional: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    open: bool = False

    def keyword(self, name: str) -> Value | None:
        """The value given by that keyword, if it is."""
        for key, value in self.keywords:
            if key == name:
                return value
        return None

    def get(self, name: str, position: int | None = None) -> Value | None:
        """The value given by keyword or position; None where it is not given."""
        found = self.keyword(name)
        if found is None and position is not None and position < len(self.positional):
            return self.positional[position]
        return found

    def functions(self) -> list[Function]:
        """The project functions handed over."""
        return [atom for value in self.values() for atom in value.atoms if isinstance(atom, Function)]

    def values(self) -> Iterable[Value]:
        """Every value handed over."""
        yield from self.positional
        for _, value in self.keywords:
            yield value


NO_ARGUMENTS = Arguments()


class Made(Obj):
    """What one call (or one display such as a list) makes. ``maker`` is what was called, as far as it is known."""

    __slots__ = ("arguments", "generation", "maker", "module", "span")

    def __init__(self, module: str, span: Span, maker: Atom | None, arguments: Arguments = NO_ARGUMENTS) -> None:
        super().__init__()
        self.module, self.span, self.maker, self.arguments = module, span, maker, arguments
        self.generation = 0  # through how many calls it was handed back

    def __repr__(self) -> str:
        return f"<{self.maker!r} of line {self.span.line}>" if self.maker else f"<object of line {self.span.line}>"


class Function(Atom):
    """A function of the project, perhaps bound to an object."""

    __slots__ = ("bound", "facts")

    def __init__(self, facts: FunctionFacts, bound: Obj | None = None) -> None:
        self.facts, self.bound = facts, bound

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self.facts is other.facts and self.bound is other.bound

    def __hash__(self) -> int:
        return hash((id(self.facts), id(self.bound)))

    def __repr__(self) -> str:
        return self.facts.name


class Class(Atom):
    """A class of the project."""

    __slots__ = ("facts",)

    def __init__(self, facts: ClassFacts) -> None:
        self.facts = facts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Class) and self.facts is other.facts

    def __hash__(self) -> int:
        return hash(id(self.facts))

    def __repr__(self) -> str:
        return self.facts.name


class Partial(Atom):
    """``functools.partial(callee, ...)`` made at one place."""

    __slots__ = ("arguments", "callee", "span")

    def __init__(self, callee: Value, arguments: Arguments, span: Span) -> None:
        self.callee, self.arguments, self.span = callee, arguments, span

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partial) and self.span == other.span and self.callee == other.callee

    def __hash__(self) -> int:
        return hash((self.span, self.callee))

    def __repr__(self) -> str:
        return f"partial of line {self.span.line}"


class Choice(Atom):
    """``then if left op right else orelse``, kept open until the operands are known."""

    __slots__ = ("condition", "orelse", "then")

    def __init__(self, condition: Condition, then: Value, orelse: Value) -> None:
        self.condition, self.then, self.orelse = condition, then, orelse

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Choice)
            and self.condition == other.condition
            and (self.then, self.orelse) == (other.then, other.orelse)
        )

    def __hash__(self) -> int:
        return hash((self.condition, self.then, self.orelse))

    def __repr__(self) -> str:
        return f"({self.then} or {self.orelse})"


class Condition(NamedTuple):
    """A test that a constant can decide: ``left op right``, negated where ``holds`` is false. ``op`` ``truth`` has no right."""

    left: Value
    op: str
    right: Value
    holds: bool = True


class Leaf:
    """Marks values that carry a graph of their own: inputs that require gradients."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "a leaf that requires grad"


LEAF = Leaf()

Origin = Any  # Site | Obj | Leaf: what a value was computed from


class Value(NamedTuple):
    """A set of atoms, and what the value was computed from: sites of forward passes, symbols, leaves."""

    atoms: frozenset[Atom]
    derived: frozenset[Origin] = frozenset()

    def __or__(self, other: Value) -> Value:
        if self is other or not (other.atoms or other.derived):
            return self
        if not (self.atoms or self.derived):
            return other
        atoms = self.atoms | other.atoms
        if len(atoms) > MOST_ATOMS:
            atoms = frozenset((UNKNOWN,))
        derived = bounded(self.derived | other.derived) if other.derived else self.derived
        if atoms == self.atoms and derived == self.derived:
            return self
        return Value(atoms, derived)

    def with_origins(self, origins: frozenset[Origin]) -> Value:
        """The same atoms, also computed from ``origins``."""
        return self if origins <= self.derived else Value(self.atoms, bounded(self.derived | origins))

    def objects(self) -> list[Obj]:
        """The atoms that are objects."""
        return [atom for atom in self.atoms if isinstance(atom, Obj)]

    def expanded(self) -> Value:
        """The value with what its open choices may give in their place."""
        for atom in self.atoms:
            if isinstance(atom, Choice):
                break
        else:
            return self
        found = Value(frozenset(atom for atom in self.atoms if not isinstance(atom, Choice)), self.derived)
        for atom in self.atoms:
            if isinstance(atom, Choice):
                found = found | atom.then.expanded() | atom.orelse.expanded()
        return found

    def ordered(self) -> list[Atom]:
        """The atoms in an order that is the same in every run: that of a set is not."""
        if len(self.atoms) == 1:
            return list(self.atoms)
        return sorted(self.atoms, key=lambda atom: (repr(atom), getattr(atom, "module", "")))

    def constants(self) -> list[Const]:
        """The atoms that are constants."""
        return [atom for atom in self.atoms if isinstance(atom, Const)]

    @property
    def only(self) -> Atom | None:
        """The one atom, where there is only one."""
        if len(self.atoms) == 1:
            for atom in self.atoms:
                return atom
        return None

    def __repr__(self) -> str:
        return " or ".join(sorted(map(repr, self.atoms))) or "nothing"


def bounded(origins: frozenset[Origin]) -> frozenset[Origin]:
    """At most so many origins as one value may have: the first in the order of the text."""
    if len(origins) <= MOST_DERIVED:
        return origins
    return frozenset(sorted(origins, key=lambda origin: (isinstance(origin, Obj), repr(origin)))[:MOST_DERIVED])


ANY = Value(frozenset((UNKNOWN,)))
NOTHING = Value(frozenset())
NO_ORIGINS: frozenset[Origin] = frozenset()


def value_of(atom: Atom) -> Value:
    """The value that is surely this atom."""
    return atom.value if isinstance(atom, Obj) else Value(frozenset((atom,)))


def constant(value: Any, sure: bool = True) -> Value:
    """The value of a constant."""
    return Value(frozenset((Const(value, sure),)))


def join_all(values: Iterable[Value]) -> Value:
    """The join of all values; NOTHING of none."""
    joined = NOTHING
    for value in values:
        joined = joined | value
    return joined


def unknown_from(origins: frozenset[Origin]) -> Value:
    """Anything, computed from ``origins``."""
    return Value(ANY.atoms, origins) if origins else ANY


def assumed(value: Value) -> Value:
    """The same constants as defaults, which something else may change."""
    if not any(isinstance(atom, Const) for atom in value.atoms):
        return value
    atoms = frozenset(Const(atom.value, sure=False) if isinstance(atom, Const) else atom for atom in value.atoms)
    return Value(atoms, value.derived)


def flag_of(value: Value | None, default: bool) -> bool | None:
    """The truth of a flag's value: the default where it is not given, None where it is not known."""
    if value is None:
        return default
    only = value.only
    if isinstance(only, Const) and only.sure and isinstance(only.value, (bool, int)):
        return bool(only.value)
    return None
