"""Which modes and which grad mode reach a forward pass: guards and context managers."""

from __future__ import annotations

import pytest
from snippets import complaints, table

GUARDS = {
    "no_grad": """
def run(model, x):
    with torch.no_grad():
        model(x)  # off
    model(x)  # on
""",
    "spellings": """
from torch import no_grad as quiet
from torch.autograd.grad_mode import inference_mode


def run(model, x):
    with quiet():
        model(x)  # off
    with inference_mode():
        model(x)  # off
    with torch.autograd.no_grad():
        model(x)  # off
    with torch.set_grad_enabled(False):
        model(x)  # off
    model(x)  # on
""",
    "nested": """
def run(model, x):
    with torch.no_grad():
        with torch.enable_grad():
            model(x)  # on
        model(x)  # off
    model(x)  # on
""",
    "a flag": """
def run(model, x, flag):
    with torch.set_grad_enabled(flag):
        model(x)  # unsure
    with torch.set_grad_enabled(mode=True):
        model(x)  # on
    model(x)  # on
""",
    "statement": """
def run(model, x):
    torch.set_grad_enabled(False)
    model(x)  # off
    torch.set_grad_enabled(True)
    model(x)  # on
""",
    "statement without effect": """
def run(model, x):
    torch.no_grad()
    model(x)  # on
""",
    "inference_mode switched off": """
def run(model, x):
    with torch.no_grad():
        with torch.inference_mode(False):
            model(x)  # on
""",
    "enable_grad cannot leave inference mode": """
def run(model, x):
    model.eval()
    with torch.inference_mode():
        with torch.enable_grad():
            model(x)  # !on fine
""",
    "by name": """
def run(model, x):
    guard = torch.no_grad()
    model(x)  # on
    with guard:
        model(x)  # off
    model(x)  # on
""",
    "conditional": """
from contextlib import nullcontext


def run(model, x, flag):
    context = torch.no_grad() if flag else nullcontext()
    with context:
        model(x)  # unsure
    with torch.enable_grad() if flag else torch.no_grad():
        model(x)  # unsure
    model(x)  # on
""",
    "conditional class": """
import contextlib


def run(model, x, flag):
    guard = torch.no_grad if flag else contextlib.nullcontext
    with guard():
        model(x)  # unsure
""",
    "nullcontext": """
from contextlib import nullcontext


def run(model, x):
    with nullcontext():
        model(x)  # on
    with torch.no_grad(), nullcontext():
        model(x)  # off
""",
    "ExitStack": """
import contextlib


def run(model, x, flag):
    with contextlib.ExitStack() as stack:
        model(x)  # on
        stack.enter_context(torch.no_grad())
        model(x)  # off
    model(x)  # on
""",
    "ExitStack that may guard": """
from contextlib import ExitStack


def run(model, x, flag):
    with ExitStack() as stack:
        if flag:
            stack.enter_context(torch.no_grad())
        model(x)  # unsure
    model(x)  # on
""",
    "harmless": """
from tqdm import tqdm


def run(model, x, path):
    with torch.autocast("cuda"), open(path) as file, tqdm(total=3) as bar:
        model(x)  # on
    with torch.cuda.amp.autocast(enabled=True):
        model(x)  # on
    with torch.profiler.profile() as prof:
        model(x)  # on
""",
    "unknown": """
from lab import mystery


def run(model, x):
    with mystery():
        model(x)  # unsure
    model(x)  # on
""",
    "own context manager": """
from contextlib import contextmanager


@contextmanager
def evaluating(net):
    net.eval()
    with torch.no_grad():
        yield
    net.train()


def run(model, x):
    with evaluating(model):
        model(x)  # eval off
    model(x)  # train on
""",
    "own context manager that restores": """
import contextlib


@contextlib.contextmanager
def evaluating(net):
    was = net.training
    net.eval()
    try:
        yield net
    finally:
        net.train(was)


def run(model, x):
    model.eval()
    with evaluating(model):
        model(x)  # eval on
    model(x)  # eval on
""",
    "own context manager with a name": """
from contextlib import contextmanager


@contextmanager
def evaluating(net):
    net.eval()
    yield net


def run(model, x):
    with evaluating(model) as quiet:
        quiet(x)  # eval
""",
    "own class": """
class Quiet:
    def __enter__(self):
        self.before = torch.is_grad_enabled()
        torch.set_grad_enabled(False)

    def __exit__(self, *error):
        torch.set_grad_enabled(self.before)


def run(model, x):
    with Quiet():
        model(x)  # off
    model(x)  # on
""",
    "own class that sets a mode": """
class Evaluating:
    def __init__(self, net):
        self.net = net

    def __enter__(self):
        self.net.eval()

    def __exit__(self, *error):
        self.net.train()


def run(model, x):
    with Evaluating(model):
        model(x)  # eval on
    model(x)  # train on
""",
    "subclass of a guard": """
class Quiet(torch.no_grad):
    pass


def run(model, x):
    with Quiet():
        model(x)  # !on
""",
    "a guard across a yield reaches the consumer": """
def _walk(xs):
    with torch.no_grad():
        for x in xs:
            yield x


def run(model, xs):
    for x in _walk(xs):
        model(x)  # !on
""",
    "async with": """
async def run(model, x, lock):
    async with lock:
        with torch.no_grad():
            model(x)  # off
    model(x)  # on
""",
    "decorators": """
@torch.no_grad()
def a(model, x):
    model(x)  # off


@torch.inference_mode
def b(model, x):
    model(x)  # off


@torch.set_grad_enabled(False)
def c(model, x):
    model(x)  # off


@torch.no_grad()
@torch.enable_grad()
def d(model, x):
    model(x)  # on


@torch.enable_grad()
@torch.no_grad()
def e(model, x):
    model(x)  # off


def f(model, x):
    model(x)  # on


class Tool:
    @staticmethod
    @torch.no_grad()
    def g(model, x):
        model(x)  # off

    @torch.no_grad()
    @staticmethod
    def h(model, x):
        model(x)  # off
""",
    "a decorated async function is not guarded": """
@torch.no_grad()
async def run(model, x):
    model(x)  # on
""",
    "a decorated generator is guarded": """
@torch.no_grad()
def walk(model, xs):
    for x in xs:
        yield model(x)  # off


def run(model, xs):
    for x in walk(model, xs):
        model(x)  # on
""",
    "own decorator that guards": """
import functools


def quiet(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with torch.no_grad():
            return function(*args, **kwargs)

    return wrapper


@quiet
def run(model, x):
    model(x)  # off
""",
    "own decorator that measures": """
import time


def timed(function):
    def wrapper(*args, **kwargs):
        start = time.time()
        result = function(*args, **kwargs)
        print(time.time() - start)
        return result

    return wrapper


@timed
def run(model, x):
    model(x)  # on
""",
    "own decorator that may guard": """
def quiet(function):
    def wrapper(*args, training=False):
        if training:
            return function(*args)
        with torch.no_grad():
            return function(*args)

    return wrapper


@quiet
def run(model, x):
    model(x)  # unsure
""",
    "own factory of decorators": """
def quiet(name):
    def decorate(function):
        def wrapper(*args):
            with torch.no_grad():
                return function(*args)

        return wrapper

    return decorate


@quiet("run")
def run(model, x):
    model(x)  # off
""",
    "own decorator that is decorated": """
def quiet(function):
    @torch.no_grad()
    def wrapper(*args):
        return function(*args)

    return wrapper


@quiet
def run(model, x):
    model(x)  # off
""",
    "decorator that gives back a guarded function": """
def quiet(function):
    return torch.no_grad()(function)


@quiet
def run(model, x):
    model(x)  # !on
""",
    "unknown decorator": """
from lab import mystery


@mystery
def run(model, x):
    model(x)  # unsure
""",
    "harmless decorators": """
import functools
import click
import pytest


@functools.lru_cache
def a(model, x):
    model(x)  # on


@click.command()
@click.option("--n")
def b(model, x):
    model(x)  # on


@pytest.mark.parametrize("x", [1])
def c(model, x):
    model(x)  # on
""",
    "a class is not guarded by its decorator": """
@torch.no_grad()
class Tool:
    def run(self, model, x):
        model(x)  # on
""",
    "guard that is called with a function": """
def _predict(model, x):
    return model(x)  # !on


def run(model, x):
    return torch.no_grad()(_predict)(model, x)
""",
}

# What is not understood yet, with the reason.
KNOWN = {
    "a guard across a yield reaches the consumer": "the grad mode at a yield is not that of the consumer",
    "guard that is called with a function": "a function that a guard is called with is not marked as handed out",
}


@pytest.mark.parametrize("text", table(GUARDS, KNOWN))
def test_what_reaches_a_point(text: str) -> None:
    assert complaints(text) == []
