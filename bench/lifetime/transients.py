"""How far does --pack-transients lower the peak of memory that the runtime reports?

    python -m bench.lifetime.transients
    python -m bench.lifetime.transients --program vision_transformer --program chain --on vulkan

Each program is compiled with and without --pack-transients and run on each runtime that is present. One line a case: the bytes of the
slabs with IREE's offsets and packed, their lower bound, and the peak that the runtime's allocator counted during the calls. Exit
status 1 where the outputs differ in a bit, or where a packed program has the higher peak.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fissile.passes.iree.targets import flags_for
from fissile.pipelines.numerics.runtimes import present, run_module_program
from fissile.pipelines.process.child import run_child
from fissile.target import find_target

NETWORKS = ("vision_transformer", "segmentation", "group_norm", "dilated_pyramid")
CHAIN = (1024, 2048, 4096, 8192)
"""Widths of matmuls, one behind the other: each result is larger than what stands in the slab before it."""
LARGE = 4 << 20
"""Elements of the smallest tensor of a program whose slabs are larger than the blocks of 64 MiB that IREE's Vulkan allocator takes."""
ON = {"local-sync": "llvm-cpu", "vulkan": "vulkan"}
"""Runtime -> the target whose modules it takes."""
LIMIT = 600.0
_PEAK = re.compile(r"DEVICE_LOCAL:\s*(\d+)B peak")
_WITH_MEMORY = (
    "import resource, subprocess, sys; status = subprocess.run(sys.argv[1:]).returncode; "
    "print('resident', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(status)"
)
"""Runs a program and prints the largest resident memory that it had, in KiB: IREE's Vulkan allocator does not count transients."""
_RESIDENT = re.compile(r"^resident (\d+)$", re.M)
_SLAB = re.compile(r"take (\d+)(?: x .*)? bytes; (\d+)(?: x .*)? are enough")


@dataclass(frozen=True)
class Program:
    name: str
    source: Path
    inputs: Sequence[np.ndarray]
    function: str
    results: int = 1


@dataclass(frozen=True)
class Run:
    """``peak`` is what the allocator counted, ``resident`` the largest resident memory of the process, in bytes; ``outputs`` are the
    bytes of all results."""

    peak: int
    resident: int
    outputs: bytes


def chain(folder: Path, rows: int = 256, widths: Sequence[int] = CHAIN, dynamic: bool = False) -> Program:
    """Matmuls whose results grow, then one small result. ``dynamic``: the number of rows is known when the program runs."""
    many, given = ("?", "%rows") if dynamic else (str(rows), "")
    lines = [f"func.func @main(%x0: tensor<{many}x{widths[0]}xf32>) -> tensor<{many}x16xf32> {{"]
    lines.append("  %zero = arith.constant 0.0 : f32")
    if dynamic:
        lines.append("  %c0 = arith.constant 0 : index")
        lines.append(f"  %rows = tensor.dim %x0, %c0 : tensor<?x{widths[0]}xf32>")
    for i, (k, n) in enumerate(zip(widths, (*widths[1:], 16), strict=True)):
        left, right, out = f"tensor<{many}x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{many}x{n}xf32>"
        lines += [
            f"  %w{i} = arith.constant dense<{1 / k}> : {right}",
            f"  %e{i} = tensor.empty({given}) : {out}",
            f"  %z{i} = linalg.fill ins(%zero : f32) outs(%e{i} : {out}) -> {out}",
            f"  %x{i + 1} = linalg.matmul ins(%x{i}, %w{i} : {left}, {right}) outs(%z{i} : {out}) -> {out}",
        ]
    lines += [f"  return %x{len(widths)} : tensor<{many}x16xf32>", "}"]
    name = "dynamic_chain" if dynamic else "chain"
    source = folder / f"{name}.mlir"
    source.write_text("\n".join(lines) + "\n")
    image = np.random.default_rng(0).standard_normal((rows, widths[0]), np.float32)
    return Program(name, source, [image], "main")


def large(folder: Path, elements: int = LARGE) -> Program:
    """Sums of rows of tensors that double three times, each kept by a boundary: slices of 4, 8 and 16 times ``elements`` bytes."""
    lines = [
        f"func.func @main(%x0: tensor<{elements}xf32>) -> tensor<f32> {{",
        "  %zero = arith.constant 0.0 : f32",
    ]
    n = elements
    for i in range(3):
        given, wide, flat = f"tensor<{n}xf32>", f"tensor<2x{n}xf32>", f"tensor<{2 * n}xf32>"
        maps = "[affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>]"
        lines += [
            f"  %e{i} = tensor.empty() : {wide}",
            f'  %g{i} = linalg.generic {{indexing_maps = {maps}, iterator_types = ["parallel", "parallel"]}} '
            f"ins(%x{i} : {given}) outs(%e{i} : {wide}) {{",
            "  ^bb0(%a: f32, %b: f32):",
            "    %c = arith.addf %a, %a : f32",
            "    linalg.yield %c : f32",
            f"  }} -> {wide}",
            f'  %k{i} = "fissile.boundary"(%g{i}) : ({wide}) -> {wide}',
            f"  %x{i + 1} = tensor.collapse_shape %k{i} [[0, 1]] : {wide} into {flat}",
        ]
        n *= 2
    lines += [
        "  %e = tensor.empty() : tensor<f32>",
        "  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>",
        "  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> ()>], "
        f'iterator_types = ["reduction"]}} ins(%x3 : tensor<{n}xf32>) outs(%f : tensor<f32>) {{',
        "  ^bb0(%a: f32, %b: f32):",
        "    %c = arith.maximumf %a, %b : f32",
        "    linalg.yield %c : f32",
        "  } -> tensor<f32>",
        "  return %r : tensor<f32>",
        "}",
    ]
    source = folder / "large.mlir"
    source.write_text("\n".join(lines) + "\n")
    image = np.random.default_rng(0).standard_normal(elements, np.float32)
    return Program("large", source, [image], "main")


def network(name: str, folder: Path) -> Program:
    from bench.networks import imported
    from bench.programs.network_forms import build

    case = imported(build(name, "fp32"), folder, seed=0, run=False)
    found = re.search(r"func\.func @([\w$]+)\(.*?\) *-> *(.*)", case.source.read_text())
    assert found, f"{name} has no function with results"
    return Program(
        name, case.source, case.inputs, found[1], found[2].partition("attributes")[0].count("tensor<")
    )


def dynamic_chain(folder: Path) -> Program:
    return chain(folder, dynamic=True)


def made(name: str, folder: Path) -> Program:
    own = {"chain": chain, "dynamic_chain": dynamic_chain, "large": large}
    return own[name](folder) if name in own else network(name, folder)


def compiled(program: Program, target: str, packed: bool) -> tuple[Path, list[tuple[int, int]]]:
    """The module, and (IREE's bytes, packed bytes) of each part of a slab that can be smaller; times a dimension where that is dynamic."""
    output = program.source.with_suffix(f".{target}.{'packed' if packed else 'stock'}.vmfb")
    option = "--pack-transients" if packed else "--check-lifetimes"
    flags = [*flags_for(find_target(target)), option, "--format=json", "-o", str(output)]
    command = [sys.executable, "-m", "fissile.cli.main", "compile", str(program.source), *flags]
    ended = run_child(command, LIMIT)
    if ended.status != 0:
        raise RuntimeError(f"{program.name} for {target}: {ended.err.strip()[-300:]}")
    found = json.loads(ended.out[ended.out.index("{") :])["findings"]
    slabs = [_SLAB.search(one["message"]) for one in found if one["code"] == "FIS311"]
    return output, [(int(slab[1]), int(slab[2])) for slab in slabs if slab]


def measured(program: Program, module: Path, runtime: str) -> Run:
    """The module's run by iree-run-module, a process of its own, with the counts of its allocator."""
    with tempfile.TemporaryDirectory(prefix="fissile-transients-") as folder:
        flags = [
            f"--module={module}",
            f"--device={runtime}",
            f"--function={program.function}",
            "--print_statistics",
        ]
        for number, array in enumerate(program.inputs):
            np.save(Path(folder) / f"in{number}.npy", array)
            flags.append(f"--input=@{folder}/in{number}.npy")
        files = [Path(folder) / f"out{number}.npy" for number in range(program.results)]
        ended = run_child(
            [
                sys.executable,
                "-c",
                _WITH_MEMORY,
                run_module_program(),
                *flags,
                *(f"--output=@{file}" for file in files),
            ],
            LIMIT,
        )
        peak = _PEAK.search(ended.out + ended.err)
        resident = _RESIDENT.search(ended.err)
        if ended.status != 0 or peak is None or resident is None:
            raise RuntimeError(f"{program.name} on {runtime}: {ended.err.strip()[-300:]}")
        return Run(int(peak[1]), 1024 * int(resident[1]), b"".join(file.read_bytes() for file in files))


def compare(program: Program, runtime: str) -> bool:
    """One line; whether the outputs are the same in every bit and the peak is not higher."""
    target = ON[runtime]
    stock_module, foreseen = compiled(program, target, packed=False)
    module, slabs = compiled(program, target, packed=True)
    stock, packed = measured(program, stock_module, runtime), measured(program, module, runtime)
    same = stock.outputs == packed.outputs
    before, after = sum(s for s, _ in slabs), sum(s for _, s in slabs)
    slab = (
        f"slabs {before} -> {after} (-{100 * (before - after) / before:.0f}%)"
        if slabs
        else "slabs are minimal"
    )
    saved = 100 * (stock.peak - packed.peak) / stock.peak
    agree = "the same in every bit" if same else "OUTPUTS DIFFER"
    print(
        f"{program.name} {runtime} | {slab} | allocator's peak {stock.peak} -> {packed.peak} (-{saved:.0f}%) | "
        f"process {stock.resident >> 20} -> {packed.resident >> 20} MiB | {agree}",
        flush=True,
    )
    return same and packed.peak <= stock.peak and foreseen == slabs


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--program", action="append", help=f"default: chain, dynamic_chain, large, {', '.join(NETWORKS)}"
    )
    parser.add_argument("--on", action="append", choices=tuple(ON), help="default: all that are present")
    parser.add_argument("--keep", type=Path, help="leave the programs and modules in this folder")
    args = parser.parse_args(words)
    answering = {runtime.name for runtime in present()}
    runtimes = args.on or [name for name in ON if name == "local-sync" or name in answering]
    fine = True
    with contextlib.ExitStack() as stack:
        folder = args.keep or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="fissile-transients-"))
        )
        folder.mkdir(parents=True, exist_ok=True)
        for name in args.program or ["chain", "dynamic_chain", "large", *NETWORKS]:
            program = made(name, folder)
            for runtime in runtimes:
                fine = compare(program, runtime) and fine
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
