"""Signatures from types and reflection, and seeded inputs for them."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fissile.errors import UsageError
from fissile.pipelines.numerics.inputs import Sizes, check_places, draw
from fissile.pipelines.numerics.signature import (
    ELEMENT_TYPES,
    Signature,
    Value,
    choose,
    parse_declaration,
    parse_value,
    signatures_of_module,
)
from fissile.pipelines.numerics.sub_byte import SUB_BYTE_BITS, pack, unpack

DECLARATION = (
    "sync func @main(%input0: tensor<?x4xi8>, %input1: i32, %input2: tensor<4xbf16>, %input3: index, "
    "%input4: tensor<f32> {iree.abi.output = 0 : index}) -> (%output0: tensor<?x4xi8>, %output1: i1)"
)


def test_declaration():
    signature = parse_declaration(DECLARATION)
    assert signature.function == "main"
    assert [(a.element, a.shape) for a in signature.arguments] == [
        ("i8", (None, 4)),
        ("i32", None),
        ("bf16", (4,)),
        ("index", None),
        ("f32", ()),
    ]
    assert [(r.element, r.shape) for r in signature.results] == [("i8", (None, 4)), ("i1", None)]
    nothing = parse_declaration("sync func @f() -> ()")
    assert nothing.arguments == nothing.results == ()


def test_torch_types():
    assert parse_value("!torch.vtensor<[1,?],si8>").shape == (1, None)
    assert parse_value("!torch.vtensor<[1,?],si8>").element == "i8"
    assert parse_value("!torch.vtensor<[],f32>").shape == ()
    assert parse_value("!torch.vtensor<[?,2],complex<f32>>").shape == (None, 2)
    assert parse_value("!torch.vtensor<[?,2],complex<f32>>").element == "complex<f32>"
    assert parse_value("!torch.int").element == "i64"


@pytest.mark.parametrize(
    "text", ["!hal.buffer_view", "complex<f32>", "tensor<4xf4E2M1FN>", "!util.list<?>", "tensor<2xi3>", "i4"]
)
def test_unknown_types_are_reported(text):
    with pytest.raises(UsageError, match="no data can be made"):
        draw(Signature("f", (parse_value(text),), ()), seed=0)


def test_tensor_encodings_are_ignored():
    assert parse_value("tensor<3x?xf32, #iree_encoding.packed_storage>").shape == (3, None)


@pytest.mark.parametrize("element", ELEMENT_TYPES)
def test_every_element_type_is_drawn(element):
    scalars = () if element in SUB_BYTE_BITS or element.startswith("complex") else (parse_value(element),)
    tensor, *rest = draw(
        Signature("f", (parse_value(f"tensor<50x?x{element}>"), *scalars), ()), seed=1, sizes=Sizes(3)
    )
    assert tensor.shape == (50, 3) and all(scalar.shape == () for scalar in rest)
    assert {array.dtype for array in (tensor, *rest)} == {ELEMENT_TYPES[element]}
    assert (
        len(np.unique(tensor.astype(np.complex128))) > 1 and not np.isnan(tensor.astype(np.complex128)).any()
    )


def test_int8_covers_its_range_and_starts_with_its_edges():
    (x,) = draw(Signature("f", (parse_value("tensor<100x100xi8>"),), ()), seed=0)
    assert x.min() == -128 and x.max() == 127
    assert list(x.reshape(-1)[:5]) == [-128, 127, 0, 1, -1]


def test_seeds():
    signature = Signature("f", (parse_value("tensor<8xf32>"), parse_value("tensor<8xf32>")), ())
    a, b, c = draw(signature, 0), draw(signature, 0), draw(signature, 1)
    assert all(map(np.array_equal, a, b))
    assert not np.array_equal(a[0], c[0])
    assert not np.array_equal(a[0], a[1])
    tiny = Signature("f", (parse_value("tensor<2xi8>"),), ())
    assert len({draw(tiny, seed)[0].tobytes() for seed in range(8)}) > 1


def test_ranges_and_sizes():
    signature = Signature("f", (parse_value("tensor<?x?xi64>"), parse_value("tensor<64xf32>")), ())
    i, f = draw(signature, 0, Sizes.parse("5,0.1=7"), {0: (2, 3), 1: (-1.0, -0.5)})
    assert i.shape == (5, 7) and set(np.unique(i)) == {2, 3}
    assert f.min() >= -1.0 and f.max() <= -0.5


@pytest.mark.parametrize("text", ["", "x", "-1", "3,0=4", "3,0.1=x"])
def test_bad_sizes(text):
    with pytest.raises(UsageError, match="sizes for dynamic"):
        Sizes.parse(text)


@pytest.mark.parametrize("shape", [(64, 2**63 - 1, 18), (2**60,), (0, 2**62), (2**31, 2**31)])
def test_a_size_that_no_memory_has_is_refused(shape):
    text = "x".join(map(str, shape))
    with pytest.raises(UsageError, match=rf"argument 0, {text} elements"):
        draw(Signature("f", (Value(f"tensor<{text}xf32>", "f32", shape),), ()), 0)


def test_choose():
    one = {"main": Signature("main", (), ())}
    two = one | {"other": Signature("other", (), ())}
    assert choose(one, None, "a.mlir").function == "main"
    assert choose(two, "other", "a.mlir").function == "other"
    with pytest.raises(UsageError, match="2 public functions: main, other"):
        choose(two, None, "a.mlir")
    with pytest.raises(UsageError, match="no public function 'man'") as error:
        choose(two, "man", "a.mlir")
    assert "main" in error.value.hint


def test_signatures_of_a_live_module():
    from iree.compiler import ir

    text = """
      func.func private @hidden(%x: f32) -> f32 { return %x : f32 }
      func.func private @extern(%x: f32) -> f32
      func.func @main(%x: tensor<?x4xf16>, %n: index) -> tensor<?x4xf16> { return %x : tensor<?x4xf16> }
    """
    with ir.Context():
        found = signatures_of_module(ir.Module.parse(text))
    assert list(found) == ["main"]
    assert found["main"].arguments[0].dtype == np.float16
    assert found["main"].results[0].shape == (None, 4)


def test_bfloat16_is_ml_dtypes():
    assert parse_value("tensor<4xbf16>").dtype == np.dtype(ml_dtypes.bfloat16)


def test_a_torch_import_has_the_types_of_its_asynchronous_twin():
    """After IREE's ABI phase both functions take opaque buffers, and nothing else tells the types."""
    from iree.compiler import ir
    from iree.compiler.api import Session

    text = """
      util.func public @net$async(%x: !hal.buffer_view, %n: i64, %wait: !hal.fence, %signal: !hal.fence)
          -> !hal.buffer_view {
        %t = hal.tensor.import wait(%wait) => %x : !hal.buffer_view -> tensor<1x3xf16>
        %b = hal.tensor.barrier join(%t : tensor<1x3xf16>) => %signal : !hal.fence
        %v = hal.tensor.export %b : tensor<1x3xf16> -> !hal.buffer_view
        util.return %v : !hal.buffer_view
      }
      util.func public @net(%x: !hal.buffer_view, %n: i64) -> !hal.buffer_view {
        %f = util.null : !hal.fence
        %v = util.call @net$async(%x, %n, %f, %f)
          : (!hal.buffer_view, i64, !hal.fence, !hal.fence) -> !hal.buffer_view
        util.return %v : !hal.buffer_view
      }
    """
    with Session().context:
        found = signatures_of_module(ir.Module.parse(text))
    assert list(found) == ["net"]
    assert [v.text for v in (*found["net"].arguments, *found["net"].results)] == [
        "tensor<1x3xf16>",
        "i64",
        "tensor<1x3xf16>",
    ]


@given(bits=st.sampled_from([2, 4]), signed=st.booleans(), data=st.data())
def test_what_is_packed_is_unpacked(bits, signed, data):
    low = -(1 << (bits - 1)) if signed else 0
    values = data.draw(st.lists(st.integers(low, low + (1 << bits) - 1), max_size=40))
    array = np.array(values, np.int8 if signed else np.uint8)
    packed = pack(array, bits)
    assert len(packed) == -(-len(values) * bits // 8)
    assert list(unpack(packed, bits, array.dtype)[: len(values)]) == values


def test_the_first_is_in_the_lowest_bits():
    assert pack(np.array([1, -2, 3], np.int8), 4) == bytes([0xE1, 0x03])


TAKES = parse_declaration("sync func @f(%a: tensor<?x4xf32>, %b: i32) -> (%c: i32)")


@pytest.mark.parametrize(
    "sizes, ranges, message, hint",
    [
        ("9.0=3", {}, "@f has no argument 9", "it takes tensor<?x4xf32>, i32"),
        ("8", {2: (0.0, 1.0)}, "@f has no argument 2", "counted from 0"),
        ("8", {-1: (0.0, 1.0)}, "@f has no argument -1", "counted from 0"),
        ("0.2=3", {}, "argument 0 of @f, tensor<.x4xf32>, has no dimension 2", "counted from 0"),
        ("1.0=3", {}, "argument 1 of @f, i32, has no dimension 0", "a scalar has none"),
        ("0.1=3", {}, "dimension 1 of argument 0 of @f is 4, not 3", "dynamic"),
    ],
)
def test_sizes_and_ranges_of_what_is_not_there_are_refused(sizes, ranges, message, hint):
    with pytest.raises(UsageError, match=message) as refused:
        check_places(TAKES, Sizes.parse(sizes), ranges)
    assert hint in refused.value.hint


def test_sizes_and_ranges_of_what_is_there_are_taken():
    check_places(TAKES, Sizes.parse("8,0.0=3,0.1=4"), {0: (0.0, 1.0), 1: (0.0, 3.0)})
