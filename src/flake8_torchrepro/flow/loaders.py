"""The data loaders of a file: their dataset, workers and worker function, however they are spelt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..source import Span
from ..torch_api.modules import DATA_LOADER, DATA_LOADER_PARAMETERS
from .draws import Drawing
from .facts import Call, ClassFacts, FunctionFacts, ModuleFacts
from .resolve import Resolver, argument
from .values import Arguments, Class, Const, Dotted, Function, Imported, Made, Param, Part, Value


class Loader(NamedTuple):
    """One call that makes a ``DataLoader`` (or a subclass of it)."""

    call: Call
    span: Span
    arguments: Arguments
    is_subclass: bool = False

    def argument(self, name: str) -> Value | None:
        """An argument of the loader; None where it is not given."""
        return argument(self.arguments, name, DATA_LOADER_PARAMETERS)


class Loaders:
    """Answers about the loaders of a module."""

    def __init__(self, module: ModuleFacts, resolver: Resolver) -> None:
        self.module, self.resolver = module, resolver
        self.program = module.program
        self._drawings: dict[Span, Drawing] = {}

    def all(self) -> Iterator[Loader]:
        """Every loader that the file makes."""
        for call in self.module.calls_of(DATA_LOADER):
            yield Loader(call, call.span, call.arguments)
        seen: set[Span] = set()
        for function in (self.module.body, *self.module.functions):
            for call in (*function.made_classes.values(), *function.calls.values()):
                is_import = isinstance(call.callee, Imported) and not call.method and "oader" in call.callee.name
                is_import = is_import and (call.arguments.open or call.arguments.keyword("num_workers") is not None)
                cls = self.program.class_named(call.callee) if is_import or isinstance(call.callee, Class) else None
                if cls is not None and call.span not in seen and self._is_loader_class(cls):
                    seen.add(call.span)
                    yield Loader(call, call.span, call.arguments, is_subclass=True)

    def _is_loader_class(self, cls: ClassFacts) -> bool:
        bases = self.program.external_bases(cls)
        is_loader = any(isinstance(base.only, Dotted) and base.only.name == DATA_LOADER for base in bases)
        init = self.program.method(cls, "__init__")
        return is_loader and not (init is not None and self._gives_worker_init(init))

    def _gives_worker_init(self, init: FunctionFacts) -> bool:
        return any("worker_init_fn" in name for name in init.parameters) or init.names_worker_init

    def workers(self, loader: Loader) -> int:
        """The number of workers that the loader may have by a constant (sure or assumed); 0 where none is known."""
        given = loader.argument("num_workers")
        if given is None:
            return 0
        constants = self.resolver.resolve(given).constants()
        return max((int(c.value) for c in constants if isinstance(c.value, int)), default=0)

    def depends_on_callers(self, loader: Loader) -> bool:
        """Whether a caller decides what is loaded, or with how many workers."""
        if loader.call.caller.is_module or self.worker_function(loader) is not None:
            return False
        dataset, workers = loader.argument("dataset"), loader.argument("num_workers")
        if workers is None or (isinstance(workers.only, Const) and not workers.only.value):
            return False
        return _has_symbol(workers) or (dataset is not None and _has_symbol(dataset))

    def worker_function(self, loader: Loader) -> Value | None:
        """What is given as ``worker_init_fn``; None where nothing is (a constant None included)."""
        given = loader.argument("worker_init_fn")
        if given is None:
            return None
        only = self.resolver.resolve(given).only
        return None if isinstance(only, Const) and only.value is None else given

    def has_no_worker_function(self, loader: Loader) -> bool:
        """Whether surely no worker function is given."""
        return self.worker_function(loader) is None and not loader.arguments.open

    def drawing(self, loader: Loader) -> Drawing:
        """What the loader's dataset and collate function draw in a worker."""
        known = self._drawings.get(loader.span)
        if known is not None:
            return known
        drawing = self._drawings[loader.span] = Drawing(self.resolver)
        dataset, collate = loader.argument("dataset"), loader.argument("collate_fn")
        if dataset is not None:
            drawing.dataset(dataset)
        if collate is not None:
            drawing.callable(collate)
        return drawing

    def worker_functions(self) -> dict[FunctionFacts, list[Loader]]:
        """The functions of the file that a loader runs in its workers, with those loaders."""
        found: dict[FunctionFacts, list[Loader]] = {}
        for loader in self.all():
            given = self.worker_function(loader)
            for facts in self._functions(given) if given is not None else ():
                found.setdefault(facts, []).append(loader)
        return found

    def _functions(self, value: Value) -> Iterator[FunctionFacts]:
        for atom in self.resolver.resolve(value).atoms:
            if isinstance(atom, Function):
                yield atom.facts
            elif hasattr(atom, "callee") and not isinstance(atom, Made):
                yield from self._functions(atom.callee)


def _has_symbol(value: Value) -> bool:
    return any(isinstance(atom, (Param, Part)) for atom in value.atoms)
