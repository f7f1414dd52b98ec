"""TRP303: a worker function whose seed repeats, among the workers or from epoch to epoch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..edits import AddImport, Edit, ReplaceExpression
from ..finding import Finding, Fix, Safety
from ..flow.dependence import Seeding, WorkerSeeds, repeats
from ..flow.facts import FunctionFacts
from ..flow.loaders import Loader
from ..flow.values import Const, Partial
from ..flow.view import ModuleView
from ..patterns import Pattern
from ..rule import Bad, Good, Rule
from ..source import span_of, target_of
from ..triggers import Trigger

NAMED_LIKE_ONE = Pattern(
    r"_*(seed_(\w+_)?worker\w*|worker_(init|seed)\w*|(\w+_)?worker_init(_fn|_func\w*)?|init_worker\w*|\w*worker_init_fn)"
)
REASONS = {
    "workers": "gives every worker the same seed, so that all workers draw the same numbers",
    "epochs": "gives each worker the same seed in every epoch, so that every epoch draws the same numbers",
}
WORKER_SEED = "{}.initial_seed() % 2**32"


class WorkerSeedRepeats(Rule):
    """``worker_init_fn`` functions that seed with a constant, or with the worker's id and nothing of torch's base seed."""

    code = "TRP303"
    name = "worker-seed-repeats"
    summary = "worker_init_fn seeds all workers, or all epochs, alike"
    why = (
        "Since 1.9 torch seeds every worker's generators from a base seed that it draws anew each epoch. A worker function"
        " that seeds with a constant makes all workers equal; one that seeds with the worker's id, or with the first word"
        " of NumPy's state (a constant in a worker), makes all epochs equal: run with torch 2.13, two epochs drew the same"
        " numbers."
    )
    advice = "Seed with `torch.initial_seed() % 2**32`, or leave the worker function out."
    bad = (
        Bad(
            """\
import numpy as np
import torch


def seed_worker(worker_id):
    np.random.seed(42 + worker_id)  # <-


def loader(data):
    return torch.utils.data.DataLoader(data, num_workers=4, worker_init_fn=seed_worker)
""",
            """\
import numpy as np
import torch


def seed_worker(worker_id):
    np.random.seed(torch.initial_seed() % 2**32)  # <-


def loader(data):
    return torch.utils.data.DataLoader(data, num_workers=4, worker_init_fn=seed_worker)
""",
        ),
    )
    good = (
        Good(
            """\
import numpy as np
import torch


def seed_worker(worker_id):
    np.random.seed(torch.initial_seed() % 2**32)


def loader(data):
    return torch.utils.data.DataLoader(data, num_workers=4, worker_init_fn=seed_worker)
""",
            "torch's base seed differs by worker and by epoch",
        ),
        Good(
            """\
import numpy as np
import torch


def seed_worker(worker_id):
    np.random.seed(torch.utils.data.get_worker_info().seed % 2**32)


def loader(data):
    return torch.utils.data.DataLoader(data, num_workers=4, worker_init_fn=seed_worker)
""",
            "the worker's own seed",
        ),
    )
    triggers = (Trigger("worker", near=Pattern(r"worker_init|worker_id|seed_worker|init_worker|worker_seed")),)
    repairs = "safe"

    def check(self, module: ModuleView) -> Iterator[Finding]:
        """One finding a worker function, at its first seeding call of the gravest kind."""
        used = module.loaders.worker_functions()
        for facts in module.functions:
            if facts in used or (_is_named_like_one(facts) and module.is_mentioned_elsewhere(facts)):
                yield from self._function(module, facts, used.get(facts, []))

    def _function(self, module: ModuleView, facts: FunctionFacts, loaders: list[Loader]) -> Iterator[Finding]:
        node = _node(module, facts)
        if node is None:
            return
        seeds = WorkerSeeds(module.layout, node, _id_position(module, facts, loaders))
        seedings = seeds.seedings()
        faulty = [(repeats(seeding), seeding) for seeding in seedings if repeats(seeding)]
        if len(faulty) < len(seedings) and any(
            not repeats(s) and s.seeds == f.seeds for s in seedings for _, f in faulty
        ):
            return  # seeded again with something that differs
        kinds = {kind for kind, _ in faulty}
        worst = "workers" if "workers" in kinds else "epochs" if kinds else ""
        if not worst or (worst == "epochs" and loaders and all(_is_persistent(module, loader) for loader in loaders)):
            return
        first = next(seeding for kind, seeding in faulty if kind == worst)
        message = (
            f"`{facts.name}` {REASONS[worst]}; seed with torch.initial_seed() % 2**32 (torch's own seed of the worker)"
        )
        if facts.kind == "lambda":
            message = message.replace("`<lambda>`", "this worker function")
        fix = _fix(module, seeds, [s for _, s in faulty])
        if facts.callers and fix.safety is Safety.SAFE:  # the main process calls it too, where the seed was its own
            fix = Fix(Safety.UNSAFE, fix.advice, fix.edits)
        yield Finding(self.code, span_of(first.call), message, fix)


def _is_named_like_one(facts: FunctionFacts) -> bool:
    return NAMED_LIKE_ONE.fullmatch(facts.name) is not None and facts.owner is None and bool(facts.parameters)


def _node(module: ModuleView, facts: FunctionFacts) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None:
    for node in module.layout.at(facts.span):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return node
    return None


def _id_position(module: ModuleView, facts: FunctionFacts, loaders: list[Loader]) -> int:
    """Which parameter receives the worker's id: the first that a ``partial`` does not fill."""
    for loader in loaders:
        given = module.loaders.worker_function(loader)
        for atom in module.resolver.resolve(given).atoms if given is not None else ():
            if isinstance(atom, Partial):
                filled = {name for name, _ in atom.arguments.keywords}
                free = [
                    i for i, n in enumerate(facts.parameters) if n not in filled and i >= len(atom.arguments.positional)
                ]
                return free[0] if free else 0
    return 1 if facts.kind in ("method", "class") else 0


def _is_persistent(module: ModuleView, loader: Loader) -> bool:
    given = loader.arguments.keyword("persistent_workers")
    only = module.resolver.resolve(given).only if given is not None else None
    return isinstance(only, Const) and only.value is True


def _fix(module: ModuleView, seeds: WorkerSeeds, faulty: list[Seeding]) -> Fix:
    """Put torch's seed where each faulty one is computed: in the call, or in the one assignment that it uses."""
    advice = "seed with torch.initial_seed() % 2**32"
    spelled = module.layout.spelling("torch", seeds.function)
    code = WORKER_SEED.format(spelled or "torch")
    edits: dict[Edit, None] = {}
    for seeding in faulty:
        place = seeding.argument
        if isinstance(place, ast.Name) and place.id in seeds.assigned:
            values = seeds.assigned[place.id]
            uses = sum(isinstance(n, ast.Name) and n.id == place.id for n in ast.walk(seeds.function)) - 1
            seeded = sum(isinstance(s.argument, ast.Name) and s.argument.id == place.id for s in faulty)
            if len(values) != 1 or uses != seeded or not _is_plain_assignment(module, values[0]):
                return Fix(Safety.SHOW, advice)
            place = values[0]
        elif any(isinstance(name, ast.Name) and name.id in seeds.assigned for name in ast.walk(place)):
            return Fix(Safety.SHOW, advice)
        edits[ReplaceExpression(target_of(place), code)] = None
    if spelled is None and not module.layout.can_import("torch"):
        return Fix(Safety.SHOW, advice)
    if spelled is None:
        edits[AddImport("torch")] = None
    return Fix(Safety.SAFE, advice, tuple(edits))


def _is_plain_assignment(module: ModuleView, value: ast.expr) -> bool:
    parent = module.layout.parent(value)
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or not isinstance(parent.targets[0], ast.Name):
        return False
    return not any(isinstance(node, ast.Name) and node.id == parent.targets[0].id for node in ast.walk(value))
