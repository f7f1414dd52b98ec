"""Who imports whom, read from the text of the import statements alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_torchrepro.project.project import Project


def project_of(root: Path, files: dict[str, str]) -> Project:
    (root / ".git").mkdir()
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Project(root)


PACKAGE = {"pk/__init__.py": "", "pk/g.py": "", "pk/h.py": ""}


@pytest.mark.parametrize(
    "text",
    [
        "import pk.h",
        "import pk.h as h, os",
        "import os, pk.h",
        "import os, \\\n    pk.h as h",
        "from pk import h",
        "from pk import g, h as other",
        "from pk import g, \\\n    h",
        "from pk import (g, h)",
        "from pk import (\n    g,\n    h,\n)",
        "from pk import (g,  # the first\n    h)",
        "from pk import (  # both (of them)\n    g,\n    h,\n)",
        "from pk import(h)",
        "from pk.h import f",
        "from pk.h import*",
        "from pk.h import(f)",
        "from pk.h \\\n    import f",
        "from pk \\\n    .h import f",
        "from pk . h import f",
        "import os; from pk.h import f",
        "if True: from pk.h import f",
        "try: import pk.h\nexcept ImportError: pass",
        "def f():\n\tfrom pk.h import f",
        "\ffrom pk.h import f",
        "x = 'import'; from pk.h import f",
        "x = '''\nfrom pk import (\n'''\nfrom pk.h import f",
        "from importlib import import_module\nimport_module('pk.h')",
    ],
)
def test_how_an_import_is_written(tmp_path: Path, text: str) -> None:
    index = project_of(tmp_path, {**PACKAGE, "main.py": f"{text}\n"}).index
    assert str(tmp_path / "pk" / "h.py") in index.imported_by(str(tmp_path / "main.py"))
    assert index.mentioning(str(tmp_path / "pk" / "h.py"), {"import"}) == [str(tmp_path / "main.py")]


@pytest.mark.parametrize(
    "text", ["x = 1", "important = pk.h", "# from os import h", "import pkx.h", "from pk import gh"]
)
def test_what_imports_nothing_of_it(tmp_path: Path, text: str) -> None:
    index = project_of(tmp_path, {**PACKAGE, "main.py": f"{text}\n"}).index
    assert str(tmp_path / "pk" / "h.py") not in index.imported_by(str(tmp_path / "main.py"))


def test_a_module_that_imports_itself_is_found_by_its_neighbours(tmp_path: Path) -> None:
    files = {"tool.py": "import tool\n", "main.py": "import tool\n"}
    index = project_of(tmp_path, files).index
    assert index.imported_by(str(tmp_path / "tool.py")) == frozenset()
    assert index.imported_by(str(tmp_path / "main.py")) == {str(tmp_path / "tool.py")}


def test_modules_of_a_folder_that_is_no_package(tmp_path: Path) -> None:
    files = {
        "models/a.py": "",
        "models/b.py": "",
        "run.py": "import importlib\nimportlib.import_module('models.' + name)\n",
    }
    index = project_of(tmp_path, files).index
    assert index.imported_by(str(tmp_path / "run.py")) == {str(tmp_path / "models" / name) for name in ("a.py", "b.py")}
