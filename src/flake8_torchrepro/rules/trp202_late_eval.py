"""TRP202: a module is put in evaluation mode after its forward pass in the same loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..edits import MoveStatement
from ..finding import Finding, Fix, Safety
from ..flow.facts import FunctionFacts, Site
from ..flow.layout import LoopNode
from ..flow.state import ENTRY, EVAL, FRESH, OPEN, TRAIN, Event
from ..flow.view import ModuleView
from ..guarding import TRAINS
from ..rule import Bad, Good, Rule
from ..source import Span, span_of, target_of


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
    words = (".eval", "train(False", "train(mode=False")
    triggers = re.compile(r"\beval\b|\btrain\s*\(\s*(mode\s*=\s*)?False")
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
                        yield Finding(self.code, event.at, message, _fix(module, event))


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
    if len(module.layout.block(statement)) == 1:
        return Fix(Safety.SHOW, advice)
    is_conditional = module.layout.parent(statement) not in loops
    block = module.layout.block(outer)
    before = block[block.index(outer) - 1] if block.index(outer) else None
    stands = before is not None and ast.dump(before) == ast.dump(statement)
    move = MoveStatement(target_of(statement), target_of(outer), write=not stands)
    return Fix(Safety.UNSAFE if is_conditional else Safety.SAFE, advice, (move,))
