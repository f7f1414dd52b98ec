"""``torchrepro-fix``: repair files, or only say what is wrong with them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool

from ..finding import PROBLEM as PROBLEM_CODE
from ..rule import all_rules
from . import arguments, report
from .choices import Choices, UnknownCode, require_declared, require_known, rule_of
from .config import ConfigProblem, load_config
from .discovery import discover
from .examine import Mode, run
from .explain import ABOUT_PROBLEM, overview, page
from .outcome import Outcome
from .why import WhyProblem, why

CLEAN, FINDINGS, PROBLEM, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 for nothing to report, 1 for findings, 2 where something went wrong."""
    options = arguments.parse(argv)
    _never_fail_to_print()
    try:
        status = _act(options)
        sys.stdout.flush()
    except (UnknownCode, ConfigProblem, WhyProblem) as problem:
        return _complain(str(problem))
    except BrokenPipeError:  # the reader has seen enough; without this the interpreter complains once more at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINDINGS
    except KeyboardInterrupt:
        _complain("interrupted")
        return INTERRUPTED
    except BrokenProcessPool:
        return _complain("a process ended early; run it with --jobs 1")
    except OSError as problem:
        return _complain(str(problem.strerror or problem))
    return status


def _never_fail_to_print() -> None:
    """A name or message that the terminal cannot show is escaped."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _complain(problem: str) -> int:
    print(f"torchrepro-fix: {problem}", file=sys.stderr)
    return PROBLEM


def _act(options: argparse.Namespace) -> int:
    if options.explain is not None:
        print(_explained(options.explain), end="")
        return CLEAN
    require_known((*(options.select or ()), *(options.ignore or ())))
    choices = Choices.of(
        load_config(options.config, isolated=options.isolated),
        select=options.select,
        ignore=options.ignore,
        torch_version=options.torchrepro_torch_version,
        seeders=options.torchrepro_seeders,
        guards=options.torchrepro_guards,
        root=options.torchrepro_root,
        noqa=not options.disable_noqa,
        unsafe=options.unsafe_fixes,
    )
    if options.why:
        require_declared([options.why.rpartition(":")[0]], choices)
        print("\n".join(why(options.why, choices)))
        return CLEAN
    return _examine(options, choices)


def _explained(word: str) -> str:
    """What ``--explain`` prints: all rules where none was named."""
    if not word:
        return overview(all_rules())
    return ABOUT_PROBLEM if word.upper() == PROBLEM_CODE else page(rule_of(word))


def _examine(options: argparse.Namespace, choices: Choices) -> int:
    """Look at all files, then say what was found in the order of the files."""
    mode = Mode.CHECK if options.check else Mode.DIFF if options.diff else Mode.REPAIR
    found = discover(options.paths, choices.excludes)
    require_declared(found.files, choices)
    outcomes = list(run(found.files, choices, mode, options.jobs))
    if mode is Mode.DIFF:
        sys.stdout.write("".join(outcome.diff for outcome in outcomes))
    else:
        sys.stdout.write(report.FORMATS[options.output_format](p for o in outcomes for p in o.places))
    sys.stdout.flush()
    problems = [*found.problems, *(outcome.problem for outcome in outcomes if outcome.problem)]
    for line in (*problems, *(outcome.note for outcome in outcomes if outcome.note)):
        print(line, file=sys.stderr)
    summary = _summary([outcome for outcome in outcomes if not outcome.problem], choices, mode)
    print(summary + report.unread(len(problems)), file=sys.stderr)
    return PROBLEM if problems else _status(outcomes, mode)


def _summary(outcomes: Sequence[Outcome], choices: Choices, mode: Mode) -> str:
    if mode is Mode.CHECK:
        return report.summary_of_check(outcomes)
    return report.summary_of_repair(outcomes, written=mode is Mode.REPAIR, unsafe=choices.unsafe)


def _status(outcomes: Sequence[Outcome], mode: Mode) -> int:
    would_change = mode is Mode.DIFF and any(outcome.repaired for outcome in outcomes)
    return FINDINGS if would_change or any(outcome.places for outcome in outcomes) else CLEAN


if __name__ == "__main__":
    sys.exit(main())
