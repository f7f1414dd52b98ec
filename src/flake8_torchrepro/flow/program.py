"""The analysed unit: the modules of a program, their functions and classes, and what is asked about them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ..settings import Settings
from ..source import Source, Span, span_of
from ..torch_api.names import canonical
from .binding import count_names
from .facts import Call, ClassFacts, FunctionFacts, ModuleFacts, Site
from .hierarchy import Hierarchy
from .needs import spread_needs
from .state import GRAD_ENTRY, GRAD_ON, OFF, UNKNOWN_EVENTS, Events
from .statements import Interpreter
from .values import (
    Class,
    Const,
    Dotted,
    Function,
    Made,
    Obj,
    Param,
    Value,
    value_of,
)
from .view import ModuleView

if TYPE_CHECKING:
    from .frame import Frame

MOST_NESTED_CALLS = 18  # how deep summaries may wait for each other before a callee counts as unknown

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Program(Hierarchy):
    """Interprets modules on demand and keeps what was learnt. One file without a project is a program of size one."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        self.modules: dict[str, ModuleFacts] = {}
        self._dotted: dict[str, Dotted] = {}
        self._constants: dict[tuple[type, object], Value] = {}
        self._static: dict[ModuleFacts, dict[str, Value]] = {}
        self._counts: dict[ModuleFacts, dict[str, int]] = {}
        self._nodes: dict[FunctionFacts, FunctionNode] = {}
        self._functions: dict[int, FunctionFacts] = {}
        self._classes: dict[int, ClassFacts] = {}
        self._frames: dict[FunctionFacts, Frame] = {}
        self._depth = 0

    # -- modules ---------------------------------------------------------------

    def view(self, source: Source) -> ModuleView:
        """Interpret a file whole, and hand out what is known."""
        facts = self.module(source)
        for function in facts.functions:  # grows while it is walked: nested functions appear
            self.summarise(function)
        spread_needs(facts)
        self._nodes.clear()
        return ModuleView(source, facts, self, self.settings)

    def module(self, source: Source) -> ModuleFacts:
        """Interpret the body of a file."""
        name = str(source.path)
        facts = ModuleFacts(name, name, self)
        self.modules[name] = facts
        end = Span(1, 0, len(source.lines), 0)
        facts.body = FunctionFacts(facts, "<module>", end, kind="module", entry_grad=GRAD_ON)
        self._prepare(facts, source.tree)
        self._interpret(facts.body, source.tree.body)
        return facts

    def _prepare(self, facts: ModuleFacts, tree: ast.Module) -> None:
        """Names that a module binds once, to an import, a function or a class, are known before it is interpreted."""
        counts: dict[str, int] = {}
        static: dict[str, Value] = {}
        self._counts[facts], self._static[facts] = counts, static
        count_names(tree.body, counts)
        for node in tree.body:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() if counts[node.name] == 1:
                    static[node.name] = value_of(Function(self.function(facts, node, facts.body, None)))
                case ast.ClassDef() if counts[node.name] == 1:
                    static[node.name] = value_of(Class(self.class_(facts, node, facts.body)))
                case ast.If() if _is_main(node.test):
                    facts.has_main = True
                case ast.Expr(value=ast.Call()) | ast.For() | ast.While() | ast.With():
                    facts.has_effects = True
        facts.body.bound.update(counts)

    # -- definitions ---------------------------------------------------------------

    def function(
        self,
        module: ModuleFacts,
        node: ast.FunctionDef | ast.AsyncFunctionDef,
        parent: FunctionFacts,
        owner: ClassFacts | None,
    ) -> FunctionFacts:
        """The facts of a function definition (the same at every visit)."""
        known = self._functions.get(id(node))
        if known is None:
            kind = "method" if owner is not None else "function"
            known = self._functions[id(node)] = self._declare(module, node, node.name, parent, owner, kind)
            known.is_async = isinstance(node, ast.AsyncFunctionDef)
        return known

    def define_lambda(self, frame: Frame, node: ast.Lambda) -> FunctionFacts:
        """The facts of a lambda."""
        known = self._functions.get(id(node))
        if known is None:
            known = self._declare(frame.module, node, "<lambda>", frame.facts, None, "lambda")
            self._functions[id(node)] = known
        return known

    def _declare(
        self,
        module: ModuleFacts,
        node: FunctionNode,
        name: str,
        parent: FunctionFacts,
        owner: ClassFacts | None,
        kind: str,
    ) -> FunctionFacts:
        arguments = node.args
        positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        facts = FunctionFacts(module, name, span_of(node), owner=owner, parent=parent, kind=kind)
        facts.parameters = (*positional, *(a.arg for a in arguments.kwonlyargs))
        facts.positional = len(positional)
        facts.star = arguments.vararg.arg if arguments.vararg else ""
        facts.star_star = arguments.kwarg.arg if arguments.kwarg else ""
        facts.bound.update(facts.parameters)
        self._nodes[facts] = node
        module.functions.append(facts)
        return facts

    def class_(self, module: ModuleFacts, node: ast.ClassDef, scope: FunctionFacts) -> ClassFacts:
        """The facts of a class definition (the same at every visit)."""
        known = self._classes.get(id(node))
        if known is None:
            known = self._classes[id(node)] = ClassFacts(module, node.name, span_of(node), scope=scope)
            module.classes.append(known)
        return known

    # -- interpretation ---------------------------------------------------------------

    def summarise(self, facts: FunctionFacts) -> bool:
        """Interpret a function if that was not done yet. False where it is running (recursion) or too deep."""
        if facts.done:
            return True
        if facts.running or self._depth >= MOST_NESTED_CALLS or facts not in self._nodes:
            return False
        owner = facts.owner
        if owner is not None and facts.name != "__init__":
            init = owner.methods.get("__init__")
            if init is not None:
                self.summarise(init)  # what the constructor stores is known to the methods
        node = self._nodes[facts]
        body = [ast.Return(value=node.body)] if isinstance(node, ast.Lambda) else node.body
        self._interpret(facts, body)  # type: ignore[arg-type]
        return True

    def _interpret(self, facts: FunctionFacts, body: list[ast.stmt]) -> None:
        facts.running = True
        self._depth += 1
        frame = Interpreter(facts)
        self._frames[facts] = frame
        try:
            self._bind_parameters(frame, facts)
            left = frame.run(body)
        finally:
            self._depth -= 1
            facts.running = False
            del self._frames[facts]
        facts.exit_env, facts.exit_heap, facts.exit_modes = left.env, left.heap, left.modes
        facts.exit_grad, facts.exit_frozen, facts.exit_made = left.grad, left.frozen, frozenset(left.made)
        facts.done = True

    def _bind_parameters(self, frame: Frame, facts: FunctionFacts) -> None:
        env = frame.state.env
        for name in facts.parameters:
            param = facts.params[name] = Param(facts, name)
            env[name] = value_of(param)
        for name in (facts.star, facts.star_star):
            if name:
                facts.params[name] = Param(facts, name)
                env[name] = value_of(facts.params[name])
        if facts.owner is not None and facts.parameters:
            first = facts.parameters[0]
            if facts.kind in ("method", "property"):
                env[first] = value_of(facts.owner.instance)
            elif facts.kind == "class":
                env[first] = value_of(Class(facts.owner))

    # -- names ---------------------------------------------------------------

    def dotted(self, name: str) -> Dotted:
        """The one atom of an imported name, in its public spelling."""
        found = self._dotted.get(name)
        if found is None:
            public = canonical(name)
            found = self._dotted.get(public) or Dotted(public)
            self._dotted[public] = self._dotted[name] = found
        return found

    def constant(self, value: object) -> Value:
        """The value of a sure constant."""
        key = (type(value), value)
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = Value(frozenset((Const(value),)))
        return found

    def imported(self, module: ModuleFacts, name: str) -> Value:
        """What an imported name is: a thing of the project, or only its name."""
        return value_of(self.dotted(name))

    def star_value(self, module: ModuleFacts, name: str) -> Value | None:
        """What a name is that only a star import of a project file can bring; None where nothing is known."""
        return None

    def static_names(self, module: ModuleFacts) -> dict[str, Value]:
        """Functions and classes that a module binds once."""
        return self._static[module]

    def bound_names(self, scope: FunctionFacts) -> set[str]:
        """The names that a scope binds."""
        return scope.bound

    def assigned_once(self, scope: FunctionFacts, name: str) -> bool:
        """Whether a module binds a name in one place only."""
        return scope.is_module and self._counts[scope.module].get(name) == 1

    def scope_value(self, scope: FunctionFacts, name: str) -> Value | None:
        """What a name of a scope holds by now (at the end, if the scope is done)."""
        frame = self._frames.get(scope)
        return frame.state.env.get(name) if frame is not None else scope.exit_env.get(name)

    def stored(self, holder: Obj, name: str) -> Value | None:
        """All that was ever stored in an attribute of an object."""
        found = None
        for module in self.modules.values():
            value = module.stores.get((holder, name))
            if value is not None:
                found = value if found is None else found | value
        return found

    def elements(self, display: Made) -> list[Value]:
        """The elements of a list (or tuple, or dict) that was made at one place."""
        found = []
        for module in self.modules.values():
            found += [value for (holder, name), value in module.elements.items() if holder is display]
        return found

    # -- gradients ---------------------------------------------------------------

    def mark_needed(self, site: Site) -> None:
        """Something differentiates what a forward pass gave."""
        site.needed = True

    def differentiate(self, facts: FunctionFacts) -> None:
        """A function is handed to something that takes its gradient: all that it gives back is needed."""
        if self.summarise(facts):
            for site in facts.sites.values():
                site.needed = True

    def grad_of_wrapper(self, decorator: FunctionFacts) -> Events | None:
        """The grad mode in which a decorator of the project runs what it decorates; None where it leaves it alone."""
        if not self.summarise(decorator) or not decorator.parameters:
            return UNKNOWN_EVENTS
        symbol = decorator.outers.get(decorator.parameters[0])
        found: set[str] = set()
        events: Events = frozenset()
        for function in decorator.module.functions:
            if symbol is not None and _is_inside(function, decorator) and self.summarise(function):
                for call in function.calls.values():
                    if call.callee is symbol:
                        found.update(event.kind for event in call.grad)
                        events |= call.grad
        if found == {OFF}:
            return events
        return None if not found or found == {"entry"} else UNKNOWN_EVENTS


def _is_inside(function: FunctionFacts, outer: FunctionFacts) -> bool:
    scope = function.parent
    while scope is not None:
        if scope is outer:
            return True
        scope = scope.parent
    return False


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


__all__ = ["GRAD_ENTRY", "Call", "ModuleView", "Program"]
