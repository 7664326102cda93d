"""Which model predicts which code generation pipeline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fissile.passes.iree import version

from . import predict_llvmcpu, predict_llvmgpu, predict_spirv
from .prediction import Prediction
from .tiles import ConfiguredDispatch

MODELS: dict[tuple[str, str], Callable[[ConfiguredDispatch], Prediction]] = {
    # (code generator, IREE's pipeline of `#iree_codegen.translation_info`, 3.13) -> model
    **{
        (backend, pipeline): model
        for backend in ("rocm", "cuda")
        for pipeline, model in {
            "TileAndFuse": predict_llvmgpu.tile_and_fuse,
            "VectorDistribute": predict_llvmgpu.vector_distribute,
            "Distribute": predict_llvmgpu.distribute,
            "BaseLowering": predict_llvmgpu.base_lowering,
            "Default": predict_llvmgpu.base_lowering,
        }.items()
    },
    **{
        (backend, pipeline): model
        for backend in ("vulkan-spirv", "metal-spirv")
        for pipeline, model in {
            "BaseDistribute": predict_spirv.base_distribute,
            "BaseVectorize": predict_spirv.vectorize,
            "SubgroupReduce": predict_spirv.subgroup_reduce,
            "MatmulPromoteVectorize": predict_spirv.matmul_promote,
            "CooperativeMatrixVectorize": predict_spirv.cooperative_matrix,
            "BaseLowering": predict_spirv.base_lowering,
        }.items()
    },
}


def predict(dispatch: ConfiguredDispatch) -> Prediction:
    """The buffers that code generation will allocate for ``dispatch``; without a model, no buffers and a
    doubt. On a version of IREE that was not calibrated every prediction carries a doubt."""
    prediction = _modelled(dispatch)
    unknown = version.doubt()
    return replace(prediction, doubts=(*prediction.doubts, unknown)) if unknown else prediction


def _modelled(dispatch: ConfiguredDispatch) -> Prediction:
    if dispatch.backend == "llvm-cpu":
        return predict_llvmcpu.stack(dispatch)
    model = MODELS.get((dispatch.backend, dispatch.pipeline))
    if model is None:
        return Prediction(
            (), (f"no model of the {dispatch.pipeline or 'unnamed'} pipeline for {dispatch.backend}",)
        )
    prediction = model(dispatch)
    doubts = list(prediction.doubts)
    if dispatch.opaque:
        doubts.append("contains " + ", ".join(sorted(set(dispatch.opaque))))
    return Prediction(prediction.buffers, tuple(dict.fromkeys(doubts)), dispatch.bounds)
