"""What IREE's own passes and pipelines do to the properties that fissile's contracts name (IREE 3.13).

A pass that is not listed keeps every property. The names are those of `iree-opt --help`.
"""

from __future__ import annotations

# compiler/src/iree/compiler/DispatchCreation/Passes.cpp: the pipeline ends with dispatch.workgroups.
NATIVE_ESTABLISHES: dict[str, tuple[str, ...]] = {
    "iree-dispatch-creation-pipeline": ("dispatches-formed",),
}

NATIVE_INVALIDATES: dict[str, tuple[str, ...]] = {
    "iree-dispatch-creation-pipeline": ("dispatches-not-formed",),
    "iree-dispatch-creation-convert-dispatch-regions-to-workgroups": ("dispatches-not-formed",),
    "iree-flow-outline-dispatch-regions": ("dispatches-not-formed",),
}
