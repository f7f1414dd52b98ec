"""Puts ``with`` around rows of a block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from ..edits import WrapStatements
from . import lines
from .blocks import Row, flatten
from .errors import EditError


@dataclass(frozen=True, slots=True)
class Range:
    """Rows ``first`` to ``last`` of a block are to be wrapped."""

    first: int
    last: int
    edit: WrapStatements


@dataclass(frozen=True, slots=True)
class Style:
    """What new lines look like where the wrapped statements stand; ``outermost``: they are not indented."""

    indent: str | None  # of the block, if it is not the one of the file
    file_indent: str
    newline: str
    outermost: bool

    @property
    def step(self) -> str:
        """One indent."""
        return self.file_indent if self.indent is None else self.indent


def merged(ranges: Iterable[Range]) -> list[Range]:
    """One range for those that overlap and want the same item; the innermost first."""
    found: list[Range] = []
    for new in sorted(ranges, key=lambda r: (r.first, -r.last)):
        same = next((r for r in found if r.edit.item == new.edit.item and new.first <= r.last), None)
        if same is None:
            found.append(new)
        elif new.last > same.last:
            found[found.index(same)] = replace(same, last=new.last)
    found.reverse()  # of two that are alike the first one is to be outside
    return sorted(found, key=lambda r: r.last - r.first)


def wrap(rows: list[Row], ranges: Sequence[Range], style: Style) -> list[Row]:
    """The rows with every range of them wrapped; the ranges come from ``merged``."""
    for wanted in ranges:
        inside = [row for row in rows if wanted.first <= row.last and row.first <= wanted.last]
        if inside[0].first < wanted.first or inside[-1].last > wanted.last:
            raise EditError(wanted.edit, "it crosses another wrap")
        if not any(row.own for row in inside):
            raise EditError(wanted.edit, "its statements are gone")
        if any(lines.is_future(statement) for row in inside for statement in row.own):
            raise EditError(wanted.edit, "an import from __future__ must stay at the top")
        start = rows.index(inside[0])
        rows = [*rows[:start], _wrapped(inside, wanted.edit, style), *rows[start + len(inside) :]]
    return rows


def _wrapped(inside: Sequence[Row], edit: WrapStatements, style: Style) -> Row:
    top, bottom = inside[0], inside[-1]
    own = _joined(inside, edit, style) if edit.join else None
    parts = tuple(part for row in inside for part in row.parts)
    return Row(
        parts,
        top.lead,
        [own or _with(inside, edit, style)],
        top.first,
        bottom.last,
        before=top.before,
        after=bottom.after,
    )


def _items(edit: WrapStatements, style: Style) -> Sequence[cst.WithItem]:
    try:
        [statement] = lines.statements_of(f"with {edit.item}: pass", style.newline)
    except cst.ParserSyntaxError as error:
        raise EditError(edit, f"{edit.item!r} is not the item of a with") from error
    assert isinstance(statement, cst.With)
    return statement.items


def _with(inside: Sequence[Row], edit: WrapStatements, style: Style) -> cst.With:
    kept = [replace(row) for row in inside]
    kept[0].lead, kept[0].before, kept[-1].after = (), [], []
    body, left = flatten(kept, outermost=False)
    if style.outermost:
        body = [lines.with_leading(s, lines.without_double_blanks(lines.leading(s))) for s in body]
    moved = [lines.deeper(s, style.step, style.newline, style.outermost) for s in body]
    return cst.With(_items(edit, style), cst.IndentedBlock(moved, indent=style.indent, footer=tuple(left)))


def _joined(inside: Sequence[Row], edit: WrapStatements, style: Style) -> cst.With | None:
    match inside:
        case [Row(own=[cst.With(asynchronous=None) as statement])] if _may_grow(statement):
            new, there = _items(edit, style), [_code(item) for item in statement.items]
            new = [item for item in new if _code(item) not in there]
            return statement.with_changes(items=[*(_before_others(item, statement) for item in new), *statement.items])
        case _:
            return None


def _may_grow(statement: cst.With) -> bool:
    """Whether a new item leaves the line breaks in the others in order: columns behind an open bracket would move."""
    if isinstance(statement.lpar, cst.LeftParen):
        return isinstance(statement.lpar.whitespace_after, cst.ParenthesizedWhitespace)
    return not any("\n" in cst.Module([]).code_for_node(item) for item in statement.items)


def _before_others(item: cst.WithItem, statement: cst.With) -> cst.WithItem:
    """The item as one of several; where each has a line of its own, in brackets, so has this one."""
    gap: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    if isinstance(statement.lpar, cst.LeftParen):
        gap = statement.lpar.whitespace_after.with_changes(first_line=cst.TrailingWhitespace())
    return item.with_changes(comma=cst.Comma(whitespace_after=gap))


def _code(item: cst.WithItem) -> str:
    return cst.Module([]).code_for_node(item.with_changes(comma=cst.MaybeSentinel.DEFAULT))
