"""Statements come, go and move, with the comments that belong to them."""

from __future__ import annotations

import pytest
from fixing import check, code, expression, statement

from flake8_torchrepro.edits import (
    AddDecorator,
    Edit,
    InsertStatement,
    MoveStatement,
    RemoveStatement,
    ReplaceStatement,
    SetKeyword,
)
from flake8_torchrepro.fix.apply import EditError, apply_edits


def replace(text: str, start: str, new: str) -> ReplaceStatement:
    return ReplaceStatement(statement(text, start), new)


def remove(text: str, start: str) -> RemoveStatement:
    return RemoveStatement(statement(text, start))


def move(text: str, start: str, before: str, write: bool = True) -> MoveStatement:
    return MoveStatement(statement(text, start), statement(text, before), write)


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("a\n# above\nx = 1  # behind\n", "y = 2", "a\n# above\ny = 2  # behind\n"),
        ("a\n# above\nx = 1  # behind\n", "y = 2\nz = 3\n", "a\n# above\ny = 2  # behind\nz = 3\n"),
        ("a; x = 1; b\n", "y", "a; y; b\n"),
        ("a; x = 1  # c\n", "y\nz", "a\ny  # c\nz\n"),
        ("if a: x = 1\n", "y", "if a: y\n"),
        ("if a: x = 1\n", "y\nz", "if a:\n    y\n    z\n"),
        ("if a: x = 1; b  # c\n", "y\nz", "if a:\n    y\n    z\n    b  # c\n"),
    ],
)
def test_replace(before: str, new: str, after: str) -> None:
    check(before, after, replace(before, "x", new))


def test_only_simple_statements_replace_simple_ones() -> None:
    text = "x = 1\nif a:\n    b\n"
    for edit in (
        replace(text, "x", "if c: d"),
        replace(text, "if", "c"),
        replace(text, "x", "a b"),
        replace(text, "x", ""),
    ):
        with pytest.raises(EditError, match="ReplaceStatement at line"):
            apply_edits(text, [edit])


INSERT = [
    ("a\nx\n", "before", "a\nnew\nx\n"),
    ("a\nx\n", "after", "a\nx\nnew\n"),
    ("a\n\n# far\n\n# of x\nx\n", "before", "a\n\n# far\n\nnew\n# of x\nx\n"),
    ("# file\nx\n", "before", "# file\nnew\nx\n"),
    ("# file\n\n# of x\nx\n", "before", "# file\n\nnew\n# of x\nx\n"),
    ("a; x; b  # c\n", "before", "a\nnew\nx\nb  # c\n"),
    ("a; x; b  # c\n", "after", "a\nx\nnew\nb  # c\n"),
    ("if a: x  # c\n", "before", "if a:\n    new\n    x  # c\n"),
    ("if a: x  # c\n", "after", "if a:\n    x  # c\n    new\n"),
    ("class A:\n\tx\n", "before", "class A:\n\tnew\n\tx\n"),
    ("if a:\n    x\n    # foot\n", "after", "if a:\n    x\n    new\n    # foot\n"),
    ("a\nx", "after", "a\nx\nnew"),
]


@pytest.mark.parametrize(("before", "where", "after"), INSERT)
def test_insert(before: str, where: str, after: str) -> None:
    assert where in ("before", "after")
    anchor = statement(before, "x")
    check(before, after, InsertStatement(anchor, "new", "before" if where == "before" else "after"))


def test_blank_lines_around_definitions() -> None:
    text = "a\n\n\n# f\n@d\ndef f():\n    pass\n\n\nb\n"
    after = "a\n\n\nnew\n\n\n# f\n@d\ndef f():\n    pass\n\n\nold\n\n\nb\n"
    anchor = statement(text, "def")
    check(text, after, InsertStatement(anchor, "new"), InsertStatement(anchor, "old", "after"))
    text = "class A:\n    a = 1\n\n    def f(self):\n        pass\n"
    check(text, text.replace("    def", "    new\n\n    def"), InsertStatement(statement(text, "def"), "new"))


def test_inserted_code_of_several_lines() -> None:
    text = "def f():\r\n\tx\r\n"
    after = "def f():\r\n\tif a:\r\n\t\tb\r\n\t# c\r\n\td\r\n\tx\r\n"
    check(text, after, InsertStatement(statement(text, "x"), "if a:\n    b\n# c\nd"))


REMOVE = [
    ("a\nx  # c\nb\n", "a\nb\n"),
    ("a\n\nx\nb\n", "a\n\nb\n"),
    ("a\n\nx\n\nb\n", "a\n\nb\n"),
    ("a\nx\n\n\nb\n", "a\n\n\nb\n"),
    ("a\n# of both\nx\nb\n", "a\n# of both\nb\n"),
    ("a\n# of x\nx\n\nb\n", "a\n\nb\n"),
    ("a\n\n# far\n\n# of x\nx\n# of b\nb\n", "a\n\n# far\n\n# of b\nb\n"),
    ("def f():\n    x\n\n    b\n", "def f():\n    b\n"),
    ("def f():\n    a\n\n    x\n", "def f():\n    a\n"),
    ("def f():\n    a\n\n    x\n    # foot\n", "def f():\n    a\n    # foot\n"),
    ("def f():\n    a\n    # far\n\n    x\n", "def f():\n    a\n    # far\n"),
    ("# file\nx\n", "# file\n"),
    ("a; x; b  # c\n", "a; b  # c\n"),
    ("a; x  # c\n", "a  # c\n"),
    ("a; x;\n", "a;\n"),
    ("if a: x; b\n", "if a: b\n"),
    ("if a: b; x  # c\n", "if a: b  # c\n"),
]


@pytest.mark.parametrize(("before", "after"), REMOVE)
def test_remove(before: str, after: str) -> None:
    check(before, after, remove(before, "x"))


def test_several_go() -> None:
    text = "a\n# of three\nx\ny\nz\n\nb\n"
    check(text, "a\n# of three\nz\n\nb\n", remove(text, "x"), remove(text, "y"))
    check(text, "a\n\nb\n", remove(text, "x"), remove(text, "y"), remove(text, "z"))
    text = "a; x; y; b\n"
    check(text, "a; b\n", remove(text, "x"), remove(text, "y"))


@pytest.mark.parametrize(
    "text", ["if a:\n    x\n", "if a: x\n", "if a:\n    # c\n    x\n", "try:\n    a\nfinally:\n    x\n"]
)
def test_a_block_is_never_emptied(text: str) -> None:
    with pytest.raises(EditError, match="its block would be empty"):
        apply_edits(text, [remove(text, "x")])


LOOP = code("""
    def f():
        m = g()

        # all of them
        for i in range(100):
            x = load(i)
            y = model(x)
            # for speed
            model.eval()  # inference
""")


def test_move_before_the_loop() -> None:
    after = code("""
        def f():
            m = g()

            # for speed
            model.eval()  # inference
            # all of them
            for i in range(100):
                x = load(i)
                y = model(x)
    """)
    check(LOOP, after, move(LOOP, "model.eval", "for"))


def test_move_without_writing() -> None:
    check(LOOP, LOOP[: LOOP.index("        # for speed")], move(LOOP, "model.eval", "for", write=False))


def test_move_from_a_shared_line_through_several_blocks() -> None:
    text = "for a in b:\n    if c: m.eval(); d  # both\n    else: pass\n"
    check(text, "m.eval()\nfor a in b:\n    if c: d  # both\n    else: pass\n", move(text, "m.eval", "for"))


def test_move_within_a_block_with_edits_inside() -> None:
    text = "a\nb\nx = f()\n"
    edits: list[Edit] = [move(text, "x", "a"), SetKeyword(expression(text, "f()"), "k", "v")]
    check(text, "x = f(k=v)\na\nb\n", *edits)


def test_a_loop_with_its_body_moves() -> None:
    text = "if a:\n    if b:\n        for c in d:\n            e(1 +\n              2)\n        f\n"
    after = "for c in d:\n    e(1 +\n      2)\nif a:\n    if b:\n        f\n"
    check(text, after, move(text, "for", "if a"))


def test_moved_twice_and_written_once() -> None:
    text = "for a in b:\n    m.eval()  # one\n    c\n    m.eval()\n    d\n"
    first, second = statement(text, "for"), statement(text, "c")
    spans = [second.span._replace(line=line, end_line=line, end_column=12) for line in (2, 4)]
    edits = [MoveStatement(second._replace(span=span), first) for span in spans]
    check(text, "m.eval()  # one\nfor a in b:\n    c\n    d\n", *edits)


def test_nothing_moves_downward() -> None:
    text = "if a:\n    b\nfor c in d:\n    x\n    y\n"
    with pytest.raises(EditError, match="it would move downward"):
        apply_edits(text, [move(text, "x", "b")])


def test_what_is_gone_takes_no_edits() -> None:
    text = "x = f(a)\nb\n"
    target = statement(text, "x")
    others: list[Edit] = [SetKeyword(expression(text, "f(a)"), "k", "v"), replace(text, "x", "y"), move(text, "x", "b")]
    for other in others:
        with pytest.raises(EditError, match="another edit"):
            apply_edits(text, [RemoveStatement(target), other])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# c\ndef f():\n    pass\n", "# c\n@th.no_grad()\ndef f():\n    pass\n"),
        ("@staticmethod\nasync def f(): pass\n", "@staticmethod\n@th.no_grad()\nasync def f(): pass\n"),
        ("@a\n# c\n@b\n# d\ndef f():\n    pass\n", "@a\n# c\n@b\n@th.no_grad()\n# d\ndef f():\n    pass\n"),
        ("@th.no_grad()\ndef f():\n    pass\n", "@th.no_grad()\ndef f():\n    pass\n"),
    ],
)
def test_decorator(before: str, after: str) -> None:
    target = statement(before, "async def" if "async" in before else "def")
    check(before, after, AddDecorator(target, "@th.no_grad()"))


def test_decorated_methods() -> None:
    text = "class A:\n    a = 1\n\n    @staticmethod\n    def f():\n        x = g()\n        return x\n"
    after = "class A:\n    a = 1\n\n    @staticmethod\n    @th.no_grad()\n    def f():\n        return x\n"
    check(text, after, AddDecorator(statement(text, "def"), "th.no_grad()"), remove(text, "x"))
