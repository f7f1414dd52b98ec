"""Which forward passes run in evaluation mode with gradients on and give a graph that nothing uses."""

from __future__ import annotations

from typing import NamedTuple

from ..torch_api.modules import WITHOUT_PARAMETERS
from .entry import Entries, aliases
from .facts import ClassFacts, FunctionFacts, Site
from .horizon import Horizon
from .state import ENTRY, EVAL, OFF, ON, Event, Events, surely
from .values import Dotted, Made, Obj, Outer, Param, Part, Self, Value

OTHER_FRAMEWORKS = frozenset({"tensorflow", "keras", "paddle", "mxnet", "chainer", "jax", "flax", "theano", "oneflow"})


class Verdict(NamedTuple):
    """What is known of one forward pass: whether it is a fault, and in words why (or why not)."""

    site: Site
    is_fault: bool
    why: str
    modes: Events
    grad: Events

    @property
    def eval_event(self) -> Event | None:
        """The event that put the module in evaluation mode: the last one above it in its own file, if there is one."""
        known = sorted((event for event in self.modes if event.kind == EVAL), key=lambda e: (e.module, e.origin))
        above = [e for e in known if e.module == self.site.function.module.name and e.origin < self.site.span]
        return above[-1] if above else known[0] if known else None


class Judge:
    """Judges the forward passes of a module, each once."""

    def __init__(self, horizon: Horizon, entries: Entries) -> None:
        self.horizon, self.entries = horizon, entries
        self.module, self.program = horizon.linted, horizon.program
        self._verdicts: dict[Site, Verdict] = {}

    def verdict(self, site: Site) -> Verdict:
        """The verdict on a forward pass, or on a call that runs one."""
        known = self._verdicts.get(site)
        if known is None:
            modes = self.entries.modes(site.function, site.modes)
            grad = self.entries.grad(site.function, site.grad)
            is_fault, why = self._judge(site, modes, grad)
            known = self._verdicts[site] = Verdict(site, is_fault, why, modes, grad)
        return known

    def faults(self, facts: FunctionFacts) -> list[Site]:
        """The faulty forward passes of a function; a call only where none of the passes that it runs is a fault itself."""
        found: dict[object, Site] = {}
        for site in facts.sites.values():
            if site.span not in found and self.verdict(site).is_fault:
                found[site.span] = site
        return list(found.values())

    def _judge(self, site: Site, modes: Events, grad: Events) -> tuple[bool, str]:
        if not surely(modes, EVAL):
            return False, "the module is not surely in evaluation mode"
        if not surely(grad, ON):
            return False, "gradients are not surely on"
        if self.horizon.is_needed(site):
            return False, "something differentiates the result"
        if site.leaves or any(self.entries.may_be_leaf(site.function, origin) for origin in site.inputs):
            return False, "an input requires gradients"
        if site.frozen or any(self.entries.may_be_frozen(site.function, obj) for obj in site.objects):
            return False, "the module's parameters are frozen"
        if self._is_hooked(site):
            return False, "a backward hook is registered on the module"
        reason = self._not_a_trained_module(site)
        if reason:
            return False, reason
        if self._set_elsewhere(site) and site.escapes - {"passed"} and not self._intends_inference(site):
            return False, "evaluation mode was set elsewhere and the result leaves the function"
        if any(self._is_reported(inner) for inner in site.inner):
            return False, "the forward pass that it runs is reported itself"
        return True, "evaluation mode, gradients on, and nothing differentiates the result"

    def _is_reported(self, site: Site) -> bool:
        return self.verdict(site).is_fault or any(self._is_reported(inner) for inner in site.inner)

    def _is_hooked(self, site: Site) -> bool:
        for function in (self.module.body, *self.module.functions):
            for obj in site.objects if function.hooked else ():
                if any(_touches(alias, hook) for alias in aliases(function, obj) for hook in function.hooked):
                    return True
        return False

    def _not_a_trained_module(self, site: Site) -> str:
        if "torch" not in self.module.imports and self.module.imports & OTHER_FRAMEWORKS:
            return "the file uses another framework"
        for obj in site.objects:
            if isinstance(obj, Made) and isinstance(obj.maker, Dotted) and WITHOUT_PARAMETERS.fullmatch(obj.maker.name):
                return "the module has no parameters"
            cls = self.program.class_of(obj)
            if cls is not None and self.program.is_module_class(cls):
                if self._takes_gradients(cls):
                    return "the module's own forward takes gradients"
                if self._guards_itself(cls):
                    return "the module's own forward switches gradients off"
                if self._is_without_parameters(cls):
                    return "the module has no parameters"
        return ""

    def _takes_gradients(self, cls: ClassFacts) -> bool:
        """Whether the class's forward (or what it calls) needs autograd for its values, as force fields do."""
        forward = self.program.method(cls, "forward")
        return forward is not None and self.program.summarise(forward) and forward.takes_gradients

    def _guards_itself(self, cls: ClassFacts) -> bool:
        """Whether the class's forward has a way that it takes in some cases, such as a mode, with a guard of its own."""
        forward = self.program.method(cls, "forward")
        if forward is None or not self.program.summarise(forward):
            return False
        return any(call.conditions and surely(call.grad, OFF) for call in forward.calls.values())

    def _is_without_parameters(self, cls: ClassFacts, steps: int = 4) -> bool:
        """A class that surely holds nothing that is trained: no module, no parameter, nothing that is not known."""
        init = self.program.method(cls, "__init__")
        direct = {base.only.name for base in self.program.external_bases(cls) if isinstance(base.only, Dotted)}
        if steps <= 0 or direct != {"torch.nn.Module"} or (init is not None and not self.program.summarise(init)):
            return False
        ancestors = self.program.ancestors(cls)
        run = {obj for ancestor in ancestors for method in ancestor.methods.values() for obj in method.ran}
        for ancestor in ancestors:
            for (holder, name), value in ancestor.module.stores.items():
                if holder is ancestor.instance and self._may_hold(value, holder.part(name) in run, steps):
                    return False
        return True

    def _may_hold(self, value: Value, is_run: bool, steps: int) -> bool:
        """Whether an attribute may be (or hold) a parameter; a constructor's argument only if it is called."""
        for atom in value.atoms:
            inner = self.program.class_of(atom) if isinstance(atom, Made) else None
            if inner is not None:
                if not self._is_without_parameters(inner, steps - 1):
                    return True
            elif isinstance(atom, Made) and isinstance(atom.maker, Dotted):
                if _makes_parameters(atom.maker.name):
                    return True
            elif isinstance(atom, Param):
                if is_run:
                    return True
            elif isinstance(atom, Obj) and not isinstance(atom, Dotted):
                return True
        return False

    def _set_elsewhere(self, site: Site) -> bool:
        """Whether the mode was set by another method or at another level, and unknown callers may run this one."""
        if self.entries.is_closed(site.function):
            return False
        roots = [event.obj.root for event in site.modes if event.kind == ENTRY and event.obj is not None]
        return any(isinstance(root, (Self, Outer)) for root in roots)

    def _intends_inference(self, site: Site) -> bool:
        """A guard that has no effect still says that its author wanted no gradients here."""
        return site.function.bare_guards


def _touches(obj: Obj, hook: Obj) -> bool:
    """Whether two objects are one, or one is a part of the other."""
    for inner, outer in ((obj, hook), (hook, obj)):
        at: Obj = inner
        while True:
            if at is outer:
                return True
            if not isinstance(at, Part):
                break
            at = at.parent
    return False


def _makes_parameters(maker: str) -> bool:
    if WITHOUT_PARAMETERS.fullmatch(maker):
        return False
    return maker.startswith("torch.nn.") or not maker.startswith(("torch.", "builtins.", "numpy."))
