"""Does IREE's import read an op of StableHLO, PyTorch or ONNX as another one (FIS154, FIS155, FIS157, FIS160, FIS162, FIS163, FIS164, FIS165, FIS166, FIS167, FIS168, FIS169, FIS170, FIS179, FIS180, FIS185, FIS195, FIS209, FIS199, FIS217, FIS218, FIS219, FIS220, FIS221, FIS222, FIS228)?"""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Finding
from fissile.passes.analysis.imports.misread_broadcasts import broadcast_dims
from fissile.passes.analysis.imports.narrow_operands import sign_extended_operands
from fissile.passes.analysis.imports.stablehlo_ops import element_of

from ..dispatch_places import labelled
from .nested_inserts import PADDED_TWICE, joined_inserts


def check_broadcasts(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS154 of each op."""
    return [
        _finding(
            "FIS154",
            op,
            f"IREE applies the inverse of the permutation [{_joined(broadcast_dims(op))}] of {op.name}",
            "reorders dimensions",
        )
        for op in found
    ]


def check_products(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS155 of each op."""
    return [
        _finding(
            "FIS155",
            op,
            f"IREE extends unsigned operands of {op.name} ({_joined(sign_extended_operands(op))}) as signed integers",
            "has unsigned operands",
        )
        for op in found
    ]


def check_kernels(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS217 of each op."""
    return [
        _finding(
            "FIS217",
            op,
            f"IREE reads the bytes of the constant kernel of {op.name} as {element_of(op.results[0])}",
            "has a kernel of narrower elements",
        )
        for op in found
    ]


def check_selections(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS170 of each op."""
    return [
        _finding(
            "FIS170",
            op,
            f"IREE takes another one of equal elements than {op.name} selects",
            "selects an element of each window",
        )
        for op in found
    ]


def check_windows(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS209 of each scatter of one window."""
    return [
        _finding(
            "FIS209",
            op,
            f"IREE moves the window of {op.name} inside of the operand, where the program leaves it out",
            "may lie outside",
        )
        for op in found
    ]


def check_sums(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS195 of each op."""
    return [
        _finding("FIS195", op, f"IREE makes an exclusive or of {op.name} of booleans", "adds booleans")
        for op in found
    ]


def check_pads(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS157 of each outer pad."""
    return [_finding("FIS157", op, joined_inserts(op.name, op.name), PADDED_TWICE) for op in found]


def check_crops(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS160 of each op, with what its front end calls it."""
    return [
        _finding(
            "FIS160",
            op,
            f"IREE drops {name} with negative widths, or rejects it",
            "takes elements away",
            name,
        )
        for name, op in found
    ]


def check_packed(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS226 of each constant."""
    message = "IREE takes each byte of a constant for an element, and several are in each"
    return [_finding("FIS226", op, message, "packed as in the ONNX model", name) for name, op in found]


def check_wide_globals(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS228 of each global."""
    message = "IREE reads the bytes of f64 of a global as elements of f32"
    return [_finding("FIS228", op, message, "has its elements in a resource", name) for name, op in found]


def check_grids(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS163 of each op, with what its front end calls it."""
    return [
        _finding(
            "FIS163",
            op,
            f"IREE reads past the image where {name} samples outside of it",
            "samples an image",
            name,
        )
        for name, op in found
    ]


def check_reshapes(found: Iterable[tuple[str, ir.Operation, str, str]]) -> list[Finding]:
    """FIS164 of each op, with what its front end calls it, its operand's sizes and what IREE takes them to be."""
    return [
        _finding(
            "FIS164",
            op,
            f"IREE takes sizes {sizes} to be {taken_as} where it reads {name}",
            "merges dimensions of unknown size",
            name,
        )
        for name, op, sizes, taken_as in found
    ]


def check_minus_ones(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS164 of each op, with what its front end calls it."""
    what = "IREE takes the -1 among the sizes to be a size where it reads"
    return [
        _finding("FIS164", op, f"{what} {name}", "it stands for what the others leave", name)
        for name, op in found
    ]


def check_unsigned(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS165 of each op, with what its front end calls it."""
    return [
        _finding(
            "FIS165",
            op,
            f"IREE computes {name} of unsigned 8-bit integers or booleans with a sign",
            "has unsigned operands, or makes unsigned bytes",
            name,
        )
        for name, op in found
    ]


def check_norms(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS166 of each op, with what its front end calls it."""
    return [
        _finding(
            "FIS166", op, f"IREE normalises by other statistics than {name}", "normalises instances", name
        )
        for name, op in found
    ]


def check_slopes(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS180 of each op, with what its front end calls it."""
    by = "by the sign of the gradient, and not of the operand"
    return [
        _finding("FIS180", op, f"IREE computes {name} {by}", "the gradient of a leaky ReLU", name)
        for name, op in found
    ]


def check_size_arithmetic(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS167 of each op, with what its front end calls it."""
    return [
        _finding(
            "FIS167",
            op,
            f"IREE rounds {name} of a negative size to the other side, or rejects it",
            "its first operand may be negative",
            name,
        )
        for name, op in found
    ]


def check_unknown_sizes(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS168 of each op, with what its front end calls it."""
    return [
        _finding(
            "FIS168",
            op,
            f"IREE takes an unknown size to be -1 where it reads {name}",
            "depends on a size that is not known",
            name,
        )
        for name, op in found
    ]


def check_borders(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS169 of each op, with what its front end calls it."""
    what = "passes on the gradient at the borders, where it is 0"
    return [
        _finding("FIS169", op, f"IREE's {name} {what}", "the gradient of a clamp", name) for name, op in found
    ]


def check_exponentials(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS179 of each op, with what its front end calls it."""
    what = "adds exponentials, which overflow"
    return [_finding("FIS179", op, f"IREE's {name} {what}", "a running sum", name) for name, op in found]


def check_masked_rows(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS219 of each op, with what its front end calls it."""
    what = "is NaN in rows of which the mask leaves nothing"
    return [_finding("FIS219", op, f"IREE's {name} {what}", "an attention", name) for name, op in found]


def check_determinants(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS185 of each op, with what its front end calls it."""
    what = "divides by pivots that may be 0"
    return [_finding("FIS185", op, f"IREE's {name} {what}", "a determinant", name) for name, op in found]


def check_nans(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS199 of each op, with what its front end calls it."""
    return [
        _finding(
            "FIS199",
            op,
            f"IREE drops a NaN of {name}",
            "a NaN may be an operand, and a number the result",
            name,
        )
        for name, op in found
    ]


def check_thresholds(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS218 of each op, with what its front end calls it."""
    what = "to the type of the gradient before it compares it"
    label = "the gradient has another type than the operand"
    return [
        _finding("FIS218", op, f"IREE converts the operand of {name} {what}", label, name)
        for name, op in found
    ]


def check_accumulations(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS220 of each op, with what its front end calls it."""
    what = "adds in 16 bits, PyTorch and ONNX in 32"
    return [_finding("FIS220", op, f"IREE's {name} {what}", "16-bit floats", name) for name, op in found]


def check_formulas(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS222 of each op, with what its front end calls it."""
    what = "by another formula than PyTorch"
    return [
        _finding("FIS222", op, f"IREE computes {name} {what}", "an activation or a loss", name)
        for name, op in found
    ]


def check_folds(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS221 of each op, with what its front end calls it."""
    return [
        _finding("FIS221", op, f"IREE's {name} of a constant may be another than PyTorch's", "computed when it is compiled", name)
        if op.operands[0] != op.operands[1]
        else _finding("FIS221", op, f"IREE's {name} of a tensor with itself is True, of a NaN too", "a NaN is not equal to itself", name)
        for name, op in found
    ]  # fmt: skip


def check_constants(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS210 of each constant of 48 bits with negative elements."""
    return [
        _finding(
            "FIS210",
            op,
            "IREE drops the sign of negative constants of 48 bits",
            "has negative elements",
        )
        for op in found
    ]


def check_infinities(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS211 of each extreme that may be infinite."""
    return [
        _finding(
            "FIS211",
            op,
            f"IREE makes an infinite result of {op.name} the largest finite number",
            "every element of a window may be infinite",
            op.name,
        )
        for op in found
    ]


def check_crashes(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS421 of each op, with what its front end calls it."""
    return [
        _finding(
            "FIS421",
            op,
            f"IREE has no lowering for {name} as it is used here",
            "padded by other widths before than after",
            name,
        ).with_(stock="it crashes as it pads a quantised image")
        for name, op in found
    ]


def check_scatters(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS421 of each op, with what its front end calls it."""
    message = "IREE has no lowering for {} as it is used here"
    return [
        _finding("FIS421", op, message.format(name), "this scatter", name).with_(
            stock="its import crashes, or has no lowering"
        )
        for name, op in found
    ]


def check_endless(found: Iterable[tuple[str, ir.Operation]]) -> list[Finding]:
    """FIS421 of each op, with what its front end calls it."""
    message = "IREE has no lowering for {} as it is used here"
    return [
        _finding("FIS421", op, message.format(name), "goes on with the other end", name).with_(
            stock="it never finishes"
        )
        for name, op in found
    ]


def check_left_out(found: Iterable[tuple[str, ir.Operation, str]]) -> list[Finding]:
    """FIS162 of each op, with what its front end calls it and what is left out."""
    return [
        _finding("FIS162", op, f"IREE leaves out {what} of {name}", f"{what} counts here", name)
        for name, op, what in found
    ]


def _finding(code: str, op: ir.Operation, message: str, label: str, name: str = "") -> Finding:
    return Finding(code, message, subject=name or op.name, places=labelled(place_of(op), label))


def _joined(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))
