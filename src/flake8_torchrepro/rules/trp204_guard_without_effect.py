"""TRP204: a gradient guard that is written and does nothing (or not what it says)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from ..edits import ReplaceExpression
from ..finding import Finding, Fix, Safety
from ..flow.facts import Slip
from ..flow.view import ModuleView
from ..guarding import wrap_rest
from ..patterns import Pattern
from ..rule import Bad, Good, Rule
from ..source import target_of
from ..triggers import Trigger

MESSAGES = {
    "statement": "`{name}()` on a line of its own does nothing, and gradients stay as they are; write `with {name}():`",
    "not entered": "`with {name}` without the call raises TypeError; write `with {name}():`",
    "decorates async": "it decorates an async function and is left before the body runs: gradients stay on in it; put"
    " `with {name}():` around what does not await",
    "decorates class": "it decorates a class and acts on the constructor only: the methods run with gradients on; decorate"
    " the methods",
    "void in inference mode": "enable_grad() has no effect inside inference_mode; leave inference mode, or use no_grad there",
    "turns gradients on": "inference_mode(False) inside no_grad turns gradients on again; remove it",
    "yield": "a `yield` under the guard leaves gradients off in the code that consumes the generator; guard the forward"
    " pass alone, or decorate the function",
    "await": "an `await` under the guard leaves gradients off in other tasks meanwhile; await before or after it",
}


class GuardWithoutEffect(Rule):
    """Guards that are not entered, that act on the wrong thing, or that leak."""

    code = "TRP204"
    name = "guard-without-effect"
    summary = "no_grad or inference_mode that has no effect"
    why = (
        "`torch.no_grad()` is a context manager: on a line of its own it makes an object and drops it, and gradients stay"
        " on. On an async function or a class it guards only the making of the coroutine or object. All of these were run"
        " with torch 2.13 and raise nothing."
    )
    advice = "Write `with torch.no_grad():` around the code, or decorate the plain function that holds it."
    bad = (
        Bad(
            """\
import torch


def embed(model, batch):
    torch.no_grad()  # <-
    return model(batch)
""",
            """\
import torch


def embed(model, batch):
    with torch.no_grad():
        return model(batch)
""",
        ),
        Bad(
            """\
import torch


def embed(model, batch):
    with torch.no_grad:  # <-
        return model(batch)
""",
            """\
import torch


def embed(model, batch):
    with torch.no_grad():  # <-
        return model(batch)
""",
        ),
        Bad(
            """\
import torch


@torch.inference_mode()  # <-
async def embed(model, queue):
    return model(await queue.get())
""",
        ),
    )
    good = (
        Good(
            """\
import torch

torch.set_grad_enabled(False)
""",
            "this one acts as a statement",
        ),
        Good(
            """\
import torch


@torch.no_grad
def embed(model, batch):
    return model(batch)
""",
            "works without parentheses since torch 2.1, and raises before: never silent",
        ),
    )
    triggers = (
        Trigger(
            "no_grad",
            "inference_mode",
            near=Pattern(
                # a call that ends its line and decorates nothing, or a name that is not called
                r"^(?!\s*(@|from\b|import\b))[^\n]*\b(no_grad|inference_mode)\b(\s*\([^)]*\)\s*\)*\s*(#.*|[;,].*)?$|(?!\s*\())"
                r"|inference_mode\s*\(\s*(mode\s*=\s*)?False"
                r"|@[^\n]*(no_grad|inference_mode)((?!\bdef\b)[\s\S])*?\bclass\b"
                r"|;\s*[\w.]*(no_grad|inference_mode)",
                re.MULTILINE,
            ),
        ),
        Trigger("no_grad", "inference_mode", beside=("async", "yield")),
        Trigger("enable_grad"),
    )
    repairs = "sometimes"

    def check(self, module: ModuleView) -> Iterator[Finding]:
        """One finding a guard."""
        for facts in module.functions:
            for slip in facts.slips.values():
                if slip.kind in MESSAGES:
                    name = slip.name or "torch.no_grad"
                    yield Finding(
                        self.code,
                        slip.span,
                        MESSAGES[slip.kind].format(name=name),
                        partial(_fix, module, slip),
                    )


def _fix(module: ModuleView, slip: Slip) -> Fix:
    if slip.kind == "not entered":
        for node in module.layout.at(slip.span):
            if isinstance(node, (ast.Name, ast.Attribute)):
                edit = ReplaceExpression(target_of(node), f"{ast.unparse(node)}()")
                return Fix(Safety.SAFE, "call it", (edit,))
    if slip.kind == "statement":
        return wrap_rest(module, slip)
    return Fix(Safety.SHOW, MESSAGES[slip.kind].format(name=slip.name or "torch.no_grad"))
