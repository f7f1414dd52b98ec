"""What a run says: the findings on stdout in the form that was asked for, the sum of it all on stderr."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Callable, Iterable, Sequence

from ..finding import Safety
from .outcome import Outcome, Place

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def as_text(places: Iterable[Place]) -> str:
    """One line for each finding, as flake8 writes it."""
    return "".join(f"{place}\n" for place in places)


def as_json(places: Iterable[Place]) -> str:
    """A list of objects; ``fix`` is ``safe``, ``unsafe``, ``show`` (advice only) or null."""
    items = [
        {
            "path": place.path,
            "line": place.line,
            "column": place.column,
            "code": place.code,
            "message": place.message,
            "fix": place.fix and place.fix.value,
        }
        for place in places
    ]
    return json.dumps(items, indent=2) + "\n"


def as_github(places: Iterable[Place]) -> str:
    """Workflow commands, which GitHub shows beside the lines of a pull request."""
    return "".join(
        f"::warning file={_property(os.path.normpath(place.path))},line={place.line},col={place.column},"
        f"title={place.code}::{_data(f'{place.code} {place.message}')}\n"
        for place in places
    )


FORMATS: dict[str, Callable[[Iterable[Place]], str]] = {"text": as_text, "json": as_json, "github": as_github}


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def unified_diff(path: str, before: str, after: str) -> str:
    """The change to a file, for ``patch -p0``."""
    lines = difflib.unified_diff(_LINE.findall(before), _LINE.findall(after), path, path)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def summary_of_check(outcomes: Sequence[Outcome]) -> str:
    """The last line of ``--check``."""
    places = [place for outcome in outcomes for place in outcome.places]
    if not places:
        return f"no findings in {_files(len(outcomes))}"
    safe, unsafe = _count(places, Safety.SAFE), _count(places, Safety.UNSAFE)
    text = f"{_findings(len(places))} in {_files(sum(1 for o in outcomes if o.places))}"
    offers = [f"{safe} can be repaired"] * bool(safe) + [f"{unsafe} more with --unsafe-fixes"] * bool(unsafe and safe)
    offers = offers or [f"{unsafe} can be repaired with --unsafe-fixes"] * bool(unsafe)
    return f"{text} ({', '.join(offers)})" if offers else text


def summary_of_repair(outcomes: Sequence[Outcome], *, written: bool, unsafe: bool) -> str:
    """The last line of a repair, or of ``--diff``, which only says what a repair would do."""
    repaired, left = sum(o.repaired for o in outcomes), [place for o in outcomes for place in o.places]
    if not repaired and not left:
        return f"no findings in {_files(len(outcomes))}"
    changed = _files(sum(1 for o in outcomes if o.repaired))
    done = f"{_findings(repaired)} {'' if written else 'would be '}repaired in {changed}"
    more = 0 if unsafe else _count(left, Safety.UNSAFE)
    parts = [done] if repaired else ["nothing repaired" if written else "nothing to repair"]
    if left:
        parts.append(f"{len(left)} left" + (f" ({more} more with --unsafe-fixes)" if more else ""))
    return ", ".join(parts)


def unread(number: int) -> str:
    """What the last line says of files that no finding can be expected of."""
    return f"; {_files(number)} could not be read" if number else ""


def _count(places: Iterable[Place], safety: Safety) -> int:
    return sum(1 for place in places if place.fix is safety)


def _findings(number: int) -> str:
    return f"{number} finding{'' if number == 1 else 's'}"


def _files(number: int) -> str:
    return f"{number} file{'' if number == 1 else 's'}"
