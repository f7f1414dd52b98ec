"""``with`` around statements."""

from __future__ import annotations

import pytest
from fixing import check, code, expression, statement, wrap

from flake8_torchrepro.edits import MoveStatement, RemoveStatement, SetKeyword, WrapStatements
from flake8_torchrepro.fix.apply import EditError, apply_edits

VALIDATE = code("""
    def validate(model, loader, criterion):
        model.eval()
        total = 0.0
        for images, labels in loader:          # one pass
            total += criterion(model(images), labels).item()
        return total / len(loader)
""")


def test_a_loop() -> None:
    after = code("""
        def validate(model, loader, criterion):
            model.eval()
            total = 0.0
            with torch.no_grad():
                for images, labels in loader:          # one pass
                    total += criterion(model(images), labels).item()
            return total / len(loader)
    """)
    check(VALIDATE, after, wrap(VALIDATE, "for"))


def test_tabs_and_windows_line_ends_stay() -> None:
    before = VALIDATE.replace("    ", "\t").replace("\n", "\r\n")
    after = before.replace("\tfor", "\twith torch.no_grad():\r\n\t\tfor").replace("\t\ttotal", "\t\t\ttotal")
    check(before, after, wrap(before, "for"))


def test_the_indent_of_the_block_counts() -> None:
    before = "def f():\n    if a:\n        b\n\ndef g():\n  x = 1\n  y = 2\n"
    check(before, before.replace("  y = 2", "  with c:\n    y = 2"), wrap(before, "y", item="c"))


def test_comments_and_blank_lines() -> None:
    before = code("""
        def f():
            a = 1

            # above
            b = m(a)  # behind

            # between
            c = m(b)
            # below

            # last
            return c
    """)
    after = code("""
        def f():
            a = 1

            # above
            with torch.no_grad():
                b = m(a)  # behind

                # between
                c = m(b)
            # below

            # last
            return c
    """)
    check(before, after, wrap(before, "b", "c"))


def test_lines_that_go_on() -> None:
    before = code('''
        def f():
            x = m(a,
                  b,

                  c) + \\
                d
            y = """
        text
            """
    ''')
    after = code('''
        def f():
            with torch.no_grad():
                x = m(a,
                      b,

                      c) + \\
                    d
                y = """
        text
            """
    ''')
    check(before, after, wrap(before, "x", "y"))


def test_at_module_level() -> None:
    before = "import torch\n\n\ndef f():\n    pass\n\n\n# run\nx = m(\n\n    1)\n\n\ny = m(x)\nz = 1\n"
    after = (
        "import torch\n\n\ndef f():\n    pass\n\n\n# run\n"
        "with torch.no_grad():\n    x = m(\n\n        1)\n\n    y = m(x)\nz = 1\n"
    )
    check(before, after, wrap(before, "x", "y"))


def test_no_newline_at_the_end() -> None:
    check("a\nb", "a\nwith c:\n    b", wrap("a\nb", "b", item="c"))
    check("if a: b", "if a:\n    with c:\n        b", wrap("if a: b", "b", item="c"))


def test_a_suite_on_one_line() -> None:
    before = "if ready: out = model(x)  # go\nelse: out = None\n"
    after = "if ready:\n    with torch.no_grad():\n        out = model(x)  # go\nelse: out = None\n"
    check(before, after, wrap(before, "out = model"))


def test_one_of_several_on_a_line() -> None:
    before = "def f():\n    # one\n    a = 1; b = m(a); c = 2  # two\n"
    after = "def f():\n    # one\n    a = 1\n    with torch.no_grad():\n        b = m(a)\n    c = 2  # two\n"
    check(before, after, wrap(before, "b"))
    suite = "if x: a = 1; b = m(a)\n"
    check(suite, "if x:\n    a = 1\n    with torch.no_grad():\n        b = m(a)\n", wrap(suite, "b"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("with a:", "with torch.no_grad(), a:"),
        ("with a as b, c:", "with torch.no_grad(), a as b, c:"),
        ("with torch.no_grad():", "with torch.no_grad():"),
        ("with (\n    a,\n    b,\n):", "with (\n    torch.no_grad(),\n    a,\n    b,\n):"),
    ],
)
def test_a_with_is_joined(before: str, after: str) -> None:
    text = before + "\n    x = m(y)\n"
    check(text, after + "\n    x = m(y)\n", wrap(text, "with", join=True))


def test_a_with_that_cannot_be_joined() -> None:
    text = "async def f():\n    async with a:\n        x = m(y)\n"
    after = "async def f():\n    with torch.no_grad():\n        async with a:\n            x = m(y)\n"
    check(text, after, wrap(text, "async with", join=True))
    text = "with a(b,\n       c):\n    x = m(y)\n"
    after = "with torch.no_grad():\n    with a(b,\n           c):\n        x = m(y)\n"
    check(text, after, wrap(text, "with", join=True))
    text = "with a:\n    pass\nwith b:\n    x = m(y)\n"
    after = "with c:\n    with a:\n        pass\n    with b:\n        x = m(y)\n"
    check(text, after, wrap(text, "with a", "with b", "c", join=True))


def test_wraps_that_are_alike() -> None:
    text = "def f():\n    a\n    b\n    c\n    d\n"
    check(
        text,
        "def f():\n    with x:\n        a\n        b\n    c\n    d\n",
        wrap(text, "a", "b", "x"),
        wrap(text, "a", "b", "x", True),
    )
    check(
        text,
        "def f():\n    with x:\n        a\n        b\n    c\n    d\n",
        wrap(text, "a", "b", "x"),
        wrap(text, "b", item="x"),
    )
    check(
        text,
        "def f():\n    with x:\n        a\n        b\n        c\n    d\n",
        wrap(text, "b", "c", "x"),
        wrap(text, "a", "b", "x"),
    )
    both = "def f():\n    with x:\n        a\n        b\n    with x:\n        c\n    d\n"
    check(text, both, wrap(text, "a", "b", "x"), wrap(text, "c", item="x"))


def test_wraps_that_differ() -> None:
    text = "a\nb\nc\n"
    check(text, "with x:\n    a\n    with y:\n        b\nc\n", wrap(text, "b", item="y"), wrap(text, "a", "b", "x"))
    check(text, "with x:\n    with y:\n        a\nb\nc\n", wrap(text, "a", item="x"), wrap(text, "a", item="y"))
    with pytest.raises(EditError, match="crosses another wrap"):
        apply_edits(text, [wrap(text, "a", "b", "x"), wrap(text, "b", "c", "y")])


def test_a_wrap_within_a_wrap_of_the_same() -> None:
    text = "for a in b:\n    if c:\n        d\n"
    check(
        text,
        "with x:\n    for a in b:\n        if c:\n            d\n",
        wrap(text, "for", item="x"),
        wrap(text, "d", item="x"),
    )
    later = "for a in b:\n    def f():\n        d\n"
    after = "with x:\n    for a in b:\n        def f():\n            with x:\n                d\n"
    check(later, after, wrap(later, "for", item="x"), wrap(later, "d", item="x"))


def test_edits_inside() -> None:
    text = "def f():\n    for i in a:\n        x = g(i)\n        m.eval()\n        y = m(x)\n"
    loop = "        for i in a:\n            x = g(i, k=1)\n            y = m(x)\n"
    after = "def f():\n    m.eval()\n    with torch.no_grad():\n" + loop
    move = MoveStatement(statement(text, "m.eval()"), statement(text, "for"))
    check(text, after, wrap(text, "for"), move, SetKeyword(expression(text, "g(i)"), "k", "1"))


def test_the_end_is_taken_away() -> None:
    text = "def f():\n    a\n    b\n    c\n"
    check(
        text,
        "def f():\n    with x:\n        a\n    c\n",
        wrap(text, "a", "b", "x"),
        RemoveStatement(statement(text, "b")),
    )
    with pytest.raises(EditError, match="its statements are gone"):
        apply_edits(text, [wrap(text, "b", item="x"), RemoveStatement(statement(text, "b"))])


@pytest.mark.parametrize(("first", "last"), [("b", "a"), ("a", "c"), ("elif", "elif")])
def test_no_range_of_a_block(first: str, last: str) -> None:
    text = "a\nb\nif x:\n    c\nelif y:\n    d\n"
    start = statement(text, "if x") if first == "elif" else statement(text, first)
    if first == "elif":
        start = start._replace(span=start.span._replace(line=5))
    with pytest.raises(EditError, match="WrapStatements at line"):
        apply_edits(text, [WrapStatements(start, statement(text, last) if last != "elif" else start, "z")])


def test_future_imports_are_not_wrapped() -> None:
    text = "from __future__ import annotations\n"
    with pytest.raises(EditError, match="must stay at the top"):
        apply_edits(text, [wrap(text, "from")])
