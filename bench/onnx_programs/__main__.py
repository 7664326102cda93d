"""Programs of ONNX with dynamic sizes through stock IREE and through fissile, run, and compared with what ONNX defines.

    python -m bench.onnx_programs write FOLDER [--nodes | --first | --forms | --runtime]
    python -m bench.onnx_programs run FOLDER [--target llvm-cpu …] [--only REGEX] [--jobs 2]

``write`` imports the models of this folder as IREE's own tool does, and keeps their arguments and what onnxruntime computes of them; with
--nodes ONNX's own operator tests, each size of which is left open, and with --first only the first one of each input; with --forms, ops over their
attributes and in the forms of old opsets (`attributes`), with fixed sizes; with --runtime, models with ops of ONNX Runtime
(`runtime_ops`, `runtime_attention`) and with ops in forms that IREE rejects (`refused_ops`), not imported. ``run`` is that of
`bench.compared_programs`. Exit status 1 where fissile is worse than stock or wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import onnx

from bench import compared_programs


def imported(model: onnx.ModelProto) -> str:
    """``model`` as IREE's importer writes it, with its function called main. Raises what the importer raises."""
    from iree.compiler import ir
    from iree.compiler.extras import onnx_importer

    model.graph.name = "main"
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    info = onnx_importer.ModelInfo(inferred)
    module = info.create_module(context=ir.Context()).operation
    onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
    return str(module)


def tables(forms: bool) -> None:
    """Fills the table of `entries`: with models whose sizes the call decides, or with ``forms``."""
    if forms:
        from bench.onnx_programs.attributes import images as windows
        from bench.onnx_programs.attributes import layers, numbers, old_opsets, tensors

        assert windows and layers and numbers and old_opsets and tensors  # each adds its programs
    else:
        from bench.onnx_programs import blocks, images, indices, models, quantised

        assert blocks and images and indices and models and quantised


def write(folder: Path, nodes: bool, first_only: bool, forms: bool) -> None:
    """What the importer does not import is counted by its message."""
    from bench.onnx_programs import entries
    from bench.onnx_programs import nodes as node_tests

    tables(forms)
    folder.mkdir(parents=True, exist_ok=True)
    refused: Counter[str] = Counter()
    written = 0
    for name, model, arguments, results in (
        node_tests.programs(first_only) if nodes or first_only else entries.programs()
    ):
        try:
            text = imported(model)
        except Exception as error:  # whatever it raises
            refused[f"{type(error).__name__}: {' '.join(str(error).split())[:80]}"] += 1
            continue
        (folder / f"{name}.mlir").write_text(text)
        onnx.save(model, folder / f"{name}.onnx")
        compared_programs.write_call(folder / f"{name}.npz", arguments, results)
        written += 1
    print(f"{written} programs in {folder}")
    for reason, count in refused.most_common():
        print(f"{count} not imported: {reason}")


def write_runtime(folder: Path) -> None:
    from bench.onnx_programs import refused_ops, runtime_attention, runtime_ops

    folder.mkdir(parents=True, exist_ok=True)
    for table in (runtime_ops.TABLE, runtime_attention.TABLE, refused_ops.TABLE):
        for name, model, arguments, results in table.programs():
            onnx.save(model, folder / f"{name}.onnx")
            compared_programs.write_call(folder / f"{name}.npz", arguments, results)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    compared_programs.add_arguments(parser)
    parser.add_argument("--nodes", action="store_true", help="write ONNX's own operator tests")
    parser.add_argument("--first", action="store_true", help="the same, with the first sizes left open")
    parser.add_argument(
        "--forms", action="store_true", help="write ops over their attributes, of fixed sizes"
    )
    parser.add_argument(
        "--runtime", action="store_true", help="write models with ops of ONNX Runtime and others"
    )
    chosen = parser.parse_args(argv)
    if chosen.runtime and chosen.what == "write":
        write_runtime(chosen.folder)
        return 0
    if chosen.what == "run":
        return compared_programs.run(chosen)
    write(chosen.folder, chosen.nodes, chosen.first, chosen.forms)
    return 0


if __name__ == "__main__":
    sys.exit(main())
