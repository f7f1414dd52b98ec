"""TRP302: loader workers that draw from a generator object made once, which every worker copies."""

from __future__ import annotations

from collections.abc import Iterator

from ..finding import Finding, Fix, Safety
from ..flow.draws import Draw
from ..flow.view import ModuleView
from ..rule import Bad, Good, Rule
from ..triggers import MAKES_LOADER

ADVICE = (
    "make the generator in the worker, on first use: `if self.rng is None: info = torch.utils.data.get_worker_info();"
    " self.rng = np.random.default_rng(info.seed if info else None)`"
)


class WorkerRngObject(Rule):
    """A ``DataLoader`` with workers whose items draw from an object such as ``default_rng(0)`` that was made before."""

    code = "TRP302"
    name = "worker-rng-object"
    summary = "loader workers share copies of one generator object"
    why = (
        "A generator that the dataset (or a transform) makes once is copied into every worker with its state. All workers"
        " draw the same numbers, and each epoch starts from the same copy: seen with torch 2.13 for NumPy, Python and torch"
        " generators, on the instance and at module level. torch reseeds only the global ones."
    )
    advice = "Make the generator in the worker on first use, from `torch.utils.data.get_worker_info().seed`."
    bad = (
        Bad(
            """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index] + self.rng.normal()


loader = DataLoader(Noisy(np.zeros(9)), num_workers=2)  # <-
""",
        ),
    )
    good = (
        Good(
            """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        return self.rows[index] + rng.normal()


loader = DataLoader(Noisy(np.zeros(9)), num_workers=2)
""",
            "each item has a generator of its own",
        ),
    )
    triggers = MAKES_LOADER
    repairs = "shown"

    def check(self, module: ModuleView) -> Iterator[Finding]:
        """One finding a loader."""
        module.find_callers(
            loader.call.caller for loader in module.loaders.all() if module.loaders.depends_on_callers(loader)
        )
        loaders = module.loaders
        for loader in loaders.all():
            if not loaders.workers(loader) or loaders.worker_function(loader) is not None:
                continue
            drawing = loaders.drawing(loader)
            draws = [draw for draw in drawing.kept() if draw.generator is not None]
            if draws and not drawing.reseeds:
                yield Finding(self.code, loader.span, _message(module, draws[0]), Fix(Safety.SHOW, ADVICE))


def _message(module: ModuleView, draw: Draw) -> str:
    made = draw.generator
    assert made is not None
    where = f"line {made.span.line}" if made.module == module.facts.name else f"{made.module}:{made.span.line}"
    return (
        f"the workers' items draw from a generator made once ({made.maker!r}, {where}): every worker has a copy, so all"
        " draw the same numbers in every epoch; make it in the worker from get_worker_info().seed"
    )
