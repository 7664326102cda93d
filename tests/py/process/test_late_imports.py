"""What a worker process leaves unloaded, and that it is whole when somebody uses it after all."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

BEFORE = """
import sys
from fissile.passes.iree.late_imports import load_late
load_late()
import iree.compiler.ir
from fissile.pipelines.session import Session
from fissile.passes.iree.late_imports import UNUSED
loaded = lambda: [name for name in UNUSED if "__file__" in vars(sys.modules[name])]
"""


def printed(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", BEFORE + script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_looking_at_ops_loads_no_class_of_any():
    assert (
        printed("""
from fissile.passes.analysis.dispatch.structure import structure_of
module = Session([]).parse_text('''func.func @f(%a: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}''')
body = module.op.regions[0].blocks[0].operations[0].regions[0].blocks[0]
structure_of(body.operations[0].operation)
print([type(op).__name__ for op in body.operations], loaded())
""")
        == "['OpView', 'OpView'] []"
    )


def test_nobody_asks_an_op_for_its_view():
    """Its class may not be loaded: `view_of` sees to that."""
    spelled = [
        str(file.relative_to(ROOT))
        for folder in ("passes", "pipelines", "dialect", "fissile")
        for file in (ROOT / folder).rglob("*.py")
        if re.search(r"\.opview\b(?!\.lengths``)", file.read_text())
    ]
    assert spelled == ["dialect/views.py"]


def test_a_view_has_the_accessors_of_its_class():
    assert (
        printed("""
from fissile.dialect.views import view_of
module = Session([]).parse_text('''func.func @f(%a: tensor<4xf32>) -> tensor<6xf32> {
  %z = arith.constant 0.0 : f32
  %r = tensor.pad %a low[1] high[1] { ^bb0(%i: index): tensor.yield %z : f32 } : tensor<4xf32> to tensor<6xf32>
  return %r : tensor<6xf32>
}''')
pad = module.op.regions[0].blocks[0].operations[0].regions[0].blocks[0].operations[1].operation
print(hasattr(pad.opview, "static_low"), list(view_of(pad).static_low), loaded())
""")
        == "False [1] ['iree.compiler.dialects.tensor']"
    )


def test_the_names_of_the_tools_are_those_that_the_package_has():
    """They are in `iree.compiler` all the same, and load what they are of."""
    script = """
import json, iree.compiler, types
from fissile.passes.iree.late_imports import OF_TOOLS
print(json.dumps([OF_TOOLS, [n for n, v in vars(iree.compiler).items() if getattr(v, "__module__", "").startswith("iree.compiler.tools")]]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    known, theirs = json.loads(done.stdout)
    assert set(theirs) <= set(known)
    assert (
        printed("print(loaded(), iree.compiler.compile_str.__name__, *loaded())")
        == "[] compile_str iree.compiler.tools"
    )


@pytest.mark.parametrize(
    "use",
    [
        "from iree.compiler.dialects import linalg; assert linalg.matmul and linalg.GenericOp",
        "from iree.compiler.dialects.linalg import matmul",
        "import iree.compiler.dialects.linalg as linalg; linalg.opdsl",
        "from iree.compiler.dialects.linalg.opdsl.lang import linalg_structured_op",
        "from iree.compiler.dialects import util; assert util.FuncOp",
        "from iree.compiler.dialects import iree_gpu; assert iree_gpu.LoweringConfigAttr",
        "import numpy; assert numpy.zeros(3).sum() == 0",
        "import numpy.linalg; assert numpy.linalg.norm([3, 4]) == 5",
        "from numpy import array; assert array([1]).dtype.kind == 'i'",
    ],
)
def test_whoever_uses_one_has_the_whole_package(use):
    assert len(printed(use + "\nprint(*loaded())").split()) == 1
