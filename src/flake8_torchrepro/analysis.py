"""The whole pipeline on one screen: source, facts, findings."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from pathlib import Path

from .finding import Finding
from .flow.program import Program
from .project.declared import declared
from .project.project import Project
from .project.versions import torch_allowed
from .rule import Rule, all_rules
from .settings import Settings
from .source import Source
from .triggers import Trigger


def rules_for(text: str, settings: Settings) -> list[Rule]:
    """The rules that were asked for and that a text may break: where there are none, it need not even be parsed."""
    rules, triggers = _asked_for(all_rules(), settings)
    found = {trigger for trigger in triggers if trigger.is_in(text)}
    if not found:
        return []
    triggered = [rule for rule in rules if not found.isdisjoint(rule.triggers)]
    # (what the project requires is only read where it matters)
    return [
        r for r in triggered if r.torch_below is None or r.is_live(torch_allowed(settings.torch_version, settings.root))
    ]


@functools.cache
def _asked_for(every: tuple[Rule, ...], settings: Settings) -> tuple[list[Rule], list[Trigger]]:
    """The rules that some settings ask for, and their triggers, each once."""
    rules = [rule for rule in every if settings.wants(rule.code)]
    return rules, list(dict.fromkeys(trigger for rule in rules for trigger in rule.triggers))


def effective(settings: Settings, path: Path) -> Settings:
    """The settings that count for a file: what was not chosen is what its project declares. Ask before ``rules_for``."""
    return _effective(settings, Project.of(path, settings.root).root)


@functools.cache
def _effective(settings: Settings, root: Path) -> Settings:
    said = declared(root)
    return settings._replace(
        root=root,
        torch_version=settings.torch_version or said.torch_version,
        seeders=settings.seeders or said.seeders,
        guards=settings.guards or said.guards,
    )


@functools.cache
def _program(project: Project, settings: Settings) -> Program:
    return Program(settings, project)


def program_for(path: Path, settings: Settings) -> Program:
    """The program around a file: one for each project, which remembers what it has read."""
    return _program(Project.of(path, settings.root), settings._replace(select=(), ignore=()))


def prepare(paths: Iterable[Path], settings: Settings) -> None:
    """Read what all files of some paths will ask for: the rules, and who imports whom in their projects."""
    all_rules()
    projects = (Project.of(path / "any.py" if path.is_dir() else path, settings.root) for path in paths)
    for project in dict.fromkeys(projects):
        project.prepare()


def analyze(
    source: Source,
    settings: Settings,
    program: Program | None = None,
    rules: Sequence[Rule] | None = None,
    *,
    repairs: bool = True,
) -> list[Finding]:
    """The findings of one file, by place. ``program`` holds what is known of other files (None: nothing,
    ``program_for`` gives the one of the file's project).

    ``rules`` are those that ``rules_for`` gave for the text, where the caller has asked already. Without ``repairs`` the
    findings must not be asked for theirs.
    """
    rules = rules_for(source.text, settings) if rules is None else rules
    if not rules:
        return []
    program = program or Program(settings)
    view = program.view(source)
    found = {(f.span, f.code): f for rule in rules for f in rule.check(view)}
    if repairs:
        for finding in found.values():
            _ = finding.fix
    program.release(view.facts)
    return sorted(found.values(), key=lambda f: (f.span, f.code))
