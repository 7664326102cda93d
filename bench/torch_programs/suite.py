"""The end-to-end tests of torch-mlir, which IREE's import of PyTorch is: exported, compiled by stock IREE and by fissile, and compared with PyTorch.

    PYTHON-WITH-TORCH-TORCHVISION-AND-IREE-TURBINE -m bench.torch_programs.suite write FOLDER --checkout TORCH_MLIR [--static] [--every 8] [--only REGEX]
    python -m bench.torch_programs.suite run FOLDER [--target llvm-cpu …] [--only REGEX] [--jobs 2]

``--checkout`` is a checkout of torch-mlir; its tests run in this process. Dimensions that a test declares as unknown are dynamic; with
--static they have the sizes of its call, and tests without such a dimension are written as well. ``--every N`` keeps each Nth. A test whose results
are random, or whose operands are not all tensors, is left out. ``run`` is that of `bench.compared_programs`.
"""

from __future__ import annotations

import argparse
import importlib
import random
import re
import sys
import types
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench import compared_programs

_TESTS = "torch_mlir_e2e_test"
_RANDOM = re.compile(r"Rand|Multinomial|Bernoulli|Dropout|Uniform|Normal(?!ize)|Rrelu.*Train|Exponential")
_LEFT_OUT = ("__init__", "custom_op_example", "timeout", "vision_models")
_MOST_ELEMENTS = 1 << 22


def write(folder: Path, checkout: Path, static: bool, every: int, only: str) -> None:
    """Raises SystemExit where this Python lacks PyTorch or iree-turbine, or the checkout the tests. What is not exported is named and left out."""
    try:
        import torch
        from iree.turbine import aot
    except ModuleNotFoundError as missing:
        raise SystemExit(f"error: {missing}; `write` needs PyTorch, torchvision and iree-turbine") from None
    from torch.utils import _pytree

    warnings.simplefilter("ignore")
    folder.mkdir(parents=True, exist_ok=True)
    for number, test in enumerate(_tests(checkout)):
        name = test.unique_name
        if number % every or not re.search(only, name) or _RANDOM.search(name):
            continue
        try:
            torch.manual_seed(0)
            random.seed(0)
            np.random.seed(0)
            module = test.program_factory()
            arguments = _arguments_of(test, module)
            dims = [] if static else _unknown(module, arguments)
            if not static and not any(dims):
                continue
            options = {} if static else {"dynamic_shapes": tuple(dims)}
            with torch.no_grad():
                exported = aot.export(torch.export.export(module, tuple(arguments), **options))
                results = _pytree.tree_leaves(module(*(one.clone() for one in arguments)))
            text = str(exported.mlir_module)
        except Exception as error:  # whatever a test or the exporter raises
            print(f"{name}: not exported: {type(error).__name__}: {' '.join(str(error).split())[:150]}")
            continue
        name += "_f16" if "f16" in text and "f16" not in name else ""  # the tolerance is by name
        (folder / f"{name}.mlir").write_text(text)
        values = [
            [
                (one.float() if one.dtype == torch.bfloat16 else one).detach().numpy()
                for one in map(torch.as_tensor, ones)
            ]
            for ones in (arguments, results)
        ]
        compared_programs.write_call(folder / f"{name}.npz", *values)


def _tests(checkout: Path) -> list:
    """Every test of the suite. What it imports of torch-mlir itself, which need not be installed, is replaced by empty modules."""
    home = checkout / "projects" / "pt1" / "python"
    if not (home / _TESTS / "test_suite").is_dir():
        raise SystemExit(f"error: {home / _TESTS} is not there: --checkout takes a checkout of torch-mlir")
    sys.path.insert(0, str(home))
    for name in ("torch_mlir", "torch_mlir._version", "torch_mlir.compiler_utils", "multiprocess"):
        sys.modules.setdefault(name, types.ModuleType(name))
    from packaging import version

    sys.modules["torch_mlir._version"].__dict__.update(
        torch_version_for_comparison=lambda: version.parse("2.14"), version=version
    )
    sys.modules["torch_mlir.compiler_utils"].__dict__["TensorPlaceholder"] = object
    sys.modules["multiprocess"].__dict__["set_start_method"] = lambda *_a, **_k: None
    for file in sorted((home / _TESTS / "test_suite").glob("*.py")):
        if file.stem not in _LEFT_OUT:
            importlib.import_module(f"{_TESTS}.test_suite.{file.stem}")
    return importlib.import_module(f"{_TESTS}.registry").GLOBAL_TEST_REGISTRY


class _Recorded:
    """Stands for a test's module, and keeps the arguments of the call."""

    def __init__(self) -> None:
        self.arguments: list = []

    def forward(self, *arguments):
        self.arguments = [one.clone() for one in arguments]


def _arguments_of(test, module) -> list:
    framework = importlib.import_module(f"{_TESTS}.framework")
    recorded = _Recorded()
    test.program_invoker(recorded, framework.TestUtils())
    if not recorded.arguments or sum(one.numel() for one in recorded.arguments) > _MOST_ELEMENTS:
        raise ValueError(f"{type(module).__name__} is called without tensors, or with too large ones")
    return recorded.arguments


def _unknown(module, arguments: Sequence) -> list[dict]:
    """For each argument the dimensions that the test declares as unknown; PyTorch takes one of size 1 for known."""
    import torch

    declared = getattr(type(module).forward, "_torch_mlir_arg_annotations", None) or []
    found: list[dict] = []
    for annotation, value in zip(declared[1:], arguments, strict=False):
        sizes = annotation[0] if annotation else None
        found.append(
            {
                dim: torch.export.Dim.AUTO
                for dim, size in enumerate(sizes or ())
                if size == -1 and value.shape[dim] > 1
            }
        )
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    compared_programs.add_arguments(parser)
    parser.add_argument("--checkout", type=Path, help="of torch-mlir, for `write`")
    parser.add_argument("--static", action="store_true", help="write programs of known sizes")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="write each Nth test")
    chosen = parser.parse_args(argv)
    if chosen.what == "run":
        return compared_programs.run(chosen)
    if chosen.checkout is None:
        parser.error("`write` needs --checkout")
    write(chosen.folder, chosen.checkout, chosen.static, max(1, chosen.every), chosen.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
