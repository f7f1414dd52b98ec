"""How far each repair may be trusted: SAFE only where running the program shows no difference but the fault's."""

from __future__ import annotations

import pytest

from flake8_torchrepro.analysis import analyze
from flake8_torchrepro.finding import Safety
from flake8_torchrepro.settings import Settings
from flake8_torchrepro.source import Source

HEAD = "import functools, queue\nimport torch\n\nstore, box = [], {}\nsave = store.append\n\n\n"


def safeties(text: str, code: str) -> set[Safety]:
    findings = analyze(Source.parse(text), Settings())
    return {finding.fix.safety for finding in findings if finding.code == code and finding.fix is not None}


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.split("\n"))


READ_ONLY = [
    "y = model(x)\nreturn y.sum().item()",
    "y = model(x)\nprint(y)\nreturn 1",
    "for b in x:\n    y = model(b)\n    total += y.argmax().item()\nreturn total",
    "ys = []\nfor b in x:\n    ys.append(model(b).cpu().numpy())\nreturn ys",
    "y = model(x).softmax(1)\nscore = (y.argmax(1) == x).float().mean().item()\nreturn score",
]
MAY_BE_KEPT = [
    "y = model(x)\nkeep(y)\nreturn y.sum().item()",
    "y = model(x)\nkeep(y=y)\nreturn y.sum().item()",
    "y = model(x)\nsave(y)\nreturn y.sum().item()",
    "y = model(x)\nput = keep.append\nput(y)\nreturn y.sum().item()",
    "y = model(x)\nfor each in keep:\n    each(y)\nreturn y.sum().item()",
    'y = model(x)\nkeep["a"](y)\nreturn y.sum().item()',
    "y = model(x)\nkeep.add_(y)\nreturn y.sum().item()",
    "y = model(x)\nkeep += y\nreturn y.sum().item()",
    "keep.copy_(model(x))\nreturn 1",
    "y = model(x)\nkeep.out = y\nreturn y.sum().item()",
    "y = model(x)\nkeep[0] = y\nreturn y.sum().item()",
    'y = model(x)\nbox["y"] = y\nreturn y.sum().item()',
    'y = model(x)\nbox.setdefault("y", []).append(y)\nreturn y.sum().item()',
    'y = model(x)\nglobals()["z"] = y\nreturn y.sum().item()',
    "global z\nz = model(x)\nreturn z.sum().item()",
    "y = model(x)\nraise StopIteration(y)",
    "y = model(x)\nreturn y.detach(), y.requires_grad",
]


@pytest.mark.parametrize("body", READ_ONLY)
def test_a_result_that_is_only_read(body: str) -> None:
    text = f"{HEAD}def run(model, x, total=0.0):\n    model.eval()\n{indented(body)}"
    assert safeties(text, "TRP201") == {Safety.SAFE}


@pytest.mark.parametrize("body", MAY_BE_KEPT)
def test_a_result_that_something_may_keep(body: str) -> None:
    text = f"{HEAD}def run(model, x, keep):\n    model.eval()\n{indented(body)}"
    assert Safety.SAFE not in safeties(text, "TRP201")


def test_a_forward_in_a_lambda_runs_elsewhere() -> None:
    text = f"{HEAD}def run(model, x):\n    model.eval()\n    f = lambda b: model(b).sum().item()\n    return f(x)\n"
    assert safeties(text, "TRP201") <= {Safety.SHOW}


LATE = """
import torch


@torch.no_grad()
def run(model, batches, warm):
    for b in batches:
        model(b)
{before}
        model.eval()
"""


@pytest.mark.parametrize(
    ("before", "safety"),
    [
        ("", Safety.SAFE),
        ("        print(b)", Safety.SAFE),
        ("        if warm:\n            continue", Safety.UNSAFE),
        ("        if warm:\n            return b", Safety.UNSAFE),
        ("        if warm:\n            break", Safety.UNSAFE),
        ("        if warm:\n            raise ValueError", Safety.UNSAFE),
    ],
)
def test_an_eval_that_not_every_round_reaches(before: str, safety: Safety) -> None:
    assert safeties(LATE.format(before=before), "TRP202") == {safety}


def test_a_guard_is_not_put_around_training() -> None:
    text = "import torch\n\n\ndef run(model, x):\n    torch.no_grad()\n    loss = model(x).sum()\n    loss.backward()\n"
    assert safeties(text, "TRP204") == {Safety.SHOW}
