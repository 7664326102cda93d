"""The witness: NumPy's evaluation of a program, against NumPy by hand, against llvm-cpu, and what it does not know."""

import math

import ml_dtypes
import numpy as np
import pytest
from iree.compiler import ir
from iree.compiler.api import Session

from bench.programs.text.spelling import spelled
from fissile.pipelines.numerics.any_order import in_one_order
from fissile.pipelines.numerics.judge import Sides, judged
from fissile.pipelines.numerics.verify import Options, verify
from fissile.pipelines.numerics.witness.evaluation import evaluate
from fissile.pipelines.numerics.witness.program import Program
from fissile.pipelines.numerics.witness.registry import NoWitness

RNG = np.random.default_rng(7)


@pytest.fixture(scope="module")
def context():
    session = Session()
    with session.context:
        yield session.context


def run(context, text: str, *arrays, declared: bool = False) -> list[np.ndarray]:
    return list(Program(ir.Module.parse(text, context).operation).run("f", arrays, declared).results)


def elementwise(body: str, *operands: str, result: str) -> str:
    """A function ``f`` of tensors of these element types, by one linalg.generic over 2 x 3."""
    names = [f"%a{i}" for i in range(len(operands))]
    types = ", ".join(f"tensor<2x3x{o}>" for o in operands)
    maps = ", ".join(["affine_map<(i, j) -> (i, j)>"] * (len(operands) + 1))
    block = ", ".join(f"%x{i}: {o}" for i, o in enumerate(operands))
    given_ = ", ".join(f"{n}: tensor<2x3x{o}>" for n, o in zip(names, operands, strict=True))
    return f"""func.func @f({given_}) -> tensor<2x3x{result}> {{
  %e = tensor.empty() : tensor<2x3x{result}>
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
      ins({", ".join(names)} : {types}) outs(%e : tensor<2x3x{result}>) {{
  ^bb0({block}, %out: {result}):
    {body}
    linalg.yield %r : {result}
  }} -> tensor<2x3x{result}>
  return %r : tensor<2x3x{result}>
}}"""


# --- elements


@pytest.mark.parametrize(
    ("body", "operands", "result", "function"),
    [
        ("%r = arith.addi %x0, %x1 : i8", ("i8", "i8"), "i8", lambda a, b: a + b),
        ("%r = arith.muli %x0, %x1 : i8", ("i8", "i8"), "i8", lambda a, b: a * b),
        ("%r = arith.extui %x0 : i8 to i32", ("i8",), "i32", lambda a: a.view(np.uint8).astype(np.int32)),
        (
            "%r = arith.divui %x0, %x1 : i8",
            ("i8", "i8"),
            "i8",
            lambda a, b: (a.view(np.uint8) // b.view(np.uint8)).view(np.int8),
        ),
        (
            "%r = arith.shrui %x0, %x1 : i8",
            ("i8", "i8"),
            "i8",
            lambda a, b: (a.view(np.uint8) >> b.view(np.uint8)).view(np.int8),
        ),
        (
            "%c = arith.cmpi ult, %x0, %x1 : i8\n %r = arith.extui %c : i1 to i8",
            ("i8", "i8"),
            "i8",
            lambda a, b: (a.view(np.uint8) < b.view(np.uint8)).astype(np.int8),
        ),
        (
            "%c = arith.cmpi slt, %x0, %x1 : i8\n %r = arith.extsi %c : i1 to i8",
            ("i8", "i8"),
            "i8",
            lambda a, b: -(a < b).astype(np.int8),
        ),
        ("%r = arith.bitcast %x0 : f32 to i32", ("f32",), "i32", lambda a: a.view(np.int32)),
        ("%r = arith.maximumf %x0, %x1 : f32", ("f32", "f32"), "f32", np.maximum),
        (
            "%r = arith.truncf %x0 : f32 to bf16",
            ("f32",),
            "bf16",
            lambda a: a.astype(ml_dtypes.bfloat16).astype(float),
        ),
        ("%r = math.erf %x0 : f32", ("f32",), "f32", lambda a: np.vectorize(math.erf)(a)),
    ],
)
def test_scalars_as_numpy_has_them(context, body, operands, result, function):
    arrays = [
        RNG.standard_normal((2, 3)).astype(np.float32)
        if o == "f32"
        else RNG.integers(1, 7, (2, 3)).astype(np.int8)
        for o in operands
    ]
    if operands[0] == "i8":
        arrays[0] = RNG.integers(-128, 127, (2, 3)).astype(np.int8)
    (found,) = run(context, elementwise(body, *operands, result=result), *arrays)
    np.testing.assert_allclose(found.astype(float), np.asarray(function(*arrays)).astype(float), rtol=1e-12)


# --- structured ops, by hand

CONV = """func.func @f(%x: tensor<1x3x9x7xf32>, %w: tensor<4x3x3x2xf32>, %o: tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32> {
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<[2, 1]> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
    ins(%x, %w : tensor<1x3x9x7xf32>, tensor<4x3x3x2xf32>) outs(%o : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  return %r : tensor<1x4x3x3xf32>
}"""


def test_a_convolution_with_strides_and_dilations(context):
    x, w, o = (RNG.standard_normal(s).astype(np.float32) for s in ((1, 3, 9, 7), (4, 3, 3, 2), (1, 4, 3, 3)))
    expected = o.astype(np.float64)
    for f, i, j, c, p, q in np.ndindex(4, 3, 3, 3, 3, 2):
        expected[0, f, i, j] += float(x[0, c, 2 * i + 2 * p, 2 * j + q]) * float(w[f, c, p, q])
    np.testing.assert_allclose(run(context, CONV, x, w, o)[0], expected, rtol=1e-12)


def test_integer_products_are_exact_and_wrap(context):
    text = """func.func @f(%a: tensor<3x50xi32>, %b: tensor<50x4xi32>, %o: tensor<3x4xi32>) -> tensor<3x4xi32> {
      %r = linalg.matmul ins(%a, %b : tensor<3x50xi32>, tensor<50x4xi32>) outs(%o : tensor<3x4xi32>) -> tensor<3x4xi32>
      return %r : tensor<3x4xi32> }"""
    a, b, o = (RNG.integers(-(2**31), 2**31, s).astype(np.int32) for s in ((3, 50), (50, 4), (3, 4)))
    assert np.array_equal(run(context, text, a, b, o)[0], a @ b + o)


ARGMAX = """func.func @f(%x: tensor<5x9xf32>, %v: tensor<5xf32>, %i: tensor<5xi64>) -> (tensor<5xf32>, tensor<5xi64>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x9xf32>) outs(%v, %i : tensor<5xf32>, tensor<5xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %n = linalg.index 1 : index
    %c = arith.index_cast %n : index to i64
    %more = arith.cmpf ogt, %in, %best : f32
    %b = arith.select %more, %in, %best : f32
    %p = arith.select %more, %c, %at : i64
    linalg.yield %b, %p : f32, i64
  } -> (tensor<5xf32>, tensor<5xi64>)
  return %r#0, %r#1 : tensor<5xf32>, tensor<5xi64>
}"""


def test_a_reduction_with_two_results(context):
    x = RNG.standard_normal((5, 9)).astype(np.float32)
    value, place = run(context, ARGMAX, x, np.full(5, -np.inf, np.float32), np.zeros(5, np.int64))
    assert np.array_equal(value, x.max(axis=1)) and np.array_equal(place, x.argmax(axis=1))


ATTENTION = spelled("""func.func @f(%q: tensor<2x5x160xf32>, %k: tensor<2x7x160xf32>, %v: tensor<2x7x6xf32>, %m: tensor<2x5x7xi1>) -> tensor<2x5x6xf32> {
  %s = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x5x6xf32>
  %r = iree_linalg_ext.attention <indexing_maps = [affine_map<(b, m, n, k, l) -> (b, m, k)>, affine_map<(b, m, n, k, l) -> (b, l, k)>,
      affine_map<(b, m, n, k, l) -> (b, l, n)>, affine_map<(b, m, n, k, l) -> ()>, affine_map<(b, m, n, k, l) -> (b, m, l)>,
      affine_map<(b, m, n, k, l) -> (b, m, n)>]>
      ins(%q, %k, %v, %s, %m : tensor<2x5x160xf32>, tensor<2x7x160xf32>, tensor<2x7x6xf32>, f32, tensor<2x5x7xi1>)
      outs(%e : tensor<2x5x6xf32>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<2x5x6xf32>
  return %r : tensor<2x5x6xf32>
}""")


def test_a_masked_attention(context):
    q, k, v = (RNG.standard_normal(s).astype(np.float32) for s in ((2, 5, 160), (2, 7, 160), (2, 7, 6)))
    mask = RNG.integers(0, 2, (2, 5, 7)).astype(bool)
    mask[..., 0] = True
    scores = np.where(mask, np.einsum("bmk,blk->bml", q.astype(float), k) * 0.25, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    expected = np.einsum("bml,bln->bmn", powers / powers.sum(-1, keepdims=True), v)
    np.testing.assert_allclose(run(context, ATTENTION, q, k, v, mask)[0], expected, rtol=1e-10)


ONLINE = spelled("""func.func @f(%q: tensor<2x5x16xf32>, %k: tensor<2x7x16xf32>, %v: tensor<2x7x6xf32>, %a: tensor<2x5x6xf32>, %x: tensor<2x5xf32>,
    %t: tensor<2x5xf32>) -> (tensor<2x5x6xf32>, tensor<2x5xf32>, tensor<2x5xf32>) {
  %s = arith.constant 0.25 : f32
  %r:3 = iree_linalg_ext.online_attention <indexing_maps = [affine_map<(b, m, n, k, l) -> (b, m, k)>,
      affine_map<(b, m, n, k, l) -> (b, l, k)>, affine_map<(b, m, n, k, l) -> (b, l, n)>, affine_map<(b, m, n, k, l) -> ()>,
      affine_map<(b, m, n, k, l) -> (b, m, n)>, affine_map<(b, m, n, k, l) -> (b, m)>, affine_map<(b, m, n, k, l) -> (b, m)>]>
      ins(%q, %k, %v, %s : tensor<2x5x16xf32>, tensor<2x7x16xf32>, tensor<2x7x6xf32>, f32)
      outs(%a, %x, %t : tensor<2x5x6xf32>, tensor<2x5xf32>, tensor<2x5xf32>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<2x5x6xf32>, tensor<2x5xf32>, tensor<2x5xf32>
  return %r#0, %r#1, %r#2 : tensor<2x5x6xf32>, tensor<2x5xf32>, tensor<2x5xf32>
}""")


def test_an_online_attention_goes_on_from_what_was_before(context):
    """The keys in two halves, the second from the results of the first, are the attention of all; a first half from nothing is plain."""
    q, k, v = (RNG.standard_normal(s).astype(np.float32) for s in ((2, 5, 16), (2, 14, 16), (2, 14, 6)))
    state = (
        np.zeros((2, 5, 6), np.float32),
        np.full((2, 5), -np.inf, np.float32),
        np.zeros((2, 5), np.float32),
    )
    for half in (slice(0, 7), slice(7, 14)):
        state = run(context, ONLINE, q, k[:, half], v[:, half], *state)
    scores = np.einsum("bmk,blk->bml", q.astype(float), k) * 0.25
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(state[1], scores.max(-1) * np.log2(np.e), rtol=1e-10)
    np.testing.assert_allclose(state[2], powers.sum(-1), rtol=1e-10)
    np.testing.assert_allclose(state[0], np.einsum("bml,bln->bmn", powers, v), rtol=1e-9, atol=1e-12)


def test_every_op_rounds_where_it_is_wanted(context):
    text = elementwise("%s = arith.addf %x0, %x0 : f16\n %r = arith.mulf %s, %s : f16", "f16", result="f16")
    x = np.full((2, 3), 1 + 2.0**-10, np.float16)
    (wide,), (declared,) = run(context, text, x), run(context, text, x, declared=True)
    assert wide[0, 0] == (2 + 2.0**-9) ** 2 and declared[0, 0] == np.float16(x[0, 0] + x[0, 0]) ** 2


def test_what_is_not_known_is_named(context):
    with pytest.raises(NoWitness, match="op tensor.gather"):
        run(
            context,
            """func.func @f(%x: tensor<4xf32>, %i: tensor<2x1xi64>) -> tensor<2x1xf32> {
          %r = tensor.gather %x[%i] gather_dims([0]) : (tensor<4xf32>, tensor<2x1xi64>) -> tensor<2x1xf32>
          return %r : tensor<2x1xf32> }""",
            np.zeros(4, np.float32),
            np.zeros((2, 1), np.int64),
        )
    with pytest.raises(NoWitness, match="beyond the end"):
        run(
            context,
            """func.func @f(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
          %r = tensor.extract_slice %x[%n] [%n] [1] : tensor<?xf32> to tensor<?xf32>
          return %r : tensor<?xf32> }""",
            np.zeros(4, np.float32),
            np.int64(3),
        )
    with pytest.raises(NoWitness, match="arith.fptosi of a number that i8 does not hold"):
        run(
            context,
            elementwise("%r = arith.fptosi %x0 : f32 to i8", "f32", result="i8"),
            np.full((2, 3), 300, np.float32),
        )


WINOGRAD = """func.func @f(%x: tensor<{image}xf32>, %k: tensor<{kernel}xf32>) -> tensor<{result}xf32> {{
  %z = arith.constant 0.0 : f32
  %ie = tensor.empty() : tensor<8x8x2x2x3x4xf32>
  %ke = tensor.empty() : tensor<8x8x4x5xf32>
  %me = tensor.empty() : tensor<8x8x2x2x3x5xf32>
  %m0 = linalg.fill ins(%z : f32) outs(%me : tensor<8x8x2x2x3x5xf32>) -> tensor<8x8x2x2x3x5xf32>
  %oe = tensor.empty() : tensor<{whole}xf32>
  %i = iree_linalg_ext.winograd.input_transform output_tile_size(6) kernel_size(3) image_dimensions([{dims}])
      ins(%x : tensor<{image}xf32>) outs(%ie : tensor<8x8x2x2x3x4xf32>) -> tensor<8x8x2x2x3x4xf32>
  %w = iree_linalg_ext.winograd.filter_transform output_tile_size(6) kernel_size(3) kernel_dimensions([{of_kernel}])
      ins(%k : tensor<{kernel}xf32>) outs(%ke : tensor<8x8x4x5xf32>) -> tensor<8x8x4x5xf32>
  %m = linalg.generic {{indexing_maps = [affine_map<(a, b, n, h, w, f, c) -> (a, b, n, h, w, c)>, affine_map<(a, b, n, h, w, f, c) -> (a, b, c, f)>,
      affine_map<(a, b, n, h, w, f, c) -> (a, b, n, h, w, f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel",
      "reduction"]}} ins(%i, %w : tensor<8x8x2x2x3x4xf32>, tensor<8x8x4x5xf32>) outs(%m0 : tensor<8x8x2x2x3x5xf32>) {{
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %p, %s : f32
    linalg.yield %t : f32
  }} -> tensor<8x8x2x2x3x5xf32>
  %o = iree_linalg_ext.winograd.output_transform output_tile_size(6) kernel_size(3) image_dimensions([{dims}])
      ins(%m : tensor<8x8x2x2x3x5xf32>) outs(%oe : tensor<{whole}xf32>) -> tensor<{whole}xf32>
  %r = tensor.extract_slice %o[0, 0, 0, 0] [{cut}] [1, 1, 1, 1] : tensor<{whole}xf32> to tensor<{result}xf32>
  return %r : tensor<{result}xf32>
}}"""


@pytest.mark.parametrize("channels_first", (False, True))
def test_winograds_transforms_are_a_convolution(context, channels_first):
    """Two rows and three columns of tiles; the last of each are not full."""
    image, kernel = RNG.standard_normal((2, 11, 17, 4)), RNG.standard_normal((3, 3, 4, 5))
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (1, 2))
    expected = np.einsum("nhwcij,ijcf->nhwf", windows, kernel)
    if channels_first:
        image, kernel, expected = (
            image.transpose(0, 3, 1, 2),
            kernel.transpose(3, 2, 0, 1),
            expected.transpose(0, 3, 1, 2),
        )
    sizes = [("image", image.shape), ("kernel", kernel.shape), ("result", expected.shape)]
    whole = (2, 5, 12, 18) if channels_first else (2, 12, 18, 5)
    text = WINOGRAD.format(
        **{name: "x".join(map(str, shape)) for name, shape in (*sizes, ("whole", whole))},
        cut=", ".join(map(str, expected.shape)),
        dims="2, 3" if channels_first else "1, 2",
        of_kernel="2, 3" if channels_first else "0, 1",
    )
    (found,) = run(context, text, image, kernel)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


LOOSE = """func.func @f(%x: tensor<2x6xf32>) -> ({results}) {{
  %low = arith.constant 0xFF800000 : f32
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x3xf32>
  %i = tensor.empty() : tensor<2x3xi32>
  %ef = linalg.fill ins(%low : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %if = linalg.fill ins(%z : i32) outs(%i : tensor<2x3xi32>) -> tensor<2x3xi32>
  %r:2 = iree_linalg_ext.topk_v2 dimension(1) ins(%x : tensor<2x6xf32>) outs(%ef, %if : tensor<2x3xf32>, tensor<2x3xi32>) {{
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %c : i1
  }} -> tensor<2x3xf32>, tensor<2x3xi32>
  {after}
}}"""
BEST = LOOSE.format(
    results="tensor<2x3xf32>, tensor<2x3xi32>", after="return %r#0, %r#1 : tensor<2x3xf32>, tensor<2x3xi32>"
)


def test_a_topk_that_is_not_sorted_is_compared_in_one_order(tmp_path):
    """A side that gives the same pairs in another order is right; one that mixes values and places is wrong."""
    source = tmp_path / "f.mlir"
    source.write_text(BEST)
    x = np.float32([[1, 5, 3, 9, 2, 7], [-1, -5, -3, -9, -2, -7]])
    (evaluation,) = evaluate(source, "f", [[x]], 300.0)
    values, places = np.float32([[7, 9, 5], [-1, -3, -2]]), np.int32([[5, 3, 1], [0, 2, 4]])
    ordered = in_one_order([values, places], evaluation.loose)
    for output, array in enumerate(ordered):
        assert judged(array, None, evaluation, output, ("f32", "i32")[output], Sides("a", "b")).agrees
    mixed = in_one_order([values, places[:, ::-1]], evaluation.loose)
    assert not judged(mixed[1], None, evaluation, 1, "i32", Sides("a", "b")).agrees


REVERSED = """%c2 = arith.constant 2 : index
  {0}
  return %b0, %b1 : tensor<2x3xf32>, tensor<2x3xi32>"""
BACKWARDS = """%e{0} = tensor.empty() : tensor<2x3x{1}>
  %b{0} = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}} outs(%e{0} : tensor<2x3x{1}>) {{
  ^bb0(%o: {1}):
    %m = linalg.index 0 : index
    %n = linalg.index 1 : index
    %k = arith.subi %c2, %n : index
    %v = tensor.extract %r#{0}[%m, %k] : tensor<2x3x{1}>
    linalg.yield %v : {1}
  }} -> tensor<2x3x{1}>
  """


def test_verify_takes_any_order_of_a_topk_that_is_not_sorted(tmp_path):
    first, second = tmp_path / "f.mlir", tmp_path / "g.mlir"
    first.write_text(BEST)
    backwards = REVERSED.format(BACKWARDS.format(0, "f32") + BACKWARDS.format(1, "i32"))
    text = LOOSE.format(results="tensor<2x3xf32>, tensor<2x3xi32>", after=backwards)
    second.write_text(text)
    assert verify(first, second, options=Options(on=("local-task",))).agrees
    second.write_text(text.replace("%b0, %b1 :", "%b0, %r#1 :"))  # values in one order, places in another
    assert not verify(first, second, options=Options(on=("local-task",))).agrees


def test_what_reads_a_topk_that_is_not_sorted_has_no_witness(context):
    text = LOOSE.format(
        results="tensor<2x3xf32>",
        after="%s = arith.addf %r#0, %ef : tensor<2x3xf32>\n  return %s : tensor<2x3xf32>",
    )
    with pytest.raises(NoWitness, match=r"arith\.addf of a topk whose results may come in any order"):
        run(context, text, np.zeros((2, 6), np.float32))


# --- in its own process


def test_the_child_has_a_deadline_and_says_why(tmp_path):
    source = tmp_path / "loop.mlir"
    source.write_text("""func.func @f(%x: i32) -> i32 {
      %true = arith.constant true
      %r = scf.while (%a = %x) : (i32) -> i32 { scf.condition(%true) %a : i32 } do { ^bb0(%b: i32): scf.yield %b : i32 }
      return %r : i32 }""")
    assert evaluate(source, "f", [[np.int32(1)]], 300.0) == ["more than 100000 steps of loops"]
    assert evaluate(source, "f", [[np.int32(1)]], 0.1) == ["NumPy did not end within 0.1 s"]
    assert evaluate(source, "g", [[np.int32(1)]], 300.0) == ["@g, which has no body"]


# --- against llvm-cpu
