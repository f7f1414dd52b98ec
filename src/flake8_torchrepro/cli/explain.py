"""The page of a rule for a terminal, made from what the rule says of itself."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from ..finding import PROBLEM
from ..rule import Rule

_WIDTH = 88
_REPAIRS = {
    "safe": "The repair is safe: torchrepro-fix applies it.",
    "sometimes": "torchrepro-fix applies the repair where it is safe, and with --unsafe-fixes elsewhere.",
    "unsafe": "The repair rests on a guess at what you mean: torchrepro-fix applies it with --unsafe-fixes.",
    "shown": "There is no automatic repair.",
}

ABOUT_PROBLEM = f"""\
{PROBLEM} is no rule: flake8 shows it where [tool.torchrepro] in pyproject.toml is not understood, or where this plugin
itself failed on a file. Its text says what to do.
"""


def page(rule: Rule) -> str:
    """Everything that a user may want to know of a rule."""
    said = [f"{rule.code} {rule.name}", rule.summary, rule.why, f"Instead: {rule.advice}", _REPAIRS[rule.repairs]]
    parts = [_fill(text) for text in (*said, *_scope(rule))]
    for bad in rule.bad:
        parts += ["Flagged:", _code(bad.code)]
        parts += ["Repaired:", _code(bad.repaired)] if bad.repaired is not None else []
    for good in rule.good:
        parts += [_fill(f"Not flagged ({good.why.strip().rstrip('.')}):"), _code(good.code)]
    parts.append(f"To keep one as it is, write `# noqa: {rule.code}` at the end of its line.")
    return "\n\n".join(parts) + "\n"


def overview(rules: Iterable[Rule]) -> str:
    """One line for each rule."""
    said = [(rule.code, rule.name, rule.summary) for rule in rules]
    width = max((len(name) for _, name, _ in said), default=0)
    return "".join(f"{code} {name:{width}}  {summary}\n" for code, name, summary in said)


def _scope(rule: Rule) -> list[str]:
    """What one must know of versions and selection."""
    said = []
    if rule.torch_below is not None:
        version = ".".join(map(str, rule.torch_below))
        undeclared = "It speaks" if rule.fires_undeclared else "It is silent"
        said.append(
            f"The fault is gone in torch {version}: the rule is silent where your requirements, or --torch-version "
            f"{version}, say that you support nothing older. {undeclared} while no version is declared."
        )
    if rule.code.startswith("TRP9"):
        said.append(f"This is an opinion, off unless you select it: --select {rule.code} or --select TRP9.")
    return said


def _fill(text: str) -> str:
    """Each paragraph in lines that fit; an option or a dotted name is not broken."""
    wrapper = textwrap.TextWrapper(_WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n\n".join(wrapper.fill(" ".join(part.split())) for part in text.strip().split("\n\n"))


def _code(code: str) -> str:
    return textwrap.indent(textwrap.dedent(code).strip("\n"), "    ")
