"""What models of TFLite are made of: quantised blocks, a softmax, branches, loops and variables."""

from __future__ import annotations

import numpy as np

from .elementwise import wide
from .entries import _TABLE, Program, drawn, full
from .products import convolved, exact
from .rescaling import add_rescale, rescaled


def _separable() -> None:
    program = Program("block_separable")
    image = full("bx", (1, 12, 12, 8), "i8")
    depth, point = drawn("bd", (3, 3, 8, 1), "i8", -127, 127), drawn("bp", (16, 1, 1, 8), "i8", -127, 127)
    given = program.argument(image)
    zeros = [program.constant([zero], "i8") for zero in (-3, 0, 4)]
    held = program.constant(depth, "i8"), program.constant(np.arange(8) * 9, "i32")
    geometry = "dilation = array<i64: 1, 1>, stride = array<i64: 1, 1>"
    first = program.add("tosa.depthwise_conv2d", [given, *held, zeros[0], zeros[1]], program.type((1, 12, 12, 8), "i32"), f"acc_type = i32, pad = array<i64: 1, 1, 1, 1>, {geometry}")  # fmt: skip
    many = [1 << 30 | n << 20 for n in range(8)], [38, 39, 40, 39, 38, 40, 39, 38]
    narrow = add_rescale(program, first, (1, 12, 12, 8), "i32", "i8", 0, *many, 4, "DOUBLE_ROUND")
    held = program.constant(point, "i8"), program.constant(np.zeros(16, int), "i32")
    second = program.add("tosa.conv2d", [narrow, *held, zeros[2], zeros[1]], program.type((1, 12, 12, 16), "i32"), f"acc_type = i32, pad = array<i64: 0, 0, 0, 0>, {geometry}")  # fmt: skip
    last = add_rescale(program, second, (1, 12, 12, 16), "i32", "i8", 0, [1 << 30], [39], -9, "DOUBLE_ROUND")
    clamped = program.add("tosa.clamp", [last], last[1], "min_val = -9 : i8, max_val = 101 : i8")
    x = exact(image, -3)
    parts = [
        convolved(
            x[..., c : c + 1],
            exact(depth)[:, :, c].transpose(2, 0, 1)[..., None],
            (1, 1),
            (1, 1, 1, 1),
            (1, 1),
        )
        for c in range(8)
    ]
    middle = rescaled(np.concatenate(parts, -1) + np.arange(8) * 9, 0, *many, 4, "i8", True)
    end = rescaled(
        convolved(exact(middle, 4), exact(point), (1, 1), (0, 0, 0, 0), (1, 1)),
        0,
        [1 << 30],
        [39],
        -9,
        "i8",
        True,
    )
    program.ends([clamped], [np.clip(end, -9, 101)])


def _residual() -> None:
    """Two quantised tensors, brought to one scale, added and brought back."""
    program = Program("block_residual")
    x, y = full("rx", (1, 6, 6, 8), "i8"), full("ry", (1, 6, 6, 8), "i8")
    sums, wanted = [], np.zeros(x.shape, np.int32)
    for values, zero, by in ((x, -4, 1 << 30), (y, 6, 1503238553)):
        sums.append(
            add_rescale(
                program, program.argument(values), x.shape, "i8", "i32", zero, [by], [11], 0, "DOUBLE_ROUND"
            )
        )
        wanted = wanted + rescaled(values, zero, [by], [11], 0, "i32", True)
    total = program.add("tosa.add", sums, program.type(x.shape, "i32"))
    program.ends([add_rescale(program, total, x.shape, "i32", "i8", 0, [1 << 30], [50], 2, "DOUBLE_ROUND")], [rescaled(wanted, 0, [1 << 30], [50], 2, "i8", True)])  # fmt: skip


def _softmax(element: str) -> None:
    program = Program(f"block_softmax_{element}")
    values = drawn("soft", (4, 9), element, -4, 4)
    given = program.argument(values)
    most = program.add("tosa.reduce_max", [given], program.type((4, 1), element), "axis = 1 : i32")
    less = program.add("tosa.sub", [given, most], given[1])
    powers = program.add("tosa.exp", [less], given[1])
    total = program.add("tosa.reduce_sum", [powers], most[1], "axis = 1 : i32")
    part = program.add("tosa.reciprocal", [total], most[1])
    shift = program.constant([0], "i8")
    made = program.add("tosa.mul", [powers, part, shift], given[1])
    raised = np.exp(wide(values) - wide(values).max(1, keepdims=True))
    program.ends([made], [(raised / raised.sum(1, keepdims=True)).astype(values.dtype)])


_separable()
_residual()
for element in ("f32", "f16", "bf16"):
    _softmax(element)

x = drawn("flow", (3, 4), "f32")
_TABLE["flow_if"] = ("""func.func @main(%c: tensor<i1>, %x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %r = tosa.cond_if %c (%y = %x) : tensor<i1> (tensor<3x4xf32>) -> tensor<3x4xf32> {
  ^bb0(%y: tensor<3x4xf32>):
    %a = tosa.add %y, %y : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    tosa.yield %a : tensor<3x4xf32>
  } else {
  ^bb0(%y: tensor<3x4xf32>):
    %a = tosa.exp %y : (tensor<3x4xf32>) -> tensor<3x4xf32>
    tosa.yield %a : tensor<3x4xf32>
  }
  return %r : tensor<3x4xf32>
}
""", [np.array(True), x], [x + x])  # fmt: skip
_TABLE["flow_while"] = ("""func.func @main(%x: tensor<3x4xf32>) -> (tensor<i32>, tensor<3x4xf32>) {
  %zero = "tosa.const"() <{values = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %n, %r = "tosa.while_loop"(%zero, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<3x4xf32>):
    %most = "tosa.const"() <{values = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %go = "tosa.greater"(%most, %i) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "tosa.yield"(%go) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<3x4xf32>):
    %one = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "tosa.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %w = "tosa.add"(%v, %v) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    "tosa.yield"(%j, %w) : (tensor<i32>, tensor<3x4xf32>) -> ()
  }) : (tensor<i32>, tensor<3x4xf32>) -> (tensor<i32>, tensor<3x4xf32>)
  return %n, %r : tensor<i32>, tensor<3x4xf32>
}
""", [x], [np.array(5, np.int32), x * 32])  # fmt: skip
