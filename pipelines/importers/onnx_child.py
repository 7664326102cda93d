"""The child process that imports an ONNX model with IREE's importer: `python -m fissile.pipelines.importers.onnx_child JOB.json`.

It is what iree-import-onnx does (shape inference, then one torch op per node), with locations, which that tool leaves out.
`expand` in the job names op types that are replaced by their definition first: one of `definitions`, or the ONNX standard's; `RAISED`
among them stands for the whole model, of an old opset, as a newer one has it. With
`define`, so is what `definitions` has and the importer knows no type of, which IREE rejects for sure.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from fissile.errors import refused_by_system

from ..process.entry import begin, leave_answer
from .recognise import NEWEST_OPSETS, RAISED

_ASYMMETRIC = 10
"""The last opset whose Resize and Upsample scale the places of elements, and not of their centres. The converter does not write that down."""
_PLACES = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}


def main() -> int:
    begin()
    job = json.loads(Path(sys.argv[1]).read_text())
    leave_answer(Path(job["result"]), answer(job))
    return 0


def answer(job: dict) -> dict:
    """``lines`` and ``types`` of the nodes, which op types ``can_expand``, and what was ``defined``, each with a node's number; or
    ``refused``: why there is no program, and ``node``."""
    try:
        return _import(job)
    except BaseException as error:
        system = refused_by_system(error)
        reason = " ".join(str(error).split())[:400]
        return {
            "refused": reason or type(error).__name__,
            "kind": type(error).__name__,
            "system": [system.message, system.hint] if system else None,
            "node": _node_of(error),
            "lines": job.get("lines", []),
        }


def _import(job: dict) -> dict:
    from iree.compiler import ir
    from iree.compiler.extras import onnx_importer
    from iree.compiler.tools.import_onnx import __main__ as tool

    from . import onnx_nodes
    from .definitions import expand

    arguments = argparse.Namespace(
        input_file=job["model"],
        opset_version=None,
        large_model=False,
        data_dir=None,
        data_prop=True,
        externalize_params=False,
    )
    model = _loaded(tool, arguments, bool(job.get("define")))
    types = onnx_nodes.op_types(model)
    names = onnx_nodes.node_names(model)
    lines = job["lines"] = onnx_nodes.number_nodes(model)
    definable = expand.definable(model)
    untyped = [kind for kind, node in definable.items() if node] if job.get("define") else []
    opset = _opset(model)
    before, after = _around(job["expand"])
    replaced: set[str] = set()
    if before or untyped:  # the converter knows neither ops of other domains nor those of later versions
        model, replaced = _expanded(model, [*untyped, *before])
    if RAISED in job["expand"]:
        model = raised(model)
    if after:
        model, _more = _expanded(model, after)
    context = ir.Context()
    info = onnx_importer.ModelInfo(model)
    module = info.create_module(context=context).operation
    importer = onnx_importer.NodeImporter.define_function(info.main_graph, module)
    importer.import_all()
    module.verify()
    onnx_nodes.place_nodes(module, job["name"], names)
    with open(job["program"], "wb") as file:
        module.write_bytecode(file)
    return {
        "lines": lines,
        "types": types,
        "can_expand": sorted(
            _defined(model) | definable.keys() | ({RAISED} if 0 < opset < min(NEWEST_OPSETS) else set())
        ),
        "opset": opset,
        "own": sorted(definable),
        "defined": {kind: onnx_nodes.number_of(definable[kind]) for kind in untyped if kind in replaced},
    }


def _around(kinds: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is expanded in the model as it is, and what in the converted one."""
    at = kinds.index(RAISED) if RAISED in kinds else len(kinds)
    return list(kinds[:at]), list(kinds[at + 1 :])


def _loaded(tool, arguments: argparse.Namespace, define: bool):
    """The model with its shapes, as IREE's tool loads it; to ``define``, also one with ops of ONNX Runtime among those of the standard."""
    import onnx

    from .definitions import expand

    try:
        return tool.load_onnx_model(arguments)
    except onnx.checker.ValidationError:
        model = onnx.load(arguments.input_file)
        if not define or not expand.unregistered(model):
            raise
        return onnx.shape_inference.infer_shapes(model, data_prop=True)


def _node_of(error: BaseException) -> int:
    """The number of the node that the importer was at when it raised ``error``; 0 where it was at none."""
    from . import onnx_nodes

    found, trace = 0, error.__traceback__
    while trace is not None:
        found = onnx_nodes.number_of(getattr(trace.tb_frame.f_locals.get("node"), "name", "")) or found
        trace = trace.tb_next
    return found


def _defined(model) -> set[str]:
    """The op types that the ONNX standard, in the model's version, defines by other ops."""
    import onnx

    version = _opset(model)
    found = set()
    for kind in (
        {schema.name for schema in onnx.defs.get_all_schemas() if schema.domain == ""} if version else ()
    ):
        if onnx.defs.has(kind, version, ""):
            schema = onnx.defs.get_schema(kind, version, "")
            if schema.has_function or schema.has_context_dependent_function:  # type: ignore[attr-defined]
                found.add(kind)
    return found


def _opset(model) -> int:
    """The version of the standard's ops that ``model`` names; 0 where it names none."""
    return next((one.version for one in model.opset_import if one.domain in ("", "ai.onnx")), 0)


def raised(model):
    """``model`` with its ops as a newer opset has them, by the converter of the onnx package; a new node has the number of the one behind it.

    Raises what the converter raises for the last of the opsets.
    """
    import onnx
    from onnx import helper, version_converter

    from . import old_opsets, onnx_nodes

    opset = _opset(model)
    old_opsets.write_rows(model, opset)
    first, last = NEWEST_OPSETS
    try:
        newer = version_converter.convert_version(model, first)
    except Exception:  # whatever it raises for an op that it does not convert
        newer = version_converter.convert_version(model, last)
    name = ""
    for node in reversed(list(onnx_nodes.all_nodes(newer.graph))):
        name = node.name = node.name or name
        if node.op_type == "Resize" and opset <= _ASYMMETRIC:
            kept = [one for one in node.attribute if one.name not in _PLACES]
            del node.attribute[:]
            node.attribute.extend([*kept, *(helper.make_attribute(*item) for item in _PLACES.items())])
    return onnx.shape_inference.infer_shapes(newer, data_prop=True)


def _expanded(model, kinds: Sequence[str]):
    """``model`` with every node of ``kinds`` replaced by its definition, the standard's in the main graph alone; shapes inferred again. And
    the kinds that `definitions` has replaced."""
    import onnx
    from onnx import inliner

    from . import constant_nodes, onnx_nodes
    from .definitions import expand

    replaced = expand.expand(model, kinds)
    before = list(model.graph.node)
    wider = inliner.inline_selected_functions(
        model, [("", kind) for kind in kinds], exclude=False, inline_schema_functions=True
    )
    onnx_nodes.renumber_inlined(wider, before)
    wider = onnx.shape_inference.infer_shapes(wider, data_prop=True)
    while constant_nodes.fold(wider):
        wider = onnx.shape_inference.infer_shapes(wider, data_prop=True)
    return wider, replaced


if __name__ == "__main__":
    sys.exit(main())
