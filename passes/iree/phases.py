"""IREE's compile phases (`--compile-to`), and which of them each step of fissile works at. IREE 3.13."""

from __future__ import annotations

PHASES = (
    "start",
    "input",
    "abi",
    "preprocessing",
    "global-optimization",
    "dispatch-creation",
    "flow",
    "stream",
    "executable-sources",
    "executable-configurations",
    "executable-targets",
    "hal",
    "vm",
    "end",
)
"""In pipeline order (`--compile-to`)."""

INPUT_CONVERTED_AT = "input"
"""The first phase whose output has no op of a front end."""

DEVICES_ASSIGNED_AT = "preprocessing"
"""The first phase whose output carries the target attribute: devices are assigned between abi and preprocessing."""

PREPROCESSED_AFTER = "abi"
"""IREE runs --iree-preprocessing-pass-pipeline as the first thing after this phase."""

SCHEDULED_AT = "stream"
"""The first phase whose output says what is submitted when."""

BORDERS_TRIMMED_AT = "preprocessing"
"""The last phase before unit loops are dropped (FoldUnitExtentDims, in global optimisation)."""

CALLS_FOLLOWED_AT = "global-optimization"
"""The first phase with analyses that follow calls from function to function (FoldGlobals, and others after it)."""

BOUNDARIES_PLACED_AT = "global-optimization"
"""A fusion boundary is placed on this phase's output; dispatch creation reads and erases it."""

DISPATCHES_OUTLINED_AT = "flow"

DISPATCH_CREATION = "dispatch-creation"

DISPATCHES_FORMED_AT = "executable-sources"

DISPATCHES_CONFIGURED_AT = "executable-configurations"

TRANSLATED_AT = "executable-targets"

SERIALISED_AT = "hal"
"""The first phase whose output holds machine code: executables are translated and linked on the way."""

VM_CODE_AT = "vm"
"""The last phase whose output is IR: registers are allocated, and bytecode is written, behind it."""

LAST_SHARED_PHASE = "abi"
"""The last phase whose output is the same for every target: devices are assigned in the next one."""
