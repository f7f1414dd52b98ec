"""What ``with`` does: guards that switch gradients, managers of the project, and those that are known to be calm."""

from __future__ import annotations

import ast

from ..source import Span
from ..torch_api.grad import CALM_ROOTS, SWITCHES, is_calm
from .assignments import Assignments
from .facts import FunctionFacts, ModeSet, Slip
from .frame import called_name, place
from .state import ENTRY, NO_EVENTS, OFF, UNKNOWN_EVENTS, Event, Events, State
from .summaries import YIELDED
from .values import Arguments, Atom, Class, Const, Dotted, Function, Imported, Made, Obj, Value

IDLE_GUARDS = frozenset(SWITCHES) - {"torch.set_grad_enabled"}


class Contexts(Assignments):
    """Executes ``with`` statements."""

    def __init__(self, facts: FunctionFacts, assigned: set[str] | None = None) -> None:
        super().__init__(facts, assigned)
        self.guards: list[tuple[Span, bool]] = []  # the ``with`` blocks around, and whether each is a guard
        self.guarded: list[tuple[Events, int]] = []  # the grad mode before each guard, and the ``try`` blocks around it
        self.tries: list[State] = []  # what the handlers of each ``try`` around may see
        self.entered: list[tuple[Span, str]] = []  # guards that were entered: where, and which

    def block(self, body: list[ast.stmt]) -> None:
        """See ``statements``."""
        raise NotImplementedError

    def exit_lists(self) -> list[list[State]]:
        """See ``statements``."""
        raise NotImplementedError

    def replay_exit(self, node: ast.Call, facts: FunctionFacts) -> None:
        """See ``definitions``."""
        raise NotImplementedError

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        before = self.state.grad
        restores = False
        managers: list[tuple[Value, ast.expr]] = []
        is_guarding = False
        for item in node.items:
            held = self.state.grad
            context = self.eagerly(item.context_expr)
            span = place(item.context_expr)
            self._note_slips(node, item.context_expr, context)
            if self.enter_guard(context, span, item.context_expr):
                restores = True
            else:
                self.state.grad = held if self._is_calm(context, item.context_expr) else self.state.grad
            is_guarding = is_guarding or guard_name(context.only) in IDLE_GUARDS
            entered = self._enter_manager(context, item.context_expr)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered)
            restores = restores or _holds_stack(context)
            managers.append((context, item.context_expr))
        self.guards.append((place(node), is_guarding))
        exits = [list(states) for states in self.exit_lists()]
        if restores:
            self.guarded.append((before, len(self.tries)))
        self.block(node.body)
        if restores:
            self.guarded.pop()
        self.guards.pop()
        if restores:
            self.state.grad = before
            for states, known in zip(self.exit_lists(), exits, strict=True):
                for state in states[len(known) :]:  # break, continue and return leave the guard too
                    state.grad = before
        for context, expression in managers:
            self._leave_manager(context, expression)

    def _note_slips(self, node: ast.With | ast.AsyncWith, expression: ast.expr, context: Value) -> None:
        """A guard that is not called, or that another guard around it makes void."""
        only = context.only
        if isinstance(only, Dotted) and only.name in SWITCHES:
            self.slip("not entered", expression, name=only.name)
            self.facts.bare_guards = True
        if not isinstance(only, Made) or not isinstance(only.maker, Dotted) or not isinstance(expression, ast.Call):
            return
        inner, flag = only.maker.name, only.arguments.get("mode", 0)
        is_false = flag is not None and isinstance(flag.only, Const) and flag.only.value is False
        around = {event.kind for event in self.state.grad}
        if inner == "torch.inference_mode" and is_false and around == {OFF}:
            self.slip("turns gradients on", expression, name=inner)
        if inner == "torch.enable_grad" and around == {OFF} and self._in_inference_mode():
            self.slip("void in inference mode", expression, name=inner)

    def _in_inference_mode(self) -> bool:
        """Whether inference mode itself (which `enable_grad` cannot leave) is on, by a block or a decorator here."""
        spans = {event.at for event in self.state.grad}
        makers = {place_of: name for place_of, name in self.entered if place_of in spans}
        return bool(makers) and set(makers.values()) == {"torch.inference_mode"}

    def note_yield(self, value: Value) -> None:
        """A ``yield`` under a guard hands the guard's grad mode to the consumer."""
        super().note_yield(value)
        guard = next((span for span, is_guard in reversed(self.guards) if is_guard), None)
        facts = self.facts
        if guard is not None and not facts.is_context_manager and not facts.decorators:
            facts.slips[(guard, "yield")] = Slip("yield", guard)

    def _await(self, node: ast.Await) -> Value:
        guard = next((span for span, is_guard in reversed(self.guards) if is_guard), None)
        if guard is not None:
            self.facts.slips[(guard, "await")] = Slip("await", guard)
        return super()._await(node)

    def eagerly(self, node: ast.expr) -> Value:
        """Evaluate what may switch gradients: what it calls is looked up in other files too."""
        outer, self.is_eager = self.is_eager, True
        value = self.eval(node)
        self.is_eager = outer
        only = value.only
        if isinstance(only, Imported):
            value = self.program.resolve(only) or value
        return value

    def enter_guard(self, context: Value, span: Span, node: ast.expr | None = None) -> bool:
        """Enter a context manager. True where it sets the grad mode (and will restore it)."""
        events: Events = NO_EVENTS
        sets = False
        if node is not None and self.is_declared_guard(node, context):
            self.state.grad = frozenset((Event(OFF, span, span, self.module.name),))
            return True
        for atom in context.atoms:
            known = self._grad_of_context(atom, span)
            sets = sets or known is not None
            events |= self.state.grad if known is None else known
        if sets:
            self.state.grad = events
            return True
        if node is not None and not self._is_calm(context, node):
            self.state.grad = UNKNOWN_EVENTS
            return True
        return False

    def _grad_of_context(self, atom: object, span: Span) -> Events | None:
        """The grad mode inside a context manager; None where it leaves it alone (or is not known)."""
        if isinstance(atom, Dotted) and atom.name in SWITCHES:  # not called: what its author meant
            return frozenset((Event(OFF, span, span, self.module.name),))
        if isinstance(atom, Made) and isinstance(atom.maker, Dotted) and atom.maker.name in SWITCHES:
            if atom.maker.name == "torch.enable_grad" and self._in_inference_mode():
                return self.state.grad  # inference mode cannot be left so
            self.entered.append((span, atom.maker.name))
            return self.grad_of_switch(atom.maker.name, atom.arguments, span)
        if isinstance(atom, Made) and isinstance(atom.maker, Function) and atom.maker.facts.is_context_manager:
            facts = atom.maker.facts
            if facts.yield_grad and any(event.kind != ENTRY for event in facts.yield_grad):
                return frozenset().union(
                    *(
                        self.state.grad if event.kind == ENTRY else {event._replace(at=span)}
                        for event in facts.yield_grad
                    )
                )
            return None
        if isinstance(atom, Obj):
            cls = self.class_of(atom)
            enter = self.program.method(cls, "__enter__") if cls is not None else None
            if enter is not None and self.program.summarise(enter) and enter.exit_grad != enter.entry_grad:
                return frozenset().union(
                    *(
                        self.state.grad if event.kind == ENTRY else {event._replace(at=span)}
                        for event in enter.exit_grad
                    )
                )
        return None

    def _is_calm(self, context: Value, node: ast.expr) -> bool:
        """Whether a context manager is known to leave the grad mode alone."""
        return all(self._is_calm_atom(atom, node) for atom in context.atoms)

    def _is_calm_atom(self, atom: object, node: ast.expr) -> bool:
        if isinstance(atom, Obj):
            cls = self.class_of(atom)
            if cls is not None and self.program.method(cls, "__enter__") is not None:
                return True
        maker = atom.maker if isinstance(atom, Made) else atom
        if isinstance(maker, Function) and maker.facts.is_context_manager:
            return True
        if isinstance(maker, Dotted) and maker.name.partition(".")[0] in CALM_ROOTS:
            return True
        if isinstance(maker, Class):
            return self.program.method(maker.facts, "__enter__") is not None
        return is_calm(called_name(node))

    def _enter_manager(self, context: Value, node: ast.expr) -> Value:
        """What a manager of the project does to modes when it is entered happens; the result is what ``as`` binds."""
        only = context.only
        if isinstance(only, Made) and (only, YIELDED) in self.state.heap:
            return self.state.heap[(only, YIELDED)]
        entered = self._run_method(context, "__enter__", node)
        return context if entered is None else entered

    def _leave_manager(self, context: Value, node: ast.expr) -> None:
        """What a manager does after its ``yield``, or in its ``__exit__``, happens when the block ends."""
        for atom in context.atoms:
            if isinstance(atom, Made) and isinstance(atom.maker, Function) and atom.maker.facts.is_context_manager:
                kept = self.state.grad
                if isinstance(node, ast.Call):
                    self.replay_exit(node, atom.maker.facts)
                self.state.grad = kept
        self._run_method(context, "__exit__", node)

    def _run_method(self, context: Value, name: str, node: ast.expr) -> Value | None:
        """Call a method of the one object that a manager is, the grad mode aside; None where the project has none."""
        only = context.only
        cls = self.class_of(only) if isinstance(only, Made) else None
        method = self.program.method(cls, name) if cls is not None else None
        if method is None or method.kind != "method" or not isinstance(only, Made):
            return None
        kept = self.state.grad
        value = self.enter(node, Function(method, only), Arguments())
        self.state.grad = kept
        return value

    # -- modes that are set ---------------------------------------------------------------

    def note_mode(self, span: Span, kind: str, objects: frozenset[Obj]) -> None:
        """Write down that a mode is set here, for the questions that need its place."""
        known = self.facts.mode_sets.get(span)
        if known is None:
            self.facts.mode_sets[span] = ModeSet(self.facts, span, kind, objects)
        else:
            known.objects |= objects
            known.kind = kind if known.kind == kind else "open"


def guard_name(atom: Atom | None) -> str:
    """The name of the guard that an object was made by calling; empty where it is none."""
    if isinstance(atom, Made) and isinstance(atom.maker, Dotted) and atom.maker.name in SWITCHES:
        return atom.maker.name
    return ""


def _holds_stack(context: Value) -> bool:
    return any(
        isinstance(atom, Made) and isinstance(atom.maker, Dotted) and atom.maker.name.endswith("ExitStack")
        for atom in context.atoms
    )
