"""Analyse, apply, analyse again."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from flake8_torchrepro.edits import Edit, RemoveArgument, ReplaceExpression, ReplaceStatement, SetKeyword
from flake8_torchrepro.finding import Finding, Fix, Safety
from flake8_torchrepro.fix.engine import Repaired, repair
from flake8_torchrepro.source import Source, span_of, target_of

Advice = Callable[[ast.Call], tuple[str, Safety, tuple[Edit, ...]] | None]


def calls_advised(advice: Advice) -> Callable[[Source], list[Finding]]:
    """An analysis that says something about calls of plain names."""

    def findings(source: Source) -> Iterator[Finding]:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                said = advice(node)
                if said:
                    yield Finding(said[0], span_of(node), "wrong", Fix(said[1], "do right", said[2]))

    return lambda source: list(findings(source))


def renamed(old: str, new: str, code: str = "T1", safety: Safety = Safety.SAFE) -> Advice:
    def advice(node: ast.Call) -> tuple[str, Safety, tuple[Edit, ...]] | None:
        if not isinstance(node.func, ast.Name) or node.func.id != old:
            return None
        return code, safety, (ReplaceExpression(target_of(node.func), new),)

    return advice


def either(*all_advice: Advice) -> Advice:
    return lambda node: next((said for advice in all_advice if (said := advice(node))), None)


def run(text: str, advice: Advice, *, unsafe: bool = False, uncovers: dict[str, str] | None = None) -> Repaired:
    mapping = {code: {allowed} for code, allowed in (uncovers or {}).items()}
    return repair(Source.parse(text, "a.py"), calls_advised(advice), unsafe=unsafe, uncovers=mapping)


def codes(findings: tuple[Finding, ...]) -> list[str]:
    return [finding.code for finding in findings]


def test_all_are_repaired_at_once() -> None:
    result = run("a(1)\na(2)\nc(3)\n", renamed("a", "b"))
    assert result.text == "b(1)\nb(2)\nc(3)\n"
    assert (codes(result.applied), result.left, result.refused) == (["T1", "T1"], (), None)


@pytest.mark.parametrize(("safety", "unsafe", "after"), [
    (Safety.SAFE, False, "b()\n"),
    (Safety.UNSAFE, False, "a()\n"),
    (Safety.UNSAFE, True, "b()\n"),
    (Safety.SHOW, True, "a()\n"),
])  # fmt: skip
def test_safety(safety: Safety, unsafe: bool, after: str) -> None:
    result = run("a()\n", renamed("a", "b", safety=safety), unsafe=unsafe)
    assert result.text == after
    assert len(result.left) == (after == "a()\n")
    assert result.refused is None


def test_what_is_not_wanted_is_left() -> None:
    analyze = calls_advised(renamed("a", "b"))
    source = Source.parse("a(1)\na(2)\n", "a.py")
    result = repair(
        source, analyze, unsafe=False, wanted=lambda s, f: f.span.line == 2 and s.text.startswith("a"), uncovers={}
    )
    assert result.text == "a(1)\nb(2)\n"
    assert [finding.span.line for finding in result.left] == [1]


def test_what_comes_to_light_is_repaired_in_the_next_round() -> None:
    result = run("a()\n", either(renamed("a", "b"), renamed("b", "c", "T2")), uncovers={"T1": "T2"})
    assert (result.text, codes(result.applied), result.refused) == ("c()\n", ["T1", "T2"], None)


def test_what_may_not_come_to_light() -> None:
    result = run("a()\n", either(renamed("a", "b"), renamed("b", "c", "T2")))
    assert (result.text, codes(result.left)) == ("a()\n", ["T1"])
    assert result.refused == "T1 at line 1: T2 would be found in the repaired file"


def test_only_the_repair_at_fault_is_refused() -> None:
    advice = either(renamed("a", "b"), renamed("x", "c", "T2"), renamed("b", "b", "T3", Safety.SHOW))
    result = run("ok()\na()\ny()\nx()\n", either(advice, renamed("y", "z")))
    assert result.text == "ok()\na()\nz()\nc()\n"
    assert result.refused == "T1 at line 2: T3 would be found in the repaired file"
    assert codes(result.left) == ["T1"]


def test_a_repair_that_leaves_its_fault_is_refused() -> None:
    result = run("a()\n", renamed("a", "a"))
    assert result.text == "a()\n"
    assert result.refused == "T1 at line 1: T1 would be found in the repaired file"


def test_edits_that_do_not_fit() -> None:
    def advice(node: ast.Call) -> tuple[str, Safety, tuple[Edit, ...]] | None:
        fits = SetKeyword(target_of(node), "k", "1")
        if node.keywords:
            return None
        return "T1", Safety.SAFE, (fits, RemoveArgument(target_of(node), "z")) if node.args else (fits,)

    result = run("a()\nb(1)\n", advice)
    assert result.text == "a(k=1)\nb(1)\n"
    assert result.refused == "T1 at line 2: RemoveArgument at line 2: the call has no argument 'z'"


def test_conflicting_repairs_are_made_one_after_the_other() -> None:
    def advice(node: ast.Call) -> tuple[str, Safety, tuple[Edit, ...]] | None:
        if not isinstance(node.func, ast.Name) or node.func.id.isupper():
            return None
        return "T1", Safety.SAFE, (ReplaceExpression(target_of(node), f"{node.func.id.upper()}()"),)

    result = run("a(b())\n", advice)
    assert result.text == "A()\n"


def test_at_most_five_rounds() -> None:
    def advice(node: ast.Call) -> tuple[str, Safety, tuple[Edit, ...]] | None:
        count = len(node.args)
        return f"T{count}", Safety.SAFE, (ReplaceExpression(target_of(node), f"a({'0, ' * count}0)"),)

    allowed = {f"T{count}": f"T{count + 1}" for count in range(9)}
    result = run("a()\n", advice, uncovers=allowed)
    assert result.text == "a(0, 0, 0, 0, 0)\n"
    assert codes(result.left) == ["T5"]


def test_a_result_that_is_not_python_is_refused() -> None:
    def advice(node: ast.Call) -> tuple[str, Safety, tuple[Edit, ...]] | None:
        return "T1", Safety.SAFE, (SetKeyword(target_of(node), "not", "1"),)

    result = run("a()\n", advice)
    assert result.text == "a()\n"
    assert result.refused is not None
    assert result.refused.startswith("T1 at line 1: the edited text would not be valid")


def test_the_rules_say_what_may_be_uncovered_by_default() -> None:
    source = Source.parse("a = 1\n")
    assert repair(source, lambda source: [], unsafe=False) == Repaired("a = 1\n")


def test_statement_edits_go_through() -> None:
    def analyze(source: Source) -> list[Finding]:
        first = source.tree.body[0]
        edits = (ReplaceStatement(target_of(first), "b = 2"),)
        wrong = source.text.startswith("a")
        return [Finding("T1", span_of(first), "wrong", Fix(Safety.SAFE, "", edits))] if wrong else []

    assert repair(Source.parse("a = 1  # c\n"), analyze, unsafe=False, uncovers={}).text == "b = 2  # c\n"


def test_libcst_is_loaded_only_when_something_is_repaired() -> None:
    program = (
        "import sys; from flake8_torchrepro.fix.engine import repair; from flake8_torchrepro.source import Source;"
        "import flake8_torchrepro.fix.files; repair(Source.parse('a = 1'), lambda source: [], unsafe=True);"
        "print('libcst' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
