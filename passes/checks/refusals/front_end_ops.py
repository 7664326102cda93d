"""IREE stopped while it lowered a front end's ops: which op, and what can be done about it where the model is made."""

from __future__ import annotations

import re

from fissile.finding import Finding, Place
from fissile.passes.iree.messages import NOT_LOWERED

FRONT_END_OP = "FIS421"
_OPERATOR = re.compile(r'\bname = "(?P<name>[\w.]+)"')
_IN_PLACE = re.compile(r"aten\.[a-z]\w*_(\.|$)")
_VALUES = ("torch.constant.", "torch.vtensor.literal", "torch.prim.ListConstruct", "torch.prim.NumToTensor")
"""Ops that IREE names although it is a user of theirs that it does not lower: the conversion of that was undone."""
OLDEST_OPSET = 17
"""What IREE's import is made for: it lacks forms that ops had before."""
_WAY_OUT = "way out: "
_FUNCTIONALISED = (
    "way out: the op changes a tensor in place; torch.export.export(model, args).run_decompositions({}) writes such ops as ones that return a "
    "new tensor"
)
_SIZED = (
    "CenterCropPad", "ConstantOfShape", "CumSum", "Expand", "OneHot", "Pad", "Range", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
    "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Reshape", "Resize", "Slice", "Split", "Squeeze", "Tile",
    "TopK", "Unsqueeze", "Upsample",
)  # fmt: skip
"""ONNX ops with an input of axes, sizes or positions, which IREE lowers for some values only, or for constants."""


def front_end_op(message: str) -> str:
    """The op that IREE says it does not lower, as the front end calls it (`aten.diff`, `onnx.Cast`); empty where it says something else."""
    found = NOT_LOWERED.search(message)
    if found is None:
        return ""
    named = _OPERATOR.search(message) if found["op"] == "torch.operator" else None
    return (named["name"] if named else found["op"]).removeprefix("torch.")


def check_front_end_op(
    message: str, places: tuple[Place, ...], notes: tuple[str, ...] = ()
) -> Finding | None:
    """FIS421 for IREE's ``message`` while it lowered the input; None where that is about something else."""
    op = front_end_op(message)
    if not op:
        return None
    is_value = f"torch.{op}".startswith(_VALUES)
    headline = (
        f"IREE does not lower an op that uses this {op}"
        if is_value
        else f"IREE has no lowering for {op} as it is used here"
    )
    return Finding(FRONT_END_OP, headline, subject=op, places=places, notes=(*notes, *_ways_out(op)))


def note_old_opset(finding: Finding, opset: int) -> Finding:
    """``finding`` with the way out for a model of such an opset."""
    note = (
        f"way out: the model is of opset {opset}, and IREE's import is made for opset {OLDEST_OPSET} and newer: import it again with "
        f"iree-import-onnx --opset-version={OLDEST_OPSET}, or give fissile the .onnx file, which it converts"
    )
    kept = (one for one in finding.notes if not one.startswith(_WAY_OUT))
    return finding.with_(notes=(*kept, note))


def _ways_out(op: str) -> tuple[str, ...]:
    if op.removeprefix("onnx.") in _SIZED:
        return (
            "way out: export the model with constant axes and sizes for this op, or with other ops in its place",
        )
    if op.startswith("onnx."):
        # Of a program that was imported from a model, `pipelines.importers.imported` leaves out the first.
        return (
            "way out: give fissile the .onnx file, which it imports with other ops in place of many that IREE does not know",
            "way out: export the model with other ops in its place",
        )
    overload = op if op.count(".") > 1 else f"{op}.default"
    decomposed = (
        f"way out: decompose the op when the model is exported: torch.export.export(model, args).run_decompositions(decomposition_table), "
        f"with decomposition_table[torch.ops.{overload}] = a function that writes it with other ops",
    )
    return (_FUNCTIONALISED, *decomposed) if _IN_PLACE.match(op) else decomposed
