"""What a worker process leaves unloaded, and that it is whole when somebody uses it after all."""

from __future__ import annotations

import subprocess
import sys

import pytest

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


def test_looking_at_linalg_ops_loads_neither():
    assert (
        printed("""
from fissile.passes.analysis.dispatch.structure import structure_of
module = Session([]).parse_text('''func.func @f(%a: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}''')
body = module.op.regions[0].blocks[0].operations[0].regions[0].blocks[0]
print([type(op).__name__ for op in body.operations], loaded())
""")
        == "['MatmulOp', 'ReturnOp'] []"
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
