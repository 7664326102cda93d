"""How IREE prints what each pass makes of a program, and which ops have an effect that a user may rely on. IREE 3.13."""

from __future__ import annotations

TRACE_FLAGS = (
    "--mlir-print-ir-after-all",
    "--mlir-print-ir-after-change",
    "--mlir-print-ir-module-scope",
    "--mlir-disable-threading",
    "--mlir-elide-elementsattrs-if-larger=16",
    "--mlir-elide-resource-strings-if-larger=16",
)

EFFECTS = {
    "cf.assert": "msg",
    "torch.runtime.assert": "message",
    "flow.tensor.trace": "key",
    "util.assert": "message",
}
"""Op with an effect -> the attribute whose text what it is lowered to keeps, and by which it is found again."""

PROVING_PASSES = ("canonicaliz", "cse", "sccp", "optimize-int-arithmetic", "symbol-dce", "simplify")
"""Parts of the names of passes that remove an assertion which they have proved, and code that is never reached."""
