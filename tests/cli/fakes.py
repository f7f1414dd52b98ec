"""Rules that flag calls by their name, so that the command is tested apart from what real rules find."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import flake8_torchrepro
from flake8_torchrepro.edits import ReplaceExpression
from flake8_torchrepro.finding import Finding, Fix, Safety
from flake8_torchrepro.rule import Bad, Good
from flake8_torchrepro.source import span_of, target_of
from flake8_torchrepro.triggers import Trigger

SAFETIES = {1: Safety.SAFE, 2: Safety.UNSAFE, 3: Safety.SHOW}


@dataclass(eq=False)
class FakeRule:
    """Flags ``flag(1)`` (repaired safely), ``flag(2)`` (unsafely) and ``flag(3)`` (advice only).

    Not a subclass of ``Rule``: those are all collected, in other tests too.
    """

    code: str
    name: str
    flag: str
    summary: str = "calls that only tests make"
    why: str = "Only the tests of the command call these functions, and each call is a finding."
    advice: str = "call `good` instead."
    bad: tuple[Bad, ...] = (Bad("bad(1)  # <-\n", "good(1)\n"),)
    good: tuple[Good, ...] = (Good("good(1)\n", "another function"),)
    repairs: str = "sometimes"
    torch_below: tuple[int, int] | None = None
    fires_undeclared: bool = True
    uncovers: frozenset[str] = frozenset()
    triggers: tuple[Trigger, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.triggers = (Trigger(self.flag),)

    def is_live(self, torch_version: tuple[int, int] | None) -> bool:
        return torch_version is None or self.torch_below is None or torch_version < self.torch_below

    def check(self, view: Any) -> Iterator[Finding]:
        if "explode" in view.source.text:
            raise KeyError("a mistake of ours")
        for node in ast.walk(view.source.tree):
            match node:
                case ast.Call(func=ast.Name(id=self.flag), args=[ast.Constant(value=int(number))]):
                    safety = SAFETIES[number]
                    edits = (ReplaceExpression(target_of(node), f"good({number})"),) if number < 3 else ()
                    yield Finding(self.code, span_of(node), f"`{self.flag}` is called", Fix(safety, "good", edits))


@dataclass(frozen=True)
class Ran:
    """What a run of the command said."""

    status: int
    out: str
    err: str

    @property
    def places(self) -> list[str]:
        """The findings without their messages: ``path:line:column code``."""
        return [" ".join(line.split()[:2]).replace(": ", " ") for line in self.out.splitlines()]


def python(*arguments: str, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    """Run an interpreter of its own that finds the package, with the real rules."""
    environment = {**os.environ, "PYTHONPATH": str(Path(flake8_torchrepro.__file__).parents[1])}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)
