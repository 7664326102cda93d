"""The samples of PyTorch's own tests of operators and layers: each exported, compiled by stock IREE and by fissile, and compared with PyTorch.

    PYTHON-WITH-TORCH-IREE-TURBINE-AND-EXPECTTEST -m bench.torch_programs.samples write FOLDER [--of modules] [--dtype float32] [--samples 2] [--seed 0] [--every 8] [--only REGEX]
    python -m bench.torch_programs.samples run FOLDER [--target llvm-cpu …] [--only REGEX] [--jobs 2]

PyTorch describes its operators and its layers (``torch.nn``), with arguments to try, for its tests (`op_db`, `module_db`). ``write`` draws
``--samples`` of each operator's or layer's calls of ``--dtype``; the tensors among the arguments are the program's, everything else is constant
in it. Operators of random results, views of storage
and those that take no tensor are left out. ``run`` is that of `bench.compared_programs`.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
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


def write(folder: Path, source: str, dtype: str, samples: int, seed: int, every: int, only: str) -> None:
    """Raises SystemExit where this Python lacks PyTorch, iree-turbine or expecttest, or PyTorch ``dtype``. What is not exported is named and left out."""
    warnings.simplefilter("ignore")
    try:
        import torch
        from iree.turbine import aot
        from torch.utils import _pytree

        entries = list(_SOURCES[source]())
    except ModuleNotFoundError as missing:
        raise SystemExit(
            f"error: {missing}; `write` needs PyTorch, iree-turbine, expecttest and SciPy"
        ) from None
    element = getattr(torch, dtype, None)
    if not isinstance(element, torch.dtype):
        raise SystemExit(
            f"error: PyTorch has no element type '{dtype}'; --dtype takes float32, float16, int64 …"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for number, (name, draw) in enumerate(entries):
        if number % every or _LEFT_OUT.search(name) or not re.search(only, name):
            continue
        try:
            torch.manual_seed(0)
            given = draw(element)
        except Exception as error:  # whatever a sampler raises
            print(f"{name}: no samples: {type(error).__name__}")
            continue
        random.Random(f"{seed} {name}").shuffle(given)
        written = 0
        for call, arguments in given:
            if written == samples:
                break
            leaves, spec = _pytree.tree_flatten(arguments)
            tensors = [one for one in leaves if isinstance(one, torch.Tensor)]
            if not tensors or not all(0 < one.numel() < _MOST_ELEMENTS for one in tensors):
                continue

            class Called(torch.nn.Module):
                def __init__(self, call=call):
                    super().__init__()
                    self.call = call

                def forward(self, *tensors, leaves=leaves, spec=spec):
                    left = iter(tensors)
                    full = [next(left) if isinstance(one, torch.Tensor) else one for one in leaves]
                    positional, named = _pytree.tree_unflatten(full, spec)
                    made = self.call(*positional, **named)
                    kept = [one for one in _pytree.tree_leaves(made) if isinstance(one, torch.Tensor)]
                    return tuple(kept)

            tensors = [one.detach().contiguous().resolve_conj().resolve_neg() for one in tensors]
            called = Called()
            called.requires_grad_(False)
            try:
                with torch.no_grad():
                    wanted = called(*(one.clone() for one in tensors))
                    again = called(*(one.clone() for one in tensors))
                    if any(
                        not torch.equal(*map(torch.nan_to_num, two))
                        for two in zip(wanted, again, strict=True)
                    ):
                        raise ValueError("its results vary")
                    program = torch.export.export(called, tuple(tensors))
                if _is_mutating(program):
                    program = program.run_decompositions({})
                text = str(aot.export(program).mlir_module)
            except Exception as error:  # whatever the exporter raises
                print(f"{name}: not exported: {type(error).__name__}: {' '.join(str(error).split())[:120]}")
                continue
            stem = f"{name}-{dtype}-{seed}-{written}{_HALF.get(dtype, '')}"
            (folder / f"{stem}.mlir").write_text(text)
            values = [[_as_numpy(one) for one in ones] for ones in (tensors, wanted)]
            compared_programs.write_call(folder / f"{stem}.npz", *values)
            written += 1


def _is_mutating(program) -> bool:
    """Whether ``program`` has an op that writes into its operand, which iree-turbine does not import: functional after `run_decompositions`."""
    schemas = (getattr(node.target, "_schema", None) for node in program.graph.nodes)
    return any(schema is not None and schema.is_mutable for schema in schemas)


def _operators() -> Iterator[tuple[str, Callable]]:
    """The name of each operator of PyTorch's tests, with what draws its calls: pairs of a function and its (positional, named) arguments."""
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:

        def draw(element, op=op):
            if element not in op.dtypes:
                return []
            given = op.sample_inputs("cpu", element, requires_grad=False)
            return [(op.op, ((one.input, *one.args), one.kwargs)) for one in given]

        yield "_".join(filter(None, (op.name, op.variant_test_name))).replace(".", "_"), draw


def _modules() -> Iterator[tuple[str, Callable]]:
    """The name of each layer of `torch.nn` that PyTorch's tests describe, with what draws its calls, as `_operators`."""
    from torch.testing._internal.common_modules import module_db

    for layer in module_db:

        def draw(element, layer=layer):
            made = []
            for one in layer.module_inputs_func(
                layer, device="cpu", dtype=element, requires_grad=False, training=False
            ):
                args, kwargs = one.constructor_input.args, dict(one.constructor_input.kwargs)
                built = layer.module_cls(*args, **kwargs).to(element).eval()
                given = one.forward_input
                built(*given.args, **given.kwargs)  # a lazy layer takes its shape from its first call
                made.append((built, (given.args, given.kwargs)))
            return made

        yield layer.name.replace(".", "_"), draw


_SOURCES = {"operators": _operators, "modules": _modules}


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
    parser.add_argument(
        "--of", choices=sorted(_SOURCES), default="operators", help="what `write` draws (%(default)s)"
    )
    parser.add_argument("--dtype", default="float32", help="of PyTorch, for `write` (%(default)s)")
    parser.add_argument("--samples", type=int, default=2, metavar="N", help="of each operator")
    parser.add_argument("--seed", type=int, default=0, help="which samples")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="write each Nth operator's")
    chosen = parser.parse_args(argv)
    if chosen.what == "run":
        return compared_programs.run(chosen)
    write(
        chosen.folder,
        chosen.of,
        chosen.dtype,
        chosen.samples,
        chosen.seed,
        max(1, chosen.every),
        chosen.only,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
