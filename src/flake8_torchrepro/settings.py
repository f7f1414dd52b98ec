"""What the user chose; the same for flake8 and the command."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Settings(NamedTuple):
    """``select`` and ``ignore`` hold code prefixes; opinions run only when selected by ``TRP9`` or a longer prefix."""

    select: tuple[str, ...] = ("TRP",)
    ignore: tuple[str, ...] = ()
    torch_version: tuple[int, int] | None = None  # the oldest torch that the code must run on; None: not declared
    seeders: tuple[str, ...] = ()  # the user's own helpers that seed everything, as dotted names
    root: Path | None = None  # of the project; None: found from the file
    guards: tuple[str, ...] = ()  # the user's own decorators and context managers that switch gradients off

    def wants(self, code: str) -> bool:
        """Whether a code was asked for: the longest matching prefix decides, as in flake8."""
        chosen = max((len(prefix) for prefix in self.select if code.startswith(prefix)), default=-1)
        dropped = max((len(prefix) for prefix in self.ignore if code.startswith(prefix)), default=-1)
        if code.startswith("TRP9") and chosen < len("TRP9"):
            return False
        return chosen > dropped


def dotted_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names of a user's own helpers; raises ``ValueError``, with words for the user, for what is none."""
    found = tuple(names)
    for name in found:
        if not all(part.isidentifier() for part in name.split(".")):
            raise ValueError(f"{name!r} is not a dotted name such as mylib.quiet")
    return found


def version_of(text: str) -> tuple[int, int]:
    """``2.1`` or ``2.1.0`` as a pair; raises ``ValueError``, with words for the user, for anything else."""
    found = re.fullmatch(r"(\d+)\.(\d+)(\.\d+)*", text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a version such as 2.1")
    return int(found[1]), int(found[2])
