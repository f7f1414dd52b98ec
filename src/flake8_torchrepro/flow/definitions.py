"""Functions, classes and imports: what a definition binds, and what its decorators do to it."""

from __future__ import annotations

import ast

from ..patterns import Pattern
from ..torch_api.grad import CALM_ROOTS, SWITCHES, is_calm
from .contexts import Contexts
from .facts import ClassFacts, FunctionFacts
from .frame import called_name, place
from .state import OFF, UNKNOWN_EVENTS, Event, Events
from .summaries import Mapping
from .values import Class, Dotted, Function, Imported, Made, Partial, Value, assumed, value_of

KINDS = {"staticmethod": "static", "classmethod": "class", "property": "property", "cached_property": "property"}
GUARDED = "# torchrepro: guarded"
CONTEXT_MANAGER = Pattern(r"(contextlib\.)?(async)?contextmanager")


class Definitions(Contexts):
    """Executes ``def``, ``class`` and ``import``."""

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """``def``: bind the name; the body is interpreted when it is called, or at the end."""
        facts = self.program.function(self.module, node, self.facts, None)
        self.complete(facts, node)
        self.bind_name(node.name, value_of(Function(facts)))

    def complete(self, facts: FunctionFacts, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Evaluate what a definition evaluates: defaults, and decorators (which run with a grad mode of their own)."""
        arguments = node.args
        given = [*arguments.posonlyargs, *arguments.args]
        for argument, default in zip(given[len(given) - len(arguments.defaults) :], arguments.defaults, strict=True):
            facts.defaults[argument.arg] = assumed(self.eval(default))
        for argument, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if keyword_default is not None:
                facts.defaults[argument.arg] = assumed(self.eval(keyword_default))
        for argument in (*given, *arguments.kwonlyargs):
            self._note_annotation(facts, argument)
        if self._says_guarded(node):
            span = place(node)
            facts.entry_grad = frozenset((Event(OFF, span, span, self.module.name),))
        held = self.state.grad
        for decorator in node.decorator_list:
            value = self.eagerly(decorator)
            facts.decorators += (value,)
            self._decorate(facts, decorator, value)
        self.state.grad = held

    def _says_guarded(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether a comment ``# torchrepro: guarded`` stands in the head of a function (or just above it)."""
        if GUARDED not in self.module.text:
            return False
        first = min((node.lineno, *(decorator.lineno for decorator in node.decorator_list)))
        return any(
            GUARDED in line for line in self.module.text.split("\n")[max(first - 2, 0) : node.body[0].lineno - 1]
        ) or (node.body[0].lineno == node.lineno and GUARDED in self.module.text.split("\n")[node.lineno - 1])

    def _note_annotation(self, facts: FunctionFacts, argument: ast.arg) -> None:
        annotation = argument.annotation
        if isinstance(annotation, (ast.Name, ast.Attribute)):
            only = self.eval(annotation).only
            if isinstance(only, (Class, Imported)):
                facts.annotated[argument.arg] = only

    def _decorate(self, facts: FunctionFacts, node: ast.expr, value: Value) -> None:
        """What one decorator does to the function's kind and to the grad mode in it."""
        name = called_name(node)
        if name in KINDS:
            facts.kind = KINDS[name]
            return
        if name in ("setter", "getter", "deleter"):
            return
        if CONTEXT_MANAGER.fullmatch(name):
            facts.is_context_manager = True
            return
        grad = self._grad_of_decorator(node, value)
        if grad is not None:
            if facts.is_async:  # the guard is left before the coroutine runs
                self.slip("decorates async", node, name=name)
                facts.bare_guards = True
            else:
                facts.entry_grad = grad
        elif not self._is_calm_decorator(name, node, value):
            facts.entry_grad = UNKNOWN_EVENTS
            facts.entry_kept = False

    def _grad_of_decorator(self, node: ast.expr, value: Value) -> Events | None:
        only = value.only
        span = place(node)
        if self.is_declared_guard(node, value):
            return frozenset((Event(OFF, span, span, self.module.name),))
        if isinstance(only, Made) and isinstance(only.maker, Dotted) and only.maker.name in SWITCHES:
            return self.grad_of_switch(only.maker.name, only.arguments, span)
        if isinstance(only, Dotted) and only.name in ("torch.no_grad", "torch.inference_mode"):
            return frozenset((Event(OFF, span, span, self.module.name),))
        functions = [atom for atom in value.atoms if isinstance(atom, Function)]
        wrapper = functions[0].facts if functions else None
        if wrapper is not None:
            return self.program.grad_of_wrapper(wrapper)
        return None

    def _is_calm_decorator(self, name: str, node: ast.expr, value: Value) -> bool:
        if is_calm(name):
            return True
        for atom in value.atoms:
            maker = atom.maker if isinstance(atom, Made) else atom
            if isinstance(maker, Dotted) and maker.name.partition(".")[0] in CALM_ROOTS:
                continue
            if isinstance(maker, (Function, Partial, Class)):
                continue
            return False
        return True

    # -- classes ---------------------------------------------------------------

    def define_class(self, node: ast.ClassDef) -> None:
        """``class``: bind the name; class-level code runs now, methods are interpreted later."""
        facts = self.program.class_(self.module, node, self.facts)
        facts.bases = tuple(self.eval(base) for base in node.bases)
        for base in facts.bases:
            only = base.only
            if isinstance(only, Class) and facts not in only.facts.children and only.facts is not facts:
                only.facts.children.append(facts)
        for decorator in node.decorator_list:
            value = self.eval(decorator)
            if self._grad_of_decorator(decorator, value) is not None and not any(
                isinstance(atom, Function) for atom in value.atoms
            ):
                self.slip("decorates class", decorator, name=called_name(decorator))
            facts.is_dataclass = facts.is_dataclass or called_name(decorator) == "dataclass"
        self.bind_name(node.name, value_of(Class(facts)))
        self._class_body(facts, node)

    def _class_body(self, facts: ClassFacts, node: ast.ClassDef) -> None:
        outer = self.state.env.copy()
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._method(facts, statement)
                continue
            self.block([statement])
        for name, value in self.state.env.items():
            if outer.get(name) is not value and name not in facts.methods:
                facts.attributes[name] = assumed(value) if facts.is_dataclass else value
        if facts.is_dataclass:
            facts.fields = tuple(
                s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
            )
        self.state.env = outer

    def _method(self, owner: ClassFacts, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        facts = self.program.function(self.module, node, self.facts, owner)
        known = owner.methods.get(node.name)
        if known is not None and known.kind == "property":
            return  # a setter of a property shares its name
        owner.methods[node.name] = facts
        self.complete(facts, node)
        self.state.env[node.name] = value_of(Function(facts))

    # -- imports ---------------------------------------------------------------

    def import_(self, node: ast.Import) -> None:
        """``import a.b`` binds ``a``; ``import a.b as c`` binds what it names."""
        for alias in node.names:
            self.module.imports.add(alias.name.partition(".")[0])
            if alias.asname:
                self.bind_name(alias.asname, self.dotted(alias.name))
            else:
                self.bind_name(alias.name.partition(".")[0], self.dotted(alias.name.partition(".")[0]))

    def import_from(self, node: ast.ImportFrom) -> None:
        """``from a import b``; a star is resolved when a name is looked up."""
        home = "." * node.level + (node.module or "")
        self.module.imports.add(home.partition(".")[0])
        for alias in node.names:
            if alias.name == "*":
                if home not in self.module.star_imports:
                    self.module.star_imports.append(home)
            else:
                joint = "" if home.endswith(".") or not home else "."
                self.bind_name(alias.asname or alias.name, self.dotted(f"{home}{joint}{alias.name}"))

    def replay_exit(self, node: ast.Call, facts: FunctionFacts) -> None:
        """Set the modes that a context manager leaves behind it."""
        for call in self.facts.calls.values():
            if call.span == place(node) and isinstance(call.callee, Function) and call.callee.facts is facts:
                mapping = Mapping(self, node, facts, call.bindings)
                for obj, events in facts.exit_modes.items():
                    if isinstance(obj.root, Made):
                        continue
                    for target in mapping.obj(obj).objects():
                        self.state.set_mode(target, mapping.events(events))
                return


__all__ = ["Definitions"]
