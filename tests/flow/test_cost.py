"""What interpretation costs, counted in visits of a statement."""

from __future__ import annotations

import pytest
from snippets import view_of

from flake8_torchrepro.flow.state import Events, State
from flake8_torchrepro.flow.values import Obj


@pytest.fixture
def visits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One element for each time that a ``.eval()`` or ``.train()`` is interpreted."""
    found: list[int] = []
    original = State.set_mode

    def counted(state: State, obj: Obj, events: Events, weak: bool = False) -> None:
        found.extend({event.at.line for event in events})
        original(state, obj, events, weak)

    monkeypatch.setattr(State, "set_mode", counted)
    return found


def _nest(heads: list[str], innermost: list[str]) -> str:
    lines = [f"{'    ' * depth}{head}" for depth, head in enumerate(heads, 1)]
    return "\n".join(["def run(model, xs):", *lines, *(f"{'    ' * (len(heads) + 1)}{line}" for line in innermost)])


def test_eight_nested_loops(visits: list[int]) -> None:
    view_of(_nest([f"for x{n} in xs:" for n in range(8)], ["model.eval()", "model(xs)", "model.train()"]))
    assert 1 <= len(visits) // 2 <= 17


def test_a_mode_in_each_of_eight_nested_loops(visits: list[int]) -> None:
    lines = ["def run(model, xs):"]
    for n in range(8):
        lines += [f"{'    ' * (n + 1)}for x{n} in xs:", f"{'    ' * (n + 2)}model.part{n}.eval()"]
    lines += [f"{'    ' * (n + 2)}model.part{n}.train()" for n in reversed(range(8))]
    view_of("\n".join(lines))
    assert 16 <= len(visits) <= 16 * 17


def test_nested_branches(visits: list[int]) -> None:
    view_of(_nest([f"if xs[{n}]:" for n in range(12)], ["model.eval()"]))
    assert len(visits) == 1


def test_branches_one_after_another(visits: list[int]) -> None:
    view_of("\n".join(["def run(model, xs):", *[f"    if xs[{n}]:\n        model.eval()" for n in range(40)]]))
    assert len(visits) == 40


def test_nested_finally(visits: list[int]) -> None:
    lines = ["def run(model, xs):"]
    for n in range(8):
        lines.append(f"{'    ' * (n + 1)}try:")
    lines.append(f"{'    ' * 9}return xs")
    for n in reversed(range(8)):
        lines += [f"{'    ' * (n + 1)}finally:", f"{'    ' * (n + 2)}model.eval()"]
    view_of("\n".join(lines))
    assert len(visits) == 8


def test_a_chain_of_calls_is_summarised_once(visits: list[int]) -> None:
    lines = ["def f0(model):", "    model.eval()"]
    for n in range(1, 14):
        lines += [f"def f{n}(model):", f"    f{n - 1}(model)", f"    f{n - 1}(model)"]
    view_of("\n".join(lines))
    assert len(visits) <= 2 * 14
