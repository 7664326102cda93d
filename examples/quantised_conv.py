"""Quantise/dequantise around a convolution: stock IREE refuses it, fissile builds it, and the numbers are right.

    python examples/quantised_conv.py              16x16 feature map: compiles for gfx942, runs on llvm-cpu and Vulkan
    python examples/quantised_conv.py --size 512   full size: int8 [1,64,514,514]; compiles, runs on llvm-cpu only

The outputs are compared with float64 NumPy: at most one step of the int8 output off, in less than 0.1% of the values.
Exit status: 0 every statement holds, 1 a compile failed or numbers disagree.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from programs import QuantisedConv

import fissile
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.native_programs import stock_compiler
from fissile.pipelines.numerics.runtimes import present
from fissile.target import find_target

TOLERANCE = "1steps,0.001"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--size", type=int, default=16, help="height and width of the feature map (default 16)"
    )
    parser.add_argument("--channels", type=int, default=64, help="input channels (default 64)")
    parser.add_argument("--filters", type=int, default=256, help="output channels (default 256)")
    parser.add_argument(
        "--vulkan",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="run on Vulkan (default: where a device answers and the size is at most 32)",
    )
    args = parser.parse_args()
    program = QuantisedConv(args.size, args.channels, args.filters)
    runtimes = [runtime.name for runtime in present()]
    on_vulkan = args.vulkan if args.vulkan is not None else "vulkan" in runtimes and args.size <= 32
    with tempfile.TemporaryDirectory(prefix="fissile-example-") as folder:
        source = Path(folder, "quantised_conv.mlir")
        source.write_text(program.text)
        fine = build(source, "gfx942")
        fine &= build(source, "llvm-cpu") and agrees(
            source.with_suffix(".llvm-cpu.vmfb"), "local-task", program
        )
        if on_vulkan:
            fine &= build(source, "vulkan", match_device="vulkan")
            fine = fine and agrees(source.with_suffix(".vulkan.vmfb"), "vulkan", program)
        else:
            why = "no Vulkan device answers here" if "vulkan" not in runtimes else "not run at this size"
            print(f"vulkan      not run: {why}; llvm-cpu's numbers stand alone")
    return 0 if fine else 1


def build(source: Path, target: str, match_device: str = "") -> bool:
    """Stock's answer and fissile's, a line each. True where fissile wrote a module."""
    flags = flags_for(find_target(target))
    output = source.with_suffix(f".{target}.vmfb")
    stock = subprocess.run(
        [stock_compiler(), source, "-o", "/dev/null", *flags], capture_output=True, text=True, check=False
    )
    error = re.search(r"error: (.*)", stock.stderr)
    print(f"{target:<11} stock:   {'compiles' if stock.returncode == 0 else error[1] if error else 'fails'}")
    report = fissile.compile(source, output, flags, match_device=match_device, check=False)
    for finding in report.findings:
        print(f"{target:<11} fissile: {finding.severity.value} {finding.code}: {finding.message}")
        for help_ in finding.helps:
            print(f"{'':<11}          {'done' if help_.applied else 'help'}: {help_.title}")
    made = f"{output.stat().st_size} bytes of VM bytecode" if report.output else "no module"
    print(f"{target:<11} fissile: {made}")
    return bool(report.output)


def agrees(vmfb: Path, runtime: str, program: QuantisedConv) -> bool:
    certificate = fissile.verify(
        vmfb, reference=program.reference, on=runtime, tolerance=TOLERANCE, timeout=1800
    )
    for check in certificate.checks:
        print(f"{runtime:<11} ran:     {check.sentence}")
    return certificate.agrees


if __name__ == "__main__":
    sys.exit(main())
