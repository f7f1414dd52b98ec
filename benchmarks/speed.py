#!/usr/bin/env python3
"""What linting a folder costs: user time of flake8 without the plugin, of flake8 with it, of torchrepro-fix --check.

Two environments are needed, since a plugin that is installed is always loaded: --with is a Python that has
flake8-torchrepro, --without one that has the same flake8 alone. `make bench FOLDER=...` makes both.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
from pathlib import Path


def user_seconds(command: list[str]) -> float:
    """Run a command whose output does not matter; the user time that it and its children took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if run.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with status {run.returncode}:\n{run.stderr[-2000:]}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def flake8_version(python: str) -> str:
    """The flake8 of an environment, which has to be the same in both."""
    command = [python, "-c", "from importlib.metadata import version; print(version('flake8'))"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def has_plugin(python: str) -> bool:
    """Whether an environment has the plugin."""
    return subprocess.run([python, "-c", "import flake8_torchrepro"], capture_output=True).returncode == 0


def size(folder: Path) -> tuple[int, int]:
    """How many Python files a folder has, and how many lines."""
    files = [path for path in folder.rglob("*.py") if path.is_file()]
    return len(files), sum(path.read_bytes().count(b"\n") for path in files)


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--with", dest="having", required=True, metavar="PYTHON", help="has flake8-torchrepro")
    parser.add_argument("--without", dest="lacking", required=True, metavar="PYTHON", help="has flake8 alone")
    parser.add_argument("--runs", type=int, default=5, help="how often each is measured (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes of flake8 (default: %(default)s)")
    args = parser.parse_args()
    if has_plugin(args.lacking) or not has_plugin(args.having):
        parser.error("--with must have the plugin and --without must not")
    if flake8_version(args.having) != flake8_version(args.lacking):
        parser.error("the two environments have different versions of flake8")

    flake8 = ["-m", "flake8", "--isolated", "--jobs", str(args.jobs)]
    folder = str(args.folder)
    commands = {
        "flake8, no plugin": [args.lacking, *flake8, "--select", "F", folder],
        "flake8, with TRP": [args.having, *flake8, "--select", "F,TRP", folder],
        "torchrepro-fix --check": [args.having, "-m", "flake8_torchrepro.cli.main", "--isolated", "--check", folder],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for command in commands.values():
        user_seconds(command)  # fills the caches
    for _ in range(args.runs):
        for name, command in commands.items():
            times[name].append(user_seconds(command))

    count, lines = size(args.folder)
    print(f"{count} files, {lines} lines; median user time of {args.runs} runs, flake8 {flake8_version(args.having)}")
    base = statistics.median(times["flake8, no plugin"])
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"{name:24}{median:8.2f} s  {median / base:5.2f} x  (from {min(taken):.2f} to {max(taken):.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
