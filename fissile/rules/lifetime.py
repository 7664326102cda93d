"""Findings about the life of storage: FIS3xx."""

from fissile.effect import Effect

from .rule import define

define(
    "FIS301",
    "storage-leak",
    "storage is allocated and never released",
    "No op releases the storage, on any path, and it does not leave the function.",
    "Nobody placed a release, or a pass dropped it.",
    "`fissile-insert-kills` places one behind the last use.",
    example="%a = memref.alloc() : memref<4xf32>, stores to it, then return",
    repaired="the same, with memref.dealloc %a behind the last store",
)
define(
    "FIS302",
    "double-release",
    "storage is released twice",
    "A path releases the storage although it was released before, under this or another name.",
    "Two passes released it, or a view and its buffer were both released.",
    "Remove one of the two releases that are named. `fissile-insert-kills` leaves one, where the storage is allocated in the same function.",
    example="memref.dealloc %a, then memref.dealloc of a memref.cast of %a",
    repaired="one memref.dealloc",
)
define(
    "FIS303",
    "use-after-release",
    "storage is used after its release",
    "A path reads, writes, passes on or returns the storage, or a view of it, behind its release.",
    "The release was placed before the last use: an alias was overlooked, or a pass moved one of the two.",
    "Move the release behind the use that is named; `fissile-insert-kills` does.",
    example="memref.dealloc %a, then memref.load %v[%i] with %v a memref.subview of %a",
    repaired="memref.load first, then memref.dealloc",
)
define(
    "FIS304",
    "release-not-on-every-path",
    "a release does not post-dominate its storage",
    "Some paths release the storage, and at least one ends without a release: it leaks there.",
    "The release is in one branch, or behind an early exit.",
    "Release the storage on the other paths too, or behind the point where they meet; `fissile-insert-kills` does.",
    example="scf.if %c { memref.dealloc %a }",
    repaired="memref.dealloc %a behind the scf.if",
)
define(
    "FIS305",
    "release-in-pure-region",
    "a release is inside a pure region",
    "A release is a side effect, and the op around it may have none inside: a dispatch region, a linalg body, tensor.generate.",
    "It was placed next to the last use, which is inside the region.",
    "Move it behind the op that has the region; `fissile-insert-kills` does.",
    example="fissile.kill %s inside the body of flow.dispatch.region",
    repaired="the same behind the flow.dispatch.region",
)
define(
    "FIS306",
    "release-of-constant",
    "what is released was not allocated",
    "The operand of a release is a constant, a global, or a buffer on the stack: its life is not the program's to end.",
    "Constant folding replaced the released value by a constant, or a release was placed without a look at where the value comes from.",
    "Remove the release. `fissile-insert-kills` does, and it releases the allocation itself, which no folding replaces.",
    example="fissile.kill of %t, which folding turned into arith.constant dense<1.0>",
    repaired="fissile.kill of the fissile.alloc_storage that %t stood on",
)
define(
    "FIS307",
    "release-not-ordered",
    "storage may be released while the device still uses it",
    "The timepoint that the release waits for does not cover all work that uses the storage.",
    "The release was placed in program order only; on a device the order is that of timepoints.",
    "Wait for the join of the timepoints of all uses; `fissile-insert-kills` does.",
    effect=Effect.MAY_BE_WRONG,
)
define(
    "FIS308",
    "storage-lives-longer",
    "storage lives longer than it is needed",
    "At the peak some storage is alive that nothing uses any more: an earlier release would lower the peak.",
    "Releases stand at the end of a block, or none stands where the last use is.",
    "`fissile-insert-kills` places releases behind the last use.",
    effect=Effect.LARGE,
)
define(
    "FIS309",
    "lifetime-not-decided",
    "a lifetime could not be decided",
    "An op whose effect on storage is not known takes it, or a function has more states than are walked.",
    "An op of a dialect that fissile does not know, a call of a function without a body, or very many independent branches.",
    "Nothing is reported about that storage; the rest is checked.",
    effect=Effect.UNPROVED,
)
define(
    "FIS310",
    "release-not-placed",
    "no legal place for a release was found",
    "Whether the function owns the storage behind a branch or a loop depends on the path, or the storage is allocated inside a pure region.",
    "A branch yields storage that it allocated, and the other one yields storage that it does not own.",
    "Allocate before the branch, or copy the storage that is not owned.",
    effect=Effect.UNPROVED,
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
    example="a chain of tensors that grow: 1, 2, 4 and 8 MiB, each computed from the one before",
    repaired="the same program, with 12 MiB of transients: those of the largest two neighbours",
)
