"""What a call does to the modes and to what it is handed, and what it gives back."""

from __future__ import annotations

import ast

from ..patterns import Pattern
from ..torch_api import grad as grad_api
from .expressions import Expressions
from .facts import Site
from .frame import called_name, place
from .state import UNKNOWN_EVENTS, Events
from .values import (
    ANY,
    LEAF,
    NOTHING,
    Arguments,
    Atom,
    Choice,
    Class,
    Const,
    Dotted,
    Function,
    Imported,
    Made,
    Obj,
    Origin,
    Outer,
    Param,
    Part,
    Partial,
    Value,
    flag_of,
    unknown_from,
)

CALM_CALLEES = frozenset(
    (
        "print len isinstance type id hash str repr hasattr callable summary num_params info debug warning SGD watch"
        " add_graph tqdm super vars dir parameters state_dict load_state_dict SummaryWriter iter next enumerate zip range"
        " sorted max min sum any all map filter reversed set list tuple dict get_n_params model_info profile"
        " get_model_complexity_info accuracy accuracy_score f1_score mean append to_device move_to_device is_parallel"
        " get_lr timeit time"
    ).split()
)
CALM_CALLEE_FORMS = Pattern(
    r"count_\w*param\w*|save\w*|log\w*|\w*[Oo]ptim\w*|Adam\w*|\w*[Ss]cheduler\w*"
    r"|load_\w*(weights|checkpoint|state_dict|model)\w*|restore\w*|\w*Loss"
)
# Wrappers that hold the same options under the same names.
SAME_OPTIONS = Pattern(
    r"vars|edict|[Ee]asy[Dd]ict|Attr(ibute)?Dict|Dot(ted)?Dict|dotdict|Munch|Bunch|CfgNode|DictConfig"
)
UNRESOLVED = Const("unresolved", sure=False)
LEAF_NAMES = frozenset({"Variable", "tensor", "zeros", "ones", "rand", "randn", "full", "empty", "Parameter"})


class Calls(Expressions):
    """Evaluates calls."""

    def _call(self, node: ast.Call) -> Value:
        func = node.func
        if isinstance(func, ast.Attribute):
            return self._method_call(node, func)
        callee = self.eval(func)
        arguments = self.arguments(node)
        if not self.state.either or not isinstance(func, ast.Name):
            return self.apply(node, callee, arguments)
        self.joint_mode = self.state.mode_of_either(func.id, callee)
        result = self.apply(node, callee, arguments)
        self.joint_mode = None
        return result

    def arguments(self, node: ast.Call) -> Arguments:
        """The values that a call hands over, with known ``**`` dicts spread out."""
        is_open = False
        positional = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                self.eval(argument.value)
                is_open = True
                continue
            value = self.eval(argument)
            if not is_open:
                positional.append(value)
        keywords = []
        for keyword in node.keywords:
            value = self.eval(keyword.value)
            if keyword.arg == "worker_init_fn":
                self.facts.names_worker_init = True
            if keyword.arg is not None:
                keywords.append((keyword.arg, value))
                continue
            for atom in value.atoms:
                items = self.dict_items(atom)
                is_open = is_open or items is None
                keywords += [(name[2:-2], held) for name, held in (items or {}).items() if name.startswith("['")]
        return Arguments(tuple(positional), tuple(keywords), is_open)

    def apply(self, node: ast.expr, callee: Value, arguments: Arguments) -> Value:
        """Call each thing that the callee may be, and join what they give."""
        if len(callee.atoms) == 1:
            return self._apply_atom(node, next(iter(callee.atoms)), callee, arguments)
        before, results, after = self.state, NOTHING, None
        for atom in callee.ordered():
            self.state = before.copy()
            results = results | self._apply_atom(node, atom, callee, arguments)
            after = self.state if after is None else after | self.state
        if after is None:  # a method of a list that was made here, perhaps
            return self.unresolved(node, None, called_name(node), arguments, callee.derived)
        self.state = after
        return results

    def _apply_atom(self, node: ast.expr, atom: Atom, callee: Value, arguments: Arguments) -> Value:
        if isinstance(atom, Dotted):
            return self._imported_call(node, atom, arguments)
        if isinstance(atom, Function):
            return self.enter(node, atom, arguments)
        if isinstance(atom, Class):
            return self.construct(node, atom, arguments)
        if isinstance(atom, Partial):
            merged = Arguments(
                atom.arguments.positional + arguments.positional,
                tuple({**dict(atom.arguments.keywords), **dict(arguments.keywords)}.items()),
                atom.arguments.open or arguments.open,
            )
            outer, self.via = self.via, atom.span
            result = self.apply(node, atom.callee, merged)
            self.via = outer
            return result
        if isinstance(atom, Choice):
            return self.apply(node, atom.then | atom.orelse, arguments)
        if isinstance(atom, Obj):
            return self._call_object(node, atom, callee, arguments)
        return self.unresolved(node, None, called_name(node), arguments, callee.derived)

    # -- objects that are called ---------------------------------------------------------------

    def _call_object(self, node: ast.expr, obj: Obj, callee: Value, arguments: Arguments) -> Value:
        cls = self.class_of(obj)
        if cls is not None and not self.program.is_module_class(cls):
            method = self.program.method(cls, "__call__")
            if method is not None:
                return self.enter(node, Function(method, obj), arguments)
        is_given = bool(arguments.positional or arguments.keywords or arguments.open)
        if isinstance(obj, (Param, Part, Outer)) or (isinstance(obj, Made) and isinstance(obj.maker, Imported)):
            call = self.record_call(node, obj, arguments)
            self.module.loose.setdefault("__call__", {})[call] = None
            if not is_given:  # a forward pass is given something
                return unknown_from(callee.derived)
        if isinstance(obj, Made) and isinstance(obj.maker, Dotted) and obj.maker.name in grad_api.SWITCHES:
            for function in arguments.functions():
                function.facts.handed_by.add(self.module)
            return ANY  # a guarded function, which is not followed
        name = called_name(node)
        self.note_handed(node, arguments)
        if grad_api.SOUNDS_DIFFERENTIATING.search(name):
            for value in arguments.values():
                self.need(value)
        for function in arguments.functions():
            function.facts.handed_by.add(self.module)
        result = self.forward(node, frozenset((obj,)), arguments, callee.derived)
        self.hand_over(arguments, name)
        return result

    def forward(self, node: ast.expr, objects: frozenset[Obj], arguments: Arguments, extra: frozenset[Origin]) -> Value:
        """A forward pass of one of the objects, if they are modules."""
        span = place(node)
        site = self.facts.sites.get((span, None))
        if site is None:
            site = self.facts.sites[(span, None)] = Site(self.facts, span)
        origins = self.origins_of_all(arguments.values()) | extra
        modes: Events = self.joint_mode or frozenset().union(*(self.state.mode(obj) for obj in objects))
        self.facts.ran |= objects
        site.objects |= objects
        site.modes |= modes
        site.grad |= self.state.grad
        site.leaves = site.leaves or LEAF in origins
        site.inputs |= frozenset(origin for origin in origins if isinstance(origin, Obj))
        site.frozen = site.frozen or self.may_be_frozen(objects)
        return Value(ANY.atoms, origins | {site})

    def hand_over(self, arguments: Arguments, name: str) -> None:
        """What is not followed may do anything to the modules that it is handed."""
        if _is_calm_callee(name):
            for function in arguments.functions():
                function.facts.handed_by.add(self.module)
            return
        for value in arguments.values():
            if value.atoms is ANY.atoms:
                continue
            for atom in value.atoms:
                if isinstance(atom, Obj) and not isinstance(atom, Dotted):
                    self._lose(atom)
                elif isinstance(atom, Function):
                    atom.facts.handed_by.add(self.module)

    def _lose(self, obj: Obj) -> None:
        if isinstance(obj, Made) and obj.maker is None:
            for (holder, _), value in list(self.state.heap.items()):
                if holder is obj:
                    for inner in value.objects():
                        if isinstance(inner, Made) and inner.maker is None:
                            continue
                        self._lose(inner)
            return
        is_symbol = isinstance(obj, (Param, Part, Outer))
        if self.has_mode(obj) or (is_symbol and obj in self.facts.ran):
            self.state.set_mode(obj, UNKNOWN_EVENTS)

    # -- unresolved callees ---------------------------------------------------------------

    def unresolved(
        self, node: ast.expr, callee: Atom | None, name: str, arguments: Arguments, extra: frozenset[Origin]
    ) -> Value:
        """A call of something that is not known: it gives something new, computed from all that it was handed."""
        if SAME_OPTIONS.fullmatch(name) and len(arguments.positional) == 1 and arguments.positional[0].objects():
            return arguments.positional[0]
        if callee is None:
            self.note_handed(node, arguments)
        self._take_unresolved(node, name, arguments, extra)
        origins = self.origins_of_all(arguments.values()) | extra
        if name in LEAF_NAMES and flag_of(arguments.get("requires_grad"), False) is True:
            origins |= {LEAF}
        if (
            flag_of(arguments.keyword("volatile"), False) is True
        ):  # no graph before torch 0.4: code that was right when written
            origins |= {LEAF}
        return Value(frozenset((self.make(node, callee or UNRESOLVED, arguments),)), origins)

    def _take_unresolved(self, node: ast.expr, name: str, arguments: Arguments, extra: frozenset[Origin]) -> None:
        if grad_api.SOUNDS_DIFFERENTIATING.search(name):
            for value in arguments.values():
                self.need(value)
            self.need_origins(extra)
        if not _is_calm_callee(name):
            self.note_handed(node, arguments)
        self.hand_over(arguments, name)

    # -- the other rooms ---------------------------------------------------------------

    def _imported_call(self, node: ast.expr, callee: Dotted, arguments: Arguments) -> Value:
        """See ``library``."""
        raise NotImplementedError

    def _method_call(self, node: ast.Call, func: ast.Attribute) -> Value:
        """See ``methods``."""
        raise NotImplementedError

    def set_mode(self, node: ast.Call, receiver: Value, name: str, arguments: Arguments) -> Value:
        """See ``methods``."""
        raise NotImplementedError


def _is_calm_callee(name: str) -> bool:
    """Whether what is not followed surely leaves the modules alone that it is handed, by its name."""
    return name in CALM_CALLEES or CALM_CALLEE_FORMS.fullmatch(name) is not None
