"""The one reader of indexing maps, and of how often the loops of a structured op run."""

from __future__ import annotations

import pytest
from iree.compiler import ir

from fissile.dialect.linalg_ops import indexing_maps
from fissile.passes.analysis.dispatch.linear_index import dimensions_of_loops, extents_of_loops
from fissile.passes.analysis.dispatch.structure import loop_extents, loop_structure

MATMUL = """func.func @f(%a: tensor<4x?xf32>, %b: tensor<?x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x?xf32>, tensor<?x8xf32>) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}"""
CONV = """func.func @f(%a: tensor<1x9x9x3xf32>, %b: tensor<3x3x3x4xf32>, %c: tensor<1x7x7x4xf32>) -> tensor<1x7x7x4xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf ins(%a, %b : tensor<1x9x9x3xf32>, tensor<3x3x3x4xf32>)
    outs(%c : tensor<1x7x7x4xf32>) -> tensor<1x7x7x4xf32>
  return %0 : tensor<1x7x7x4xf32>
}"""


def first_op(module: ir.Module) -> ir.Operation:
    return module.body.operations[0].regions[0].blocks[0].operations[0].operation


@pytest.fixture
def matmul():
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(MATMUL)
        yield first_op(module)


@pytest.mark.parametrize("text", [MATMUL, CONV], ids=["maps of its own", "maps that MLIR computes"])
def test_asking_for_maps_changes_nothing(text):
    """MLIR leaves the maps that it computes on the op as an attribute."""
    with ir.Context():
        module = ir.Module.parse(text)
        op = first_op(module)
        before = str(op), sorted(op.attributes)
        assert len(indexing_maps(op) or ()) == 3
        assert (str(op), sorted(op.attributes)) == before


def test_maps_are_those_of_the_operands(matmul):
    assert [str(m) for m in indexing_maps(matmul)] == [
        "(d0, d1, d2) -> (d0, d2)",
        "(d0, d1, d2) -> (d2, d1)",
        "(d0, d1, d2) -> (d0, d1)",
    ]


def test_an_op_without_maps_has_none(matmul):
    assert indexing_maps(matmul.parent) is None


def test_static_sizes_of_loops(matmul):
    assert loop_extents(matmul, loop_structure(matmul)) == (4, 8, None)


def test_a_static_size_goes_before_the_first_and_the_last(matmul):
    maps = indexing_maps(matmul)
    read = list(dimensions_of_loops(maps))
    assert read == [(0, 0, 0), (2, 0, 1), (2, 1, 0), (1, 1, 1), (0, 2, 0), (1, 2, 1)]

    def size(operand: int, dimension: int) -> str | int | None:
        if (operand, dimension) == (1, 0):
            return None
        return 8 if (operand, dimension) == (1, 1) else f"{operand}.{dimension}"

    def is_number(size: str | int) -> bool:
        return isinstance(size, int)

    assert extents_of_loops(maps, size, is_number) == ("0.0", 8, "0.1")
    assert extents_of_loops(maps, size, is_number, last=True) == ("2.0", 8, "0.1")
    assert extents_of_loops(maps, size, last=True) == ("2.0", "2.1", "0.1")


def test_a_loop_that_indexes_nothing_alone_has_no_extent():
    with ir.Context():
        window = ir.AffineMap.get(2, 0, [ir.AffineDimExpr.get(0) + ir.AffineDimExpr.get(1)])
        kernel = ir.AffineMap.get(2, 0, [ir.AffineDimExpr.get(1)])
        assert extents_of_loops([window, kernel], lambda operand, _: 10 + operand) == (None, 11)
