"""What is raised when a repair cannot be made exactly."""

from __future__ import annotations

from ..edits import AddHelper, AddImport, Edit
from ..source import Target


class EditError(Exception):
    """An edit does not fit the text. The message says which edit and why; nothing has been changed."""

    def __init__(self, edit: Edit | None, reason: str) -> None:
        super().__init__(reason if edit is None else f"{_name(edit)}: {reason}")
        self.edit = edit
        self.reason = reason


def targets_of(edit: Edit) -> tuple[Target, ...]:
    """The nodes that an edit speaks of, the one it changes first."""
    return tuple(part for part in edit if isinstance(part, Target))


def _name(edit: Edit) -> str:
    kind = type(edit).__name__
    match edit:
        case AddImport(module, None):
            return f"{kind} {module}"
        case AddImport(module, name):
            return f"{kind} {name} from {module}"
        case AddHelper(name):
            return f"{kind} {name}"
        case _:
            return f"{kind} at line {targets_of(edit)[0].span.line}"
