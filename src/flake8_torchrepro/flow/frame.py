"""One function being interpreted: its state, its names, and where what it learns is written down."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from ..source import Span
from ..torch_api.names import star_home
from .facts import Call, ClassFacts, FunctionFacts, ModuleFacts, Setting, Site, Slip
from .state import Events, State, initial
from .values import (
    ANY,
    LEAF,
    NO_ARGUMENTS,
    NO_ORIGINS,
    NOTHING,
    Arguments,
    Atom,
    Class,
    Condition,
    Const,
    Dotted,
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

BUILTINS = frozenset(dir(builtins))
STATIC_ATOMS = (Dotted, Function, Class, Partial, Const)
MOST_PARTS = 6  # the longest path that is followed


def place(node: ast.expr | ast.stmt) -> Span:
    """The place of a node (faster than the general form: this is called for every call)."""
    return Span(node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)


def called_name(node: ast.expr) -> str:
    """The last name of what is called (``a.b(c)`` -> ``b``), or of a plain name; empty where there is none."""
    while isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def spelled(node: ast.expr) -> str:
    """The dotted name of what is called, as the file spells it (``a.b(c)`` -> ``a.b``); empty where it is none."""
    while isinstance(node, ast.Call):
        node = node.func
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed([*parts, node.id])) if isinstance(node, ast.Name) else ""


class Frame:
    """The interpretation of one function, and the helpers that every kind of node needs."""

    def __init__(self, facts: FunctionFacts, assigned: set[str] | None = None) -> None:
        self.facts = facts
        self.module: ModuleFacts = facts.module
        self.program = facts.module.program
        self.state = State(facts.entry_grad)
        self.local_globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.assigned: set[str] = assigned if assigned is not None else set()
        self.made: dict[tuple[int, Atom | None], Made] = {}
        self.clones: dict[tuple[int, Obj], Made] = {}
        self.conditions: list[Condition] = []
        self.loop_depth = 0
        self.is_eager = False  # the call at hand is a decorator or a context manager, whose effect matters
        self.saved_modes: dict[Obj, Events] = {}  # modes of which ``.training`` was read
        self.dropped: ast.expr | None = None  # the call whose result the statement at hand throws away
        self.joint_mode: Events | None = None  # of whichever object is being called, where it is one of several
        self.via: Span | None = None  # the partial whose callee is being called
        self.reachable = True

    # -- names ---------------------------------------------------------------

    def lookup(self, name: str) -> Value:
        """What a name stands for here."""
        found = self.state.env.get(name)
        if found is not None:
            return found
        return self.outer_name(name)

    def outer_name(self, name: str) -> Value:
        """What a name that this function does not bind stands for: an enclosing scope's, the module's, a builtin's."""
        scope = self.facts.parent
        while scope is not None and not scope.is_module:
            if name in self.program.bound_names(scope):
                return self._from_scope(scope, name)
            scope = scope.parent
        static = self.program.static_names(self.module).get(name)
        if static is not None and not self.facts.is_module:
            return static
        if self.facts.is_module:
            if static is not None:
                return static
        elif name in self.program.bound_names(self.module.body):
            return self._from_scope(self.module.body, name)
        if name in BUILTINS:
            return value_of(self.program.dotted("builtins." + name))
        home = star_home(name, self.module.star_imports)
        if home is not None:
            return value_of(self.program.dotted(f"{home}.{name}"))
        starred = self.program.star_value(self.module, name)
        return ANY if starred is None else starred

    def _from_scope(self, scope: FunctionFacts, name: str) -> Value:
        """A name of an enclosing scope: itself where it can only be one thing, else a symbol that callers resolve."""
        symbol = scope.outer(name)
        changed = self.state.heap.get((symbol, "="))
        if changed is not None:
            return changed
        now = self.program.scope_value(scope, name)
        if now is not None and all(isinstance(atom, STATIC_ATOMS) for atom in now.atoms):
            if self.program.assigned_once(scope, name):
                return now
            if not any(isinstance(atom, Const) for atom in now.atoms):
                return now
        return value_of(symbol)

    def bind_name(self, name: str, value: Value) -> None:
        """Assign to a name, where its scope is."""
        self.assigned.add(name)
        if name in self.local_globals:
            self.set_attribute(self.module.body.outer(name), "=", value)
        elif name in self.nonlocals and self.facts.parent is not None:
            self.set_attribute(self.facts.parent.outer(name), "=", value)
        else:
            self.state.env[name] = value
            return
        self.note_escape(self.origins(value), "stored")

    def dotted(self, name: str) -> Value:
        """An imported name: the project's own thing where it is one, else the name itself."""
        return self.program.imported(self.module, name)

    # -- attributes and items ---------------------------------------------------------------

    def attribute(self, obj: Obj, name: str) -> Value:
        """What an attribute (or ``[...]`` item) of an object holds."""
        found = self.state.heap.get((obj, name))
        if found is not None:
            return found
        if isinstance(obj, Part) and obj.depth >= MOST_PARTS:
            return ANY
        value = initial(obj, name)
        if name[0] == "[" and name != "[]":
            rest = self.state.heap.get((obj, "[]"))
            return value if rest is None else value | rest
        return value

    def set_attribute(self, obj: Obj, name: str, value: Value, weak: bool = False) -> None:
        """Store into an attribute or item, for the flow at hand and for the module's record."""
        key = (obj, name)
        stored = self.module.stores.get(key)
        self.module.stores[key] = value if stored is None else stored | value
        if isinstance(obj, Self):
            known = self.module.guarded_stores.setdefault(key, [])
            known.append((value, self.path_conditions()))
        if value.derived or value.atoms:
            named = self.module.stores_by_name.get(name)
            self.module.stores_by_name[name] = value if named is None else named | value
        if weak:
            self.state.heap[key] = self.attribute(obj, name) | value
        else:
            self.state.heap[key] = value

    # -- objects ---------------------------------------------------------------

    def make(self, node: ast.expr, maker: Atom | None, arguments: Arguments = NO_ARGUMENTS) -> Made:
        """The object that an expression makes; each time round a loop it is a new one."""
        key = (id(node), maker)
        made = self.made.get(key)
        if made is None:
            made = self.made[key] = Made(self.module.name, place(node), maker, arguments)
        elif arguments is not NO_ARGUMENTS:
            made.arguments = arguments
        self.state.remake(made)
        return made

    def class_of(self, obj: Obj) -> ClassFacts | None:
        """The project's class of an object, where it is known; other files are only read about modules with a mode."""
        return self.program.class_of(obj, near=not self.has_mode(obj))

    def has_mode(self, obj: Obj) -> bool:
        """Whether something set a mode on the object, on what it is part of or on a part of it, in this function."""
        if not self.state.modes:
            return False
        at: Obj = obj
        while True:
            if at in self.state.modes:
                return True
            if not isinstance(at, Part):
                break
            at = at.parent
        return any(isinstance(part, Part) and part.root is obj.root for part in self.state.modes)

    def is_declared_guard(self, node: ast.expr, value: Value) -> bool:
        """Whether the user declared that a decorator or context manager switches gradients off."""
        guards = self.program.settings.guards
        if not guards:
            return False
        makers = [atom.maker if isinstance(atom, Made) else atom for atom in value.atoms]
        names = [spelled(node), *(maker.name for maker in makers if isinstance(maker, Dotted))]
        names += [maker.facts.dotted for maker in makers if isinstance(maker, Function)]
        return any(name == guard or name.endswith("." + guard) for name in names for guard in guards)

    # -- origins ---------------------------------------------------------------

    def origins(self, value: Value) -> frozenset[Origin]:
        """What a value was computed from, itself (if it is a symbol) and its elements (if it is a display) included."""
        found = value.derived
        if value.atoms is ANY.atoms:
            return found
        for atom in value.atoms:
            if isinstance(atom, (Param, Part, Outer)):
                found = found | atom.value.atoms if found else atom.value.atoms
            elif isinstance(atom, Made) and atom.maker is None:
                found = found | self._origins_of_elements(atom)
        return found

    def _origins_of_elements(self, display: Made, depth: int = 0) -> frozenset[Origin]:
        found: frozenset[Origin] = NO_ORIGINS
        for (holder, _), held in self.state.heap.items():
            if holder is display:
                found = found | held.derived
                for atom in held.atoms:
                    if isinstance(atom, (Param, Part, Outer)):
                        found = found | {atom}
                    elif isinstance(atom, Made) and atom.maker is None and atom is not display and depth < 3:
                        found = found | self._origins_of_elements(atom, depth + 1)
        return found

    def origins_of_all(self, values: Iterable[Value]) -> frozenset[Origin]:
        """The origins of several values together."""
        found: frozenset[Origin] = NO_ORIGINS
        for value in values:
            if value.derived or value.atoms is not ANY.atoms:
                found = found | self.origins(value)
        return found

    def note_escape(self, origins: frozenset[Origin], how: str) -> None:
        """The results of forward passes leave the function this way."""
        for origin in origins:
            if hasattr(origin, "escapes") and origin.function is self.facts:
                origin.escapes.add(how)

    def note_handed(self, node: ast.expr, arguments: Arguments) -> None:
        """A call that gives back nothing of interest may keep what it is handed."""
        if node is self.dropped:
            self.note_escape(self.origins_of_all(arguments.values()), "passed")

    def need(self, value: Value) -> None:
        """Something differentiates the value: every forward pass that it was computed from needs its graph."""
        self.need_origins(self.origins(value))

    def need_origins(self, origins: Iterable[Origin]) -> None:
        """As ``need``, for origins."""
        for origin in origins:
            if isinstance(origin, Obj):
                self.facts.needs.add(origin)
            elif origin is not LEAF:
                self._mark(origin)
        self.facts.takes_gradients = True

    def _mark(self, site: Site) -> None:
        at: FunctionFacts | None = self.facts
        while at is not None:
            if at is site.function:
                site.needed_inside = True
                return
            at = at.parent if site.function is not self.module.body else None
        site.needed_by.add(self.module)

    # -- records ---------------------------------------------------------------

    def record_call(self, node: ast.expr, callee: Atom, arguments: Arguments, method: str = "") -> Call:
        """Write a call down; calls of imported names also under that name."""
        key = (place(node), callee)
        call = self.facts.calls.get(key)
        if call is None:
            call = self.facts.calls[key] = Call(
                self.facts, key[0], callee, arguments, method, conditions=self.path_conditions()
            )
            call.in_loop = self.loop_depth > 0
            call.via = self.via
            if isinstance(callee, Dotted) and not method:
                self.module.named.setdefault(callee.name, []).append(call)
        else:
            call.arguments = join_arguments(call.arguments, arguments)
        call.grad = call.grad | self.state.grad
        return call

    def path_conditions(self) -> tuple[Condition, ...]:
        """The tests that must hold (or fail) for this place to be reached."""
        return tuple(self.conditions)

    def record_setting(self, node: ast.expr | ast.stmt, name: str, value: Value, how: str = "assign") -> None:
        """Write down that a global setting is given a value here."""
        key = (place(node), name)
        known = self.facts.settings.get(key)
        if known is not None:
            known.value = known.value | value
            return
        setting = Setting(self.facts, key[0], name, value, self.path_conditions(), how)
        self.facts.settings[key] = setting
        self.module.settings.append(setting)

    def slip(self, kind: str, node: ast.expr | ast.stmt, objects: Iterable[Obj] = (), name: str = "") -> None:
        """Write down something that has no effect."""
        span = place(node)
        self.facts.slips[(span, kind)] = Slip(kind, span, frozenset(objects), name)


def join_arguments(left: Arguments, right: Arguments) -> Arguments:
    """Two visits of one call: what may be handed over at either."""
    if left == right or len(left.positional) != len(right.positional):
        return right
    if [name for name, _ in left.keywords] != [name for name, _ in right.keywords]:
        return right
    return Arguments(
        tuple(a | b for a, b in zip(left.positional, right.positional, strict=True)),
        tuple((name, a | b) for (name, a), (_, b) in zip(left.keywords, right.keywords, strict=True)),
        left.open or right.open,
    )


__all__ = ["NOTHING", "Frame", "Self", "join_arguments", "place"]
