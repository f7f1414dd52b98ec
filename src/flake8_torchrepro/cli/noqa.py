"""``# noqa`` as flake8 reads it (6.0 to 7.5 agree), its surprises included.

``# noqa: TRP`` has no digits, so to flake8 it is a bare ``# noqa``; codes are compared as they are written, so that
``# noqa: trp201`` hides nothing; and ``# flake8: noqa: TRP201`` on a line of its own drops the whole file.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterable

from ..finding import Finding
from ..source import Source

_COMMENT = re.compile(r"# noqa(?::\s?(?P<codes>(?:[A-Z]+[0-9]+[,\s]*)+))?", re.IGNORECASE)
_FILE_WORD = re.compile(r"# flake8[:=]", re.IGNORECASE)
_FILE_COMMENT = re.compile(r"\s*# flake8[:=]\s*noqa", re.IGNORECASE)
_LINE_ENDS = re.compile(r"\r\n|\r|\n")


def drops_file(text: str) -> bool:
    """Whether a line of the file says ``# flake8: noqa`` and nothing before it."""
    if not _FILE_WORD.search(text):
        return False
    return any(_FILE_COMMENT.match(line) for line in _LINE_ENDS.split(text))


def visible(source: Source, findings: Iterable[Finding]) -> list[Finding]:
    """The findings that no comment hides. Only a file with findings and comments is tokenised."""
    kept = list(findings)
    if not kept or not _COMMENT.search(source.text):
        return kept
    searched = _searched_text(source)
    return [f for f in kept if not _hides(searched.get(f.span.line) or _line(source, f.span.line), f.code)]


def _hides(text: str, code: str) -> bool:
    """Whether the first comment in a text is meant for a code."""
    comment = _COMMENT.search(text)
    if comment is None:
        return False
    codes = comment["codes"]
    return codes is None or code.startswith(tuple(part for part in re.split(r"[,\s]", codes) if part))


def _line(source: Source, number: int) -> str:
    return source.lines[number - 1] if number <= len(source.lines) else ""


def _searched_text(source: Source) -> dict[int, str]:
    """For each line the text whose comment counts: strings and ``\\`` join lines, brackets do not (flake8's choice)."""
    lines = [line + "\n" for line in source.lines]
    found: dict[int, str] = {}
    first, last = len(lines) + 2, -1
    try:
        for token in tokenize.generate_tokens(iter(lines).__next__):
            if token.type in (tokenize.ENDMARKER, tokenize.DEDENT):
                continue
            first, last = min(first, token.start[0]), max(last, token.end[0])
            if token.type in (tokenize.NL, tokenize.NEWLINE):
                found.update(dict.fromkeys(range(first, last + 1), "".join(lines[first - 1 : last])))
                first, last = len(lines) + 2, -1
    except (tokenize.TokenError, SyntaxError):
        return {}
    return found
