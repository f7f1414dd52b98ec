"""Faults that are spelled in unusual ways: a file must not be skipped because of the way it is written."""

from __future__ import annotations

import pytest

from flake8_torchrepro.analysis import analyze
from flake8_torchrepro.patterns import Pattern
from flake8_torchrepro.settings import Settings
from flake8_torchrepro.source import Source
from flake8_torchrepro.triggers import REACH, Trigger

HEAD = "import numpy as np\nimport torch\nfrom torch.utils.data import DataLoader, Dataset\n"
SCANS = "class Scans(Dataset):\n    def __getitem__(self, i):\n        return np.random.rand()\n"
EVALUATED = "def run(model, x):\n    {}\n    return model(x).argmax().item()\n"
LOADED = f"{SCANS}loader = {{}}\n"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        *(
            ("TRP201", EVALUATED.format(mode))
            for mode in (
                "model.eval()",
                "model.eval( )",
                "model.train(False)",
                "model.train( False )",
                "model.train (False)",
                "model.train(mode = False)",
                "model.train(\n        False\n    )",
                "model.train(0)",
            )
        ),
        *(
            ("TRP301", LOADED.format(loader))
            for loader in (
                "DataLoader(Scans(), num_workers=4)",
                "DataLoader(Scans(), 8, True, None, None, 4)",
                "DataLoader(Scans(), int(8), True, None, None, 4)",
                f"DataLoader(\n    Scans(),  # {'x' * 300}\n    8,\n    True,\n    None,\n    None,\n    4,\n)",
                "DataLoader(Scans(), **{'num_workers': 4})",
            )
        ),
        ("TRP204", "def f(x):\n    torch.no_grad()\n    return x\n"),
        ("TRP204", "def f(x):\n    if x: torch.no_grad()\n    return x\n"),
        ("TRP204", "def f(x):\n    (torch.no_grad())\n    return x\n"),
        ("TRP204", "def f(x):\n    torch.no_grad ()\n    return x\n"),
        ("TRP204", "def f(x):\n    torch.no_grad(\n    )\n    return x\n"),
        ("TRP204", "def f(x):\n    with torch.no_grad:\n        return x\n"),
        ("TRP204", "def f(x):\n    with (\n        torch.no_grad\n    ):\n        return x\n"),
        ("TRP204", "@torch.no_grad()\nclass Net(torch.nn.Module):\n    pass\n"),
        ("TRP204", f"@torch.no_grad()\n# {'x' * 400}\nclass Net(torch.nn.Module):\n    pass\n"),
        ("TRP204", "@torch.no_grad()\n@other(\n    1,\n)\nclass Net(torch.nn.Module):\n    pass\n"),
        ("TRP105", "torch.manual_seed=0\n"),
        ("TRP105", "torch.manual_seed\t=\t0\n"),
        ("TRP205", "def run(net, x):\n    net.eval\n    return net(x)\n"),
        ("TRP205", "def run(net, x):\n    net.training\\\n        = False\n    return net(x)\n"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_fault_is_found_however_it_is_spelled(code: str, text: str, newline: str) -> None:
    source = Source.parse((HEAD + text).replace("\n", newline))
    assert code in {finding.code for finding in analyze(source, Settings())}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a.half()", True),
        ("a.half\n  ()", True),
        ("a.half", False),
        ("half()", False),
        (f"a.half{' ' * (REACH - 3)}()", True),
        (f"a.half{' ' * (REACH + 3)}()", False),
        ("a.half, b.half()", True),
    ],
)
def test_a_pattern_is_looked_for_near_its_word(text: str, found: bool) -> None:
    assert Trigger(".half", near=Pattern(r"\.half\s*\(")).is_in(f"x = 1\n{text}\n") is found


@pytest.mark.parametrize(("text", "found"), [("a b", True), ("a", False), ("b", False), ("", False)])
def test_a_word_beside_another(text: str, found: bool) -> None:
    assert Trigger("a", beside=("b",)).is_in(text) is found
