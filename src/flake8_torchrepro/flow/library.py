"""What imported names do when they are called: torch, NumPy, the builtins, copies, environments."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..torch_api import grad as grad_api
from ..torch_api import modules as module_api
from ..torch_api import randomness
from ..torch_api.settings import CUDNN, DETERMINISM_CALLS, DETERMINISM_DEBUG, DETERMINISM_HELPERS
from .calls import UNRESOLVED, Calls
from .frame import place
from .state import OFF, ON, OPEN, Event, Events
from .values import (
    ANY,
    LEAF,
    NO_ORIGINS,
    Arguments,
    Const,
    Dotted,
    Imported,
    Made,
    Obj,
    Part,
    Partial,
    Value,
    constant,
    flag_of,
    join_all,
    unknown_from,
    value_of,
)

# Calls of imported names that rules ask for; the rest is not written down.
RECORDED = (
    frozenset(randomness.SEEDERS)
    | randomness.SEEDS_EVERYTHING
    | DETERMINISM_CALLS
    | frozenset(DETERMINISM_HELPERS)
    | frozenset(randomness.GENERATOR_CLASSES)
    | grad_api.SWITCHES
    | {DETERMINISM_DEBUG, module_api.DATA_LOADER, *module_api.RECURRENT, f"{CUDNN}.flags", f"{CUDNN}.set_flags"}
    | {f"{CUDNN}.deterministic", f"{CUDNN}.benchmark", f"{CUDNN}.enabled", "torch.initial_seed", "torch.seed"}
    | {"torch.utils.data.get_worker_info", "torch.get_rng_state", "numpy.random.get_state", "os.urandom"}
)
RECORDED_PREFIXES = ("numpy.random.", "random.")
TENSOR_LIBRARIES = (
    "torch.",
    "numpy.",
    "builtins.",
    "math.",
    "random.",
    "torchvision.transforms.",
    "scipy.",
    "sklearn.",
)
CONTEXT_HOMES = frozenset(
    {"torch.autograd.profiler", "torch.profiler", "torch.amp", "torch.cuda.amp", "torch.cuda", "torch.backends.cudnn"}
)


class Library(Calls):
    """Evaluates calls of imported names."""

    def _imported_call(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        name = callee.name
        if isinstance(callee, Imported):
            return self._project_call(node, callee, arguments)
        if name in RECORDED or name.startswith(RECORDED_PREFIXES) or name in randomness.TORCH_DRAWS:
            self.record_call(node, callee, arguments)
        handler = IMPORTED.get(name)
        if handler is not None:
            return handler(self, node, callee, arguments)
        if name in grad_api.LEAVES_GRAPH_CALLS:
            return self._number(name, arguments)
        if name in module_api.SAME_MODULE and arguments.positional:
            return arguments.positional[0]
        if name in grad_api.DIFFERENTIATES:
            self._differentiate_functions(arguments)
            for value in arguments.values():
                self.need(value)
            return ANY
        if grad_api.DIFFERENTIATES_FUNCTION.match(name):
            self._differentiate_functions(arguments)
        if name.startswith(TENSOR_LIBRARIES):
            return self._library_call(node, callee, arguments)
        last = name.rpartition(".")[2]
        if name.partition(".")[0] in grad_api.ATTRIBUTION_LIBRARIES:
            for value in arguments.values():
                self.need(value)
        if module_api.is_module_class(name):
            made = self.make(node, callee, arguments)
            return value_of(made)
        return self.unresolved(node, callee, last, arguments, NO_ORIGINS)

    def _number(self, name: str, arguments: Arguments) -> Value:
        """``int(x)`` of a constant or an option is that number; of a tensor it has left the graph."""
        if name not in ("builtins.int", "builtins.float") or len(arguments.positional) != 1:
            return ANY
        given = arguments.positional[0]
        return ANY if given.derived else given

    def _project_call(self, node: ast.expr, callee: Imported, arguments: Arguments) -> Value:
        """A call of something that another file of the project defines: that file is read only if it matters here."""
        call = self.record_call(node, callee, arguments)
        self.note_state(call, None)
        if self._matters(callee, arguments):
            found = self.program.resolve(callee)
            if found is not None and callee not in found.atoms:
                return self.apply(node, found, arguments)
        self._take_unresolved(node, callee.rest[-1] if callee.rest else "", arguments, NO_ORIGINS)
        made = self.make(node, callee, arguments)
        return Value(frozenset((made,)), self.origins_of_all(arguments.values()))

    def _matters(self, callee: Imported, arguments: Arguments) -> bool:
        """Whether a call may set modes or gradients: it is handed a module whose mode is known, or its file does such."""
        if self.is_eager or any(self._carries_mode(value) for value in arguments.values()):
            return True
        name = callee.rest[-1] if callee.rest else ""
        return not name[:1].isupper() and self.program.switches_modes(callee)

    def _carries_mode(self, value: Value) -> bool:
        if value.atoms is ANY.atoms or not self.state.modes:
            return False
        return any(
            self.has_mode(obj) or (isinstance(obj, Made) and obj.maker is None and self._holds_mode(obj))
            for obj in value.objects()
        )

    def _holds_mode(self, display: Made) -> bool:
        held = [value for (holder, _), value in self.state.heap.items() if holder is display]
        return any(self.has_mode(obj) for value in held for obj in value.objects())

    def _library_call(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        """A call into torch, NumPy or the builtins: it leaves modes alone; what it makes may be an object."""
        origins = self.origins_of_all(arguments.values())
        name = callee.name
        if (
            flag_of(arguments.get("requires_grad"), False) is True
            or flag_of(arguments.keyword("volatile"), False) is True
        ):
            origins |= {LEAF}  # (volatile inputs built no graph before torch 0.4: code that was right when written)
        last = name.rpartition(".")[2]
        if last == "Parameter":
            origins |= {LEAF}
        is_object = last[:1].isupper() or last == "load" or name in module_api.DATASET_WRAPPERS
        if is_object or name in randomness.GENERATOR_CLASSES or name in grad_api.SWITCHES:
            return Value(frozenset((self.make(node, callee, arguments),)), origins)
        if name.startswith("torch.") and name.rpartition(".")[0] in CONTEXT_HOMES:
            return value_of(self.make(node, callee, arguments))
        return unknown_from(origins)

    def _differentiate_functions(self, arguments: Arguments) -> None:
        for function in arguments.functions():
            function.facts.handed_by.add(self.module)
            self.program.differentiate(function.facts)

    def _switch_grad(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        """``torch.set_grad_enabled(x)`` acts at once, also as a statement."""
        self.state.grad = self.grad_of_switch(callee.name, arguments, place(node))
        return value_of(self.make(node, callee, arguments))

    def grad_of_switch(self, name: str, arguments: Arguments, span: object) -> Events:
        """The grad mode that a guard sets."""
        if name == "torch.no_grad":
            kind = OFF
        elif name == "torch.enable_grad":
            kind = ON
        else:
            flag = flag_of(arguments.get("mode", 0), True)
            on = flag if name == "torch.set_grad_enabled" else None if flag is None else not flag
            kind = OPEN if on is None else ON if on else OFF
        return frozenset((Event(kind, span, span, self.module.name),))  # type: ignore[arg-type]

    def _partial(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        if not arguments.positional:
            return ANY
        rest = arguments._replace(positional=arguments.positional[1:])
        for function in rest.functions():
            function.facts.handed_by.add(self.module)
        return value_of(Partial(arguments.positional[0], rest, place(node)))

    def _copy(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        """A copy of a module has the mode that the module has."""
        made = self.make(node, UNRESOLVED, arguments)
        if arguments.positional:
            original = arguments.positional[0]
            objects = original.objects()
            if objects:
                self.state.modes[made] = frozenset().union(*(self.state.mode(obj) for obj in objects))
                for part, events in list(self.state.modes.items()):
                    path = _path_below(part, objects[0]) if len(objects) == 1 else None
                    if path:
                        self.state.modes[_follow(made, path)] = events
                if self.may_be_frozen(frozenset(objects)):
                    self.state.frozen |= {made}
            return Value(frozenset((made,)), original.derived)
        return value_of(made)

    def _getattr(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        if len(arguments.positional) >= 2 and isinstance(arguments.positional[1].only, Const):
            name = arguments.positional[1].only.value
            if isinstance(name, str) and name:
                return self.attribute_of(arguments.positional[0], name, node)
        return unknown_from(self.origins_of_all(arguments.values()))

    def _vars(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        """``vars(options)`` holds what the options hold."""
        return arguments.positional[0] if arguments.positional else ANY

    def _setattr(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        if len(arguments.positional) != 3:
            return ANY
        holder, key, value = arguments.positional
        name = key.only.value if isinstance(key.only, Const) else None
        if not isinstance(name, str) or not name:
            return ANY
        for obj in holder.objects():
            if isinstance(obj, Dotted):
                self.record_setting(node, f"{obj.name}.{name}", value, "setattr")
            else:
                self.set_attribute(obj, name, value, weak=len(holder.atoms) > 1)
        return ANY

    def _dict_call(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        made = self.make(node, None)
        self.state.heap[(made, "{}")] = constant(True)
        if arguments.open or arguments.positional:
            for value in arguments.positional:
                self.merge_dict(made, value)
            if arguments.open:
                self.state.heap[(made, "?")] = ANY
        for name, value in arguments.keywords:
            self.set_attribute(made, f"[{name!r}]", value)
        return value_of(made)

    def _list_call(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        made = self.make(node, None)
        self.state.heap[(made, "[]")] = join_all(self.element_of(value) for value in arguments.positional)
        return value_of(made)

    def _iterate(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        """``enumerate``, ``zip``, ``tqdm`` and their like: the elements are elements of what they are given."""
        made = self.make(node, None)
        each = [self.element_of(value) for value in arguments.positional]
        if callee.name in ("builtins.enumerate", "builtins.zip"):
            each = [ANY, *each[:1]] if callee.name == "builtins.enumerate" else each
            elements = self._tuple(node, each)
        else:
            elements = join_all(each)
        self.state.heap[(made, "[]")] = elements if elements.atoms else ANY
        return value_of(made)

    def _tuple(self, node: ast.expr, items: list[Value]) -> Value:
        """The tuple that an iterator hands out each time."""
        key = (id(node), UNRESOLVED)
        made = self.made.get(key)
        if made is None:
            made = self.made[key] = Made(self.module.name, place(node), None)
        self.state.remake(made)
        for position, item in enumerate(items):
            self.state.heap[(made, f"[{position}]")] = item
        self.state.heap[(made, "[]")] = join_all(items)
        return value_of(made)

    def _next(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        return self.element_of(arguments.positional[0]) if arguments.positional else ANY

    def _map(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        if len(arguments.positional) >= 2:
            elements = tuple(self.element_of(value) for value in arguments.positional[1:])
            made = self.make(node, None)
            self.state.heap[(made, "[]")] = self.apply(node, arguments.positional[0], Arguments(elements))
            return value_of(made)
        return ANY

    def _run_async(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        return arguments.positional[0] if arguments.positional else ANY

    def _environ(self, node: ast.expr, receiver: Value, name: str, arguments: Arguments) -> Value:
        pairs = [(f"{key}", value) for key, value in arguments.keywords]
        if name in ("setdefault", "__setitem__", "putenv") and len(arguments.positional) == 2:
            first = arguments.positional[0].only
            if isinstance(first, Const):
                pairs.append((str(first.value), arguments.positional[1]))
        if name == "update" and arguments.positional:
            for atom in arguments.positional[0].atoms:
                pairs += [(item[2:-2], value) for item, value in (self.dict_items(atom) or {}).items()]
        for key, value in pairs:
            self.record_setting(node, f"env:{key}", value, "setdefault" if name == "setdefault" else "call")
        return ANY

    def _environ_call(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        return self._environ(node, ANY, callee.name.rpartition(".")[2], arguments)

    def _put_environment(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        return self._environ(node, ANY, "putenv", arguments)


def _path_below(part: Obj, top: Obj) -> list[str]:
    """The names that lead from an object to a part of it; none where it is no part of it."""
    names: list[str] = []
    at = part
    while isinstance(at, Part) and at is not top:
        names.append(at.name)
        at = at.parent
    return names[::-1] if at is top else []


def _follow(obj: Obj, path: list[str]) -> Obj:
    for name in path:
        obj = obj.part(name)
    return obj


IMPORTED: dict[str, Callable[[Any, ast.expr, Dotted, Arguments], Value]] = {
    "torch.set_grad_enabled": Library._switch_grad,
    "functools.partial": Library._partial,
    "copy.deepcopy": Library._copy,
    "copy.copy": Library._copy,
    "torch.jit.script": Library._copy,
    "torch.jit.trace": Library._copy,
    "torch.quantization.convert": Library._copy,
    "builtins.getattr": Library._getattr,
    "builtins.setattr": Library._setattr,
    "builtins.vars": Library._vars,
    "builtins.dict": Library._dict_call,
    **dict.fromkeys(("builtins.list", "builtins.tuple", "builtins.set", "builtins.sorted"), Library._list_call),
    **dict.fromkeys(
        (
            "builtins.enumerate",
            "builtins.zip",
            "builtins.reversed",
            "builtins.iter",
            "tqdm.tqdm",
            "tqdm.auto.tqdm",
            "tqdm.notebook.tqdm",
            "itertools.islice",
            "itertools.chain",
        ),
        Library._iterate,
    ),
    "builtins.next": Library._next,
    "builtins.map": Library._map,
    "asyncio.run": Library._run_async,
    "os.environ.setdefault": Library._environ_call,
    "os.environ.update": Library._environ_call,
    "os.environ.__setitem__": Library._environ_call,
    "os.putenv": Library._put_environment,
}
