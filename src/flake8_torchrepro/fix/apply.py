"""Edits become text, in one pass over the tree."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

import libcst as cst

from ..edits import Edit
from ..source import Source
from .editor import Editor
from .errors import EditError
from .locate import locate

__all__ = ["EditError", "apply_edits"]


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with all the edits made; raises ``EditError`` where one of them cannot be made exactly."""
    try:
        source = Source(Path("<text>"), text, ast.parse(text))
        module = cst.parse_module(text)
        if module.code != text:
            raise EditError(None, "the text has characters that the editor would lose")
        result = _edited(module, source, tuple(dict.fromkeys(edits)))
        ast.parse(result)
    except (SyntaxError, ValueError, cst.ParserSyntaxError, cst.CSTValidationError, RecursionError) as error:
        raise EditError(None, f"the edited text would not be valid: {str(error).strip().splitlines()[0]}") from error
    return result


def _edited(module: cst.Module, source: Source, edits: tuple[Edit, ...]) -> str:
    editor = Editor(module, source, locate(module, source, edits), edits)
    result = module.visit(editor)
    editor.finish()
    return result.code
