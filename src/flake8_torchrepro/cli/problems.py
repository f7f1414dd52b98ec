"""What is wrong with a file, in one line for the user."""

from __future__ import annotations

import os
import traceback

from ..fix.files import FileProblem


def describe(path: str, problem: Exception) -> str:
    """Name the file and what went wrong with it; an error of our own asks to be reported."""
    match problem:
        case FileProblem():
            return f"{path}: {problem.problem}"
        case SyntaxError():
            return f"{path}:{problem.lineno or 1}: does not parse: {problem.msg}"
        case RecursionError() | MemoryError():
            return f"{path}: nested too deeply to analyse"
        case OSError():
            return f"{path}: {problem.strerror or problem}"
    frame = traceback.extract_tb(problem.__traceback__)[-1]
    what = " ".join(f"{type(problem).__name__}: {problem}".split())
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return f"{path}: left alone because of an error in torchrepro-fix, please report it: {what} ({place})"
