"""Finds the libcst node that an edit's target names: same kind, same place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from ..edits import Edit
from ..source import Source, Target
from .errors import EditError, targets_of

# Where libcst's class is not called what ast calls it.
_NAMES = {
    "AsyncFor": ("For",),
    "AsyncWith": ("With",),
    "AsyncFunctionDef": ("FunctionDef",),
    "Delete": ("Del",),
    "BinOp": ("BinaryOperation",),
    "BoolOp": ("BooleanOperation",),
    "UnaryOp": ("UnaryOperation",),
    "Compare": ("Comparison",),
    "YieldFrom": ("Yield",),
    "JoinedStr": ("FormattedString", "ConcatenatedString"),
    "Constant": ("SimpleString", "ConcatenatedString", "Integer", "Float", "Imaginary", "Name", "Ellipsis"),
}

_Place = tuple[int, int, int, int]
Nodes = dict[Target, cst.CSTNode]


def locate(module: cst.Module, source: Source, edits: Iterable[Edit]) -> Nodes:
    """The node of every target of the edits; raises ``EditError`` for the first one that has none, or several."""
    targets = {target: edit for edit in edits for target in targets_of(edit)}
    if not targets:
        return {}
    at = _nodes_at(module, {_place(source, target) for target in targets})
    return {target: _only(at[_place(source, target)], target, edit) for target, edit in targets.items()}


def _only(nodes: list[cst.CSTNode], target: Target, edit: Edit) -> cst.CSTNode:
    names = _NAMES.get(target.kind, (target.kind,))
    match [node for node in nodes if type(node).__name__ in names]:
        case [node]:
            return node
        case []:
            raise EditError(edit, f"there is no {target.kind} at its place")
        case _:
            raise EditError(edit, f"several {target.kind} are at its place")


def _place(source: Source, target: Target) -> _Place:
    line, column, end_line, end_column = target.span
    return line, source.character(line, column), end_line, source.character(end_line, end_column)


def _nodes_at(module: cst.Module, places: set[_Place]) -> defaultdict[_Place, list[cst.CSTNode]]:
    ranges: Any = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    found: defaultdict[_Place, list[cst.CSTNode]] = defaultdict(list)
    for node, extent in ranges.items():
        start, end = extent.start, extent.end
        if isinstance(node, (cst.Tuple, cst.GeneratorExp)) and node.lpar:
            start, end = _with_brackets(node, ranges)
        place = (start.line, start.column, end.line, end.column)
        if place in places:
            found[place].append(node)
    return found


def _with_brackets(node: cst.Tuple | cst.GeneratorExp, ranges: dict[cst.CSTNode, CodeRange]) -> tuple[Any, Any]:
    """Of these two ast counts the (innermost) brackets as part of the node."""
    return ranges[node.lpar[-1]].start, ranges[node.rpar[0]].end
