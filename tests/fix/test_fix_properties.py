"""What holds for every edit of any code, tried on pieces of code put together at random."""

from __future__ import annotations

import ast
import io
import tokenize
from textwrap import indent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_torchrepro.edits import (
    AddDecorator,
    AddImport,
    Edit,
    InsertStatement,
    MoveStatement,
    RemoveStatement,
    SetKeyword,
    WrapStatements,
)
from flake8_torchrepro.fix.apply import EditError, apply_edits
from flake8_torchrepro.source import Source, target_of

SIMPLE = st.sampled_from([
    "a = f(1)\n",
    "# above\nb = g(a, k=2)  # behind\n",
    "\nc = 1; d = f(c); e = 2  # shared\n",
    "x = f(\n    1,  # one\n    'é',\n)\n",
    "y = f(a,\n      b,\n      c) + \\\n    d\n",
    "\n\n# far\n\nassert f(\n  2\n    ), 'é'\n",
    's = """\n  text # no comment\n"""\n',
    "if a: f(b)  # suite\nelse: c; d\n",
    "with f(a) as b, c: d\n",
    "with (\n    f(a),\n    b,\n):\n    c\n",
    "for i in (f(x) for x in y): pass\n",
    "print(f'{f(a)} and {b}')\n",
    "    \nz = 3\n",
    "del a, b\n",
])  # fmt: skip
HEADERS = st.sampled_from([
    "for i in f(a):  # loop\n{}",
    "if f(a):\n{0}elif b:\n{0}# else\nelse:  # no\n{0}",
    "try:\n{}except E:\n    pass\n",
    "\n\n@d\n# on f\ndef f(a, b=g(1)):\n{}\n\n",
    "while a:\n{}    # foot\n",
    "class A:\n{}",
    "async def f():\n    async with a:\n        b\n{}",
    "match a:\n    case 1: f(b)\n    case _:\n        c\nwith a:\n{}",
])  # fmt: skip
STEPS = st.sampled_from(["    ", "\t", "  "])
HEAD = st.sampled_from(
    ["", "# file\n", '"""Doc."""\n', "# file\n\n# of it\n", '"""Doc."""\nfrom __future__ import a\nimport os\n']
)


def nested(blocks: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    inner = st.lists(blocks, min_size=1, max_size=3).map("".join)
    return st.builds(lambda header, body: header.format(indent(body, "    ")), HEADERS, inner)


@st.composite
def texts(draw: st.DrawFn) -> str:
    text = draw(HEAD) + "".join(draw(st.lists(st.recursive(SIMPLE, nested, max_leaves=6), min_size=1, max_size=4)))
    text = text.replace("    ", draw(STEPS)) if "\\" not in text else text
    text = text.removesuffix("\n") if draw(st.booleans()) else text
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def blocks_of(tree: ast.AST) -> list[list[ast.stmt]]:
    """The blocks of a tree, outer ones first, without those that are an ``elif``."""
    found = []
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            is_elif = name == "orelse" and isinstance(node, ast.If) and block and isinstance(block[0], ast.If)
            if isinstance(block, list) and block and not is_elif:
                found.append(block)
    return found


def shape(text: str, mark: str = "") -> str:
    """The tree without places, and without every ``with`` of the mark."""
    tree = ast.parse(text)
    for block in blocks_of(tree):
        block[:] = [inner for statement in block for inner in unwrapped(statement, mark)]
    return ast.dump(tree)


def unwrapped(statement: ast.stmt, mark: str) -> list[ast.stmt]:
    if not isinstance(statement, ast.With):
        return [statement]
    statement.items = [item for item in statement.items if ast.unparse(item) != mark]
    return [statement] if statement.items else [i for s in statement.body for i in unwrapped(s, mark)]


def comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


@given(texts(), st.data())
def test_wraps_add_nothing_else(text: str, data: st.DataObject) -> None:
    blocks = blocks_of(ast.parse(text))
    edits = []
    for block in data.draw(st.lists(st.sampled_from(blocks), min_size=1, max_size=3)):
        first = data.draw(st.integers(0, len(block) - 1))
        last = data.draw(st.integers(first, len(block) - 1))
        edits.append(
            WrapStatements(target_of(block[first]), target_of(block[last]), "guard()", data.draw(st.booleans()))
        )
    try:
        after = apply_edits(text, edits)
    except EditError as error:
        if "__future__" not in error.reason:
            raise
        return
    assert "guard()" in after
    assert shape(after, "guard()") == shape(text, "guard()")
    assert comments(after) == comments(text)
    assert ("\r\n" in after) == ("\r\n" in text) or "\n" not in text
    assert after.endswith("\n") == text.endswith("\n")


@given(texts(), st.data())
def test_keywords_reach_every_call(text: str, data: st.DataObject) -> None:
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    if not calls:
        return
    chosen = data.draw(st.lists(st.sampled_from(calls), unique_by=id, min_size=1))
    after = apply_edits(text, [SetKeyword(target_of(call), "new", "1") for call in chosen])
    assert len(after.splitlines()) >= len(text.splitlines())
    found = [
        k for node in ast.walk(ast.parse(after)) if isinstance(node, ast.Call) for k in node.keywords if k.arg == "new"
    ]
    assert len(found) == len(chosen)
    assert comments(after) == comments(text)


@given(texts(), st.data())
def test_statements_come_and_go(text: str, data: st.DataObject) -> None:
    statements = [s for block in blocks_of(ast.parse(text)) for s in block if not isinstance(s, ast.ImportFrom)]
    anchor = target_of(data.draw(st.sampled_from(statements)))
    edit = InsertStatement(anchor, "new()") if data.draw(st.booleans()) else InsertStatement(anchor, "new()", "after")
    after = apply_edits(text, [edit])
    assert comments(after) == comments(text)
    source = Source.parse(after)
    [new] = [s for block in blocks_of(source.tree) for s in block if source.segment(target_of(s).span) == "new()"]
    assert shape(apply_edits(after, [RemoveStatement(target_of(new))])) == shape(text)


@given(texts(), st.data())
def test_a_move_loses_nothing(text: str, data: st.DataObject) -> None:
    outer = [s for block in blocks_of(ast.parse(text)) for s in block if isinstance(s, (ast.For, ast.While, ast.If))]
    if not outer:
        return
    before = data.draw(st.sampled_from(outer))
    target = target_of(data.draw(st.sampled_from(before.body)))
    try:
        after = apply_edits(text, [MoveStatement(target, target_of(before))])
    except EditError as error:
        if error.reason not in ("its block would be empty", "its target is not a statement of a block"):
            raise
        return
    assert sorted(comments(after)) == sorted(comments(text))
    assert len(list(ast.walk(ast.parse(after)))) == len(list(ast.walk(ast.parse(text))))


def functions_of(text: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def guards(text: str) -> list[Edit]:
    return [AddImport("os"), *(AddDecorator(target_of(node), "no_grad()") for node in functions_of(text))]


@given(texts())
def test_what_is_there_is_not_added_again(text: str) -> None:
    once = apply_edits(text, guards(text))
    assert all(ast.unparse(node.decorator_list[-1]) == "no_grad()" for node in functions_of(once))
    assert apply_edits(once, guards(once)) == once
    assert comments(once) == comments(text)
    compile(
        once.replace("import a\n", "import annotations\n").replace("import a\r", "import annotations\r"), "a", "exec"
    )


@given(texts())
def test_no_edit_changes_nothing(text: str) -> None:
    assert apply_edits(text, []) == text


@pytest.mark.parametrize("text", ["\x0ca = 1\n", "a = 1\rb = 2\r"])
def test_text_that_libcst_would_change_is_left_alone(text: str) -> None:
    with pytest.raises(EditError, match="the editor would lose"):
        apply_edits(text, [])
