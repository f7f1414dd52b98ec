"""``# noqa`` against flake8 itself: a plugin that says as much about each line, and the same lines hidden by both."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from flake8_torchrepro.cli.noqa import drops_file, visible
from flake8_torchrepro.finding import Finding
from flake8_torchrepro.source import Source, span_of

CODES = ("TRP201", "TRP301")

PLUGIN = """\
import ast

class Everything:
    name, version = "everything", "1"

    def __init__(self, tree):
        self.tree = tree

    def run(self):
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                for code in ("TRP201", "TRP301"):
                    yield node.lineno, node.col_offset, code + " called", type(self)
"""

CONFIG = """\
[flake8:local-plugins]
extension = TRP = everything:Everything
paths = .
"""

COMMENTS = [
    "# noqa",
    "# NOQA",
    "# NoQa",
    "#noqa",
    "#  noqa",
    "# noqa ",
    "# noqa: TRP201",
    "# noqa:TRP201",
    "# noqa:  TRP201",
    "# noqa : TRP201",
    "# noqa: TRP",
    "# noqa: T",
    "# noqa: TRP2",
    "# noqa: TRP20",
    "# noqa: TRP2011",
    "# noqa: trp201",
    "# NOQA: TRP301",
    "# noqa: TRP201,TRP301",
    "# noqa: TRP201, TRP301",
    "# noqa: TRP201 TRP301",
    "# noqa: TRP201TRP301",
    "# noqa: TRP201 ,TRP301",
    "# noqa: TRP201;TRP301",
    "# noqa: TRP201, TRP",
    "# noqa: E501",
    "# noqa: E501,TRP201",
    "# noqa: E501 TRP301 because",
    "# noqa: TRP201 because of the paper",
    "# noqa:TRP201:TRP301",
    "# noqa:",
    "# noqa: ",
    "# noqa because",
    "# noqa-TRP201",
    "# noqa:E501  # noqa:TRP201",
    "# type: ignore # noqa",
    "# type: ignore  # noqa: TRP201",
    "# pylint: disable=all # NOQA:TRP301",
    "# noqa:\tTRP201",
    "# noqa: TRP201\t# more",
    "# no qa",
    "# noqatrp",
    "# flake8: noqa",
    "# ruff: noqa",
    "",
]

LAYOUTS = {
    "inside brackets": "call(\n    call(),  # noqa: TRP201\n    call(),\n)\n",
    "behind brackets": "call(\n    call(),\n    call(),\n)  # noqa\n",
    "before a backslash": "x = call() + \\\n    call()  # noqa: TRP301\n",
    "long string": 'x = call("""\n  text # noqa\n"""), call()\ny = call()\n',
    "string behind": 'call(); x = """\n\n"""; call()  # noqa: TRP201\ncall()\n',
    "f-string": 'x = f"""\n{call()}\n# noqa: TRP301\n"""\ncall()\n',
    "in a string": 'call("# noqa")\ncall("noqa")\n',
    "above": "# noqa\ncall()\n",
    "decorator": "@call()  # noqa\ndef f(x=call()):\n    call()\n",
    "block": "if call():  # noqa: TRP2\n    call()\n\nelse:\n    call()  # noqa: TRP3\n",
    "no newline at the end": "call()\ncall()  # noqa",
    "form feed": "call()\n\f\ncall()  # noqa\n\f# noqa\ncall()\n",
    "windows": "call()  # noqa\r\ncall()\r\nx = call() + \\\r\n  call()  # noqa\r\n",
    "umlauts": "x = 'äöü', call()  # noqa: TRP201\n",
    "comment lines between": "call(\n    # noqa\n    call(),\n)\n",
    "file, alone": "call()\n# flake8: noqa\n",
    "file, indented": "def f():\n    # FLAKE8: NOQA\n    call()\n",
    "file, with codes": "# flake8: noqa: TRP201\ncall()\n",
    "file, equals": "#  flake8: noqa\ncall()\n",
    "file, equals sign": "# flake8=noqa\ncall()\n",
    "file, at a line's end": "call()  # flake8: noqa\ncall()\n",
    "file, in a string": 'x = """\n# flake8: noqa\n"""\ncall()\n',
    "file, after a carriage return": "x = 1\r# flake8: noqa\rcall()\r",
}

LAYOUTS |= {f"comment {comment!r}": f"call()  {comment}\ncall()\n" for comment in COMMENTS}


@pytest.fixture(scope="module")
def said_by_flake8(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[tuple[int, str]]]:
    """Lines and codes that flake8 reports in each layout, all in one run."""
    folder = tmp_path_factory.mktemp("flake8")
    (folder / "everything.py").write_text(PLUGIN)
    (folder / "config").write_text(CONFIG)
    for number, text in enumerate(LAYOUTS.values()):
        (folder / f"layout{number}.py").write_bytes(text.encode())
    files = [f"layout{number}.py" for number in range(len(LAYOUTS))]
    form = ["--select", "TRP", "--format", "%(path)s %(row)d %(code)s"]
    command = [sys.executable, "-m", "flake8", "--config", "config", *form, *files]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    said: dict[str, set[tuple[int, str]]] = {name: set() for name in LAYOUTS}
    for line in run.stdout.splitlines():
        path, row, code = line.split()
        said[list(LAYOUTS)[files.index(path)]].add((int(row), code))
    return said


def read(text: str) -> Source:
    """The text as the command reads it."""
    return Source.parse(text, Path("layout.py"))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_hides_what_flake8_hides(layout: str, said_by_flake8: dict[str, set[tuple[int, str]]]) -> None:
    source = read(LAYOUTS[layout])
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call)]
    findings = [Finding(code, span_of(node), "called") for node in calls for code in CODES]
    kept = [] if drops_file(source.text) else visible(source, findings)
    assert {(finding.span.line, finding.code) for finding in kept} == said_by_flake8[layout]


def test_flake8_was_asked(said_by_flake8: dict[str, set[tuple[int, str]]]) -> None:
    """The comparison would be worth nothing if flake8 had reported nothing, or everything."""
    assert said_by_flake8["comment ''"] == {(line, code) for line in (1, 2) for code in CODES}
    assert said_by_flake8["comment '# noqa'"] == {(2, code) for code in CODES}


def test_a_file_without_comments_is_not_tokenised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenize.generate_tokens", None)
    source = read("call()\n")
    finding = Finding("TRP201", span_of(source.tree.body[0]), "called")
    assert visible(source, [finding]) == [finding]
    assert visible(read("call()  # noqa\n"), []) == []
