"""The oldest torch that one requirement allows, in the dialects of pip, Poetry and conda."""

from __future__ import annotations

import re

from ..patterns import Pattern

Version = tuple[int, int]  # major, minor

_NAME = Pattern(r"(?:[\w./-]+::)?(?:torch|pytorch(?:-[cg]pu)?)(?![\w.-])\s*(?:\[[^\]]*\])?\s*", re.IGNORECASE)
_WHEEL = Pattern(r"\btorch-(\d+)\.(\d+)[^/\s]*\.whl")
_END = Pattern(r"[;#].*|\s-.*", re.DOTALL)  # a marker, a comment, or an option of pip
_GAP = Pattern(r"([<>=!~^])\s+")
_CLAUSE = Pattern(r"(?P<operator>[<>=!~^]*)v?(?P<version>\d[\w.!]*)")
_UPPER = ("<", "<=", "!=")
_AS_IN_PIP = {"": "==", "=": "==", "^": ">=", "~": ">="}  # what Poetry and conda write


def bound_in(requirement: str) -> Version | None:
    """The bound in ``torch>=1.9; python_version < "3.12"`` and its like; None for another package or no bound."""
    text = requirement.strip()
    if wheel := _WHEEL.search(text):
        return int(wheel[1]), int(wheel[2])
    name = _NAME.match(text)
    return None if name is None else lower_bound(_END.sub("", text[name.end() :]))


def lower_bound(versions: str) -> Version | None:
    """The lower bound of ``>=1.9,<3``, ``^1.13``, ``1.12 || 1.13``, …: the lowest of alternatives, if all have one."""
    bounds = [_bound_of_all(part) for part in re.split(r"\|+", _GAP.sub(r"\1", versions))]
    known = [bound for bound in bounds if bound is not None]
    return min(known) if len(known) == len(bounds) else None


def _bound_of_all(clauses: str) -> Version | None:
    bounds = (_bound_of(clause) for clause in re.split(r"[,\s]+", clauses))
    return max((bound for bound in bounds if bound is not None), default=None)


def _bound_of(clause: str) -> Version | None:
    found = _CLAUSE.match(clause.strip("()'\""))
    if found is None or found["operator"] in _UPPER:
        return None
    from packaging.specifiers import InvalidSpecifier, Specifier  # most projects are read without it
    from packaging.version import Version as Parsed

    operator = _AS_IN_PIP.get(found["operator"], found["operator"])
    try:
        release = Parsed(Specifier(operator + found["version"].rstrip(".")).version).release
    except (InvalidSpecifier, ValueError):
        return None
    return release[0], (*release, 0)[1]
