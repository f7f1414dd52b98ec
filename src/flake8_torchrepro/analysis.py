"""The whole pipeline on one screen: source, facts, findings."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .finding import Finding
from .flow.program import Program
from .project.declared import declared
from .project.project import Project
from .project.versions import oldest_torch
from .rule import Rule, all_rules
from .settings import Settings
from .source import Source


def rules_for(text: str, settings: Settings) -> list[Rule]:
    """The rules that were asked for and that a text may break: where there are none, it need not even be parsed."""
    wanted = (rule for rule in all_rules() if settings.wants(rule.code) and rule.is_live(settings.torch_version))
    return [rule for rule in wanted if any(word in text for word in rule.words) and rule.triggers.search(text)]


def effective(settings: Settings, path: Path) -> Settings:
    """The settings that count for a file: what was not chosen is what its project declares. Ask before ``rules_for``."""
    return _effective(settings, Project.of(path, settings.root).root)


@functools.cache
def _effective(settings: Settings, root: Path) -> Settings:
    said = declared(root)
    return replace(
        settings,
        root=root,
        torch_version=settings.torch_version or said.torch_version or oldest_torch(root),
        seeders=settings.seeders or said.seeders,
        guards=settings.guards or said.guards,
    )


@functools.cache
def _program(project: Project, settings: Settings) -> Program:
    return Program(settings, project)


def program_for(path: Path, settings: Settings) -> Program:
    """The program around a file: one for each project, which remembers what it has read."""
    return _program(Project.of(path, settings.root), replace(settings, select=(), ignore=()))


def analyze(
    source: Source, settings: Settings, program: Program | None = None, rules: Sequence[Rule] | None = None
) -> list[Finding]:
    """The findings of one file, by place. ``program`` holds what is known of other files (None: nothing,
    ``program_for`` gives the one of the file's project).

    ``rules`` are those that ``rules_for`` gave for the text, where the caller has asked already.
    """
    rules = rules_for(source.text, settings) if rules is None else rules
    if not rules:
        return []
    program = program or Program(settings)
    view = program.view(source)
    found = {(f.span, f.code): f for rule in rules for f in rule.check(view)}
    program.release(view.facts)
    return sorted(found.values(), key=lambda f: (f.span, f.code))
