#!/usr/bin/env python3
"""How right the findings are, measured on code that somebody has read and labelled.

FOLDER has the labelled repositories, one folder each. LABELS is a tab-separated file with the columns repo, path, line,
code and label: `yes` where the code is a fault of that kind, `no` where it looks like one and is none. Other labels do
not count. Path is the file's within the repository, and a `/` in repo may be written `+` or `__` in the folder's name.

A `yes` counts as found when its code is given in the same function (outside of functions: within --near lines). A `no`
counts as a false alarm when its code is given on that line or one beside it.
"""

from __future__ import annotations

import argparse
import ast
import csv
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FINDING = re.compile(r"(?P<path>.+?):(?P<line>\d+):\d+: (?P<code>TRP\d{3}) ")


class Site(NamedTuple):
    """A place that was labelled."""

    path: Path
    line: int
    code: str
    is_fault: bool


def sites(folder: Path, labels: Path) -> Iterator[Site]:
    """The labelled places whose files are there."""
    with labels.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows, delimiter="\t"):
            if row["label"] not in ("yes", "no"):
                continue
            homes = (folder / row["repo"].replace("/", joint) for joint in ("/", "+", "__"))
            home = next((home for home in homes if home.is_dir()), None)
            if home is not None and (home / row["path"]).is_file():
                yield Site(home / row["path"], int(row["line"]), row["code"], row["label"] == "yes")


def functions(path: Path) -> list[range]:
    """The lines of every function of a file; raises SyntaxError or ValueError where it is not Python of today."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    text = path.read_text(encoding="utf-8-sig", errors="replace")  # whatever codec the file itself asks for
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds))
    return [range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in nodes]


def innermost(spans: list[range], line: int) -> range | None:
    """The function that a line is in."""
    return min((span for span in spans if line in span), key=len, default=None)


def lint(files: list[Path]) -> dict[tuple[Path, str], list[int]]:
    """The lines at which flake8 gives each code in each file."""
    command = [sys.executable, "-m", "flake8", "--isolated", "--select", "TRP,TRP9", *map(str, files)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode not in (0, 1) or run.stderr.strip():
        sys.exit(f"flake8 ended with status {run.returncode}:\n{run.stderr[-2000:]}")
    given = defaultdict(list)
    for m in filter(None, map(FINDING.match, run.stdout.splitlines())):
        given[Path(m["path"]), m["code"]].append(int(m["line"]))
    return given


def is_given(site: Site, spans: list[range], lines: list[int], near: int) -> bool:
    """Whether one of the lines at which the site's code was given answers to its label."""
    if not site.is_fault:
        return any(abs(line - site.line) <= 1 for line in lines)
    home = innermost(spans, site.line)
    same = (line for line in lines if innermost(spans, line) == home)
    return any(home is not None or abs(line - site.line) <= near for line in same)


def main() -> int:
    """Score and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--near", type=int, default=5, help="lines, outside of functions (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="name every missed alarm and false alarm")
    args = parser.parse_args()

    spans: dict[Path, list[range]] = {}
    labelled, skipped = [], set()
    for site in sites(args.folder, args.labels):
        try:
            if site.path not in spans:
                spans[site.path] = functions(site.path)
            labelled.append(site)
        except (SyntaxError, ValueError):
            skipped.add(site.path)
    if not labelled:
        sys.exit("none of the labelled files is in that folder")

    given = lint(sorted(spans))
    score: Counter[tuple[str, bool, bool]] = Counter()
    for site in labelled:
        answer = is_given(site, spans[site.path], given.get((site.path, site.code), []), args.near)
        score[site.code, site.is_fault, answer] += 1
        if args.list and answer != site.is_fault:
            kind = "missed alarm" if site.is_fault else "false alarm"
            print(f"{kind}: {site.path.relative_to(args.folder)}:{site.line} {site.code}")

    print(f"{'code':8}{'found':>12}{'false alarms':>16}")
    for code in sorted({code for code, *_ in score}):
        found, missed = score[code, True, True], score[code, True, False]
        alarms, quiet = score[code, False, True], score[code, False, False]
        print(f"{code:8}{f'{found} of {found + missed}':>12}{f'{alarms} of {alarms + quiet}':>16}")
    print(f"{len(labelled)} places in {len(spans)} files; {len(skipped)} files are not Python of today")
    return 0


if __name__ == "__main__":
    sys.exit(main())
