"""What a rule says about a place: the finding, and the repair that goes with it."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from .edits import Edit
from .source import Span


class Safety(Enum):
    """How much a repair may be trusted."""

    SAFE = "safe"  # rests on what is sure, and changes nothing but the fault's own effect
    UNSAFE = "unsafe"  # valid code, but the intent is a guess: only with --unsafe-fixes
    SHOW = "show"  # advice in words, never applied


class Fix(NamedTuple):
    """A repair: all of its edits are applied, or none. A ``SHOW`` fix has advice and no edits."""

    safety: Safety
    advice: str
    edits: tuple[Edit, ...] = ()


class Finding(NamedTuple):
    """A fault at a place of the file that is linted; its message has no code. No fix: there is nothing to advise."""

    code: str
    span: Span
    message: str
    fix: Fix | None = None
