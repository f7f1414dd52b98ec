"""Imports and helpers find a natural place."""

from __future__ import annotations

import pytest
from fixing import check, code, expression, statement

from flake8_torchrepro.edits import AddHelper, AddImport, InsertStatement, SetKeyword
from flake8_torchrepro.fix.apply import EditError, apply_edits

OS = AddImport("os")
TORCH = AddImport("torch")
HELPER = AddHelper("seed", "def seed(i):\n    torch.manual_seed(i)\n")
DEFINITION = "def seed(i):\n    torch.manual_seed(i)\n"

STDLIB = [
    ("import os\n", "import os\n"),
    ("import os.path\n", "import os.path\n"),
    ("try:\n    import os\nexcept E:\n    x\n", "try:\n    import os\nexcept E:\n    x\n"),
    ("x = 1\n", "import os\n\nx = 1\n"),
    ("def f(): pass\n", "import os\n\n\ndef f(): pass\n"),
    ('"""Doc."""\nx = 1\n', '"""Doc."""\n\nimport os\n\nx = 1\n'),
    ('"""Doc."""\n\n\ndef f(): pass\n', '"""Doc."""\n\nimport os\n\n\ndef f(): pass\n'),
    ('"""Doc."""\n', '"""Doc."""\n\nimport os\n'),
    ("# coding: x\nx = 1\n", "# coding: x\nimport os\n\nx = 1\n"),
    ("# file\n\n# of x\nx = 1\n", "# file\n\nimport os\n\n# of x\nx = 1\n"),
    ("from __future__ import a\n\nx = 1\n", "from __future__ import a\n\nimport os\n\nx = 1\n"),
    ("import sys\n", "import os\nimport sys\n"),
    ("import ast\nimport sys\n", "import ast\nimport os\nimport sys\n"),
    ("import ast\nimport io\n", "import ast\nimport io\nimport os\n"),
    ("import ast, sys\nx = 1\n", "import ast, sys\nimport os\nx = 1\n"),
    ("from ast import a\nfrom sys import b\n", "import os\nfrom ast import a\nfrom sys import b\n"),
    ("import torch\n", "import os\n\nimport torch\n"),
    ("import io\n\nimport torch\n", "import io\nimport os\n\nimport torch\n"),
    ("import torch\nimport sys\nx = 1\n", "import torch\nimport os\nimport sys\nx = 1\n"),
    ("# of sys\nimport sys\n", "# of sys\nimport os\nimport sys\n"),
    ('"""Doc."""\n# of sys\nimport sys\n', '"""Doc."""\n# of sys\nimport sys\nimport os\n'),
    ('"""Doc."""\n\n# of torch\nimport torch\n', '"""Doc."""\n\nimport os\n\n# of torch\nimport torch\n'),
    ("__all__ = []\nimport sys\n", "__all__ = []\nimport os\nimport sys\n"),
    ("if a:\n    import os\nimport sys\n", "if a:\n    import os\nimport os\nimport sys\n"),
    ("x = 1\nimport torch\n", "import os\n\nx = 1\nimport torch\n"),
    ("def f():\n    os = 1\nimport io\n", "import os\n\n\ndef f():\n    os = 1\nimport io\n"),
    ("os.x()\nimport os\n", "import os\n\nos.x()\nimport os\n"),
]


@pytest.mark.parametrize(("before", "after"), STDLIB)
def test_import_of_the_standard_library(before: str, after: str) -> None:
    check(before, after, OS, OS)


THIRD = [
    ("import torch.nn as nn\n", "import torch\nimport torch.nn as nn\n"),
    ("import torch.nn\n", "import torch.nn\n"),
    ("import os\n", "import os\n\nimport torch\n"),
    ("import os\nfrom a import b\n", "import os\nimport torch\nfrom a import b\n"),
    ("import os\n\nimport numpy\nimport zlmdb\n", "import os\n\nimport numpy\nimport torch\nimport zlmdb\n"),
    ("import os\n\nfrom . import a\n", "import os\n\nfrom . import a\n\nimport torch\n"),
    ("x = 1\nimport numpy\n", "x = 1\nimport torch\nimport numpy\n"),
]


@pytest.mark.parametrize(("before", "after"), THIRD)
def test_import_of_another_package(before: str, after: str) -> None:
    check(before, after, TORCH)


@pytest.mark.parametrize(
    "text",
    [
        "os = 1\n",
        "from x import os\n",
        "import x as os\n",
        "import os\nos = 1\n",
        "def os(): pass\n",
        "with a as os: pass\n",
        "try: pass\nexcept E as os: pass\n",
        "for os in a: pass\n",
    ],
)
def test_a_name_that_means_something_else(text: str) -> None:
    with pytest.raises(EditError, match="AddImport os: os means something else here"):
        apply_edits(text, [OS])


def test_import_from() -> None:
    edit = AddImport("torch", "nn")
    check("from torch import nn\n", "from torch import nn\n", edit)
    check("import torch\nfrom a import b\n", "import torch\nfrom a import b\nfrom torch import nn\n", edit)
    with pytest.raises(EditError, match="AddImport nn from torch"):
        apply_edits("import torch.nn as nn\n", [edit])


def test_several_imports_with_the_statement_that_needs_them() -> None:
    text = "import torch\n\ntorch.use_deterministic_algorithms(True)\n"
    insert = InsertStatement(statement(text, "torch.use"), "os.environ.x(random)")
    after = (
        "import os\nimport random\n\nimport torch\n\nos.environ.x(random)\ntorch.use_deterministic_algorithms(True)\n"
    )
    check(text, after, AddImport("random"), insert, OS)


def test_a_helper_and_its_use() -> None:
    text = code("""
        import torch

        import mine  # here
        # about the loader
        loader = DataLoader(data, batch_size=8)
    """)
    after = code("""
        import torch

        import mine  # here


        def seed(i):
            torch.manual_seed(i)


        # about the loader
        loader = DataLoader(data, batch_size=8, init=seed)
    """)
    check(text, after, SetKeyword(expression(text, "DataLoader(data, batch_size=8)"), "init", "seed"), HELPER, HELPER)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1\n", DEFINITION + "\n\nx = 1\n"),
        ('"""Doc."""\n', '"""Doc."""\n\n\n' + DEFINITION),
        ("import a\n\n\n\nx = 1\n", "import a\n\n\n" + DEFINITION + "\n\nx = 1\n"),
        ("import a\nx = 1\nimport b\n\ny = 1\n", "import a\nx = 1\nimport b\n\n\n" + DEFINITION + "\n\ny = 1\n"),
        ("import a\nf(seed)\nimport b\n", "import a\n\n\n" + DEFINITION + "\n\nf(seed)\nimport b\n"),
        ("import a\n\n\ndef f():\n    pass\n", "import a\n\n\n" + DEFINITION + "\n\ndef f():\n    pass\n"),
        (
            "try:\n    import a\nexcept E:\n    b\nc\n",
            "try:\n    import a\nexcept E:\n    b\n\n\n" + DEFINITION + "\n\nc\n",
        ),
        ("import a\n\n# end\n", "import a\n\n\n" + DEFINITION + "\n# end\n"),
        ("import a", "import a\n\n\n" + DEFINITION.rstrip()),
        (
            "import a\n\nif __name__ == '__main__':\n    import b\n",
            "import a\n\n\n" + DEFINITION + "\n\nif __name__ == '__main__':\n    import b\n",
        ),
    ],
)
def test_the_place_of_a_helper(before: str, after: str) -> None:
    check(before, after, HELPER)


def test_a_helper_has_the_indent_and_line_ends_of_the_file() -> None:
    check("if a:\r\n\tb\r\n", "def seed(i):\r\n\ttorch.manual_seed(i)\r\n\r\n\r\nif a:\r\n\tb\r\n", HELPER)


@pytest.mark.parametrize(
    "text", ["def seed(): pass\n", "if a:\n    seed = 1\n", "from a import seed\n", "class seed: pass\n"]
)
def test_a_helper_whose_name_is_taken(text: str) -> None:
    with pytest.raises(EditError, match="AddHelper seed: the name seed is taken"):
        apply_edits(text, [HELPER])


def test_two_helpers() -> None:
    other = AddHelper("other", "def other(): pass")
    check("import a\n", "import a\n\n\n" + DEFINITION + "\n\ndef other(): pass\n", HELPER, other)
    with pytest.raises(EditError, match="another edit"):
        apply_edits("", [HELPER, AddHelper("seed", "def seed(): pass")])
