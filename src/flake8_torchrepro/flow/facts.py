"""What the interpreter learns about a module: facts about its functions, classes, calls and forward passes.

Nothing here refers to a tree, so the facts of a file outlive it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..source import Span
from .state import GRAD_ENTRY, NO_EVENTS, Event, Events
from .values import (
    NO_ARGUMENTS,
    NOTHING,
    Arguments,
    Atom,
    Condition,
    Function,
    Obj,
    Origin,
    Outer,
    Param,
    Self,
    Value,
)

if TYPE_CHECKING:
    from .program import Program

Conditions = tuple[Condition, ...]


@dataclass(slots=True, eq=False)
class Site:
    """A forward pass, or a call of a project function that runs one on what it was handed (``inner`` is not empty).

    ``modes`` and ``grad`` are the events that reach it. ``needed_*``: something differentiates its result. ``leaves``: an
    input has a graph of its own. ``escapes``: how the result leaves the function (``returned``, ``stored``, ``passed``).
    """

    function: FunctionFacts
    span: Span
    objects: frozenset[Obj] = frozenset()
    modes: Events = NO_EVENTS
    grad: Events = NO_EVENTS
    inner: frozenset[Site] = frozenset()
    needed_inside: bool = False  # by the function itself
    needed_by: set[ModuleFacts] = field(default_factory=set)
    leaves: bool = False
    inputs: frozenset[Obj] = frozenset()  # symbols that its inputs were computed from
    frozen: bool = False
    hooked: bool = False
    escapes: set[str] = field(default_factory=set)

    def __repr__(self) -> str:
        return f"forward of line {self.span.line}"


@dataclass(slots=True, eq=False)
class Call:
    """A call as one function makes it: of a project function, of an imported name, or of something only callers know."""

    caller: FunctionFacts
    span: Span
    callee: Atom
    arguments: Arguments = NO_ARGUMENTS
    method: str = ""  # the method's name, where ``callee`` is the receiver
    bindings: dict[str, Value] = field(default_factory=dict)  # parameter -> what this call hands in
    modes: dict[Obj, Events] = field(default_factory=dict)  # explicit modes at the call
    heap: dict[tuple[Obj, str], Value] = field(default_factory=dict)  # attributes at the call
    env: dict[str, Value] = field(default_factory=dict)  # names at the call, if the callee sees them
    frozen: frozenset[Obj] = frozenset()
    grad: Events = NO_EVENTS
    conditions: Conditions = ()
    in_loop: bool = False
    via: Span | None = None  # the ``partial`` through which it goes


@dataclass(slots=True, eq=False)
class ModeSet:
    """A statement that sets modes: ``.eval()``, ``.train()``, or a call whose callee does. In order of execution."""

    function: FunctionFacts
    span: Span
    kind: str
    objects: frozenset[Obj]


@dataclass(frozen=True, slots=True, eq=False)
class Slip:
    """Something that was written and does nothing: a guard that is not entered, a method that is not called."""

    kind: str
    span: Span
    objects: frozenset[Obj] = frozenset()
    name: str = ""
    around: Span | None = None  # the statement that the repair is about, where it is another one


@dataclass(slots=True, eq=False)
class Setting:
    """An assignment to a global setting: a backend flag, an environment variable. ``name`` is dotted (``env:NAME``)."""

    function: FunctionFacts
    span: Span
    name: str
    value: Value
    conditions: Conditions = ()
    how: str = "assign"  # or "call", "with", "setdefault"


@dataclass(slots=True, eq=False)
class FunctionFacts:
    """One function (a module's body counts as one): how it looks to its callers, and what happens in it."""

    module: ModuleFacts
    name: str
    span: Span
    parameters: tuple[str, ...] = ()
    positional: int = 0  # how many of the parameters can be given by position
    star: str = ""  # the name of *args
    star_star: str = ""  # the name of **kwargs
    defaults: dict[str, Value] = field(default_factory=dict)
    owner: ClassFacts | None = None
    parent: FunctionFacts | None = None
    kind: str = "function"  # or method, static, class, property, lambda, module
    is_async: bool = False
    is_generator: bool = False
    decorators: tuple[Value, ...] = ()
    annotated: dict[str, Atom] = field(default_factory=dict)  # parameters whose annotation is a project class
    bound: set[str] = field(default_factory=set)  # the names that it binds, as far as it was interpreted
    entry_grad: Events = GRAD_ENTRY
    entry_kept: bool = True  # false where an unknown decorator may change anything
    is_context_manager: bool = False

    done: bool = False
    running: bool = False
    params: dict[str, Param] = field(default_factory=dict)
    outers: dict[str, Outer] = field(default_factory=dict)  # names of this scope as nested functions see them

    returns: Value = NOTHING
    yields: Value = NOTHING
    yield_grad: Events = NO_EVENTS
    yield_modes: dict[Obj, Events] = field(default_factory=dict)
    exit_env: dict[str, Value] = field(default_factory=dict)
    exit_modes: dict[Obj, Events] = field(default_factory=dict)
    exit_heap: dict[tuple[Obj, str], Value] = field(default_factory=dict)
    exit_grad: Events = GRAD_ENTRY
    exit_frozen: frozenset[Obj] = frozenset()
    exit_made: frozenset[Obj] = frozenset()
    needs: set[Origin] = field(default_factory=set)  # symbols that something here differentiates
    needed_values: list[Value] = field(default_factory=list)
    sites: dict[tuple[Span, Site | None], Site] = field(default_factory=dict)
    calls: dict[tuple[Span, Atom], Call] = field(default_factory=dict)
    callers: list[Call] = field(default_factory=list)
    made_classes: dict[Span, Call] = field(default_factory=dict)  # calls of project classes
    mode_sets: dict[Span, ModeSet] = field(default_factory=dict)
    settings: dict[tuple[Span, str], Setting] = field(default_factory=dict)
    slips: dict[tuple[Span, str], Slip] = field(default_factory=dict)
    takes_gradients: bool = False
    bare_guards: bool = False  # holds a guard that has no effect: its author wanted no gradients
    ran: set[Obj] = field(default_factory=set)  # objects that were called like modules
    names_worker_init: bool = False  # passes a worker function on, or makes one
    hooked: set[Obj] = field(default_factory=set)  # modules with a backward hook
    handed_by: set[ModuleFacts] = field(default_factory=set)  # modules that use it as a value: unknown code may call it

    def __repr__(self) -> str:
        return f"{self.module.name}:{self.qualified}"

    @property
    def qualified(self) -> str:
        """The name with its class or enclosing function."""
        if self.owner is not None:
            return f"{self.owner.name}.{self.name}"
        return f"{self.parent.qualified}.{self.name}" if self.parent and self.parent.kind != "module" else self.name

    @property
    def dotted(self) -> str:
        """The name as another file would import it, from the project's root."""
        home = self.module.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return f"{home}.{self.qualified}"

    @property
    def is_module(self) -> bool:
        """Whether this is a module's body."""
        return self.kind == "module"

    def outer(self, name: str) -> Outer:
        """The symbol of a name of this scope."""
        found = self.outers.get(name)
        if found is None:
            found = self.outers[name] = Outer(self, name)
        return found


@dataclass(slots=True, eq=False)
class ClassFacts:
    """One class of the project."""

    module: ModuleFacts
    name: str
    span: Span
    bases: tuple[Value, ...] = ()
    scope: FunctionFacts | None = None
    methods: dict[str, FunctionFacts] = field(default_factory=dict)
    attributes: dict[str, Value] = field(default_factory=dict)  # class-level names
    is_dataclass: bool = False
    fields: tuple[str, ...] = ()  # of a dataclass, in order
    instance: Self = field(init=False)
    children: list[ClassFacts] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.instance = Self(self)

    def __repr__(self) -> str:
        return self.name


@dataclass(slots=True, eq=False)
class ModuleFacts:
    """One file: its functions and classes, every call of an imported name, and every store to an attribute."""

    name: str
    path: str  # absolute; the name is the path from the project's root
    program: Program
    text: str = field(repr=False)
    is_shared: bool = False  # another file asked for it
    is_whole: bool = False  # every function was interpreted
    linked: set[str] = field(default_factory=set)  # names whose calls here are known to the functions of other files
    body: FunctionFacts = field(init=False)
    functions: list[FunctionFacts] = field(default_factory=list)
    classes: list[ClassFacts] = field(default_factory=list)
    named: dict[str, list[Call]] = field(default_factory=dict)  # calls by the dotted name that is called
    loose: dict[str, list[Call]] = field(default_factory=dict)  # calls of methods of unknown objects, by method name
    stores: dict[tuple[Obj, str], Value] = field(default_factory=dict)
    guarded_stores: dict[tuple[Obj, str], list[tuple[Value, Conditions]]] = field(default_factory=dict)
    elements: dict[tuple[Obj, str], Value] = field(default_factory=dict)  # of displays: what a list was made of
    stores_by_name: dict[str, Value] = field(default_factory=dict)
    settings: list[Setting] = field(default_factory=list)
    star_imports: list[str] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)  # the top-level packages that it imports anything from
    has_main: bool = False
    has_effects: bool = False

    def calls_of(self, *names: str) -> Iterator[Call]:
        """The calls of imported names, in the order of the names."""
        for name in names:
            yield from self.named.get(name, ())

    @property
    def is_script(self) -> bool:
        """Whether the file is run rather than imported, so that all callers of its functions can be seen."""
        return self.has_main or self.has_effects


def bind(facts: FunctionFacts, arguments: Arguments, bound: Value | None) -> dict[str, Value]:
    """Parameter -> value, for a call of a project function; what is not given is not in the result."""
    names = list(facts.parameters)
    found: dict[str, Value] = {}
    if bound is not None and names and facts.kind in ("method", "class", "property"):
        found[names.pop(0)] = bound
    elif facts.kind == "method" and names and bound is None:
        pass  # called through the class: the instance is the first argument
    count = facts.positional - (len(facts.parameters) - len(names))
    for name, value in zip(names[: max(count, 0)], arguments.positional, strict=False):
        found[name] = value
    for name, value in arguments.keywords:
        if name in names:
            found[name] = value
    return found


__all__ = [
    "Call",
    "ClassFacts",
    "Conditions",
    "Event",
    "Function",
    "FunctionFacts",
    "ModeSet",
    "ModuleFacts",
    "Setting",
    "Site",
    "Slip",
    "bind",
]
