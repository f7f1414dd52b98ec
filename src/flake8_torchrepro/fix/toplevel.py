"""Imports and helper functions at the top of a file, in a natural place."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence

import libcst as cst

from ..edits import AddHelper, AddImport
from . import lines
from .errors import EditError
from .lines import Statement, after_blanks, is_future, leading, simple_parts, with_leading
from .names import bindings, mentions


def add_import(body: list[Statement], edit: AddImport, tree: ast.Module, newline: str) -> list[Statement]:
    """The statements of the file with the import, unless it is there already, where it has run before its first use."""
    name = edit.name or edit.module.partition(".")[0]
    if any(not _is_import_of(node, edit) for bound, node in bindings(tree) if bound == name):
        raise EditError(edit, f"{name} means something else here")
    use = next((i for i, statement in enumerate(body) if mentions(statement, name)), len(body))
    if any(_brings(statement, edit) for statement in body[:use]):
        return body
    code = f"import {edit.module}" if edit.name is None else f"from {edit.module} import {edit.name}"
    [new] = lines.statements_of(code, newline)
    return _place(body, new, edit, use)


def add_helper(body: list[Statement], edit: AddHelper, tree: ast.Module, newline: str) -> list[Statement]:
    """The statements of the file with the function, below the imports at its top and above its first use."""
    if any(bound == edit.name for bound, _ in bindings(tree)):
        raise EditError(edit, f"the name {edit.name} is taken")
    try:
        new = lines.statements_of(edit.code, newline)
    except cst.ParserSyntaxError as error:
        raise EditError(edit, "its code is not valid") from error
    end = next((i for i, s in enumerate(body) if _ends_head(s) or mentions(s, edit.name, everywhere=True)), len(body))
    index = max((i + 1 for i in range(end) if _holds_import(body[i])), default=min(_start(body), end))
    new[0] = with_leading(new[0], after_blanks(2 if index else 0, leading(new[0])))
    rest = body[index:]
    if rest:
        rest[0] = with_leading(rest[0], after_blanks(2, leading(rest[0])))
    return [*body[:index], *new, *rest]


def _place(body: list[Statement], new: Statement, edit: AddImport, use: int) -> list[Statement]:
    zone = [i for i in range(_zone_end(body)) if i < use and _is_plain_import(body[i]) and not is_future(body[i])]
    if not zone:
        return _without_imports(body, new, edit, use)
    ours = [i for i in zone if _is_stdlib(_module(body[i])) == _is_stdlib(edit.module) and not _is_relative(body[i])]
    if ours:
        group = [i for i in ours if _same_group(body, ours[0], i)]
        return _into_group(body, new, edit, group)
    if _is_stdlib(edit.module):
        return _before(body, zone[0], new, 1)
    return _after(body, zone[-1], with_leading(new, [lines.BLANK]))


def _into_group(body: list[Statement], new: Statement, edit: AddImport, group: Sequence[int]) -> list[Statement]:
    """In the order of the alphabet among those of its form, ``import x`` above ``from x import y``."""
    peers = [i for i in group if _is_from(body[i]) == (edit.name is not None)]
    above = next((i for i in peers if _module(body[i]) > edit.module), None)
    if above is None and not peers and edit.name is None:
        above = group[0]
    if above is not None and not lines.split_attached(leading(body[above]))[1]:
        return _before(body, above, new, 0)
    below = peers[-1] if above is None and peers else group[-1] if above is None else above
    return _after(body, below, new)


def _without_imports(body: list[Statement], new: Statement, edit: AddImport, use: int) -> list[Statement]:
    """Below docstring and ``__future__``; beside the first import that stands lower if the order may matter."""
    first = next((i for i in range(use) if _is_plain_import(body[i]) and not is_future(body[i])), None)
    if first is not None and not _is_stdlib(edit.module):
        return _before(body, first, new, 0)
    index = _start(body)
    if index == len(body):
        return [*body, with_leading(new, [lines.BLANK] if body else [])]
    body = _before(body, index, new, 2 if lines.is_definition(body[index]) else 1)
    if index:
        body[index] = with_leading(body[index], after_blanks(1, leading(body[index])))
    return body


def _before(body: list[Statement], index: int, new: Statement, blanks: int) -> list[Statement]:
    top, attached = lines.split_attached(leading(body[index]))
    lower = with_leading(body[index], after_blanks(blanks, attached))
    return [*body[:index], with_leading(new, top), lower, *body[index + 1 :]]


def _after(body: list[Statement], index: int, new: Statement) -> list[Statement]:
    return [*body[: index + 1], new, *body[index + 1 :]]


def _same_group(body: list[Statement], first: int, last: int) -> bool:
    """Whether no blank line and nothing but imports stands between."""
    between = body[first + 1 : last + 1]
    return all(_is_plain_import(s) and all(line.comment for line in leading(s)) for s in between)


def _start(body: Sequence[Statement]) -> int:
    """The index of the first statement behind docstring and ``__future__`` imports."""
    fixed = [i for i, statement in enumerate(body) if is_future(statement) or (i == 0 and _is_docstring(statement))]
    return fixed[-1] + 1 if fixed else 0


def _zone_end(body: Sequence[Statement]) -> int:
    """The index of the first statement below which flake8 wants no import."""
    return next((i for i, statement in enumerate(body) if not _may_precede_import(statement)), len(body))


def _may_precede_import(statement: Statement) -> bool:
    match statement:
        case cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(cst.Name(name))])]):
            return name.startswith("__") and name.endswith("__")
        case cst.Try() | cst.If() | cst.With():
            return not _ends_head(statement)
        case _:
            return _is_plain_import(statement) or _is_docstring(statement)


def _ends_head(statement: Statement) -> bool:
    """Whether the part of the file that prepares the rest is surely over."""
    if isinstance(statement, cst.If):
        return mentions(statement.test, "__name__")
    return lines.is_definition(statement)


def _is_docstring(statement: Statement) -> bool:
    match simple_parts(statement):
        case [cst.Expr(cst.SimpleString() | cst.ConcatenatedString())]:
            return True
        case _:
            return False


def _is_plain_import(statement: Statement) -> bool:
    smalls = simple_parts(statement)
    return bool(smalls) and all(isinstance(small, (cst.Import, cst.ImportFrom)) for small in smalls)


def _holds_import(statement: cst.CSTNode) -> bool:
    if isinstance(statement, (cst.Import, cst.ImportFrom)):
        return True
    return not isinstance(statement, (cst.BaseExpression, cst.Decorator)) and any(
        map(_holds_import, statement.children)
    )


def _is_from(statement: Statement) -> bool:
    return isinstance(simple_parts(statement)[0], cst.ImportFrom)


def _is_relative(statement: Statement) -> bool:
    match simple_parts(statement)[0]:
        case cst.ImportFrom(relative=dots):
            return bool(dots)
        case _:
            return False


def _module(statement: Statement) -> str:
    """The module that an import line names first."""
    match simple_parts(statement)[0]:
        case cst.Import([cst.ImportAlias(name), *_]) | cst.ImportFrom(module=cst.Name() | cst.Attribute() as name):
            return cst.Module([]).code_for_node(name)
        case _:
            return ""


def _is_stdlib(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def _brings(statement: Statement, edit: AddImport) -> bool:
    """Whether an import at the top of the file, alone or in a ``try``, binds what is wanted."""
    if isinstance(statement, cst.Try):
        return any(_brings(inner, edit) for inner in statement.body.body if isinstance(inner, cst.SimpleStatementLine))
    code = [ast.parse(cst.Module([]).code_for_node(s)).body[0] for s in simple_parts(statement) if _is_import(s)]
    return any(_is_import_of(node, edit) for node in code)


def _is_import(small: cst.BaseSmallStatement) -> bool:
    return isinstance(small, (cst.Import, cst.ImportFrom))


def _is_import_of(node: ast.AST, edit: AddImport) -> bool:
    """Whether an import statement binds exactly what is wanted to its own name."""
    match node:
        case ast.Import(names=aliases) if edit.name is None:
            return any(_binds_module(alias, edit.module) for alias in aliases)
        case ast.ImportFrom(module=edit.module, level=0, names=aliases):
            return any(alias.name == edit.name and alias.asname in (None, edit.name) for alias in aliases)
        case _:
            return False


def _binds_module(alias: ast.alias, module: str) -> bool:
    if alias.asname is not None:
        return alias.asname == alias.name == module
    return alias.name == module or alias.name.startswith(f"{module}.")
