"""What IREE's and MLIR's own passes and pipelines need, establish and break of the properties that contracts name (IREE 3.13).

The names are those of `iree-opt --help`. A pass that is not listed requires nothing and keeps every property.
`python -m bench.native_contracts` holds the table against what the passes do to programs.
"""

from __future__ import annotations

from dataclasses import dataclass

from .phases import DISPATCH_CREATION


@dataclass(frozen=True)
class NativeContract:
    """The properties of a pass's contract, by name."""

    requires: tuple[str, ...] = ()
    establishes: tuple[str, ...] = ()
    invalidates: tuple[str, ...] = ()


_LOWERED = (
    "no-unknown-op",
    "no-fissile-boundaries",
    "no-fissile-groups",
    "no-fissile-requires",
    "no-fissile-storage",
)
"""Dispatch creation crashes on an op that it does not know on tensors."""
_FORMS = ("dispatches-not-formed",)
_DECIDED = ("fits-on-chip",)
"""Decided by the configuration of dispatches; only the repair loop brings it about."""

NATIVE: dict[str, NativeContract] = {
    # Clean up ops, wherever they stand.
    "canonicalize": NativeContract(),
    "cse": NativeContract(),
    "symbol-dce": NativeContract(),
    "inline": NativeContract(),
    "loop-invariant-code-motion": NativeContract(),
    # Releases: ownership-based deallocation leaves bufferization.dealloc ops, whose flags decide at run time.
    "ownership-based-buffer-deallocation": NativeContract(invalidates=("one-release-per-storage",)),
    "bufferization-lower-deallocations": NativeContract(invalidates=("one-release-per-storage",)),
    "static-memory-planner-analysis": NativeContract(
        requires=("one-release-per-storage",), invalidates=("one-release-per-storage",)
    ),
    "one-shot-bufferize": NativeContract(
        requires=_LOWERED, invalidates=("tensor-level", "one-release-per-storage")
    ),
    "iree-codegen-iree-comprehensive-bufferize": NativeContract(
        requires=_LOWERED, invalidates=("tensor-level", "one-release-per-storage")
    ),
    # Dispatches. compiler/src/iree/compiler/DispatchCreation/Passes.cpp: the pipeline ends with dispatch.workgroups.
    "iree-dispatch-creation-pipeline": NativeContract(_LOWERED, ("dispatches-formed",), _FORMS),
    "iree-dispatch-creation-form-dispatch-regions": NativeContract(_LOWERED),
    "iree-dispatch-creation-convert-dispatch-regions-to-workgroups": NativeContract(invalidates=_FORMS),
    "iree-flow-outline-dispatch-regions": NativeContract(invalidates=_FORMS),
    "iree-flow-transformation-pipeline": NativeContract(invalidates=_FORMS),
    # Executables.
    "iree-hal-configure-executables": NativeContract(invalidates=_DECIDED),
    "iree-hal-configure-target-executable-variants": NativeContract(invalidates=_DECIDED),
    "iree-hal-translate-all-executables": NativeContract(requires=_DECIDED, invalidates=("tensor-level",)),
    "iree-hal-translate-target-executable-variants": NativeContract(
        requires=_DECIDED, invalidates=("tensor-level",)
    ),
    "iree-hal-transformation-pipeline": NativeContract(invalidates=("tensor-level", *_DECIDED)),
    # The host program. What a loop of blocks carries is released when its last reference is dropped (FIS308).
    "iree-stream-transformation-pipeline": NativeContract(requires=_LOWERED[:1], invalidates=_FORMS),
    # A fill of 64 bits, and the like, is a dispatch of its own from here on.
    "iree-stream-materialize-builtins": NativeContract(invalidates=_FORMS),
    "iree-stream-automatic-reference-counting": NativeContract(),
    "iree-stream-schedule-allocation": NativeContract(invalidates=("one-release-per-storage",)),
}

PHASE_CONTRACTS: dict[str, NativeContract] = {
    "input": NativeContract(establishes=("fully-typed",)),
    "abi": NativeContract(),
    "preprocessing": NativeContract(),
    "global-optimization": NativeContract(),
    DISPATCH_CREATION: NativeContract(establishes=("dispatches-formed",), invalidates=_FORMS),
    "flow": NativeContract(invalidates=_FORMS),
    "stream": NativeContract(invalidates=_FORMS),
    "executable-sources": NativeContract(),
    # A dispatch for which no code generation pipeline is chosen (a gather alone) has memref operands from here on.
    "executable-configurations": NativeContract(invalidates=("tensor-level", *_DECIDED)),
    "executable-targets": NativeContract(invalidates=("tensor-level",)),
    "hal": NativeContract(invalidates=("tensor-level",)),
    "vm": NativeContract(invalidates=("tensor-level",)),
}
"""Phase of `--compile-to` -> what IREE does on the way to it. The last one, end, only serialises."""

PHASE_PIPELINES: dict[str, tuple[str, ...]] = {
    "abi": ("iree-abi-transformation-pipeline",),
    "global-optimization": ("iree-global-optimization-transformation-pipeline",),
    DISPATCH_CREATION: ("iree-dispatch-creation-preprocessing-pipeline", "iree-dispatch-creation-pipeline"),
    "flow": ("iree-flow-transformation-pipeline",),
    "stream": ("iree-stream-transformation-pipeline",),
}
"""Phase -> the named pipelines that do its work under default options: with these the pass is found that broke something."""

PIPELINE_ADAPTORS = ("iree-op-pipeline-adaptor", "iree-util-fixed-point-iterator")
"""Passes that only run others."""
