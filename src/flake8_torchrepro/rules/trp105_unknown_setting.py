"""TRP105: a setting that PyTorch does not have, or a function that is assigned to instead of called."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..edits import ReplaceExpression, ReplaceStatement
from ..finding import Finding, Fix, Safety
from ..flow.facts import Call, Setting
from ..flow.values import Const
from ..flow.view import ModuleView
from ..patterns import Pattern
from ..rule import Bad, Good, Rule
from ..source import target_of
from ..torch_api.settings import CUDNN, CUDNN_FLAGS, CUDNN_OTHER_NAMES, CUDNN_SWITCHES, FUNCTIONS_ASSIGNED
from ..triggers import Trigger


class UnknownSetting(Rule):
    """Assignments to names that ``torch.backends.cudnn`` does not have, and constants assigned to functions of torch."""

    code = "TRP105"
    name = "unknown-setting"
    summary = "misspelt cuDNN flag, or a torch function assigned to"
    why = (
        "Python lets any attribute be assigned, so `cudnn.determinstic = True` and `torch.manual_seed = 0` raise nothing"
        " and change nothing (run with torch 2.13): the program runs as if the line were not there."
    )
    advice = "Write the real name of the flag; call the function."
    bad = (
        Bad(
            """\
import torch

torch.backends.cudnn.determinstic = True  # <-
""",
            """\
import torch

torch.backends.cudnn.deterministic = True  # <-
""",
        ),
        Bad(
            """\
import torch

torch.manual_seed = 0  # <-
""",
            """\
import torch

torch.manual_seed(0)  # <-
""",
        ),
    )
    good = (
        Good(
            """\
import torch

torch.backends.cudnn.allow_tf32 = False
torch.backends.opt_einsum.strategy = "greedy"
""",
            "both flags exist",
        ),
        Good(
            """\
import torch


def no_seed(seed):
    return torch.default_generator


torch.manual_seed = no_seed
""",
            "a function put in place of a function is a deliberate patch",
        ),
    )
    triggers = (
        Trigger("cudnn"),
        Trigger(
            ".manual_seed",
            ".use_deterministic",
            ".set_",
            ".no_grad",
            ".seed",
            near=Pattern(r"\.(manual_seed\w*|use_deterministic\w*|set_\w+|no_grad|seed)\s*=[^=]"),
        ),
    )
    uncovers = frozenset({"TRP101", "TRP102", "TRP103", "TRP106"})

    def check(self, module: ModuleView) -> Iterator[Finding]:
        """One finding an assignment (or a flag that is called)."""
        for setting in module.facts.settings:
            if setting.name.startswith(CUDNN + "."):
                yield from self._flag(module, setting)
            elif setting.name in FUNCTIONS_ASSIGNED and isinstance(setting.value.only, Const):
                message = (
                    f"this assigns to the function {setting.name} instead of calling it, which changes nothing; call it"
                )
                yield Finding(self.code, setting.span, message, partial(_call_fix, module, setting))
        for call in module.facts.calls_of(*(f"{CUDNN}.{name}" for name in sorted(CUDNN_SWITCHES))):
            yield self._called(module, call)

    def _flag(self, module: ModuleView, setting: Setting) -> Iterator[Finding]:
        name = setting.name[len(CUDNN) + 1 :]
        if "." in name or name.startswith("_") or name in CUDNN_FLAGS | CUDNN_OTHER_NAMES:
            return
        near = nearest(name, CUDNN_FLAGS)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        message = f"torch.backends.cudnn has no setting `{name}`: the assignment is accepted and changes nothing{hint}"
        yield Finding(self.code, setting.span, message, partial(_rename_fix, module, setting, near))

    def _called(self, module: ModuleView, call: Call) -> Finding:
        name = getattr(call.callee, "name", "").rpartition(".")[2]
        message = f"torch.backends.cudnn.{name} is a flag, not a function: calling it raises TypeError; assign to it"
        node = module.layout.call(call.span)
        statement = module.layout.parent(node) if node is not None else None
        if isinstance(statement, ast.Expr) and node is not None and len(node.args) == 1 and not node.keywords:
            code = f"{ast.unparse(node.func)} = {ast.unparse(node.args[0])}"
            fix = Fix(Safety.UNSAFE, "assign to the flag", (ReplaceStatement(target_of(statement), code),))
            return Finding(self.code, call.span, message, fix)
        return Finding(self.code, call.span, message, Fix(Safety.SHOW, "assign to the flag"))


def _rename_fix(module: ModuleView, setting: Setting, near: list[str]) -> Fix:
    target = module.layout.expression(setting.span, ast.Attribute)
    if len(near) != 1 or not isinstance(target, ast.Attribute):
        return Fix(Safety.SHOW, "write the real name of the flag")
    reads = (n for n in ast.walk(module.source.tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load))
    if any(node.attr == target.attr for node in reads) or f'"{target.attr}"' in module.source.text:
        return Fix(Safety.SHOW, "write the real name of the flag, where it is read too")
    code = f"{ast.unparse(target.value)}.{near[0]}"
    return Fix(Safety.SAFE, f"write `{near[0]}`", (ReplaceExpression(target_of(target), code),))


def _call_fix(module: ModuleView, setting: Setting) -> Fix:
    target = module.layout.expression(setting.span, ast.Attribute)
    statement = module.layout.statement(target) if target is not None else None
    if target is None or not isinstance(statement, ast.Assign) or statement.targets != [target]:
        return Fix(Safety.SHOW, "call the function")
    code = f"{ast.unparse(target)}({ast.unparse(statement.value)})"
    return Fix(Safety.UNSAFE, "call the function", (ReplaceStatement(target_of(statement), code),))


def nearest(name: str, names: frozenset[str]) -> list[str]:
    """The names at the smallest edit distance, if it is 1 or 2."""
    by_distance: dict[int, list[str]] = {}
    for known in sorted(names):
        by_distance.setdefault(distance(name, known), []).append(known)
    best = min(by_distance)
    return by_distance[best] if best <= 2 else []


def distance(left: str, right: str) -> int:
    """The Levenshtein distance."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]
