"""FIS135: integers below a byte whose neighbours' bits are read with them, found exactly where stock's numbers are wrong."""

import numpy as np
import pytest
from built import run

import fissile
from fissile.passes.analysis.dispatch.dispatches import dispatches
from fissile.passes.failures.narrow.sub_byte_extension import SubByteExtension
from fissile.pipelines.numerics.runtimes import present
from fissile.pipelines.probe.stock_outcome import narrow_elements
from fissile.pipelines.session import Session

PROGRAM = """
func.func @main(%a: tensor<4xi8>) -> tensor<{n}x{wide}> {{
  %x = flow.tensor.bitcast %a : tensor<4xi8> -> tensor<{n}x{small}>
  %e = tensor.empty() : tensor<{n}x{wide}>
  %r = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}}
      ins(%x : tensor<{n}x{small}>) outs(%e : tensor<{n}x{wide}>) {{
  ^bb0(%v: {small}, %o: {wide}):
    {body}
    linalg.yield %y : {wide}
  }} -> tensor<{n}x{wide}>
  return %r : tensor<{n}x{wide}>
}}
"""
BYTES = np.uint8([0x10, 0x32, 0x5C, 0xFE])


def program(op: str, small: str, wide: str) -> tuple[str, np.ndarray]:
    """The program, and what it computes of BYTES."""
    bits = int(small[1:])
    fields = np.unpackbits(BYTES, bitorder="little").reshape(-1, bits)
    values = (fields.astype(np.int32) << np.arange(bits)).sum(1)
    signed = values - ((values >> (bits - 1)) << bits)
    expected = (values if op == "extui" else signed).astype(np.dtype(f"int{wide[1:]}"))
    return PROGRAM.format(
        body=f"%y = arith.{op} %v : {small} to {wide}", small=small, wide=wide, n=32 // bits
    ), expected


@pytest.mark.parametrize(
    ("target", "wide", "found"),
    (
        ("--iree-vulkan-target=ampere", "i8", ("i4",)),
        ("--iree-vulkan-target=ampere", "i16", ("i4",)),
        ("--iree-vulkan-target=ampere", "i32", ()),  # an extension to 32 bits masks
        ("--iree-hal-target-device=vulkan", "i8", ()),  # no bytes there: FIS110
    ),
)
def test_it_is_found_where_bytes_are_computed_in_bytes(target, wide, found):
    module = as_configured(program("extui", "i4", wide)[0], target)
    assert extended(module) == ([found] if found else [])


ONE = "%k = arith.constant 1 : i4\n    "
READS = {
    "index": "%i = arith.index_castui %v : i4 to index\n    %y = arith.index_cast %i : index to i32",
    "comparison": ONE + "%c = arith.cmpi sgt, %v, %k : i4\n    %y = arith.extui %c : i1 to i32",
    "shift": ONE + "%c = arith.shrsi %v, %k : i4\n    %y = arith.extsi %c : i4 to i32",
    "sum": "%c = arith.addi %v, %v : i4\n    %t = arith.extui %c : i4 to i8\n    "
    "%d = arith.addi %t, %t : i8\n    %y = arith.extsi %d : i8 to i32",
    "masked": ONE + "%c = arith.andi %v, %k : i4\n    %t = arith.extui %c : i4 to i16\n    "
    "%d = arith.addi %t, %t : i16\n    %y = arith.extsi %d : i16 to i32",
    "float": "%f = arith.sitofp %v : i4 to f32\n    %y = arith.fptosi %f : f32 to i32",
}


def extended(module) -> list[tuple[str, ...]]:
    """The element types that each dispatch extends with their neighbours' bits."""
    return [
        evidence.types for _dispatch, evidence in narrow_elements(SubByteExtension(), dispatches(module.op))
    ]


def as_configured(text: str, *flags: str):
    session = Session(["--iree-hal-target-device=vulkan", *flags])
    return session.run(session.parse_text(text, "in.mlir"), "executable-configurations")


@pytest.mark.parametrize("name", READS)
def test_what_reads_the_whole_register_is_found(name):
    module = as_configured(
        PROGRAM.format(body=READS[name], small="i4", wide="i32", n=8), "--iree-vulkan-target=ampere"
    )
    assert extended(module) == ([] if name in ("masked", "float") else [("i4",)])


@pytest.mark.skipif("vulkan" not in [r.name for r in present()], reason="no Vulkan device")
@pytest.mark.parametrize(
    ("name", "expected"),
    (
        ("index", [0, 1, 2, 3, 12, 5, 14, 15]),
        ("shift", [0, 0, 1, 1, -2, 2, -1, -1]),
        ("sum", [0, 4, 8, 12, 16, 20, 24, 28]),
    ),
)
def test_what_reads_the_whole_register_is_masked(tmp_path, name, expected):
    source, vmfb = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(PROGRAM.format(body=READS[name], small="i4", wide="i32", n=8))
    report = fissile.compile(
        source, vmfb, ["--iree-hal-target-device=vulkan", "--fissile-match-device=vulkan"], check=False
    )
    assert {(f.code, f.severity.value) for f in report.findings} == {("FIS135", "repaired")}
    np.testing.assert_array_equal(run(vmfb, [BYTES.view(np.int8)], "vulkan")[0], np.array(expected))


@pytest.mark.skipif("vulkan" not in [r.name for r in present()], reason="no Vulkan device")
@pytest.mark.parametrize(("op", "small"), (("extui", "i4"), ("extsi", "i2")))
def test_stock_is_wrong_and_the_repair_right(tmp_path, op, small):
    text, expected = program(op, small, "i8")
    source, vmfb = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(text)
    flags = ["--iree-hal-target-device=vulkan", "--fissile-match-device=vulkan"]
    stock = fissile.compile(source, vmfb, flags, repair="off", allow_wrong=True, check=False)
    assert {(f.code, f.severity.value) for f in stock.findings} == {("FIS135", "warning")}
    assert not np.array_equal(run(vmfb, [BYTES.view(np.int8)], "vulkan")[0], expected)
    report = fissile.compile(source, vmfb, flags, check=False)
    assert {(f.code, f.severity.value) for f in report.findings} == {("FIS135", "repaired")}
    np.testing.assert_array_equal(run(vmfb, [BYTES.view(np.int8)], "vulkan")[0], expected)


ROUND_TRIP = """
  %e{i} = tensor.empty() : tensor<{shape}x{small}>
  %s{i} = linalg.generic {{indexing_maps = [#{map}, #{map}], iterator_types = [{loops}]}}
      ins(%a{i} : tensor<{shape}xf32>) outs(%e{i} : tensor<{shape}x{small}>) {{
  ^bb0(%v: f32, %o: {small}):
    %k = arith.fptoui %v : f32 to i32
    %y = arith.trunci %k : i32 to {small}
    linalg.yield %y : {small}
  }} -> tensor<{shape}x{small}>
  %b{i} = util.optimization_barrier %s{i} : tensor<{shape}x{small}>
  %f{i} = tensor.empty() : tensor<{shape}xi8>
  %r{i} = linalg.generic {{indexing_maps = [#{map}, #{map}], iterator_types = [{loops}]}}
      ins(%b{i} : tensor<{shape}x{small}>) outs(%f{i} : tensor<{shape}xi8>) {{
  ^bb0(%v: {small}, %o: i8):
    %y = arith.extui %v : {small} to i8
    linalg.yield %y : i8
  }} -> tensor<{shape}xi8>
"""
STORED = (("i4", (8,)), ("i2", (8,)), ("i2", (20,)), ("i4", (4, 8)))
"""A word, half of one, one with a byte behind it, and rows that IREE has no code to store (FIS104)."""


MANY = tuple(
    (small, sizes)
    for small in ("i4", "i2")
    for sizes in ((8,), (20,), (4, 8), (4, 7), (12,), (4,), (16,), (36,), (4, 6), (2, 16), (64,), (7, 4), (28,), (6, 6), (1, 8), (132,))
)  # fmt: skip


def round_trips(stored=STORED) -> str:
    """Stores of floats as elements below a byte, each read back as bytes."""
    maps = {1: ("line", "(d0) -> (d0)"), 2: ("plane", "(d0, d1) -> (d0, d1)")}
    parts, arguments, results = [], [], []
    for i, (small, sizes) in enumerate(stored):
        shape, rank = "x".join(map(str, sizes)), len(sizes)
        loops = ", ".join(['"parallel"'] * rank)
        parts.append(ROUND_TRIP.format(i=i, small=small, shape=shape, map=maps[rank][0], loops=loops))
        arguments.append(f"%a{i}: tensor<{shape}xf32>")
        results.append(f"tensor<{shape}xi8>")
    head = "".join(f"#{name} = affine_map<{text}>\n" for name, text in maps.values())
    returned = ", ".join(f"%r{i}" for i in range(len(stored)))
    kinds = ", ".join(results)
    return f"{head}func.func @main({', '.join(arguments)}) -> ({kinds}) {{{''.join(parts)}  return {returned} : {kinds}\n}}\n"


@pytest.mark.skipif("vulkan" not in [r.name for r in present()], reason="no Vulkan device")
def test_what_is_stored_keeps_its_buffer(tmp_path):
    source, vmfb = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(round_trips())
    report = fissile.compile(
        source, vmfb, ["--iree-hal-target-device=vulkan", "--fissile-match-device=vulkan"], check=False
    )
    assert {(f.code, f.severity.value) for f in report.findings} == {
        ("FIS135", "repaired"),
        ("FIS104", "repaired"),
    }
    assert all("in-place=true" in str(f.helps) for f in report.findings if f.code == "FIS135")
    values = [np.arange(np.prod(sizes)).reshape(sizes) * 3 % (1 << int(small[1:])) for small, sizes in STORED]
    for expected, found in zip(
        values, run(vmfb, [v.astype(np.float32) for v in values], "vulkan"), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.skipif("vulkan" not in [r.name for r in present()], reason="no Vulkan device")
@pytest.mark.parametrize("matched", ((), ("--fissile-match-device=vulkan",)), ids=("default", "matched"))
def test_many_stores_and_reads_in_one_program(tmp_path, matched):
    """32 pairs of dispatches, each with another type or shape."""
    source, vmfb = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(round_trips(MANY))
    report = fissile.compile(source, vmfb, ["--iree-hal-target-device=vulkan", *matched], check=False)
    assert {f.severity.value for f in report.findings} == {"repaired"}
    values = [np.arange(np.prod(sizes)).reshape(sizes) * 3 % (1 << int(small[1:])) for small, sizes in MANY]
    found = run(vmfb, [v.astype(np.float32) for v in values], "vulkan")
    for expected, got in zip(values, found, strict=True):
        np.testing.assert_array_equal(got, expected)
