"""Names and calls that cross from one file to another."""

from __future__ import annotations

import functools
import re

from ..patterns import Pattern
from ..project.project import Project
from ..triggers import Trigger
from .facts import Call, FunctionFacts, ModuleFacts, bind
from .hierarchy import Hierarchy
from .values import Atom, Class, Dotted, Function, Imported, Made, Value, value_of

MOST_SCRIPTS = 60
ASKS_DETERMINISM = ("determinis", "cudnn", "CUBLAS_WORKSPACE_CONFIG")
SWITCHES_MODES = (
    Trigger("no_grad", "inference_mode", "set_grad_enabled", "requires_grad"),
    Trigger(".eval(", near=Pattern(r"\.eval\(\s*\)")),
)


class Linking(Hierarchy):
    """Answers what an imported name is, who calls a function of another file, and which programs a file is part of."""

    def __init__(self, project: Project | None) -> None:
        super().__init__()
        self.project = project
        self.modules: dict[str, ModuleFacts] = {}
        self._static: dict[ModuleFacts, dict[str, Value]] = {}
        self._imported: dict[tuple[str, tuple[str, ...]], Imported] = {}
        self._resolved: dict[Imported, Value | None] = {}
        self._switching: dict[tuple[str, str], bool] = {}

    def module_at(self, path: str) -> ModuleFacts | None:
        """See ``program``."""
        raise NotImplementedError

    def summarise_all(self, facts: ModuleFacts) -> None:
        """See ``program``."""
        raise NotImplementedError

    def summarise(self, facts: FunctionFacts) -> bool:
        """See ``program``."""
        raise NotImplementedError

    def dotted(self, name: str) -> Dotted:
        """See ``program``."""
        raise NotImplementedError

    def scope_value(self, scope: FunctionFacts, name: str) -> Value | None:
        """See ``program``."""
        raise NotImplementedError

    # -- imported names ---------------------------------------------------------------

    def imported(self, module: ModuleFacts, name: str) -> Value:
        """What an imported name is: something of the project, to be resolved when it matters, or only its name."""
        located = self.project.imports.locate(module.path, name) if self.project is not None else None
        if located is None:
            return value_of(self.dotted(name))
        return value_of(self._import(name, located.path, located.rest))

    def _import(self, name: str, path: str, rest: tuple[str, ...]) -> Imported:
        found = self._imported.get((path, rest))
        if found is None:
            found = self._imported[(path, rest)] = Imported(name.lstrip("."), path, rest)
        return found

    def member(self, holder: Imported, name: str) -> Imported:
        """An attribute of an imported thing: a submodule of a package, or a name in it."""
        if not holder.rest and self.project is not None:
            inner = self.project.imports.submodule(holder.path, name)
            if inner is not None:
                return self._import(f"{holder.name}.{name}", inner, ())
        return self._import(f"{holder.name}.{name}", holder.path, (*holder.rest, name))

    def resolve(self, name: Imported) -> Value | None:
        """What an imported name of the project is; None where that cannot be found out."""
        if name not in self._resolved:
            self._resolved[name] = None  # a cycle of imports: nothing is known on the way
            self._resolved[name] = self._resolve(name)
        return self._resolved[name]

    def _resolve(self, name: Imported) -> Value | None:
        facts = self.module_at(name.path) if name.rest else None
        if facts is None:
            return None
        found = self._in_namespace(facts, name.rest[0])
        for attribute in name.rest[1:]:
            only = found.only if found is not None else None
            if isinstance(only, Class):
                method = self.method(only.facts, attribute)
                found = value_of(Function(method)) if method else self.class_attribute(only.facts, attribute)
            elif isinstance(only, Imported):
                found = self.resolve(self.member(only, attribute))
            elif isinstance(only, Made):
                found = facts.stores.get((only, attribute))
            else:
                return None
        return found

    def _in_namespace(self, facts: ModuleFacts, name: str) -> Value | None:
        """What a name is at the top level of a module: defined, imported, starred, or a submodule."""
        found = self._static[facts].get(name) or self.scope_value(facts.body, name)
        if found is not None:
            only = found.only
            if isinstance(only, Imported):
                return self.resolve(only) if only.rest else found
            return found
        starred = self.star_value(facts, name)
        if starred is not None:
            only = starred.only
            return self.resolve(only) if isinstance(only, Imported) else starred
        inner = self.project.imports.submodule(facts.path, name) if self.project is not None else None
        return value_of(self._import(name, inner, ())) if inner is not None else None

    def star_value(self, module: ModuleFacts, name: str) -> Value | None:
        """What a name is that only a star import of a project file can bring; None where none brings it."""
        for home in reversed(module.star_imports):
            located = self.project.imports.locate(module.path, home) if self.project is not None else None
            if located is None or located.rest or not self._mentions_name(located.path, name):
                continue
            candidate = self._import(f"{home.lstrip('.')}.{name}", located.path, (name,))
            if self.resolve(candidate) is not None:
                return value_of(candidate)
        return None

    def switches_modes(self, name: Imported) -> bool:
        """Whether the file that defines an imported name sets modes or gradients anywhere."""
        if self.project is None or not name.rest:
            return False
        key = (name.path, name.rest[0])
        if key not in self._switching:
            path = self.project.index.defining_file(*key)
            text = self.project.files.text(path) if path is not None else None
            self._switching[key] = text is not None and any(trigger.is_in(text) for trigger in SWITCHES_MODES)
        return self._switching[key]

    def _mentions_name(self, path: str, name: str) -> bool:
        text = self.project.files.text(path) if self.project is not None else None
        return text is not None and (name in text or "import *" in text)

    # -- callers and programs ---------------------------------------------------------------

    def importers(self, module: ModuleFacts, names: set[str]) -> list[ModuleFacts]:
        """The modules that import a module and mention a name of it, interpreted whole; tests are no callers."""
        if self.project is None:
            return []
        mentions = re.compile(r"\b(" + "|".join(sorted(map(re.escape, names))) + r")\b")
        index, files = self.project.index, self.project.files
        found = []
        for path in index.mentioning(module.path, names):
            if not index.is_test(path) and mentions.search(files.text(path) or ""):
                facts = self.module_at(path)
                if facts is not None and facts is not module:
                    self.summarise_all(facts)
                    found.append(facts)
        return found

    def link_calls(self, module: ModuleFacts, names: set[str]) -> None:
        """Tell the functions of other files which calls of a module, by some names, are calls of them."""
        wanted = names - module.linked
        module.linked |= wanted
        for function in (module.body, *module.functions) if wanted else ():
            for call in function.calls.values():
                if isinstance(call.callee, Imported) and not call.method and not wanted.isdisjoint(call.callee.rest):
                    found = self.resolve(call.callee)
                    for atom in found.atoms if found is not None else ():
                        self._link(call, atom)

    def _link(self, call: Call, atom: Atom) -> None:
        facts = atom.facts if isinstance(atom, Function) else None
        bound: Value | None = None
        if isinstance(atom, Class):
            facts = self.method(atom.facts, "__init__")
            bound = value_of(atom.facts.instance)
        if facts is not None and self.summarise(facts) and call not in facts.callers:
            call.bindings = bind(facts, call.arguments, bound)
            facts.callers.append(call)

    def programs_of(self, module: ModuleFacts) -> list[list[ModuleFacts]]:
        """For every script that reaches a module: the modules it reaches that may ask for determinism, this one too."""
        if self.project is None:
            return [[module]]
        index = self.project.index
        programs: list[list[ModuleFacts]] = []
        for script in index.scripts(module.path)[:MOST_SCRIPTS] if self._asking else ():
            modules = [module]
            for path in sorted(index.reach(script) & self._asking):
                facts = self.module_at(path) if path != module.path else None
                if facts is not None:
                    self.summarise_all(facts)
                    modules.append(facts)
            if modules not in programs:
                programs.append(modules)
        return programs or [[module]]

    @functools.cached_property
    def _asking(self) -> frozenset[str]:
        """The files of the project that speak of determinism at all."""
        if self.project is None:
            return frozenset()
        files = self.project.files
        return frozenset(p for p in files.all() if any(word in (files.text(p) or "") for word in ASKS_DETERMINISM))
