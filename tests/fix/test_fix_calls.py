"""Arguments come and go, and the call keeps its shape."""

from __future__ import annotations

import pytest
from fixing import check, code, expression

from flake8_torchrepro.edits import Edit, RemoveArgument, ReplaceExpression, SetKeyword
from flake8_torchrepro.fix.apply import EditError, apply_edits
from flake8_torchrepro.source import Target


def call(text: str) -> Target:
    return expression(text, text[text.index("f(") :].rstrip())


SET = [
    ("f()", "f(k=v)"),
    ("f( )", "f(k=v)"),
    ("f(a)", "f(a, k=v)"),
    ("f(a,)", "f(a, k=v,)"),
    ("f(a,b)", "f(a,b, k=v)"),
    ("f(*a)", "f(*a, k=v)"),
    ("f(**a)", "f(k=v, **a)"),
    ("f(a, **b)", "f(a, k=v, **b)"),
    ("f(a, k=1, b=2)", "f(a, k=v, b=2)"),
    ("f(a, k = 1)", "f(a, k = v)"),
    ("f(x for x in y)", "f((x for x in y), k=v)"),
    ("f(a,\n  b)", "f(a,\n  b,\n  k=v)"),
    ("f(a,  # one\n  b)  # two", "f(a,  # one\n  b,\n  k=v)  # two"),
    ("f(a, b,\n  c, d)", "f(a, b,\n  c, d, k=v)"),
    ("f(\n    a\n)", "f(\n    a,\n    k=v\n)"),
    ("f(\n    a,\n)", "f(\n    a,\n    k=v,\n)"),
    ("f(\n    a, b\n)", "f(\n    a, b, k=v\n)"),
    ("f(\n    a,  # one\n    b,  # two\n)", "f(\n    a,  # one\n    b,  # two\n    k=v,\n)"),
    ("f(\n    a,  # one\n    b  # two\n)", "f(\n    a,  # one\n    b,  # two\n    k=v\n)"),
    ("f(\n    a,\n    # b=1,\n)", "f(\n    a,\n    # b=1,\n    k=v,\n)"),
    ("f(\n    a,\n    **b,\n)", "f(\n    a,\n    k=v,\n    **b,\n)"),
    ("f(\n    a,  # one\n    **b  # two\n)", "f(\n    a,  # one\n    k=v,\n    **b  # two\n)"),
    ("é = f('é', b)", "é = f('é', b, k=v)"),
]


@pytest.mark.parametrize(("before", "after"), SET)
def test_set_keyword(before: str, after: str) -> None:
    target = expression(before, before[before.index("f(") : before.rindex(")") + 1])
    check(before + "\n", after + "\n", SetKeyword(target, "k", "v"))


REMOVE: list[tuple[str, str | int, str]] = [
    ("f(a)", 0, "f()"),
    ("f(k=1)", "k", "f()"),
    ("f(a, k=1)", "k", "f(a)"),
    ("f(k=1, b=2)", "k", "f(b=2)"),
    ("f(a, b, c)", 1, "f(a, c)"),
    ("f(a, k=1,)", "k", "f(a,)"),
    ("f(a,\n  k=1)", "k", "f(a)"),
    ("f(a,\n  k=1,\n  b=2)", "k", "f(a,\n  b=2)"),
    ("f(a,  # one\n  k=1,  # two\n  b=2)  # three", "k", "f(a,  # one\n  b=2)  # three"),
    ("f(a,  # one\n  k=1)  # two", "k", "f(a  # one\n  )  # two"),
    ("f(a, k=1,  # both\n  b=2)", "k", "f(a,  # both\n  b=2)"),
    ("f(\n    a,\n    k=1,\n)", "k", "f(\n    a,\n)"),
    ("f(\n    a,\n    k=1\n)", "k", "f(\n    a\n)"),
    ("f(\n    k=1,\n    b=2,\n)", "k", "f(\n    b=2,\n)"),
    ("f(\n    a,  # one\n    k=1,  # two\n)", "k", "f(\n    a,  # one\n)"),
    ("f(\n    a, k=1\n)", "k", "f(\n    a\n)"),
    ("f(\n    k=1\n)", "k", "f()"),
]


@pytest.mark.parametrize(("before", "argument", "after"), REMOVE)
def test_remove_argument(before: str, argument: str | int, after: str) -> None:
    target = expression(before, before[: before.rindex(")") + 1])
    check(before + "\n", after + "\n", RemoveArgument(target, argument))


def test_edits_of_one_call_compose() -> None:
    text = "f(a, b, c, k=1)\n"
    target = call(text)
    edits: list[Edit] = [
        RemoveArgument(target, 0),
        RemoveArgument(target, 2),
        SetKeyword(target, "k", "2"),
        SetKeyword(target, "m", "3"),
    ]
    check(text, "f(b, k=2, m=3)\n", *edits)


def test_edits_of_calls_in_calls_compose() -> None:
    text = "f(g(a), h(b)(c))\n"
    edits = [SetKeyword(expression(text, inner), "k", "v") for inner in ("f(g(a), h(b)(c))", "g(a)", "h(b)", "h(b)(c)")]
    check(text, "f(g(a, k=v), h(b, k=v)(c, k=v), k=v)\n", *edits)


def test_the_same_edit_twice_is_made_once() -> None:
    check("f()\n", "f(k=v)\n", *[SetKeyword(call("f()"), "k", "v")] * 2)


@pytest.mark.parametrize("argument", ["k", 0, 1, 7])
def test_an_argument_that_is_not_there(argument: str | int) -> None:
    text = "f(*a, b=1)\n"
    with pytest.raises(EditError, match="RemoveArgument at line 1: the call has no argument"):
        apply_edits(text, [RemoveArgument(call(text), argument)])


def test_contradictions_are_refused() -> None:
    text = "f(g(a), k=h(b))\n"
    target, inner = call(text), expression(text, "h(b)")
    for other in (SetKeyword(target, "k", "2"), RemoveArgument(target, "k"), SetKeyword(inner, "c", "3")):
        with pytest.raises(EditError, match="another edit"):
            apply_edits(text, [SetKeyword(target, "k", "1"), other])


REPLACE = [
    ("y = f.a", "f.a", "g", "y = g"),
    ("y = a * b", "b", "c + d", "y = a * (c + d)"),
    ("y = a + b", "b", "c * d", "y = a + c * d"),
    ("y = a + b", "a", "c + d", "y = c + d + b"),
    ("y = a.b", "a", "c + d", "y = (c + d).b"),
    ("y = f(a)", "a", "c + d", "y = f(c + d)"),
    ("y = f(a)", "f", "lambda: 0", "y = (lambda: 0)(a)"),
    ("y = (a) * b", "a", "c + d", "y = (c + d) * b"),
    ("y = not a", "a", "b or c", "y = not (b or c)"),
    ("y = a if b else c", "b", "d and e", "y = a if d and e else c"),
    ("y = f((a, b))", "(a, b)", "c", "y = f(c)"),
    ("y = a", "a", "c, d", "y = (c, d)"),
    ("y = [x for x in a]", "a", "b", "y = [x for x in b]"),
    ("with a.no_grad:\n    pass", "a.no_grad", "a.no_grad()", "with a.no_grad():\n    pass"),
    ("if a == b:\n    pass", "a == b", "c", "if c:\n    pass"),
    ("@a.no_grad\ndef f():\n    pass", "a.no_grad", "a.no_grad()", "@a.no_grad()\ndef f():\n    pass"),
]


@pytest.mark.parametrize(("before", "old", "new", "after"), REPLACE)
def test_replace_expression(before: str, old: str, new: str, after: str) -> None:
    check(before + "\n", after + "\n", ReplaceExpression(expression(before, old), new))


def test_replacing_what_another_edit_changes_is_refused() -> None:
    text = "f(g(a))\n"
    outer, inner = expression(text, "f(g(a))"), expression(text, "g(a)")
    for edit in (SetKeyword(inner, "k", "v"), SetKeyword(outer, "k", "v"), ReplaceExpression(outer, "z")):
        with pytest.raises(EditError, match="another edit"):
            apply_edits(text, [edit, ReplaceExpression(outer, "x")])


def test_replacing_the_function_of_a_changed_call() -> None:
    text = "a.f(b)\n"
    edits: list[Edit] = [
        SetKeyword(expression(text, "a.f(b)"), "k", "v"),
        ReplaceExpression(expression(text, "a.f"), "g"),
    ]
    check(text, "g(b, k=v)\n", *edits)


def test_code_that_is_none() -> None:
    with pytest.raises(EditError, match="is not an expression"):
        apply_edits("f()\n", [SetKeyword(call("f()"), "k", "a b")])


def test_a_place_where_nothing_stands() -> None:
    target = expression("f(a)\n", "f(a)")
    with pytest.raises(EditError, match="SetKeyword at line 1: there is no Call at its place"):
        apply_edits("f(ab)\n", [SetKeyword(target, "k", "v")])


def test_text_that_is_not_python() -> None:
    with pytest.raises(EditError):
        apply_edits("f(\n", [])


def test_windows_line_ends_stay() -> None:
    text = code("""
        f(
            a,
            b,
        )
    """).replace("\n", "\r\n")
    after = text.replace("    b,\r\n", "    b,\r\n    k=v,\r\n")
    target = expression(text, text.rstrip().replace("\r\n", "\n"))
    check(text, after, SetKeyword(target, "k", "v"))
