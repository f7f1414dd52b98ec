"""Lists, dicts, tables and comprehensions: what they hold, by item where the item is known."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .summaries import Summaries
from .values import (
    ANY,
    NOTHING,
    Arguments,
    Class,
    Const,
    Dotted,
    Function,
    Imported,
    Made,
    Obj,
    Outer,
    Part,
    Partial,
    Self,
    Value,
    constant,
    join_all,
    value_of,
)

MOST_ITEMS = 200  # items of one display that are told apart
DATA = (ast.Constant, ast.UnaryOp, ast.List, ast.Tuple, ast.Dict)  # what large tables are made of


class Displays(Summaries):
    """Evaluates displays, subscripts and comprehensions."""

    def eval(self, node: ast.expr) -> Value:
        """See ``expressions``."""
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a target; see ``assignments``."""
        raise NotImplementedError

    def _subscript(self, node: ast.Subscript) -> Value:
        holder = self.eval(node.value)
        index = self.eval(node.slice)
        if holder.atoms is ANY.atoms:
            return holder
        key = self.item_name(index)
        for obj in holder.objects():
            if isinstance(obj, Part) and isinstance(obj.parent, Self) and not key.startswith("['"):
                self.record_call(node, obj, Arguments((index,)), method="__getitem__")
        chosen = self._chosen_from_table(holder, key)
        if chosen is not None:
            return chosen
        found = join_all(self.attribute(obj, key) if not isinstance(obj, Dotted) else ANY for obj in holder.objects())
        if not found.atoms or len(found.atoms) != len(holder.atoms):
            found = found | ANY
        return found.with_origins(holder.derived) if holder.derived else found

    def _chosen_from_table(self, holder: Value, key: str) -> Value | None:
        """An item of a table of functions or classes at module level, of this file or another; None of other things."""
        symbol = holder.only
        table: Value | None = None
        if isinstance(symbol, Outer) and symbol.scope.is_module:
            table = self.program.scope_value(symbol.scope, symbol.name)
        elif isinstance(symbol, Imported):
            table = self.program.resolve(symbol)
        display = table.only if table is not None else None
        if not isinstance(display, Made) or display.maker is not None:
            return None
        items = self.program.items(display)
        chosen = items.get(key) or join_all(items.values())
        is_callable = all(isinstance(atom, (Function, Class, Partial, Imported)) for atom in chosen.atoms)
        return chosen if chosen.atoms and is_callable else None

    def item_name(self, index: Value) -> str:
        """The name of the part that a subscript speaks of: ``['key']``, ``[0]``, or ``[]`` for any."""
        only = index.only
        if isinstance(only, Const) and isinstance(only.value, (str, int)):
            return f"[{only.value!r}]"
        return "[]"

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        made = self.make(node, None)
        elements = NOTHING
        for position, element in enumerate(node.elts):
            if position >= MOST_ITEMS and isinstance(element, DATA):
                elements = elements | ANY  # a table of numbers
                continue
            if isinstance(element, ast.Starred):
                elements = elements | self.element_of(self.eval(element.value))
                continue
            value = self.eval(element)
            elements = elements | value
            if position < 8 and not isinstance(node, ast.Set):
                self.state.heap[(made, f"[{position}]")] = value
        self.state.heap[(made, "[]")] = self.module.elements[(made, "[]")] = elements
        return value_of(made)

    def _dict(self, node: ast.Dict) -> Value:
        made = self.make(node, None)
        self.state.heap[(made, "{}")] = constant(True)
        for position, (key, item) in enumerate(zip(node.keys, node.values, strict=True)):
            if position >= MOST_ITEMS and isinstance(key, ast.Constant):
                if not isinstance(item, DATA):
                    self.eval(item)
                self.state.heap[(made, "?")] = ANY
                continue
            value = self.eval(item)
            if key is None:
                self.merge_dict(made, value)
            else:
                self.set_item(made, self.eval(key), value)
        return value_of(made)

    def set_item(self, holder: Obj, key: Value, value: Value, weak: bool = False) -> None:
        """``holder[key] = value``; where the key is not known every item may be the one."""
        name = self.item_name(key)
        self.set_attribute(holder, name, value, weak or name == "[]")

    def merge_dict(self, target: Obj, other: Value) -> None:
        """``target.update(other)``: the known items of a dict made here; anything of another."""
        for atom in other.atoms:
            items = self.dict_items(atom)
            if items is None:
                self.state.heap[(target, "?")] = ANY
            else:
                for name, value in items.items():
                    self.set_attribute(target, name, value)

    def dict_items(self, atom: object) -> dict[str, Value] | None:
        """The items of a dict that this function or the module made, by part name; None where there may be others."""
        heap = self.state.heap
        if isinstance(atom, Outer) and self.program.assigned_once(atom.scope, atom.name):  # a constant of the module
            heap = self.program.scope_heap(atom.scope)
            held = self.program.scope_value(atom.scope, atom.name)
            atom = held.only if held is not None else None
        if not isinstance(atom, Made) or (atom, "{}") not in heap:
            return None
        items = {name: value for (holder, name), value in heap.items() if holder is atom}
        if "?" in items or "[]" in items:
            return None
        return {name: value for name, value in items.items() if name != "{}"}

    def element_of(self, value: Value) -> Value:
        """What iterating over a value gives."""
        if value.atoms is ANY.atoms:
            return value
        found = NOTHING
        for atom in value.atoms:
            found = found | (self._element(atom) if isinstance(atom, Obj) and not isinstance(atom, Dotted) else ANY)
        return found.with_origins(value.derived) if value.derived else found

    def written_items(self, node: ast.expr, value: Value) -> list[Value] | None:
        """The objects of a list or tuple that is written out at this place, in order; None where there may be others."""
        display, heap = value.only, self.state.heap
        if not isinstance(node, (ast.List, ast.Tuple)) or not isinstance(display, Made):
            return None
        items: list[Value] = []
        while (item := heap.get((display, f"[{len(items)}]"))) is not None:
            items.append(item)
        joined = join_all(items)
        return items if joined.objects() and joined == heap.get((display, "[]")) else None

    def _element(self, obj: Obj) -> Value:
        if isinstance(obj, Made) and obj.maker is None:
            items = [value for (holder, name), value in self.state.heap.items() if holder is obj and name[0] == "["]
            return join_all(items) if items else ANY
        return self.attribute(obj, "[]")

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        return self._collected(node, node.elt)

    def _dict_comprehension(self, node: ast.DictComp) -> Value:
        return self._collected(node, node.value, node.key)

    def _collected(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, element: ast.expr, *others: ast.expr
    ) -> Value:
        """What a comprehension makes; its own names end with it."""
        outer = self.state.env.copy()
        self.loop_depth += 1
        elements = NOTHING
        for _ in self._rounds(node.generators):
            for other in others:
                self.eval(other)
            elements = elements | self.eval(element)
        self.loop_depth -= 1
        self.state.env = outer
        made = self.make(node, None)
        self.state.heap[(made, "[]")] = self.module.elements[(made, "[]")] = elements
        return value_of(made)

    def _rounds(self, generators: list[ast.comprehension]) -> Iterator[None]:
        """Bind the targets: for each item of a list that is written out, else once for all elements."""
        first, *inner = generators
        iterated = self.eval(first.iter)
        items = self.written_items(first.iter, iterated) if not inner and not first.ifs else None
        for item in [self.element_of(iterated)] if items is None else items:
            self.assign(first.target, item)
            for test in first.ifs:
                self.eval(test)
            for generator in inner:
                self.assign(generator.target, self.element_of(self.eval(generator.iter)))
                for test in generator.ifs:
                    self.eval(test)
            yield
