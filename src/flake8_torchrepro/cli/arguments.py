"""The command line of ``torchrepro-fix``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from .. import __version__
from ..settings import dotted_names, version_of
from .config import items_of
from .report import FORMATS

_EPILOG = """\
exit status: 0 nothing (left) to report, 1 findings (left), 2 something could not be read or was not understood

Without PATHS there is nothing to do, which is an error (2). Hidden folders, virtual environments, build, dist,
node_modules and __pycache__ inside of a folder are skipped. `# noqa` and the select, ignore, per-file-ignores, exclude
(and their extend-) options in flake8's configuration count as they do in flake8.
"""


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The options that were given; prints the usage and leaves (``SystemExit``) where they make no sense."""
    parser = _parser()
    options = parser.parse_args(argv)
    if not options.paths and options.explain is None and not options.why:
        parser.error("name the files or folders to look at")
    if options.output_format != "text" and options.diff:
        parser.error("--diff has a format of its own: leave out --output-format")
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "torchrepro-fix",
        description="Find and repair what makes PyTorch results irreproducible or inference wasteful.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("paths", nargs="*", metavar="PATHS", help="files, and folders to search for *.py")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    _add_actions(parser)
    _add_choices(parser)
    _add_declarations(parser)
    return parser


def _add_actions(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to do, instead of repairing files in place").add_mutually_exclusive_group()
    group.add_argument("--check", action="store_true", help="list the findings, write nothing")
    group.add_argument("--diff", action="store_true", help="print what a repair would change, write nothing")
    group.add_argument("--why", metavar="FILE:LINE", help="print what is known at a line")
    group.add_argument(
        "--explain", nargs="?", const="", metavar="CODE", help="print the page of a rule; without CODE, list the rules"
    )


def _add_choices(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("choices")
    group.add_argument("--unsafe-fixes", action="store_true", help="apply repairs that rest on a guess, too")
    group.add_argument("--select", type=items_of, metavar="CODES", help="run these rules (prefixes, comma separated)")
    group.add_argument("--ignore", type=items_of, metavar="CODES", help="do not run these rules")
    group.add_argument("--output-format", choices=list(FORMATS), default="text", help="how findings are listed")
    group.add_argument("--jobs", type=_number, default=1, metavar="N", help="number of processes (default: 1)")
    group.add_argument("--config", metavar="FILE", help="the flake8 configuration to use instead of the nearest one")
    group.add_argument("--isolated", action="store_true", help="use no flake8 configuration")
    group.add_argument("--disable-noqa", action="store_true", help="report what `# noqa` hides")


def _add_declarations(parser: argparse.ArgumentParser) -> None:
    text = "the same names as in flake8 and its configuration; [tool.torchrepro] in pyproject.toml has all but the root"
    group = parser.add_argument_group("what the code is like", text)
    group.add_argument(
        "--torchrepro-torch-version",
        "--torch-version",
        type=_version,
        metavar="X.Y",
        help="the oldest torch that the code must run on (default: the lower bound in the project's requirements)",
    )
    group.add_argument(
        "--torchrepro-root",
        "--root",
        type=_folder,
        metavar="FOLDER",
        help="where the project begins (default: found from each file)",
    )
    group.add_argument(
        "--torchrepro-seeders", type=_names, metavar="NAMES", help="your own functions that seed everything"
    )
    group.add_argument(
        "--torchrepro-guards",
        type=_names,
        metavar="NAMES",
        help="your own decorators and context managers that switch gradients off",
    )


def _names(text: str) -> tuple[str, ...]:
    try:
        return dotted_names(items_of(text))
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


def _folder(text: str) -> Path:
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return Path(text)


def _version(text: str) -> tuple[int, int]:
    try:
        return version_of(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes")
    return int(text)
