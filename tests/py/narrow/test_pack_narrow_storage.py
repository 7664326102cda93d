"""Packed programs compute the same numbers: proved on llvm-cpu for all, and on the Vulkan device where one is."""

import iree.runtime
import numpy as np
import pytest

from fissile.passes.analysis.dispatch.dispatches import dispatches
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import signatures_of_vmfb
from fissile.pipelines.pass_runner import run_pipeline
from fissile.pipelines.repair.packing import narrow_without_code
from fissile.pipelines.session import Session

LLVM_CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)
VULKAN = ("--iree-hal-target-device=vulkan",)
GENERATOR = np.random.default_rng(3)


def elementwise(name, shape, inputs, output, body):
    """A function of one elementwise op; `?` in ``shape`` is a dynamic size."""
    rank = len(shape)
    tensor = {kind: f"tensor<{'x'.join(map(str, shape))}x{kind}>" for kind in {*inputs, output}}
    identity = f"affine_map<({', '.join(f'd{i}' for i in range(rank))}) -> ({', '.join(f'd{i}' for i in range(rank))})>"
    sizes = [i for i, size in enumerate(shape) if size == "?"]
    read = "".join(
        f"%c{i} = arith.constant {i} : index\n%s{i} = tensor.dim %a0, %c{i} : {tensor[inputs[0]]}\n"
        for i in sizes
    )
    return f"""
func.func @{name}({", ".join(f"%a{i}: {tensor[kind]}" for i, kind in enumerate(inputs))}) -> {tensor[output]} {{
  {read}%e = tensor.empty({", ".join(f"%s{i}" for i in sizes)}) : {tensor[output]}
  %r = linalg.generic {{indexing_maps = [{", ".join([identity] * (len(inputs) + 1))}],
                       iterator_types = [{", ".join(['"parallel"'] * rank)}]}}
      ins({", ".join(f"%a{i}" for i in range(len(inputs)))} : {", ".join(tensor[kind] for kind in inputs)})
      outs(%e : {tensor[output]}) {{
  ^bb0({", ".join(f"%i{i}: {kind}" for i, kind in enumerate(inputs))}, %o: {output}):
    {body}
    linalg.yield %y : {output}
  }} -> {tensor[output]}
  return %r : {tensor[output]}
}}
"""


DEQUANTISE = "%f = arith.sitofp %i0 : i8 to f32\n%k = arith.constant 0.5 : f32\n%y = arith.mulf %f, %k : f32"
QUANTISE = """%lo = arith.constant -128.0 : f32
    %hi = arith.constant 127.0 : f32
    %k = arith.constant 30.0 : f32
    %s = arith.mulf %i0, %k : f32
    %t = math.roundeven %s : f32
    %u = arith.maximumf %t, %lo : f32
    %v = arith.minimumf %u, %hi : f32
    %y = arith.fptosi %v : f32 to i8"""
MATMUL = """
func.func @matmul(%a: tensor<9x12xi8>, %b: tensor<12x5xi8>) -> tensor<9x5xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<9x5xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<9x5xi32>) -> tensor<9x5xi32>
  %r = linalg.matmul ins(%a, %b : tensor<9x12xi8>, tensor<12x5xi8>) outs(%f : tensor<9x5xi32>) -> tensor<9x5xi32>
  return %r : tensor<9x5xi32>
}
"""
MOVES = """
func.func @moves(%a: tensor<3x5xi8>, %b: tensor<2x5xi8>) -> tensor<7x8xi8> {
  %c = tensor.concat dim(0) %a, %b : (tensor<3x5xi8>, tensor<2x5xi8>) -> tensor<5x5xi8>
  %k = arith.constant 9 : i8
  %p = tensor.pad %c low[1, 1] high[1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %k : i8
  } : tensor<5x5xi8> to tensor<7x8xi8>
  return %p : tensor<7x8xi8>
}
"""
BY_NUMBER = """
func.func @by_number(%a: tensor<4x6xf16>, %n: tensor<f16>) -> tensor<4x6xf16> {
  %k = arith.constant dense<3.0> : tensor<f16>
  %e = tensor.empty() : tensor<4x6xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>,
                                        affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %n, %k : tensor<4x6xf16>, tensor<f16>, tensor<f16>) outs(%e : tensor<4x6xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16, %o: f16):
    %s = arith.mulf %x, %y : f16
    %t = arith.subf %s, %z : f16
    linalg.yield %t : f16
  } -> tensor<4x6xf16>
  return %r : tensor<4x6xf16>
}
"""
GATHER = """
func.func @gather(%a: tensor<9x5xi8>, %i: tensor<3x1xi32>) -> tensor<3x5xi8> {
  %e = tensor.empty() : tensor<3x5xi8>
  %r = iree_linalg_ext.gather dimension_map = [0] ins(%a, %i : tensor<9x5xi8>, tensor<3x1xi32>)
      outs(%e : tensor<3x5xi8>) -> tensor<3x5xi8>
  return %r : tensor<3x5xi8>
}
"""
SCATTER = """
func.func @scatter(%u: tensor<3x5xi8>, %i: tensor<3x1xi32>, %a: tensor<6x5xi8>) -> tensor<6x5xi8> {
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%u, %i : tensor<3x5xi8>, tensor<3x1xi32>)
      outs(%a : tensor<6x5xi8>) {
  ^bb0(%new: i8, %old: i8):
    %s = arith.addi %new, %old : i8
    iree_linalg_ext.yield %s : i8
  } -> tensor<6x5xi8>
  return %r : tensor<6x5xi8>
}
"""
ARG_MAX = """
func.func @arg_max(%a: tensor<3x17xi8>) -> tensor<3xi32> {
  %low = arith.constant -128 : i8
  %none = arith.constant 0 : i32
  %ve = tensor.empty() : tensor<3xi8>
  %ie = tensor.empty() : tensor<3xi32>
  %v = linalg.fill ins(%low : i8) outs(%ve : tensor<3xi8>) -> tensor<3xi8>
  %i = linalg.fill ins(%none : i32) outs(%ie : tensor<3xi32>) -> tensor<3xi32>
  %r:2 = iree_linalg_ext.arg_compare dimension(1) ins(%a : tensor<3x17xi8>) outs(%v, %i : tensor<3xi8>, tensor<3xi32>) {
  ^bb0(%x: i8, %y: i8):
    %g = arith.cmpi sgt, %x, %y : i8
    iree_linalg_ext.yield %g : i1
  } -> tensor<3xi8>, tensor<3xi32>
  return %r#1 : tensor<3xi32>
}
"""
LOOP = """
func.func @loop(%a: tensor<3x5xi8>, %n: tensor<1xi32>) -> tensor<3x5xi8> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.extract %n[%c0] : tensor<1xi32>
  %count = arith.index_cast %m : i32 to index
  %w = arith.constant dense<[[1, 2, 3, 4, -5], [100, -128, 127, 0, 9], [7, 8, 9, 10, 11]]> : tensor<3x5xi8>
  %r = scf.for %i = %c0 to %count step %c1 iter_args(%t = %a) -> tensor<3x5xi8> {
    %s = arith.addi %t, %w : tensor<3x5xi8>
    scf.yield %s : tensor<3x5xi8>
  }
  return %r : tensor<3x5xi8>
}
"""
SORT = """
func.func @sort(%a: tensor<3x17xf16>) -> tensor<3x17xf16> {
  %r = iree_linalg_ext.sort dimension(1) outs(%a : tensor<3x17xf16>) {
  ^bb0(%x: f16, %y: f16):
    %c = arith.cmpf olt, %x, %y : f16
    iree_linalg_ext.yield %c : i1
  } -> tensor<3x17xf16>
  return %r : tensor<3x17xf16>
}
"""
SCAN = """
func.func @scan(%a: tensor<3x17xi8>) -> tensor<3x17xi8> {
  %z = arith.constant 0 : i8
  %e = tensor.empty() : tensor<3x17xi8>
  %ae = tensor.empty() : tensor<3xi8>
  %acc = linalg.fill ins(%z : i8) outs(%ae : tensor<3xi8>) -> tensor<3xi8>
  %r:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%a : tensor<3x17xi8>) outs(%e, %acc : tensor<3x17xi8>, tensor<3xi8>) {
  ^bb0(%x: i8, %y: i8):
    %s = arith.addi %x, %y : i8
    iree_linalg_ext.yield %s : i8
  } -> tensor<3x17xi8>, tensor<3xi8>
  return %r#0 : tensor<3x17xi8>
}
"""
LARGEST = """
func.func @largest(%a: tensor<2x40xf16>) -> tensor<2x4xf16> {
  %low = arith.constant -6.0e+04 : f16
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x4xf16>
  %i = tensor.empty() : tensor<2x4xi32>
  %ef = linalg.fill ins(%low : f16) outs(%e : tensor<2x4xf16>) -> tensor<2x4xf16>
  %if = linalg.fill ins(%z : i32) outs(%i : tensor<2x4xi32>) -> tensor<2x4xi32>
  %r:2 = iree_linalg_ext.topk dimension(1) ins(%a : tensor<2x40xf16>) outs(%ef, %if : tensor<2x4xf16>, tensor<2x4xi32>) {
  ^bb0(%x: f16, %y: f16):
    %c = arith.cmpf ogt, %x, %y : f16
    iree_linalg_ext.yield %c : i1
  } -> tensor<2x4xf16>, tensor<2x4xi32>
  return %r#0 : tensor<2x4xf16>
}
"""
WEIGHTS = np.array([[1, 2, 3, 4, -5], [100, -128, 127, 0, 9], [7, 8, 9, 10, 11]], np.int8)


POWER = """
  func.func @power(%a: tensor<3x5xi8>, %b: tensor<3x5xi8>) -> tensor<3x5xi8> {
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i3 = arith.constant 3 : index
    %one = arith.constant 1 : i8
    %e = tensor.empty() : tensor<3x5xi8>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<3x5xi8>, tensor<3x5xi8>) outs(%e : tensor<3x5xi8>) {
    ^bb0(%x: i8, %n: i8, %o: i8):
      %p:3 = scf.for %k = %i0 to %i3 step %i1 iter_args(%power = %one, %square = %x, %left = %n) -> (i8, i8, i8) {
        %bit = arith.andi %left, %one : i8
        %odd = arith.cmpi eq, %bit, %one : i8
        %next = scf.if %odd -> i8 {
          %t = arith.muli %power, %square : i8
          scf.yield %t : i8
        } else {
          scf.yield %power : i8
        }
        %s = arith.muli %square, %square : i8
        %l = arith.shrui %left, %one : i8
        scf.yield %next, %s, %l : i8, i8, i8
      }
      linalg.yield %p#0 : i8
    } -> tensor<3x5xi8>
    return %r : tensor<3x5xi8>
  }
"""


def powers(a, b):
    """Of the lowest three bits of ``b``, which the program's loop looks at."""
    wide = a.astype(np.int64) ** (b.view(np.uint8) & 7)
    return wide.astype(np.int8)


def bytes_of(*shape):
    return GENERATOR.integers(-128, 128, shape).astype(np.int8)


def normal(*shape, kind=np.float32):
    return GENERATOR.standard_normal(shape).astype(kind) * kind(2)


def dequantised(a):
    return a.astype(np.float32) * np.float32(0.5)


def quantised(a):
    return np.clip(np.rint(a * np.float32(30)), -128, 127).astype(np.int8)


# name -> (text, inputs, NumPy's answer). Sizes: whole rows of words, whole words, a last word that is not full,
# one element, dynamic sizes that are full and that are not.
def scattered(updates, indices, into):
    result = into.copy()
    result[indices[:, 0]] += updates
    return result


CASES = {
    "dq_rows": (elementwise("dq_rows", [3, 8], ["i8"], "f32", DEQUANTISE), [bytes_of(3, 8)], dequantised),
    "dq_words": (elementwise("dq_words", [4, 7], ["i8"], "f32", DEQUANTISE), [bytes_of(4, 7)], dequantised),
    "dq_tail": (
        elementwise("dq_tail", [3, 7, 5], ["i8"], "f32", DEQUANTISE),
        [bytes_of(3, 7, 5)],
        dequantised,
    ),
    "dq_one": (elementwise("dq_one", [1], ["i8"], "f32", DEQUANTISE), [bytes_of(1)], dequantised),
    "dq_rows_dynamic": (
        elementwise("dq_rows_dynamic", ["?", 8], ["i8"], "f32", DEQUANTISE),
        [bytes_of(5, 8)],
        dequantised,
    ),
    "q_tail": (elementwise("q_tail", [3, 7], ["f32"], "i8", QUANTISE), [normal(3, 7)], quantised),
    "q_dynamic": (elementwise("q_dynamic", ["?", "?"], ["f32"], "i8", QUANTISE), [normal(5, 3)], quantised),
    "wraps": (
        elementwise("wraps", ["?", 7], ["i8", "i8"], "i8", "%y = arith.muli %i0, %i1 : i8"),
        [bytes_of(3, 7), bytes_of(3, 7)],
        lambda a, b: a * b,
    ),
    "halves": (
        elementwise(
            "halves",
            [5, 3],
            ["f16", "f16"],
            "f16",
            "%t = arith.addf %i0, %i1 : f16\n%y = arith.mulf %t, %i1 : f16",
        ),
        [normal(5, 3, kind=np.float16), normal(5, 3, kind=np.float16)],
        lambda a, b: (a + b) * b,
    ),
    "below": (
        elementwise("below", [6, 7], ["i8", "i8"], "i1", "%y = arith.cmpi ult, %i0, %i1 : i8"),
        [bytes_of(6, 7), bytes_of(6, 7)],
        lambda a, b: a.view(np.uint8) < b.view(np.uint8),
    ),
    "matmul": (
        MATMUL,
        [bytes_of(9, 12), bytes_of(12, 5)],
        lambda a, b: a.astype(np.int32) @ b.astype(np.int32),
    ),
    "moves": (
        MOVES,
        [bytes_of(3, 5), bytes_of(2, 5)],
        lambda a, b: np.pad(np.concatenate([a, b]), ((1, 1), (1, 2)), constant_values=9),
    ),
    "sort": (SORT, [normal(3, 17, kind=np.float16)], lambda a: np.sort(a, axis=1)),
    "scan": (SCAN, [bytes_of(3, 17)], lambda a: np.cumsum(a, axis=1, dtype=np.int8)),
    "largest": (LARGEST, [normal(2, 40, kind=np.float16)], lambda a: -np.sort(-a, axis=1)[:, :4]),
    "by_number": (
        BY_NUMBER,
        [normal(4, 6, kind=np.float16), np.float16(0.75).reshape(())],
        lambda a, n: a * n - np.float16(3),
    ),
    "gather": (GATHER, [bytes_of(9, 5), np.int32([[3], [0], [8]])], lambda a, i: a[i[:, 0]]),
    "scatter": (SCATTER, [bytes_of(3, 5), np.int32([[2], [0], [4]]), bytes_of(6, 5)], scattered),
    "arg_max": (
        ARG_MAX,
        [np.stack([GENERATOR.permutation(np.arange(-8, 9)) for _ in range(3)]).astype(np.int8)],
        lambda a: np.argmax(a, axis=1).astype(np.int32),
    ),
    "power": (POWER, [bytes_of(3, 5), bytes_of(3, 5)], powers),
    "loop": (
        LOOP,
        [bytes_of(3, 5), np.int32([3])],
        lambda a, n: (a + n[0] * WEIGHTS.astype(np.int32)).astype(np.int8),
    ),
}


def program(names=tuple(CASES)):
    return "module {" + "".join(CASES[name][0] for name in names) + "}"


def packed(flags, pipeline, to="end", names=tuple(CASES)):
    """The named cases as one module, packed at global optimisation and compiled up to ``to``."""
    session = Session(flags)
    module = session.parse_text(program(names))
    session.run(module, "global-optimization")
    if pipeline:
        run_pipeline(f"builtin.module({pipeline})", module.op, report=pytest.fail)
    session.run(module, to)
    return session, module


@pytest.fixture(scope="module")
def on_llvm_cpu(tmp_path_factory):
    session, module = packed(LLVM_CPU, "fissile-pack-narrow-storage{types=i1,i8,f16}")
    path = tmp_path_factory.mktemp("packed") / "cpu.vmfb"
    session.write(module, path)
    return iree.runtime.load_vm_flatbuffer_file(str(path), driver="local-sync")


@pytest.fixture(scope="module")
def vulkan_program(tmp_path_factory):
    if not any(runtime.name == "vulkan" for runtime in runtimes.present()):
        pytest.skip("no Vulkan device")
    # No Vulkan target takes a gather as it is, of 32-bit elements neither.
    session, module = packed(VULKAN, "fissile-decompose-movement,fissile-pack-narrow-storage")
    path = tmp_path_factory.mktemp("packed") / "vulkan.vmfb"
    session.write(module, path)
    return path, signatures_of_vmfb(path)


@pytest.mark.parametrize("name", CASES)
def test_the_same_numbers_on_llvm_cpu(on_llvm_cpu, name):
    _, inputs, reference = CASES[name]
    np.testing.assert_array_equal(getattr(on_llvm_cpu, name)(*inputs).to_host(), reference(*inputs))


@pytest.mark.parametrize("name", CASES)
def test_the_same_numbers_on_default_vulkan(vulkan_program, name):
    path, signatures = vulkan_program
    _, inputs, reference = CASES[name]
    [runtime] = runtimes.named(["vulkan"])
    answer = runtimes.run(path, signatures[name], inputs, runtime)
    assert isinstance(answer, list), answer
    np.testing.assert_array_equal(answer[0], reference(*inputs))


def test_no_dispatch_binds_a_narrow_buffer_and_stocks_do():
    _, before = packed(VULKAN, "", "executable-configurations")
    assert {f.code for f in narrow_without_code(dispatches(before.op))} == {"FIS110"}
    _, after = packed(VULKAN, "fissile-pack-narrow-storage", "executable-configurations")
    assert narrow_without_code(dispatches(after.op)) == [] and dispatches(after.op)


def test_a_target_with_narrow_storage_is_left_alone():
    session = Session(LLVM_CPU)
    module = session.parse_text(program())
    session.run(module, "global-optimization")
    before = module.text()
    run_pipeline("builtin.module(fissile-pack-narrow-storage)", module.op, report=pytest.fail)
    assert module.text() == before
