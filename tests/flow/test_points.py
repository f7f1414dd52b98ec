"""Which modes and which grad mode reach a forward pass, told by the marks of small programs (see ``snippets``)."""

from __future__ import annotations

import pytest
from snippets import complaints, faulty_lines, table, view_of

from flake8_torchrepro.flow.explain import why
from flake8_torchrepro.flow.state import Events, State
from flake8_torchrepro.flow.values import Obj

BRANCHES = {
    "both branches differ": """
def run(model, x, flag):
    if flag:
        model.eval()
        model(x)  # eval
    else:
        model.train()
        model(x)  # train
    model(x)  # eval|train
""",
    "one branch": """
def run(model, x, flag):
    if flag:
        model.eval()
    model(x)  # maybe
""",
    "both branches agree": """
def run(model, x, flag):
    if flag:
        model.eval()
    else:
        model.eval()
    model(x)  # eval
""",
    "elif": """
def run(model, x, n):
    if n > 2:
        model.eval()
    elif n > 1:
        model.train()
    else:
        raise ValueError
    model(x)  # eval|train
""",
    "early return": """
def run(model, x, flag):
    if flag:
        model.train()
        return model(x)  # train
    model.eval()
    return model(x)  # eval
""",
    "a branch that raises": """
def run(model, x, flag):
    model.eval()
    if flag:
        model.train()
        raise ValueError
    model(x)  # eval
""",
    "nothing is reached after a return": """
def run(model, x):
    model.eval()
    return x
    model(x)  # none
""",
    "conditional expression": """
def run(model, x, flag):
    model.train() if flag else model.eval()
    model(x)  # eval|train
""",
    "and": """
def run(model, x, flag):
    model.train()
    flag and model.eval()
    model(x)  # eval|train
""",
    "or": """
def run(model, x, flag):
    model.train()
    flag or model.eval()
    model(x)  # eval|train
""",
    "flags": """
def run(model, x, flag):
    model.train(False)
    model(x)  # eval
    model.train(mode=False)
    model(x)  # eval
    model.train(True)
    model(x)  # train
    model.train(flag)
    model(x)  # maybe
    model.train(not True)
    model(x)  # eval
""",
    "methods that share the name": """
def run(model, frame, x):
    model.eval()
    frame.eval("a + b")
    eval("x")
    model(x)  # eval
    model.train(x, epochs=3)
    model(x)  # maybe
""",
    "a mode that is not called": """
def run(model, x):
    model.train()
    model.eval
    model(x)  # train
""",
    "match": """
def run(model, x, kind):
    match kind:
        case "a":
            model.eval()
        case "b":
            model.train()
            model(x)  # train
    model(x)  # maybe
""",
    "match of all": """
def run(model, x, kind):
    match kind:
        case "a":
            model.eval()
        case _:
            model.train()
    model(x)  # eval|train
""",
    "match that returns": """
def run(model, x, kind):
    model.eval()
    match kind:
        case {"train": True}:
            model.train()
            return model(x)  # train
        case [first, *rest] if first:
            pass
    model(x)  # eval
""",
}

LOOPS = {
    "late eval": """
def run(model, xs):
    model.train()
    for x in xs:
        model(x)  # eval|train
        model.eval()
    model(xs)  # eval|train
""",
    "late eval of unknown": """
def run(model, xs):
    for x in xs:
        model(x)  # maybe
        model.eval()
""",
    "eval and train in turn": """
def run(model, xs):
    for x in xs:
        model.train()
        model(x)  # train
        model.eval()
        model(x)  # eval
    model(xs)  # maybe
""",
    "while else": """
def run(model, x):
    model.train()
    while x.any():
        if x.all():
            break
        x = x[1:]
    else:
        model.eval()
        model(x)  # eval
    model(x)  # eval|train
""",
    "for else without break": """
def run(model, xs):
    for x in xs:
        model.train()
    else:
        model.eval()
    model(xs)  # eval
""",
    "break": """
def run(model, xs):
    model.eval()
    for x in xs:
        if x is None:
            model.train()
            break
        model(x)  # eval
    model(xs)  # eval|train
""",
    "continue": """
def run(model, xs):
    model.eval()
    for x in xs:
        model(x)  # eval|train
        if x is None:
            model.train()
            continue
        model.eval()
""",
    "endless": """
def run(model, stream):
    model.train()
    while True:
        x = stream.get()
        if x is None:
            model.eval()
            break
        model(x)  # train
    model(x)  # eval
""",
    "endless without break": """
def run(model, stream):
    while True:
        model.eval()
    model(stream)  # none
""",
    "break of the inner loop": """
def run(model, xs):
    model.eval()
    for x in xs:
        for y in x:
            if y is None:
                model.train()
                break
            model.eval()
        model(x)  # eval|train
""",
    "nested loops": """
def run(model, xs):
    model.train()
    for x in xs:
        for y in x:
            model(y)  # eval|train
        model.eval()
""",
    "rebinding in a loop": """
def run(paths, x):
    for path in paths:
        model = Net(path)
        model(x)  # fresh
        model.eval()
        model(x)  # eval
""",
    "rebinding at the end": """
def run(paths, x):
    model = Net(0)
    for path in paths:
        model.eval()
        model(x)  # eval
        model = Net(path)
    model(x)  # !eval
""",
    "guard that a loop breaks out of": """
def run(model, xs):
    model.eval()
    for x in xs:
        with torch.no_grad():
            if x is None:
                break
            model(x)  # eval off
    model(xs)  # eval on
""",
    "guard that a loop continues out of": """
def run(model, xs):
    model.eval()
    for x in xs:
        model(x)  # eval on
        with torch.no_grad():
            if x is None:
                continue
            model(x)  # eval off
""",
    "zip and enumerate": """
def run(nets, xs):
    for net in nets:
        net.eval()
        net(xs)  # eval
    for i, net in enumerate(nets):
        net(i)  # !train
    for i, (net, x) in enumerate(zip(nets, xs)):
        net.train()
        net(x)  # train
""",
    "async for": """
async def run(model, stream):
    model.train()
    async for x in stream:
        model.eval()
        await x.ready()
        model(x)  # eval
    model(stream)  # eval|train
""",
}

EXITS = {
    "try": """
def run(model, x):
    model.train()
    try:
        model.eval()
        x.check()
    except ValueError:
        model(x)  # eval|train
    model(x)  # eval|train
""",
    "try else": """
def run(model, x):
    model.train()
    try:
        x.check()
    except ValueError:
        return None
    else:
        model.eval()
    return model(x)  # eval
""",
    "finally": """
def run(model, x):
    try:
        model.eval()
        model(x)  # eval
    finally:
        model.train()
    model(x)  # train
""",
    "finally after a return": """
def _once(model, x):
    try:
        model.eval()
        return model(x)  # eval
    finally:
        model.train()


def run(model, x):
    _once(model, x)
    model(x)  # train
""",
    "finally of a loop": """
def run(model, xs):
    for x in xs:
        try:
            model.eval()
            if x is None:
                continue
            if x.any():
                break
        finally:
            model.train()
        model(x)  # train
    else:
        model.train()
    model(xs)  # train
""",
    "finally that returns": """
def run(model, x):
    try:
        model.eval()
    finally:
        return model(x)  # maybe
    model(x)  # none
""",
    "handlers that leave": """
def run(model, x):
    try:
        model.eval()
    except KeyError:
        raise
    except ValueError as error:
        return error
    model(x)  # eval
""",
    "an error in the middle of a loop": """
def run(model, xs):
    model.eval()
    try:
        for x in xs:
            model.train()
            x.check()
            model.eval()
    except ValueError:
        model(xs)  # eval|train
""",
    "an error in the middle of a branch": """
def run(model, x, flag):
    model.eval()
    try:
        if flag:
            model.train()
            x.check()
            model.eval()
    except ValueError:
        model(x)  # eval|train
""",
    "an error under a guard": """
def run(model, x):
    model.eval()
    try:
        with torch.no_grad():
            model(x)  # off
    except RuntimeError:
        model(x)  # eval on
    model(x)  # eval on
""",
    "return under a guard": """
def _evaluate(model, xs):
    model.eval()
    with torch.no_grad():
        for x in xs:
            if x is None:
                return None
            model(x)  # eval off
        return xs


def run(model, xs):
    _evaluate(model, xs)
    model(xs)  # eval on
""",
}

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

CLASSES = {
    "eval in the constructor": """
class Probe:
    def __init__(self, net):
        self.net = net.eval()

    def run(self, x):
        self.net(x)  # eval
""",
    "eval after the store": """
class Probe:
    def __init__(self, net):
        self.net = net
        net.eval()

    def run(self, x):
        self.net(x)  # eval
""",
    "made and eval in the constructor": """
class Probe:
    def __init__(self):
        self.net = Net()
        self.net.to("cuda").eval()

    def run(self, x):
        self.net(x)  # eval
""",
    "a helper of the constructor": """
class Probe:
    def __init__(self):
        self._load()

    def _load(self):
        self.net = Net()
        self.net.eval()

    def run(self, x):
        self.net(x)  # eval
""",
    "another method": """
class Probe:
    def __init__(self):
        self.net = Net()

    def prepare(self):
        self.net.eval()

    def run(self, x):
        self.net(x)  # !eval
""",
    "two methods that differ": """
class Trainer:
    def __init__(self, net):
        self.net = net

    def fit(self):
        self.net.train()

    def check(self):
        self.net.eval()

    def run(self, x):
        self.net(x)  # !eval
""",
    "base class": """
class Base:
    def __init__(self, net):
        self.net = net
        self.net.eval()


class Probe(Base):
    def run(self, x):
        self.net(x)  # eval
""",
    "super": """
class Base:
    def __init__(self, net):
        self.net = net.eval()


class Probe(Base):
    def __init__(self, net, n):
        super().__init__(net)
        self.n = n

    def run(self, x):
        self.net(x)  # eval
""",
    "a subclass does more": """
class Base:
    def __init__(self, net):
        self.net = net
        self.net.eval()


class Trainer(Base):
    def __init__(self, net):
        super().__init__(net)
        self.net.train()

    def run(self, x):
        self.net(x)  # !eval
""",
    "overridden method": """
class Base:
    def __init__(self, net):
        self.net = net

    def run(self, xs):
        self.net.eval()
        for x in xs:
            self._step(x)

    def _step(self, x):
        raise NotImplementedError


class Probe(Base):
    def _step(self, x):
        self.net(x)  # eval
""",
    "overridden method that sets a mode": """
class Base:
    def run(self, x):
        self.net.eval()
        self._prepare()
        self.net(x)  # !eval

    def _prepare(self):
        pass


class Trainer(Base):
    def _prepare(self):
        self.net.train()
""",
    "property": """
class Probe:
    def __init__(self, net):
        self._net = net
        self._net.eval()

    @property
    def net(self):
        return self._net

    def run(self, x):
        self.net(x)  # eval
""",
    "static method": """
class Probe:
    @staticmethod
    def _run(model, x):
        model(x)  # eval

    def check(self, model, x):
        model.eval()
        self._run(model, x)
        Probe._run(model, x)
""",
    "class method": """
class Probe:
    def __init__(self, net):
        self.net = net

    @classmethod
    def load(cls, path):
        probe = cls(Net(path))
        probe.net.eval()
        return probe


def run(x):
    probe = Probe.load("a")
    probe.net(x)  # eval
""",
    "class attribute": """
class Probe:
    net = Net().eval()

    def run(self, x):
        self.net(x)  # eval
""",
    "an instance outside": """
class Probe:
    def __init__(self, net):
        self.net = net.eval()


def run(x, net):
    probe = Probe(net)
    probe.net(x)  # eval
    net(x)  # eval
    probe.net.train()
    net(x)  # train
""",
    "two instances": """
class Box:
    def __init__(self):
        self.net = Net()


def run(x):
    a, b = Box(), Box()
    a.net.eval()
    a.net(x)  # eval
    b.net(x)  # fresh
""",
    "replaced": """
class Probe:
    def __init__(self, net):
        self.net = net.eval()

    def run(self, x):
        self.net = Net()
        self.net(x)  # fresh
""",
    "a module that evaluates itself": """
class Wrapper(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()
        self.eval()

    def embed(self, x):
        return self.net(x)  # eval
""",
    "a module's own forward": """
class Wrapper(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x):
        return self.net(x)  # !eval
""",
    "own train method": """
class Wrapper(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Net()
        self.norm = Net()

    def train(self, mode=True):
        super().train(mode)
        self.norm.eval()
        return self


def run(x):
    model = Wrapper()
    model.train()
    model.norm(x)  # eval
    model.body(x)  # train
""",
    "the parts of the module": """
def run(model, x):
    model.eval()
    model.head(x)  # eval
    model.head.train()
    model.head(x)  # train
    model.backbone(x)  # eval
    model.eval()
    model.head(x)  # eval
""",
    "dataclass": """
from dataclasses import dataclass


@dataclass
class Box:
    net: object
    size: int = 3


def run(x):
    box = Box(Net().eval())
    box.net(x)  # eval
""",
    "called object": """
class Probe:
    def __init__(self, net):
        self.net = net

    def __call__(self, x):
        return self.net(x)


def run(net, x):
    net.train()
    probe = Probe(net)
    net.eval()
    probe(x)  # fault
""",
    "grad switched off by the constructor": """
class Probe:
    def __init__(self, net):
        torch.set_grad_enabled(False)
        self.net = net.eval()

    def run(self, x):
        self.net(x)  # eval !on
""",
    "a framework's hooks": """
from pytorch_lightning import LightningModule


class Probe(LightningModule):
    def validation_step(self, batch, index):
        self.net.eval()
        return self.net(batch).argmax()  # unsure fine
""",
}

SCOPES = {
    "closure": """
def run(model, xs):
    model.eval()

    def step(x):
        return model(x)  # eval

    return [step(x).item() for x in xs]
""",
    "closure that is called twice": """
def run(model, x):
    def step():
        model(x)  # eval|train

    model.train()
    step()
    model.eval()
    step()
""",
    "closure that sets a mode": """
def run(model, x):
    def prepare():
        model.eval()

    model.train()
    prepare()
    model(x)  # eval
""",
    "nonlocal": """
def run(x):
    model = Net(1)

    def switch():
        nonlocal model
        model = Net(2).eval()

    switch()
    model(x)  # eval
""",
    "closure that is handed out": """
def make(model):
    model.eval()

    def step(x):
        return model(x)  # eval on fine

    return step
""",
    "lambda": """
def run(model, x):
    model.eval()
    predict = lambda y: model(y)  # eval
    return predict(x).item()
""",
    "comprehension": """
def run(model, xs):
    model.eval()
    return [model(x).item() for x in xs if model(x) is not None]  # eval
""",
    "comprehension that sets modes": """
def run(models, x):
    [m.eval() for m in models]
    return {n: models[n](x) for n in range(3)}  # eval
""",
    "the name of a comprehension is its own": """
def run(model, models, x):
    model.train()
    [model.eval() for model in models]
    model(x)  # train
""",
    "walrus": """
def run(model, stream):
    if (net := model.eval()) is not None:
        net(stream)  # eval
    while (x := stream.get()) is not None:
        model(x)  # eval
""",
    "global": """
net = None


def setup():
    global net
    net = Net().eval()


def run(x):
    return net(x).item()  # eval


if __name__ == "__main__":
    setup()
    run(1)
    net(2)  # eval
""",
    "a name of the module": """
net = Net()
net.eval()


def run(x):
    return net(x)  # eval
""",
    "a name of the module that another function trains": """
net = Net()
net.eval()


def fit():
    net.train()


def run(x):
    return net(x).item()  # !eval
""",
    "main block": """
def run(model, x):
    model(x)  # eval on


if __name__ == "__main__":
    model = Net()
    model.eval()
    run(model, 1)
""",
    "main function": """
def main():
    model = Net()
    model.eval()
    check(model, 1)


def check(model, x):
    model(x)  # eval on


if __name__ == "__main__":
    main()
""",
    "a private function": """
def _run(model, x):
    model(x)  # eval on


def check(model, x):
    model.eval()
    _run(model, x)
""",
    "a public function": """
def run(model, x):
    model(x)  # maybe on


def check(model, x):
    model.eval()
    run(model, x)
""",
    "callers that differ": """
def _run(model, x):
    model(x)  # eval|train


def check(model, x):
    model.eval()
    _run(model, x)


def fit(model, x):
    model.train()
    _run(model, x)
""",
    "all callers are guarded": """
def _run(model, x):
    model(x)  # eval off


@torch.no_grad()
def check(model, x):
    model.eval()
    _run(model, x)


def look(model, x):
    model.eval()
    with torch.inference_mode():
        _run(model, x)
""",
    "one caller is guarded": """
def _run(model, x):
    model(x)  # on|off


@torch.no_grad()
def check(model, x):
    _run(model, x)


def look(model, x):
    _run(model, x)
""",
    "a public function that is called under a guard": """
def run(model, x):
    model.eval()
    return model(x).item()  # unsure fine


def check(model, x):
    with torch.no_grad():
        run(model, x)
""",
    "a private function that is handed out": """
def _run(model, x):
    model(x)  # maybe


def check(model, pool):
    model.eval()
    _run(model, 1)
    pool.submit(_run, model, 2)
""",
    "two levels of callers": """
def _inner(model, x):
    model(x)  # eval off


def _outer(model, x):
    model.eval()
    _inner(model, x)


def run(model, x):
    with torch.no_grad():
        _outer(model, x)
""",
    "recursion": """
def _walk(model, x, n):
    model(x)  # eval
    if n:
        _walk(model, x, n - 1)


def run(model, x):
    model.eval()
    _walk(model, x, 3)
""",
    "recursion that sets a mode": """
def run(model, x, n):
    if n == 0:
        model.train()
        return
    model.eval()
    run(model, x, n - 1)
    model(x)  # !eval
""",
    "recursion into parts": """
def walk(net, x):
    net(x)  # maybe
    walk(net.inner, x)
""",
    "mutual recursion": """
def _even(model, x, n):
    model(x)  # eval
    if n:
        _odd(model, x, n - 1)


def _odd(model, x, n):
    model(x)  # eval
    if n:
        _even(model, x, n - 1)


def run(model, x):
    model.eval()
    _even(model, x, 4)
""",
    "mutual recursion with callers that differ": """
def _odd(model, x, n):
    model(x)  # eval|train
    if n:
        _even(model, x, n - 1)


def _even(model, x, n):
    model(x)  # eval|train
    if n:
        _odd(model, x, n - 1)


def check(model, x):
    model.eval()
    _odd(model, x, 3)


def fit(model, x):
    model.train()
    _even(model, x, 3)
""",
    "mutual recursion that sets a mode": """
def even(model, x, n):
    if n:
        model.eval()
        odd(model, x, n - 1)
        model(x)  # !eval


def odd(model, x, n):
    model.train()
    if n:
        even(model, x, n - 1)
""",
    "generator": """
def _walk(model, xs):
    model.eval()
    for x in xs:
        yield model(x)  # eval


def run(model, xs):
    model.train()
    for y in _walk(model, xs):
        model(y)  # eval
""",
    "await": """
async def _prepare(model):
    model.eval()


async def run(model, x):
    await _prepare(model)
    model(x)  # eval
""",
    "a global grad switch in a script": """
def run(model, x):
    model.eval()
    model(x)  # eval off


torch.set_grad_enabled(False)
run(Net(), 1)
""",
    "a helper that switches gradients off": """
def quiet():
    torch.set_grad_enabled(False)


def run(model, x):
    model(x)  # on
    quiet()
    model(x)  # off
""",
    "star import": """
from torch import *
from torch.nn import *


def run(model, x):
    with no_grad():
        model(x)  # off
    model(x)  # on
""",
    "a parameter that shadows an import": """
def run(torch, model, x):
    with torch.no_grad():
        model(x)  # !on
""",
}

ALIASES = {
    "the result of eval": """
def run(model, x):
    net = model.eval()
    net(x)  # eval
    model(x)  # eval
    net.train()
    model(x)  # train
""",
    "wrappers": """
from torch.nn.parallel import DistributedDataParallel as DDP


def run(model, x):
    wrapped = nn.DataParallel(model)
    wrapped.eval()
    model(x)  # eval
    wrapped.module.train()
    wrapped(x)  # train
    ddp = DDP(model.to("cuda"), device_ids=[0])
    ddp.eval()
    model(x)  # eval
""",
    "moves": """
def run(model, x, device):
    model.eval()
    net = model.to(device).half().cuda()
    net(x)  # eval
    net = torch.compile(net)
    net(x)  # eval
    net.train()
    model(x)  # train
""",
    "module attribute": """
def run(model, x):
    model.module.eval()
    model.module(x)  # eval
""",
    "prepare": """
from accelerate import Accelerator


def run(model, optimizer, x):
    accelerator = Accelerator()
    model.eval()
    model, optimizer = accelerator.prepare(model, optimizer)
    model(x)  # eval
""",
    "unwrap": """
def run(accelerator, model, x):
    model.eval()
    net = accelerator.unwrap_model(model)
    net(x)  # eval
    model(x)  # eval
""",
    "deepcopy": """
import copy


def run(model, x):
    model.train()
    twin = copy.deepcopy(model)
    twin.eval()
    model(x)  # train
    twin(x)  # eval
    model.eval()
    other = copy.deepcopy(model)
    model.train()
    other(x)  # eval
""",
    "deepcopy of parts": """
from copy import deepcopy


def run(model, x):
    model.train()
    model.encoder.eval()
    twin = deepcopy(model)
    twin.encoder(x)  # eval
    twin.decoder(x)  # train
""",
    "swap": """
def run(a, b, x):
    a.eval()
    b.train()
    a, b = b, a
    a(x)  # train
    b(x)  # eval
""",
    "tuple": """
def run(x):
    a, (b, *rest) = Net(1).eval(), (Net(2), Net(3))
    a(x)  # eval
    b(x)  # fresh
""",
    "chained assignment": """
def run(model, x):
    a = b = model.eval()
    b.train()
    a(x)  # train
""",
    "a result that is a tuple": """
def build():
    model = Net()
    model.eval()
    return model, model.parameters()


def run(x):
    model, parameters = build()
    model(x)  # eval
""",
    "stored elsewhere": """
def run(box, net, x):
    box.net = net
    net.eval()
    box.net(x)  # eval
    box.net.train()
    net(x)  # train
""",
    "either of two": """
def run(a, b, x, flag):
    a.train()
    b.train()
    net = a if flag else b
    net.eval()
    a(x)  # eval|train
    net(x)  # !train
""",
    "either of two by a test": """
def run(a, b, x, flag):
    if flag:
        net = a
    else:
        net = b
    net.eval()
    net(x)  # !train
""",
    "either of two by a conditional": """
def run(model, ema, x, use_ema):
    net = ema if use_ema else model
    net.eval()
    net(x).item()  # fault
""",
    "either of two made here": """
def run(x, flag):
    if flag:
        model = Net(1)
    else:
        model = Net(2)
    model.eval()
    model(x)  # eval
""",
    "sequential": """
def run(encoder, decoder, x):
    encoder.train()
    both = nn.Sequential(encoder, decoder)
    both.eval()
    encoder(x)  # !eval
""",
    "partial": """
from functools import partial


def _run(model, x):
    model(x)  # eval


def check(model, x):
    model.eval()
    step = partial(_run, model)
    step(x)
""",
    "keyword arguments": """
def _run(model, x, **rest):
    model(x)  # eval


def check(model, x):
    model.eval()
    options = {"model": model, "x": x}
    _run(**options)
""",
    "the keyword dict itself": """
def _run(**options):
    options["model"](options["x"])  # !eval


def check(model, x):
    model.train()
    _run(model=model, x=x)
""",
    "getattr": """
def run(model, x):
    model.head.eval()
    getattr(model, "head")(x)  # eval
    setattr(model, "head", Net())
    model.head(x)  # fresh
""",
    "del": """
def run(x):
    net = Net(1)
    net.eval()
    del net
    net = Net(2)
    net(x)  # fresh
""",
    "handed to something unknown": """
from lab import mystery


def run(model, x):
    model.eval()
    mystery(x)
    print(model)
    optimizer = torch.optim.Adam(model.parameters())
    model(x)  # eval
    mystery(model)
    model(x)  # maybe
""",
    "a trainer": """
def run(model, trainer, x):
    model.eval()
    trainer.fit(model)
    model(x)  # maybe
""",
    "a library that loads in evaluation mode": """
from transformers import AutoModel


def run(x):
    model = AutoModel.from_pretrained("bert")
    model(x)  # maybe
""",
    "a part of a module whose caller is not known": """
def _run(model, x, flag):
    if flag:
        model.eval()
    model.head(x)  # !eval


def check(model, x, flag):
    model.eval()
    model.head.train()
    _run(model, x, flag)
""",
}

FACTORIES = {
    "factory": """
def build():
    model = Net()
    model.eval()
    return model


def run(x):
    model = build()
    model(x)  # eval
""",
    "two calls": """
def build():
    model = Net()
    model.eval()
    return model


def run(x):
    a, b = build(), build()
    b.train()
    a(x)  # eval
    b(x)  # train
""",
    "two calls of a factory of factories": """
def _inner():
    return Net().eval()


def build():
    model = _inner()
    return model


def run(x):
    a = build()
    b = build()
    a.train()
    a(x)  # train
    b(x)  # eval
""",
    "a factory in a loop": """
def build():
    return Net().eval()


def run(xs):
    for x in xs:
        model = build()
        model(x)  # eval
        model.train()
        model(x)  # train
""",
    "it gives back what it is handed": """
def prepare(model):
    model.eval()
    return model


def run(a, b, x):
    a.train()
    b.train()
    net = prepare(a)
    net(x)  # eval
    a(x)  # eval
    b(x)  # train
""",
    "a factory that may": """
def build(flag):
    model = Net()
    if flag:
        model.eval()
    return model


def run(x, flag):
    build(flag)(x)  # eval|fresh
""",
    "a factory that fails": """
def build(path):
    model = Net()
    if not path:
        raise ValueError
    model.eval()
    return model


def run(x):
    build("a")(x)  # eval
""",
    "a factory with parts": """
class Box:
    def __init__(self):
        self.net = Net()


def build():
    box = Box()
    box.net.eval()
    return box


def run(x):
    a, b = build(), build()
    b.net.train()
    a.net(x)  # eval
    b.net(x)  # train
""",
    "a factory that gives back one of several": """
def build(name):
    if name == "a":
        return Net(1).eval()
    return Net(2).eval()


def run(x, name):
    model = build(name)
    model(x)  # eval
    model.train()
    model(x)  # train
""",
    "a factory that keeps what it made": """
_cache = {}


def load(name):
    if name not in _cache:
        _cache[name] = Net(name).eval()
    return _cache[name]


def run(x):
    load("a")(x)  # !train
""",
}

CONTAINERS = {
    "list": """
def run(xs):
    models = [Net(1), Net(2)]
    for m in models:
        m.eval()
    for m in models:
        m(xs)  # !train
""",
    "append": """
def run(xs):
    models = []
    for x in xs:
        net = Net(x)
        net.eval()
        models.append(net)
    for m in models:
        m(xs)  # eval
""",
    "append of two kinds": """
def run(x):
    models = []
    models.append(Net(1).eval())
    models.append(Net(2))
    for m in models:
        m(x)  # eval|fresh
""",
    "list by index": """
def run(x):
    models = [Net(1).eval(), Net(2)]
    models[0](x)  # eval
    models[1](x)  # fresh
""",
    "dict items": """
def run(x):
    nets = {"g": Net(1), "d": Net(2)}
    nets["g"].eval()
    nets["g"](x)  # eval
    nets["d"](x)  # fresh
    for net in nets.values():
        net.train()
    for name, net in nets.items():
        net(x)  # !eval
""",
    "items of a parameter": """
def run(parts, x):
    parts["encoder"].eval()
    parts["encoder"](x)  # eval
    parts["decoder"](x)  # maybe
""",
    "an index that is not known": """
def run(models, i, j, x):
    models[i].eval()
    models[j](x)  # !train
""",
    "starred": """
def run(x):
    first = [Net(1).eval()]
    both = [*first, Net(2).eval()]
    for m in both:
        m(x)  # eval
""",
}

ALL = {
    f"{group} {name}": text
    for group, snippets in (
        ("branches", BRANCHES),
        ("loops", LOOPS),
        ("exits", EXITS),
        ("guards", GUARDS),
        ("classes", CLASSES),
        ("scopes", SCOPES),
        ("aliases", ALIASES),
        ("factories", FACTORIES),
        ("containers", CONTAINERS),
    )
    for name, text in snippets.items()
}

# What is not understood yet, with the reason.
KNOWN = {
    "exits finally that returns": "finally is not entered by an error in the body",
    "guards a guard across a yield reaches the consumer": "the grad mode at a yield is not that of the consumer",
    "guards guard that is called with a function": "a function that a guard is called with is not marked as handed out",
    "classes overridden method that sets a mode": "a call of self is a call of this class only",
    "classes class attribute": "modules that the body of a class makes have no mode in its methods",
    "classes own train method": "the own train method runs before the general one, which undoes what it set",
    "scopes mutual recursion": "a part of an answer is kept from the middle of a recursion",
    "aliases either of two by a conditional": "a mode is not set on what a conditional expression chose",
    "aliases a library that loads in evaluation mode": "what an unresolved call gives is in training mode",
}

SHARED = """
def run_epoch(model, loader):
    total = 0.0
    for x in loader:
        total += model(x).item()  # fine
    return total


def main(model, loader):
    model.train()
    run_epoch(model, loader)  # fine
    model.eval()
    run_epoch(model, loader)  # fault
    with torch.no_grad():
        run_epoch(model, loader)  # fine
"""

BLAME = {
    "a helper that training and validation share": SHARED,
    "the call where the mode stops to be unknown": """
def helper(model, x):
    return model(x).item()  # fine


def middle(model, x):
    return helper(model, x)  # fine


def top(model, x):
    model.eval()
    return middle(model, x)  # fault


def above(model, x):
    return top(model, x)  # fine
""",
    "the forward where every caller agrees": """
def _helper(model, x):
    return model(x).item()  # fault


def a(model, x):
    model.eval()
    return _helper(model, x)  # fine


def b(model, x):
    model.eval()
    return _helper(model, x)  # fine
""",
    "a helper that trains when it is told to": """
def run_epoch(model, loader, optimizer=None):
    for x in loader:
        loss = model(x)  # fine
        if optimizer is not None:
            loss.backward()
            optimizer.step()


def main(model, loader, optimizer):
    model.eval()
    run_epoch(model, loader)  # fine
""",
    "a forward that is named so": """
def run(model, x):
    model.eval()
    model.forward(x).item()  # fault
    model.encoder(x).item()  # fault
    model.generate(x)
""",
    "the mode was set elsewhere and the result leaves": """
class Probe:
    def __init__(self, net):
        self.net = net.eval()

    def embed(self, x):
        return self.net(x)  # fine

    def label(self, x):
        return self.net(x).argmax().item()  # fault
""",
}


@pytest.mark.parametrize("text", table(ALL, KNOWN))
def test_what_reaches_a_point(text: str) -> None:
    assert complaints(text) == []


@pytest.mark.parametrize("text", table(BLAME, {}))
def test_one_place_is_to_blame(text: str) -> None:
    assert complaints(text) == []


# -- cost, counted in visits of a statement -----------------------------------------------------------------------------


@pytest.fixture
def visits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One element for each time that a ``.eval()`` or ``.train()`` is interpreted."""
    found: list[int] = []
    original = State.set_mode

    def counted(state: State, obj: Obj, events: Events, weak: bool = False) -> None:
        found.extend({event.at.line for event in events})
        original(state, obj, events, weak)

    monkeypatch.setattr(State, "set_mode", counted)
    return found


def _nest(heads: list[str], innermost: list[str]) -> str:
    lines = [f"{'    ' * depth}{head}" for depth, head in enumerate(heads, 1)]
    return "\n".join(["def run(model, xs):", *lines, *(f"{'    ' * (len(heads) + 1)}{line}" for line in innermost)])


def test_eight_nested_loops(visits: list[int]) -> None:
    view_of(_nest([f"for x{n} in xs:" for n in range(8)], ["model.eval()", "model(xs)", "model.train()"]))
    assert 1 <= len(visits) // 2 <= 17


def test_a_mode_in_each_of_eight_nested_loops(visits: list[int]) -> None:
    lines = ["def run(model, xs):"]
    for n in range(8):
        lines += [f"{'    ' * (n + 1)}for x{n} in xs:", f"{'    ' * (n + 2)}model.part{n}.eval()"]
    lines += [f"{'    ' * (n + 2)}model.part{n}.train()" for n in reversed(range(8))]
    view_of("\n".join(lines))
    assert 16 <= len(visits) <= 16 * 17


def test_nested_branches(visits: list[int]) -> None:
    view_of(_nest([f"if xs[{n}]:" for n in range(12)], ["model.eval()"]))
    assert len(visits) == 1


def test_branches_one_after_another(visits: list[int]) -> None:
    view_of("\n".join(["def run(model, xs):", *[f"    if xs[{n}]:\n        model.eval()" for n in range(40)]]))
    assert len(visits) == 40


def test_nested_finally(visits: list[int]) -> None:
    lines = ["def run(model, xs):"]
    for n in range(8):
        lines.append(f"{'    ' * (n + 1)}try:")
    lines.append(f"{'    ' * 9}return xs")
    for n in reversed(range(8)):
        lines += [f"{'    ' * (n + 1)}finally:", f"{'    ' * (n + 2)}model.eval()"]
    view_of("\n".join(lines))
    assert len(visits) == 8


def test_a_chain_of_calls_is_summarised_once(visits: list[int]) -> None:
    lines = ["def f0(model):", "    model.eval()"]
    for n in range(1, 14):
        lines += [f"def f{n}(model):", f"    f{n - 1}(model)", f"    f{n - 1}(model)"]
    view_of("\n".join(lines))
    assert len(visits) <= 2 * 14


# -- in words --------------------------------------------------------------------------------------------------------------


def test_why_tells_the_events() -> None:
    view = view_of("\ndef run(model, x):\n    model.eval()\n    return model(x).item()\n")
    told = "\n".join(why(view, 7))
    assert "`model`" in told
    assert "evaluation mode, set at line 6" in told
    assert "gradients on" in told
    assert "TRP201: reported" in told


def test_why_tells_why_not() -> None:
    view = view_of("\ndef run(model, x):\n    model.eval()\n    model(x).backward()\n")
    assert "something differentiates the result" in "\n".join(why(view, 7))


def test_why_tells_who_guards() -> None:
    view = view_of("\ndef run(model, x):\n    with torch.no_grad():\n        model(x)\n")
    assert "gradients off at line 6" in "\n".join(why(view, 7))


def test_why_tells_of_a_mode_that_is_set() -> None:
    view = view_of("\ndef run(model, x):\n    model.eval()\n")
    assert why(view, 6) == ["in run: sets `model` to evaluation mode, set here"]


def test_why_of_a_line_without_anything() -> None:
    assert len(why(view_of("\n\n"), 2)) == 1


def test_nothing_is_reported_in_an_empty_file() -> None:
    assert faulty_lines(view_of("")) == set()
