"""What the storage guard claims of single programs: each call runs with the right numbers or is refused, and what cannot fail is
not doubted. One module holds all functions, so that they are compiled once."""

from __future__ import annotations

import iree.runtime as rt
import numpy as np
import pytest
from storage_sweep import FLAGS

from fissile.pipelines.compile.hooks.guard import GUARDED_AT, guard
from fissile.pipelines.session import Session

F, I32, I64 = np.float32, np.int32, np.int64


def ints(*values, kind=I32):
    return np.array(values, kind)


def ramp(*shape):
    return np.arange(1, 1 + int(np.prod(shape)), dtype=F).reshape(shape)


DOUBLED = """%e = tensor.empty() : tensor<10xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%x : tensor<10xf32>) outs(%e : tensor<10xf32>) {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %p : f32
    linalg.yield %s : f32
  } -> tensor<10xf32>"""
X10 = ramp(10)

CASES: dict[str, tuple[str, list[tuple[list, object]]]] = {
    # Index tensors of dynamic length: the condition is no fact for itself.
    "rows_of_any_number": (
        """(%s: tensor<?x4xf32>, %ix: tensor<?xi32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ix, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = iree_linalg_ext.gather dimension_map = [0] ins(%s, %ix : tensor<?x4xf32>, tensor<?xi32>)
    outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}""",
        [
            ([ramp(5, 4), ints(4, 0)], ramp(5, 4)[[4, 0]]),
            ([ramp(5, 4), ints(0, 5)], None),
            ([ramp(5, 4), ints(-1, 4)], None),
        ],
    ),
    "rows_written": (
        """(%u: tensor<?x4xf32>, %ix: tensor<?x1xi32>, %o: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
    ins(%u, %ix : tensor<?x4xf32>, tensor<?x1xi32>) outs(%o : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    iree_linalg_ext.yield %a : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}""",
        [
            ([ramp(1, 4), ints([2]), np.zeros((3, 4), F)], np.vstack([np.zeros((2, 4), F), ramp(1, 4)])),
            ([ramp(2, 4), ints([0], [3]), np.zeros((3, 4), F)], None),
        ],
    ),
    "rows_behind_a_mask": (
        """(%s: tensor<3x2xi32>, %ix: tensor<?xi32>, %m: tensor<?xi1>, %o: tensor<?x2xi32>) -> tensor<?x2xi32> {
  %r = iree_linalg_ext.gather dimension_map = [0] ins(%s, %ix, %m : tensor<3x2xi32>, tensor<?xi32>, tensor<?xi1>)
    outs(%o : tensor<?x2xi32>) -> tensor<?x2xi32>
  return %r : tensor<?x2xi32>
}""",
        [
            (
                [ints([1, 2], [3, 4], [5, 6]), ints(2, 9), np.array([True, False]), ints([7, 7], [8, 8])],
                ints([5, 6], [8, 8]),
            ),
            ([ints([1, 2], [3, 4], [5, 6]), ints(2, 9), np.array([False, True]), ints([7, 7], [8, 8])], None),
        ],
    ),
    "rows_written_behind_a_mask": (
        """(%u: tensor<2xi32>, %ix: tensor<2x1xi32>, %m: tensor<2xi1>, %o: tensor<4xi32>) -> tensor<4xi32> {
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
    ins(%u, %ix, %m : tensor<2xi32>, tensor<2x1xi32>, tensor<2xi1>) outs(%o : tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32):
    iree_linalg_ext.yield %a : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}""",
        [
            ([ints(1, 2), ints([3], [9]), np.array([True, False]), ints(5, 6, 7, 8)], ints(5, 6, 7, 1)),
            ([ints(1, 2), ints([3], [9]), np.array([True, True]), ints(5, 6, 7, 8)], None),
        ],
    ),
    # Reads under the loops and branches of a body.
    "a_loop_in_a_body": (
        """(%x: tensor<?xf32>, %n: index) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %z) -> f32 {
      %v = tensor.extract %x[%k] : tensor<?xf32>
      %q = arith.addf %a, %v : f32
      scf.yield %q : f32
    }
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}""",
        [([ramp(5), 5], np.full(4, 15, F)), ([ramp(5), 6], None), ([ramp(5), -1], np.zeros(4, F))],
    ),
    "a_branch_in_a_body": (
        """(%x: tensor<?xf32>, %id: tensor<4xi32>, %on: tensor<4xi32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]} ins(%id, %on : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: i32, %w: i32, %o: f32):
    %k = arith.index_cast %i : i32 to index
    %c = arith.cmpi ne, %w, %c0 : i32
    %s = scf.if %c -> f32 {
      %v = tensor.extract %x[%k] : tensor<?xf32>
      scf.yield %v : f32
    } else {
      scf.yield %z : f32
    }
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}""",
        [
            ([ramp(3), ints(0, 1, 2, 9), ints(1, 1, 1, 0)], np.array([1, 2, 3, 0], F)),
            ([ramp(3), ints(0, 1, 2, 9), ints(0, 0, 0, 1)], None),
            ([ramp(3), ints(0, -1, 2, 2), ints(1, 1, 1, 1)], None),
        ],
    ),
    "a_branch_of_the_caller_in_a_body": (
        """(%x: tensor<?xf32>, %id: tensor<4xi32>, %on: i1) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %z = arith.constant 9.0 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%id : tensor<4xi32>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: i32, %o: f32):
    %k = arith.index_cast %i : i32 to index
    %s = scf.if %on -> f32 {
      %v = tensor.extract %x[%k] : tensor<?xf32>
      scf.yield %v : f32
    } else {
      scf.yield %z : f32
    }
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}""",
        [
            ([ramp(3), ints(0, 1, 2, 2), 1], np.array([1, 2, 3, 3], F)),
            ([ramp(3), ints(0, 1, 2, 3), 0], np.full(4, 9, F)),
            ([ramp(3), ints(0, 1, 2, 3), 1], None),
            ([ramp(3), ints(0, -1, 2, 2), 1], None),
        ],
    ),
    # flow and hal ops take listed sizes for the tensor's.
    "a_view_of_a_listed_size": (
        """(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %b = hal.tensor.export %x : tensor<?xf32>{%n} -> !hal.buffer_view
  %y = hal.tensor.import %b : !hal.buffer_view -> tensor<?xf32>{%n}
  return %y : tensor<?xf32>
}""",
        [([ramp(4), 4], ramp(4)), ([ramp(4), 5], None), ([ramp(4), 3], None)],
    ),
    "an_element_loaded": (
        f"(%x: tensor<10xf32>, %i: index) -> f32 {{\n  {DOUBLED}\n  %v = flow.tensor.load %d[%i] : tensor<10xf32>\n  return %v : f32\n}}",
        [([X10, 9], F(20)), ([X10, 10], None), ([X10, -1], None)],
    ),
    "a_size_listed": (
        """(%x: tensor<?xf32>, %i: index, %m: index) -> tensor<?x2xf32> {
  %y = flow.tensor.reshape %x : tensor<?xf32>{%i} -> tensor<?x2xf32>{%m}
  return %y : tensor<?x2xf32>
}""",
        [
            ([ramp(6), 6, 3], ramp(3, 2)),
            ([ramp(6), 5, 3], None),
            ([ramp(6), 6, 2], None),
            ([ramp(6), 8, 4], None),
        ],
    ),
    "a_part_updated": (
        """(%x: tensor<?xf32>, %u: tensor<?xf32>, %i: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %k = tensor.dim %u, %c0 : tensor<?xf32>
  %y = flow.tensor.update %u, %x[%i] : tensor<?xf32>{%k} -> %x as tensor<?xf32>{%n}
  return %y : tensor<?xf32>
}""",
        [([np.zeros(4, F), ramp(2), 2], np.array([0, 0, 1, 2], F)), ([np.zeros(4, F), ramp(2), 3], None)],
    ),
    # A choice: legal where IREE has room for it.
    "one_of_two": (
        """(%c: i1, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.select %c, %x, %y : tensor<?xf32>
  return %r : tensor<?xf32>
}""",
        [
            ([1, ramp(3), ramp(5)], ramp(3)),
            ([1, ramp(5), ramp(3)], ramp(5)),
            ([0, ramp(5), ramp(3)], ramp(3)),
            ([0, ramp(3), ramp(5)], None),
        ],
    ),
    # No element, no harm.
    "empty_in_one_dimension": (
        """(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %r = tensor.extract_slice %x[0, 0] [%n, %m] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}""",
        [
            ([ramp(2, 3), 0, 7], np.zeros((0, 7), F)),
            ([ramp(2, 3), 7, 0], np.zeros((7, 0), F)),
            ([ramp(2, 3), 2, 3], ramp(2, 3)),
            ([ramp(2, 3), 2, 4], None),
            ([ramp(2, 3), 0, -1], None),
        ],
    ),
    # One element is inside with any stride; neither `length + stride` nor `size * stride` is computed, which would wrap.
    "one_element_with_any_stride": (
        """(%x: tensor<?xi32>, %o: index, %n: index, %s: index) -> tensor<?xi32> {
  %r = tensor.extract_slice %x[%o] [%n] [%s] : tensor<?xi32> to tensor<?xi32>
  return %r : tensor<?xi32>
}""",
        [
            ([ints(5, 6), 1, 1, 2**63 - 1], ints(6)),
            ([ints(5, 6), 1, 1, -(2**63)], ints(6)),
            ([ints(5, 6), 2, 1, 2**63 - 1], None),
            ([ints(5, 6), 0, 2, 2**63 - 1], None),
            ([ints(5, 6), 1, 2, -1], ints(6, 5)),
            ([ints(5, 6), 1, 2, -2], None),
            ([ints(5, 6), 0, 3, 2**62], None),
            ([ints(5, 6), 0, 5, 2**62], None),
        ],
    ),
    # As the import writes an index that may be negative, such as in the loop of an onnx.LSTM.
    "a_boolean_that_is_a_number": (
        """(%x: tensor<5x2xf32>, %n: i64) -> tensor<1x2xf32> {
  %c0 = arith.constant 0 : i64
  %c5 = arith.constant 5 : i64
  %below = arith.cmpi slt, %n, %c0 : i64
  %one = arith.extui %below : i1 to i64
  %more = arith.muli %one, %c5 : i64
  %at = arith.addi %n, %more : i64
  %i = arith.index_cast %at : i64 to index
  %r = tensor.extract_slice %x[%i, 0] [1, 2] [1, 1] : tensor<5x2xf32> to tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}""",
        [
            ([ramp(5, 2), 4], ramp(5, 2)[4:]),
            ([ramp(5, 2), -5], ramp(5, 2)[:1]),
            ([ramp(5, 2), 5], None),
            ([ramp(5, 2), -6], None),
        ],
    ),
    # What fails wherever it runs is no fault of the calls that do not run it; stock IREE refuses these two.
    "a_branch_that_fails": (
        """(%x: tensor<10xf32>, %p: i1) -> tensor<?xf32> {
  %c11 = arith.constant 11 : index
  %c2 = arith.constant 2 : index
  %r = scf.if %p -> tensor<?xf32> {
    %s = tensor.extract_slice %x[0] [%c11] [1] : tensor<10xf32> to tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  } else {
    %s = tensor.extract_slice %x[0] [%c2] [1] : tensor<10xf32> to tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}""",
        [([ramp(10), 0], ramp(2)), ([ramp(10), 1], None)],
    ),
    "a_loop_that_fails": (
        """(%x: tensor<10xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %z = arith.constant 3.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> f32 {
    %v = tensor.extract %x[%c10] : tensor<10xf32>
    %s = arith.addf %a, %v : f32
    scf.yield %s : f32
  }
  return %r : f32
}""",
        [([ramp(10), 0], F(3)), ([ramp(10), -1], F(3)), ([ramp(10), 1], None)],
    ),
    "a_minimum_that_is_unsigned": (
        """(%x: tensor<8xf32>, %n: index) -> f32 {
  %c7 = arith.constant 7 : index
  %k = arith.minui %n, %c7 : index
  %v = tensor.extract %x[%k] : tensor<8xf32>
  return %v : f32
}""",
        [([ramp(8), 2], F(3)), ([ramp(8), -1], F(8))],
    ),
    "a_rest_that_is_unsigned": (
        """(%x: tensor<8xf32>, %n: index) -> f32 {
  %c9 = arith.constant 9 : index
  %k = arith.remui %n, %c9 : index
  %v = tensor.extract %x[%k] : tensor<8xf32>
  return %v : f32
}""",
        [
            ([ramp(8), 16], F(8)),
            ([ramp(8), 8], None),
            ([ramp(8), -1], F(1 + (2**64 - 1) % 9)),
            ([ramp(8), -8], None),
        ],
    ),
}
# (2**64 - 1) % 9 is 6; -8 is 2**64 - 8, of which the rest is 8.


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    text = "\n".join(f"func.func @{name}{text}" for name, (text, _) in CASES.items())
    with Session(FLAGS["local-task"]) as session:
        module = session.run(session.parse_text(text), GUARDED_AT)
        found = guard(module.op)
        assert {f.code for f in found.findings} <= {"FIS202"}
        session.run(module, "end")
        path = tmp_path_factory.mktemp("claims") / "all.vmfb"
        session.write(module, path)
    config = rt.Config("local-sync")
    yield rt.load_vm_module(rt.VmModule.mmap(config.vm_instance, str(path)), config)


@pytest.mark.parametrize(
    ("name", "number"), [(name, i) for name, (_, calls) in CASES.items() for i in range(len(calls))]
)
def test_a_call_runs_or_is_refused(functions, name, number):
    given, expected = CASES[name][1][number]
    call = getattr(functions, name)
    if expected is None:
        # IREE's own check of a buffer that it hands out may come first.
        with pytest.raises((RuntimeError, IndexError), match="FAILED_PRECONDITION|OUT_OF_RANGE"):
            call(*given)
    else:
        found = call(*given)
        np.testing.assert_array_equal(found.to_host() if hasattr(found, "to_host") else found, expected)
