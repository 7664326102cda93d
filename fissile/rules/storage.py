"""Findings about storage and its sizes: FIS2xx."""

from fissile.effect import Effect

from .rule import define

define(
    "FIS201",
    "storage-overrun",
    "an op reads or writes past the end of its storage in every call that runs it",
    "A size meets a capacity, and it never fits: every call that gets there would read or write out of bounds, or "
    "takes a shape for another one.",
    "Stock IREE 3.13 does not look: a tensor.insert_slice of 100 elements into a tensor of 10 runs without an error.",
    "Change the size that is named, or give the storage room; `fissile-grow-storage` computes a capacity from the "
    "sizes that use it, where the storage does not escape.",
    example="tensor.insert_slice %y into %f[5] [10] [1] : tensor<?xf32> into tensor<10xf32>",
    repaired="tensor.insert_slice %y into %f[0] [10] [1] : tensor<?xf32> into tensor<10xf32>",
    effect=Effect.OVERRUN,
)
define(
    "FIS202",
    "storage-precondition",
    "an op stays inside its storage only for some calls",
    "The sizes come from the caller: some fit and some do not. This is part of the function's contract.",
    "Neither constants nor intervals nor a solver decide it for all calls: an index or a size comes from the caller.",
    "With --guard=assert (the default) one assert checks it, at the function's entry where it can: a violating call "
    "returns FAILED_PRECONDITION with the same sentence. `util.assume.int` or a cf.assert of your own may prove it.",
    example="tensor.insert_slice %y into %f[0] [%m] [1], %m an argument",
    repaired="the same, after cf.assert of %m <= 10 at the entry",
    effect=Effect.UNPROVED,
)
define(
    "FIS203",
    "asserts-stripped",
    "run-time checks are needed, and an option strips them",
    "--iree-opt-strip-assertions removes every cf.assert, fissile's and the program's own.",
    "The option is meant for programs whose asserts are known to hold.",
    "Leave the option out, or prove what FIS202 lists.",
    effect=Effect.UNPROVED,
)
define(
    "FIS204",
    "storage-not-covered",
    "an op with dynamic shapes has no storage rule",
    "fissile does not know what sizes this op needs, so nothing about it is checked.",
    "An op of a dialect, or a newer IREE, that the rules do not know.",
    "Report the op; a rule is one function in passes/analysis/storage/storage_rules.py.",
    effect=Effect.UNPROVED,
)
define(
    "FIS205",
    "storage-not-protected",
    "a size may not fit, and no check of it can be placed",
    "The condition depends on values that exist only inside a dispatch, in a form that no separate check can compute.",
    "An assert inside a dispatch is dropped by IREE.",
    "Clamp the index in the program, or compute it in a tensor of its own.",
    effect=Effect.UNPROVED,
)
define(
    "FIS206",
    "no-smt-solver",
    "a run-time check might be proved unnecessary by a solver that is not installed",
    "Intervals do not decide the condition, and no values that break it were found by trying: z3 might prove it. It is "
    "checked at run time instead.",
    "z3 is an optional dependency; most programs need no question that only it can answer.",
    "pip install 'fissile[storage]'",
)
define(
    "FIS207",
    "storage-grown",
    "a fixed capacity was replaced by one computed from the sizes that use it",
    "`fissile-grow-storage` made a storage as large as the largest end of its uses.",
    "Its uses were not proved to fit, and it does not escape.",
    "Nothing to do. Where the capacity is meant as a limit, leave the pass out: the guard asserts it then.",
    example="%s = fissile.alloc_storage of 64 bytes, fissile.alloc_tensor of %n floats on it",
    repaired="%s = fissile.alloc_storage of max(64, 4 * %n) bytes",
)
define(
    "FIS208",
    "check-overtaken",
    "a dispatch may run before the run-time check of what it accesses",
    "In the program as IREE scheduled it, a dispatch that is computed from the same values as a check is submitted before "
    "the check. A call that breaks the check may read or write out of bounds before it returns FAILED_PRECONDITION.",
    "A cf.assert does not order the dispatches around it: they are submitted where their operands are ready.",
    "Report the program. Until then, compute the size or offset before the tensor that it is used on.",
    effect=Effect.UNPROVED,
)
