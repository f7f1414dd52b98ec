"""The closed set of edits that a repair is made of: data, so that finding faults needs no editor.

A target names a node by kind and place in the text that was analysed; ``fix`` turns edits into text. Code is given as
source text without indentation; it may have several lines.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from .source import Target


class SetKeyword(NamedTuple):
    """Give a call the keyword argument ``name=value``, in place of one of that name or as the last argument."""

    call: Target
    name: str
    value: str


class RemoveArgument(NamedTuple):
    """Take an argument from a call: a keyword by its name, or a positional one by its index."""

    call: Target
    argument: str | int


class ReplaceExpression(NamedTuple):
    """Put other code in the place of an expression; brackets around it are added where the grammar needs them."""

    target: Target
    code: str


class ReplaceStatement(NamedTuple):
    """Put other simple statements in the place of a simple statement; comments above and behind it stay."""

    target: Target
    code: str


class InsertStatement(NamedTuple):
    """Write statements before or after a statement, in its block; comments above the anchor stay with the anchor."""

    anchor: Target
    code: str
    where: Literal["before", "after"] = "before"


class RemoveStatement(NamedTuple):
    """Take a statement out, with the comment behind it. A block that would be empty makes the edit fail."""

    target: Target


class MoveStatement(NamedTuple):
    """Take a statement out, with its own comments, and write it before another one, in that one's block.

    ``write`` is false where the same statement already stands there, so that only the removal is left.
    """

    target: Target
    before: Target
    write: bool = True


class WrapStatements(NamedTuple):
    """Put ``with item:`` around the statements of one block from ``first`` to ``last``.

    Where they are a single ``with`` statement that ``join`` allows, the item becomes its first one.
    """

    first: Target
    last: Target
    item: str
    join: bool = False


class AddDecorator(NamedTuple):
    """Add a decorator to a function, innermost (below the ones that are there)."""

    function: Target
    code: str


class AddImport(NamedTuple):
    """Make sure that ``import module`` (or ``from module import name``) stands at the top of the file."""

    module: str
    name: str | None = None


class AddHelper(NamedTuple):
    """Define a function at module level after the imports, before the statement ``before`` at the latest."""

    name: str
    code: str


Edit = (
    SetKeyword
    | RemoveArgument
    | ReplaceExpression
    | ReplaceStatement
    | InsertStatement
    | RemoveStatement
    | MoveStatement
    | WrapStatements
    | AddDecorator
    | AddImport
    | AddHelper
)
