"""Sizes that follow from the program, and that the exporter left out of the types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.passmanager import PassManager

from fissile.finding import Finding
from fissile.passes.definition import register_pass
from fissile.passes.iree.pipelines import TORCH_SIZES
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy


@register_pass
@dataclass(frozen=True)
class RefineSizes(FrontEndRemedy):
    """Runs IREE's refinement of shapes where an attention does not know the size of its heads.

    iree-turbine writes `view(x, [%s, %b, 8])` with a type of three unknown sizes where `torch.export` derived the 8 from symbols (a
    `MultiheadAttention` over another sequence). IREE 3.13 refines types only in models of ONNX; the attention of a program of PyTorch is then
    rejected, because its operands seem to have heads of different sizes.
    """

    name: ClassVar[str] = "fissile-refine-sizes"
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = ("torch.aten.scaled_dot_product_attention",)
    does: ClassVar[str] = (
        "gives the types of the program the sizes that follow from it, where an attention has operands of unknown sizes (in the input)"
    )
    repairs: ClassVar[str] = (
        "attention whose heads have a size that the exporter did not write: IREE rejects it (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    counterpart: ClassVar[str] = (
        "torch-shape-refinement-pipeline, which IREE runs for ONNX alone: this pass runs it."
    )
    done: ClassVar[str] = "derived its sizes from the program"
    advice: ClassVar[str] = "derive its sizes from the program"

    def fits(self, op: ir.Operation) -> bool:
        if len(op.operands) < 3:
            return False
        operands = [torch.TensorType.of(value) for value in list(op.operands)[:3]]
        return all(one is not None and len(one.shape) > 1 for one in operands) and any(
            one is not None and one.shape[-1] is None for one in operands
        )

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        found = self.found(op)
        self.report(found, report)
        if found:
            PassManager.parse(TORCH_SIZES, context=op.context).run(op.operation)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        """Nothing: the op stays, the whole program is refined."""
        return list(op.results)
