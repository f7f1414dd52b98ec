"""The one pass. Edits are made on the way up, on updated nodes, so that one inside what another one moves is kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import cast

import libcst as cst

from ..edits import (
    AddDecorator,
    AddHelper,
    AddImport,
    Edit,
    InsertStatement,
    MoveStatement,
    RemoveArgument,
    RemoveStatement,
    ReplaceExpression,
    ReplaceStatement,
    SetKeyword,
    WrapStatements,
)
from ..source import Source
from . import lines
from .blocks import (
    Block,
    Row,
    flatten,
    parts_of,
    replace,
    rows_of,
    statements_in,
    take,
    take_with_comments,
    with_body,
    without_header,
)
from .calls import argument_index, remove_argument, set_keyword
from .conflicts import refuse_conflicts
from .errors import EditError, targets_of
from .expressions import replacement
from .lines import Statement
from .locate import Nodes
from .toplevel import add_helper, add_import
from .wraps import Range, Style, merged, wrap


class Editor(cst.CSTTransformer):
    """Makes edits whose targets have been located."""

    def __init__(self, module: cst.Module, source: Source, nodes: Nodes, edits: Sequence[Edit]) -> None:
        super().__init__()
        refuse_conflicts(edits, nodes)
        self._module = module
        self._source = source
        self._nodes = nodes
        self._top = [edit for edit in edits if isinstance(edit, (AddImport, AddHelper))]
        self._open = {edit: None for edit in edits if targets_of(edit)}  # not made yet
        self._edits: defaultdict[cst.CSTNode, list[Edit]] = defaultdict(list)
        for edit in self._open:
            for target in dict.fromkeys(targets_of(edit)):
                self._edits[nodes[target]].append(edit)
        self._path: list[cst.CSTNode] = []
        self._moved: dict[MoveStatement, Statement] = {}
        self._covered: defaultdict[cst.CSTNode, set[str]] = defaultdict(set)  # the items of wraps around a statement

    def finish(self) -> None:
        """Raise ``EditError`` if an edit has not been made."""
        for edit in self._open:
            reason = "its target is not a statement of a block" if edit not in self._moved else "it would move downward"
            raise EditError(edit, reason)

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Remember the ancestors of the nodes below."""
        self._path.append(node)
        if isinstance(node, (cst.Module, cst.IndentedBlock)):
            self._cover(node)
        return super().on_visit(node)

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        """Make the edits of a node that has been left."""
        self._path.pop()
        new: cst.CSTNode = cast(cst.CSTNode, super().on_leave(original_node, updated_node))
        if isinstance(original_node, Block) and isinstance(new, Block):
            new = self._block(original_node, new)
        elif original_node in self._edits:
            new = self._expression(original_node, new)
        return cast(cst.CSTNodeT, new)

    def _expression(self, old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        for edit in sorted(self._edits[old], key=_positions_first):
            match edit, new:
                case SetKeyword(_, name, value), cst.Call():
                    new = set_keyword(new, name, self._parsed(edit, value))
                case RemoveArgument(_, argument), cst.Call():
                    index = argument_index(new, argument)
                    if index is None:
                        raise EditError(edit, f"the call has no argument {argument!r}")
                    new = remove_argument(new, index)
                case ReplaceExpression(_, code), cst.BaseExpression():
                    new = replacement(cast(cst.BaseExpression, old), self._parsed(edit, code), self._path)
                case AddDecorator(_, code), cst.FunctionDef():
                    new = self._decorated(new, self._parsed(edit, code.strip().removeprefix("@")))
                case _:
                    continue
            self._open.pop(edit)
        return new

    def _parsed(self, edit: Edit, code: str) -> cst.BaseExpression:
        try:
            return cst.parse_expression(code.strip(), self._module.config_for_parsing)
        except cst.ParserSyntaxError as error:
            raise EditError(edit, f"{code!r} is not an expression") from error

    def _decorated(self, function: cst.FunctionDef, decorator: cst.BaseExpression) -> cst.FunctionDef:
        if any(decorator.deep_equals(there.decorator) for there in function.decorators):
            return function
        return function.with_changes(decorators=[*function.decorators, cst.Decorator(decorator)])

    # Blocks.

    def _block(self, old: Block, new: Block) -> Block:
        outermost = isinstance(old, cst.Module)
        if not any(part in self._edits for part in parts_of(old)) and not (outermost and self._top):
            return new
        header: lines.Lines = ()
        if isinstance(new, cst.Module):
            header, new = without_header(new)
        rows = rows_of(statements_in(old), statements_in(new), self._must_split)
        ranges = list(self._ranges({part: row.first for row in rows for part in row.parts}))
        self._change(rows, outermost)
        body, left = flatten(wrap(rows, merged(ranges), self._style(old)), outermost)
        if isinstance(new, cst.Module):
            body = self._with_top(body)
            return new.with_changes(header=header, body=body, footer=[*left, *new.footer])
        if not body:
            edit = next(edit for part in parts_of(old) for edit in self._edits.get(part, ()))
            raise EditError(edit, "its block would be empty")
        return with_body(new, body, left)

    def _with_top(self, body: list[Statement]) -> list[Statement]:
        for edit in self._top:
            if isinstance(edit, AddImport):
                body = add_import(body, edit, self._source.tree, self._module.default_newline)
        for edit in reversed(self._top):
            if isinstance(edit, AddHelper):
                body = add_helper(body, edit, self._source.tree, self._module.default_newline)
        return body

    def _style(self, block: Block) -> Style:
        indent = block.indent if isinstance(block, cst.IndentedBlock) else None
        outermost = isinstance(block, cst.Module)
        return Style(indent, self._module.default_indent, self._module.default_newline, outermost)

    def _must_split(self, part: cst.CSTNode) -> bool:
        """Whether a statement needs a line of its own."""
        return any(self._needs_line(edit, part) for edit in self._edits.get(part, ()))

    def _needs_line(self, edit: Edit, part: cst.CSTNode) -> bool:
        match edit:
            case ReplaceStatement():
                return sum(len(line.body) for line in self._simple(edit)) > 1
            case MoveStatement(target):
                return self._nodes[target] is not part
            case _:
                return isinstance(edit, (InsertStatement, WrapStatements))

    def _change(self, rows: Sequence[Row], outermost: bool) -> None:
        """Take, replace, and only then put: what moves within the block has been taken by then."""
        work = [(row, part, edit) for row in rows for part in row.parts for edit in self._edits.get(part, ())]
        for row, part, edit in work:
            match edit:
                case RemoveStatement() | MoveStatement(write=False) if self._is_target(edit, part):
                    take(row, part)
                    self._open.pop(edit)
                case MoveStatement() if self._is_target(edit, part):
                    self._moved[edit] = take_with_comments(row, part)
                case ReplaceStatement():
                    self._replace(row, part, edit)
        for row, part, edit in work:
            match edit:
                case InsertStatement():
                    self._insert(row, edit, outermost)
                case MoveStatement(write=True) if self._nodes[edit.before] is part and edit in self._moved:
                    _put(row, self._moved[edit])
                    self._open.pop(edit)

    def _is_target(self, edit: RemoveStatement | MoveStatement, part: cst.CSTNode) -> bool:
        return self._nodes[edit.target] is part

    def _replace(self, row: Row, part: cst.CSTNode, edit: ReplaceStatement) -> None:
        if not isinstance(row.own[0], cst.SimpleStatementLine):
            raise EditError(edit, "its target is not a simple statement")
        replace(row, part, self._simple(edit))
        self._open.pop(edit)

    def _simple(self, edit: ReplaceStatement) -> list[cst.SimpleStatementLine]:
        statements = self._statements(edit)
        simple = [line for line in statements if isinstance(line, cst.SimpleStatementLine)]
        if len(simple) < len(statements):
            raise EditError(edit, f"{edit.code!r} is not made of simple statements")
        return simple

    def _insert(self, row: Row, edit: InsertStatement, outermost: bool) -> None:
        new = self._statements(edit)
        if edit.where == "before":
            row.before += new
        else:
            if any(lines.is_definition(part) for part in row.parts):
                new[0] = lines.with_leading(new[0], [lines.BLANK] * (2 if outermost else 1))
            row.after += new
        self._open.pop(edit)

    def _statements(self, edit: InsertStatement | ReplaceStatement) -> list[Statement]:
        try:
            statements = lines.statements_of(edit.code, self._module.default_newline)
        except cst.ParserSyntaxError as error:
            raise EditError(edit, f"{edit.code!r} is not code") from error
        if not statements:
            raise EditError(edit, "its code has no statements")
        return statements

    # Wraps.

    def _ranges(self, index: dict[cst.CSTNode, int]) -> Iterator[Range]:
        for first in index:
            for edit in self._wraps_from(first):
                last = index.get(self._nodes[edit.last])
                if last is None or last < index[first]:
                    raise EditError(edit, "its last statement does not follow in the block of its first one")
                self._open.pop(edit)
                if not self._is_covered(edit):
                    yield Range(index[first], last, edit)

    def _wraps_from(self, part: cst.CSTNode) -> Iterator[WrapStatements]:
        for edit in self._edits.get(part, ()):
            if isinstance(edit, WrapStatements) and self._nodes[edit.first] is part:
                yield edit

    def _cover(self, block: cst.Module | cst.IndentedBlock) -> None:
        """Note which statements of the block will stand in which wraps."""
        parts = list(parts_of(block))
        for start, first in enumerate(parts):
            for edit in self._wraps_from(first):
                last = self._nodes[edit.last]
                for part in parts[start : parts.index(last) + 1 if last in parts else start]:
                    self._covered[part].add(edit.item)

    def _is_covered(self, edit: WrapStatements) -> bool:
        """Whether a block around this one is wrapped in the same, with no function between that runs later."""
        for ancestor in reversed(self._path):
            if isinstance(ancestor, (cst.FunctionDef, cst.Lambda)):
                return False
            if edit.item in self._covered.get(ancestor, ()):
                return True
        return False


def _positions_first(edit: Edit) -> int:
    """Positional arguments go from the last to the first, while their indexes hold; then the rest in order."""
    return -1 - edit.argument if isinstance(edit, RemoveArgument) and isinstance(edit.argument, int) else 0


def _put(row: Row, statement: Statement) -> None:
    """Write a moved statement above those of the row, unless it is there already."""
    if _code(statement) not in map(_code, row.before):
        row.before.append(statement)


def _code(statement: Statement) -> str:
    bare = lines.with_leading(statement, ())
    if isinstance(bare, cst.SimpleStatementLine):
        bare = bare.with_changes(trailing_whitespace=cst.TrailingWhitespace())
    return cst.Module([]).code_for_node(bare)
