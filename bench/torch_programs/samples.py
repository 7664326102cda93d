"""The samples of PyTorch's own operator tests: each exported, compiled by stock IREE and by fissile, and compared with PyTorch.

    PYTHON-WITH-TORCH-IREE-TURBINE-AND-EXPECTTEST -m bench.torch_programs.samples write FOLDER [--dtype float32] [--samples 2] [--seed 0] [--every 8] [--only REGEX]
    python -m bench.torch_programs.samples run FOLDER [--target llvm-cpu …] [--only REGEX] [--jobs 2]

PyTorch describes its operators, with arguments to try, for its tests (`op_db`). ``write`` draws ``--samples`` of each operator's arguments of
``--dtype``; the tensors among them are the program's arguments, everything else is constant in it. Operators of random results, views of storage
and those that take no tensor are left out. ``run`` is that of `bench.compared_programs`.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import numpy as np

from bench import compared_programs

_LEFT_OUT = re.compile(
    r"empty|rand|normal|dropout|multinomial|bernoulli|uniform|cauchy|geometric|exponential$|jiterator|as_strided|sparse|nested|_jvp|to_sparse|resize|rrelu|allclose|equal$|item$|cudnn|hash"
)
_MOST_ELEMENTS = 1 << 18
_HALF = {"float16": "_f16", "bfloat16": "_bf16"}
"""What the name of such a program ends in: the tolerance is by name."""


def write(folder: Path, dtype: str, samples: int, seed: int, every: int, only: str) -> None:
    """Raises SystemExit where this Python lacks PyTorch, iree-turbine or expecttest, or PyTorch ``dtype``. What is not exported is named and left out."""
    warnings.simplefilter("ignore")
    try:
        import torch
        from iree.turbine import aot
        from torch.testing._internal.common_methods_invocations import op_db
    except ModuleNotFoundError as missing:
        raise SystemExit(
            f"error: {missing}; `write` needs PyTorch, iree-turbine, expecttest and SciPy"
        ) from None
    from torch.utils import _pytree

    element = getattr(torch, dtype, None)
    if not isinstance(element, torch.dtype):
        raise SystemExit(
            f"error: PyTorch has no element type '{dtype}'; --dtype takes float32, float16, int64 …"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for number, op in enumerate(op_db):
        name = "_".join(filter(None, (op.name, op.variant_test_name))).replace(".", "_")
        if number % every or _LEFT_OUT.search(name) or not re.search(only, name):
            continue
        if element not in op.dtypes:
            continue
        try:
            torch.manual_seed(0)
            given = list(op.sample_inputs("cpu", element, requires_grad=False))
        except Exception as error:  # whatever a sampler raises
            print(f"{name}: no samples: {type(error).__name__}")
            continue
        random.Random(f"{seed} {name}").shuffle(given)
        written = 0
        for sample in given:
            if written == samples:
                break
            leaves, spec = _pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
            tensors = [one for one in leaves if isinstance(one, torch.Tensor)]
            if not tensors or not all(0 < one.numel() < _MOST_ELEMENTS for one in tensors):
                continue

            class Called(torch.nn.Module):
                def forward(self, *tensors, leaves=leaves, spec=spec, op=op):
                    left = iter(tensors)
                    full = [next(left) if isinstance(one, torch.Tensor) else one for one in leaves]
                    first, others, named = _pytree.tree_unflatten(full, spec)
                    made = op.op(first, *others, **named)
                    kept = [one for one in _pytree.tree_leaves(made) if isinstance(one, torch.Tensor)]
                    return tuple(kept)

            tensors = [one.detach().contiguous().resolve_conj().resolve_neg() for one in tensors]
            try:
                with torch.no_grad():
                    wanted = Called()(*(one.clone() for one in tensors))
                    again = Called()(*(one.clone() for one in tensors))
                    if any(
                        not torch.equal(*map(torch.nan_to_num, two))
                        for two in zip(wanted, again, strict=True)
                    ):
                        raise ValueError("its results vary")
                    exported = aot.export(torch.export.export(Called(), tuple(tensors)))
                text = str(exported.mlir_module)
            except Exception as error:  # whatever the exporter raises
                print(f"{name}: not exported: {type(error).__name__}: {' '.join(str(error).split())[:120]}")
                continue
            stem = f"{name}-{dtype}-{seed}-{written}{_HALF.get(dtype, '')}"
            (folder / f"{stem}.mlir").write_text(text)
            values = [[_as_numpy(one) for one in ones] for ones in (tensors, wanted)]
            compared_programs.write_call(folder / f"{stem}.npz", *values)
            written += 1


def _as_numpy(tensor) -> np.ndarray:
    import torch

    tensor = tensor.detach().resolve_conj().resolve_neg().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    compared_programs.add_arguments(parser)
    parser.add_argument("--dtype", default="float32", help="of PyTorch, for `write` (%(default)s)")
    parser.add_argument("--samples", type=int, default=2, metavar="N", help="of each operator")
    parser.add_argument("--seed", type=int, default=0, help="which samples")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="write each Nth operator's")
    chosen = parser.parse_args(argv)
    if chosen.what == "run":
        return compared_programs.run(chosen)
    write(chosen.folder, chosen.dtype, chosen.samples, chosen.seed, max(1, chosen.every), chosen.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
