"""Which files a rule has to look at, decided from their text alone: most files need not be followed at all."""

from __future__ import annotations

from .patterns import Pattern

REACH = 1000  # characters behind a word that still belong to its place


class Trigger:
    """A sign of a fault in a text: one of ``words``, at a place that ``near`` matches, in a file that has one of ``beside``.

    ``near`` is searched from the start of the word's line to ``REACH`` characters behind the word. A text without a match
    must not be able to have the fault.
    """

    def __init__(self, *words: str, near: Pattern | None = None, beside: tuple[str, ...] = ()) -> None:
        self.words, self.near, self.beside = words, near, beside

    def is_in(self, text: str) -> bool:
        """Whether the text has the sign."""
        if self.near is None:
            found = any(word in text for word in self.words)
        else:
            found = any(self._is_near(word, text) for word in self.words)
        return found and (not self.beside or any(word in text for word in self.beside))

    def _is_near(self, word: str, text: str) -> bool:
        at = text.find(word)
        while at >= 0:
            start = text.rfind("\n", 0, at) + 1
            if self.near is not None and self.near.search(text, start, at + len(word) + REACH):
                return True
            at = text.find(word, at + len(word))
        return False


# What several rules begin with.
BUILDS_RECURRENT_LAYER = Trigger("LSTM", "GRU", "RNN", near=Pattern(r"\b(LSTM|GRU|RNN)\b"))
SETS_EVALUATION_MODE = (
    Trigger(".eval", near=Pattern(r"\beval\b")),
    Trigger(".train", near=Pattern(r"\btrain\s*\(\s*(mode\s*=\s*)?(False|0|not\b|\*\*)")),
)
MAKES_LOADER = (
    Trigger("DataLoader", beside=("num_workers", "**")),
    Trigger("DataLoader", near=Pattern(r"DataLoader\s*\((?:[^,=]*,){5}")),  # the number of workers by position
)
