"""The tree of the linted file, asked from its leaves up: where a place stands, what is around it, which names are bound."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from ..source import Source, Span, span_of


def _imported(body: list[ast.stmt]) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                found[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
LoopNode = ast.For | ast.AsyncFor | ast.While


class Layout:
    """Parents, blocks and places of one file's tree. Built when first asked: only files with findings pay for it."""

    def __init__(self, source: Source) -> None:
        self.source = source

    @functools.cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        found: dict[ast.AST, ast.AST] = {}
        pending: list[ast.AST] = [self.source.tree]
        while pending:
            node = pending.pop()
            for child in ast.iter_child_nodes(node):
                found[child] = node
                pending.append(child)
        return found

    @functools.cached_property
    def _by_span(self) -> dict[Span, list[ast.expr | ast.stmt]]:
        found: dict[Span, list[ast.expr | ast.stmt]] = {}
        for node in self._parents:
            if isinstance(node, (ast.expr, ast.stmt)):
                found.setdefault(span_of(node), []).append(node)
        return found

    def at(self, span: Span) -> list[ast.expr | ast.stmt]:
        """The nodes at exactly a place."""
        return self._by_span.get(span, [])

    def expression(self, span: Span, kind: type[ast.expr] = ast.Call) -> ast.expr | None:
        """The expression of a kind at a place; None where there is none (a call that a decorator implies)."""
        return next((node for node in self._by_span.get(span, ()) if isinstance(node, kind)), None)

    def call(self, span: Span) -> ast.Call | None:
        """The call at a place."""
        found = self.expression(span)
        return found if isinstance(found, ast.Call) else None

    def parent(self, node: ast.AST) -> ast.AST | None:
        """What a node is directly in."""
        return self._parents.get(node)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """A node and all that it is in, from the inside out."""
        at: ast.AST | None = node
        while at is not None:
            yield at
            at = self._parents.get(at)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The smallest statement that holds a node."""
        return next(at for at in self.above(node) if isinstance(at, ast.stmt))

    def function(self, node: ast.AST) -> FunctionNode | None:
        """The function around a node (for a function: itself); None at module level."""
        return next((at for at in self.above(node) if isinstance(at, FunctionNode)), None)

    def loops(self, node: ast.AST) -> list[LoopNode]:
        """The loops around a node within its function, innermost first."""
        found: list[LoopNode] = []
        for at in self.above(node):
            if isinstance(at, FunctionNode | ast.Lambda | ast.ClassDef):
                break
            if isinstance(at, LoopNode):
                found.append(at)
        return found

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that a statement is in."""
        parent = self._parents[statement]
        for _, value in ast.iter_fields(parent):
            if isinstance(value, list) and statement in value:
                return value
        return [statement]

    def is_in_head(self, node: ast.AST, statement: ast.stmt) -> bool:
        """Whether a node is in the head of a compound statement (a test, an iterable), not in its blocks."""
        at = node
        for above in self.above(node):
            if above is statement:
                break
            at = above
        blocks = [value for _, value in ast.iter_fields(statement) if isinstance(value, list)]
        return not any(at in block for block in blocks if block and isinstance(block[0], (ast.stmt, ast.excepthandler)))

    # -- names ---------------------------------------------------------------

    @functools.cached_property
    def imports(self) -> dict[str, str]:
        """Names that the top level of the file imports -> what they are, dotted (``np`` -> ``numpy``)."""
        return _imported(self.source.tree.body)

    def _local_imports(self, at: ast.AST) -> dict[str, str]:
        """The same for the function around a place: imports in its own block that stand before it."""
        function = self.function(at)
        before = function.body if function is not None else []
        line = getattr(at, "lineno", 0)
        return _imported([statement for statement in before if statement.lineno < line])

    def can_import(self, name: str) -> bool:
        """Whether an import of a name may be added on top: not where a block or a function below imports it again."""
        top = set(self.source.tree.body)
        inner = (n for n in ast.walk(self.source.tree) if isinstance(n, (ast.Import, ast.ImportFrom)) and n not in top)
        if name in self._rebound or any(isinstance(n, ast.arg) and n.arg == name for n in ast.walk(self.source.tree)):
            return False
        top_names = (n for n in top if isinstance(n, (ast.Import, ast.ImportFrom)))
        if any((alias.asname or alias.name).partition(".")[0] == name for node in top_names for alias in node.names):
            return False  # imported further below
        return not any((alias.asname or alias.name).partition(".")[0] == name for node in inner for alias in node.names)

    def _import_line(self, name: str) -> int:
        for node in self.source.tree.body:
            aliases = node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else []
            if any((alias.asname or alias.name).partition(".")[0] == name for alias in aliases):
                return node.lineno
        return 0

    def spelling(self, dotted: str, at: ast.AST | None = None) -> str | None:
        """How the file says an imported name (``torch.no_grad`` -> ``th.no_grad``); None where it does not import it."""
        shadowed = self._local_names(at) if at is not None else set()
        shadowed |= self._rebound
        known = {name: meaning for name, meaning in self.imports.items() if name not in shadowed}
        if at is not None:
            known = {n: m for n, m in known.items() if self._import_line(n) < getattr(at, "lineno", 0)}
        known.update(self._local_imports(at) if at is not None else {})
        best: str | None = None
        for name, meaning in known.items():
            if meaning == dotted:
                return name
            if dotted.startswith(meaning + ".") and (best is None or len(meaning) > len(known[best.split(".")[0]])):
                best = name + dotted[len(meaning) :]
        return best

    def _local_names(self, at: ast.AST) -> set[str]:
        """The names that the functions around a place bind for themselves."""
        names: set[str] = set()
        for function in self.above(at):
            if not isinstance(function, (*_FUNCTIONS, ast.Lambda)):
                continue
            arguments = function.args
            given = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
            names |= {a.arg for a in given if a is not None}
            for node in ast.walk(function):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    names.add(node.id)
                elif isinstance(node, (ast.Import, ast.ImportFrom)):
                    names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        return names

    @functools.cached_property
    def _rebound(self) -> set[str]:
        """Names that the top level binds (or deletes) otherwise than by an import."""
        names: set[str] = set()
        pending: list[ast.AST] = list(self.source.tree.body)
        while pending:
            node = pending.pop()
            if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                names.add(node.name)
                continue
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                names.add(node.id)
            pending.extend(ast.iter_child_nodes(node))
        return names

    def top_level_names(self) -> set[str]:
        """Every name that the top level of the file binds."""
        names = set(self.imports)
        for node in ast.walk(self.source.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.alias):
                names.add((node.asname or node.name).partition(".")[0])
        return names
