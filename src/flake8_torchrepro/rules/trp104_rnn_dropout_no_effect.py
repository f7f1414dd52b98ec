"""TRP104: dropout on a recurrent layer of one layer, which does nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..edits import RemoveArgument
from ..finding import Finding, Fix, Safety
from ..flow.recurrent import Layer, Recurrent
from ..flow.view import ModuleView
from ..rule import Bad, Good, Rule
from ..source import target_of
from ..triggers import BUILDS_RECURRENT_LAYER


class RnnDropoutNoEffect(Rule):
    """``dropout`` above 0 where ``num_layers`` is surely 1; also a float where ``bias`` belongs."""

    code = "TRP104"
    name = "rnn-dropout-no-effect"
    summary = "dropout of a one-layer LSTM, GRU or RNN does nothing"
    why = (
        "The `dropout` of a recurrent layer acts between stacked layers. With one layer (the default) it does nothing:"
        " run with torch 2.13, training and evaluation give the same output, and only a warning says so."
    )
    advice = "Remove the argument; if dropout is meant, put `nn.Dropout` on the output, or stack two layers."
    bad = (
        Bad(
            """\
from torch import nn

encoder = nn.LSTM(128, 256, batch_first=True, dropout=0.5)  # <-
""",
            """\
from torch import nn

encoder = nn.LSTM(128, 256, batch_first=True)  # <-
""",
        ),
    )
    good = (
        Good(
            """\
from torch import nn

encoder = nn.GRU(128, 256, num_layers=2, dropout=0.5)
""",
            "there are two layers to drop between",
        ),
        Good(
            """\
from torch import nn


def build(size, layers=1, dropout=0.2):
    return nn.LSTM(size, size, layers, dropout=dropout if layers > 1 else 0.0)
""",
            "no dropout where there is one layer",
        ),
    )
    triggers = (BUILDS_RECURRENT_LAYER,)

    def check(self, module: ModuleView) -> Iterator[Finding]:
        """One finding a layer, at the call that gives the dropout."""
        for layer in Recurrent(module.facts, module.resolver).layers():
            if layer.has_float_bias():
                message = (
                    f"a float as the 4th positional argument of nn.{layer.kind} is `bias`, not `dropout`: no dropout is"
                    " applied; write `dropout=` by name"
                )
                yield Finding(self.code, layer.span, message, Fix(Safety.SHOW, "write `dropout=` by name"))
            elif layer.drops_nothing():
                message = (
                    f"dropout of nn.{layer.kind} acts between layers and there is only one, so it does nothing; remove it,"
                    " or put nn.Dropout on the output"
                )
                yield Finding(self.code, layer.span, message, partial(_fix, module, layer))


def _fix(module: ModuleView, layer: Layer) -> Fix:
    advice = "remove the argument"
    call = module.layout.call(layer.span)
    if call is None:
        return Fix(Safety.SHOW, advice)
    if any(isinstance(node, ast.NamedExpr) for node in ast.walk(call)):
        return Fix(Safety.SHOW, advice)
    is_read = any(
        isinstance(node, ast.Attribute) and node.attr == "dropout" and isinstance(node.ctx, ast.Load)
        for node in ast.walk(module.source.tree)
        if not (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in ("F", "functional")
        )
    )
    is_certain = layer.is_surely_single() and not is_read and layer.call.via is None and not layer.is_subclass
    safety = Safety.SAFE if is_certain else Safety.UNSAFE
    if any(keyword.arg == "dropout" for keyword in call.keywords):
        return Fix(safety, advice, (RemoveArgument(target_of(call), "dropout"),))
    position = layer.dropout_position
    if len(call.args) == position + 1 and not any(isinstance(a, ast.Starred) for a in call.args):
        return Fix(safety, advice, (RemoveArgument(target_of(call), position),))
    return Fix(Safety.SHOW, advice)
