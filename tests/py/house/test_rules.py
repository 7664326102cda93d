"""Each rule of the source tree finds what it is for, and leaves a tree in order alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from house_rules.files import LONGEST_FILE, MOST_MODULES, crowded_folders, empty_names, long_files
from house_rules.imports import (
    compiler_imports_in_the_vocabulary,
    import_cycles,
    imports_of_nothing,
    names_that_iree_lacks,
    new_cycles,
    packages_without_a_layer,
    upward_imports,
)
from house_rules.iree_names import stray_iree_names
from house_rules.source_tree import Module, modules_of


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
    "text, missing",
    [
        ("def late():\n    from .definition import Gone\n", "fissile.passes.definition has no Gone"),
        ("from fissile.passes.gone import x\n", "there is no fissile.passes.gone"),
        ("import fissile.passes.gone\n", "there is no fissile.passes.gone"),
        ("from .analysis import gone\n", "fissile.passes.analysis has no gone"),
    ],
)
def test_an_import_of_nothing_is_found(tmp_path, text, missing):
    files = {**FITTING, "passes/analysis/__init__.py": "", "passes/late.py": text}
    modules = _tree(tmp_path, files)
    (offence,) = imports_of_nothing([m for m in modules if m.path == "passes/late.py"], modules)
    assert offence.endswith(missing)


@pytest.mark.parametrize(
    "text, lacks",
    [
        ("from iree.compiler import ir\nX = ir.ElementsAttr\n", ["ir has no ElementsAttr"]),
        ("from iree.compiler.dialects import arith\nX = arith.FdivOp\n", ["arith has no FdivOp"]),
        ("from iree.compiler import ir\nX = ir.DenseElementsAttr\n", []),
        ("from ..definition import ir\nX = ir.ElementsAttr\n", []),
    ],
)
def test_a_name_that_irees_bindings_lack_is_found(tmp_path, text, lacks):
    offences = names_that_iree_lacks(_tree(tmp_path, {**FITTING, "passes/late.py": text}))
    assert len(offences) == len(lacks) and all(map(str.endswith, offences, lacks))


@pytest.mark.parametrize(
    "path, text, name",
    [
        ("pipelines/session.py", 'F = "--iree-hal-target-device=vulkan"\n', "--iree-hal-target-device"),
        ("pipelines/session.py", 'F = f"builtin.module(iree-codegen-x{1})"\n', "iree-codegen-x"),
        ("passes/remedies/cut.py", 'P = "iree-flow-a,iree-compile"\n', "iree-flow-a"),
        ("fissile/cli/main.py", 'run(to="dispatch-creation")\n', "dispatch-creation"),
        ("passes/analysis/facts.py", 'T = "#hal.executable<x>"\n', "#hal.executable"),
        ("passes/analysis/facts.py", 'X = op.name == "flow.tensor.load"\n', "flow.tensor.load"),
        ("passes/analysis/facts.py", 'X = op.name.startswith("stream.")\n', "stream."),
        ("passes/analysis/facts.py", 'X = "!hal.buffer_view"\n', "!hal.buffer_view"),
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
