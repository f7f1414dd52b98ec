"""The text of one file and the places in it.

``ast`` counts columns in UTF-8 bytes and editors count characters; this module is the only place that converts.
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path
from typing import NamedTuple


class Span(NamedTuple):
    """Where a node stands: lines from 1, columns in UTF-8 bytes from 0, as ``ast`` counts them."""

    line: int
    column: int
    end_line: int
    end_column: int


class Target(NamedTuple):
    """A node of the tree, named so that another parser finds it too: its ``ast`` class and its place."""

    kind: str
    span: Span


def span_of(node: ast.stmt | ast.expr | ast.keyword | ast.arg | ast.excepthandler) -> Span:
    """The place of a node of a parsed file."""
    return Span(node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)


def target_of(node: ast.stmt | ast.expr) -> Target:
    """The name by which an edit speaks of a node."""
    return Target(type(node).__name__, span_of(node))


class Source:
    """One file (or the code of a notebook): its path as the user wrote it, its text, and the tree of the text."""

    def __init__(self, path: Path, text: str, tree: ast.Module) -> None:
        self.path, self.text, self.tree = path, text, tree

    @classmethod
    def parse(cls, text: str, path: Path | str = "<text>") -> Source:
        """Parse a text; raises ``SyntaxError``, ``ValueError`` (NUL bytes) or ``RecursionError`` as ``ast`` does."""
        return cls(Path(path), text, ast.parse(text))

    @functools.cached_property
    def lines(self) -> list[str]:
        """The lines of the text without their ends; line ``n`` of the tree is ``lines[n - 1]``."""
        # Only these three end a line for Python: str.splitlines would split at form feeds too.
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def character(self, line: int, column: int) -> int:
        """The column in characters, from 0, of a column in bytes."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))

    def segment(self, span: Span) -> str:
        """The text that a node covers, without indentation changes."""
        chosen = [line.encode() for line in self.lines[span.line - 1 : span.end_line]]
        chosen[-1] = chosen[-1][: span.end_column]
        chosen[0] = chosen[0][span.column :]
        return b"\n".join(chosen).decode(errors="replace")
