"""Regular expressions that cost nothing until they are used."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any


class Pattern:
    """A regular expression that is compiled when it is first used: a run needs few of ours, and compiling is slow.

    It has the methods of ``re.Pattern``.
    """

    search: Callable[..., re.Match[str] | None]
    match: Callable[..., re.Match[str] | None]
    fullmatch: Callable[..., re.Match[str] | None]
    finditer: Callable[..., Iterator[re.Match[str]]]
    findall: Callable[..., list[Any]]
    sub: Callable[..., str]

    def __init__(self, expression: str, flags: int = 0) -> None:
        self.expression, self.flags = expression, flags

    def __getattr__(self, name: str) -> Any:
        method = getattr(re.compile(self.expression, self.flags), name)
        setattr(self, name, method)  # the next use finds it without coming here
        return method
