"""What the user chose, from the command line and from flake8's configuration, for each file."""

from __future__ import annotations

import difflib
import fnmatch
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..analysis import effective
from ..project.declared import declared
from ..rule import Rule, all_rules
from ..settings import Settings
from .config import Config, ConfigProblem, PerFile, normalized

FAMILY = "TRP"


class UnknownCode(Exception):
    """A code that no rule has, in words for the user."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The settings of a run and the exceptions for single files; small, so that it can be sent to other processes."""

    settings: Settings
    per_file: PerFile = ()
    exclude: tuple[str, ...] = ()
    noqa: bool = True
    unsafe: bool = False

    @classmethod
    def of(
        cls,
        config: Config,
        *,
        select: tuple[str, ...] | None = None,
        ignore: tuple[str, ...] | None = None,
        torch_version: tuple[int, int] | None = None,
        seeders: tuple[str, ...] | None = None,
        guards: tuple[str, ...] | None = None,
        root: Path | None = None,
        noqa: bool = True,
        unsafe: bool = False,
    ) -> Choices:
        """Join options and configuration: an option that is given replaces what the configuration says under its name."""
        select = config.select if select is None else select
        chosen = _ours((*(select or ()), *config.extend_select))
        dropped = (*(config.ignore if ignore is None else ignore), *config.extend_ignore)
        # Nobody who runs this command wants no rules: a `select` for other plugins selects ours too. The empty prefix
        # is weaker than any that is ignored, as flake8's own default is.
        settings = Settings(
            chosen if select and chosen else ("", *chosen),
            dropped,
            torch_version=torch_version or config.torch_version,
            seeders=config.seeders if seeders is None else seeders,
            guards=config.guards if guards is None else guards,
            root=root or config.root,
        )
        per_file = tuple((normalized(pattern, os.curdir), codes) for pattern, codes in config.per_file_ignores)
        return cls(settings, per_file, config.exclude, noqa and not config.disable_noqa, unsafe)

    def settings_for(self, path: str) -> Settings:
        """The settings of a file, with what its project declares."""
        return effective(self._chosen_for(path), Path(path))

    def _chosen_for(self, path: str) -> Settings:
        """Of all ``per-file-ignores`` that match, flake8 takes those of the longest pattern."""
        matching = [(pattern, codes) for pattern, codes in self.per_file if _matches(path, (pattern,))]
        if not matching:
            return self.settings
        _, codes = max(matching, key=lambda pair: len(pair[0]))
        return self.settings._replace(ignore=(*self.settings.ignore, *codes))

    def excludes(self, path: str) -> bool:
        """Whether flake8's configuration excludes a file or folder."""
        return bool(self.exclude) and _matches(path, self.exclude)


def require_declared(files: Iterable[str], choices: Choices) -> None:
    """Raise ``ConfigProblem`` for the first thing that is wrong in a ``[tool.torchrepro]`` of the files' projects."""
    for root in dict.fromkeys(choices.settings_for(file).root for file in files):
        problems = declared(root).problems if root is not None else ()
        if root is not None and problems:
            raise ConfigProblem(os.path.join(os.path.relpath(root), problems[0]).removeprefix(os.curdir + os.sep))


def require_known(prefixes: Iterable[str]) -> None:
    """Raise ``UnknownCode`` for the first prefix that belongs to no rule."""
    codes = [rule.code for rule in all_rules()]
    for prefix in prefixes:
        if not any(code.startswith(prefix) for code in codes):
            raise UnknownCode(_unknown(prefix, codes))


def rule_of(word: str) -> Rule:
    """The rule with a code or a name, however it is spelled."""
    rules = {rule.code: rule for rule in all_rules()}
    names = {rule.name: rule for rule in rules.values()}
    rule = rules.get(word.upper()) or names.get(word.lower())
    if rule is None:
        raise UnknownCode(_unknown(word, [*rules, *names]))
    return rule


def _unknown(word: str, known: list[str]) -> str:
    spelled = {name.upper(): name for name in known}
    nearest = difflib.get_close_matches(word.upper(), spelled, n=1, cutoff=0.0)
    hint = f"; the nearest is {spelled[nearest[0]]} (--explain lists them)" if nearest else ""
    return f"there is no rule {word}{hint}"


def _ours(prefixes: Iterable[str]) -> tuple[str, ...]:
    """The prefixes that can match one of our codes."""
    return tuple(p for p in prefixes if p.startswith(FAMILY) or FAMILY.startswith(p))


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether a name or the full path of a file matches a pattern."""
    name = os.path.basename(path)
    if name not in (os.curdir, os.pardir) and any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
        return True
    full = os.path.abspath(path)
    return any(fnmatch.fnmatch(full, pattern) for pattern in patterns)
