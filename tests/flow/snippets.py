"""Small programs that say in their comments what is known at a line, and the reading of those comments.

A mark is ``# words``. Words of modes: ``eval``, ``train``, ``fresh`` (alternatives as ``eval|train``), ``maybe`` (neither
surely evaluation nor surely training), ``!eval`` (not surely evaluation), ``!train``. Words of the grad mode: ``on``,
``off``, ``unsure``, ``!on``. Words of the verdict: ``fault``, ``fine``, and the reasons for being fine, ``needed`` among
them. ``none``: no forward pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest

from flake8_torchrepro.flow.facts import Site
from flake8_torchrepro.flow.program import Program
from flake8_torchrepro.flow.view import ModuleView
from flake8_torchrepro.settings import Settings
from flake8_torchrepro.source import Source

PRELUDE = "import torch\nfrom torch import nn\nfrom nets import Net\n"
MARK = re.compile(r"#\s*(.+?)\s*$")
MODES = {"eval", "train", "fresh"}
GRADS = {"on", "off"}
REASONS = {
    "leaf": "an input requires gradients",
    "frozen": "the module's parameters are frozen",
    "hooked": "a backward hook is registered on the module",
    "plain": "the module has no parameters",
    "takes": "the module's own forward takes gradients",
}


def view_of(text: str) -> ModuleView:
    """A file of its own, interpreted."""
    return Program(Settings()).view(Source.parse(PRELUDE + text, "f.py"))


def marks(view: ModuleView) -> Iterator[tuple[int, str]]:
    """The lines that have a mark, and the marks."""
    for number, line in enumerate(view.source.lines, 1):
        found = MARK.search(line)
        if found is not None:
            yield number, found[1]


def sites_at(view: ModuleView, line: int) -> list[Site]:
    """The forward passes (and the calls that run one) that begin at a line."""
    return [site for facts in view.functions for site in facts.sites.values() if site.span.line == line]


def faulty_lines(view: ModuleView) -> set[int]:
    """The lines at which a forward pass is reported."""
    return {site.span.line for facts in view.functions for site in view.judge.faults(facts)}


def complaints(text: str) -> list[str]:
    """What is not as the marks of a program say."""
    view = view_of(text)
    found = []
    for line, words in marks(view):
        for word in words.split():
            problem = _problem(view, line, word)
            if problem:
                found.append(f"`{view.source.lines[line - 1].strip()}` is {problem}")
    wrong = faulty_lines(view) - {line for line, words in marks(view) if "fault" in words.split()}
    if any("fault" in words or set(words.split()) & {"fine", "needed", *REASONS} for _, words in marks(view)):
        found += [f"false alarm at `{view.source.lines[line - 1].strip()}`" for line in sorted(wrong)]
    return found


def _problem(view: ModuleView, line: int, word: str) -> str:
    sites = sites_at(view, line)
    if word == "none":
        return "a forward pass" if sites else ""
    if word == "fault":
        return "" if line in faulty_lines(view) else f"missed: {[view.judge.verdict(site).why for site in sites]}"
    if word == "fine":
        return "a false alarm" if line in faulty_lines(view) else ""
    if not sites:
        return "no forward pass"
    if word == "needed":
        return "" if any(view.horizon.is_needed(site) for site in sites) else "not needed"
    if word in REASONS:
        whys = [view.judge.verdict(site).why for site in sites]
        return "" if REASONS[word] in whys else f"{whys}"
    modes = {event.kind for site in sites for event in view.judge.verdict(site).modes}
    grads = {event.kind for site in sites for event in view.judge.verdict(site).grad}
    told = {**_modes_told(word, modes), **_grads_told(word, grads)}
    assert told, f"no such word: {word}"
    return "" if all(told.values()) else f"{sorted(modes)} {sorted(grads)}"


def _modes_told(word: str, kinds: set[str]) -> dict[str, bool]:
    if word == "maybe":
        return {word: bool(kinds) and kinds != {"eval"} and not kinds <= {"train", "fresh"}}
    if word == "!eval":
        return {word: bool(kinds) and kinds != {"eval"}}
    if word == "!train":
        return {word: bool(kinds) and not kinds <= {"train", "fresh"}}
    return {word: kinds == set(word.split("|"))} if set(word.split("|")) <= MODES else {}


def _grads_told(word: str, kinds: set[str]) -> dict[str, bool]:
    if word == "unsure":
        return {word: kinds not in ({"on"}, {"off"})}
    if word == "!on":
        return {word: bool(kinds) and kinds != {"on"}}
    return {word: kinds == set(word.split("|"))} if set(word.split("|")) <= GRADS else {}


def table(snippets: Mapping[str, str], known: Mapping[str, str]) -> list[object]:
    """The programs as parameters of a test; those that are not understood yet are marked, each with the reason."""
    assert set(known) <= set(snippets), f"no such program: {sorted(set(known) - set(snippets))}"
    return [
        pytest.param(
            text,
            id=name.replace(" ", "-"),
            marks=[pytest.mark.xfail(strict=True, reason=known[name])] if name in known else [],
        )
        for name, text in snippets.items()
    ]
