"""Repairs a file: analyse, apply, analyse again, until nothing is left to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..finding import Finding, Safety
from ..rule import all_rules
from ..source import Source
from .errors import EditError

_ROUNDS = 5

Analyze = Callable[[Source], list[Finding]]


@dataclass(frozen=True, slots=True)
class Repaired:
    """The new text, the findings whose repair was applied, those that are left in it, and why a repair was not made."""

    text: str
    applied: tuple[Finding, ...] = ()
    left: tuple[Finding, ...] = ()
    refused: str | None = None


class _Refused(Exception):
    """A repair would do harm; the message says which."""


def repair(
    source: Source,
    analyze: Analyze,
    *,
    unsafe: bool,
    wanted: Callable[[Source, Finding], bool] = lambda source, finding: True,
    uncovers: Mapping[str, Iterable[str]] | None = None,
) -> Repaired:
    """Apply every safe repair (with ``unsafe`` those too) of a finding that is ``wanted``.

    The edits of a finding are applied all or none. A repair that leaves its fault standing, or brings a finding to
    light that ``uncovers`` (by default what the rules declare) does not allow, is not applied, while others are.
    """
    state = _State(source, analyze(source))
    engine = _Engine(analyze, uncovers)
    for _ in range(_ROUNDS):
        chosen = [f for f in state.findings if is_applicable(f, unsafe=unsafe) and wanted(state.source, f)]
        after = engine.advance(state, chosen)
        if after is state:
            break
        state = after
    refused = "; ".join(dict.fromkeys(engine.refused)) or None
    return Repaired(state.source.text, state.applied, tuple(state.findings), refused)


def is_applicable(finding: Finding, *, unsafe: bool) -> bool:
    """Whether the finding has a repair that may be applied."""
    fix = finding.fix
    return (
        fix is not None and bool(fix.edits) and (fix.safety is Safety.SAFE or (unsafe and fix.safety is Safety.UNSAFE))
    )


@dataclass(frozen=True, slots=True)
class _State:
    source: Source
    findings: list[Finding]
    applied: tuple[Finding, ...] = ()


@dataclass(slots=True)
class _Engine:
    analyze: Analyze
    uncovers: Mapping[str, Iterable[str]] | None
    refused: list[str] = field(default_factory=list)

    def advance(self, state: _State, chosen: Sequence[Finding]) -> _State:
        """One round: all repairs at once; if that fails, one by one, and only those that work."""
        if not chosen:
            return state
        try:
            return self._apply(state, chosen)
        except _Refused as reason:
            if len(chosen) == 1:
                self.refused.append(str(reason))
                return state
        return self._one_by_one(state, chosen)

    def _one_by_one(self, state: _State, chosen: Sequence[Finding]) -> _State:
        accepted: list[Finding] = []
        best = state
        for finding in chosen:
            try:
                best = self._apply(state, [*accepted, finding])
                accepted.append(finding)
            except _Refused as reason:
                self.refused.append(str(reason))
        return best

    def _apply(self, state: _State, chosen: Sequence[Finding]) -> _State:
        from .apply import apply_edits  # libcst takes long to import, and most files need no repair

        last = chosen[-1]
        where = f"{last.code} at line {last.span.line}"
        edits = [edit for finding in chosen if finding.fix for edit in finding.fix.edits]
        try:
            source = Source.parse(apply_edits(state.source.text, edits), state.source.path)
        except (EditError, SyntaxError, ValueError, RecursionError) as error:
            raise _Refused(f"{where}: {error}") from error
        findings = self.analyze(source)
        for code in self._surprises(state.findings, chosen, findings):
            raise _Refused(f"{where}: {code} would be found in the repaired file")
        return _State(source, findings, (*state.applied, *chosen))

    def _surprises(self, before: Iterable[Finding], chosen: Sequence[Finding], after: Iterable[Finding]) -> list[str]:
        """The codes that are found more often than they should be once the chosen ones are repaired."""
        uncovers = _declared() if self.uncovers is None else self.uncovers
        allowed = {code for finding in chosen for code in uncovers.get(finding.code, ())}
        expected = _codes(before) - _codes(chosen)
        return sorted((_codes(after) - expected).keys() - allowed)


def _codes(findings: Iterable[Finding]) -> Counter[str]:
    return Counter(finding.code for finding in findings)


def _declared() -> dict[str, frozenset[str]]:
    return {rule.code: rule.uncovers for rule in all_rules()}
