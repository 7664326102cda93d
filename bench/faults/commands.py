"""Small, quick commands, one or more of each kind, with the files that they read."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

ADD = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
MATMUL = """func.func @main(%a: tensor<8x16xf32>, %b: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %m = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x32xf32>) outs(%init : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %m : tensor<8x32xf32>
}
"""
CONV = """#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @main(%x: tensor<1x64x18x18xi8>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x16x16xf32> {
  %scale = arith.constant 0.02 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64x18x18xf32>
  %xd = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x64x18x18xi8>) outs(%e : tensor<1x64x18x18xf32>) {
  ^bb0(%in: i8, %out: f32):
    %f = arith.sitofp %in : i8 to f32
    %m = arith.mulf %f, %scale : f32
    linalg.yield %m : f32
  } -> tensor<1x64x18x18xf32>
  %o = tensor.empty() : tensor<1x64x16x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%o : tensor<1x64x16x16xf32>) -> tensor<1x64x16x16xf32>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%xd, %w : tensor<1x64x18x18xf32>, tensor<64x64x3x3xf32>) outs(%init : tensor<1x64x16x16xf32>) -> tensor<1x64x16x16xf32>
  return %y : tensor<1x64x16x16xf32>
}
"""
STORE = """func.func @main(%a: tensor<?xf32>, %b: tensor<10xf32>) -> tensor<10xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %r = tensor.insert_slice %a into %b[0] [%n] [1] : tensor<?xf32> into tensor<10xf32>
  return %r : tensor<10xf32>
}
"""
PASS = '''from dataclasses import dataclass
from typing import ClassVar
import os, sys, time
from fissile.passes.definition import Pass, register_pass


@register_pass
@dataclass(frozen=True)
class Mine(Pass):
    """A pass of a user's."""

    name: ClassVar[str] = "mine-p"

    def run(self, op, report):
        {act}
'''
ONNX = (  # y = Relu(x)
    b'\x08\x08\x12\x00:3\n\x0c\n\x01x\x12\x01y"\x04Relu\x12\x01gZ\x0f\n\x01x\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x04b\x0f\n\x01y\x12\n\n\x08\x08'
    b"\x01\x12\x04\n\x02\x08\x04B\x04\n\x00\x10\x11"
)
REPORT = '{"schema": 1, "fissile": "0", "iree": "3.13.0", "command": "check", "exit_code": 0, "output": "", "findings": [], "messages": [], "seconds": {}, "facts": {}}'
LLVM_CPU = "--iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu"
GFX942 = "--iree-hal-target-device=hip --iree-rocm-target=gfx942"
PIPELINE = "'--pipeline-after=input:builtin.module(mine-p)'"


@dataclass(frozen=True)
class Command:
    """A shell line; ``output`` is the file that it writes, ``folder`` one that it makes, ``status`` what it ends with in a healthy world."""

    line: str
    files: Mapping[str, str | bytes]
    output: str = ""
    status: int = 0
    folder: str = ""

    @property
    def outputs(self) -> list[str]:
        return [self.output, self.folder]

    @property
    def words(self) -> list[str]:
        return shlex.split(self.line)


COMMANDS: dict[str, Command] = {
    "compile": Command(f"fissile compile {LLVM_CPU} in.mlir -o out.vmfb", {"in.mlir": ADD}, "out.vmfb"),
    "compile-repaired": Command(
        f"fissile compile {GFX942} in.mlir -o out.vmfb", {"in.mlir": CONV}, "out.vmfb"
    ),
    "compile-asserted": Command(
        f"fissile compile {LLVM_CPU} in.mlir -o out.vmfb", {"in.mlir": STORE}, "out.vmfb"
    ),
    "compile-pass": Command(
        f"fissile compile {LLVM_CPU} in.mlir -o out.vmfb --load-passes=mine.py {PIPELINE}",
        {"in.mlir": ADD, "mine.py": PASS.format(act="pass")},
        "out.vmfb",
    ),
    "check": Command("fissile check in.mlir --target llvm-cpu", {"in.mlir": MATMUL}),
    "check-probed": Command("fissile check in.mlir --target gfx942 --probe=all", {"in.mlir": MATMUL}),
    "check-baseline": Command(
        "fissile check in.mlir --target gfx942 --baseline out.json --update-baseline",
        {"in.mlir": MATMUL},
        "out.json",
    ),
    "verify": Command("fissile verify in.mlir --on local-task", {"in.mlir": ADD}),
    "reduce": Command(f"fissile reduce {GFX942} in.mlir -o out.mlir", {"in.mlir": CONV}, "out.mlir"),
    "opt": Command(
        "fissile-opt in.mlir --pass-pipeline='builtin.module(canonicalize)' -o out.mlir",
        {"in.mlir": MATMUL},
        "out.mlir",
    ),
    "opt-pass": Command(
        "fissile-opt in.mlir --load-passes=mine.py --mine-p -o out.mlir",
        {"in.mlir": ADD, "mine.py": PASS.format(act="pass")},
        "out.mlir",
    ),
    "explain": Command("fissile explain FIS101", {}),
    "passes": Command("fissile passes --load-passes=mine.py mine-p", {"mine.py": PASS.format(act="pass")}),
    "targets": Command("fissile targets", {}),
    "audit": Command("fissile audit in.mlir --target gfx942", {"in.mlir": MATMUL}),
    "sweep": Command(
        "fissile sweep in.mlir --target llvm-cpu --out results", {"in.mlir": ADD}, folder="results"
    ),
    "report": Command("fissile report in.json -o out.html", {"in.json": REPORT}, "out.html"),
    "cache": Command("fissile cache", {}),
    "support": Command("fissile support --target llvm-cpu --op math.absf --element f32 --again", {}),
    "completion": Command("fissile completion bash", {}),
    "import": Command(
        f"fissile compile {LLVM_CPU} --compile-to=input in.onnx -o out.mlir", {"in.onnx": ONNX}, "out.mlir"
    ),
}
