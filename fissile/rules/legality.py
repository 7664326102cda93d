"""Findings about ops that do not belong where they are, and about the order of passes: FIS4xx and FIS5xx."""

from .rule import define

define(
    "FIS401",
    "leftover-op",
    "a fissile op is left over before translation",
    "An op of the fissile dialect reached the point where IREE translates, which cannot lower it.",
    "The pass that lowers it did not run, or ran before the pass that made it.",
    "Run the pass that is named after the one that creates the op.",
)
define(
    "FIS402",
    "invalid-op",
    "a fissile op does not verify",
    "An op of the fissile dialect breaks its own rules: operand or result types, attributes, regions.",
    "Written by hand, or made by a pass with a mistake.",
    "Mend the op that is named; `fissile-opt --verify-dialect` shows the same error.",
)
define(
    "FIS403",
    "require-refuted",
    "a precondition never holds",
    "The condition of a fissile.require is the constant false: no input can satisfy it.",
    "The program contradicts its own precondition.",
    "Mend the sizes or the condition that the sentence speaks of.",
    example='%false = arith.constant false, then "fissile.require"(%false) {message = "at most 16 rows"}',
    repaired="a condition that some input satisfies; one that all satisfy is removed without a trace",
)
define(
    "FIS404",
    "storage-escapes",
    "explicit storage is used where no pass can lower it",
    "A !fissile.storage is passed to a call, returned, or comes in as an argument.",
    "Storage becomes ordinary tensors inside one function; IREE has no type for it.",
    "Allocate it in the function that uses it, and pass the tensors that stand on it instead.",
)
define(
    "FIS405",
    "group-size",
    "the size of a group's result is not known outside the group",
    "A fissile.group yields a tensor with a dynamic dimension that is computed inside the group, from values that "
    "exist only there.",
    "A dispatch's result sizes must be known before it is launched.",
    "Compute the size before the group and use it inside.",
)
define(
    "FIS501",
    "contract-unmet",
    "a pipeline's passes do not chain",
    "A pass requires a property that nothing before it establishes, or that a pass in between breaks.",
    "The order of passes is wrong, or one is missing.",
    "Insert the pass that is named, or move it.",
)
define(
    "FIS502",
    "contract-broken",
    "a pass broke a property that it should keep",
    "With --verify-contracts every property is checked again after every pass; this one no longer holds.",
    "A mistake in the pass, or in its declared contract.",
    "The pass is named; `fissile passes NAME` shows its contract.",
)
