"""Programs of TOSA through stock IREE and through fissile, run, and compared with what TOSA 1.0 defines.

    python -m bench.tosa_programs write FOLDER
    python -m bench.tosa_programs run FOLDER [--target llvm-cpu …] [--only REGEX] [--jobs 2]

``write``: a file for each program, with its arguments and results. ``run`` is that of `bench.compared_programs`, where integers have to be the same to the
last bit. Exit status 1 where fissile is worse than stock or wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from bench import compared_programs
from bench.tosa_programs import blocks, elementwise, entries, moving, products, reducing, rescaling, special

assert (
    blocks and elementwise and moving and products and reducing and rescaling and special
)  # each adds its programs


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    compared_programs.add_arguments(parser)
    chosen = parser.parse_args(argv)
    if chosen.what == "run":
        return compared_programs.run(chosen)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for name, text, arguments, results in entries.programs():
        (chosen.folder / f"{name}.mlir").write_text(text)
        compared_programs.write_call(chosen.folder / f"{name}.npz", arguments, results, exact=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
