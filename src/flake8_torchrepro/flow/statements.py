"""What statements do: the order of execution, joins where paths meet, loops until nothing changes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from .contexts import IDLE_GUARDS, guard_name
from .definitions import Definitions
from .facts import FunctionFacts
from .state import State
from .values import (
    ANY,
    Condition,
    Obj,
    Part,
    Value,
)

MOST_ROUNDS = 4


class Loop:
    """The loop around: the states that leave its body early."""

    __slots__ = ("breaks", "continues")

    def __init__(self) -> None:
        self.breaks: list[State] = []
        self.continues: list[State] = []


class Interpreter(Definitions):
    """Interprets one function from its entry to its exits."""

    def __init__(self, facts: FunctionFacts) -> None:
        super().__init__(facts, facts.bound)
        self.loops: list[Loop] = []
        self.returned: list[State] = []
        self.heads: dict[int, State] = {}

    def run(self, body: list[ast.stmt]) -> State:
        """Interpret a body; the state at the exits, joined."""
        self.block(body)
        exits = [*self.returned, self.state] if self.reachable else self.returned
        return _join(exits) or self.state

    def block(self, body: list[ast.stmt]) -> None:
        """Statements one after another, as far as they are reached."""
        for statement in body:
            if not self.reachable:
                return
            _EXECUTE.get(type(statement), Interpreter._pass)(self, statement)
            if self.tries:
                self._note_for_handlers()

    def _note_for_handlers(self) -> None:
        """An error may come after any statement of a ``try``: its handlers see what held there."""
        state, seen = self.state, self.tries[-1]
        left = [grad for grad, depth in self.guarded if depth >= len(self.tries)]
        if left:  # the error leaves the guards in the ``try``
            state = state.copy()
            state.grad = left[0]
        if state.grad != seen.grad or state.modes != seen.modes or state.frozen != seen.frozen:
            self.tries[-1] = seen | state

    def _pass(self, node: ast.stmt) -> None:
        """A statement that changes nothing that is followed."""

    def _expression(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        outer, self.dropped = self.dropped, node.value
        value = self.eval(node.value)
        self.dropped = outer
        if isinstance(node.value, ast.Attribute) and node.value.attr in ("eval", "train"):
            self.slip("not called", node.value, self.eval(node.value.value).objects(), node.value.attr)
        only = value.only
        if isinstance(node.value, ast.Call) and guard_name(only) in IDLE_GUARDS:
            self.facts.bare_guards = True
            self.slip("statement", node.value, name=guard_name(only))

    def _global(self, node: ast.Global) -> None:
        if not self.facts.is_module:
            self.local_globals.update(node.names)

    def _nonlocal(self, node: ast.Nonlocal) -> None:
        self.nonlocals.update(node.names)

    # -- branches and loops ---------------------------------------------------------------

    def _if(self, node: ast.If) -> None:
        if _is_main_guard(node.test):
            self.block(node.body)
            return
        holding, failing = self.branch_conditions(node.test)
        before = self.state
        self.state = before.copy()
        self._guarded_block(node.body, holding)
        after, reached = self.state, self.reachable
        self.state, self.reachable = before, True
        self._guarded_block(node.orelse, failing)
        if reached:
            self.state = self.state | after if self.reachable else after
            self.reachable = True

    def _guarded_block(self, body: list[ast.stmt], conditions: list[Condition]) -> None:
        self.conditions += conditions
        self.block(body)
        if conditions:
            del self.conditions[-len(conditions) :]

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        iterated = self.eval(node.iter)
        items = self.written_items(node.iter, iterated)
        if items is not None and not node.orelse and all(isinstance(s, (ast.Expr, ast.Assign)) for s in node.body):
            self._for_each(node, items)
            return

        def head() -> None:
            self.assign(node.target, self.element_of(iterated))

        elements = [obj for obj in self.element_of(iterated).objects() if isinstance(obj, Part)]
        self._loop(node, head, node.body, node.orelse, endless=False, elements=elements)

    def _for_each(self, node: ast.For | ast.AsyncFor, items: list[Value]) -> None:
        """``for net in (generator, critic): net.eval()``: each item in its turn, so that what is done is done to all."""
        self.loop_depth += 1
        for item in items:
            self.assign(node.target, item)
            self.block(node.body)
        self.loop_depth -= 1

    def _while(self, node: ast.While) -> None:
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        self._loop(node, lambda: self.eval(node.test), node.body, node.orelse, endless)

    def _loop(
        self,
        node: ast.stmt,
        head: Callable[[], object],
        body: list[ast.stmt],
        orelse: list[ast.stmt],
        endless: bool,
        elements: Iterable[Obj] = (),
    ) -> None:
        """Repeat until the state at the head is stable; it is kept for the next round of a loop around this one.

        ``elements`` are what is looped over: behind the loop each of them is as the body left it.
        """
        known = self.heads.get(id(node))
        at_head = self.state if known is None else self.state | known
        self.loop_depth += 1
        for _ in range(MOST_ROUNDS):
            loop = Loop()
            self.loops.append(loop)
            self.state, self.reachable = at_head.copy(), True
            head()
            self.block(body)
            self.loops.pop()
            back = [*loop.continues, self.state] if self.reachable else loop.continues
            joined = _join([at_head, *back])
            if joined is None or joined == at_head:
                break
            at_head = joined
        self.loop_depth -= 1
        self.heads[id(node)] = at_head
        self.state, self.reachable = at_head.copy(), not endless
        done = _join(back)
        if done is not None and not loop.breaks:
            for obj in elements:
                if obj in done.modes:
                    self.state.set_mode(obj, done.modes[obj])
        if self.reachable:
            self.block(orelse)
        exits = [*loop.breaks, self.state] if self.reachable else loop.breaks
        left = _join(exits)
        self.reachable = left is not None
        self.state = left if left is not None else self.state

    def exit_lists(self) -> list[list[State]]:
        """The states that leave the block at hand early, by kind of exit."""
        return [self.returned, *(states for loop in self.loops for states in (loop.breaks, loop.continues))]

    def _break(self, node: ast.Break) -> None:
        if self.loops:
            self.loops[-1].breaks.append(self.state)
        self.reachable = False

    def _continue(self, node: ast.Continue) -> None:
        if self.loops:
            self.loops[-1].continues.append(self.state)
        self.reachable = False

    def _return(self, node: ast.Return) -> None:
        value = self.eval(node.value) if node.value is not None else self.program.constant(None)
        self.give_back(value)
        self.returned.append(self.state)
        self.reachable = False

    def give_back(self, value: Value) -> None:
        """The function returns this value."""
        self.facts.returns = self.facts.returns | value.with_origins(self._element_origins(value))
        self.note_escape(self.origins(value), "returned")

    def _element_origins(self, value: Value) -> frozenset[Any]:
        return frozenset(origin for origin in self.origins(value) if not isinstance(origin, Obj)) | value.derived

    def _raise(self, node: ast.Raise) -> None:
        if node.exc is not None:
            self.dropped = node.exc  # the exception carries what it is made of
            self.note_escape(self.origins(self.eval(node.exc)), "passed")
            self.dropped = None
        self.reachable = False

    def _assert(self, node: ast.Assert) -> None:
        self.eval(node.test)

    def _match(self, node: ast.Match) -> None:
        subject = self.eval(node.subject)
        before, exits = self.state, []
        for case in node.cases:
            self.state, self.reachable = before.copy(), True
            for pattern in ast.walk(case.pattern):
                name = getattr(pattern, "name", None)
                if isinstance(name, str):
                    self.bind_name(name, ANY.with_origins(subject.derived))
            if case.guard is not None:
                self.eval(case.guard)
            self.block(case.body)
            if self.reachable:
                exits.append(self.state)
        takes_all = any(_is_wildcard(case) for case in node.cases)
        left = _join(exits if takes_all else [before, *exits])
        self.state, self.reachable = left or before, left is not None

    # -- try and with ---------------------------------------------------------------

    def _try(self, node: ast.Try) -> None:
        if not node.finalbody:
            self._try_body(node)
            return
        outer_loops, outer_returned = self.loops, self.returned
        self.loops = [Loop() for _ in outer_loops]
        self.returned = []
        self._try_body(node)
        self._finally(node, outer_loops, outer_returned)

    def _try_body(self, node: ast.Try) -> None:
        self.tries.append(self.state.copy())
        self.block(node.body)
        in_handler = self.tries.pop()
        if self.tries:
            self.tries[-1] = self.tries[-1] | in_handler
        if self.reachable:
            self.block(node.orelse)
        exits = [self.state] if self.reachable else []
        for handler in node.handlers:
            self.state, self.reachable = in_handler.copy(), True
            if handler.name:
                self.bind_name(handler.name, ANY)
            self.block(handler.body)
            if self.reachable:
                exits.append(self.state)
        left = _join(exits)
        self.reachable = left is not None
        self.state = left if left is not None else in_handler

    def _finally(self, node: ast.Try, outer_loops: list[Loop], outer_returned: list[State]) -> None:
        """``finally`` runs once, on the join of all ways out; what it leaves is taken by each of them."""
        falls_through, inner_loops, returned = self.reachable, self.loops, self.returned
        breaks = [state for loop in inner_loops for state in loop.breaks]
        continues = [state for loop in inner_loops for state in loop.continues]
        ways = [*returned, *breaks, *continues, *([self.state] if falls_through else [])]
        self.loops, self.returned = outer_loops, outer_returned
        self.state, self.reachable = (_join(ways) or self.state).copy(), True
        self.block(node.finalbody)
        if not self.reachable:
            return
        if returned:
            self.returned.append(self.state.copy())
        for outer, inner in zip(outer_loops, inner_loops, strict=True):
            outer.breaks += [self.state.copy()] if inner.breaks else []
            outer.continues += [self.state.copy()] if inner.continues else []
        self.reachable = falls_through


def _join(states: list[State]) -> State | None:
    joined = None
    for state in states:
        joined = state if joined is None else joined | state
    return joined


def _is_wildcard(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None


def _is_main_guard(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
        and isinstance(test.ops[0], ast.Eq)
    )


_EXECUTE: dict[type[ast.stmt], Callable[[Any, Any], None]] = {
    ast.Expr: Interpreter._expression,
    ast.Assign: Interpreter._assign,
    ast.AnnAssign: Interpreter._annotated,
    ast.AugAssign: Interpreter._augmented,
    ast.Delete: Interpreter._delete,
    ast.Global: Interpreter._global,
    ast.Nonlocal: Interpreter._nonlocal,
    ast.If: Interpreter._if,
    ast.For: Interpreter._for,
    ast.AsyncFor: Interpreter._for,
    ast.While: Interpreter._while,
    ast.Break: Interpreter._break,
    ast.Continue: Interpreter._continue,
    ast.Return: Interpreter._return,
    ast.Raise: Interpreter._raise,
    ast.Assert: Interpreter._assert,
    ast.Match: Interpreter._match,
    ast.Try: Interpreter._try,
    ast.With: Interpreter._with,
    ast.AsyncWith: Interpreter._with,
    ast.FunctionDef: Interpreter.define,
    ast.AsyncFunctionDef: Interpreter.define,
    ast.ClassDef: Interpreter.define_class,
    ast.Import: Interpreter.import_,
    ast.ImportFrom: Interpreter.import_from,
}
if hasattr(ast, "TryStar"):
    _EXECUTE[ast.TryStar] = Interpreter._try
