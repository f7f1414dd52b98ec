"""Recurrent layers as they are built: how many layers, and how much dropout, in each context that is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..source import Span
from ..torch_api.modules import RECURRENT, RECURRENT_PARAMETERS, RNN_PARAMETERS
from .facts import Call, ModuleFacts
from .resolve import TOP, Context, Resolver, argument
from .values import Class, Const, Dotted, Value


class Layer(NamedTuple):
    """One call that builds an ``nn.LSTM``, ``GRU`` or ``RNN`` (or a subclass of it)."""

    call: Call
    kind: str
    resolver: Resolver

    @property
    def is_subclass(self) -> bool:
        """Whether it is a class of the project, which may use its dropout for other things."""
        return isinstance(self.call.callee, Class)

    @property
    def span(self) -> Span:
        """The call that gives the dropout: that of a ``partial``, if the layer is built through one."""
        return self.call.via or self.call.span

    @property
    def parameters(self) -> tuple[str, ...]:
        """The positional parameters of the class."""
        return RNN_PARAMETERS if self.kind == "RNN" else RECURRENT_PARAMETERS

    @property
    def dropout_position(self) -> int:
        """The position of ``dropout`` among the arguments."""
        return self.parameters.index("dropout")

    def _given(self, name: str) -> Value | None:
        return argument(self.call.arguments, name, self.parameters)

    def _contexts(self) -> list[Context]:
        return list(self.resolver.contexts(self.call.caller)) or [TOP]

    def _layers(self, context: Context) -> Value | None:
        given = self._given("num_layers")
        return None if given is None else self.resolver.resolve(given, context)

    def _dropout(self, context: Context) -> Value | None:
        given = self._given("dropout")
        return None if given is None else self.resolver.resolve(given, context)

    def may_drop(self) -> bool:
        """Whether dropout is given at all (as more than a plain zero)."""
        given = self._given("dropout")
        only = given.only if given is not None else None
        return (given is not None or self.call.arguments.open) and not (isinstance(only, Const) and not only.value)

    def drops_between_layers(self) -> bool:
        """Whether a known context surely builds two layers or more with dropout between them."""
        return any(
            _all_numbers(self._layers(context), at_least=2) and _all_numbers(self._dropout(context), above=0)
            for context in self._contexts()
        )

    def drops_nothing(self) -> bool:
        """Whether dropout is asked for and every context has one layer."""
        if self.call.arguments.open and self._given("num_layers") is None:
            return False
        contexts = self._contexts()
        single = all(self._is_single(context) for context in contexts)
        return single and any(_all_numbers(self._dropout(context), above=0) for context in contexts)

    def _is_single(self, context: Context) -> bool:
        layers = self._layers(context)
        return layers is None or all(isinstance(a, Const) and a.value == 1 for a in layers.atoms)

    def is_surely_single(self) -> bool:
        """Whether no option or default could ask for more layers."""
        given = self._given("num_layers")
        return given is None or all(isinstance(a, Const) and a.sure for a in given.atoms)

    def has_float_bias(self) -> bool:
        """Whether a float stands where ``bias`` belongs."""
        positional = self.call.arguments.positional
        at = self.parameters.index("bias")
        only = positional[at].only if len(positional) > at else None
        return isinstance(only, Const) and isinstance(only.value, float)


class Recurrent:
    """The recurrent layers that a module builds."""

    def __init__(self, module: ModuleFacts, resolver: Resolver) -> None:
        self.module, self.resolver = module, resolver

    def layers(self) -> Iterator[Layer]:
        """Every call that builds one."""
        for name in RECURRENT:
            for call in self.module.calls_of(name):
                yield Layer(call, name.rpartition(".")[2], self.resolver)
        for function in (self.module.body, *self.module.functions):
            for call in function.made_classes.values():
                kind = self._kind_of_class(call)
                if kind:
                    yield Layer(call, kind, self.resolver)

    def _kind_of_class(self, call: Call) -> str:
        """The kind of a subclass that keeps its base's constructor."""
        if not isinstance(call.callee, Class) or self.module.program.method(call.callee.facts, "__init__") is not None:
            return ""
        for base in self.module.program.external_bases(call.callee.facts):
            if isinstance(base.only, Dotted) and base.only.name in RECURRENT:
                return base.only.name.rpartition(".")[2]
        return ""


def _all_numbers(value: Value | None, at_least: float | None = None, above: float | None = None) -> bool:
    if value is None or not value.atoms:
        return False
    for atom in value.atoms:
        if not isinstance(atom, Const) or isinstance(atom.value, bool) or not isinstance(atom.value, (int, float)):
            return False
        if (at_least is not None and atom.value < at_least) or (above is not None and atom.value <= above):
            return False
    return True
