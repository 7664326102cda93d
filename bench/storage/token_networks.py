"""Networks whose embeddings are looked up at token ids that the caller passes, as deployed language models take them.

The networks of `onnx_blocks.py` take an image and compute ids from it, which are proved to be in range. Here the ids
are the input, so they are checked at run time.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from bench.programs.onnx_blocks import BLOCKS
from fissile.pipelines.process.child import run_child

NETWORKS = ("language_model", "masked_encoder")


def imported(name: str, folder: Path, seed: int = 0) -> tuple[str, list[np.ndarray]]:
    """The network ``name`` of token ids as MLIR text, with legal ids. Raises ValueError where the import fails."""
    model, rows = by_tokens(BLOCKS[name](seed))
    saved, source = folder / f"{name}.onnx", folder / f"{name}.mlir"
    onnx.save(model, saved)
    ended = run_child([sys.executable, "-m", "iree.compiler.tools.import_onnx", saved, "-o", source], 300.0)
    if ended.status:
        raise ValueError(f"iree-import-onnx: {(ended.err.strip().splitlines() or [ended.reason])[-1]}")
    count = model.graph.input[0].type.tensor_type.shape.dim[0].dim_value
    return source.read_text(), [np.random.default_rng(seed).integers(0, rows, count, np.int64)]


def by_tokens(model: onnx.ModelProto) -> tuple[onnx.ModelProto, int]:
    """``model`` with the ids of its embedding as its only input, and how many rows the table has."""
    graph = model.graph
    tables = {t.name: t for t in graph.initializer}
    known = {v.name: v for v in graph.value_info}
    lookup = next(
        n for n in graph.node if n.op_type == "Gather" and n.input[0] in tables and n.input[1] not in tables
    )
    ids = lookup.input[1]
    shape = [d.dim_value for d in known[ids].type.tensor_type.shape.dim]
    needed, pending = [], [graph.output[0].name]
    maker = {made: node for node in graph.node for made in node.output}
    while pending:
        node = maker.get(name := pending.pop())
        if name != ids and node is not None and node not in needed:
            needed.append(node)
            pending += node.input
    made = helper.make_graph(
        [node for node in graph.node if node in needed],
        graph.name,
        [helper.make_tensor_value_info(ids, TensorProto.INT64, shape)],
        list(graph.output),
        list(graph.initializer),
    )
    made = helper.make_model(made, opset_imports=model.opset_import, ir_version=model.ir_version)
    onnx.checker.check_model(made)
    return made, numpy_helper.to_array(tables[lookup.input[0]]).shape[0]
