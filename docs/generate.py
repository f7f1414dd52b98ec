#!/usr/bin/env python3
"""Write what the rules say of themselves into the docs: a page for each, and the table in README.md.

Without arguments the files are written. With --check nothing is, and the exit status is 1 if something would change.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from flake8_torchrepro.rule import Bad, Good, Rule, all_rules

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "rules"
README = ROOT / "README.md"
START, END = "<!-- rules -->", "<!-- /rules -->"

FAMILIES = {
    "TRP1": "Determinism settings",
    "TRP2": "Gradients and modes",
    "TRP3": "Data loading",
    "TRP4": "Seeding",
    "TRP9": "Opinions, off unless you select them",
}
MARK = re.compile(r"[ \t]*# <-.*")  # the arrow at what a bad example has wrong
REPAIRS = {
    "safe": "by default",
    "sometimes": "by default where it is safe",
    "unsafe": "with `--unsafe-fixes`",
    "shown": "shown, not applied",
}


def table(rules: Iterable[Rule]) -> str:
    """The rules as Markdown tables, one for each family."""
    families: dict[str, list[Rule]] = {}
    for rule in rules:
        families.setdefault(rule.code[:4], []).append(rule)
    parts = []
    for prefix, members in families.items():
        rows = [
            f"| [{rule.code}](docs/rules/{rule.code}.md) | {rule.name} | {capital(rule.summary)} | {REPAIRS[rule.repairs]} |"
            for rule in members
        ]
        head = ["| Code | Name | What it finds | Repaired |", "| --- | --- | --- | --- |"]
        parts.append("\n".join([f"**{FAMILIES[prefix]}**", "", *head, *rows]))
    return "\n\n".join(parts)


def capital(text: str) -> str:
    """A text that begins like a sentence, unless it begins with a name or with code."""
    return text[:1].upper() + text[1:] if re.match(r"[a-z]+\b(?![(.])", text) else text


def block(code: str) -> str:
    """Code as a Markdown block."""
    return f"```python\n{code.strip(chr(10))}\n```"


def flagged(example: Bad) -> str:
    """A bad example, and what becomes of it where it can be repaired."""
    text = block(example.code)
    return text if example.repaired is None else f"{text}\n\nRepaired:\n\n{block(MARK.sub('', example.repaired))}"


def accepted(example: Good) -> str:
    """A good example below the reason why it is one."""
    return f"{capital(example.why.rstrip('.'))}:\n\n{block(example.code)}"


def scope(rule: Rule) -> str:
    """When the rule speaks: the view that it takes, and the versions of torch that have the fault."""
    views = {
        "point": "It looks at each place in the order in which the code runs.",
        "program": "It looks at the whole program, in whatever order the settings are made.",
    }
    said = [views[rule.view]]
    if rule.torch_below is not None:
        version = ".".join(map(str, rule.torch_below))
        said.append(f"The fault is gone in torch {version}: it is silent where that is the oldest torch you support.")
        if not rule.fires_undeclared:
            said.append("It is silent too when no version is declared.")
    if rule.code.startswith("TRP9"):
        said.append(f"It is an opinion, and runs only when `TRP9` or `{rule.code}` is selected.")
    return " ".join(said)


def page(rule: Rule) -> str:
    """Everything that a rule says of itself."""
    uncovers = [f"[{other.code}]({other.code}.md)" for other in all_rules() if other.code in rule.uncovers]
    also = f" A repair may bring {' or '.join(uncovers)} to light." if uncovers else ""
    parts = [
        f"<!-- made by docs/generate.py from the rule's own file: change that -->\n# {rule.code} {rule.name}",
        f"{capital(rule.summary)}.",
        f"## Why it matters\n\n{rule.why}",
        f"## What to write instead\n\n{rule.advice}",
        f"`torchrepro-fix` repairs it: {REPAIRS[rule.repairs]}.{also}",
        f"## When it speaks\n\n{scope(rule)}",
        "## Flagged\n\n" + "\n\n".join(map(flagged, rule.bad)),
        "## Not flagged\n\n" + "\n\n".join(map(accepted, rule.good)),
    ]
    return "\n\n".join(parts) + "\n"


def wanted() -> dict[Path, str]:
    """Every generated file and its text."""
    rules = all_rules()
    readme = README.read_text(encoding="utf-8")
    before, _, rest = readme.partition(START)
    _, _, after = rest.partition(END)
    texts = {README: f"{before}{START}\n{table(rules)}\n{END}{after}"}
    texts.update({PAGES / f"{rule.code}.md": page(rule) for rule in rules})
    return texts


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say what is out of date")
    check = parser.parse_args().check
    texts = wanted()
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    orphans = sorted(set(PAGES.glob("TRP*.md")) - set(texts))
    for path in [*stale, *orphans]:
        print(f"{path.relative_to(ROOT)} {'is out of date' if check else 'removed' if path in orphans else 'written'}")
    if not check:
        PAGES.mkdir(exist_ok=True)
        for path in stale:
            path.write_text(texts[path], encoding="utf-8")
        for path in orphans:
            path.unlink()
    return int(check and bool(stale or orphans))


if __name__ == "__main__":
    sys.exit(main())
