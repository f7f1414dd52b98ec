"""TRP202: a module is put in evaluation mode after its forward pass in the same loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..edits import MoveStatement
from ..finding import Finding, Fix, Safety
from ..flow.facts import FunctionFacts, ModeSet, Site
from ..flow.layout import LoopNode
from ..flow.state import ENTRY, EVAL, FRESH, OPEN, TRAIN, Event
from ..flow.values import Made
from ..flow.view import ModuleView
from ..guarding import TRAINS
from ..rule import Bad, Good, Rule
from ..source import Span, span_of, target_of
from ..triggers import SETS_EVALUATION_MODE

LEAVES = (ast.Continue, ast.Break, ast.Return, ast.Raise)  # what may keep a round of a loop from its end


class LateEval(Rule):
    """``.eval()`` that the first forward pass of an inference loop does not see."""

    code = "TRP202"
    name = "late-eval"
    summary = "eval() after the forward pass in an inference loop"
    why = (
        "The first pass of the loop runs in training mode: with dropout, and with batch statistics in batch norm. It also"
        " moves batch norm's running statistics, so that the results of all later passes differ too (run with torch 2.13:"
        " every batch differed from the loop that starts in evaluation mode)."
    )
    advice = "Call `.eval()` before the loop."
    bad = (
        Bad(
            """\
import torch


@torch.no_grad()
def label(model, batches):
    found = []
    for batch in batches:
        found.append(model(batch).argmax(1))
        model.eval()  # <-
    return found
""",
            """\
import torch


@torch.no_grad()
def label(model, batches):
    found = []
    model.eval()  # <-
    for batch in batches:
        found.append(model(batch).argmax(1))
    return found
""",
        ),
        Bad(
            """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.1))
with torch.no_grad():
    score = net(torch.ones(1, 4))
    net.eval()  # <-
    print(score)
""",
            """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.1))
with torch.no_grad():
    net.eval()  # <-
    score = net(torch.ones(1, 4))
    print(score)
""",
        ),
    )
    good = (
        Good(
            """\
import torch


@torch.no_grad()
def label(model, batches):
    for batch in batches:
        model.eval()
        yield model(batch)
""",
            "the mode is set before the pass",
        ),
        Good(
            """\
def fit(model, batches, optimizer, check):
    for batch in batches:
        model.train()
        model(batch).mean().backward()
        optimizer.step()
        model.eval()
        check(model)
""",
            "the loop trains, and sets its modes by turns",
        ),
    )
    triggers = SETS_EVALUATION_MODE
    uncovers = frozenset({"TRP201"})

    def check(self, module: ModuleView) -> Iterator[Finding]:
        """One finding an ``eval()``."""
        seen: set[Span] = set()
        for facts in module.functions:
            for site in facts.sites.values():
                for event in _late_events(module, facts, site):
                    if event.at not in seen:
                        seen.add(event.at)
                        message = (
                            f"the module is put in evaluation mode after its forward pass (line {site.span.line}) in the"
                            " same loop: the first pass runs with dropout and batch statistics and moves the running"
                            " statistics of batch norm; call it before the loop"
                        )
                        yield Finding(self.code, event.at, message, partial(_fix, module, event))
            for mode, site in _last_evals(module, facts):
                if mode.span not in seen:
                    seen.add(mode.span)
                    message = (
                        f"the module is put in evaluation mode after its only forward pass (line {site.span.line}), which ran"
                        " with dropout and batch statistics; call it before"
                    )
                    yield Finding(self.code, mode.span, message, partial(_move_before, module, mode, site))


def _late_events(module: ModuleView, facts: FunctionFacts, site: Site) -> Iterator[Event]:
    late = [event for event in site.modes if event.kind == EVAL and event.at > site.span and event.origin == event.at]
    if not late or site.inner or module.horizon.is_needed(site):
        return
    others = {event.kind for event in module.entries.modes(facts, site.modes - frozenset(late))} - {EVAL}
    entry_is_eval = any(event.kind == ENTRY for event in site.modes) and not others
    if entry_is_eval or not others or not others <= {FRESH, OPEN, ENTRY}:
        return
    if OPEN in others and not any(event.kind == ENTRY for event in site.modes):
        return  # something unknown may have set the mode
    for event in late:
        if any(e.kind == EVAL and e not in late for e in site.modes):
            return  # evaluation mode before the loop, and again in it: set by turns
        loop = _common_loop(module, site.span, event.at)
        if loop is not None and not _trains(module, facts, loop):
            yield event


def _last_evals(module: ModuleView, facts: FunctionFacts) -> Iterator[tuple[ModeSet, Site]]:
    """``eval()`` on a module made here after its last use: what ran before it ran in training mode."""
    for mode in facts.mode_sets.values():
        if mode.kind != EVAL or len(mode.objects) != 1:
            continue
        before = [s for s in facts.sites.values() if s.objects == mode.objects and s.span < mode.span and not s.inner]
        if not before or any({event.kind for event in site.modes} != {FRESH} for site in before):
            continue
        call = module.layout.call(mode.span)
        if call is None or not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
            continue
        is_statement = isinstance(module.layout.parent(call), ast.Expr)
        if not is_statement or module.layout.loops(call) or _is_used_after(module, call, call.func.value.id):
            continue
        if all(_runs_in_training_mode(module, site) for site in before):
            yield mode, before[0]


def _runs_in_training_mode(module: ModuleView, site: Site) -> bool:
    """Whether a pass ran as the module was made, its result is used, and nothing trained the module."""
    call = module.layout.call(site.span)
    if call is None or isinstance(module.layout.parent(call), ast.Expr) or module.horizon.is_needed(site):
        return False
    obj = next(iter(site.objects))
    return {event.kind for event in site.modes} == {FRESH} and isinstance(obj, Made) and not module.layout.loops(call)


def _is_used_after(module: ModuleView, call: ast.Call, name: str) -> bool:
    function = module.layout.function(call)
    scope: ast.AST = function if function is not None else module.source.tree
    uses = (node for node in ast.walk(scope) if isinstance(node, ast.Name) and node.id == name)
    after = any((node.lineno, node.col_offset) > (call.lineno, call.col_offset) for node in uses)
    inner = (node for node in ast.walk(scope) if isinstance(node, (ast.FunctionDef, ast.Lambda)) and node is not scope)
    closes_over = any(isinstance(n, ast.Name) and n.id == name for node in inner for n in ast.walk(node))
    return after or closes_over


def _move_before(module: ModuleView, mode: ModeSet, site: Site) -> Fix:
    advice = "call it before the forward pass"
    call, forward = module.layout.call(mode.span), module.layout.call(site.span)
    if call is None or forward is None:
        return Fix(Safety.SHOW, advice)
    statement, first = module.layout.statement(call), module.layout.statement(forward)
    if module.layout.block(statement) is not module.layout.block(first):
        return Fix(Safety.SHOW, advice)
    return Fix(Safety.UNSAFE, advice, (MoveStatement(target_of(statement), target_of(first)),))


def _common_loop(module: ModuleView, forward: Span, eval_: Span) -> LoopNode | None:
    """The outermost loop around both places."""
    first, second = module.layout.call(forward), module.layout.call(eval_)
    if first is None or second is None:
        return None
    around = module.layout.loops(first)
    common = [loop for loop in module.layout.loops(second) if loop in around]
    return common[-1] if common else None


def _trains(module: ModuleView, facts: FunctionFacts, loop: LoopNode) -> bool:
    """Whether the loop trains, or sets training mode on purpose."""
    span = span_of(loop)
    inside = [site for site in facts.sites.values() if span[:2] <= site.span[:2] and site.span[2:] <= span[2:]]
    if any(module.horizon.is_needed(site) for site in inside):
        return True
    for mode in facts.mode_sets.values():
        if mode.kind in (TRAIN, OPEN) and span[:2] <= mode.span[:2] and mode.span[2:] <= span[2:]:
            return True
    for node in ast.walk(loop):
        if isinstance(node, ast.Call):
            func = node.func
            name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
            if name != "eval" and TRAINS.search(name):
                return True
    return False


def _fix(module: ModuleView, event: Event) -> Fix:
    """Move the call before the outermost loop that does not bind its receiver."""
    advice = "call it before the loop"
    call = module.layout.call(event.at)
    statement = module.layout.parent(call) if call is not None else None
    if call is None or not isinstance(statement, ast.Expr) or not isinstance(call.func, ast.Attribute):
        return Fix(Safety.SHOW, advice)
    receiver = {node.id for node in ast.walk(call.func.value) if isinstance(node, ast.Name)}
    loops = module.layout.loops(call)
    outer = None
    for loop in loops:
        if receiver & {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}:
            break
        outer = loop
    if outer is None or any(isinstance(node, ast.Call) for node in ast.walk(call.func.value)):
        return Fix(Safety.SHOW, advice)
    path = ast.unparse(call.func.value)
    stored = (n for n in ast.walk(outer) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
    if any(path == ast.unparse(n) or path.startswith(ast.unparse(n) + ".") for n in stored):
        return Fix(Safety.SHOW, advice)
    if len(module.layout.block(statement)) == 1:
        return Fix(Safety.SHOW, advice)
    left_before = (n for n in ast.walk(outer) if isinstance(n, LEAVES) and span_of(n) < span_of(statement))
    is_conditional = module.layout.parent(statement) not in loops or any(left_before)
    block = module.layout.block(outer)
    before = block[block.index(outer) - 1] if block.index(outer) else None
    stands = before is not None and ast.dump(before) == ast.dump(statement)
    move = MoveStatement(target_of(statement), target_of(outer), write=not stands)
    return Fix(Safety.UNSAFE if is_conditional else Safety.SAFE, advice, (move,))
