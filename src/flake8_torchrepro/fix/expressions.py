"""Puts other code in the place of an expression, with brackets where the grammar needs them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast

import libcst as cst

_ALWAYS_BRACKETED = (cst.Tuple, cst.NamedExpr, cst.Yield, cst.GeneratorExp)


def replacement(old: cst.BaseExpression, new: cst.BaseExpression, path: Sequence[cst.CSTNode]) -> cst.BaseExpression:
    """``new`` as it stands in the place of ``old``, whose ancestors are ``path``, outermost first."""
    own = 1 if isinstance(old, (cst.Tuple, cst.GeneratorExp)) and old.lpar else 0
    left, right = old.lpar[: len(old.lpar) - own], old.rpar[own:]
    if left:
        return new.with_changes(lpar=[*left, *new.lpar], rpar=[*new.rpar, *right])
    if new.lpar or not _needs_brackets(old, new, _root(old, path)):
        return new
    return _bracketed(new)


def _root(old: cst.BaseExpression, path: Sequence[cst.CSTNode]) -> cst.BaseExpression:
    """The outermost expression of the statement that holds ``old``."""
    root = old
    for ancestor in reversed(path):
        if isinstance(ancestor, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            break
        if isinstance(ancestor, cst.BaseExpression):
            root = ancestor
    return root


def _needs_brackets(old: cst.BaseExpression, new: cst.BaseExpression, root: cst.BaseExpression) -> bool:
    """Whether the code would mean something else without them: asked of the parser rather than of a table."""
    if root is old or isinstance(new, _ALWAYS_BRACKETED):
        return isinstance(new, _ALWAYS_BRACKETED)
    return _meaning(root, old, new) != _meaning(root, old, _bracketed(new))


def _meaning(root: cst.BaseExpression, old: cst.BaseExpression, new: cst.BaseExpression) -> str | None:
    try:
        code = cst.Module([]).code_for_node(cast(cst.CSTNode, root.deep_replace(old, new)))
        return ast.dump(ast.parse(f"({code}\n)", mode="eval"))
    except (SyntaxError, cst.CSTValidationError):
        return None


def _bracketed(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
