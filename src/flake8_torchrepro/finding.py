"""What a rule says about a place: the finding, and the repair that goes with it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from .edits import Edit
from .source import Span

PROBLEM = "TRP000"  # no rule: what flake8 shows where the plugin, or what was declared for it, has a problem


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


class Finding:
    """A fault at a place of the file that is linted; its message has no code. No fix: there is nothing to advise.

    A repair is planned when it is first asked for (``plan`` is called then): flake8 never asks.
    """

    def __init__(self, code: str, span: Span, message: str, plan: Callable[[], Fix] | Fix | None = None) -> None:
        self.code, self.span, self.message = code, span, message
        self._plan = plan

    @functools.cached_property
    def fix(self) -> Fix | None:
        """The repair. The facts of the file must still be there."""
        return self._plan() if callable(self._plan) else self._plan

    def __repr__(self) -> str:
        return f"{self.code} at line {self.span.line}"
