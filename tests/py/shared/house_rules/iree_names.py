"""What IREE calls things is spelled in one package."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .imports import layer_of
from .source_tree import Module

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
    ("fissile/cli/many_targets.py", "--iree-flags"),
    ("fissile/cli/command_line/checking.py", "iree-flags"),
    ("fissile/cli/command_line/checking.py", "--iree-flags"),
    ("fissile/cli/command_line/checking.py", "--iree-input-type"),
    ("fissile/cli/command_line/compiling.py", "--iree-hal-target-device"),
    ("fissile/cli/command_line/compiling.py", "--iree-rocm-target"),
    ("fissile/rules/audit.py", "--iree-input-type"),
    ("fissile/rules/audit.py", "--iree-preprocessing-pass-pipeline"),
    ("fissile/rules/audit.py", "--iree-flags"),
    ("fissile/rules/audit.py", "--iree-torch-decompose-complex-ops"),
    ("fissile/rules/input.py", "--iree-cuda-target"),
    ("fissile/rules/input.py", "--iree-execution-model"),
    ("fissile/rules/input.py", "iree-codegen-linalg-to-spirv-pipeline"),
    ("fissile/rules/legality.py", "iree-dispatch-creation-pipeline"),
    ("fissile/rules/input.py", "--iree-hal-target-device"),
    ("fissile/rules/storage.py", "--iree-opt-strip-assertions"),
    ("passes/failures/narrow/narrow_storage.py", "--iree-vulkan-target"),
    ("passes/remedies/decompose/decompose_attention.py", "iree_linalg_ext.attention"),
    ("passes/remedies/decompose/decompose_movement.py", "iree_linalg_ext.gather"),
    ("passes/remedies/decompose/unroll_windows.py", "iree-preprocessing-convert-conv-to-channels-last"),
    ("passes/remedies/fusion/use_results.py", "util.optimization_barrier"),
    ("passes/remedies/fusion/use_results.py", "iree_linalg_ext.fft"),
    ("passes/remedies/host/fold_host_floats.py", "util.initializer"),
    ("passes/remedies/loops/hide_sizes.py", "util.optimization_barrier"),
    ("fissile/target.py", "--iree-llvmcpu-stack-allocation-limit"),
}


IREE_NAME = re.compile(r"(?<![\w./-])(?:--)?iree-[a-z0-9]+(?:-[a-z0-9]+)*(?![\w/])")


def _docstrings(tree: ast.Module) -> set[int]:
    """The ids of all string nodes that stand alone as a statement: docstrings, also below assignments."""
    return {
        id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)
    }


MANUAL_PAGES = ("fissile/rules/", "passes/failures/")
"""Their texts and programs name attributes as a user writes them."""
IREE_ATTRIBUTE = re.compile(r"#(?:iree_\w+|hal|stream|flow|util|vm)\.\w+")


IREE_OP = re.compile(
    r"(?<![\w.#])!?(?:(?:iree_\w+|flow|hal|stream)\.[a-z_]\w*(?:\.[a-z_]\w*)*|util\.(?:func|call|return|global|init|assume|opt|null)\w*)"
    r"|^(?:iree_\w+|flow|hal|stream|util)\.$"
)
"""Ops and types of IREE's dialects, and how the names of a dialect's ops begin. Upstream's (linalg, arith, …) are MLIR's and free."""
PROGRAMS = ("pipelines/support/programs.py", "dialect/")
"""Programs as text; the roles of operands by op, which lie below IREE's room."""


def iree_names_in(module: Module) -> Iterator[tuple[int, str]]:
    docstrings = _docstrings(module.tree)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            for name in IREE_NAME.findall(node.value):
                if name not in IREE_TOOLS:
                    yield node.lineno, name
            if node.value in IREE_PHASES:
                yield node.lineno, node.value
            if not module.path.startswith((*MANUAL_PAGES, *PROGRAMS)):
                for name in IREE_OP.findall(node.value):
                    yield node.lineno, name
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
