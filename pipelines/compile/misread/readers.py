"""How each op that IREE's import reads as another one is found: the ops, and what is reported of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.dialect.places import ops_of
from fissile.finding import Finding
from fissile.passes.catalogue import find_pass

if TYPE_CHECKING:
    from fissile.passes.remedies.entry.front_end import FrontEndRemedy


def broadcasts(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.misread_broadcasts import misread_broadcasts
    from fissile.passes.checks.numbers.imported_ops import check_broadcasts

    found = misread_broadcasts(module)
    return found, check_broadcasts(found)


def products(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.narrow_operands import misread_kernels, sign_extended_products
    from fissile.passes.checks.numbers.imported_ops import check_kernels, check_products

    found = sign_extended_products(module, gpu)
    kernels = [op for op in misread_kernels(module) if op not in found]
    return [*found, *kernels], [*check_products(found), *check_kernels(kernels)]


def pads(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.misread_pads import misread_pads
    from fissile.passes.checks.numbers.imported_ops import check_pads

    found = misread_pads(module)
    return found, check_pads(found)


def selections(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.tied_selections import tied_selections
    from fissile.passes.checks.numbers.imported_ops import check_selections

    found = tied_selections(module)
    return found, check_selections(found)


def windows(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.scatter_forms import moved_windows
    from fissile.passes.checks.numbers.imported_ops import check_windows

    found = moved_windows(module)
    return found, check_windows(found)


def sums(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.boolean_sums import boolean_sums
    from fissile.passes.checks.numbers.imported_ops import check_sums

    found = boolean_sums(module)
    return found, check_sums(found)


def left_out(
    names: Sequence[str], module: ir.Operation, gpu: bool
) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.left_out import left_out, ops_left_out
    from fissile.passes.checks.numbers.imported_ops import check_left_out

    found = [op for op in ops_left_out(module) if text_of(op, "name") in names]
    return found, check_left_out((text_of(op, "name"), op, left_out(op)) for op in found)


def part(
    remedy: str, what: str, module: ir.Operation, gpu: bool
) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    """FIS162 of the ops that ``remedy`` fits: ``what`` is left out of them."""
    from fissile.passes.checks.numbers.imported_ops import check_left_out

    fitting = cast("FrontEndRemedy", find_pass(remedy)())
    found = fitting.found(module)
    return found, check_left_out((fitting.named(op), op, what) for op in found)


def fitting(
    check: str, remedy: str, module: ir.Operation, gpu: bool
) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    """What ``check`` says of the ops that ``remedy`` fits."""
    from fissile.passes.checks.numbers import imported_ops

    fitting = cast("FrontEndRemedy", find_pass(remedy)())
    found = fitting.found(module)
    return found, getattr(imported_ops, check)((fitting.named(op), op) for op in found)


def wide_globals(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.checks.numbers.imported_ops import check_wide_globals
    from fissile.passes.remedies.entry.elements.inline_doubles import GLOBALS, InlineDoubles

    found = [op for op in InlineDoubles().found(module) if op.name in GLOBALS]
    return found, check_wide_globals((op.name, op) for op in found)


def crashes(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.left_out import ops_that_crash
    from fissile.passes.checks.numbers.imported_ops import check_crashes

    found = ops_that_crash(module)
    return found, check_crashes((text_of(op, "name"), op) for op in found)


def wraps(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.checks.numbers.imported_ops import check_endless
    from fissile.passes.remedies.entry.onnx.wrap_pads import wraps

    found = [op for op in ops_of(module, "torch.operator") if wraps(op)]
    return found, check_endless((text_of(op, "name"), op) for op in found)


def grids(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.checks.numbers.imported_ops import check_grids
    from fissile.passes.remedies.entry.torch.sample_grids import SampleGrids, samples_outside

    remedy = SampleGrids()
    found = [op for op in remedy.found(module) if samples_outside(op)]
    return found, check_grids((remedy.named(op), op) for op in found)


def scans(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    """FIS162 of the scans that IREE reads otherwise."""
    from fissile.passes.checks.numbers.imported_ops import check_left_out
    from fissile.passes.remedies.entry.onnx.loop_scans import misread

    found = [op for op in ops_of(module, "torch.operator") if misread(op)]
    what = "the direction, the axes or the length"
    return found, check_left_out((text_of(op, "name"), op, what) for op in found)


def borders(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    """FIS162 of those whose sizes are not known: the others IREE rejects."""
    from fissile.passes.checks.numbers.imported_ops import check_left_out
    from fissile.passes.remedies.entry.pools.write_borders import WriteBorders
    from fissile.passes.remedies.entry.torch_ops import TensorType

    remedy = WriteBorders()
    types = ((op, TensorType.of(op.results[0])) for op in remedy.found(module))
    found = [op for op, made in types if made is not None and None in made.shape]
    return found, check_left_out((remedy.named(op), op, "a part of the border") for op in found)


def inferred(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    """FIS164 of the reshapes whose -1 IREE takes to be a size."""
    from fissile.passes.checks.numbers.imported_ops import check_minus_ones
    from fissile.passes.remedies.entry.arrangements.infer_sizes import InferSizes

    remedy = InferSizes()
    found = remedy.found(module)
    return found, check_minus_ones((remedy.named(op), op) for op in found)


def reshapes(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.assumed_sizes import assumption_of
    from fissile.passes.checks.numbers.imported_ops import check_reshapes
    from fissile.passes.remedies.entry.torch.merge_dims import MergeDims

    remedy = MergeDims()
    ops = [op for name in remedy.candidates for op in ops_of(module, name)]
    assumed = [(op, found) for op in ops if (found := assumption_of(op)) and not found.rejected]
    named = [(remedy.named(op), op, found.sizes, found.taken_as) for op, found in assumed]
    return [op for op, _found in assumed], check_reshapes(named)


def norms(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.checks.numbers.imported_ops import check_norms
    from fissile.passes.remedies.entry.layers.normalise_instances import NormaliseInstances, lowered

    remedy = NormaliseInstances()
    found = [op for op in remedy.found(module) if lowered(op)]  # IREE rejects the others
    return found, check_norms((remedy.named(op), op) for op in found)


def pools(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.checks.numbers.imported_ops import check_left_out
    from fissile.passes.remedies.entry.pools.pad_pools import PadPools, misreads_border

    remedy = PadPools()
    found = [op for op in remedy.found(module) if misreads_border(op)]  # IREE rejects the others
    return found, check_left_out((remedy.named(op), op, "the value of the border") for op in found)


def adaptive(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.checks.numbers.imported_ops import check_left_out
    from fissile.passes.remedies.entry.pools.gather_windows import GatherWindows, stops

    remedy = GatherWindows()
    found = [op for op in remedy.found(module) if stops(op)]  # IREE rejects the others, or lowers them
    return found, check_left_out((remedy.named(op), op, "windows of other sizes") for op in found)


def powers(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.checks.numbers.imported_ops import check_left_out
    from fissile.passes.remedies.entry.standard.raise_integers import RaiseIntegers, is_lowered

    remedy = RaiseIntegers()
    found = [op for op in remedy.found(module) if is_lowered(op)]  # IREE rejects the others
    return found, check_left_out((remedy.named(op), op, "the sign of a negative base") for op in found)


def size_arithmetic(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.size_arithmetic import name_of, rounds_otherwise
    from fissile.passes.checks.numbers.imported_ops import check_size_arithmetic

    found = [op for op in ops_of(module, "torch.") if rounds_otherwise(op)]
    return found, check_size_arithmetic((name_of(op), op) for op in found)


def unknown_sizes(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.unknown_sizes import ops_of_unknown_sizes
    from fissile.passes.checks.numbers.imported_ops import check_unknown_sizes

    found = ops_of_unknown_sizes(module)
    return found, check_unknown_sizes((text_of(op, "name"), op) for op in found)


def determinants(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.checks.numbers.imported_ops import check_determinants
    from fissile.passes.remedies.entry.algebra.solve_systems import SolveSystems, may_divide_by_zero

    found = [op for op in ops_of(module, "torch.") if may_divide_by_zero(op)]
    return found, check_determinants((SolveSystems().named(op), op) for op in found)


def wide_constants(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    constants = [op for name in ("tosa.const", "arith.constant") for op in ops_of(module, name)]
    if not any("i48" in str(op.results[0].type) for op in constants):
        return [], []  # and the remedy need not be loaded
    from fissile.passes.checks.numbers.imported_ops import check_constants
    from fissile.passes.remedies.entry.tosa.extend_constants import ExtendConstants

    found = ExtendConstants().found(module)
    return found, check_constants(found)


def extremes(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.tosa.infinite_extremes import EXTREMES, may_be_infinite
    from fissile.passes.checks.numbers.imported_ops import check_infinities

    found = [op for name in EXTREMES for op in ops_of(module, name) if may_be_infinite(op)]
    return found, check_infinities(found)


def always(
    check: str, front_end_op: str, module: ir.Operation, gpu: bool
) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    """What ``check`` says of the ops that their front end calls ``front_end_op``."""
    from fissile.passes.checks.numbers import imported_ops

    found = list(ops_of(module, f"torch.{front_end_op}"))
    return found, getattr(imported_ops, check)((front_end_op, op) for op in found)
