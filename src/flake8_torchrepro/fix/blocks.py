"""The statements of one block, as rows that edits add to, take from and wrap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import libcst as cst

from . import lines
from .lines import Lines, Statement

Block = cst.Module | cst.IndentedBlock | cst.SimpleStatementSuite


@dataclass(slots=True)
class Row:
    """What becomes of one statement, or of several that share a line: ``parts`` are the original nodes.

    ``lead`` are the lines above, which ``own`` has not any more. ``first`` and ``last`` count the rows of the original
    block that it stands for: several after a wrap.
    """

    parts: tuple[cst.CSTNode, ...]
    lead: Lines
    own: list[Statement]
    first: int = 0
    last: int = 0
    before: list[Statement] = field(default_factory=list)
    after: list[Statement] = field(default_factory=list)
    comments_left: bool = False  # they have gone along with the statement

    @property
    def all(self) -> list[Statement]:
        """Every statement of the row in order, without ``lead``."""
        return [*self.before, *self.own, *self.after]


def statements_in(block: Block) -> Sequence[Statement]:
    """The statement lines of a block; the one behind a header on its line is one too."""
    if isinstance(block, cst.SimpleStatementSuite):
        return [cst.SimpleStatementLine(block.body, trailing_whitespace=block.trailing_whitespace)]
    return cast(Sequence[Statement], block.body)


def parts_of(block: Block) -> Iterator[cst.CSTNode]:
    """The statements of a block, those that share a line one by one."""
    for statement in statements_in(block):
        if isinstance(statement, cst.SimpleStatementLine):
            yield from statement.body
        else:
            yield statement


def without_header(module: cst.Module) -> tuple[Lines, cst.Module]:
    """The comments on the file, and the module whose first statement has those that are on it."""
    if not module.body:
        return module.header, module
    first, *rest = statements_in(module)
    header, lead = lines.split_header([*module.header, *lines.leading(first)])
    return header, module.with_changes(body=[lines.with_leading(first, lead), *rest])


def with_body(old: Block, body: Sequence[Statement], left: Lines) -> Block:
    """The block with a new body; one on the line of its header opens up unless it is still one simple line."""
    match old, body:
        case cst.SimpleStatementSuite(), [cst.SimpleStatementLine() as line]:
            return old.with_changes(body=line.body, trailing_whitespace=line.trailing_whitespace)
        case cst.IndentedBlock(), _:
            return old.with_changes(body=body, footer=[*left, *old.footer])
        case _:
            return cst.IndentedBlock(body)


def rows_of(
    originals: Iterable[Statement], updated: Iterable[Statement], must_split: Callable[[cst.CSTNode], bool]
) -> list[Row]:
    """One row for each statement line; lines with a statement that ``must_split`` are cut at their semicolons."""
    rows = [row for old, new in zip(originals, updated, strict=True) for row in _rows(old, new, must_split)]
    for index, row in enumerate(rows):
        row.first = row.last = index
    return rows


def _rows(old: Statement, new: Statement, must_split: Callable[[cst.CSTNode], bool]) -> Iterator[Row]:
    lead, bare = lines.leading(new), lines.with_leading(new, ())
    match old, bare:
        case cst.SimpleStatementLine(), cst.SimpleStatementLine():
            if len(old.body) > 1 and any(map(must_split, old.body)):
                for index, (part, line) in enumerate(zip(old.body, _split(bare), strict=True)):
                    yield Row((part,), () if index else lead, [line])
            else:
                yield Row(tuple(old.body), lead, [bare])
        case _:
            yield Row((old,), lead, [bare])


def _split(line: cst.SimpleStatementLine) -> Iterator[cst.SimpleStatementLine]:
    *most, last = (part.with_changes(semicolon=cst.MaybeSentinel.DEFAULT) for part in line.body)
    yield from (cst.SimpleStatementLine([part]) for part in most)
    yield line.with_changes(body=[last])


def take(row: Row, part: cst.CSTNode) -> cst.SimpleStatementLine | Statement:
    """Take a statement out of its row and give it back, with the comment behind it if it was alone there."""
    index = row.parts.index(part)
    row.parts = (*row.parts[:index], *row.parts[index + 1 :])
    match row.own:
        case [cst.SimpleStatementLine() as line] if len(line.body) > 1:
            rest = [*line.body[:index], *line.body[index + 1 :]]
            if index == len(rest):
                rest[-1] = rest[-1].with_changes(semicolon=line.body[-1].semicolon)
            row.own = [line.with_changes(body=rest)]
            return cst.SimpleStatementLine([line.body[index].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])
        case [statement]:
            row.own = []
            return statement
    raise ValueError("taken twice")


def take_with_comments(row: Row, part: cst.CSTNode) -> Statement:
    """Take a statement out of its row, with the comments above it if it was alone there."""
    statement = take(row, part)
    if row.own:
        return statement
    row.comments_left = True
    return lines.with_leading(statement, lines.split_attached(row.lead)[1])


def replace(row: Row, part: cst.CSTNode, new: Sequence[Statement]) -> None:
    """Put simple statements in the place of one, below its comments; the first one keeps the comment behind it."""
    [line] = row.own
    assert isinstance(line, cst.SimpleStatementLine)
    index = row.parts.index(part)
    first, *rest = new
    assert isinstance(first, cst.SimpleStatementLine)
    if len(line.body) == 1:
        row.own = [line.with_changes(body=first.body), *rest]
        return
    small = first.body[0].with_changes(semicolon=line.body[index].semicolon)
    row.own = [line.with_changes(body=[*line.body[:index], small, *line.body[index + 1 :]])]


def flatten(rows: Sequence[Row], outermost: bool) -> tuple[list[Statement], Lines]:
    """The statements of the rows with their lines above, and the comments that are left over at the end."""
    body: list[Statement] = []
    gone: Lines | None = None  # what stood above statements that are no longer there
    for index, row in enumerate(rows):
        top, above_own = _lead(row, _follower(rows, index), outermost)
        statements = row.all
        if not statements:
            gone = top if gone is None else lines.below(gone, top)
            continue
        statements[0] = _above(statements[0], top if gone is None else _closed_up(gone, top, bool(body)))
        if row.own and row.before:
            statements[len(row.before)] = _above(statements[len(row.before)], above_own)
        body += statements
        gone = None
    return body, lines.without_end_blanks(gone or ())


def _closed_up(gone: Lines, lead: Lines, inside: bool) -> Lines:
    """The lines above a statement that has taken the place of one: no blank ones are new at the top of a block."""
    return lines.below(gone, lead) if inside or _has_comment(gone) else lines.after_blanks(len(gone), lead)


def _has_comment(some: Lines) -> bool:
    return any(line.comment for line in some)


def _above(statement: Statement, some: Lines) -> Statement:
    return lines.with_leading(statement, [*some, *lines.leading(statement)]) if some else statement


def _lead(row: Row, follower: Row | None, outermost: bool) -> tuple[Lines, Lines]:
    """The lines above the first statement of the row, and those above its own one where others come before it."""
    rest, attached = lines.split_attached(row.lead)
    if not row.own:
        alone = follower is None or bool(follower.lead)
        return rest if row.comments_left or alone else row.lead, ()
    if not row.before:
        return row.lead, ()
    blanks = (2 if outermost else 1) if lines.is_definition(row.own[0]) else 0
    return rest, lines.after_blanks(blanks, attached)


def _follower(rows: Sequence[Row], index: int) -> Row | None:
    return next((row for row in rows[index + 1 :] if row.all), None)
