"""Findings about storage and its sizes: FIS2xx."""

from fissile.effect import Effect

from .rule import define
from .shown import Shown

BOUNDS = "fissile-opt in.mlir --fissile-assert-bounds"
COMPILE = "fissile compile in.mlir --target=llvm-cpu -o out.vmfb"

define(
    "FIS201",
    "storage-overrun",
    "an op accesses storage out of bounds in every call that runs it",
    "The size of an access never fits the capacity of its storage: every call that runs the op would read or write "
    "out of bounds, or interpret a tensor with the wrong shape.",
    "Stock IREE 3.13 does not check this: a tensor.insert_slice of 100 elements into a tensor of 10 runs without an "
    "error.",
    "Change the size that the finding names, or enlarge the storage. `fissile-grow-storage` computes a capacity "
    "from the sizes that use it, if the storage does not escape.",
    effect=Effect.OVERRUN,
    shown=Shown(
        BOUNDS,
        """\
func.func @f(%y: tensor<10xf32>, %x: tensor<12xf32>) -> tensor<12xf32> {
  %at = arith.constant 5 : index
  %r = tensor.insert_slice %y into %x[%at] [10] [1] : tensor<10xf32> into tensor<12xf32>
  return %r : tensor<12xf32>
}
""",
        """\
func.func @f(%y: tensor<10xf32>, %x: tensor<12xf32>) -> tensor<12xf32> {
  %at = arith.constant 2 : index
  %r = tensor.insert_slice %y into %x[%at] [10] [1] : tensor<10xf32> into tensor<12xf32>
  return %r : tensor<12xf32>
}
""",
    ),
)
define(
    "FIS202",
    "storage-precondition",
    "an op stays inside its storage only for some calls",
    "The sizes come from the caller: some fit and some do not. They are part of the function's contract.",
    "Neither constants nor intervals nor the solver can decide the condition for all calls, because an index or a "
    "size comes from the caller.",
    "With --guard=assert (the default) one assert checks it, at the function's entry if possible: a call that "
    "violates it returns FAILED_PRECONDITION with the same message. A `util.assume.int` or a cf.assert in the "
    "program may prove it.",
    effect=Effect.UNPROVED,
    shown=Shown(
        BOUNDS,
        """\
func.func @f(%x: tensor<10xf32>, %n: index) -> tensor<?xf32> {
  %r = tensor.extract_slice %x[0] [%n] [1] : tensor<10xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}
""",
        """\
func.func @f(%x: tensor<10xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %positive = arith.maxsi %n, %c0 : index
  %m = arith.minsi %positive, %c10 : index
  %r = tensor.extract_slice %x[0] [%m] [1] : tensor<10xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}
""",
    ),
)
define(
    "FIS203",
    "asserts-stripped",
    "run-time checks are needed, but an option strips them",
    "--iree-opt-strip-assertions removes every cf.assert, fissile's and the program's own.",
    "The option is meant for programs whose asserts are known to hold.",
    "Remove the option, or prove the conditions that FIS202 lists.",
    effect=Effect.UNPROVED,
    shown=Shown(
        f"{COMPILE} --iree-opt-strip-assertions",
        """\
func.func @f(%x: tensor<10xf32>, %n: index) -> tensor<?xf32> {
  %r = tensor.extract_slice %x[0] [%n] [1] : tensor<10xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}
""",
        repaired_command=COMPILE,
    ),
)
define(
    "FIS204",
    "storage-not-covered",
    "an op with dynamic shapes has no storage rule",
    "fissile does not know which sizes this op needs, so it checks nothing about it.",
    "The op belongs to a dialect or to a newer IREE that the storage rules do not cover.",
    "Report the op. A rule is one function in passes/analysis/storage/storage_rules.py.",
    effect=Effect.UNPROVED,
    shown=Shown(
        BOUNDS,
        """\
func.func @f(%x: tensor<?xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %r = linalg.pack %x inner_dims_pos = [0] inner_tiles = [2] into %y : tensor<?xf32> -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}
""",
        """\
func.func @f(%x: tensor<8xf32>, %y: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %r = linalg.pack %x inner_dims_pos = [0] inner_tiles = [2] into %y : tensor<8xf32> -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}
""",
    ),
)
define(
    "FIS205",
    "storage-not-protected",
    "a size may not fit, and no run-time check can be placed",
    "The condition depends on values that exist only inside a dispatch, in a form that fissile cannot compute "
    "outside of it. Or IREE rejects the program with the check, which stands in a loop or a branch: the note has its message.",
    "IREE drops asserts inside a dispatch. It optimises the host program until nothing changes, at most ten times, and rejects a program "
    "that still changes then.",
    "Clamp the index in the program, or compute it in a separate tensor.",
    effect=Effect.UNPROVED,
    shown=Shown(
        BOUNDS,
        """\
func.func @f(%x: tensor<?xindex>, %steps: tensor<4xindex>, %start: tensor<index>) -> tensor<index> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%steps : tensor<4xindex>) outs(%start : tensor<index>) {
  ^bb0(%step: index, %so_far: index):
    %at = arith.addi %so_far, %step : index
    %e = tensor.extract %x[%at] : tensor<?xindex>
    linalg.yield %e : index
  } -> tensor<index>
  return %r : tensor<index>
}
""",
        """\
func.func @f(%x: tensor<?xf32>, %places: tensor<4xindex>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%places : tensor<4xindex>) outs(%o : tensor<4xf32>) {
  ^bb0(%at: index, %v: f32):
    %e = tensor.extract %x[%at] : tensor<?xf32>
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
""",
    ),
)
define(
    "FIS206",
    "no-smt-solver",
    "a solver that is not installed might prove a run-time check unnecessary",
    "Intervals do not decide the condition, and fissile found no values that violate it; z3 might prove it. It is "
    "checked at run time instead.",
    "z3 is an optional dependency; most programs do not need it.",
    "pip install 'fissile[storage]'",
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.muli %n, %c2 : index
  %ok = arith.cmpi ne, %m, %c7 : index
  "fissile.require"(%ok) {message = "not seven"} : (i1) -> ()
  return
}
""",
        setting="z3 is not installed",
    ),
)
define(
    "FIS207",
    "storage-grown",
    "a fixed capacity was replaced by one computed from the sizes that use it",
    "`fissile-grow-storage` enlarged a storage to the largest extent of its uses.",
    "Its uses were not proved to fit, and it does not escape.",
    "No action is needed. If the capacity is meant as a limit, do not run the pass: the guard then asserts the "
    "limit.",
    shown=Shown(
        "fissile-opt in.mlir --fissile-grow-storage",
        """\
func.func @f(%n: index) -> tensor<?xf32> {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %s = "fissile.alloc_storage"(%c64) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0, %n) : (!fissile.storage, index, index) -> tensor<?xf32>
  %r = linalg.fill ins(%one : f32) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  "fissile.kill"(%s) : (!fissile.storage) -> ()
  return %r : tensor<?xf32>
}
""",
        """\
func.func @f(%n: index) -> tensor<?xf32> {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %s = "fissile.alloc_storage"(%c64) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0) : (!fissile.storage, index) -> tensor<16xf32>
  %r = linalg.fill ins(%one : f32) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  "fissile.kill"(%s) : (!fissile.storage) -> ()
  %d = tensor.cast %r : tensor<16xf32> to tensor<?xf32>
  return %d : tensor<?xf32>
}
""",
    ),
)
define(
    "FIS209",
    "outside-index",
    "the numbers may be wrong: a gather or scatter of StableHLO accesses what lies outside of its operand",
    "An index of a stablehlo.gather or stablehlo.scatter is not proved to lie inside of the tensor. StableHLO reads the nearest element in the "
    "place of one outside, and leaves out an update outside. Programs of JAX rely on it (`jnp.take`, `x.at[i].set(v)`, "
    "`jnp.nonzero` with a fill value, `segment_sum` with an invalid segment).",
    "IREE 3.13 reads and writes what lies in memory there: other elements, or another tensor.",
    "fissile clamps the indices of a gather and masks the updates of a scatter (`fissile-bound-indices`). To save that, "
    "clamp the indices in the program, so that they are proved to lie inside.",
    effect=Effect.UNPROVED,
    shown=Shown(
        COMPILE,
        """\
func.func @f(%x: tensor<8xf32>, %at: tensor<3x1xi32>, %new: tensor<3xf32>) -> tensor<8xf32> {
  %r = "stablehlo.scatter"(%x, %at, %new) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %update: tensor<f32>):
    stablehlo.return %update : tensor<f32>
  }) : (tensor<8xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
""",
        """\
func.func @f(%x: tensor<8xf32>, %at: tensor<3x1xi32>, %new: tensor<3xf32>) -> tensor<8xf32> {
  %first = stablehlo.constant dense<0> : tensor<i32>
  %last = stablehlo.constant dense<7> : tensor<i32>
  %inside = stablehlo.clamp %first, %at, %last : (tensor<i32>, tensor<3x1xi32>, tensor<i32>) -> tensor<3x1xi32>
  %r = "stablehlo.scatter"(%x, %inside, %new) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %update: tensor<f32>):
    stablehlo.return %update : tensor<f32>
  }) : (tensor<8xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
""",
    ),
)
