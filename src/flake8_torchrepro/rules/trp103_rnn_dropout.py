"""TRP103: dropout between recurrent layers in a deterministic program without cuBLAS's workspace variable."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..edits import AddImport, InsertStatement
from ..finding import Finding, Fix, Safety
from ..flow.determinism import Determinism
from ..flow.recurrent import Recurrent
from ..flow.view import ModuleView
from ..rule import Bad, Good, Rule
from ..source import target_of
from ..triggers import BUILDS_RECURRENT_LAYER

LINE = '{}.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")'


class RnnDropout(Rule):
    """``nn.LSTM``, ``GRU`` or ``RNN`` with dropout and two layers or more, deterministic settings, and no variable."""

    code = "TRP103"
    name = "rnn-dropout"
    summary = "recurrent dropout under determinism without CUBLAS_WORKSPACE_CONFIG"
    why = (
        "PyTorch's notes on cuDNN recurrent layers document that they are not deterministic on some CUDA versions unless"
        " `CUBLAS_WORKSPACE_CONFIG` is set, whatever the deterministic flags say. The variable makes a run repeat from"
        " start to end; it does not make a run resume exactly from a saved random state."
    )
    advice = 'Set `os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")` before the deterministic settings.'
    bad = (
        Bad(
            """\
import torch
from torch import nn

torch.manual_seed(0)
torch.backends.cudnn.deterministic = True
tagger = nn.LSTM(64, 64, num_layers=2, dropout=0.3)  # <-
""",
            """\
import os

import torch
from torch import nn

torch.manual_seed(0)
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
torch.backends.cudnn.deterministic = True
tagger = nn.LSTM(64, 64, num_layers=2, dropout=0.3)  # <-
""",
        ),
    )
    good = (
        Good(
            """\
from torch import nn

tagger = nn.LSTM(64, 64, num_layers=2, dropout=0.3)
""",
            "nothing here asks for determinism",
        ),
        Good(
            """\
import os

import torch
from torch import nn

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":16:8"
torch.backends.cudnn.deterministic = True
tagger = nn.GRU(64, 64, num_layers=2, dropout=0.3)
""",
            "the variable is set",
        ),
    )
    triggers = (BUILDS_RECURRENT_LAYER,)
    view = "program"
    repairs = "safe"

    def check(self, module: ModuleView) -> Iterator[Finding]:
        """One finding a layer."""
        layers = list(Recurrent(module.facts, module.resolver).layers())
        if not any(layer.may_drop() for layer in layers):
            return
        program = next((p for p in module.programs if p.requests and not p.workspace_is_set and not p.cudnn_off), None)
        if program is None:
            return
        if module.find_callers(layer.call.caller for layer in layers):
            layers = list(Recurrent(module.facts, module.resolver).layers())
        request = program.requests[0]
        where = module.where(request.module, request.span.line)
        for layer in layers:
            if layer.drops_between_layers():
                message = (
                    f"dropout between the layers of nn.{layer.kind} is documented as not deterministic with cuDNN, although"
                    f" deterministic settings are on ({where}): set CUBLAS_WORKSPACE_CONFIG to :4096:8 before them"
                )
                yield Finding(self.code, layer.span, message, partial(workspace_fix, module, program))


def workspace_fix(module: ModuleView, program: Determinism) -> Fix:
    """Set cuBLAS's variable before the first deterministic setting of the file; advice only where that is elsewhere."""
    advice = "set CUBLAS_WORKSPACE_CONFIG before the deterministic settings"
    spans = sorted(r.span for r in program.requests if r.module is module.facts and not r.weak)
    node = next((n for n in module.layout.at(spans[0])), None) if spans else None
    if node is None:
        return Fix(Safety.SHOW, advice)
    spelled = module.layout.spelling("os", node)
    if spelled is None and not module.layout.can_import("os"):
        return Fix(Safety.SHOW, advice)
    anchor = target_of(module.layout.statement(node))
    insert = InsertStatement(anchor, LINE.format(spelled or "os"))
    return Fix(Safety.SAFE, advice, (insert,) if spelled else (insert, AddImport("os")))
