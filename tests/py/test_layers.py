"""The house keeps its order: imports go down, IREE's names stay in one room, a file has a name of its own.

Every rule is a function from a source tree to a list of offences; each is also run on a tree made to break it.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

FOLDERS = {
    "fissile": "fissile",
    "dialect": "fissile.dialect",
    "passes": "fissile.passes",
    "pipelines": "fissile.pipelines",
}
"""Folder -> import package, as `package-dir` in pyproject.toml maps them (test_packaging checks the wheel)."""

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

EMPTY_NAMES = {
    "common",
    "handler",
    "handlers",
    "helper",
    "helpers",
    "manager",
    "managers",
    "misc",
    "util",
    "utils",
}
LONGEST_FILE = 400
MOST_MODULES = 15

IREE_TOOLS = {
    "iree-compile",
    "iree-opt",
    "iree-run-module",
    "iree-import-onnx",
    "iree-base-compiler",
    "iree-base-runtime",
    "iree-benchmark-module",
    "iree-lld",
    "iree-link",
    "iree-ir-tool",
    "iree-turbine",
}
"""Programs and distributions, which are no passes, phases or flags."""

IREE_PHASES = {
    "global-optimization",
    "dispatch-creation",
    "executable-sources",
    "executable-configurations",
    "executable-targets",
}
"""Those of IREE's phases whose names cannot be meant otherwise ("flow" or "hal" can)."""

NAMES_ALLOWED = {
    # (file, name): help texts and sources of a limit, read by people and never given to IREE.
    ("fissile/cli/commands/check.py", "--iree-flags"),
    ("fissile/cli/command_line/checking.py", "iree-flags"),
    ("fissile/cli/command_line/checking.py", "--iree-flags"),
    ("fissile/cli/command_line/checking.py", "--iree-input-type"),
    ("fissile/cli/command_line/compiling.py", "--iree-hal-target-device"),
    ("fissile/cli/command_line/compiling.py", "--iree-rocm-target"),
    ("fissile/cli/commands/audit.py", "--iree-flags"),
    ("fissile/rules/audit.py", "--iree-input-type"),
    ("fissile/rules/audit.py", "--iree-preprocessing-pass-pipeline"),
    ("fissile/rules/audit.py", "--iree-flags"),
    ("fissile/rules/audit.py", "--iree-torch-decompose-complex-ops"),
    ("fissile/rules/input.py", "--iree-cuda-target"),
    ("fissile/rules/input.py", "iree-codegen-linalg-to-spirv-pipeline"),
    ("fissile/rules/legality.py", "iree-dispatch-creation-pipeline"),
    ("fissile/rules/input.py", "--iree-hal-target-device"),
    ("fissile/rules/storage.py", "--iree-opt-strip-assertions"),
    ("passes/failures/narrow/narrow_storage.py", "--iree-vulkan-target"),
    ("fissile/target.py", "--iree-llvmcpu-stack-allocation-limit"),
}


@dataclass(frozen=True)
class Module:
    """One source file: ``name`` is its import name, ``path`` is relative to the tree's root."""

    path: str
    name: str
    is_package: bool
    tree: ast.Module
    lines: int

    @property
    def package(self) -> str:
        return self.name if self.is_package else self.name.rpartition(".")[0]


def modules_of(root: Path) -> list[Module]:
    """Every Python file of the tree's four folders."""
    found = []
    for folder, package in FOLDERS.items():
        for file in sorted((root / folder).rglob("*.py")):
            parts = [package, *file.relative_to(root / folder).with_suffix("").parts]
            is_package = parts[-1] == "__init__"
            text = file.read_text()
            found.append(
                Module(
                    str(file.relative_to(root)),
                    ".".join(parts[:-1] if is_package else parts),
                    is_package,
                    ast.parse(text, str(file)),
                    text.count("\n"),
                )
            )
    return found


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


IREE_NAME = re.compile(r"(?<![\w./-])(?:--)?iree-[a-z0-9]+(?:-[a-z0-9]+)*(?![\w/])")


def _docstrings(tree: ast.Module) -> set[int]:
    """The ids of all string nodes that stand alone as a statement: docstrings, also below assignments."""
    return {
        id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)
    }


MANUAL_PAGES = ("fissile/rules/", "passes/failures/")
"""Their texts and programs name attributes as a user writes them."""
IREE_ATTRIBUTE = re.compile(r"#(?:iree_\w+|hal|stream|flow|util|vm)\.\w+")


def iree_names_in(module: Module) -> Iterator[tuple[int, str]]:
    docstrings = _docstrings(module.tree)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            for name in IREE_NAME.findall(node.value):
                if name not in IREE_TOOLS:
                    yield node.lineno, name
            if node.value in IREE_PHASES:
                yield node.lineno, node.value
            if not module.path.startswith(MANUAL_PAGES):
                for name in IREE_ATTRIBUTE.findall(node.value):
                    yield node.lineno, name


def stray_iree_names(modules: list[Module], allowed: set[tuple[str, str]]) -> list[str]:
    return [
        f"{module.path}:{line}: spells IREE's '{name}'; give it a name in passes/iree/"
        for module in modules
        if layer_of(module.name) != "IREE"
        for line, name in iree_names_in(module)
        if (module.path, name) not in allowed
    ]


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


def empty_names(modules: list[Module]) -> list[str]:
    return [
        f"{m.path}: '{part}' says nothing about what it decides"
        for m in modules
        for part in Path(m.path).with_suffix("").parts
        if part in EMPTY_NAMES
    ]


def long_files(modules: list[Module]) -> list[str]:
    return [f"{m.path}: {m.lines} lines, {LONGEST_FILE} allowed" for m in modules if m.lines > LONGEST_FILE]


def crowded_folders(modules: list[Module]) -> list[str]:
    counts = Counter(str(Path(m.path).parent) for m in modules if not m.is_package)
    return [
        f"{f}: {n} modules, {MOST_MODULES} allowed" for f, n in sorted(counts.items()) if n > MOST_MODULES
    ]


# --- the tree ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tree() -> list[Module]:
    found = modules_of(ROOT)
    assert {m.path.split("/")[0] for m in found} == set(
        FOLDERS
    )  # else every rule below would hold for nothing
    return found


def none_of(offences: list[str]) -> None:
    assert not offences, "\n" + "\n".join(offences)


def test_imports_go_down(tree):
    none_of(upward_imports(tree))


def test_no_module_is_part_of_a_new_cycle(tree):
    none_of(new_cycles(tree, KNOWN_CYCLES))
    cycles = import_cycles(tree)
    assert len(cycles) <= len(KNOWN_CYCLES)


def test_the_vocabulary_is_plain_data(tree):
    none_of(compiler_imports_in_the_vocabulary(tree))


def test_every_package_has_a_layer(tree):
    none_of(packages_without_a_layer(tree))


def test_irees_names_stand_in_pipelines_iree_only(tree):
    none_of(stray_iree_names(tree, NAMES_ALLOWED))


def test_no_allowance_is_left_over(tree):
    used = {(m.path, name) for m in tree for _, name in iree_names_in(m)}
    assert NAMES_ALLOWED - used == set()


def test_files_are_named_by_what_they_decide(tree):
    none_of(empty_names(tree))


def test_files_stay_short(tree):
    none_of(long_files(tree))


def test_no_folder_is_crowded(tree):
    none_of(crowded_folders(tree))


# --- the rules themselves --------------------------------------------------------------------------------------------


def _tree(root: Path, files: dict[str, str]) -> list[Module]:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        for folder in (root / path).relative_to(root).parents:
            if str(folder) != "." and not (root / folder / "__init__.py").exists():
                (root / folder / "__init__.py").write_text("")
    return modules_of(root)


FITTING = {
    "fissile/quantity.py": "import enum\n",
    "fissile/finding.py": "from .quantity import Bytes\nfrom . import quantity\n",
    "fissile/__init__.py": "from .pipelines.session import Session\n",
    "fissile/cli/main.py": "from fissile.pipelines.report import text\nimport fissile\n",
    "dialect/ops.py": "from fissile import finding\n",
    "passes/definition.py": "import fissile.dialect.ops\n",
    "passes/analysis/facts.py": "from ..definition import Pass\nfrom fissile.dialect import ops\n",
    "passes/checks/fit.py": "from ..analysis import facts\nfrom fissile.passes.definition import Pass\n",
    "passes/remedies/cut.py": "from ..checks.fit import check\n",
    "pipelines/session.py": '"""Runs `--iree-x-y`."""\nfrom fissile.passes.iree.phases import PHASES\nTOOL = "iree-compile"\n',
    "passes/iree/phases.py": 'PHASES = ("global-optimization",)\nFLAG = "--iree-hal-x"\n',
    "pipelines/report/text.py": "from ..session import Session\n",
}


def test_a_tree_in_order_is_left_in_peace(tmp_path):
    modules = _tree(tmp_path, FITTING)
    assert upward_imports(modules) == []
    assert compiler_imports_in_the_vocabulary(modules) == []
    assert packages_without_a_layer(modules) == []
    assert stray_iree_names(modules, set()) == []
    assert empty_names(modules) == []
    assert long_files(modules) == []
    assert crowded_folders(modules) == []


@pytest.mark.parametrize(
    "path, text, line",
    [
        ("fissile/finding.py", "from fissile.dialect.ops import Op\n", 1),
        ("fissile/finding.py", "\nfrom .dialect import ops\n", 2),
        ("fissile/finding.py", "import fissile\n", 1),
        ("fissile/finding.py", "from fissile import Session\n", 1),
        ("dialect/ops.py", "from fissile.passes import definition\n", 1),
        ("passes/definition.py", "from . import checks\n", 1),
        ("passes/definition.py", "from .checks.fit import check\n", 1),
        ("passes/analysis/facts.py", "def late():\n    from ..checks import fit\n", 2),
        ("passes/checks/fit.py", "if TYPE_CHECKING:\n    import fissile.passes.remedies.cut as c\n", 2),
        ("passes/remedies/cut.py", "from fissile.pipelines.session import Session\n", 1),
        (
            "passes/remedies/cut.py",
            'import importlib\nimportlib.import_module("fissile.pipelines.session")\n',
            2,
        ),
        ("passes/iree/phases.py", "from fissile.pipelines.session import Session\n", 1),
        ("pipelines/session.py", "from .report.text import render\n", 1),
        ("pipelines/session.py", "from fissile.cli import main\n", 1),
    ],
)
def test_an_import_that_goes_up_is_found(tmp_path, path, text, line):
    offences = upward_imports(_tree(tmp_path, {**FITTING, path: text}))
    assert len(offences) == 1 and offences[0].startswith(f"{path}:{line}: ")


def test_a_cycle_through_a_late_import_is_found_and_can_be_allowed(tmp_path):
    files = {
        **FITTING,
        "passes/analysis/facts.py": "from .sizes import size\n",
        "passes/analysis/sizes.py": "def size():\n    from .facts import Pass\n",
        "passes/analysis/typed.py": "if TYPE_CHECKING:\n    from .facts import Pass\n",
    }
    modules = _tree(tmp_path, files)
    home = "fissile.passes.analysis"
    assert import_cycles(modules) == [{f"{home}.facts", f"{home}.sizes"}]
    assert len(new_cycles(modules, ())) == 1 and new_cycles(modules, ((home,),)) == []


@pytest.mark.parametrize(
    "path, text, name",
    [
        ("pipelines/session.py", 'F = "--iree-hal-target-device=vulkan"\n', "--iree-hal-target-device"),
        ("pipelines/session.py", 'F = f"builtin.module(iree-codegen-x{1})"\n', "iree-codegen-x"),
        ("passes/remedies/cut.py", 'P = "iree-flow-a,iree-compile"\n', "iree-flow-a"),
        ("fissile/cli/main.py", 'run(to="dispatch-creation")\n', "dispatch-creation"),
        ("passes/analysis/facts.py", 'T = "#hal.executable<x>"\n', "#hal.executable"),
    ],
)
def test_a_stray_iree_name_is_found_and_can_be_allowed(tmp_path, path, text, name):
    modules = _tree(tmp_path, {**FITTING, path: text})
    offences = stray_iree_names(modules, set())
    assert len(offences) == 1 and f"'{name}'" in offences[0] and offences[0].startswith(f"{path}:1: ")
    assert stray_iree_names(modules, {(path, name)}) == []


def test_the_other_rules_find_what_they_are_for(tmp_path):
    modules = _tree(
        tmp_path,
        {
            **FITTING,
            "fissile/quantity.py": "from iree.compiler import ir\n",
            "passes/checks/utils.py": "",
            "passes/guesses/x.py": "",
            "passes/analysis/proof/z.py": "",  # a room inside a layer is part of that layer
            "pipelines/long.py": "pass\n" * (LONGEST_FILE + 1),
            **{f"dialect/op{n}.py": "" for n in range(MOST_MODULES)},
        },
    )
    assert [o.split(":")[0] for o in compiler_imports_in_the_vocabulary(modules)] == ["fissile/quantity.py"]
    assert [o.split(":")[0] for o in empty_names(modules)] == ["passes/checks/utils.py"]
    assert [o.split(":")[0] for o in packages_without_a_layer(modules)] == ["fissile.passes.guesses"]
    assert [o.split(":")[0] for o in long_files(modules)] == ["pipelines/long.py"]
    assert [o.split(":")[0] for o in crowded_folders(modules)] == ["dialect"]
