"""Where a ``no_grad`` goes: the smallest statements that hold the forward passes and no training."""

from __future__ import annotations

import ast
import functools
import re
from typing import NamedTuple

from .edits import AddDecorator, AddImport, Edit, RemoveStatement, WrapStatements
from .finding import Fix, Safety
from .flow.facts import FunctionFacts, Site, Slip
from .flow.frame import called_name
from .flow.layout import FunctionNode, Layout, LoopNode
from .flow.values import Function, Self
from .flow.view import ModuleView
from .patterns import Pattern
from .source import Span, span_of, target_of
from .torch_api.grad import LEAVES_GRAPH

TRAINS = Pattern(
    r"backward|(^|_)train(_\w+|ing\w*|er)?$|(^|_)fit|optimi[sz]e|(^|_)step$|learn|finetune|attack|advers|perturb"
    r"|autograd|requires_grad_|(^|_)grad$|jacob|hessian|adapt",
    re.IGNORECASE,
)
CONSUMERS = frozenset("list tuple set sum max min any all sorted dict stack cat extend update join mean array".split())
READS = LEAVES_GRAPH | {"float", "int", "len", "str", "bool", "time", "perf_counter", "cpu_count", "format", "join"}
LONGEST_LOOP = 20  # lines of a loop that is put under a guard whole
SHOWN = "put the forward pass under `with torch.no_grad():`"


class Region(NamedTuple):
    """Statements of one block, from the first to the last, that a guard may hold."""

    first: ast.stmt
    last: ast.stmt

    @property
    def span(self) -> Span:
        """The place of the region."""
        first, last = span_of(self.first), span_of(self.last)
        return Span(first.line, first.column, last.end_line, last.end_column)


class Guarding:
    """Plans guards for the faulty forward passes of one function."""

    def __init__(self, view: ModuleView, facts: FunctionFacts, sites: list[Site]) -> None:
        self.view, self.facts, self.sites = view, facts, sites
        self._holdable: dict[ast.stmt, bool] = {}
        self._planned: dict[Span, Region] | None = None
        self._safeties: dict[Span, Safety] = {}

    @functools.cached_property
    def layout(self) -> Layout:
        """The tree of the file."""
        return self.view.layout

    @functools.cached_property
    def node(self) -> ast.Call | None:
        """The call of one of the passes."""
        return next((n for n in (self.layout.call(s.span) for s in self.sites) if n is not None), None)

    @functools.cached_property
    def function(self) -> FunctionNode | None:
        """The function that the passes are in."""
        return self.layout.function(self.node) if self.node is not None else None

    def fix(self, site: Site) -> Fix:
        """The repair of one of the sites; all sites that one guard holds share its edits."""
        call = self.layout.call(site.span)
        if call is None or self._is_forbidden(call):
            return Fix(Safety.SHOW, SHOWN)
        if self.layout.spelling("torch.no_grad", call) is None and not self.layout.can_import("torch"):
            return Fix(Safety.SHOW, SHOWN)
        if self._meant_guard(site):
            return Fix(Safety.SHOW, "write the guard above it as a `with`")
        if self._planned is None:
            self._planned = self._regions()
        regions = self._planned
        guard, imports = self._guard()
        if self._wants_decorator(regions):
            assert self.function is not None
            edits: tuple[Edit, ...] = (AddDecorator(target_of(self.function), guard), *imports)
            return Fix(self._safety(span_of(self.function)), "decorate the function", edits)
        region = regions.get(site.span)
        if region is None:
            return Fix(Safety.SHOW, SHOWN)
        join = region.first is region.last and isinstance(region.first, ast.With)
        wrap = WrapStatements(target_of(region.first), target_of(region.last), guard, join=join)
        return Fix(self._safety(region.span), "put it under no_grad", (wrap, *imports))

    def _is_forbidden(self, call: ast.Call) -> bool:
        """Async functions and generators must not hold a guard across an await or a yield."""
        function = self.layout.function(call)
        if isinstance(function, ast.AsyncFunctionDef) or self._is_lazy(call):
            return True
        for at in self.layout.above(call):
            if isinstance(at, ast.Lambda) and not isinstance(self.layout.parent(at), (ast.Call, ast.keyword)):
                return True  # it runs elsewhere
            if isinstance(at, ast.ClassDef):
                return not any(isinstance(up, FunctionNode) for up in self.layout.above(call))
            if isinstance(at, FunctionNode):
                return False
        return False

    def _meant_guard(self, site: Site) -> bool:
        """Whether a guard that has no effect stands above, whose own repair holds the forward pass."""
        slips = [slip for slip in self.facts.slips.values() if slip.kind == "statement" and slip.span < site.span]
        return any(wrap_rest(self.view, slip).edits for slip in slips)

    def _is_lazy(self, call: ast.Call) -> bool:
        """Whether the pass runs only when somebody consumes a generator, perhaps outside the guard."""
        generator = next((at for at in self.layout.above(call) if isinstance(at, (ast.GeneratorExp, ast.stmt))), None)
        if not isinstance(generator, ast.GeneratorExp):
            return False
        consumer = self.layout.parent(generator)
        return not (isinstance(consumer, ast.Call) and called_name(consumer) in CONSUMERS)

    def _guard(self) -> tuple[str, tuple[Edit, ...]]:
        """The guard as the file would spell it, and the import that it needs."""
        spelled = self.layout.spelling("torch.no_grad", self.node)
        if spelled is not None:
            return f"{spelled}()", ()
        return "torch.no_grad()", (AddImport("torch"),)

    # -- regions ---------------------------------------------------------------

    def _regions(self) -> dict[Span, Region]:
        """Site -> the region of its guard; sites that stand beside each other share one."""
        tops: dict[Span, ast.stmt] = {}
        for site in self.sites:
            call = self.layout.call(site.span)
            top = self._top(call) if call is not None else None
            if top is not None:
                tops[site.span] = top
        regions: dict[Span, Region] = {}
        planned: dict[ast.stmt, Region] = {}
        for span, top in tops.items():
            if top not in planned:
                block = self.layout.block(top)
                wanted = set(tops.values())
                mates = [position for position, other in enumerate(block) if other in wanted]
                region = self._widest(block, block.index(top), mates)
                planned.update(dict.fromkeys(block[block.index(region.first) : block.index(region.last) + 1], region))
            regions[span] = planned[top]
        return regions

    def _widest(self, block: list[ast.stmt], at: int, mates: list[int]) -> Region:
        """From the first to the last statement of the block with a site, as long as nothing between them trains."""
        first = last = at
        for mate in reversed([m for m in mates if m < at]):
            if not all(self._may_hold(block[i]) and not self._is_definition(block[i]) for i in range(mate, first)):
                break
            if first - mate > 6:
                break
            first = mate
        for mate in [m for m in mates if m > at]:
            if not all(
                self._may_hold(block[i]) and not self._is_definition(block[i]) for i in range(last + 1, mate + 1)
            ):
                break
            if mate - last > 6:
                break
            last = mate
        return Region(block[first], block[last])

    def _is_definition(self, statement: ast.stmt) -> bool:
        return isinstance(statement, (FunctionNode, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global))

    def _top(self, call: ast.Call) -> ast.stmt | None:
        """The statement to wrap for a call: its own, or the outermost loop around it that may be held whole."""
        statement = self.layout.statement(call)
        if isinstance(statement, (FunctionNode, ast.ClassDef)):
            return None  # a decorator's argument or a default value
        top: ast.stmt | None = statement
        if self.layout.is_in_head(call, statement) and isinstance(statement, (ast.If, ast.While, ast.Match)):
            top = None
        if top is not None and not self._may_hold(top):
            return None
        for above in self.layout.above(statement):
            if isinstance(above, (FunctionNode, ast.Lambda, ast.ClassDef, ast.Module)):
                break
            if isinstance(above, (LoopNode, ast.With, ast.If, ast.Try)) and above is not statement:
                if not self._may_hold(above):
                    break
                if isinstance(above, LoopNode) or (
                    isinstance(above, ast.With) and top is not None and self._holds_only(above)
                ):
                    top = above
        return top

    def _holds_only(self, block: ast.With) -> bool:
        """Whether every statement of a ``with`` holds one of the sites, so that the guard may join it."""
        spans = [span_of(statement) for statement in block.body]
        return all(any(_inside(site.span, span) for site in self.sites) for span in spans)

    def _may_hold(self, statement: ast.stmt) -> bool:
        """Whether nothing in a statement trains, yields, awaits or switches modes for training."""
        known = self._holdable.get(statement)
        if known is None:
            known = self._holdable[statement] = self._may_be_held(statement)
        return known

    def _may_be_held(self, statement: ast.stmt) -> bool:
        if any("noqa" in line for line in self._lines_of_sites(statement)):
            return False  # a pass that its author wants left alone
        span = span_of(statement)
        needed = self.view.horizon.is_needed
        if any(_inside(site.span, span) and needed(site) for site in self.facts.sites.values()):
            return False
        for call in self.facts.calls.values():
            if isinstance(call.callee, Function) and _inside(call.span, span) and call.callee.facts.takes_gradients:
                return False
        return not any(_disturbs(node) for node in ast.walk(statement))

    def _lines_of_sites(self, statement: ast.stmt) -> list[str]:
        span = span_of(statement)
        return [self.view.source.lines[site.span.line - 1] for site in self.sites if _inside(site.span, span)]

    # -- decorators and safety ---------------------------------------------------------------

    def _wants_decorator(self, regions: dict[Span, Region]) -> bool:
        """Several regions, in a function that only evaluates."""
        function = self.function
        if function is None or isinstance(function, ast.AsyncFunctionDef) or self.facts.kind == "property":
            return False
        spans = {region.span for region in regions.values()}
        if len(regions) < len({site.span for site in self.sites}) or len(spans) < 2:
            return False
        return all(self._may_hold(statement) for statement in function.body) and not self.facts.is_generator

    def _safety(self, span: Span) -> Safety:
        """SAFE where the results are only read here, and nothing else that is computed under the guard leaves."""
        if span not in self._safeties:
            self._safeties[span] = self._judge_safety(span)
        return self._safeties[span]

    def _judge_safety(self, span: Span) -> Safety:
        for site in self.facts.sites.values():
            if _inside(site.span, span) and (site.escapes or self._keeps_graph(site)):
                return Safety.UNSAFE
        statements = [node for node in self._statements() if _inside(span_of(node), span)]
        if any(_asks_for_graph(node) for node in self._statements()) or self._leaves_other_graphs(statements, span):
            return Safety.UNSAFE
        return Safety.SAFE

    def _statements(self) -> list[ast.stmt]:
        scope: ast.AST = self.function if self.function is not None else self.view.source.tree
        return [node for node in ast.walk(scope) if isinstance(node, ast.stmt) and node is not scope]

    def _keeps_graph(self, site: Site) -> bool:
        """Whether the module's own forward stores something on the module, where others may find its graph."""
        for obj in site.objects:
            cls = self.view.program.class_of(obj)
            forward = self.view.program.method(cls, "forward") if cls is not None else None
            if forward is not None and any(isinstance(holder, Self) for holder, _ in forward.exit_heap):
                return True
        return False

    def _leaves_other_graphs(self, statements: list[ast.stmt], span: Span) -> bool:
        """Whether something else that is computed under the guard, and may have a graph, is read after it."""
        passes = {site.span for site in self.sites}
        results: set[str] = set()
        stores: list[tuple[str, ast.expr]] = []
        for node in statements:
            stores += _stores(node)
        for _ in range(3):  # what is computed from a pass is known not to be needed
            for name, value in stores:
                names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
                calls = {span_of(n) for n in ast.walk(value) if isinstance(n, ast.Call)}
                if names & results or calls & passes:
                    results.add(name)
        others = {name for name, value in stores if name not in results and not _is_plain(value)}
        if not others:
            return False
        scope: ast.AST = self.function if self.function is not None else self.view.source.tree
        after = (n for n in ast.walk(scope) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        return any(n.id in others and (n.lineno, n.col_offset) > span[2:] for n in after)


def _asks_for_graph(statement: ast.stmt) -> bool:
    """Whether a statement looks at the state of autograd."""
    for node in ast.walk(statement):
        is_read = isinstance(getattr(node, "ctx", None), ast.Load)
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if is_read and name in ("requires_grad", "grad_fn", "is_grad_enabled", "requires_grad_"):
            return True
    return False


def _stores(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    """The names that a statement gives a value (or adds one to), with the value."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            return [(n.id, value) for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        case ast.AugAssign(target=target, value=value):
            return [(n.id, value) for n in ast.walk(target) if isinstance(n, ast.Name)]
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=[*_, value])):
            return [(name, value)]
    return []


def _is_plain(value: ast.expr) -> bool:
    """Whether a value has surely no graph: constants, counts, and what is read out of tensors."""
    if isinstance(value, ast.Constant):
        return True
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and called_name(node) in READS:
            return True
    return not any(isinstance(node, (ast.Call, ast.BinOp, ast.Name, ast.Attribute)) for node in ast.walk(value))


def _inside(inner: Span, outer: Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def _disturbs(node: ast.AST) -> bool:
    if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
        return True
    if isinstance(node, ast.Call):
        func = node.func
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if name == "train":
            return not _is_false(node)
        return TRAINS.search(name) is not None
    return False


def _is_false(node: ast.Call) -> bool:
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value is False


def wrap_rest(module: ModuleView, slip: Slip) -> Fix:
    """Put the rest of the block under the guard that its author meant."""
    advice = "use `with` around the code that is meant"
    call = module.layout.call(slip.span)
    statement = module.layout.parent(call) if call is not None else None
    if call is None or not isinstance(statement, ast.Expr):
        return Fix(Safety.SHOW, advice)
    block = module.layout.block(statement)
    rest = block[block.index(statement) + 1 :]
    function = module.layout.function(statement)
    if not rest or isinstance(function, ast.AsyncFunctionDef) or any(_cannot_be_held(node) for node in rest):
        return Fix(Safety.SHOW, advice)
    wrap = WrapStatements(target_of(rest[0]), target_of(rest[-1]), ast.unparse(call))
    return Fix(Safety.UNSAFE, advice, (RemoveStatement(target_of(statement)), wrap))


def _cannot_be_held(statement: ast.stmt) -> bool:
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global)
    if isinstance(statement, definitions):
        return True
    return any(_disturbs(node) for node in ast.walk(statement))
