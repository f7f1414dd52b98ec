"""What is told of a line in words."""

from __future__ import annotations

from snippets import faulty_lines, view_of

from flake8_torchrepro.flow.explain import why


def test_why_tells_the_events() -> None:
    view = view_of("\ndef run(model, x):\n    model.eval()\n    return model(x).item()\n")
    told = "\n".join(why(view, 7))
    assert "`model`" in told
    assert "evaluation mode, set at line 6" in told
    assert "gradients on" in told
    assert "TRP201: reported" in told


def test_why_tells_why_not() -> None:
    view = view_of("\ndef run(model, x):\n    model.eval()\n    model(x).backward()\n")
    assert "something differentiates the result" in "\n".join(why(view, 7))


def test_why_tells_who_guards() -> None:
    view = view_of("\ndef run(model, x):\n    with torch.no_grad():\n        model(x)\n")
    assert "gradients off at line 6" in "\n".join(why(view, 7))


def test_why_tells_of_a_mode_that_is_set() -> None:
    view = view_of("\ndef run(model, x):\n    model.eval()\n")
    assert why(view, 6) == ["in run: sets `model` to evaluation mode, set here"]


def test_why_of_a_line_without_anything() -> None:
    assert len(why(view_of("\n\n"), 2)) == 1


def test_nothing_is_reported_in_an_empty_file() -> None:
    assert faulty_lines(view_of("")) == set()
