"""The architecture, held to: who may import whom, which third-party packages live where, and how long a file may be."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "flake8_torchrepro"
ROOT = Path(__file__).parent.parent / "src" / PACKAGE
LONGEST_FILE = 450

# From the ground up. A part may import parts below its own layer; what stands on one line of a ground layer may mix.
LAYERS = (
    {"patterns", "torch_api", "edits", "finding", "source", "settings", "triggers"},
    {"flow", "project"},
    {"rule"},
    {"guarding"},  # edits that several rules share
    {"rules"},
    {"analysis", "fix", "forking"},
    {"plugin", "cli"},
    {"__main__"},
)
MIXED = LAYERS[0] | LAYERS[1]
HEIGHT = {part: height for height, parts in enumerate(LAYERS) for part in parts}
DISCOVERY = ("rule", "rules")  # the registry looks into the folder of the rules; it knows none of them by name

# The only places where a package that is not the standard library's may be imported.
HOMES = {
    "libcst": "fix",
    "flake8": "plugin",
    "rich": "cli",
    "packaging": "project",
    "tomllib": "project",
    "tomli": "project",
}


def files() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


each_file = pytest.mark.parametrize("path", files(), ids=lambda path: path.relative_to(ROOT).as_posix())


def part_of_file(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def part_of(module: str) -> str:
    """``flake8_torchrepro.flow.state`` -> ``flow``; the package itself -> an empty string."""
    return module.removeprefix(PACKAGE).lstrip(".").partition(".")[0]


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def running_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below a node, without what only a type checker reads."""
    for child in ast.iter_child_nodes(node):
        if not is_type_checking(child):
            yield child
            yield from running_nodes(child)


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of everything that a file of the package imports when it runs."""
    package = [PACKAGE, *path.relative_to(ROOT).parts[:-1]]
    for node in running_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = [*package[: len(package) - level + 1]] if level else []
                stem = ".".join([*base, *([module] if module else [])])
                yield from ((node.lineno, f"{stem}.{alias.name}") for alias in names)


def may_import(own: str, other: str) -> bool:
    return own == other or HEIGHT[other] < HEIGHT[own] or {own, other} <= MIXED or (own, other) == DISCOVERY


@each_file
def test_imports_point_downward(path: Path) -> None:
    own = part_of_file(path)
    inside = [(line, name, part_of(name)) for line, name in imports(path) if name.startswith(f"{PACKAGE}.")]
    if own == "__init__":
        assert inside == [], "importing the package itself must cost nothing"
    elif own in HEIGHT:
        wrong = [(line, name) for line, name, other in inside if other in HEIGHT and not may_import(own, other)]
        assert wrong == [], f"{own} stands below or beside these"


def test_every_part_has_a_layer() -> None:
    assert {part_of_file(path) for path in files()} - {"__init__"} <= set(HEIGHT)


@each_file
def test_packages_stay_at_home(path: Path) -> None:
    at_home = {name for name, home in HOMES.items() if home == part_of_file(path)}
    allowed = {PACKAGE, *sys.stdlib_module_names} | at_home
    assert [(line, name) for line, name in imports(path) if name.partition(".")[0] not in allowed] == []


@each_file
def test_files_stay_readable(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE, "split it by what it knows"


def test_linting_loads_neither_editor_nor_torch() -> None:
    """What flake8 pays for on every run: the plugin and all rules, but nothing that only repairs need."""
    program = (
        "import sys; import flake8_torchrepro.plugin; from flake8_torchrepro.rule import all_rules; all_rules();"
        "print([name for name in ('libcst', 'torch', 'rich', 'numpy') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
