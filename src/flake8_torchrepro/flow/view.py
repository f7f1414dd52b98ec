"""What a rule sees of the file that is linted."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..settings import Settings
from ..source import Source
from .determinism import Determinism
from .entry import Entries
from .facts import FunctionFacts, ModuleFacts
from .forward import Judge
from .horizon import Horizon
from .layout import Layout
from .loaders import Loaders
from .resolve import Resolver

if TYPE_CHECKING:
    from .program import Program


@dataclass(frozen=True)
class ModuleView:
    """What a rule sees: the file that is linted, its facts, and the program around it."""

    source: Source
    facts: ModuleFacts
    program: Program
    settings: Settings

    @functools.cached_property
    def functions(self) -> tuple[FunctionFacts, ...]:
        """The functions of the file, its body first."""
        return (self.facts.body, *self.facts.functions)

    @functools.cached_property
    def horizon(self) -> Horizon:
        """The modules whose callers and stores count as known."""
        return Horizon([self.facts])

    @functools.cached_property
    def entries(self) -> Entries:
        """What held when each function was entered."""
        return Entries(self.horizon)

    @functools.cached_property
    def resolver(self) -> Resolver:
        """What values really are."""
        return Resolver(self.horizon, self.entries)

    @functools.cached_property
    def layout(self) -> Layout:
        """The tree of the file, asked from its leaves up."""
        return Layout(self.source)

    @functools.cached_property
    def determinism(self) -> Determinism:
        """What asks for deterministic results in the program."""
        return Determinism([self.facts], self.resolver)

    @functools.cached_property
    def loaders(self) -> Loaders:
        """The data loaders of the file."""
        return Loaders(self.facts, self.resolver)

    @functools.cached_property
    def judge(self) -> Judge:
        """Which forward passes build a graph that nothing uses."""
        return Judge(self.horizon, self.entries)
