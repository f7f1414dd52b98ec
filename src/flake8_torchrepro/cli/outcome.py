"""What became of one file: small and without trees, so that it can come from another process."""

from __future__ import annotations

from dataclasses import dataclass

from ..finding import Finding, Safety
from ..source import Source


@dataclass(frozen=True, slots=True)
class Place:
    """A finding as it is reported: line and column from 1, the column in characters."""

    path: str
    line: int
    column: int
    code: str
    message: str
    fix: Safety | None

    @classmethod
    def of(cls, path: str, source: Source, finding: Finding) -> Place:
        """Where a finding stands for the eyes of a user."""
        line, column = finding.span.line, source.character(finding.span.line, finding.span.column) + 1
        return cls(path, line, column, finding.code, finding.message, _safety(finding))

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.code} {self.message}"


def _safety(finding: Finding) -> Safety | None:
    """How far the repair of a finding may be trusted; advice alone is shown, whatever it calls itself."""
    if finding.fix is None:
        return None
    return finding.fix.safety if finding.fix.edits else Safety.SHOW


@dataclass(frozen=True, slots=True)
class Outcome:
    """The findings that a file has (or still has), how many were repaired, and what went wrong with it."""

    path: str
    places: tuple[Place, ...] = ()
    repaired: int = 0
    diff: str = ""
    note: str | None = None  # a repair that was not made, and why
    problem: str | None = None  # what kept the file from being looked at or written
