"""What asks for deterministic results in a program, and what works against it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..source import Span
from ..torch_api.randomness import SEEDERS, SEEDS_EVERYTHING
from ..torch_api.settings import CUBLAS_WORKSPACE, CUDNN, DETERMINISM_CALLS, DETERMINISM_DEBUG, DETERMINISM_HELPERS
from .facts import Call, FunctionFacts, ModuleFacts, Setting
from .resolve import Resolver
from .values import Const, Value


class Request(NamedTuple):
    """A place that asks for determinism: a setting, or a call that sets it. ``weak``: only beside another or a seed."""

    module: ModuleFacts
    function: FunctionFacts
    span: Span
    weak: bool = False


class Determinism:
    """The determinism settings of the modules of a program, without order."""

    def __init__(self, modules: list[ModuleFacts], resolver: Resolver) -> None:
        self.modules, self.resolver = modules, resolver
        self.project = modules[0].program.project
        found = [request for module in modules for request in self._requests(module)]
        strong = [request for request in found if not request.weak]
        self.requests = found if strong or self._seeds() else []

    def _requests(self, module: ModuleFacts) -> Iterator[Request]:
        for setting in module.settings:
            if setting.name == f"{CUDNN}.deterministic" and self._may_be(setting.value, True):
                yield Request(module, setting.function, setting.span)
            elif setting.name == f"{CUDNN}.benchmark" and self._is_only(setting.value, False):
                yield Request(module, setting.function, setting.span, weak=True)
        for call in module.calls_of(*DETERMINISM_CALLS):
            mode = call.arguments.get("mode", 0)
            if mode is not None and self._may_be(mode, True):
                yield Request(module, call.caller, call.span)
        for call in module.calls_of(DETERMINISM_DEBUG):
            mode = call.arguments.get("debug_mode", 0)
            if mode is not None and any(self._may_be(mode, value) for value in ("warn", "error", 1, 2)):
                yield Request(module, call.caller, call.span)
        for call in module.calls_of(*DETERMINISM_HELPERS):
            keyword = DETERMINISM_HELPERS[getattr(call.callee, "name", "")]
            given = call.arguments.keyword(keyword) if keyword else None
            if keyword is None or (given is not None and self._may_be(given, True)):
                yield Request(module, call.caller, call.span)

    def _seeds(self) -> list[Call]:
        own = self.modules[0].program.settings.seeders
        names = [n for module in self.modules for n in module.named if any(n == o or n.endswith("." + o) for o in own)]
        wanted = dict.fromkeys((*SEEDERS, *SEEDS_EVERYTHING, *names))
        return [call for module in self.modules for call in module.calls_of(*wanted)]

    def _may_be(self, value: Value, wanted: object) -> bool:
        constants = self.resolver.resolve(value).constants()
        return any(c.value == wanted and type(c.value) is type(wanted) for c in constants)

    def _is_only(self, value: Value, wanted: object) -> bool:
        atoms = self.resolver.resolve(value).atoms
        return bool(atoms) and all(isinstance(a, Const) and a.sure and a.value is wanted for a in atoms)

    def settings_of(self, name: str) -> list[Setting]:
        """Every assignment to a setting."""
        return [setting for module in self.modules for setting in module.settings if setting.name == name]

    @property
    def cudnn_off(self) -> list[Setting]:
        """Where cuDNN is surely switched off."""
        return [s for s in self.settings_of(f"{CUDNN}.enabled") if self._is_only(s.value, False)]

    @property
    def workspace_is_set(self) -> bool:
        """Whether the program, or a shell, container or CI file around it, sets cuBLAS's workspace variable."""
        if self.settings_of(CUBLAS_WORKSPACE):
            return True
        name = CUBLAS_WORKSPACE.removeprefix("env:")
        return self.project is not None and self.project.environment_mentions(name)
