"""What the number that a worker is seeded with depends on: the worker's id, torch's base seed, or neither."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from ..patterns import Pattern
from .layout import Layout

ID, BASE, FRESH, FIXED, UNKNOWN = "worker id", "base seed", "fresh entropy", "fixed", "unknown"

VARIES = Pattern(r"epoch|step|iter(ation)?|global_step", re.IGNORECASE)
ENTROPY = Pattern(r"(time|os\.urandom|os\.getpid|secrets|uuid|datetime|multiprocessing|random\.SystemRandom)(\.|$)")
PASSES_THROUGH = frozenset({"int", "abs", "float", "round", "max", "min", "sum", "hash", "pow", "divmod", "str", "len"})
FIXED_CALLS = Pattern(r"(.*[._])?(get_)?(local_|global_)?(rank|world_size|num_workers)$")
SEEDERS = frozenset(
    {"numpy.random.seed", "random.seed", "torch.manual_seed", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all"}
)


class Seeding(NamedTuple):
    """One seeding call in a worker function: what it seeds, with what, and what that depends on."""

    call: ast.Call
    seeds: str
    argument: ast.expr
    depends: frozenset[str]


class WorkerSeeds:
    """The seeding calls of one worker function (or lambda)."""

    def __init__(
        self, layout: Layout, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, id_at: int
    ) -> None:
        self.layout, self.function = layout, function
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        self.id_name = names[id_at] if id_at < len(names) else ""
        self.parameters = {*names, *(a.arg for a in function.args.kwonlyargs)}
        self.assigned: dict[str, list[ast.expr]] = {}
        self._collect()

    def _body(self) -> Iterator[ast.AST]:
        """The nodes of the function itself, without those of functions inside it."""
        body: list[ast.AST] = (
            [self.function.body] if isinstance(self.function, ast.Lambda) else list(self.function.body)
        )
        while body:
            node = body.pop(0)
            yield node
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                body = [*ast.iter_child_nodes(node), *body]

    def _collect(self) -> None:
        for node in self._body():
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        for name in ast.walk(target):
                            if isinstance(name, ast.Name):
                                self.assigned.setdefault(name.id, []).append(value)
                case ast.AnnAssign(target=ast.Name(id=name_id), value=ast.expr() as value):
                    self.assigned.setdefault(name_id, []).append(value)
                case ast.AugAssign(target=ast.Name(id=name_id), value=value):
                    self.assigned.setdefault(name_id, []).append(value)

    def seedings(self) -> list[Seeding]:
        """The seeding calls, in order."""
        found = []
        for node in self._body():
            if isinstance(node, ast.Call):
                name = self._dotted(node.func)
                argument = node.args[0] if node.args else node.keywords[0].value if node.keywords else None
                if name in SEEDERS and argument is not None:
                    found.append(Seeding(node, name, argument, frozenset(self._depends(argument, frozenset()))))
        return found

    def _dotted(self, node: ast.expr) -> str:
        parts: list[str] = []
        at = node
        while isinstance(at, ast.Attribute):
            parts.append(at.attr)
            at = at.value
        if not isinstance(at, ast.Name):
            return ""
        parts.append(self.layout.imports.get(at.id, at.id))
        return ".".join(reversed(parts))

    def _depends(self, node: ast.expr, seen: frozenset[str]) -> set[str]:
        match node:
            case ast.Constant():
                return {FIXED}
            case ast.Name(id=name):
                return self._name(name, seen)
            case ast.Call():
                return self._call(node, seen)
            case ast.Attribute():
                return self._attribute(node, seen)
            case ast.Subscript():
                return self._depends(node.value, seen)
            case ast.BinOp():
                return self._depends(node.left, seen) | self._depends(node.right, seen)
            case ast.UnaryOp():
                return self._depends(node.operand, seen)
            case ast.IfExp():
                return self._depends(node.body, seen) | self._depends(node.orelse, seen)
            case ast.BoolOp():
                return {tag for value in node.values for tag in self._depends(value, seen)}
        return {UNKNOWN}

    def _name(self, name: str, seen: frozenset[str]) -> set[str]:
        if VARIES.search(name):
            return {UNKNOWN}
        if name in self.assigned and name not in seen:
            values = [self._depends(value, seen | {name}) for value in self.assigned[name]]
            found = {tag for tags in values for tag in tags}
            return found | ({ID} if name == self.id_name else set())
        if name == self.id_name:
            return {ID}
        return {FIXED}

    def _attribute(self, node: ast.Attribute, seen: frozenset[str]) -> set[str]:
        dotted = self._dotted(node)
        if VARIES.search(node.attr):
            return {UNKNOWN}
        inner = self._depends(node.value, seen)
        if "worker info" in inner:
            return {"seed": {BASE}, "id": {ID}, "num_workers": {FIXED}}.get(node.attr, {UNKNOWN})
        if dotted.startswith("torch.") or UNKNOWN in inner:
            return {UNKNOWN}
        return inner or {FIXED}

    def _call(self, node: ast.Call, seen: frozenset[str]) -> set[str]:
        name = self._dotted(node.func)
        if name.endswith("get_worker_info"):
            return {"worker info"}
        if name == "numpy.random.get_state":
            return {FIXED}  # its first word is a constant in a worker: torch seeds NumPy with an array
        if name.startswith(("torch.", "numpy.random.", "random.")) and name not in ("torch.tensor",):
            return {BASE}  # drawn from (or read of) what torch has seeded in this worker
        if ENTROPY.match(name):
            return {FRESH}
        if name in PASSES_THROUGH or name.rpartition(".")[2] in ("item", "SeedSequence", "uint32", "int64", "int32"):
            values = [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) and not name else [])]
            return {tag for value in values for tag in self._depends(value, seen)} or {UNKNOWN}
        if FIXED_CALLS.fullmatch(name):
            return {FIXED}
        return {UNKNOWN}


def repeats(seeding: Seeding) -> str:
    """How the seed repeats: ``workers`` (all get one), ``epochs`` (each epoch gets the same), or not at all."""
    if seeding.depends & {BASE, FRESH, UNKNOWN, "worker info"}:
        return ""
    return "epochs" if ID in seeding.depends else "workers"
