"""Imports go down the layers, name something that exists, and make no new cycle."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

from .source_tree import Module

LAYERS = (
    "vocabulary",
    "dialect",
    "IREE",
    "pass kit",
    "analysis",
    "checks",
    "remedies",
    "pipelines",
    "face",
)
"""Bottom to top. A module imports from its own layer and from those before it."""

PACKAGE_LAYERS = {
    "fissile.rules": "vocabulary",
    "fissile.rules.imports": "vocabulary",
    "fissile.start": "vocabulary",
    "fissile.dialect": "dialect",
    "fissile.passes": "pass kit",
    "fissile.passes.iree": "IREE",
    "fissile.passes.analysis": "analysis",
    "fissile.passes.checks": "checks",
    "fissile.passes.failures": "checks",
    "fissile.passes.remedies": "remedies",
    "fissile.pipelines": "pipelines",
    "fissile.pipelines.report": "face",
    "fissile.cli": "face",
    "fissile.api": "face",
}
"""A package that is not listed belongs to the nearest listed one around it."""

FREE_SUBPACKAGES = {
    "fissile.passes.analysis",
    "fissile.passes.checks",
    "fissile.passes.failures",
    "fissile.passes.remedies",
    "fissile.pipelines",
    "fissile.dialect",
    "fissile.cli",
    "fissile.api",
    "fissile.passes.iree",
    "fissile.pipelines.report",
}
"""Inside these a new package needs no layer of its own; elsewhere it has to be given one above."""


def layer_of(name: str) -> str:
    """The layer of the module or package ``name``."""
    if name in ("fissile", "fissile.__main__"):  # re-exports from every layer
        return "face"
    home = name
    while home not in PACKAGE_LAYERS and "." in home:
        home = home.rpartition(".")[0]
    return PACKAGE_LAYERS.get(home, "vocabulary")


def imports_of(module: Module, known: set[str]) -> Iterator[tuple[int, str]]:
    """Line and full name of everything ``module`` imports, inside functions and for type checkers too.

    `import_module("literal")` counts. Names that are looked up in a table at run time (the pass catalogue) do not:
    there the table is the seam between the layers.
    """
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                home = module.package.split(".")
                home = home[: len(home) - (node.level - 1)]
                base = ".".join([*home, base] if base else home)
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield node.lineno, inner if inner in known else base
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                yield node.lineno, node.args[0].value


def upward_imports(modules: list[Module]) -> list[str]:
    known = {m.name for m in modules}
    offences = []
    for module in modules:
        here = layer_of(module.name)
        for line, name in imports_of(module, known):
            if name != "fissile" and not name.startswith("fissile."):
                continue
            there = layer_of(name)
            if LAYERS.index(there) > LAYERS.index(here):
                offences.append(f"{module.path}:{line}: {here} imports {name}, which is {there}")
    return offences


def compiler_imports_in_the_vocabulary(modules: list[Module]) -> list[str]:
    known = {m.name for m in modules}
    return [
        f"{module.path}:{line}: the vocabulary is plain data and imports {name}"
        for module in modules
        if layer_of(module.name) == "vocabulary"
        for line, name in imports_of(module, known)
        if name.partition(".")[0] in ("iree", "numpy")
    ]


def packages_without_a_layer(modules: list[Module]) -> list[str]:
    offences = []
    for package in sorted({m.package for m in modules}):
        parents = [package.rsplit(".", n)[0] for n in range(1, package.count(".") + 1)]
        if package != "fissile" and package not in PACKAGE_LAYERS and not FREE_SUBPACKAGES & set(parents):
            offences.append(f"{package}: no layer; give it one in PACKAGE_LAYERS of {Path(__file__).name}")
    return offences


KNOWN_CYCLES = (
    (
        "fissile.passes.analysis.bounds",
        "fissile.passes.analysis.storage",
    ),  # what a value is, and what bounds it
    (
        "fissile.pipelines.audit",
        "fissile.pipelines.compile",
        "fissile.pipelines.numerics",
        "fissile.pipelines.process.supervisor",
    ),
    (
        "fissile.pipelines.compile.request",
        "fissile.pipelines.devices",
        "fissile.pipelines.process",
        "fissile.pipelines.targets",
    ),
)
"""Packages whose modules import each other, some of them late, inside a function. The list only gets shorter."""


def _for_type_checkers(tree: ast.Module) -> set[int]:
    """The lines of imports under `if TYPE_CHECKING`, which never run."""
    return {
        inner.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
        if isinstance(inner, (ast.Import, ast.ImportFrom))
    }


def import_cycles(modules: list[Module]) -> list[set[str]]:
    """Modules that import each other, directly or through others; imports inside functions count."""
    known = {m.name for m in modules if not m.is_package}
    imports: dict[str, set[str]] = {}
    for module in modules:
        if module.name in known:
            skipped = _for_type_checkers(module.tree)
            names = {name for line, name in imports_of(module, known) if line not in skipped}
            imports[module.name] = names & known - {module.name}

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        pending = list(imports[start])
        while pending:
            if (name := pending.pop()) not in seen:
                seen.add(name)
                pending += imports[name]
        return seen

    reach = {name: reached(name) for name in imports}
    cycles = {frozenset(b for b in reach[a] if a in reach[b]) for a in reach if a in reach[a]}
    return [set(cycle) for cycle in sorted(cycles, key=sorted)]


def new_cycles(modules: list[Module], allowed: tuple[tuple[str, ...], ...]) -> list[str]:
    return [
        "import each other: " + ", ".join(sorted(cycle))
        for cycle in import_cycles(modules)
        if not any(all(name.startswith(packages) for name in cycle) for packages in allowed)
    ]


def names_bound_in(module: Module) -> set[str]:
    """What ``module`` binds at its top level, in branches too."""
    bound: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    return bound


def imports_of_nothing(importing: list[Module], modules: list[Module]) -> list[str]:
    """Imports of fissile's own modules, or of names in them, that do not exist; late ones would fail only where they are run."""
    known = {m.name: m for m in modules}
    bound = {name: names_bound_in(m) for name, m in known.items()}
    offences = []
    for module in importing:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import):
                wanted = [(alias.name, "") for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                home = module.package.split(".")[: -(node.level - 1) or None] if node.level else []
                base = ".".join([*home, *([node.module] if node.module else [])])
                wanted = [(base, alias.name) for alias in node.names]
            else:
                continue
            for base, name in wanted:
                if base.partition(".")[0] != "fissile" or base == "fissile":
                    continue
                if base not in known:
                    offences.append(f"{module.path}:{node.lineno}: there is no {base}")
                elif name and name not in bound[base] and f"{base}.{name}" not in known:
                    if "__getattr__" not in bound[base]:
                        offences.append(f"{module.path}:{node.lineno}: {base} has no {name}")
    return offences


def names_that_iree_lacks(modules: list[Module]) -> list[str]:
    """Names read from IREE's Python modules that the installed IREE does not have. The bindings have no types for a type checker."""
    offences = []
    for module in modules:
        bound = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("iree.compiler")
            for alias in node.names
        }
        for node in ast.walk(module.tree):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in bound
            ):
                package, name = bound[node.value.id]
                try:
                    owner = getattr(importlib.import_module(package), name, None)
                    owner = owner or importlib.import_module(f"{package}.{name}")
                except ModuleNotFoundError as missing:
                    if (missing.name or "").startswith("iree.compiler"):
                        raise
                    continue  # IREE's importer of torch imports torch, which need not be here
                if not hasattr(owner, node.attr):
                    offences.append(f"{module.path}:{node.lineno}: {package}.{name} has no {node.attr}")
    return offences
