"""Methods: modes, forward passes under other names, backward, and what a project's own class defines."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..patterns import Pattern
from ..torch_api import grad as grad_api
from ..torch_api import modules as module_api
from ..torch_api import randomness
from .calls import UNRESOLVED
from .containers import CONTAINER_ADDS, Containers
from .frame import place
from .state import EVAL, NO_EVENTS, OPEN, TRAIN, Event, Events
from .values import (
    ANY,
    LEAF,
    NO_ORIGINS,
    NOTHING,
    Arguments,
    Class,
    Dotted,
    Function,
    Imported,
    Made,
    Obj,
    Outer,
    Param,
    Part,
    Partial,
    Self,
    Value,
    flag_of,
    join_all,
    unknown_from,
    value_of,
)

CALM_METHODS = frozenset(
    "state_dict load_state_dict named_modules modules children named_children buffers register_buffer zero_grad"
    " size format join split strip lower upper startswith endswith replace write close read flush copy save"
    " add_scalar add_image log log_dict info debug warning error print reset add_graph watch view reshape permute"
    " transpose squeeze unsqueeze contiguous expand sum mean softmax log_softmax max min sqrt pow exp clamp flatten"
    " mul add sub div matmul cat stack index_select gather scatter masked_fill repeat chunk sort topk norm abs"
    " float half double cpu cuda t mm bmm dim add_module init_hidden reset_parameters children index count items"
    " decode batch_decode tokenize pad convert_ids_to_tokens convert_tokens_to_ids encode_plus batch_encode_plus".split()
)
TRAINS = Pattern(r"fit\w*|train_\w+|training_step|learn|optimize\w*|finetune|update_\w+|step_\w+|adapt\w*")


class Methods(Containers):
    """Evaluates calls of attributes."""

    def _method_call(self, node: ast.Call, func: ast.Attribute) -> Value:
        name = func.attr
        if isinstance(func.value, ast.Call) and isinstance(func.value.func, ast.Name) and func.value.func.id == "super":
            return self._super_call(node, name, self.arguments(node))
        receiver = self.eval(func.value).expanded()
        if isinstance(receiver.only, Dotted):
            callee = self.attribute_of(receiver, name, func)
            is_object = isinstance(receiver.only, Imported) and bool(receiver.only.rest)
            if is_object and name in METHODS and self.program.class_named(receiver.only) is None:
                return METHODS[name](self, node, receiver, name, self.arguments(node))
            if isinstance(receiver.only, Imported):
                return self.apply(node, callee, self.arguments(node))
            if isinstance(callee.only, Dotted) and name in ("eval", "train") and not _is_library(receiver.only.name):
                return self.set_mode(node, receiver, name, self.arguments(node))
            return self.apply(node, callee, self.arguments(node))
        arguments = self.arguments(node)
        if receiver.atoms is ANY.atoms:
            return self._method_of_unknown(node, receiver, name, arguments)
        own = self._own_methods(receiver, name)
        if own.atoms:
            return self._own_method_call(node, receiver, own, name, arguments)
        handler = METHODS.get(name)
        if handler is not None:
            return handler(self, node, receiver, name, arguments)
        return self._other_method(node, receiver, name, arguments)

    def _own_methods(self, receiver: Value, name: str) -> Value:
        """The project's methods of that name, of the classes that the receiver is known to have."""
        found = NOTHING
        for atom in receiver.atoms:
            if isinstance(atom, Class):
                method = self.program.method(atom.facts, name)
                bound = self.facts.owner.instance if self._is_base(atom) and self.facts.owner else None
                found = found | (value_of(Function(method, bound)) if method is not None else NOTHING)
            elif isinstance(atom, Obj):
                stored = self.state.heap.get((atom, name))
                if stored is not None and isinstance(stored.only, (Function, Partial, Class)):
                    found = found | stored
                    continue
                if name in METHODS and isinstance(atom, Made) and isinstance(atom.maker, Imported):
                    continue  # a mode method until the class is asked for
                cls = self.class_of(atom)
                method = self.program.method(cls, name, near=not self.state.modes) if cls is not None else None
                found = found | (value_of(Function(method, atom)) if method is not None else NOTHING)
        return found

    def _is_base(self, atom: Class) -> bool:
        return self.facts.owner is not None and atom.facts in self.program.near_ancestors(self.facts.owner)

    def _own_method_call(self, node: ast.Call, receiver: Value, own: Value, name: str, arguments: Arguments) -> Value:
        is_module = all(
            (cls := self.class_of(obj)) is not None and self.program.is_module_class(cls) for obj in receiver.objects()
        )
        if is_module and name in module_api.FORWARD_METHODS and receiver.objects():
            result = self.forward(node, frozenset(receiver.objects()), arguments, receiver.derived)
            self.hand_over(arguments, name)
            return result
        if is_module and name == "train" and _is_mode_call(arguments):
            self.set_mode(node, receiver, name, arguments)
            return self.apply(node, own, arguments) | receiver
        first = own.only
        if isinstance(first, Function) and first.facts.kind == "property":
            return self.apply(node, self.enter(node, first, Arguments()), arguments)
        if isinstance(node.func, ast.Attribute) and any(isinstance(atom, Class) for atom in receiver.atoms):
            return self._unbound_call(node, own, arguments)
        return self.apply(node, own, arguments)

    def _unbound_call(self, node: ast.Call, own: Value, arguments: Arguments) -> Value:
        """``Class.method(instance, ...)``: the first argument is the instance."""
        only = own.only
        if isinstance(only, Function) and only.facts.kind == "method" and only.bound is None and arguments.positional:
            first = arguments.positional[0].only
            if isinstance(first, Obj):
                rest = arguments._replace(positional=arguments.positional[1:])
                return self.enter(node, Function(only.facts, first), rest)
        return self.apply(node, own, arguments)

    def _super_call(self, node: ast.Call, name: str, arguments: Arguments) -> Value:
        owner = self.facts.owner
        bound = self.state.env.get(self.facts.parameters[0]) if self.facts.parameters else None
        obj = bound.only if bound is not None else None
        if owner is None or not isinstance(obj, Obj):
            return unknown_from(self.origins_of_all(arguments.values()))
        for base in self.program.ancestors(owner)[1:]:
            if name in base.methods:
                return self.enter(node, Function(base.methods[name], obj), arguments)
        if name in ("eval", "train"):
            return self.set_mode(node, value_of(obj), name, arguments)
        for key, held in arguments.keywords:  # a base from elsewhere keeps what it is handed under its name
            self.set_attribute(obj, key, held, weak=True)
        return unknown_from(self.origins_of_all(arguments.values()))

    def _method_of_unknown(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        """A method of a tensor or of something that nothing is known of."""
        if name in grad_api.LEAVES_GRAPH and name != "detach_":
            return ANY
        if "backward" in name or name == "register_hook":
            return self._backward(node, receiver, name, arguments)
        if name == "requires_grad_" and flag_of(arguments.get("requires_grad", 0), True) is not False:
            return self._leaf(node, receiver)
        if name in CONTAINER_ADDS:  # ``box.setdefault("y", []).append(y)``
            self.note_escape(self.origins_of_all(arguments.values()), "stored")
        origins = receiver.derived | self.origins_of_all(arguments.values())
        if arguments.positional or arguments.keywords:
            self._take_unresolved(node, name, arguments, receiver.derived)
        return unknown_from(origins)

    def _other_method(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        """A method that is in no table, of an object whose class is not known."""
        objects = receiver.objects()
        if "backward" in name:
            return self._backward(node, receiver, name, arguments)
        if name in module_api.FORWARD_METHODS and objects:
            result = self.forward(node, frozenset(objects), arguments, receiver.derived)
            self.hand_over(arguments, name)
            return result
        stored = [self.state.heap[(obj, name)] for obj in objects if (obj, name) in self.state.heap]
        if stored:
            return self.apply(node, join_all(stored), arguments)
        is_handed = bool(arguments.positional or arguments.keywords or arguments.open)
        if is_handed and self._is_submodule(objects, name):
            parts = frozenset(obj.part(name) for obj in objects)
            for part in parts:
                self.record_call(node, part, arguments)
            result = self.forward(node, parts, arguments, receiver.derived)
            self.hand_over(arguments, name)
            return result
        return self._unknown_method(node, receiver, name, arguments)

    def _is_submodule(self, objects: list[Obj], name: str) -> bool:
        """Whether ``obj.name(...)`` runs a part of a module rather than a method (a guess only for unknown classes)."""
        if not objects:
            return False
        classes = [cls for obj in objects if (cls := self.class_of(obj)) is not None]
        if classes and any(
            base.module.stores.get((base.instance, name)) for cls in classes for base in self.program.ancestors(cls)
        ):
            return True
        return module_api.names_submodule(name) and name not in grad_api.GUARDED_METHODS

    def _unknown_method(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        for obj in receiver.objects():
            call = self.record_call(node, obj, arguments, method=name)
            self.module.loose.setdefault(name, {})[call] = None
        own = self.origins(receiver)
        given = self.origins_of_all(arguments.values())
        if name.endswith("_") and any(isinstance(obj.root, (Param, Outer, Self)) for obj in receiver.objects()):
            self.note_escape(given, "stored")  # in place: ``total.add_(y)``
        if name in randomness.DRAW_METHODS or name in CALM_METHODS or name.startswith(("get_", "is_", "has_", "num_")):
            return unknown_from(own | given)
        trains = grad_api.SOUNDS_DIFFERENTIATING.search(name) or TRAINS.fullmatch(name)
        if trains:
            self.need_origins(given)
            for obj in receiver.objects():
                self._lose(obj)
        self._take_unresolved(node, name, arguments, NO_ORIGINS)
        return Value(frozenset((self.make(node, UNRESOLVED, arguments),)), own | given)

    def _backward(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        self.need(receiver)
        for value in arguments.values():
            self.need(value)
        return ANY

    def _leaf(self, node: ast.Call, receiver: Value) -> Value:
        """``x.requires_grad_()``: the tensor has a graph of its own from now on, under every name that it has here."""
        marked = receiver.with_origins(frozenset((LEAF,)))
        func = node.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, (ast.Name, ast.Attribute, ast.Subscript)):
            self.assign(func.value, marked)
        return marked

    # -- modes ---------------------------------------------------------------

    def set_mode(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        """``.eval()`` and ``.train(...)``: the receiver and all that it holds; the result is the receiver."""
        if not _is_mode_call(arguments) or (name == "eval" and arguments.positional):
            for obj in receiver.objects() if name == "train" else ():
                self._lose(obj)
            return self._unknown_method(node, receiver, name, arguments)
        kind = EVAL
        if name == "train":
            flag = flag_of(arguments.get("mode", 0), True)
            kind = OPEN if flag is None else TRAIN if flag else EVAL
        span = place(node)
        events = frozenset((Event(kind, span, span, self.module.name),))
        if kind == OPEN:
            events = self._restored(receiver, arguments.get("mode", 0)) or events
        objects = receiver.objects()
        weak = len(receiver.atoms) > 1 and not self._go_together(receiver)
        for obj in objects:
            self.state.set_mode(obj, events, weak)
        holder = node.func.value if isinstance(node.func, ast.Attribute) else None
        if weak and isinstance(holder, ast.Name) and len(objects) == len(receiver.atoms):
            held = self.state.env.get(holder.id)
            if held is not None and held.expanded() == receiver:
                self.state.either[holder.id] = (held, events)
        self.note_mode(span, kind, frozenset(objects))
        return receiver

    def _restored(self, receiver: Value, flag: Value | None) -> Events:
        """``m.train(was_training)`` puts back the mode in which ``m.training`` was read."""
        read = flag.only if flag is not None else None
        if isinstance(read, Part) and read.name == "training" and read.parent in receiver.atoms:
            return self.saved_modes.get(read.parent, NO_EVENTS)
        return NO_EVENTS

    def _go_together(self, receiver: Value) -> bool:
        """Whether the things that a receiver may be are only reached through it: whichever it is, it is the one set."""
        atoms = receiver.atoms - ANY.atoms
        if not all(isinstance(atom, Made) for atom in atoms):
            return False
        held = (*self.state.env.values(), *self.state.heap.values())
        return all(atoms <= value.atoms for value in held if atoms & value.atoms)

    def _same(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        """Methods that return the module itself (``.to``, ``.cuda``, ...); tensors keep what they were computed from."""
        if name == "requires_grad_":
            return self._requires_grad(node, receiver, arguments)
        for function in arguments.functions():
            function.facts.handed_by.add(self.module)
        return receiver

    def _requires_grad(self, node: ast.Call, receiver: Value, arguments: Arguments) -> Value:
        if flag_of(arguments.get("requires_grad", 0), True) is False:
            self.freeze(receiver)
            return receiver
        return self._leaf(node, receiver)

    def freeze(self, receiver: Value) -> None:
        """Parameters that take no gradient: of a module, or of the one whose ``parameters()`` are looped over."""
        self.state.frozen |= {_owner_of_parameters(obj) for obj in receiver.objects()}

    def _parameters(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        return join_all(value_of(obj.part("parameters()")) for obj in receiver.objects())


def _is_library(name: str) -> bool:
    return name.startswith(("torch.", "numpy.", "pandas.", "builtins.", "tensorflow.", "keras."))


def _is_mode_call(arguments: Arguments) -> bool:
    keys = {name for name, _ in arguments.keywords}
    return not arguments.open and len(arguments.positional) + len(keys) <= 1 and keys <= {"mode"}


def _owner_of_parameters(obj: Obj) -> Obj:
    at: Obj = obj
    while isinstance(at, Part):
        if at.name == "parameters()":
            return at.parent
        at = at.parent
    return obj


METHODS: dict[str, Callable[[Any, ast.Call, Value, str, Arguments], Value]] = {
    "eval": Methods.set_mode,
    "train": Methods.set_mode,
    **dict.fromkeys(module_api.RETURN_SELF, Methods._same),
    **dict.fromkeys(("parameters", "named_parameters"), Methods._parameters),
    **dict.fromkeys(CONTAINER_ADDS, Methods._add),
    **dict.fromkeys(module_api.PREPARE, Methods._prepare),
    "update": Methods._update,
    "setdefault": Methods._set_default,
    "get": Methods._get,
    **dict.fromkeys(("items", "values", "keys"), Methods._items),
    "add_argument": Methods._add_argument,
    **dict.fromkeys(
        (
            "parse_args",
            "parse_intermixed_args",
            "add_argument_group",
            "add_mutually_exclusive_group",
        ),
        Methods._receiver,
    ),
    "parse_known_args": Methods._parse_known,
    **dict.fromkeys(("enter_context", "__enter__"), Methods._enter_context),
    **dict.fromkeys(
        (
            "register_hook",
            "register_backward_hook",
            "register_full_backward_hook",
            "register_full_backward_pre_hook",
            "register_forward_hook",
            "register_forward_pre_hook",
        ),
        Methods._hook,
    ),
    **dict.fromkeys(grad_api.LEAVES_GRAPH - {"unique"}, lambda self, node, receiver, name, arguments: ANY),
}
