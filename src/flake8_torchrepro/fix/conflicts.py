"""Refuses edits that undo each other, before anything is changed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import libcst as cst

from ..edits import (
    AddHelper,
    Edit,
    MoveStatement,
    RemoveArgument,
    RemoveStatement,
    ReplaceExpression,
    ReplaceStatement,
    SetKeyword,
)
from .calls import argument_index
from .errors import EditError, targets_of
from .locate import Nodes


def refuse_conflicts(edits: Sequence[Edit], nodes: Nodes) -> None:
    """Raise ``EditError`` for edits of one thing in two ways, and for edits inside what another one takes away."""
    _refuse_twice(edits, nodes)
    touched: defaultdict[cst.CSTNode, list[Edit]] = defaultdict(list)
    for edit in edits:
        for target in targets_of(edit):
            touched[nodes[target]].append(edit)
    for edit in edits:
        for lost in _lost(edit, nodes):
            for other in touched.get(lost, ()):
                if other is not edit:
                    raise EditError(other, "another edit takes its place away")


def _refuse_twice(edits: Sequence[Edit], nodes: Nodes) -> None:
    subjects = Counter(subject for edit in edits for subject in _subjects(edit, nodes))
    for edit in edits:
        if any(subjects[subject] > 1 for subject in _subjects(edit, nodes)):
            raise EditError(edit, "another edit changes the same thing")


def _subjects(edit: Edit, nodes: Nodes) -> Iterator[object]:
    """What may be changed only once."""
    match edit:
        case SetKeyword(call, argument) | RemoveArgument(call, argument):
            node = nodes[call]
            index = argument_index(node, argument) if isinstance(node, cst.Call) else None
            yield call, argument if index is None else index
        case ReplaceExpression(target) | ReplaceStatement(target) | RemoveStatement(target) | MoveStatement(target):
            yield target
        case AddHelper(name):
            yield name


def _lost(edit: Edit, nodes: Nodes) -> Iterator[cst.CSTNode]:
    """The nodes of the original tree that are gone after an edit."""
    match edit:
        case ReplaceExpression(target):
            yield from _inside(nodes[target])
        case ReplaceStatement(target) | RemoveStatement(target) | MoveStatement(target, write=False):
            for child in nodes[target].children:
                yield from _inside(child)
        case SetKeyword(call, argument) | RemoveArgument(call, argument):
            node = nodes[call]
            index = argument_index(node, argument) if isinstance(node, cst.Call) else None
            if isinstance(node, cst.Call) and index is not None:
                yield from _inside(node.args[index].value)


def _inside(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in node.children:
        yield from _inside(child)
