"""TRP201: a forward pass in evaluation mode that builds a graph which nothing uses."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..finding import Finding
from ..flow.facts import Site
from ..flow.view import ModuleView
from ..guarding import Guarding
from ..rule import Bad, Good, Rule
from ..triggers import SETS_EVALUATION_MODE


class ForwardWithGrad(Rule):
    """Forward passes of modules surely in evaluation mode, with gradients surely on, whose result nobody differentiates."""

    code = "TRP201"
    name = "forward-with-grad"
    summary = "forward pass in evaluation mode with gradients on"
    why = (
        "`eval()` switches dropout and batch norm, not autograd. Without a guard every forward pass saves what a"
        " backward pass would need: run with torch 2.13, one pass of a small network held 13 MB that `no_grad` does not"
        " allocate, and results that are collected keep all of it alive. The values are the same: it is memory and time."
    )
    advice = "Put the forward pass under `with torch.no_grad():`, or decorate the function with `@torch.no_grad()`."
    bad = (
        Bad(
            """\
import torch


def validate(model, loader, criterion):
    model.eval()
    total = 0.0
    for images, labels in loader:
        total += criterion(model(images), labels).item()  # <-
    return total / len(loader)
""",
            """\
import torch


def validate(model, loader, criterion):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for images, labels in loader:
            total += criterion(model(images), labels).item()  # <-
    return total / len(loader)
""",
        ),
        Bad(
            """\
import torch as th


class Probe:
    def __init__(self, net):
        self.net = net.eval()

    def label(self, batch):
        return int(self.net(batch).argmax())  # <-
""",
            """\
import torch as th


class Probe:
    def __init__(self, net):
        self.net = net.eval()

    def label(self, batch):
        with th.no_grad():
            return int(self.net(batch).argmax())  # <-
""",
        ),
    )
    good = (
        Good(
            """\
import torch


@torch.no_grad()
def predict(model, batch):
    model.eval()
    return model(batch)
""",
            "the decorator switches gradients off",
        ),
        Good(
            """\
import torch


def saliency(model, image):
    model.eval()
    image.requires_grad_()
    model(image).max().backward()
    return image.grad
""",
            "the gradient is what is wanted",
        ),
        Good(
            """\
import torch


def embed(model, batch):
    model.requires_grad_(False)
    model.eval()
    return model(batch)
""",
            "no parameter takes a gradient, so there is no graph",
        ),
    )
    triggers = SETS_EVALUATION_MODE
    repairs = "sometimes"

    def check(self, module: ModuleView) -> Iterator[Finding]:
        """One finding a forward pass."""
        faulty = [facts for facts in module.functions if module.judge.faults(facts)]
        module.find_callers(faulty)
        for facts in faulty:
            sites = module.judge.faults(facts)
            guarding = Guarding(module, facts, sites) if sites else None
            for site in sites:
                assert guarding is not None
                yield Finding(self.code, site.span, _message(module, site), partial(guarding.fix, site))


def _message(module: ModuleView, site: Site) -> str:
    event = module.judge.verdict(site).eval_event
    where = ""
    if event is not None and event.origin.line:
        file = "line " if event.module == module.facts.name else f"{event.module}:"
        where = f" (set at {file}{event.origin.line})"
    what = "this call runs a forward pass" if site.inner else "forward pass"
    return (
        f"{what} in evaluation mode{where} with gradients on: nothing uses its graph, which costs memory and time (the"
        " values are the same); put it under `with torch.no_grad():`"
    )
