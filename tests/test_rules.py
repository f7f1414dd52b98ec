"""Every rule keeps the promises that its own file makes."""

from __future__ import annotations

import re

import pytest

from flake8_torchrepro.analysis import analyze
from flake8_torchrepro.finding import Finding
from flake8_torchrepro.fix.engine import repair
from flake8_torchrepro.rule import Bad, Good, Rule, all_rules
from flake8_torchrepro.settings import Settings
from flake8_torchrepro.source import Source

RULES = all_rules()
MARK = re.compile(r"[ \t]*# <-.*")
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
each_bad = pytest.mark.parametrize(
    ("rule", "example"),
    [pytest.param(rule, bad, id=f"{rule.code}-{n}") for rule in RULES for n, bad in enumerate(rule.bad)],
)
each_good = pytest.mark.parametrize(
    ("rule", "example"),
    [pytest.param(rule, good, id=f"{rule.code}-{n}") for rule in RULES for n, good in enumerate(rule.good)],
)


def settings_for(rule: Rule) -> Settings:
    """Everything is selected, and a torch is declared where the rule is silent without."""
    version = (1, 0) if rule.torch_below and not rule.fires_undeclared else None
    return Settings(select=("TRP", "TRP9"), torch_version=version)


def parse(code: str) -> Source:
    return Source.parse(code, "example.py")


def findings(rule: Rule, code: str) -> list[Finding]:
    return [f for f in analyze(parse(code), settings_for(rule)) if f.code == rule.code]


def marked(code: str) -> list[int]:
    return [number for number, line in enumerate(code.split("\n"), 1) if MARK.search(line)]


@each_rule
def test_words(rule: Rule) -> None:
    assert rule.name == rule.name.lower()
    assert " " not in rule.name
    assert rule.code not in rule.uncovers
    assert "\n" not in rule.summary
    assert not rule.summary.endswith(".")
    assert rule.advice
    assert rule.check.__doc__
    assert type(rule).__module__.rpartition(".")[2] == f"{rule.code.lower()}_{rule.name.replace('-', '_')}"


@each_rule
def test_names_are_unique(rule: Rule) -> None:
    assert [other.code for other in RULES if other.name == rule.name] == [rule.code]


@each_bad
def test_bad_is_flagged_at_its_marks(rule: Rule, example: Bad) -> None:
    assert marked(example.code)
    assert sorted({f.span.line for f in findings(rule, example.code)}) == marked(example.code)


@each_bad
def test_bad_is_repaired_as_promised(rule: Rule, example: Bad) -> None:
    """The marks are the tests' and not the code's: they go before the repair."""
    if example.repaired is None:
        pytest.skip("the example promises no repair")
    settings = settings_for(rule)
    result = repair(
        parse(MARK.sub("", example.code)),
        lambda source: analyze(source, settings),
        unsafe=True,
        wanted=lambda source, finding: finding.code == rule.code,
    )
    assert result.refused is None
    assert result.text == MARK.sub("", example.repaired)
    assert findings(rule, result.text) == []


@each_rule
def test_something_shows_the_repair(rule: Rule) -> None:
    assert rule.repairs == "shown" or any(example.repaired for example in rule.bad)


@each_bad
def test_messages(rule: Rule, example: Bad) -> None:
    for finding in findings(rule, example.code):
        assert "\n" not in finding.message
        assert not finding.message.endswith(".")
        assert not finding.message.startswith("TRP")


@each_bad
def test_triggers_let_the_bad_through(rule: Rule, example: Bad) -> None:
    assert any(trigger.is_in(example.code) for trigger in rule.triggers)


@each_good
def test_good_is_not_flagged(rule: Rule, example: Good) -> None:
    assert findings(rule, example.code) == []
    assert example.why
