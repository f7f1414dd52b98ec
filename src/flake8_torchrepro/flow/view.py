"""What a rule sees of the file that is linted."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..project.versions import torch_allowed
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

MOST_IMPORTERS = 40  # modules that are read to find the callers of one file
ROUNDS = 3  # how many calls up


class ModuleView:
    """The file that is linted, its facts, and the program around it. Answers are computed when first asked."""

    def __init__(self, source: Source, facts: ModuleFacts, program: Program, settings: Settings) -> None:
        self.source, self.facts, self.program, self.settings = source, facts, program, settings
        self._modules = [facts]
        self._looked_up: set[FunctionFacts] = set()

    @functools.cached_property
    def functions(self) -> tuple[FunctionFacts, ...]:
        """The functions of the file, its body first."""
        return (self.facts.body, *self.facts.functions)

    @property
    def torch_version(self) -> tuple[int, int] | None:
        """The oldest torch that the file must run on; None where nothing says."""
        project = self.program.project
        return torch_allowed(self.settings.torch_version, project.root if project is not None else None)

    @functools.cached_property
    def layout(self) -> Layout:
        """The tree of the file, asked from its leaves up."""
        return Layout(self.source)

    @functools.cached_property
    def horizon(self) -> Horizon:
        """The modules whose callers and stores count as known."""
        return Horizon(list(self._modules))

    @functools.cached_property
    def entries(self) -> Entries:
        """What held when each function was entered."""
        return Entries(self.horizon)

    @functools.cached_property
    def resolver(self) -> Resolver:
        """What values really are."""
        return Resolver(self.horizon, self.entries)

    @functools.cached_property
    def loaders(self) -> Loaders:
        """The data loaders of the file."""
        return Loaders(self.facts, self.resolver)

    @functools.cached_property
    def judge(self) -> Judge:
        """Which forward passes build a graph that nothing uses."""
        return Judge(self.horizon, self.entries)

    @functools.cached_property
    def programs(self) -> list[Determinism]:
        """The determinism of each program that the file is part of: one for every script that reaches it."""
        return [Determinism(modules, self.resolver) for modules in self.program.programs_of(self.facts)]

    def where(self, module: ModuleFacts, line: int) -> str:
        """A place in words: ``line 7`` of this file, ``models/net.py:7`` of another."""
        return f"line {line}" if module is self.facts else f"{module.name}:{line}"

    def is_mentioned_elsewhere(self, facts: FunctionFacts) -> bool:
        """Whether anything but its definition names a function, here or in a file that imports this one."""
        if len(re.findall(rf"\b{re.escape(facts.name)}\b", self.source.text)) > 1:
            return True
        project = self.program.project
        return project is None or bool(project.index.mentioning(self.facts.path, {facts.name}))

    # -- callers in other files ----------------------------------------------------------------------------------------

    def find_callers(self, functions: Iterable[FunctionFacts]) -> bool:
        """Read the files that may call some functions, and the callers of those; True if more is known than before."""
        before = len(self._modules)
        wanted = [facts for facts in functions if facts not in self._looked_up and not facts.is_module]
        for _ in range(ROUNDS):
            wanted = [facts for facts in self._find_callers(wanted) if facts not in self._looked_up]
            if not wanted:
                break
        if len(self._modules) == before:
            return False
        for name in ("horizon", "entries", "resolver", "loaders", "judge", "programs"):
            self.__dict__.pop(name, None)
        return True

    def _find_callers(self, functions: list[FunctionFacts]) -> list[FunctionFacts]:
        """One step up: the functions of other files that call some functions."""
        self._looked_up.update(functions)
        found: list[FunctionFacts] = []
        for module in dict.fromkeys(facts.module for facts in functions):
            mine = [facts for facts in functions if facts.module is module]
            names = {name for facts in mine for name in self._names(facts)}
            for other in self.program.importers(module, names)[:MOST_IMPORTERS]:
                if other not in self._modules and len(self._modules) <= MOST_IMPORTERS:
                    self._modules.append(other)
                if other in self._modules:
                    self.program.link_calls(other, names)
            found += [call.caller for facts in mine for call in facts.callers if call.caller.module in self._modules]
        return [facts for facts in dict.fromkeys(found) if not facts.is_module]

    def _names(self, facts: FunctionFacts) -> Iterable[str]:
        """The names by which another file may call a function."""
        at: FunctionFacts | None = facts
        while at is not None and not at.is_module:
            if at.owner is not None:
                yield at.owner.name
                yield from (child.name for child in at.owner.children if child.module in self._modules)
            elif not (at.name.startswith("__") or at.kind == "lambda"):
                yield at.name
            at = at.parent
