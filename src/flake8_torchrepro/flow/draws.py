"""Which random numbers a dataset, a transform or a collate function draws when a loader's worker runs it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..torch_api.modules import DATASET_WRAPPERS
from ..torch_api.randomness import DRAW_METHODS, GENERATOR_CLASSES, NUMPY_DRAWS
from .facts import Call, FunctionFacts, bind
from .resolve import TOP, Context, Resolver
from .values import Arguments, Atom, Dotted, Function, Imported, Made, Obj, Part, Partial, Self, Value, value_of

MOST_FUNCTIONS = 60
ITEM_METHODS = ("__getitem__", "__getitems__", "__iter__")


class Draw(NamedTuple):
    """A draw that a worker makes. ``generator`` is the object it draws from; None means NumPy's global one."""

    call: Call
    generator: Made | None = None


class Drawing:
    """Follows the calls of one dataset (transform, collate function) and collects its draws."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self.program = resolver.program
        self.draws: list[Draw] = []
        self.visited: list[FunctionFacts] = []
        self.reseeds = False
        self._seen: set[tuple[int, int]] = set()

    def dataset(self, value: Value, context: Context = TOP) -> None:
        """All that a dataset may draw for an item."""
        for atom in self.resolver.resolve(value, context).ordered():
            self._dataset_atom(atom, context)

    def _dataset_atom(self, atom: Atom, context: Context) -> None:
        if not isinstance(atom, Made):
            return
        cls = self.program.class_of(atom)
        if cls is not None:
            for name in ITEM_METHODS:
                method = self.program.method(cls, name)
                if method is not None:
                    self._method(method, atom, context)
        elif isinstance(atom.maker, Dotted) and atom.maker.name in DATASET_WRAPPERS:
            for value in atom.arguments.positional[:1]:
                self._elements(value, context, self.dataset)
        elif isinstance(atom.maker, Dotted) and atom.maker.name.startswith("torchvision.datasets."):
            for name in ("transform", "target_transform", "transforms"):
                given = atom.arguments.keyword(name)
                if given is not None:
                    self.callable(given, context)

    def _elements(self, value: Value, context: Context, visit: object) -> None:
        """A dataset, or the datasets of a list."""
        for atom in self.resolver.resolve(value, context).ordered():
            if isinstance(atom, Made) and atom.maker is None:
                for held in self.resolver.horizon.elements(atom):
                    visit(held, context)  # type: ignore[operator]
            else:
                visit(value_of(atom), context)  # type: ignore[operator]

    def callable(self, value: Value, context: Context = TOP) -> None:
        """All that a function, or an object that is called, may draw."""
        for atom in self.resolver.resolve(value, context).ordered():
            self._callable_atom(atom, context)

    def _callable_atom(self, atom: Atom, context: Context) -> None:
        match atom:
            case Function():
                self.function(atom.facts, Context({}, atom.bound, atom.facts.owner, context), Arguments())
            case Partial():
                for inner in self.resolver.resolve(atom.callee, context).ordered():
                    self._callable_atom(inner, context)
            case Made(maker=Dotted(name=maker)) if maker in DATASET_WRAPPERS:
                for given in atom.arguments.values():
                    self._elements(given, context, self.callable)
            case Made():
                cls = self.program.class_of(atom)
                names = ("__call__", "forward") if cls is not None else ()
                methods = [self.program.method(cls, name) for name in names if cls is not None]
                for method in [method for method in methods if method is not None][:1]:
                    self._method(method, atom, context)

    def _method(self, method: FunctionFacts, instance: Obj, context: Context) -> None:
        cls = self.program.class_of(instance)
        if cls is not None:
            self.function(method, self.resolver.instance_context(instance, cls, context), Arguments())

    def function(self, facts: FunctionFacts, context: Context, arguments: Arguments) -> None:
        """All that one function may draw, in a context."""
        key = (id(facts), id(context.instance))
        if key in self._seen or len(self._seen) > MOST_FUNCTIONS or not self.program.summarise(facts):
            return
        self._seen.add(key)
        self.visited.append(facts)
        for call in list(facts.calls.values()):
            if not self.resolver.is_ruled_out(call, context):
                self._call(call, context)

    def _call(self, call: Call, context: Context) -> None:
        callee = call.callee
        if isinstance(callee, Dotted) and not isinstance(callee, Imported) and not call.method:
            if callee.name in NUMPY_DRAWS:
                self.draws.append(Draw(call))
            elif callee.name in ("torch.utils.data.get_worker_info", "numpy.random.seed"):
                self.reseeds = True
        elif isinstance(callee, Imported):
            self._imported_call(call, callee, context)
        elif isinstance(callee, Function):
            self._project_call(call, callee, context)
        elif call.method:
            self._method_call(call, context)
        elif isinstance(callee, Obj):
            for atom in self.resolver.resolve(value_of(callee), context).ordered():
                self._callable_atom(atom, context)

    def _imported_call(self, call: Call, callee: Imported, context: Context) -> None:
        """A call of another file's function (or of a method of its class)."""
        found = self.program.resolve(callee)
        for atom in found.atoms if found is not None and not call.method else ():
            if isinstance(atom, Function):
                facts = atom.facts
                self.program.summarise(facts)
                given = bind(facts, call.arguments, None)
                bindings = {facts.params[name]: value for name, value in given.items() if name in facts.params}
                self.function(facts, Context(bindings, None, None, context), call.arguments)

    def _project_call(self, call: Call, callee: Function, context: Context) -> None:
        facts = callee.facts
        bindings = {facts.params[name]: value for name, value in call.bindings.items() if name in facts.params}
        instance, cls = callee.bound, facts.owner
        if isinstance(instance, Self) and context.instance is not None:
            instance, cls = context.instance, context.cls
            own = self.program.method(cls, facts.name) if cls is not None and facts.owner is not None else None
            if own is not None and own is not facts and call.caller.name != facts.name:  # overridden there
                facts = own
                bindings = {facts.params[name]: v for name, v in call.bindings.items() if name in facts.params}
        if instance is not None and isinstance(instance, Part):
            resolved = self.resolver.resolve(value_of(instance), context).only
            instance = resolved if isinstance(resolved, Obj) else instance
        if facts.name == "__init__" and isinstance(callee.bound, Made):
            return  # made anew for each item: what it draws then is drawn by its own calls
        self.function(facts, Context(bindings, instance, cls, context), call.arguments)

    def _method_call(self, call: Call, context: Context) -> None:
        """A method of an object that only the constructor's caller knows: a generator, a transform, a helper object."""
        for atom in self.resolver.resolve(value_of(call.callee), context).ordered():
            if not isinstance(atom, Made):
                continue
            if isinstance(atom.maker, Dotted) and atom.maker.name in GENERATOR_CLASSES:
                if call.method in DRAW_METHODS and isinstance(call.callee, Obj) and call.callee is not atom:
                    self.draws.append(Draw(call, atom))
            else:
                cls = self.program.class_of(atom)
                method = self.program.method(cls, call.method) if cls is not None else None
                if method is not None:
                    self._method(method, atom, context)

    def kept(self) -> Iterator[Draw]:
        """The draws that repeat from worker to worker, by place: not those of generators that workers make for themselves."""
        for draw in sorted(self.draws, key=lambda draw: (draw.call.caller.module.name, draw.call.span)):
            if draw.generator is None or not any(_holds(facts, draw.generator) for facts in self.visited):
                yield draw


def _holds(facts: FunctionFacts, made: Made) -> bool:
    return facts.module.name == made.module and facts.span.line <= made.span.line <= facts.span.end_line
