"""How the tests of this folder speak of places: by the code that stands there."""

from __future__ import annotations

import ast
from textwrap import dedent

from flake8_torchrepro.edits import Edit, WrapStatements
from flake8_torchrepro.fix.apply import apply_edits
from flake8_torchrepro.source import Source, Target, target_of


def code(text: str) -> str:
    return dedent(text).lstrip("\n")


def statement(text: str, start: str) -> Target:
    """The only statement that is written like this, or else starts like this."""
    return _only(text, start, ast.stmt, exact=False)


def expression(text: str, segment: str) -> Target:
    """The outermost expression that is written like this, which must stand at one place only."""
    return _only(text, segment, ast.expr, exact=True)


def _only(text: str, wanted: str, kind: type[ast.stmt] | type[ast.expr], *, exact: bool) -> Target:
    source = Source.parse(text)
    targets = [target_of(node) for node in ast.walk(source.tree) if isinstance(node, kind)]
    found = {target.span: target for target in reversed(targets) if source.segment(target.span) == wanted}
    if not found and not exact:
        found = {target.span: target for target in targets if source.segment(target.span).startswith(wanted)}
    [target] = found.values()
    return target


def wrap(
    text: str, first: str, last: str | None = None, item: str = "torch.no_grad()", join: bool = False
) -> WrapStatements:
    start = statement(text, first)
    return WrapStatements(start, start if last is None else statement(text, last), item, join)


def check(before: str, after: str, *edits: Edit) -> None:
    assert apply_edits(before, edits) == after
