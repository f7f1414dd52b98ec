"""Methods of lists, dicts, option parsers and wrappers: what they hold afterwards."""

from __future__ import annotations

import ast

from ..source import Span
from .frame import place
from .library import Library
from .values import (
    ANY,
    NOTHING,
    Arguments,
    Const,
    Dotted,
    Imported,
    Made,
    Value,
    assumed,
    constant,
    join_all,
    unknown_from,
    value_of,
)

CONTAINER_ADDS = frozenset({"append", "add", "extend", "insert", "appendleft", "put"})


class Containers(Library):
    """Evaluates methods that put things into other things, or take them out."""

    def _add(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        """``append`` and its like: weakly, since one element stands for all."""
        given = arguments.positional[-1:] if name == "insert" else arguments.positional
        value = join_all(self.element_of(v) if name == "extend" else v for v in given)
        for obj in receiver.objects():
            if isinstance(obj, Made) and obj.maker is None:
                self.state.heap[(obj, "[]")] = self.state.heap.get((obj, "[]"), NOTHING) | value
            elif not isinstance(obj, Dotted):
                self.set_attribute(obj, "[]", value, weak=True)
                self.note_escape(self.origins(value), "stored")
        return ANY

    def _update(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        if isinstance(receiver.only, Dotted) and receiver.only.name == "os.environ":
            return self._environ(node, receiver, name, arguments)
        for obj in receiver.objects():
            for value in arguments.positional:
                self.merge_dict(obj, value)
            for key, value in arguments.keywords:
                self.set_attribute(obj, f"[{key!r}]", value)
            if arguments.open:
                self.state.heap[(obj, "?")] = ANY
        return unknown_from(self.origins_of_all(arguments.values()))

    def _set_default(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        for obj in receiver.objects():
            if len(arguments.positional) == 2:
                self.set_item(obj, arguments.positional[0], arguments.positional[1], weak=True)
        return ANY

    def _get(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        """``d.get(key, default)``: the item; a default that is used is only assumed."""
        if not arguments.positional:
            return unknown_from(receiver.derived)
        key = self.item_name(arguments.positional[0])
        found = join_all(self.attribute(obj, key) for obj in receiver.objects() if not isinstance(obj, Dotted))
        if len(arguments.positional) > 1:
            found = found | assumed(arguments.positional[1])
        return (found if found.atoms else ANY).with_origins(receiver.derived)

    def _items(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        if name == "keys":
            return ANY
        made = self.make(node, None)
        self.state.heap[(made, "[]")] = join_all(self.element_of(value_of(obj)) for obj in receiver.objects())
        return value_of(made).with_origins(receiver.derived)

    def _add_argument(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        """``parser.add_argument("--workers", default=4)``: the parser holds the option, its default is assumed."""
        flags = [
            v.only.value for v in arguments.positional if isinstance(v.only, Const) and isinstance(v.only.value, str)
        ]
        given = arguments.keyword("dest")
        if given is not None and isinstance(given.only, Const):
            flags = [str(given.only.value)]
        long = [flag for flag in flags if flag.startswith("--")] or flags
        if not long:
            return ANY
        option = long[0].lstrip("-").replace("-", "_")
        action = arguments.keyword("action")
        kind = action.only.value if action is not None and isinstance(action.only, Const) else None
        missing: object = {"store_true": False, "store_false": True}.get(str(kind)) if kind else None
        default = arguments.keyword("default")
        value = assumed(default) if default is not None else constant(missing, sure=False)
        for obj in receiver.objects():
            if option and (isinstance(obj, Imported) or not isinstance(obj, Dotted)):
                self.set_attribute(obj, option, value)
        return ANY

    def _receiver(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        """``parse_args`` and its like: the options are where the parser holds them."""
        return receiver

    def _parse_known(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        """``options, rest = parser.parse_known_args()``."""
        made = self.make(node, None)
        self.state.heap[(made, "[0]")] = receiver
        self.state.heap[(made, "[1]")] = ANY
        return value_of(made)

    def _prepare(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        if len(arguments.positional) == 1:
            return arguments.positional[0]
        made = self.make(node, None)
        for position, value in enumerate(arguments.positional):
            self.state.heap[(made, f"[{position}]")] = value
        self.state.heap[(made, "[]")] = join_all(arguments.positional)
        return value_of(made)

    def _enter_context(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        """``stack.enter_context(guard)`` and ``guard.__enter__()`` act until the end of the block around."""
        context = arguments.positional[0] if name == "enter_context" and arguments.positional else receiver
        self.enter_guard(context, place(node))
        return context

    def enter_guard(self, context: Value, span: Span, node: ast.expr | None = None) -> bool:
        """Enter a context manager; see ``statements``."""
        raise NotImplementedError

    def _hook(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        """A backward hook, or a forward hook handed a function, wants the graph."""
        for obj in receiver.objects():  # a forward hook may keep what it sees, with its graph
            self.facts.hooked.add(obj)
        if "backward" in name or name == "register_hook":
            self.need(receiver)
        for function in arguments.functions():
            function.facts.handed_by.add(self.module)
        return ANY
