"""What names mean at module level, and who speaks of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst


def bindings(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Every name that the module's own code binds, with the node that does."""
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node
                continue
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    yield alias.asname or alias.name.partition(".")[0], node
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name, node
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                continue
        todo += ast.iter_child_nodes(node)


def mentions(node: cst.CSTNode, name: str, *, everywhere: bool = False) -> bool:
    """Whether code speaks of a name when it runs, or, ``everywhere``, when functions in it are called."""
    match node:
        case cst.Name(value):
            return value == name
        case cst.Attribute(value):
            return mentions(value, name, everywhere=everywhere)
        case cst.Arg(value):
            return mentions(value, name, everywhere=everywhere)
        case cst.Import() | cst.ImportFrom():
            return False
        case cst.FunctionDef() if not everywhere:
            return any(mentions(child, name) for child in (*node.decorators, node.params))
        case _:
            return any(mentions(child, name, everywhere=everywhere) for child in node.children)
