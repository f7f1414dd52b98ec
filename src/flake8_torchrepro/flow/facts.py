"""What the interpreter learns about a module: facts about its functions, classes, calls and forward passes.

Nothing here refers to a tree, so the facts of a file outlive it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

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


class Site:
    """A forward pass, or a call of a project function that runs one on what it was handed (``inner`` is not empty).

    ``modes`` and ``grad`` are the events that reach it. ``needed_*``: something differentiates its result. ``leaves``: an
    input has a graph of its own. ``escapes``: how the result leaves the function (``returned``, ``stored``, ``passed``).
    """

    def __init__(self, function: FunctionFacts, span: Span, inner: frozenset[Site] = frozenset()) -> None:
        self.function, self.span, self.inner = function, span, inner
        self.objects: frozenset[Obj] = frozenset()
        self.modes: Events = NO_EVENTS
        self.grad: Events = NO_EVENTS
        self.needed_inside = False  # by the function itself
        self.needed_by: set[ModuleFacts] = set()
        self.leaves = False
        self.inputs: frozenset[Obj] = frozenset()  # symbols that its inputs were computed from
        self.frozen = False
        self.hooked = False
        self.escapes: set[str] = set()

    def __repr__(self) -> str:
        return f"forward of line {self.span.line}"


class Call:
    """A call as one function makes it: of a project function, of an imported name, or of something only callers know."""

    def __init__(
        self,
        caller: FunctionFacts,
        span: Span,
        callee: Atom,
        arguments: Arguments = NO_ARGUMENTS,
        method: str = "",
        conditions: Conditions = (),
    ) -> None:
        self.caller, self.span, self.callee = caller, span, callee
        self.arguments, self.conditions = arguments, conditions
        self.method = method  # the method's name, where ``callee`` is the receiver
        self.bindings: dict[str, Value] = {}  # parameter -> what this call hands in
        self.modes: dict[Obj, Events] = {}  # explicit modes at the call
        self.heap: dict[tuple[Obj, str], Value] = {}  # attributes at the call
        self.env: dict[str, Value] = {}  # names at the call, if the callee sees them
        self.frozen: frozenset[Obj] = frozenset()
        self.grad: Events = NO_EVENTS
        self.in_loop = False
        self.via: Span | None = None  # the ``partial`` through which it goes


class ModeSet:
    """A statement that sets modes: ``.eval()``, ``.train()``, or a call whose callee does. In order of execution."""

    def __init__(self, function: FunctionFacts, span: Span, kind: str, objects: frozenset[Obj]) -> None:
        self.function, self.span, self.kind, self.objects = function, span, kind, objects


class Slip(NamedTuple):
    """Something that was written and does nothing: a guard that is not entered, a method that is not called."""

    kind: str
    span: Span
    objects: frozenset[Obj] = frozenset()
    name: str = ""
    around: Span | None = None  # the statement that the repair is about, where it is another one


class Setting:
    """An assignment to a global setting: a backend flag, an environment variable. ``name`` is dotted (``env:NAME``)."""

    def __init__(
        self,
        function: FunctionFacts,
        span: Span,
        name: str,
        value: Value,
        conditions: Conditions = (),
        how: str = "assign",
    ) -> None:
        self.function, self.span, self.name, self.value, self.conditions = function, span, name, value, conditions
        self.how = how  # or "call", "with", "setdefault"


class FunctionFacts:
    """One function (a module's body counts as one): how it looks to its callers, and what happens in it."""

    def __init__(
        self,
        module: ModuleFacts,
        name: str,
        span: Span,
        owner: ClassFacts | None = None,
        parent: FunctionFacts | None = None,
        kind: str = "function",
        entry_grad: Events = GRAD_ENTRY,
    ) -> None:
        self.module, self.name, self.span = module, name, span
        self.owner, self.parent = owner, parent
        self.kind = kind  # or method, static, class, property, lambda, module
        self.parameters: tuple[str, ...] = ()
        self.positional = 0  # how many of the parameters can be given by position
        self.star = ""  # the name of *args
        self.star_star = ""  # the name of **kwargs
        self.defaults: dict[str, Value] = {}
        self.is_async = False
        self.is_generator = False
        self.decorators: tuple[Value, ...] = ()
        self.annotated: dict[str, Atom] = {}  # parameters whose annotation is a project class
        self.bound: set[str] = set()  # the names that it binds, as far as it was interpreted
        self.entry_grad = entry_grad
        self.entry_kept = True  # false where an unknown decorator may change anything
        self.is_context_manager = False

        self.done = False
        self.running = False
        self.params: dict[str, Param] = {}
        self.outers: dict[str, Outer] = {}  # names of this scope as nested functions see them

        self.returns: Value = NOTHING
        self.yields: Value = NOTHING
        self.yield_grad: Events = NO_EVENTS
        self.yield_modes: dict[Obj, Events] = {}
        self.exit_env: dict[str, Value] = {}
        self.exit_modes: dict[Obj, Events] = {}
        self.exit_heap: dict[tuple[Obj, str], Value] = {}
        self.exit_grad: Events = GRAD_ENTRY
        self.exit_frozen: frozenset[Obj] = frozenset()
        self.exit_made: frozenset[Obj] = frozenset()
        self.needs: set[Origin] = set()  # symbols that something here differentiates
        self.needed_values: list[Value] = []
        self.sites: dict[tuple[Span, Site | None], Site] = {}
        self.calls: dict[tuple[Span, Atom], Call] = {}
        self.callers: list[Call] = []
        self.made_classes: dict[Span, Call] = {}  # calls of project classes
        self.mode_sets: dict[Span, ModeSet] = {}
        self.settings: dict[tuple[Span, str], Setting] = {}
        self.slips: dict[tuple[Span, str], Slip] = {}
        self.takes_gradients = False
        self.bare_guards = False  # holds a guard that has no effect: its author wanted no gradients
        self.ran: set[Obj] = set()  # objects that were called like modules
        self.names_worker_init = False  # passes a worker function on, or makes one
        self.hooked: set[Obj] = set()  # modules with a backward hook
        self.handed_by: set[ModuleFacts] = set()  # modules that use it as a value: unknown code may call it

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


class ClassFacts:
    """One class of the project."""

    def __init__(self, module: ModuleFacts, name: str, span: Span, scope: FunctionFacts | None = None) -> None:
        self.module, self.name, self.span, self.scope = module, name, span, scope
        self.bases: tuple[Value, ...] = ()
        self.methods: dict[str, FunctionFacts] = {}
        self.attributes: dict[str, Value] = {}  # class-level names
        self.is_dataclass = False
        self.complete: set[str] = set()  # attributes of which all that the methods store is known
        self.fields: tuple[str, ...] = ()  # of a dataclass, in order
        self.instance = Self(self)
        self.children: list[ClassFacts] = []

    def __repr__(self) -> str:
        return self.name


class ModuleFacts:
    """One file: its functions and classes, every call of an imported name, and every store to an attribute."""

    def __init__(self, name: str, path: str, program: Program, text: str) -> None:
        self.name, self.program, self.text = name, program, text
        self.path = path  # absolute; the name is the path from the project's root
        self.is_shared = False  # another file asked for it
        self.is_whole = False  # every function was interpreted
        self.linked: set[str] = set()  # names whose calls here are known to the functions of other files
        self.body: FunctionFacts
        self.functions: list[FunctionFacts] = []
        self.classes: list[ClassFacts] = []
        self.named: dict[str, list[Call]] = {}  # calls by the dotted name that is called
        self.loose: dict[str, dict[Call, None]] = {}  # calls of (methods of) unknown objects, by the method's name
        self.stores: dict[tuple[Obj, str], Value] = {}
        self.guarded_stores: dict[tuple[Obj, str], list[tuple[Value, Conditions]]] = {}
        self.elements: dict[tuple[Obj, str], Value] = {}  # of displays: what a list was made of
        self.stores_by_name: dict[str, Value] = {}
        self.settings: list[Setting] = []
        self.star_imports: list[str] = []
        self.imports: set[str] = set()  # the top-level packages that it imports anything from
        self._lines: list[str] = []
        self.has_main = False
        self.has_effects = False

    def segment(self, span: Span) -> str:
        """The lines of a place in the text."""
        if not self._lines:
            self._lines = self.text.split("\n")
        return "\n".join(self._lines[span.line - 1 : span.end_line])

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
