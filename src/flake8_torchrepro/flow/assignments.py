"""What assignments bind: names, attributes, items, and the settings and parameters behind them."""

from __future__ import annotations

import ast

from ..torch_api.modules import DATASET_WRAPPERS
from ..torch_api.settings import CUDNN, FUNCTIONS_ASSIGNED
from .methods import Methods
from .values import ANY, LEAF, NOTHING, Const, Dotted, Made, Obj, Outer, Param, Part, Self, Value, flag_of, value_of


class Assignments(Methods):
    """Executes assignments."""

    def _assign(self, node: ast.Assign) -> None:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
            self._assign_pairs(node, node.targets[0], node.value)
            return
        value = self.eval(node.value)
        for target in node.targets:
            self.assign(target, value, node)

    def _assign_pairs(self, node: ast.stmt, targets: ast.Tuple, values: ast.Tuple) -> None:
        if len(targets.elts) != len(values.elts) or any(
            isinstance(item, ast.Starred) for item in (*targets.elts, *values.elts)
        ):
            self.assign(targets, self.eval(values), node)
            return
        evaluated = [self.eval(item) for item in values.elts]
        for target, value in zip(targets.elts, evaluated, strict=True):
            self.assign(target, value, node)

    def assign(self, target: ast.expr, value: Value, statement: ast.stmt | None = None) -> None:
        """Bind a target of an assignment, a loop, a ``with`` or a comprehension."""
        if isinstance(target, ast.Name):
            self.bind_name(target.id, value)
        elif isinstance(target, ast.Attribute):
            self._assign_attribute(target, value)
        elif isinstance(target, ast.Subscript):
            self._assign_item(target, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, unpacked(value))

    def _assign_attribute(self, target: ast.Attribute, value: Value) -> None:
        holder = self.eval(target.value)
        name = target.attr
        if name == "requires_grad":
            self._assign_requires_grad(target, holder, value)
            return
        if name == "volatile" and flag_of(value, False):  # such inputs built no graph before torch 0.4
            self.assign(target.value, holder.with_origins(frozenset((LEAF,))))
            return
        for atom in holder.atoms:
            if isinstance(atom, Dotted):
                self._assign_global(target, f"{atom.name}.{name}", value)
            elif isinstance(atom, Obj):
                if name == "training" and isinstance(value.only, Const) and not isinstance(atom, Self):
                    self.slip("training assigned", target, (atom,), repr(value.only.value))
                self.set_attribute(atom, name, value, weak=len(holder.atoms) > 1)
                if isinstance(atom.root, Self) or not isinstance(atom.root, Made):
                    self.note_escape(self.origins(value), "stored")
        if isinstance(target.value, (ast.Attribute, ast.Name)) and name == "data":
            return

    def _assign_global(self, target: ast.Attribute, dotted: str, value: Value) -> None:
        """An attribute of an imported module: perhaps a global setting."""
        if dotted.startswith(CUDNN + ".") or dotted in FUNCTIONS_ASSIGNED:
            self.record_setting(target, dotted, value)

    def _assign_requires_grad(self, target: ast.Attribute, holder: Value, value: Value) -> None:
        only = value.only
        if isinstance(only, Const) and only.value is False:
            self.freeze(holder)
        elif (
            not (isinstance(only, Const) and only.value is None)
            and isinstance(target.value, (ast.Name, ast.Attribute, ast.Subscript))
            and not _is_parameter(holder)
        ):
            self.assign(target.value, holder.with_origins(frozenset((LEAF,))))

    def _assign_item(self, target: ast.Subscript, value: Value) -> None:
        holder, index = self.eval(target.value), self.eval(target.slice)
        for atom in holder.atoms:
            if isinstance(atom, Dotted):
                if atom.name == "os.environ" and isinstance(index.only, Const):
                    self.record_setting(target, f"env:{index.only.value}", value)
            elif isinstance(atom, Obj):
                self.set_item(atom, index, value, weak=len(holder.atoms) > 1)
                if not isinstance(atom.root, Made):
                    self.note_escape(self.origins(value), "stored")
        if holder.atoms is ANY.atoms and not holder.derived:  # ``globals()["y"] = y``
            self.note_escape(self.origins(value), "stored")
        if value.derived and holder.atoms is ANY.atoms and isinstance(target.value, (ast.Name, ast.Attribute)):
            self.assign(target.value, holder.with_origins(value.derived))

    def _unpack(self, target: ast.Tuple | ast.List, value: Value) -> None:
        for position, element in enumerate(target.elts):
            if isinstance(element, ast.Starred):
                self.assign(element.value, unpacked(value))
            else:
                self.assign(element, self._item(value, position))

    def _item(self, value: Value, position: int) -> Value:
        if value.atoms is ANY.atoms:
            return value
        found = NOTHING
        for atom in value.atoms:
            if isinstance(atom, Made) and atom.maker is None:
                item = self.state.heap.get((atom, f"[{position}]"))
                found = found | (item if item is not None else self.element_of(value_of(atom)))
            elif isinstance(atom, Made) and isinstance(atom.maker, Dotted) and atom.maker.name in DATASET_WRAPPERS:
                found = found | value_of(atom)  # each split draws what the whole draws
            elif isinstance(atom, Obj):
                # Tuples that loops hand out (name, parameter): each element may stand for the whole.
                found = found | value_of(atom if atom_is_parameters(atom) else atom.part(f"[{position}]"))
            else:
                found = found | ANY
        return found.with_origins(value.derived) if value.derived else found

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.eval(node.value), node)

    def _augmented(self, node: ast.AugAssign) -> None:
        target = node.target
        before = self.lookup(target.id) if isinstance(target, ast.Name) else self.eval(target)
        added = self.eval(node.value)
        if isinstance(before.only, Made) and before.only.maker is None:  # list += list
            self.state.heap[(before.only, "[]")] = self.element_of(before) | self.element_of(added)
            return
        folded = ANY
        if isinstance(before.only, Const) and isinstance(added.only, Const) and not self.loop_depth:
            folded = self._fold(type(node.op), before.only, added.only)
        if any(isinstance(obj.root, (Param, Outer, Self)) for obj in before.objects()):
            self.note_escape(self.origins(added), "stored")  # tensors and lists are changed in place
        self.assign(node.target, folded.with_origins(self.origins_of_all((before, added))), node)

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.state.env.pop(target.id, None)


def unpacked(value: Value) -> Value:
    """What a starred target gets: some of the elements."""
    return ANY.with_origins(value.derived)


def atom_is_parameters(obj: Obj) -> bool:
    """Whether an object is (an element of) what ``parameters()`` of a module gives."""
    at = obj
    while isinstance(at, Part):
        if at.name == "parameters()":
            return True
        at = at.parent
    return False


def _is_parameter(holder: Value) -> bool:
    return any(atom_is_parameters(obj) for obj in holder.objects())
