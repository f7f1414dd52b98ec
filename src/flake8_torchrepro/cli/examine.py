"""Look at files one after the other: read, analyse, repair, write. Whatever is wrong with one file stays with it."""

from __future__ import annotations

import gc
import signal
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from enum import Enum
from functools import partial
from itertools import chain
from pathlib import Path

from ..analysis import analyze, prepare, program_for, rules_for
from ..finding import Finding
from ..fix.engine import Repaired, is_applicable, repair
from ..fix.files import read_file, write_atomically
from ..forking import workers_inherit
from ..rule import Rule
from ..source import Source
from .choices import Choices
from .noqa import drops_file, visible
from .outcome import Outcome, Place
from .problems import describe
from .report import unified_diff

_BATCH = 8  # files between two collections of garbage: what is still in the processor's cache is soon searched


class Mode(Enum):
    """What a run does with the files."""

    CHECK = "check"
    DIFF = "diff"
    REPAIR = "repair"


def run(files: Sequence[str], choices: Choices, mode: Mode, jobs: int = 1) -> Iterator[Outcome]:
    """What becomes of each file, in the order of the files."""
    batches = [files[start : start + _BATCH] for start in range(0, len(files), _BATCH)]
    look = partial(_examine_batch, choices=choices, mode=mode)
    if jobs == 1 or len(files) < 2:
        with _undisturbed():
            yield from chain.from_iterable(map(look, batches))
    else:
        if workers_inherit():
            prepare(map(Path, files), choices.settings_for(files[0]))
        with ProcessPoolExecutor(min(jobs, len(files)), initializer=_prepare_process) as pool:
            yield from chain.from_iterable(pool.map(look, batches))


def _examine_batch(files: Sequence[str], choices: Choices, mode: Mode) -> list[Outcome]:
    outcomes = [examine(path, choices, mode) for path in files]
    gc.collect(0)  # what this batch left: a search of all that is known of the project takes longer each time
    gc.freeze()  # what is kept of a project need not be searched again
    return outcomes


def _prepare() -> None:
    """Collect garbage when it suits us: left alone, Python would search the growing tree of each file many times."""
    gc.freeze()
    gc.disable()
    warnings.simplefilter("ignore")  # what the compiler thinks of the user's escape sequences is not our subject


def _prepare_process() -> None:
    """What a process needs besides: it is told to stop by the one that started it, not by the keyboard."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prepare()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Prepared as long as the block runs."""
    was_enabled = gc.isenabled()
    with warnings.catch_warnings():
        _prepare()
        try:
            yield
        finally:
            gc.unfreeze()
            if was_enabled:
                gc.enable()


def examine(path: str, choices: Choices, mode: Mode) -> Outcome:
    """What becomes of a file. Nothing is raised: a file that cannot be dealt with says so and is left as it was."""
    try:
        return _examine(path, choices, mode)
    except Exception as problem:
        return Outcome(path, problem=describe(path, problem))


def _examine(path: str, choices: Choices, mode: Mode) -> Outcome:
    file = read_file(Path(path))
    settings = choices.settings_for(path)
    if choices.noqa and drops_file(file.text):
        return Outcome(path)
    source = Source.parse(
        file.text, path
    )  # also where no rule has a say: a file that cannot be read is not a clean one
    rules = rules_for(file.text, settings)
    if not rules:
        return Outcome(path)

    def look(source: Source, rules: Sequence[Rule] | None = None) -> list[Finding]:
        found = analyze(source, settings, program_for(Path(path), settings), rules)
        return visible(source, found) if choices.noqa else found

    findings = look(source, rules)
    if mode is Mode.CHECK or not any(is_applicable(finding, unsafe=choices.unsafe) for finding in findings):
        return Outcome(path, _places(path, source, findings))
    repaired = repair(source, look, unsafe=choices.unsafe)
    if mode is Mode.REPAIR and repaired.applied:
        write_atomically(file.path, repaired.text, file.data)
    return _outcome(path, repaired, unified_diff(path, file.text, repaired.text) if mode is Mode.DIFF else "")


def _outcome(path: str, repaired: Repaired, diff: str) -> Outcome:
    return Outcome(
        path,
        _places(path, Source.parse(repaired.text, path), repaired.left),
        repaired=len(repaired.applied),
        diff=diff,
        note=f"{path}: not repaired: {repaired.refused}" if repaired.refused else None,
    )


def _places(path: str, source: Source, findings: Iterable[Finding]) -> tuple[Place, ...]:
    return tuple(Place.of(path, source, finding) for finding in findings)
