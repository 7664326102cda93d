"""Findings about the life of storage: FIS3xx."""

from fissile.effect import Effect

from .rule import define
from .shown import Shown

CHECK = "fissile-opt in.mlir --fissile-check-lifetimes"
INSERT = "fissile-opt in.mlir --fissile-insert-kills"

define(
    "FIS301",
    "storage-leak",
    "storage is allocated and never released",
    "No op releases the storage, on any path, and it does not leave the function.",
    "Nobody placed a release, or a pass dropped it.",
    "`fissile-insert-kills` places one behind the last use.",
    shown=Shown(
        CHECK,
        """\
func.func @f() {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %a, %a : memref<4xf32> to memref<4xf32>
  return
}
""",
        """\
func.func @f() {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %a, %a : memref<4xf32> to memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  return
}
""",
    ),
)
define(
    "FIS302",
    "double-release",
    "storage is released twice",
    "A path releases the storage although it was released before, under this or another name.",
    "Two passes released it, or a view and its buffer were both released.",
    "Remove one of the two releases that are named. `fissile-insert-kills` leaves one, where the storage is allocated in the same function.",
    shown=Shown(
        CHECK,
        """\
func.func @f() {
  %a = memref.alloc() : memref<4xf32>
  %view = memref.cast %a : memref<4xf32> to memref<?xf32>
  memref.dealloc %a : memref<4xf32>
  memref.dealloc %view : memref<?xf32>
  return
}
""",
        """\
func.func @f() {
  %a = memref.alloc() : memref<4xf32>
  %view = memref.cast %a : memref<4xf32> to memref<?xf32>
  memref.dealloc %view : memref<?xf32>
  return
}
""",
    ),
)
define(
    "FIS303",
    "use-after-release",
    "storage is used after its release",
    "A path reads, writes, passes on or returns the storage, or a view of it, behind its release.",
    "The release was placed before the last use: an alias was overlooked, or a pass moved one of the two.",
    "Move the release behind the use that is named; `fissile-insert-kills` does.",
    shown=Shown(
        CHECK,
        """\
func.func @f(%i: index) -> f32 {
  %a = memref.alloc() : memref<4xf32>
  %v = memref.subview %a[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
  memref.dealloc %a : memref<4xf32>
  %x = memref.load %v[%i] : memref<2xf32, strided<[1], offset: 1>>
  return %x : f32
}
""",
        """\
func.func @f(%i: index) -> f32 {
  %a = memref.alloc() : memref<4xf32>
  %v = memref.subview %a[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
  %x = memref.load %v[%i] : memref<2xf32, strided<[1], offset: 1>>
  memref.dealloc %a : memref<4xf32>
  return %x : f32
}
""",
    ),
)
define(
    "FIS304",
    "release-not-on-every-path",
    "a release does not post-dominate its storage",
    "Some paths release the storage, and at least one ends without a release: it leaks there.",
    "The release is in one branch, or behind an early exit.",
    "Release the storage on the other paths too, or behind the point where they meet; `fissile-insert-kills` does.",
    shown=Shown(
        CHECK,
        """\
func.func @f(%c: i1) {
  %a = memref.alloc() : memref<4xf32>
  scf.if %c { memref.dealloc %a : memref<4xf32> }
  return
}
""",
        """\
func.func @f(%c: i1) {
  %a = memref.alloc() : memref<4xf32>
  scf.if %c { memref.copy %a, %a : memref<4xf32> to memref<4xf32> }
  memref.dealloc %a : memref<4xf32>
  return
}
""",
    ),
)
define(
    "FIS305",
    "release-in-pure-region",
    "a release is inside a pure region",
    "A release is a side effect, and the op around it may have none inside: a dispatch region, a linalg body, tensor.generate.",
    "It was placed next to the last use, which is inside the region.",
    "Move it behind the op that has the region; `fissile-insert-kills` does.",
    shown=Shown(
        CHECK,
        """\
func.func @f(%t: tensor<4xf32>) -> tensor<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%t : tensor<4xf32>) {
  ^bb0(%x: f32):
    memref.dealloc %a : memref<4xf32>
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
""",
        """\
func.func @f(%t: tensor<4xf32>) -> tensor<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%t : tensor<4xf32>) {
  ^bb0(%x: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  memref.dealloc %a : memref<4xf32>
  return %r : tensor<4xf32>
}
""",
    ),
)
define(
    "FIS306",
    "release-of-constant",
    "what is released was not allocated",
    "The operand of a release is a constant, a global, or a buffer on the stack: its life is not the program's to end.",
    "Constant folding replaced the released value by a constant, or a release was placed without a look at where the value comes from.",
    "Remove the release. `fissile-insert-kills` does, and it releases the allocation itself, which no folding replaces.",
    shown=Shown(
        CHECK,
        """\
memref.global "private" constant @k : memref<4xf32> = dense<1.0>
func.func @f() {
  %g = memref.get_global @k : memref<4xf32>
  memref.dealloc %g : memref<4xf32>
  return
}
""",
        """\
memref.global "private" constant @k : memref<4xf32> = dense<1.0>
func.func @f() {
  %g = memref.get_global @k : memref<4xf32>
  %a = memref.alloc() : memref<4xf32>
  memref.copy %g, %a : memref<4xf32> to memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  return
}
""",
    ),
)
define(
    "FIS307",
    "release-not-ordered",
    "storage may be released while the device still uses it",
    "The timepoint that the release waits for does not cover all work that uses the storage.",
    "The release was placed in program order only; on a device the order is that of timepoints.",
    "Wait for the join of the timepoints of all uses; `fissile-insert-kills` does.",
    effect=Effect.MAY_BE_WRONG,
    shown=Shown(
        CHECK,
        """\
util.func public @f() -> !stream.timepoint {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %v = arith.constant 7 : i32
  %r, %t0 = stream.resource.alloca uninitialized : !stream.resource<transient>{%c64} => !stream.timepoint
  %t1 = stream.cmd.execute await(%t0) => with(%r as %out: !stream.resource<transient>{%c64}) {
    stream.cmd.fill %v, %out[%c0 for %c64] : i32 -> !stream.resource<transient>{%c64}
  } => !stream.timepoint
  %t2 = stream.resource.dealloca await(%t0) => %r : !stream.resource<transient>{%c64} => !stream.timepoint
  %t3 = stream.timepoint.join max(%t1, %t2) => !stream.timepoint
  util.return %t3 : !stream.timepoint
}
""",
        """\
util.func public @f() -> !stream.timepoint {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %v = arith.constant 7 : i32
  %r, %t0 = stream.resource.alloca uninitialized : !stream.resource<transient>{%c64} => !stream.timepoint
  %t1 = stream.cmd.execute await(%t0) => with(%r as %out: !stream.resource<transient>{%c64}) {
    stream.cmd.fill %v, %out[%c0 for %c64] : i32 -> !stream.resource<transient>{%c64}
  } => !stream.timepoint
  %t2 = stream.resource.dealloca await(%t1) => %r : !stream.resource<transient>{%c64} => !stream.timepoint
  util.return %t2 : !stream.timepoint
}
""",
    ),
)
define(
    "FIS308",
    "storage-lives-longer",
    "storage lives longer than it is needed",
    "At the peak some storage is alive that nothing uses any more: an earlier release would lower the peak.",
    "Releases stand at the end of a block, or none stands where the last use is.",
    "`fissile-insert-kills` places releases behind the last use.",
    effect=Effect.LARGE,
    shown=Shown(
        CHECK,
        """\
util.func public @f() -> !stream.timepoint {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %v = arith.constant 7 : i32
  %r, %t0 = stream.resource.alloca uninitialized : !stream.resource<transient>{%c64} => !stream.timepoint
  %t1 = stream.cmd.execute await(%t0) => with(%r as %out: !stream.resource<transient>{%c64}) {
    stream.cmd.fill %v, %out[%c0 for %c64] : i32 -> !stream.resource<transient>{%c64}
  } => !stream.timepoint
  util.return %t1 : !stream.timepoint
}
""",
        """\
util.func public @f() -> !stream.timepoint {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %v = arith.constant 7 : i32
  %r, %t0 = stream.resource.alloca uninitialized : !stream.resource<transient>{%c64} => !stream.timepoint
  %t1 = stream.cmd.execute await(%t0) => with(%r as %out: !stream.resource<transient>{%c64}) {
    stream.cmd.fill %v, %out[%c0 for %c64] : i32 -> !stream.resource<transient>{%c64}
  } => !stream.timepoint
  %t2 = stream.resource.dealloca await(%t1) => %r : !stream.resource<transient>{%c64} => !stream.timepoint
  util.return %t2 : !stream.timepoint
}
""",
    ),
)
define(
    "FIS309",
    "lifetime-not-decided",
    "a lifetime could not be decided",
    "An op whose effect on storage is not known takes it, or a function has more states than are walked.",
    "An op of a dialect that fissile does not know, a call of a function without a body, or very many independent branches.",
    "Nothing is reported about that storage; the rest is checked.",
    effect=Effect.UNPROVED,
    shown=Shown(
        CHECK,
        """\
func.func private @elsewhere(memref<4xf32>)
func.func @f() {
  %a = memref.alloc() : memref<4xf32>
  call @elsewhere(%a) : (memref<4xf32>) -> ()
  return
}
""",
        """\
func.func private @elsewhere(%m: memref<4xf32>) {
  memref.copy %m, %m : memref<4xf32> to memref<4xf32>
  return
}
func.func @f() {
  %a = memref.alloc() : memref<4xf32>
  call @elsewhere(%a) : (memref<4xf32>) -> ()
  memref.dealloc %a : memref<4xf32>
  return
}
""",
    ),
)
define(
    "FIS310",
    "release-not-placed",
    "no legal place for a release was found",
    "Whether the function owns the storage behind a branch or a loop depends on the path, or the storage is allocated inside a pure region.",
    "A branch yields storage that it allocated, and the other one yields storage that it does not own.",
    "Allocate before the branch, or copy the storage that is not owned.",
    effect=Effect.UNPROVED,
    shown=Shown(
        INSERT,
        """\
util.func public @f(%c: i1) -> !stream.timepoint {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %v = arith.constant 7 : i32
  %r, %t0 = stream.resource.alloca uninitialized : !stream.resource<transient>{%c64} => !stream.timepoint
  cf.cond_br %c, ^use, ^end(%t0 : !stream.timepoint)
^use:
  %t1 = stream.cmd.execute await(%t0) => with(%r as %out: !stream.resource<transient>{%c64}) {
    stream.cmd.fill %v, %out[%c0 for %c64] : i32 -> !stream.resource<transient>{%c64}
  } => !stream.timepoint
  cf.br ^end(%t1 : !stream.timepoint)
^end(%t: !stream.timepoint):
  util.return %t : !stream.timepoint
}
""",
        """\
util.func public @f() -> !stream.timepoint {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %v = arith.constant 7 : i32
  %r, %t0 = stream.resource.alloca uninitialized : !stream.resource<transient>{%c64} => !stream.timepoint
  %t1 = stream.cmd.execute await(%t0) => with(%r as %out: !stream.resource<transient>{%c64}) {
    stream.cmd.fill %v, %out[%c0 for %c64] : i32 -> !stream.resource<transient>{%c64}
  } => !stream.timepoint
  util.return %t1 : !stream.timepoint
}
""",
    ),
)
define(
    "FIS311",
    "slab-too-large",
    "the transients of a program take more memory than they need",
    "IREE allocates all transients of a region in one slab. Slices that do not live at once may share bytes of it; the slab is larger than "
    "these lifetimes require.",
    "IREE places the slices one after the other, in the order of the program, each at the first gap that it fits; where a large one "
    "comes late, the small ones before it have broken up the space.",
    "`fissile compile --pack-transients` places them by size and lifetime instead. The offsets change, no number does.",
    effect=Effect.LARGE,
    shown=Shown(
        "fissile-opt in.mlir --fissile-pack-transients",
        """\
util.func public @f() -> (index, index, index, index) {
  %small = arith.constant 1024 : index
  %middle = arith.constant 2048 : index
  %large = arith.constant 4096 : index
  %p:4 = stream.resource.pack slices({
    [0, 1] = %small,
    [1, 2] = %middle,
    [2, 3] = %large
  }) : index
  util.return %p#0, %p#1, %p#2, %p#3 : index, index, index, index
}
""",
        """\
util.func public @f() -> (index, index, index, index) {
  %small = arith.constant 1024 : index
  %middle = arith.constant 2048 : index
  %large = arith.constant 4096 : index
  %p:4 = stream.resource.pack slices({
    [0, 1] = %large,
    [1, 2] = %middle,
    [2, 3] = %small
  }) : index
  util.return %p#0, %p#1, %p#2, %p#3 : index, index, index, index
}
""",
    ),
)
