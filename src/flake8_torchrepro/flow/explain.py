"""What the analysis knows at a line, in words: for users who wonder, and for its authors who look for a missed alarm."""

from __future__ import annotations

from collections.abc import Iterator

from .facts import FunctionFacts, Site
from .state import ENTRY, Events
from .view import ModuleView

WORDS = {
    "eval": "evaluation mode, set",
    "train": "training mode, set",
    "fresh": "training mode, as made",
    "entry": "what held when the function was entered",
    "open": "unknown",
    "on": "gradients on",
    "off": "gradients off",
}


def why(view: ModuleView, line: int) -> list[str]:
    """Everything that is known at a line of the file, a fact a line of text."""
    told: list[str] = []
    view.find_callers([facts for facts in view.functions if view.judge.faults(facts)])
    for facts in view.functions:
        told += _tell_function(view, facts, line)
    for setting in view.facts.settings:
        if setting.span.line <= line <= setting.span.end_line:
            told.append(f"setting {setting.name} = {setting.value}")
    return told or [f"nothing that is followed happens at line {line}"]


def _tell_function(view: ModuleView, facts: FunctionFacts, line: int) -> Iterator[str]:
    for site in facts.sites.values():
        if site.span.line <= line <= site.span.end_line:
            yield from _tell_site(view, site)
    for mode in facts.mode_sets.values():
        if mode.span.line <= line <= mode.span.end_line:
            yield f"in {facts.qualified}: sets {_names(mode.objects)} to {WORDS.get(mode.kind, mode.kind)} here"
    for call in facts.calls.values():
        if call.span.line <= line <= call.span.end_line:
            name = f"{call.callee!r}.{call.method}" if call.method else repr(call.callee)
            given = [f"{key}={value!r}" for key, value in call.bindings.items()]
            given = given or [repr(value) for value in call.arguments.positional]
            given += [f"{key}={value!r}" for key, value in call.arguments.keywords] if not call.bindings else []
            yield f"in {facts.qualified}: calls {name}({', '.join(given)})"


def _tell_site(view: ModuleView, site: Site) -> Iterator[str]:
    verdict = view.judge.verdict(site)
    kind = "a call that runs a forward pass of" if site.inner else "a forward pass of"
    if not site.inner and all(event.kind == ENTRY for event in site.modes) and not verdict.is_fault:
        kind = "a call (a forward pass, if it is a module) of"
    yield f"in {site.function.qualified}, column {site.span.column + 1}: {kind} {_names(site.objects)}"
    yield f"  mode: {_events(verdict.modes)}"
    yield f"  grad mode: {_events(verdict.grad)}"
    if site.escapes:
        yield f"  the result is {', '.join(sorted(site.escapes))}"
    yield f"  TRP201: {'reported' if verdict.is_fault else 'not reported'}: {verdict.why}"


def _events(events: Events) -> str:
    told = set()
    for event in events:
        where = f" at line {event.origin.line}" if event.origin.line else ""
        told.add(f"{WORDS.get(event.kind, event.kind)}{where}")
    return "; or ".join(sorted(told)) or "nothing reaches it"


def _names(objects: frozenset[object]) -> str:
    return " or ".join(sorted(f"`{obj!r}`" for obj in objects)) or "nothing known"
