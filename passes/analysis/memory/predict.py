"""Which model predicts which code generation pipeline."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from fissile.passes.iree import version

from .prediction import Prediction
from .tiles import ConfiguredDispatch

MODELS: dict[tuple[str, str], str] = {
    # (code generator, IREE's pipeline of `#iree_codegen.translation_info`, 3.13) -> module and function of the model
    **{
        (backend, pipeline): model
        for backend in ("rocm", "cuda")
        for pipeline, model in {
            "TileAndFuse": "predict_llvmgpu.tile_and_fuse",
            "VectorDistribute": "predict_llvmgpu.vector_distribute",
            "Distribute": "predict_llvmgpu.distribute",
            "BaseLowering": "predict_llvmgpu.base_lowering",
            "Default": "predict_llvmgpu.base_lowering",
        }.items()
    },
    **{
        (backend, pipeline): model
        for backend in ("vulkan-spirv", "metal-spirv")
        for pipeline, model in {
            "BaseDistribute": "predict_spirv.base_distribute",
            "BaseVectorize": "predict_spirv.vectorize",
            "SubgroupReduce": "predict_spirv.subgroup_reduce",
            "MatmulPromoteVectorize": "predict_spirv.matmul_promote",
            "CooperativeMatrixVectorize": "predict_spirv.cooperative_matrix",
            "BaseLowering": "predict_spirv.base_lowering",
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
        return _model("predict_llvmcpu.stack", dispatch)
    model = MODELS.get((dispatch.backend, dispatch.pipeline))
    if model is None:
        return Prediction(
            (), (f"no model of the {dispatch.pipeline or 'unnamed'} pipeline for {dispatch.backend}",)
        )
    prediction = _model(model, dispatch)
    doubts = list(prediction.doubts)
    if dispatch.opaque:
        doubts.append("contains " + ", ".join(sorted(set(dispatch.opaque))))
    return Prediction(prediction.buffers, tuple(dict.fromkeys(doubts)), dispatch.bounds)


def _model(name: str, dispatch: ConfiguredDispatch) -> Prediction:
    """The models of one code generator are loaded when a dispatch for it is predicted."""
    module, _, function = name.partition(".")
    predicted: Prediction = getattr(import_module(f".{module}", __package__), function)(dispatch)
    return predicted
