"""TRP101: cuDNN switched off in a program that asks for determinism."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..edits import RemoveStatement, ReplaceStatement
from ..finding import Finding, Fix, Safety
from ..flow.determinism import Determinism
from ..flow.facts import Setting
from ..flow.view import ModuleView
from ..rule import Bad, Good, Rule
from ..source import target_of
from ..torch_api.modules import RECURRENT
from ..torch_api.settings import CUDNN
from ..triggers import Trigger


class CudnnDisabled(Rule):
    """``torch.backends.cudnn.enabled = False`` beside deterministic settings, wherever in the program they stand."""

    code = "TRP101"
    name = "cudnn-disabled"
    summary = "cuDNN switched off beside deterministic settings"
    why = (
        "With `cudnn.enabled = False` convolutions, recurrent layers and batch norm run on other kernels, so that"
        " `cudnn.deterministic` and `cudnn.benchmark` have nothing to act on. Determinism does not need it: PyTorch's"
        " convolution code asks cuDNN for deterministic algorithms when either deterministic setting is on."
    )
    advice = "Leave cuDNN on, with `cudnn.deterministic = True` and `cudnn.benchmark = False`."
    bad = (
        Bad(
            """\
import torch


def seed_all(seed):
    torch.manual_seed(seed)
    torch.backends.cudnn.enabled = False  # <-
    torch.backends.cudnn.deterministic = True
""",
            """\
import torch


def seed_all(seed):
    torch.manual_seed(seed)
    torch.backends.cudnn.benchmark = False  # <-
    torch.backends.cudnn.deterministic = True
""",
        ),
        Bad(
            """\
from torch.backends import cudnn

cudnn.benchmark = cudnn.enabled = False  # <-
cudnn.deterministic = True
""",
            """\
from torch.backends import cudnn

cudnn.benchmark = False  # <-
cudnn.deterministic = True
""",
        ),
    )
    good = (
        Good(
            """\
import torch

torch.backends.cudnn.enabled = False
torch.manual_seed(0)
""",
            "no deterministic setting: a crash workaround, perhaps",
        ),
        Good(
            """\
import torch

torch.backends.cudnn.deterministic = True


def loss(log_probs, targets, lengths, sizes):
    with torch.backends.cudnn.flags(enabled=False):
        return torch.nn.functional.ctc_loss(log_probs, targets, lengths, sizes)
""",
            "switched off for one block only",
        ),
    )
    triggers = (Trigger("cudnn"),)
    view = "program"
    uncovers = frozenset({"TRP103"})
    repairs = "safe"

    def check(self, module: ModuleView) -> Iterator[Finding]:
        """One finding an assignment."""
        if not any(setting.name == f"{CUDNN}.enabled" for setting in module.facts.settings):
            return
        program = next((program for program in module.programs if program.requests), None)
        for setting in program.cudnn_off if program is not None else ():
            mine = setting.function.module is module.facts
            if mine and not _is_restored(module, setting) and not _is_an_option(module, setting):
                assert program is not None
                yield Finding(
                    self.code,
                    setting.span,
                    _message(module, program),
                    partial(_fix, module, setting, program),
                )


def _message(module: ModuleView, program: Determinism) -> str:
    request = program.requests[0]
    where = module.where(request.module, request.span.line)
    return (
        f"cuDNN is switched off beside deterministic settings ({where}): other kernels run, and the cuDNN flags have"
        " nothing to act on; leave it on, with `deterministic = True` and `benchmark = False`"
    )


def _is_an_option(module: ModuleView, setting: Setting) -> bool:
    """Whether the user asks for it: a test around the assignment speaks of cuDNN."""
    node = next(iter(module.layout.at(setting.span)), None)
    tests = (at.test for at in module.layout.above(node) if isinstance(at, ast.If)) if node is not None else ()
    return any("cudnn" in ast.unparse(test).lower() for test in tests)


def _is_restored(module: ModuleView, setting: Setting) -> bool:
    """Whether the same function gives the flag another value later on the same path: a switch for a while."""
    mine = module.layout.expression(setting.span, ast.Attribute)
    for other in module.facts.settings:
        if other.name != setting.name or other.function is not setting.function or other.span <= setting.span:
            continue
        if other.value == setting.value:
            continue
        theirs = module.layout.expression(other.span, ast.Attribute)
        if mine is None or theirs is None or not _are_exclusive(module, mine, theirs):
            return True
    return False


def _are_exclusive(module: ModuleView, left: ast.AST, right: ast.AST) -> bool:
    """Whether two places are in different branches of one ``if``."""
    mine = list(module.layout.above(left))
    for at in module.layout.above(right):
        if at in mine:
            return isinstance(at, ast.If) and (
                left_branch(at, mine) != left_branch(at, list(module.layout.above(right)))
            )
    return False


def left_branch(branch: ast.If, path: list[ast.AST]) -> bool:
    """Whether a path goes through the body of an ``if``."""
    return any(node in branch.body for node in path if isinstance(node, ast.stmt))


def _fix(module: ModuleView, setting: Setting, program: Determinism) -> Fix:
    target = module.layout.expression(setting.span, ast.Attribute)
    advice = "remove it, and set the two flags that make cuDNN deterministic"
    if target is None:
        call = module.layout.call(setting.span)
        prefix = module.layout.spelling(CUDNN, call) if call is not None else None
        is_alone = call is not None and isinstance(module.layout.parent(call), ast.Expr)
        if call is None or prefix is None or setting.how != "setattr" or not is_alone:
            return Fix(Safety.SHOW, advice)
        rest: list[str] = []
        statement = module.layout.statement(call)
    else:
        assert isinstance(target, ast.Attribute)
        prefix = ast.unparse(target.value)
        statement = module.layout.statement(target)
        if not isinstance(statement, ast.Assign) or not _can_be_split(statement, target):
            return Fix(Safety.SHOW, advice)
        rest = _without(module, statement, target)
    code = [*_missing(program, prefix), *rest]
    block = module.layout.block(statement)
    if not code and len(block) == 1:
        code = [f"{prefix}.benchmark = False"]
    is_read = any(
        isinstance(node, ast.Attribute) and node.attr == "enabled" and isinstance(node.ctx, ast.Load)
        for node in ast.walk(module.source.tree)
    )
    safety = Safety.UNSAFE if is_read or _builds_recurrent_dropout(program) else Safety.SAFE
    where = target_of(statement)
    edit = ReplaceStatement(where, "\n".join(code)) if code else RemoveStatement(where)
    return Fix(safety, advice, (edit,))


def _can_be_split(statement: ast.Assign, target: ast.Attribute) -> bool:
    """Whether an assignment is of a shape from which one target can be taken: single, chained, or pair by pair."""
    if any(isinstance(node, (ast.NamedExpr, ast.Starred)) for node in ast.walk(statement)):
        return False
    if target in statement.targets:
        return True
    pairs, values = statement.targets[0], statement.value
    if len(statement.targets) != 1 or not isinstance(pairs, ast.Tuple) or not isinstance(values, ast.Tuple):
        return False
    return target in pairs.elts and len(pairs.elts) == len(values.elts)


def _without(module: ModuleView, statement: ast.Assign, target: ast.Attribute) -> list[str]:
    """What is left of an assignment without one of its targets."""
    source = module.source
    value = ast.get_source_segment(source.text, statement.value) or ast.unparse(statement.value)
    others = [other for other in statement.targets if other is not target]
    if len(others) < len(statement.targets):
        return [" = ".join([*(ast.unparse(other) for other in others), value])] if others else []
    pairs = statement.targets[0]
    if isinstance(pairs, ast.Tuple) and isinstance(statement.value, ast.Tuple):
        kept = [(t, v) for t, v in zip(pairs.elts, statement.value.elts, strict=True) if t is not target]
        names, values = (", ".join(ast.unparse(side[i]) for side in kept) for i in (0, 1))
        return [f"{names} = {values}"]
    return [ast.unparse(statement)]


def _missing(program: Determinism, prefix: str) -> list[str]:
    """The two settings that do what was meant, as far as the program does not make them."""
    wanted = (("benchmark", "False"), ("deterministic", "True"))
    settings = program.settings_of
    return [f"{prefix}.{name} = {value}" for name, value in wanted if not settings(f"{CUDNN}.{name}")]


def _builds_recurrent_dropout(program: Determinism) -> bool:
    """Whether the program holds the layers for which switching cuDNN off was an old workaround."""
    calls = (call for module in program.modules for call in module.calls_of(*RECURRENT))
    return any(call.arguments.get("dropout", 5) is not None for call in calls)
