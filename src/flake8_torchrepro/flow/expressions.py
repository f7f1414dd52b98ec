"""What expressions evaluate to."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from ..torch_api.grad import PLAIN_ATTRIBUTES
from .displays import Displays
from .frame import place
from .state import NO_EVENTS
from .values import (
    ANY,
    NO_ORIGINS,
    NOTHING,
    Arguments,
    Choice,
    Class,
    Condition,
    Const,
    Dotted,
    Function,
    Imported,
    Made,
    Obj,
    Part,
    Value,
    constant,
    join_all,
    unknown_from,
    value_of,
)

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Is: "==",
    ast.IsNot: "!=",
}


class Expressions(Displays):
    """Evaluates expressions. Calls are in ``calls``."""

    def eval(self, node: ast.expr) -> Value:
        """The value of an expression; its effects happen."""
        return _EVALUATE.get(type(node), Expressions._other)(self, node)

    def _constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, (bytes, complex)) or (isinstance(node.value, str) and len(node.value) > 200):
            return ANY
        return self.program.constant(node.value)

    def _name(self, node: ast.Name) -> Value:
        return self.state.env.get(node.id) or self.outer_name(node.id)

    def _attribute(self, node: ast.Attribute) -> Value:
        holder = self.eval(node.value)
        return self.attribute_of(holder, node.attr, node)

    def attribute_of(self, holder: Value, name: str, node: ast.expr) -> Value:
        """``holder.name``: the parts of each thing that the holder may be."""
        if holder.atoms is ANY.atoms:
            return ANY if not holder.derived or name in PLAIN_ATTRIBUTES else holder
        if name == "module":  # what DataParallel wraps is the same module
            return holder
        found = NOTHING
        for atom in holder.atoms:
            found = found | self._attribute_of_atom(atom, name, node)
        if name in PLAIN_ATTRIBUTES:
            return Value(found.atoms) if found.derived else found
        return found.with_origins(holder.derived) if holder.derived else found

    def _attribute_of_atom(self, atom: object, name: str, node: ast.expr) -> Value:
        if isinstance(atom, Dotted):
            stored = self.state.heap.get((atom, name))
            if stored is not None:
                return stored
            if isinstance(atom, Imported):
                return value_of(self.program.member(atom, name))
            return self.dotted(f"{atom.name}.{name}")
        if isinstance(atom, Class):
            method = self.program.method(atom.facts, name)
            if method is not None:
                return value_of(Function(method))
            return self.program.class_attribute(atom.facts, name) or ANY
        if isinstance(atom, Obj):
            if (atom, name) in self.state.heap:
                return self.state.heap[(atom, name)]
            return self._attribute_of_object(atom, name, node)
        return ANY

    def _attribute_of_object(self, obj: Obj, name: str, node: ast.expr) -> Value:
        if name == "training":  # read in order to be restored, perhaps
            self.saved_modes[obj] = self.saved_modes.get(obj, NO_EVENTS) | self.state.mode(obj)
            return value_of(obj.part(name))
        cls = self.class_of(obj)
        if cls is not None:
            method = self.program.method(cls, name, near=not self.state.modes)
            if method is not None and method.kind == "property":
                return self.enter(node, Function(method, obj), Arguments())
            if method is not None:
                return value_of(Function(method, obj))
            shared = self.program.class_attribute(cls, name)
            if shared is not None:
                return shared | value_of(obj.part(name))
        return self.attribute(obj, name)

    def _lambda(self, node: ast.Lambda) -> Value:
        return value_of(Function(self.program.define_lambda(self, node)))

    # -- operators ---------------------------------------------------------------

    def _binary(self, node: ast.BinOp) -> Value:
        left, right = self.eval(node.left), self.eval(node.right)
        a, b = left.only, right.only
        if isinstance(a, Const) and isinstance(b, Const):
            return self._fold(type(node.op), a, b)
        return unknown_from(self.origins_of_all((left, right)))

    def _fold(self, op: type[ast.operator], left: Const, right: Const) -> Value:
        if op is ast.Pow and isinstance(right.value, int) and 0 <= right.value <= 64 and isinstance(left.value, int):
            return constant(left.value**right.value, left.sure and right.sure)
        compute = BINARY.get(op)
        if compute is None or not all(isinstance(c.value, (int, float)) for c in (left, right)):
            return ANY
        try:
            return constant(compute(left.value, right.value), left.sure and right.sure)
        except (ArithmeticError, ValueError):
            return ANY

    def _unary(self, node: ast.UnaryOp) -> Value:
        value = self.eval(node.operand)
        only = value.only
        if isinstance(only, Const):
            if isinstance(node.op, ast.Not):
                return constant(not only.value, only.sure)
            if isinstance(node.op, ast.USub) and isinstance(only.value, (int, float)):
                return constant(-only.value, only.sure)
        if isinstance(node.op, ast.Not):
            return ANY
        return unknown_from(self.origins(value))

    def _boolean(self, node: ast.BoolOp) -> Value:
        values = [self.eval(node.values[0])]
        for operand in node.values[1:]:
            if _is_plain(operand):
                values.append(self.eval(operand))
            else:  # it may not be reached
                before = self.state.copy()
                values.append(self.eval(operand))
                self.state = self.state | before
        return join_all(values)

    def _compare(self, node: ast.Compare) -> Value:
        self.eval(node.left)
        for operand in node.comparators:
            self.eval(operand)
        return ANY

    def _conditional(self, node: ast.IfExp) -> Value:
        condition = self.condition(node.test)
        if _is_plain(node.body) and _is_plain(node.orelse):
            then, orelse = self.eval(node.body), self.eval(node.orelse)
        else:
            before = self.state.copy()
            then = self.eval(node.body)
            after, self.state = self.state, before
            orelse = self.eval(node.orelse)
            self.state = self.state | after
        if condition is None or then.derived or orelse.derived:
            return then | orelse
        if isinstance(then.only, Made) or isinstance(orelse.only, Made):
            return then | orelse
        return value_of(Choice(condition, then, orelse))

    def branch_conditions(self, node: ast.expr) -> tuple[list[Condition], list[Condition]]:
        """What must hold in the body of an ``if``, and what in its ``else``, as far as constants can decide it."""
        if isinstance(node, ast.BoolOp):
            parts = [found for operand in node.values if (found := self.condition(operand)) is not None]
            return (parts, []) if isinstance(node.op, ast.And) else ([], [negated(part) for part in parts])
        found = self.condition(node)
        return ([found], [negated(found)]) if found is not None else ([], [])

    def condition(self, node: ast.expr) -> Condition | None:
        """The test as something that constants can decide; its effects happen. None where it is of another kind."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.condition(node.operand)
            return negated(inner) if inner is not None else None
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            left, right = self.eval(node.left), self.eval(node.comparators[0])
            return Condition(left, COMPARISONS[type(node.ops[0])], right)
        value = self.eval(node)
        if isinstance(node, (ast.Name, ast.Attribute, ast.Constant)):
            return Condition(value, "truth", NOTHING)
        return None

    def _joined_string(self, node: ast.JoinedStr) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.eval(part.value)
        return ANY

    def _slice(self, node: ast.Slice) -> Value:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.eval(part)
        return ANY

    def _walrus(self, node: ast.NamedExpr) -> Value:
        value = self.eval(node.value)
        self.assign(node.target, value)
        return value

    def _await(self, node: ast.Await) -> Value:
        return self.eval(node.value)

    def _yield(self, node: ast.Yield) -> Value:
        value = self.eval(node.value) if node.value is not None else NOTHING
        self.note_yield(value)
        return ANY

    def _yield_from(self, node: ast.YieldFrom) -> Value:
        self.note_yield(self.element_of(self.eval(node.value)))
        return ANY

    def note_yield(self, value: Value) -> None:
        """A value is handed to the consumer, who runs on with the modes of this point."""
        facts = self.facts
        facts.is_generator = True
        facts.yields = facts.yields | value
        facts.yield_grad = facts.yield_grad | self.state.grad
        for obj, events in self.state.modes.items():
            known = facts.yield_modes.get(obj)
            facts.yield_modes[obj] = events if known is None else known | events
        self.note_escape(self.origins(value), "yielded")

    def _starred(self, node: ast.Starred) -> Value:
        return self.eval(node.value)

    def _other(self, node: ast.expr) -> Value:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.eval(child)
        return ANY

    def _call(self, node: ast.Call) -> Value:
        raise NotImplementedError


def _is_plain(node: ast.expr) -> bool:
    """Whether evaluating an expression surely changes nothing."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, (ast.Name, ast.Constant))


def negated(condition: Condition) -> Condition:
    """The condition that holds where this one fails."""
    return condition._replace(holds=not condition.holds)


_EVALUATE: dict[type[ast.expr], Callable[[Any, Any], Value]] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.Subscript: Expressions._subscript,
    ast.List: Expressions._sequence,
    ast.Tuple: Expressions._sequence,
    ast.Set: Expressions._sequence,
    ast.Dict: Expressions._dict,
    ast.ListComp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.DictComp: Expressions._dict_comprehension,
    ast.Lambda: Expressions._lambda,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.BoolOp: Expressions._boolean,
    ast.Compare: Expressions._compare,
    ast.IfExp: Expressions._conditional,
    ast.JoinedStr: Expressions._joined_string,
    ast.Slice: Expressions._slice,
    ast.NamedExpr: Expressions._walrus,
    ast.Await: Expressions._await,
    ast.Yield: Expressions._yield,
    ast.YieldFrom: Expressions._yield_from,
    ast.Starred: Expressions._starred,
    ast.Call: lambda self, node: self._call(node),
}

__all__ = ["NO_ORIGINS", "Expressions", "Part", "place"]
