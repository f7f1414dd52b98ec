"""TRP205: a mode that looks switched and is not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..edits import ReplaceExpression, ReplaceStatement
from ..finding import Finding, Fix, Safety
from ..flow.facts import Slip
from ..flow.values import Obj, Part
from ..flow.view import ModuleView
from ..patterns import Pattern
from ..rule import Bad, Good, Rule
from ..source import target_of
from ..triggers import Trigger


class ModeNotSwitched(Rule):
    """``model.eval`` without the call, and a constant assigned to a module's ``training``."""

    code = "TRP205"
    name = "mode-not-switched"
    summary = "model.eval without the call, or .training assigned to"
    why = (
        "`model.eval` on a line of its own names the method and does not call it. `model.training = False` changes that"
        " one attribute: the layers inside keep their own, so dropout and batch norm go on as before (run with torch 2.13)."
    )
    advice = "Call `model.eval()` or `model.train()`."
    bad = (
        Bad(
            """\
import torch


def measure(model, batch):
    model.eval  # <-
    with torch.no_grad():
        return model(batch)
""",
            """\
import torch


def measure(model, batch):
    model.eval()  # <-
    with torch.no_grad():
        return model(batch)
""",
        ),
        Bad(
            """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.1))
net.training = False  # <-
with torch.no_grad():
    print(net(torch.zeros(1, 4)))
""",
            """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.1))
net.eval()  # <-
with torch.no_grad():
    print(net(torch.zeros(1, 4)))
""",
        ),
    )
    good = (
        Good(
            """\
from types import SimpleNamespace

options = SimpleNamespace(eval=True, train=False)
options.eval
""",
            "not a module",
        ),
        Good(
            """\
from torch import nn


class Gate(nn.Module):
    def freeze(self):
        self.training = False
""",
            "the module's own business",
        ),
    )
    triggers = (
        Trigger(".eval", ".train", near=Pattern(r"\.(eval|train)\b(?![ \t]*\()|\.training\b[\s\\]*(:[^\n]*)?=[^=]")),
    )
    uncovers = frozenset({"TRP201", "TRP202", "TRP203"})
    repairs = "safe"

    def check(self, module: ModuleView) -> Iterator[Finding]:
        """One finding a place."""
        run = {obj for facts in module.functions for obj in facts.ran}
        for facts in module.functions:
            for slip in facts.slips.values():
                if slip.kind == "not called" and _are_modules(module, slip, run):
                    message = (
                        f"`.{slip.name}` is named but not called, so the mode stays as it was; write `.{slip.name}()`"
                    )
                    yield Finding(self.code, slip.span, message, partial(_call, module, slip))
                elif slip.kind == "training assigned" and _are_modules(module, slip, run):
                    method = "train" if slip.name == "True" else "eval"
                    message = (
                        "`.training` of the outer module alone is set: the layers inside keep their mode;"
                        f" call `.{method}()`"
                    )
                    yield Finding(self.code, slip.span, message, partial(_assign, module, slip, method))


def _are_modules(module: ModuleView, slip: Slip, run: set[Obj]) -> bool:
    """Whether something says that the receiver is a module: its class, or that it is called like one."""
    return bool(slip.objects) and all(_is_module(module, slip, obj, run) for obj in slip.objects)


def _is_module(module: ModuleView, slip: Slip, obj: Obj, run: set[Obj]) -> bool:
    cls = module.program.class_of(obj)
    if cls is not None:
        own = module.program.method(cls, slip.name)
        if (own is not None and own.kind == "property") or module.program.class_attribute(cls, slip.name) is not None:
            return False
        return module.program.is_module_class(cls)
    maker = getattr(obj, "maker", None)
    if getattr(maker, "name", "").startswith("torch.nn."):
        return True
    same_name = {other.name for other in run if isinstance(other, Part)}
    return obj in run or (isinstance(obj, Part) and obj.name in same_name and not obj.name.startswith("["))


def _call(module: ModuleView, slip: Slip) -> Fix:
    node = module.layout.expression(slip.span, ast.Attribute)
    if node is None:
        return Fix(Safety.SHOW, "call it")
    return Fix(Safety.SAFE, "call it", (ReplaceExpression(target_of(node), f"{ast.unparse(node)}()"),))


def _assign(module: ModuleView, slip: Slip, method: str) -> Fix:
    node = module.layout.expression(slip.span, ast.Attribute)
    statement = module.layout.statement(node) if node is not None else None
    if not isinstance(node, ast.Attribute) or not isinstance(statement, ast.Assign) or statement.targets != [node]:
        return Fix(Safety.SHOW, f"call .{method}()")
    edit = ReplaceStatement(target_of(statement), f"{ast.unparse(node.value)}.{method}()")
    return Fix(Safety.SAFE, f"call .{method}()", (edit,))
