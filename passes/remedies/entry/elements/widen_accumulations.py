"""Sums, norms and losses of 16-bit floats, computed in f32 as their front ends do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType

_NARROW = {element for element, bits in torch.FLOATS.items() if bits == 16}
_WIDE = "f32"
_ADDING = {
    "aten.sum", "aten.sum.dim_IntList", "aten.mean", "aten.mean.dim", "aten.cumsum", "aten.prod", "aten.prod.dim_int", "aten.cumprod", "aten.trace",
    "aten.norm.Scalar", "aten.norm.ScalarOpt_dim", "aten.linalg_norm", "aten.linalg_vector_norm", "aten.frobenius_norm.dim", "aten.renorm",
    "aten.var_mean", "aten.var_mean.dim", "aten.var_mean.correction", "aten.std", "aten.std.dim", "aten.std.correction",
    "aten.log_softmax.int", "aten._log_softmax", "aten.logcumsumexp",
    "aten.layer_norm", "aten.native_layer_norm", "aten.group_norm", "aten.native_group_norm", "aten.rms_norm", "aten.cosine_similarity",
    "aten.batch_norm", "aten.native_batch_norm", "aten.instance_norm", "aten._native_batch_norm_legit", "aten._native_batch_norm_legit_functional",
    "aten._native_batch_norm_legit.no_stats",
    "aten.avg_pool1d", "aten.avg_pool2d", "aten.avg_pool3d",
    "aten.adaptive_avg_pool1d", "aten.adaptive_avg_pool2d", "aten.adaptive_avg_pool3d", "aten._adaptive_avg_pool2d", "aten._adaptive_avg_pool3d",
    "aten.mse_loss", "aten.l1_loss", "aten.poisson_nll_loss",
    "aten.scatter_add", "aten.scatter_reduce.two",
    "onnx.ReduceSum", "onnx.ReduceMean", "onnx.ReduceL1", "onnx.ReduceL2", "onnx.ReduceSumSquare", "onnx.ReduceLogSum", "onnx.ReduceProd", "onnx.CumSum", "onnx.GlobalAveragePool", "onnx.AveragePool", "onnx.GlobalLpPool", "onnx.LpPool", "onnx.LpNormalization",
    "onnx.MeanVarianceNormalization", "onnx.LogSoftmax",
    "onnx.NegativeLogLikelihoodLoss", "onnx.SoftmaxCrossEntropyLoss",
}  # fmt: skip
"""Ops that IREE 3.13 lowers to sums of 16 bits.

Products of matrices, convolutions, softmax, attention, var and the layer norms of ONNX have wider sums there.
"""
_DTYPES = {
    "aten.sum": 1, "aten.sum.dim_IntList": 3, "aten.mean": 1, "aten.mean.dim": 3, "aten.cumsum": 2, "aten.prod": 1, "aten.prod.dim_int": 3,
    "aten.cumprod": 2, "aten.linalg_norm": 4, "aten.linalg_vector_norm": 4, "aten.log_softmax.int": 2,
}  # fmt: skip
"""Op -> which operand is the type to compute in."""
_INSTANCES = "aten.instance_norm"
"""Without a weight or a bias it ends IREE, and what is written for it adds in f32."""
_TRAINING = {"aten.batch_norm": 5, "aten.native_batch_norm": 5, "aten.instance_norm": 5, "aten._native_batch_norm_legit": 5,
             "aten._native_batch_norm_legit_functional": 5, "aten._native_batch_norm_legit.no_stats": 3}  # fmt: skip
"""Op -> which operand says whether it sums at all."""


@register_pass
@dataclass(frozen=True)
class WidenAccumulations(FrontEndRemedy):
    """Converts the 16-bit floats of a sum, mean, norm, pool or loss of PyTorch or ONNX to f32, and its results back.

    PyTorch adds them up in f32, and so do the layers of ONNX. IREE 3.13's import adds in the type of the result (FIS220): a sum of bf16 ones stops at 256,
    the square of an f16 of 256 is infinite. Sizes may be dynamic. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-widen-accumulations"
    cures: ClassVar[tuple[str, ...]] = ("FIS220",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "computes sums, means, norms, average pools and losses of 16-bit floats in f32 (in the input)"
    )
    repairs: ClassVar[str] = (
        "such an op of `f16` or `bf16`, for which IREE adds in 16 bits: wrong numbers on every target (FIS220)"
    )
    numbers: ClassVar[str] = "those of sums in f32, rounded once"
    done: ClassVar[str] = "computed it in f32"
    advice: ClassVar[str] = "compute it in f32 (`x.float()`), and convert the result"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if name not in _ADDING or len(op.operands) <= max(_DTYPES.get(name, 0), _TRAINING.get(name, 0)):
            return False
        if name == _INSTANCES and any(map(torch.is_none, list(op.operands)[1:3])):
            return False
        if name in _TRAINING and torch.boolean_of(op.operands[_TRAINING[name]]) is False:
            return False
        return any(map(_is_narrow, op.operands)) and any(map(_is_narrow, op.results))

    def written(self, op: ir.Operation) -> list[ir.Value]:
        operands = [torch.converted(one, _WIDE) if _is_narrow(one) else one for one in op.operands]
        dtype = _DTYPES.get(torch.front_end_name(op))
        if dtype is not None:
            operands[dtype] = torch.none()
        wide = [_widened(one) if _is_narrow(one) else one.type for one in op.results]
        attributes = {one: op.attributes[one] for one in op.attributes}
        made = ir.Operation.create(op.name, results=wide, operands=operands, attributes=attributes)
        return [
            torch.converted(new, type_.element) if (type_ := TensorType.of(old)) and _is_narrow(old) else new
            for old, new in zip(op.results, made.results, strict=True)
        ]


def _is_narrow(value: ir.Value) -> bool:
    type_ = TensorType.of(value)
    return type_ is not None and type_.element in _NARROW


def _widened(value: ir.Value) -> ir.Type:
    type_ = TensorType.of(value)
    assert type_ is not None
    return TensorType(type_.shape, _WIDE).ir_type()
