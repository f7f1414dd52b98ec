"""Which names the top level of a module binds, and how often."""

from __future__ import annotations

import ast
from collections.abc import Callable


def count_names(body: list[ast.stmt], counts: dict[str, int]) -> None:
    """How often each name is bound at the top level of a module (blocks of statements included)."""

    def count(name: str) -> None:
        counts[name] = counts.get(name, 0) + 1

    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                count(node.name)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    count(alias.asname or alias.name.partition(".")[0])
            case ast.Assign():
                for target in node.targets:
                    _count_target(target, count)
            case ast.AnnAssign() | ast.AugAssign():
                _count_target(node.target, count)
            case ast.For() | ast.AsyncFor():
                _count_target(node.target, count)
                _count_target(node.target, count)  # bound again each time round
                count_names([*node.body, *node.orelse], counts)
            case ast.While() | ast.If():
                count_names([*node.body, *node.orelse], counts)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if item.optional_vars is not None:
                        _count_target(item.optional_vars, count)
                count_names(node.body, counts)
            case ast.Try():
                count_names([*node.body, *node.orelse, *node.finalbody], counts)
                for handler in node.handlers:
                    count_names(handler.body, counts)


def _count_target(target: ast.expr, count: Callable[[str], None]) -> None:
    match target:
        case ast.Name():
            count(target.id)
        case ast.Tuple() | ast.List():
            for element in target.elts:
                _count_target(element, count)
        case ast.Starred():
            _count_target(target.value, count)
