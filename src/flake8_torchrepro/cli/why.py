"""``--why FILE:LINE``: what the analysis knows at a line."""

from __future__ import annotations

from pathlib import Path

from ..analysis import program_for
from ..fix.files import read_file
from ..flow.explain import why as explain_line
from ..source import Source
from .choices import Choices
from .discovery import complaint
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
    return explain_line(program_for(Path(path), choices.settings_for(path)).view(source), line)
