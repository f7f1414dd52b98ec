"""What a value is, once callers, constructors and stores are asked: told by the marks of small programs.

A seeding call shows its argument: ``torch.manual_seed(n)  # 3`` says that it is surely 3, ``# 3?`` that 3 is a default
which something may change, ``# any`` that it may be anything, and ``# 3, 4`` that it is one of the two.
"""

from __future__ import annotations

import pytest
from snippets import marks, table, view_of

from flake8_torchrepro.flow.determinism import Determinism
from flake8_torchrepro.flow.facts import Call
from flake8_torchrepro.flow.resolve import TOP, Context
from flake8_torchrepro.flow.values import Const, Value
from flake8_torchrepro.flow.view import ModuleView

SURE = {
    "literal": """
torch.manual_seed(3)  # 3
torch.manual_seed(seed=3)  # 3
""",
    "name": """
seed = 3
other = seed
torch.manual_seed(other)  # 3
""",
    "name of the module in a function": """
SEED = 3


def run():
    torch.manual_seed(SEED)  # 3
""",
    "name of the module that is bound twice": """
SEED = 3


def run():
    torch.manual_seed(SEED)  # 4


SEED = 4
""",
    "global": """
SEED = 3


def change():
    global SEED
    SEED = 4


def run():
    torch.manual_seed(SEED)  # 3, 4
""",
    "arithmetic": """
n = 2
torch.manual_seed(n * 3 + 1)  # 7
torch.manual_seed(2**8)  # 256
torch.manual_seed(-n)  # -2
torch.manual_seed(7 // n)  # 3
torch.manual_seed(7 % n)  # 1
torch.manual_seed(n / 0)  # any
""",
    "augmented": """
n = 2
n += 1
torch.manual_seed(n)  # 3
for _ in range(3):
    n += 1
torch.manual_seed(n)  # 3, any
""",
    "branches": """
def run(flag):
    if flag:
        n = 1
    else:
        n = 2
    torch.manual_seed(n)  # 1, 2
""",
    "tuple": """
a, (b, c) = 1, (2, 3)
torch.manual_seed(a)  # 1
torch.manual_seed(c)  # 3
pair = 4, 5
torch.manual_seed(pair[1])  # 5
""",
    "dict": """
options = {"a": 1, "b": 2}
options["c"] = 3
torch.manual_seed(options["b"])  # 2
torch.manual_seed(options["c"])  # 3
torch.manual_seed(options.get("a"))  # 1
""",
    "nested dict": """
config = {"train": {"seed": 3}}
torch.manual_seed(config["train"]["seed"])  # 3
""",
    "attribute": """
class Config:
    seed = 3
    name = "a"


torch.manual_seed(Config.seed)  # 3
torch.manual_seed(Config().seed)  # 3
""",
    "attribute of self": """
class Tool:
    def __init__(self):
        self.seed = 3

    def run(self):
        torch.manual_seed(self.seed)  # 3
""",
    "attribute of self by the constructor's argument": """
class Tool:
    def __init__(self, seed):
        self.seed = seed


tool = Tool(3)
torch.manual_seed(tool.seed)  # 3
""",
    "walrus": """
if (n := 3) > 2:
    torch.manual_seed(n)  # 3
""",
    "result of a function": """
def seed():
    return 3


torch.manual_seed(seed())  # 3
""",
    "result of a function of its argument": """
def twice(n):
    return n


torch.manual_seed(twice(3))  # 3
torch.manual_seed(twice(n=4))  # 4
""",
    "result of a default": """
def number(n=3):
    return n


torch.manual_seed(number())  # 3
torch.manual_seed(number(4))  # 4
""",
}

CALLERS = {
    "a private function": """
def _seed(n):
    torch.manual_seed(n)  # 3


def run():
    _seed(3)
""",
    "two callers": """
def _seed(n):
    torch.manual_seed(n)  # 3, 4


def run():
    _seed(3)
    _seed(n=4)
""",
    "a public function": """
def seed(n):
    torch.manual_seed(n)  # 3, any


def run():
    seed(3)
""",
    "a public function without callers": """
def seed(n):
    torch.manual_seed(n)  # any
""",
    "a default": """
def seed(n=3):
    torch.manual_seed(n)  # 3?, any
""",
    "a default that no caller changes": """
def _seed(n=3):
    torch.manual_seed(n)  # 3


def run():
    _seed()
""",
    "a default that a caller changes": """
def _seed(n=3):
    torch.manual_seed(n)  # 4


def run():
    _seed(4)
""",
    "a default that a dict may change": """
def _seed(n=3):
    torch.manual_seed(n)  # any


def run(options):
    _seed(**options)
""",
    "a known dict": """
def _seed(n=3, m=4):
    torch.manual_seed(n)  # 5
    torch.manual_seed(m)  # 4


def run():
    options = dict(n=5)
    _seed(**options)
""",
    "through two functions": """
def _inner(n):
    torch.manual_seed(n)  # 3


def _outer(m):
    _inner(m)


def run():
    _outer(3)
""",
    "partial": """
from functools import partial


def _seed(n, m):
    torch.manual_seed(n)  # 3
    torch.manual_seed(m)  # 4


def run():
    partial(_seed, 3)(m=4)
""",
    "a script": """
def seed(n):
    torch.manual_seed(n)  # 3


if __name__ == "__main__":
    seed(3)
""",
    "a closure": """
def run():
    n = 3

    def seed():
        torch.manual_seed(n)  # 3

    seed()
""",
    "handed out": """
def _seed(n):
    torch.manual_seed(n)  # 3, any


def run(pool):
    _seed(3)
    pool.map(_seed, [1, 2])
""",
    "a method": """
class Tool:
    def _seed(self, n):
        torch.manual_seed(n)  # 3

    def run(self):
        self._seed(3)
""",
    "the constructor": """
class Tool:
    def __init__(self, seed=3):
        self.seed = seed

    def run(self):
        torch.manual_seed(self.seed)  # 3?, 5, any


Tool(5)
""",
    "a subclass": """
class Base:
    def __init__(self, seed):
        self.seed = seed


class Tool(Base):
    def __init__(self):
        super().__init__(3)


torch.manual_seed(Tool().seed)  # 3
""",
    "recursion": """
def _seed(n):
    torch.manual_seed(3)  # 3
    if n:
        _seed(n)


def run():
    _seed(2)
""",
}

DEFAULTS = {
    "argparse": """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=3)
parser.add_argument("-w", "--num-workers", type=int, default=4)
parser.add_argument("--fast", action="store_true")
parser.add_argument("--other", dest="renamed", default=5)
parser.add_argument("--empty", type=int)
args = parser.parse_args()
torch.manual_seed(args.seed)  # 3?
torch.manual_seed(args.num_workers)  # 4?
torch.manual_seed(args.fast)  # False?
torch.manual_seed(args.renamed)  # 5?
torch.manual_seed(args.empty)  # None?
torch.manual_seed(args.unknown)  # any
""",
    "argparse in a function": """
from argparse import ArgumentParser


def options():
    parser = ArgumentParser()
    group = parser.add_argument_group("seeds")
    group.add_argument("--seed", default=3)
    return parser.parse_args()


def main():
    args = options()
    torch.manual_seed(args.seed)  # 3?


if __name__ == "__main__":
    main()
""",
    "argparse through a function": """
import argparse


def main(args):
    torch.manual_seed(args.seed)  # 3?


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default=3)
    main(parser.parse_args())
""",
    "argparse that is overwritten": """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--seed", default=3)
args = parser.parse_args()
args.seed = 4
torch.manual_seed(args.seed)  # 4
""",
    "parse_known_args": """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--seed", default=3)
args, rest = parser.parse_known_args()
torch.manual_seed(args.seed)  # 3?
""",
    "dataclass": """
from dataclasses import dataclass, field


@dataclass
class Options:
    seed: int = 3
    name: str = "a"


def run(options: Options):
    torch.manual_seed(options.seed)  # 3?, any


torch.manual_seed(Options().seed)  # 3?
torch.manual_seed(Options(seed=4).seed)  # 4
torch.manual_seed(Options(5).seed)  # 5
""",
    "get with a default": """
def run(config):
    torch.manual_seed(config.get("seed", 3))  # 3?, any
""",
    "a config that is read": """
import yaml

config = yaml.safe_load(open("a.yaml"))
torch.manual_seed(config["seed"])  # any
torch.manual_seed(config.seed)  # any
""",
    "an environment variable": """
import os

torch.manual_seed(int(os.environ["SEED"]))  # any
""",
}

CHOICES = {
    "decided by a caller": """
def _seed(n):
    torch.manual_seed(4 if n > 1 else 5)  # 4


def run():
    _seed(2)
""",
    "decided either way": """
def _seed(n):
    torch.manual_seed(4 if n > 1 else 5)  # 4, 5


def run():
    _seed(1)
    _seed(2)
""",
    "not decided": """
def seed(n):
    torch.manual_seed(4 if n > 1 else 5)  # 4, 5
""",
    "decided by a default": """
class Net(nn.Module):
    def __init__(self, layers=1, dropout=0.5):
        super().__init__()
        self.dropout = dropout if layers > 1 else 0


torch.manual_seed(Net().dropout)  # 0
torch.manual_seed(Net(2).dropout)  # 0.5
torch.manual_seed(Net(2, 0.1).dropout)  # 0.1
""",
    "negated": """
def _seed(n):
    torch.manual_seed(4 if not n > 1 else 5)  # 5


def run():
    _seed(2)
""",
    "truth": """
def _seed(flag):
    torch.manual_seed(4 if flag else 5)  # 5


def run():
    _seed(False)
    _seed(0)
    _seed(None)
""",
    "is None": """
def _seed(n=None):
    torch.manual_seed(4 if n is None else n)  # 4


def run():
    _seed()
""",
    "or": """
def _seed(n):
    torch.manual_seed(n or 4)  # 3, 4


def run():
    _seed(3)
""",
    "a function that is chosen": """
def _one():
    return 1


def _two():
    return 2


def run(flag):
    make = _one if flag else _two
    torch.manual_seed(make())  # 1, 2
""",
}

ALL = {
    f"{group} {name}": text
    for group, snippets in (("sure", SURE), ("callers", CALLERS), ("defaults", DEFAULTS), ("choices", CHOICES))
    for name, text in snippets.items()
}

# What is not understood yet, with the reason.
KNOWN = {
    "sure result of a default": "a default that a call leaves alone is only assumed in its result",
    "choices decided by a default": "a default that a call leaves alone is only assumed in its result",
}


def _told(value: Value) -> str:
    told = {f"{atom.value!r}{'' if atom.sure else '?'}" if isinstance(atom, Const) else "any" for atom in value.atoms}
    return ", ".join(sorted(told, key=lambda word: (word == "any", word)))


def _seeding(view: ModuleView, line: int) -> Call:
    return next(call for call in view.facts.calls_of("torch.manual_seed") if call.span.line == line)


def _argument(call: Call) -> Value:
    found = call.arguments.get("seed", 0)
    assert found is not None
    return found


@pytest.mark.parametrize("text", table(ALL, KNOWN))
def test_what_a_value_is(text: str) -> None:
    view = view_of(text)
    wanted = dict(marks(view))
    told = {line: _told(view.resolver.resolve(_argument(_seeding(view, line)))) for line in wanted}
    assert told == wanted


# -- contexts ----------------------------------------------------------------------------------------------------------


def _in_contexts(view: ModuleView, line: int) -> list[str]:
    call = _seeding(view, line)
    return sorted(
        _told(view.resolver.resolve(_argument(call), context)) for context in view.resolver.contexts(call.caller)
    )


def test_one_context_for_each_caller() -> None:
    view = view_of(
        "\ndef _seed(n, m=1):\n    torch.manual_seed(n * m)\n    torch.manual_seed(m)\n\n_seed(3)\n_seed(4, m=2)\n"
    )
    assert _in_contexts(view, 7) == ["1", "2"]


def test_a_context_keeps_arguments_together() -> None:
    view = view_of("\ndef _seed(n, p):\n    torch.manual_seed(p if n > 1 else 0)\n\n_seed(1, 5)\n_seed(2, 6)\n")
    assert _in_contexts(view, 6) == ["0", "6"]


def test_others_may_call_a_public_function() -> None:
    view = view_of("\ndef seed(n):\n    torch.manual_seed(n)\n\ndef run():\n    seed(3)\n")
    assert len(list(view.resolver.contexts(_seeding(view, 6).caller))) == 2
    assert TOP in list(view.resolver.contexts(_seeding(view, 6).caller))


RULED_OUT = """
def _seed(train, n):
    if train:
        torch.manual_seed(1)  # in train
    else:
        torch.manual_seed(2)  # in check
    if not train:
        torch.manual_seed(3)  # in check
    if n == 4:
        torch.manual_seed(4)  # in train
    if n > 4 and train:
        torch.manual_seed(5)
    while train:
        torch.manual_seed(6)  # in train in check
    torch.manual_seed(7)  # in train in check


def run():
    _seed(True, 4)
    _seed(False, 3)
"""


@pytest.mark.parametrize("name", ["train", "check"])
def test_tests_rule_calls_out(name: str) -> None:
    view = view_of(RULED_OUT)
    contexts = dict(zip(("train", "check"), _contexts(view), strict=True))
    reached = {
        call.span.line
        for call in view.facts.calls_of("torch.manual_seed")
        if not view.resolver.is_ruled_out(call, contexts[name])
    }
    assert reached == {line for line, words in marks(view) if f"in {name}" in words}


def _contexts(view: ModuleView) -> list[Context]:
    facts = next(function for function in view.functions if function.name == "_seed")
    return list(view.resolver.contexts(facts))


def test_an_early_return_is_not_a_condition() -> None:
    """Nothing is ruled out that may be reached."""
    view = view_of("\ndef _seed(n):\n    if n > 1:\n        return\n    torch.manual_seed(n)\n\n_seed(1)\n_seed(2)\n")
    call = _seeding(view, 8)
    assert not any(view.resolver.is_ruled_out(call, context) for context in _contexts(view)[:1])


# -- what the program asks for -------------------------------------------------------------------------------------------

DETERMINISTIC = {
    "cudnn": ("torch.backends.cudnn.deterministic = True", True),
    "alias": ("from torch.backends import cudnn\ncudnn.deterministic = True", True),
    "another alias": ("import torch.backends.cudnn as c\nc.deterministic, c.benchmark = True, False", True),
    "chained": ("a = torch.backends.cudnn.deterministic = True", True),
    "setattr": ("setattr(torch.backends.cudnn, 'deterministic', True)", True),
    "algorithms": ("torch.use_deterministic_algorithms(True)", True),
    "algorithms by keyword": ("torch.use_deterministic_algorithms(mode=True, warn_only=True)", True),
    "algorithms by an option": ("def f(flag=True):\n    torch.use_deterministic_algorithms(flag)", True),
    "algorithms of an unknown": ("def f(flag):\n    torch.use_deterministic_algorithms(flag)", False),
    "off": ("torch.use_deterministic_algorithms(False)\ntorch.backends.cudnn.deterministic = False", False),
    "debug mode": ("torch.set_deterministic_debug_mode('warn')", True),
    "debug mode as a number": ("torch.set_deterministic_debug_mode(2)", True),
    "debug mode off": ("torch.set_deterministic_debug_mode(0)", False),
    "benchmark alone": ("torch.backends.cudnn.benchmark = False", False),
    "benchmark beside a seed": ("torch.manual_seed(0)\ntorch.backends.cudnn.benchmark = False", True),
    "seed alone": ("torch.manual_seed(0)", False),
    "lightning": ("import pytorch_lightning as pl\npl.Trainer(deterministic=True)", True),
    "transformers": ("from transformers import enable_full_determinism\nenable_full_determinism(1)", True),
    "transformers' seed": ("from transformers import set_seed\nset_seed(1, deterministic=True)", True),
    "transformers' seed alone": ("from transformers import set_seed\nset_seed(1)", False),
    "something that has the name": ("class cudnn:\n    pass\ncudnn.deterministic = True", False),
    "a function of the project": (
        "def make_deterministic(on=False):\n    torch.use_deterministic_algorithms(on)\n\nmake_deterministic(True)",
        True,
    ),
}


def _determinism(text: str) -> Determinism:
    """A file on its own is one program."""
    [program] = view_of(text).programs
    return program


@pytest.mark.parametrize(
    ("text", "wanted"), DETERMINISTIC.values(), ids=[name.replace(" ", "-") for name in DETERMINISTIC]
)
def test_what_asks_for_determinism(text: str, wanted: bool) -> None:
    assert bool(_determinism(text).requests) is wanted


@pytest.mark.parametrize(
    "text",
    [
        "os.environ['CUBLAS_WORKSPACE_CONFIG'] = ':4096:8'",
        "os.environ.setdefault('CUBLAS_WORKSPACE_CONFIG', ':4096:8')",
        "os.environ.update(CUBLAS_WORKSPACE_CONFIG=':4096:8')",
        "os.environ.update({'CUBLAS_WORKSPACE_CONFIG': ':16:8'})",
        "os.putenv('CUBLAS_WORKSPACE_CONFIG', ':16:8')",
        "name = 'CUBLAS_WORKSPACE_CONFIG'\nos.environ[name] = 'x'",
    ],
)
def test_the_workspace_variable(text: str) -> None:
    assert _determinism(f"import os\n{text}\n").workspace_is_set
    assert not _determinism("import os\nos.environ['OTHER'] = '1'\n").workspace_is_set


@pytest.mark.parametrize(
    ("value", "off"),
    [("False", True), ("True", False), ("flag", False), ("not True", True)],
)
def test_cudnn_is_surely_off(value: str, off: bool) -> None:
    text = f"import sys\nflag = len(sys.argv) > 2\ntorch.backends.cudnn.enabled = {value}\n"
    assert bool(_determinism(text).cudnn_off) is off
