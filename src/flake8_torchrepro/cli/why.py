"""``--why FILE:LINE``: what the analysis knows at a line."""

from __future__ import annotations

from pathlib import Path

from ..analysis import analyze, program_for
from ..fix.files import read_file
from ..flow.explain import why as explain_line
from ..source import Source
from .choices import Choices
from .discovery import complaint
from .noqa import visible
from .problems import describe


class WhyProblem(Exception):
    """A place that cannot be explained, in words for the user."""


def why(place: str, choices: Choices) -> list[str]:
    """Lines of text about a place that is given as ``FILE:LINE``."""
    path, _, number = place.rpartition(":")
    if not path or not number.isdecimal():
        raise WhyProblem(f"--why needs FILE:LINE, not {place}")
    if wrong := complaint(path):
        raise WhyProblem(f"{path}: {wrong}")
    try:
        return _explained(path, int(number), choices)
    except WhyProblem:
        raise
    except Exception as problem:
        raise WhyProblem(describe(path, problem)) from None


def _explained(path: str, line: int, choices: Choices) -> list[str]:
    source = Source.parse(read_file(Path(path)).text, path)
    if not 1 <= line <= len(source.lines):
        raise WhyProblem(f"{path} has {len(source.lines)} line{'' if len(source.lines) == 1 else 's'}")
    settings = choices.settings_for(path)
    program = program_for(Path(path), settings)
    told = explain_line(program.view(source), line)
    found = [f for f in analyze(source, settings, program, repairs=False) if f.span.line <= line <= f.span.end_line]
    shown = visible(source, found) if choices.noqa else found
    hidden = " (hidden by a noqa comment)"
    return told + [f"finding: {f.code} {f.message}{'' if f in shown else hidden}" for f in found]
