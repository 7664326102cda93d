"""Misaligned vectors on SPIR-V: reported exactly where stock's numbers are wrong, repaired, silent elsewhere."""

import numpy as np
import pytest
from iree.compiler import ir

import fissile
from fissile.passes.analysis.kernel.vector_alignment import misaligned_vectors, residues
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.native_programs import stock_compiler
from fissile.pipelines.numerics.runtimes import present
from fissile.pipelines.process.child import run_child
from fissile.target import find_target

needs_vulkan = pytest.mark.skipif("vulkan" not in [r.name for r in present()], reason="no Vulkan device")
VULKAN = flags_for(find_target("vulkan"))


def padded_product(width: int, low: int, high: int, element: str = "f32") -> str:
    """A 1x1 convolution of 64 channels to 64, NCHW, whose result is stored into a larger tensor of -3."""
    kind = "f" if element.startswith("f") else "i"
    zero, minus = ("0.0", "-3.0") if kind == "f" else ("0", "-3")
    x, r, p = (
        f"tensor<64x8x{width}x{element}>",
        f"tensor<64x8x{width}x{element}>",
        f"tensor<64x10x{low + width + high}x{element}>",
    )
    return f"""
#x = affine_map<(f, h, w, c) -> (c, h, w)>
#w = affine_map<(f, h, w, c) -> (f, c)>
#r = affine_map<(f, h, w, c) -> (f, h, w)>
func.func @f(%x: {x}, %w: tensor<64x64x{element}>) -> {p} {{
  %zero = arith.constant {zero} : {element}
  %minus = arith.constant {minus} : {element}
  %e = tensor.empty() : {r}
  %i = linalg.fill ins(%zero : {element}) outs(%e : {r}) -> {r}
  %m = linalg.generic {{indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%x, %w : {x}, tensor<64x64x{element}>) outs(%i : {r}) {{
  ^bb0(%a: {element}, %b: {element}, %c: {element}):
    %t = arith.mul{kind} %a, %b : {element}
    %s = arith.add{kind} %c, %t : {element}
    linalg.yield %s : {element}
  }} -> {r}
  %pe = tensor.empty() : {p}
  %pf = linalg.fill ins(%minus : {element}) outs(%pe : {p}) -> {p}
  %o = tensor.insert_slice %m into %pf[0, 1, {low}] [64, 8, {width}] [1, 1, 1] : {r} into {p}
  return %o : {p}
}}
"""


def inputs_and_result(width: int, low: int, high: int, element: str) -> tuple[list[np.ndarray], np.ndarray]:
    kind = {"f32": np.float32, "i32": np.int32}[element]
    generator = np.random.default_rng(0)
    x, w = (generator.integers(-9, 10, shape).astype(kind) for shape in ((64, 8, width), (64, 64)))
    result = np.full((64, 10, low + width + high), -3, kind)
    result[:, 1:9, low : low + width] = np.einsum("chw,fc->fhw", x, w)
    return [x, w], result


def right(source, output, inputs, expected) -> bool:
    return fissile.verify(
        source, output, inputs=inputs, expected=[expected], on="vulkan", tolerance="0,1e-5"
    ).agrees


CASES = (
    (16, 1, 1, "f32"),
    (16, 1, 1, "i32"),
    (16, 3, 1, "f32"),
    (16, 2, 2, "f32"),
    (32, 1, 3, "f32"),
    (32, 1, 1, "f32"),
)


@needs_vulkan
@pytest.mark.parametrize(("width", "low", "high", "element"), CASES)
def test_told_exactly_where_stock_is_wrong_and_right_after_the_repair(tmp_path, width, low, high, element):
    source, output, stock = tmp_path / "f.mlir", tmp_path / "f.vmfb", tmp_path / "stock.vmfb"
    source.write_text(padded_product(width, low, high, element))
    inputs, expected = inputs_and_result(width, low, high, element)
    assert run_child([stock_compiler(), source, "-o", stock, *VULKAN], 300.0).status == 0
    report = fissile.compile(source, output, VULKAN, check=False)
    reported = [
        (f.code, f.severity.value) for f in report.findings if f.code != "FIS127"
    ]  # threads that do the same work, right as they are
    assert reported == ([] if right(source, stock, inputs, expected) else [("FIS112", "repaired")])
    assert right(source, output, inputs, expected)


def test_told_where_vectors_move_and_silent_where_they_do_not(tmp_path):
    reported = {}
    for low, high in (
        (1, 1),
        (4, 4),
        (1, 2),
    ):  # a column between vectors; between two; no vectors in a row of 19
        source = tmp_path / "f.mlir"
        source.write_text(padded_product(16, low, high))
        report = fissile.compile(source, tmp_path / "f.vmfb", VULKAN, check=False)
        assert report.output
        reported[low, high] = [f.code for f in report.findings if f.code != "FIS127"]
    assert reported == {(1, 1): ["FIS112"], (4, 4): [], (1, 2): []}


def test_check_tells_it_too(tmp_path):
    source = tmp_path / "f.mlir"
    source.write_text(padded_product(16, 1, 1))
    report = fissile.check(source, ["vulkan", "gfx942"])
    assert [(f.code, f.target) for f in report.findings if f.code == "FIS112"] == [("FIS112", "vulkan")]


TRANSFERS = """
func.func @f(%m: memref<4x16xf32>, %v: vector<4xf32>, %i: index) {{
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %d = memref.alloc() : memref<4x{row}xf32>
  scf.for %k = %c4 to %c16 step %c4 {{
    %j = affine.apply affine_map<(a, b) -> (a + 8 * b + {offset})>(%k, %i)
    vector.transfer_write %v, %d[%c1, %j] {{in_bounds = [true]}} : vector<4xf32>, memref<4x{row}xf32>
    {more}
  }}
  return
}}
"""


@pytest.mark.parametrize(
    ("row", "offset", "more", "expected"),
    (
        (32, 0, "", ()),
        (32, 4, "", ()),
        (32, 1, "", ("4x32xf32",)),
        (33, 1, "", ()),
        (32, 1, "memref.store %z, %d[%c1, %j] : memref<4x32xf32>", ()),
        (
            34,
            2,
            "%h = vector.transfer_read %d[%c1, %j], %z {in_bounds = [true]} : memref<4x34xf32>, vector<2xf32>",
            (),
        ),
    ),
    ids=(
        "aligned",
        "aligned further on",
        "between vectors",
        "odd row",
        "a scalar use keeps the buffer",
        "the smallest vector counts",
    ),
)
def test_which_transfers_iree_moves(row, offset, more, expected):
    text = TRANSFERS.format(row=row, offset=offset, more=more).replace(
        "%c1 =", "%z = arith.constant 0.0 : f32\n  %c1 =", 1
    )
    with ir.Context():
        assert misaligned_vectors(ir.Module.parse(text).operation) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    (
        ("a * 4", {0}),
        ("a * 4 + 6", {2}),
        ("a * 2", {0, 2}),
        ("a * 2 + 1", {1, 3}),
        ("a", {0, 1, 2, 3}),
        ("a floordiv 2", {0, 1, 2, 3}),
        ("(a * 4 + 1) mod 8", {1}),
        ("(a * 4 + 1) mod 6", {0, 1, 2, 3}),
        ("-1", {3}),
    ),
)
def test_residues_of_an_index(expression, expected):
    with ir.Context():
        module = ir.Module.parse(f"""
            func.func @f(%i: index) -> index {{
              %j = affine.apply affine_map<(a) -> ({expression})>(%i)
              return %j : index
            }}""")
        block = next(iter(module.body.operations)).regions[0].blocks[0]
        returned = list(block.operations)[-1]
        assert residues(returned.operands[0], 4) == expected


LINEAR = "%j = affine.linearize_index disjoint"
COMPUTED = {
    "one size for all but the first": (f"{LINEAR} [%i, %zero] by (32)", {0}),
    "sizes": (f"{LINEAR} [%i, %k, %zero] by (2, 3, 32)", {0}),
    "odd rows": (f"{LINEAR} [%i, %two] by (5, 7)", {0, 1, 2, 3}),
    "even rows": (f"{LINEAR} [%i, %two] by (6)", {0, 2}),
    "a dynamic size": (f"{LINEAR} [%i, %zero] by (%k)", {0, 1, 2, 3}),
    "dynamic size of four": (f"{LINEAR} [%i, %zero] by (%four)", {0}),
    "outer dynamic size": (f"{LINEAR} [%i, %zero] by (%k, 8)", {0}),
    "row within": (
        "%m:2 = affine.delinearize_index %aligned into (3, 8) : index, index\n%j = arith.addi %m#1, %zero",
        {0},
    ),
    "row without": (
        "%m:2 = affine.delinearize_index %aligned into (3, 6) : index, index\n%j = arith.addi %m#1, %zero",
        {0, 1, 2, 3},
    ),
    "outer row": (
        "%m:2 = affine.delinearize_index %aligned into (3, 8) : index, index\n%j = arith.addi %m#0, %zero",
        {0, 1, 2, 3},
    ),
    "swizzle": ("%j = arith.xori %aligned, %four", {0}),
    "lowest bit": ("%j = arith.andi %i, %two", {0, 2}),
    "upper bits": ("%j = arith.ori %aligned, %two", {2}),
    "remainder": ("%j = arith.remui %aligned, %eight", {0}),
    "odd remainder": ("%j = arith.remui %aligned, %k", {0, 1, 2, 3}),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_residues_of_a_computed_index(name):
    body, expected = COMPUTED[name]
    with ir.Context():
        module = ir.Module.parse(f"""
            func.func @f(%i: index, %k: index) -> index {{
              %zero = arith.constant 0 : index
              %two = arith.constant 2 : index
              %four = arith.constant 4 : index
              %eight = arith.constant 8 : index
              %aligned = arith.muli %i, %four : index
              {body} : index
              return %j : index
            }}""")
        block = next(iter(module.body.operations)).regions[0].blocks[0]
        assert residues(list(block.operations)[-1].operands[0], 4) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    (
        ("%j = vector.extract %s[0] : index from vector<4xindex>", {0}),
        ("%j = vector.extract %s[3] : index from vector<4xindex>", {3}),
        (
            "%a = arith.addi %s, %c : vector<4xindex>\n%j = vector.extract %a[2] : index from vector<4xindex>",
            {1},
        ),
        (
            "%b = vector.broadcast %i : index to vector<4xindex>\n%a = arith.muli %s, %b : vector<4xindex>\n"
            "%j = vector.extract %a[2] : index from vector<4xindex>",
            {0, 2},
        ),
        ("%j = vector.extract %v[0] : index from vector<4xindex>", {0, 1, 2, 3}),
    ),
    ids=("first", "last", "sum", "product", "unknown"),
)
def test_residues_of_an_element_of_a_vector_of_indices(body, expected):
    with ir.Context():
        module = ir.Module.parse(f"""
            func.func @f(%i: index, %v: vector<4xindex>) -> index {{
              %s = vector.step : vector<4xindex>
              %c = arith.constant dense<7> : vector<4xindex>
              {body}
              return %j : index
            }}""")
        block = next(iter(module.body.operations)).regions[0].blocks[0]
        assert residues(list(block.operations)[-1].operands[0], 4) == expected
