"""Findings about the life of storage: FIS3xx."""

from fissile.effect import Effect

from .rule import define
from .shown import Shown

CHECK = "fissile-opt in.mlir --fissile-check-lifetimes"
INSERT = "fissile-opt in.mlir --fissile-insert-kills"

define(
    "FIS301",
    "storage-leak",
    "storage is allocated but never released",
    "No op releases the storage on any path, and the storage does not leave the function.",
    "Nothing placed a release, or a pass dropped it.",
    "`fissile-insert-kills` places a release after the last use.",
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
    "A path releases storage that it has already released, under the same or another name.",
    "Two passes each released it, or both a view and its buffer were released.",
    "Remove one of the two named releases. `fissile-insert-kills` keeps one if the storage is allocated in the same "
    "function.",
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
    "A path reads, writes, passes on or returns the storage, or a view of it, after its release.",
    "The release was placed before the last use: an alias was overlooked, or a pass moved one of them. IREE 3.13 itself does so "
    "as it schedules some loops that keep a tensor in two places (AutomaticReferenceCounting): a call fails with "
    "FAILED_PRECONDITION, or reads what else is in that memory.",
    "Move the release after the named use; `fissile-insert-kills` does this. `fissile compile` removes a deallocation that IREE "
    "places too early (`fissile-drop-early-releases`): the storage is then freed with the last reference to it.",
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
    "Some paths release the storage, and at least one path ends without a release and leaks it.",
    "The release is in only one branch, or after an early exit.",
    "Release the storage on the other paths too, or after the point where they join; `fissile-insert-kills` does "
    "this.",
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
    "A release is a side effect, but the surrounding op (a dispatch region, a linalg body, a tensor.generate) "
    "allows none.",
    "The release was placed next to the last use, which is inside the region.",
    "Move the release after the op that owns the region; `fissile-insert-kills` does this.",
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
    "a release applies to a value that was not allocated",
    "The operand of a release is a constant, a global, a buffer on the stack, or (on Vulkan) a part of a buffer. The program does not own it.",
    "Constant folding replaced the released value with a constant, or the release was placed without checking where "
    "the value comes from. IREE 3.13 deallocates what a loop passes on, also where that is a part of a slab; the Vulkan runtime ends "
    "the call: `buffer was not returned by Vulkan queue_alloca`.",
    "Remove the release. `fissile compile` does so in what IREE schedules (`fissile-drop-early-releases`). `fissile-insert-kills` removes it, "
    "and releases the allocation itself, which folding does not replace.",
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
    "The release follows program order only; on a device, timepoints define the order.",
    "Wait for the join of the timepoints of all uses; `fissile-insert-kills` does this.",
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
    "storage lives longer than needed",
    "At the peak, some storage is live that nothing uses any more. An earlier release would lower the peak.",
    "Releases are at the end of a block, or there is none at the last use.",
    "`fissile-insert-kills` places releases after the last use.",
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
    "The storage is an operand of an op whose effect on it is unknown, or the function has more states than fissile "
    "explores.",
    "fissile does not know an op's dialect, a called function has no body, or the function has very many "
    "independent branches.",
    "fissile reports nothing about that storage and checks the rest.",
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
    "Whether the function owns the storage after a branch or a loop depends on the path, or the storage is "
    "allocated inside a pure region.",
    "One branch yields storage that it allocated, and the other yields storage that it does not own.",
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
    "the transients of a program take more memory than necessary",
    "IREE allocates all transients of a region in one slab, where slices that are never live together may share "
    "bytes. The slab is larger than the lifetimes require.",
    "IREE places the slices in program order, each in the first gap that fits. When a large slice comes late, the "
    "small ones before it have already fragmented the space.",
    "`fissile compile --pack-transients` places the slices by size and lifetime. Offsets change; numbers do not.",
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
