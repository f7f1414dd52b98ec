"""Comments and blank lines above statements, and code given as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import libcst as cst

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
Lines = Sequence[cst.EmptyLine]

BLANK = cst.EmptyLine(indent=False)


def split_attached(lines: Lines) -> tuple[list[cst.EmptyLine], list[cst.EmptyLine]]:
    """The lines above a statement, and of these the last ones: comments that no blank line parts from it.

    A cell marker (``# %%``) is no comment on the statement: what is put above the statement goes below the marker.
    """
    start = len(lines)
    while start and _is_comment(lines[start - 1]):
        start -= 1
    return list(lines[:start]), list(lines[start:])


def _is_comment(line: cst.EmptyLine) -> bool:
    return line.comment is not None and not line.comment.value.startswith("# %%")


def split_header(lines: Lines) -> tuple[list[cst.EmptyLine], list[cst.EmptyLine]]:
    """What stands above the first statement of a file, as comments on the file and lines above that statement.

    A comment that starts the file (a licence, an encoding) is on the file, blank line behind it or not.
    """
    rest, attached = split_attached(lines)
    if not rest:
        return attached, []
    end = len(without_end_blanks(rest))
    return rest[:end], [*rest[end:], *attached]


def leading(statement: Statement) -> Lines:
    """The comments and blank lines above a statement."""
    return statement.leading_lines


def with_leading(statement: Statement, lines: Lines) -> Statement:
    """The statement below these lines instead of its own."""
    return statement.with_changes(leading_lines=tuple(lines))


def below(upper: Lines, lower: Lines) -> list[cst.EmptyLine]:
    """Two runs of lines that have come together, with the blank lines of the longer gap between them."""
    kept = without_end_blanks(upper)
    gap = max(upper[len(kept) :], _blanks(lower), key=len)
    return [*kept, *gap, *lower[len(_blanks(lower)) :]]


def without_end_blanks(lines: Lines) -> Lines:
    """The lines up to the last comment."""
    end = len(lines)
    while end and not lines[end - 1].comment:
        end -= 1
    return lines[:end]


def after_blanks(count: int, lines: Lines) -> list[cst.EmptyLine]:
    """The lines with that many blank ones at the top."""
    return [*[BLANK] * count, *lines[len(_blanks(lines)) :]]


def without_double_blanks(lines: Lines) -> list[cst.EmptyLine]:
    """The lines without blank ones below blank ones, as flake8 wants them in indented code."""
    return [line for i, line in enumerate(lines) if line.comment or i == 0 or lines[i - 1].comment]


def _blanks(lines: Lines) -> Lines:
    return lines[: next((i for i, line in enumerate(lines) if line.comment), len(lines))]


def is_definition(statement: cst.CSTNode) -> bool:
    """Whether blank lines belong around it."""
    return isinstance(statement, (cst.FunctionDef, cst.ClassDef))


def simple_parts(statement: Statement) -> Sequence[cst.BaseSmallStatement]:
    """The simple statements that share a line; none of a compound one."""
    return statement.body if isinstance(statement, cst.SimpleStatementLine) else ()


def is_future(statement: Statement) -> bool:
    """Whether it is an import from ``__future__``, above which only comments and the docstring may stand."""
    match simple_parts(statement):
        case [cst.ImportFrom(module=cst.Name("__future__")), *_]:
            return True
        case _:
            return False


def statements_of(code: str, newline: str) -> list[Statement]:
    """The statements of some code without indentation, to stand in a file with that line end."""
    text = newline.join([*code.strip("\r\n").splitlines(), ""])
    module = cst.parse_module(text)
    body = list(module.body)
    if body:
        body[0] = with_leading(body[0], [*module.header, *leading(body[0])])
    return body


class _Deeper(cst.CSTTransformer):
    """Moves the lines that libcst keeps by their absolute place along with the statement that they belong to."""

    def __init__(self, indent: str, newline: str, outermost: bool) -> None:
        super().__init__()
        self._indent = indent
        self._break = "\\" + newline
        self._outermost = outermost

    def leave_SimpleWhitespace(
        self, original_node: cst.SimpleWhitespace, updated_node: cst.SimpleWhitespace
    ) -> cst.SimpleWhitespace:
        """A line that goes on behind a backslash."""
        if self._break not in updated_node.value:
            return updated_node
        return updated_node.with_changes(value=updated_node.value.replace(self._break, self._break + self._indent))

    def leave_ParenthesizedWhitespace(
        self, original_node: cst.ParenthesizedWhitespace, updated_node: cst.ParenthesizedWhitespace
    ) -> cst.ParenthesizedWhitespace:
        """A line in brackets that starts left of the statement."""
        if updated_node.indent:
            return updated_node
        value = self._indent + updated_node.last_line.value
        return updated_node.with_changes(last_line=cst.SimpleWhitespace(value))

    def leave_EmptyLine(self, original_node: cst.EmptyLine, updated_node: cst.EmptyLine) -> cst.EmptyLine:
        """A blank line of the outermost block counts as indented by nothing, and would be by something."""
        if self._outermost and not updated_node.comment and not updated_node.whitespace.value:
            return updated_node.with_changes(indent=False)
        return updated_node


def deeper(statement: Statement, indent: str, newline: str, outermost: bool) -> Statement:
    """The statement, ready to stand in a block one indent deeper."""
    return cast(Statement, statement.visit(_Deeper(indent, newline, outermost)))
