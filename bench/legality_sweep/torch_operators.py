"""PyTorch's operators as models of a sweep: each with the first sample of PyTorch's own operator tests that is no scalar.

`torch.testing` lists the operators (`op_db`), their element types and their samples. Tensors of a sample are arguments of the program,
everything else is part of it.
"""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path
from typing import Any

from fissile.pipelines.importers import torch_child


def torch_models(folder: Path) -> list[Path]:
    """The files of all operators' programs, most of them not written yet (`answer`), in an order that has nothing to do with their names."""
    made = folder / "all"
    if not made.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made.write_text(
            "\n".join(sorted(_operators(), key=lambda name: hashlib.sha256(name.encode()).digest()))
        )
    return [folder / f"{name}.pt2" for name in made.read_text().split()]


def answer(model: Path, program: Path) -> dict:
    """Exports the operator of ``model``, and imports it as `fissile compile` does; ``refused`` says why there is no ``program``."""
    import torch

    if not model.exists():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                torch.export.save(_exported(_operators()[model.stem]), model)
        except Exception as error:
            model.unlink(missing_ok=True)
            return {"refused": f"not exported: {type(error).__name__}: {' '.join(str(error).split())[:150]}"}
    return torch_child.answer({"model": str(model), "program": str(program), "expand": []})


def _operators() -> dict[str, Any]:
    from torch.testing._internal.common_methods_invocations import op_db

    return {_name(info): info for info in op_db}


def _name(info: Any) -> str:
    variant = f"_{info.variant_test_name}" if info.variant_test_name else ""
    return f"{info.name}{variant}".replace(".", "_")


def _exported(info: Any) -> Any:
    import torch
    from torch.utils import _pytree

    element = next(
        one
        for one in (torch.float32, torch.int64, torch.bool, torch.complex64)
        if one in info.supported_dtypes("cpu")
    )
    torch.manual_seed(0)
    samples = list(info.sample_inputs("cpu", element))
    sample = next((one for one in samples if _is_no_scalar(one.input)), samples[0])
    leaves, shape = _pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    tensors = tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))

    class Operator(torch.nn.Module):
        def forward(self, *arguments: Any) -> Any:
            given = iter(arguments)
            filled = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
            first, more, options = _pytree.tree_unflatten(filled, shape)
            return info.op(first, *more, **options)

    return torch.export.export(Operator(), tensors)


def _is_no_scalar(value: Any) -> bool:
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return bool(getattr(first, "ndim", 0)) and bool(first.numel())
