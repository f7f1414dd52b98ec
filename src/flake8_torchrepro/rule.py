"""What a rule is, and how rules are found: one file each in ``rules/``, complete or refused on import."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from .finding import Finding
from .triggers import Trigger

if TYPE_CHECKING:
    from .flow.view import ModuleView


class Bad(NamedTuple):
    """Code that the rule flags at its ``# <-`` comments; ``repaired`` is the text after its fix, an unsafe one too."""

    code: str
    repaired: str | None = None


class Good(NamedTuple):
    """Code that looks like the fault and is not; ``why`` says what makes the difference."""

    code: str
    why: str


class Rule:
    """One kind of fault. A subclass fills the class attributes and ``check``; docs, tests and --explain follow from it.

    ``torch_below`` is the first torch version in which the fault is gone; with none declared by the user such a rule
    fires if ``fires_undeclared``. ``view`` says whether facts are taken at a point of the flow or over the program.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    summary: ClassVar[str]  # one line for tables
    why: ClassVar[str]  # what it does to the user's result, with the source of the fact
    advice: ClassVar[str]  # what to write instead
    bad: ClassVar[tuple[Bad, ...]]
    good: ClassVar[tuple[Good, ...]]
    triggers: ClassVar[tuple[Trigger, ...]]  # a file without any of these signs cannot have the fault
    view: ClassVar[Literal["point", "program"]] = "point"
    uncovers: ClassVar[frozenset[str]] = frozenset()  # codes that a repair may rightly bring to light
    repairs: ClassVar[Literal["safe", "sometimes", "unsafe", "shown"]] = "sometimes"
    torch_below: ClassVar[tuple[int, int] | None] = None
    fires_undeclared: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        missing = [name for name in Rule.__annotations__ if not hasattr(cls, name)]
        if missing:
            raise TypeError(f"rule {cls.__name__} lacks {', '.join(missing)}")
        if not re.fullmatch(r"TRP\d{3}", cls.code):
            raise ValueError(f"rule {cls.__name__}: {cls.code!r} is not TRP and three digits")
        if not cls.bad or not cls.good or len(cls.why) < 40:
            raise ValueError(f"rule {cls.code} needs a bad example, a good one and a reason")

    def check(self, module: ModuleView) -> Iterator[Finding]:
        """Every finding of this kind in the module that is linted."""
        raise NotImplementedError

    @classmethod
    def is_live(cls, torch_version: tuple[int, int] | None) -> bool:
        """Whether the fault is real on the oldest torch that the user declared (None: nothing declared)."""
        if cls.torch_below is None:
            return True
        return cls.fires_undeclared if torch_version is None else torch_version < cls.torch_below


@functools.cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code. A rule that two files define is an error."""
    from . import rules

    for module in pkgutil.iter_modules(rules.__path__):
        importlib.import_module(f"{rules.__name__}.{module.name}")
    found = sorted(Rule.__subclasses__(), key=lambda rule: rule.code)
    codes = [rule.code for rule in found]
    if len(set(codes)) != len(codes):
        raise ValueError(f"a code is defined twice: {codes}")
    return tuple(rule() for rule in found)
