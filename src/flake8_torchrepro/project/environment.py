"""What a project's shell, container, make and CI files set in the environment of its programs."""

from __future__ import annotations

import os
from pathlib import Path

SUFFIXES = (".sh", ".bash", ".slurm", ".sbatch", ".mk", ".env", ".yml", ".yaml", ".toml", ".dockerfile")
NAMES = ("dockerfile", "makefile", "justfile", "procfile", ".env", ".envrc")
FOLDERS = (
    "",
    "scripts",
    "script",
    "bin",
    "docker",
    ".github/workflows",
    "ci",
    ".circleci",
    "slurm",
    "tools",
    "configs",
)
MOST_BYTES = 200_000


def mentions(root: Path, variable: str) -> bool:
    """Whether one of those files, at the root or in a usual folder, mentions an environment variable."""
    return any(variable in _text(path) for folder in FOLDERS for path in _files(root / folder))


def _files(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return []
    return [folder / name for name in names if name.lower().endswith(SUFFIXES) or name.lower().startswith(NAMES)]


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
