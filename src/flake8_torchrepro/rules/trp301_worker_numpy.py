"""TRP301: loader workers that draw from NumPy's global generator, which torch before 1.9 does not seed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..edits import AddHelper, AddImport, Edit, SetKeyword
from ..finding import Finding, Fix, Safety
from ..flow.draws import Draw, Drawing
from ..flow.facts import FunctionFacts
from ..flow.loaders import Loader
from ..flow.view import ModuleView
from ..rule import Bad, Good, Rule
from ..source import Target, target_of
from ..torch_api.randomness import NUMPY_DRAWS
from ..triggers import MAKES_LOADER


class WorkerNumpy(Rule):
    """A ``DataLoader`` with workers and no ``worker_init_fn`` whose items draw from ``numpy.random``."""

    code = "TRP301"
    name = "worker-numpy"
    summary = "loader workers draw from NumPy's global generator with no worker_init_fn"
    why = (
        "Before torch 1.9 every worker starts with a copy of NumPy's global generator: all workers draw the same numbers,"
        " and each epoch repeats them. Since 1.9 torch seeds NumPy in each worker, so the fault is real only where an older"
        " torch may be installed."
    )
    advice = (
        "Give the loader `worker_init_fn=seed_worker`, which seeds NumPy from `torch.initial_seed()`; or declare that the"
        " project needs torch 1.9 or newer, and this rule is silent."
    )
    bad = (
        Bad(
            """\
import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        return torch.tensor(index + np.random.rand())


loader = DataLoader(Scans(), batch_size=8, num_workers=4)  # <-
""",
            """\
import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


def seed_worker(worker_id):
    worker_seed = torch.initial_seed() % 2**32
    np.random.seed(worker_seed)
    random.seed(worker_seed)


class Scans(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        return torch.tensor(index + np.random.rand())


loader = DataLoader(Scans(), batch_size=8, num_workers=4, worker_init_fn=seed_worker)  # <-
""",
        ),
    )
    good = (
        Good(
            """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    def __getitem__(self, index):
        return index + np.random.rand()


loader = DataLoader(Scans(), batch_size=8)
""",
            "no workers: the items are made in the main process",
        ),
        Good(
            """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    def __init__(self):
        self.order = np.random.permutation(100)

    def __getitem__(self, index):
        return self.order[index]


loader = DataLoader(Scans(), num_workers=4)
""",
            "drawn once, in the main process",
        ),
    )
    triggers = MAKES_LOADER
    torch_below = (1, 9)
    repairs = "safe"

    def check(self, module: ModuleView) -> Iterator[Finding]:
        """One finding a loader."""
        module.find_callers(
            loader.call.caller for loader in module.loaders.all() if module.loaders.depends_on_callers(loader)
        )
        loaders = module.loaders
        for loader in loaders.all():
            if not loaders.workers(loader) or not loaders.has_no_worker_function(loader):
                continue
            drawing = loaders.drawing(loader)
            draws = [draw for draw in drawing.kept() if draw.generator is None]
            is_alone = loaders.workers(loader) == 1
            if not draws or drawing.reseeds or (is_alone and _main_process_draws(module, drawing)):
                continue
            named = min(draws, key=lambda draw: len(draw.call.conditions))  # one that is drawn in any case, if there is
            yield Finding(self.code, loader.span, _message(module, named, is_alone), partial(_fix, module, loader))


def _main_process_draws(module: ModuleView, drawing: Drawing) -> bool:
    """Whether the file draws from NumPy outside the workers too: then no two copies of its generator are the same."""
    outside = (facts for facts in module.functions if facts not in drawing.visited)
    return any(getattr(c.callee, "name", "") in NUMPY_DRAWS for facts in outside for c in facts.calls.values())


def _message(module: ModuleView, draw: Draw, is_alone: bool) -> str:
    where = module.where(draw.call.caller.module, draw.call.span.line)
    what = "every epoch draws the same numbers" if is_alone else "all draw the same numbers"
    declared = module.torch_version
    versions = (
        f"torch {declared[0]}.{declared[1]} is allowed" if declared else "the oldest torch allowed is not declared"
    )
    return (
        f"the workers draw from NumPy's global generator ({where}), which each of them copies before torch 1.9:"
        f" {what}; {versions}: give worker_init_fn=seed_worker, or declare torch >= 1.9"
    )


def _fix(module: ModuleView, loader: Loader) -> Fix:
    call = module.layout.call(loader.span)
    advice = "give worker_init_fn=seed_worker"
    is_given = loader.argument("worker_init_fn") is not None  # as None, perhaps from a dict
    if call is None or loader.is_subclass or (is_given and not any(k.arg == "worker_init_fn" for k in call.keywords)):
        return Fix(Safety.SHOW, advice)
    edits = seed_worker_edits(module, target_of(call))
    return Fix(Safety.SAFE if edits else Safety.SHOW, advice, edits)


def seed_worker_edits(module: ModuleView, call: Target) -> tuple[Edit, ...]:
    """Give a loader a worker function: one that the file has, or a new one as PyTorch's notes have it."""
    above = [facts for facts in module.facts.functions if facts.span.end_line < call.span.line]
    existing = next((facts for facts in above if _is_seed_worker(facts)), None)
    if existing is not None:
        return (SetKeyword(call, "worker_init_fn", existing.name),)
    layout = module.layout
    taken = layout.top_level_names()
    name = next(n for n in ("seed_worker", "seed_loader_worker", "seed_data_loader_worker") if n not in taken)
    imports: list[Edit] = []
    spelled: dict[str, str] = {}
    for library in ("torch", "numpy", "random"):
        found = layout.spelling(library)
        if found is None and (library in taken or not layout.can_import(library)):
            continue  # the name means something else here, or is imported again below
        if found is None:
            imports.append(AddImport(library))
        spelled[library] = found or library
    if "torch" not in spelled or "numpy" not in spelled:
        return ()
    lines = [
        f"def {name}(worker_id):",
        f"    worker_seed = {spelled['torch']}.initial_seed() % 2**32",
        f"    {spelled['numpy']}.random.seed(worker_seed)",
    ]
    if "random" in spelled:
        lines.append(f"    {spelled['random']}.seed(worker_seed)")
    return (AddHelper(name, "\n".join(lines)), SetKeyword(call, "worker_init_fn", name), *imports)


def _is_seed_worker(facts: FunctionFacts) -> bool:
    """Whether a function of the file seeds NumPy in a worker from torch's seed."""
    if facts.owner is not None or facts.parent is None or not facts.parent.is_module or len(facts.parameters) != 1:
        return False
    called = {getattr(call.callee, "name", "") for call in facts.calls.values()}
    return {"numpy.random.seed", "torch.initial_seed"} <= called and "worker" in facts.name + facts.parameters[0]
