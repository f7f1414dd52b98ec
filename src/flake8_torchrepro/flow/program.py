"""The analysed unit: the modules of a program, their functions and classes, and what is asked about them."""

from __future__ import annotations

import ast
import os
import re
from typing import TYPE_CHECKING

from ..patterns import Pattern
from ..project.project import Project
from ..settings import Settings
from ..source import Source, Span, span_of
from ..torch_api.names import canonical
from .binding import count_names
from .facts import Call, ClassFacts, FunctionFacts, ModuleFacts
from .linking import Linking
from .state import ENTRY, GRAD_ENTRY, GRAD_ON, OFF, UNKNOWN_EVENTS, Events
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

GLOBAL = Pattern(r"^[ \t]+global[ \t]+([\w, \t]+)", re.MULTILINE)  # functions that bind names of the module
MOST_TREES = 150
MOST_NESTED_CALLS = 18  # how deep summaries may wait for each other before a callee counts as unknown

FACTS = "_torchrepro_facts"  # where a definition's node keeps its facts while the tree lives

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Program(Linking):
    """Interprets modules on demand and keeps what was learnt. One file without a project is a program of size one."""

    def __init__(self, settings: Settings, project: Project | None = None) -> None:
        super().__init__(project)
        self.settings = settings
        self._dotted: dict[str, Dotted] = {}
        self._constants: dict[tuple[type, object], Value] = {}
        self._counts: dict[ModuleFacts, dict[str, int]] = {}
        self._nodes: dict[FunctionFacts, FunctionNode] = {}
        self._unreadable: set[str] = set()
        self._with_tree: list[ModuleFacts] = []
        self._frames: dict[FunctionFacts, Frame] = {}
        self._depth = 0

    # -- modules ---------------------------------------------------------------

    def view(self, source: Source) -> ModuleView:
        """Interpret a file whole, and hand out what is known."""
        path = os.path.abspath(source.path)
        known = self.modules.get(self._name(path))
        if known is None or known.text != source.text:
            known = self._read(source, path)
        facts = known
        self.summarise_all(facts)
        return ModuleView(source, facts, self, self.settings)

    def summarise_all(self, facts: ModuleFacts) -> None:
        """Interpret every function of a module, and drop its tree."""
        if facts.is_whole:
            return
        for function in facts.functions:  # grows while it is walked: nested functions appear
            self.summarise(function)
        for function in facts.functions:
            self._nodes.pop(function, None)
        facts.is_whole = True

    def module_at(self, path: str) -> ModuleFacts | None:
        """The facts of another file of the project, its body interpreted; None where it cannot be read or parsed."""
        name = self._name(path)
        if name in self.modules:
            self.modules[name].is_shared = True
        elif name not in self._unreadable:
            text = self.project.files.text(path) if self.project is not None else None
            try:
                source = Source.parse(text, path) if text is not None else None
                if source is not None:
                    facts = self._read(source, path)
                    facts.is_shared = True
                    self._forget_trees(facts)
                    return facts
            except (SyntaxError, ValueError, RecursionError):
                pass
            self._unreadable.add(name)
        return self.modules.get(name)

    def _forget_trees(self, facts: ModuleFacts) -> None:
        """Trees are large: of the modules that others import only the last few keep theirs."""
        self._with_tree.append(facts)
        while len(self._with_tree) > MOST_TREES:
            self.summarise_all(self._with_tree.pop(0))

    def release(self, facts: ModuleFacts) -> None:
        """A file was judged; unless another one needs it, nothing of it is kept."""
        if not facts.is_shared and self.modules.get(facts.name) is facts:
            del self.modules[facts.name]

    def _name(self, path: str) -> str:
        return self.project.files.relative(path) if self.project is not None else path

    def _read(self, source: Source, path: str) -> ModuleFacts:
        """Interpret the body of a file."""
        name = self._name(path)
        facts = ModuleFacts(name, path, self, source.text)
        if self.project is None or self.project.files.text(path) in (None, source.text):
            self.modules[name] = facts  # else a text that is not (or not yet) on disk: nobody else may see it
        end = Span(1, 0, len(source.lines), 0)
        facts.body = FunctionFacts(facts, "<module>", end, kind="module", entry_grad=GRAD_ON)
        self._prepare(facts, source.tree)
        depth, self._depth = self._depth, 0  # another file's body is not a deeper call
        self._interpret(facts.body, source.tree.body)
        self._depth = depth
        return facts

    def _prepare(self, facts: ModuleFacts, tree: ast.Module) -> None:
        """Names that a module binds once, to an import, a function or a class, are known before it is interpreted."""
        counts: dict[str, int] = {}
        static: dict[str, Value] = {}
        self._counts[facts], self._static[facts] = counts, static
        count_names(tree.body, counts)
        for statement in GLOBAL.finditer(facts.text):
            for name in statement[1].split(","):
                counts[name.strip()] = counts.get(name.strip(), 0) + 1
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
        known: FunctionFacts | None = getattr(node, FACTS, None)
        if known is None or known.module is not module:
            kind = "method" if owner is not None else "function"
            known = self._declare(module, node, node.name, parent, owner, kind)
            setattr(node, FACTS, known)
            known.is_async = isinstance(node, ast.AsyncFunctionDef)
        return known

    def define_lambda(self, frame: Frame, node: ast.Lambda) -> FunctionFacts:
        """The facts of a lambda."""
        known: FunctionFacts | None = getattr(node, FACTS, None)
        if known is None or known.module is not frame.module:
            known = self._declare(frame.module, node, "<lambda>", frame.facts, None, "lambda")
            setattr(node, FACTS, known)
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
        known: ClassFacts | None = getattr(node, FACTS, None)
        if known is None or known.module is not module:
            known = ClassFacts(module, node.name, span_of(node), scope=scope)
            setattr(node, FACTS, known)
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

    def scope_heap(self, scope: FunctionFacts) -> dict[tuple[Obj, str], Value]:
        """What the objects of a scope hold by now (at the end, if the scope is done)."""
        frame = self._frames.get(scope)
        return frame.state.heap if frame is not None else scope.exit_heap

    def items(self, display: Made) -> dict[str, Value]:
        """The items of a display, by the name of the part, as its own module stored them."""
        module = self.modules.get(display.module)
        if module is None:
            return {}
        pairs = (*module.elements.items(), *module.stores.items())
        return {name: value for (holder, name), value in pairs if holder is display and name.startswith("[")}

    def named_module(self, name: str) -> ModuleFacts | None:
        """The module of that name, if it was read."""
        return self.modules.get(name)

    # -- gradients ---------------------------------------------------------------

    def differentiate(self, facts: FunctionFacts) -> None:
        """A function is handed to something that takes its gradient: all that it gives back is needed."""
        if self.summarise(facts):
            for site in facts.sites.values():
                site.needed_inside = True

    def grad_of_wrapper(self, decorator: FunctionFacts) -> Events | None:
        """The grad mode in which a decorator of the project runs what it decorates; None where it leaves it alone."""
        if not self.summarise(decorator) or not decorator.parameters:
            return UNKNOWN_EVENTS
        events: Events = frozenset()
        inner = [f for f in decorator.module.functions if f is decorator or _is_inside(f, decorator)]
        symbols = {f.outer(f.parameters[0]) for f in inner if f.parameters}
        for function in inner:
            if self.summarise(function):
                for call in function.calls.values():
                    events |= call.grad if call.callee in symbols else frozenset()
        kinds = {event.kind for event in events}
        if kinds == {OFF}:
            return events
        returns_its_argument = decorator.returns.only is decorator.params.get(decorator.parameters[0])
        return None if kinds == {ENTRY} or returns_its_argument else UNKNOWN_EVENTS


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
