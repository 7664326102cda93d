"""Which convolutions llvm-cpu vectorises, and which transpositions they read."""

from __future__ import annotations

import pytest

from fissile.dialect.places import ops_of
from fissile.passes.analysis.dispatch.provenance import tag_source_ops, tags_of, tags_read, untag
from fissile.passes.analysis.layout.transposed_operands import (
    is_transposition,
    is_vectorised_convolution,
    transpositions_read,
)
from fissile.pipelines.session import Session

NAMED = """func.func @main(%x: tensor<{image}xf32>, %w: tensor<{weights}xf32>, %e: tensor<{result}xf32>) -> tensor<{result}xf32> {{
  %r = linalg.{op} ins(%x, %w : tensor<{image}xf32>, tensor<{weights}xf32>) outs(%e : tensor<{result}xf32>) -> tensor<{result}xf32>
  return %r : tensor<{result}xf32>
}}"""
GENERIC = """func.func @main(%x: tensor<{image}xf32>, %w: tensor<{weights}xf32>, %e: tensor<{result}xf32>) -> tensor<{result}xf32> {{
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins(%x, %w : tensor<{image}xf32>, tensor<{weights}xf32>) outs(%e : tensor<{result}xf32>) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }} -> tensor<{result}xf32>
  return %r : tensor<{result}xf32>
}}"""
TRANSPOSED = """func.func @main(%x: tensor<1x9x9x4xf32>, %w: tensor<8x3x3x4xf32>, %i: tensor<3x3x4x8xf32>, %e: tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32> {
  %t = linalg.transpose ins(%w : tensor<8x3x3x4xf32>) outs(%i : tensor<3x3x4x8xf32>) permutation = [1, 2, 3, 0]
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %t : tensor<1x9x9x4xf32>, tensor<3x3x4x8xf32>) outs(%e : tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32>
  return %r : tensor<1x7x7x8xf32>
}"""


def only(session, text, name):
    module = session.parse_text(text)
    (op,) = ops_of(module.op.operation, name)
    return op


@pytest.mark.parametrize(
    ("op", "image", "weights", "result", "vectorised"),
    [
        ("conv_2d_nhwc_hwcf", "1x9x9x4", "3x3x4x8", "1x7x7x8", True),
        ("conv_2d_nchw_fchw", "1x4x9x9", "8x4x3x3", "1x8x7x7", True),
        ("depthwise_conv_2d_nhwc_hwc", "1x9x9x4", "3x3x4", "1x7x7x4", True),
        ("conv_1d_nwc_wcf", "1x9x4", "3x4x8", "1x7x8", True),
        ("conv_2d_nhwc_fhwc", "1x9x9x4", "8x3x3x4", "1x7x7x8", False),
        ("depthwise_conv_2d_nchw_chw", "1x4x9x9", "4x3x3", "1x4x7x7", False),
        ("conv_3d_ndhwc_dhwcf", "1x9x9x9x4", "3x3x3x4x8", "1x7x7x7x8", False),
        ("matmul", "4x8", "8x6", "4x6", False),
        ("pooling_nhwc_sum", "1x9x9x4", "3x3", "1x7x7x4", False),
    ],
)
def test_the_orders_of_named_ops(op, image, weights, result, vectorised):
    with Session() as session:
        text = NAMED.format(op=op, image=image, weights=weights, result=result)
        assert is_vectorised_convolution(only(session, text, f"linalg.{op}")) is vectorised


@pytest.mark.parametrize(
    ("image", "weights", "result", "maps", "vectorised"),
    [
        # nhwc_hwcf without its batch of one; the same with the kernel's channels exchanged.
        ("9x9x4", "3x3x4x8", "7x7x8", ("d0 + d3, d1 + d4, d5", "d3, d4, d5, d2", "d0, d1, d2"), True),
        ("9x9x4", "3x3x8x4", "7x7x8", ("d0 + d3, d1 + d4, d5", "d3, d4, d2, d5", "d0, d1, d2"), False),
        # The image's channels are not its last dimension.
        ("9x4x9", "3x3x4x8", "7x7x8", ("d0 + d3, d5, d1 + d4", "d3, d4, d5, d2", "d0, d1, d2"), False),
    ],
)
def test_the_orders_of_generic_ops(image, weights, result, maps, vectorised):
    with Session() as session:
        spelled = ", ".join(f"affine_map<(d0, d1, d2, d3, d4, d5) -> ({one})>" for one in maps)
        kinds = ", ".join(['"parallel"'] * 3 + ['"reduction"'] * 3)
        text = GENERIC.format(image=image, weights=weights, result=result, maps=spelled, kinds=kinds)
        assert is_vectorised_convolution(only(session, text, "linalg.generic")) is vectorised


def test_a_transposition_is_found_and_tagged_on_its_reader():
    with Session() as session:
        module = session.parse_text(TRANSPOSED)
        before = module.text(locations=True)
        (transposition,), (reader,) = (
            ops_of(module.op.operation, name) for name in ("linalg.transpose", "linalg.conv_2d_nhwc_hwcf")
        )
        assert is_transposition(transposition) and transpositions_read(reader) == [transposition]
        tag_source_ops(module.op)
        assert (tags_of(reader), tags_read(reader)) == ((1,), (0,))
        assert (tags_of(transposition), tags_read(transposition)) == ((0,), ())
        untag(module.op)
        assert module.text(locations=True) == before


def test_a_convolution_that_is_not_vectorised_anyway_reads_none():
    text = TRANSPOSED.replace("conv_2d_nhwc_hwcf", "conv_2d_nhwc_fhwc").replace(
        "[1, 2, 3, 0]", "[0, 1, 2, 3]"
    )
    text = text.replace("tensor<3x3x4x8xf32>", "tensor<8x3x3x4xf32>")
    with Session() as session:
        module = session.parse_text(text)
        (identity,), (reader,) = (
            ops_of(module.op.operation, name) for name in ("linalg.transpose", "linalg.conv_2d_nhwc_fhwc")
        )
        assert not is_transposition(identity) and transpositions_read(reader) == []
