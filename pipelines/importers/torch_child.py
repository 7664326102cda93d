"""The child process that imports an exported PyTorch program with iree-turbine: `python -m fissile.pipelines.importers.torch_child JOB.json`.

A file that could run code while PyTorch loads it is refused (`exported_archive`). `expand` in the job names ops that are replaced by PyTorch's own decomposition first. Locations are lines of the model's own Python source, as the exporter recorded them, with the module's path as name.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile, is_zipfile

from fissile.errors import refused_by_system

from ..process.entry import begin, leave_answer
from .exported_archive import code_in
from .module_paths import module_paths_kept
from .size_functions import as_integer_ops, left_on_sizes

if TYPE_CHECKING:
    import torch

LIBRARIES = {"torchvision": "torchvision", "transformers": "transformers.integrations.moe"}
"""Namespaces of ops -> what registers them."""
EVERY = "*"
"""All ops that have a decomposition: where IREE does not name the one that it refuses."""
OLDEST = (2, 6)
"""The torch whose reader of pickled tensors runs no code (CVE-2025-32434 before)."""


class RunsCode(Exception):
    """The file could run code on this machine while PyTorch loads it."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"PyTorch could run code that it brings along: {what}. If you trust the file, load it yourself and give the program to "
            "fissile: iree.turbine.aot.export(torch.export.load(FILE)).save_mlir('model.mlir')"
        )


def main() -> int:
    begin()
    job = json.loads(Path(sys.argv[1]).read_text())
    leave_answer(Path(job["result"]), answer(job))
    return 0


def answer(job: dict) -> dict:
    """Which ops PyTorch ``can_expand``, and no table of nodes, since places are lines of Python; or ``refused``: why there is no program."""
    try:
        return {
            "lines": [],
            "types": [],
            "can_expand": _import(job["model"], Path(job["program"]), job["expand"]),
        }
    except BaseException as error:
        system = refused_by_system(error)
        return {
            "refused": f"{type(error).__name__}: {' '.join(str(error).split())[:400]}",
            "system": [system.message, system.hint] if system else None,
            "node": 0,
            "lines": [],
        }


def _import(model: str, program: Path, expand: Sequence[str]) -> list[str]:
    """Writes ``program``; returns the names of the ops that have a decomposition. Those in ``expand`` are decomposed: EVERY is all."""
    if what := code_in(Path(model)):
        raise RunsCode(what)
    import torch
    from iree.turbine import aot

    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < OLDEST:
        raise RunsCode(f"torch {torch.__version__} does not read tensors safely; 2.6 and newer do")
    _register_ops(Path(model))
    with _tensors_only():
        exported = torch.export.load(model)
    exported._guards_code = []  # Python source of the file's, which no compiled program needs
    table = torch.export.default_decompositions()
    can_expand = {_name(n.target) for n in exported.graph.nodes if n.target in table}
    if EVERY in expand:
        exported = exported.run_decompositions(table)
    elif expand or _is_mutating(exported):
        exported = exported.run_decompositions({op: table[op] for op in table if _name(op) in expand})
    _inline_gradient_modes(exported)
    _list_results(exported.graph_module)
    as_integer_ops(exported.graph_module.graph)
    with module_paths_kept(), _brain_floats_as_bits():
        try:
            imported = aot.export(exported)
        except (AssertionError, NotImplementedError) as error:
            raise _unless_of_sizes(error, left_on_sizes(exported.graph_module.graph)) from None
    with program.open("wb") as file:
        imported.mlir_module.operation.write_bytecode(file)
    return sorted(can_expand | {EVERY})


def _unless_of_sizes(error: Exception, functions: Sequence[str]) -> Exception:
    """``error``, or one that says what to do where iree-turbine does not import functions on sizes."""
    if not functions:
        return error
    return NotImplementedError(
        f"iree-turbine does not import {', '.join(functions)} of a size; compute it with + - * // and %: `3 * size // 4`"
    )


def _register_ops(model: Path) -> None:
    """Loads the libraries whose ops the program names, where they are installed: PyTorch can't read a program with an op that it doesn't know.

    Those of LIBRARIES alone: the file doesn't choose what is imported.
    """
    if not is_zipfile(model):
        return
    with ZipFile(model) as archive:
        graphs = [archive.read(name) for name in archive.namelist() if name.endswith(".json")]
    for namespace, library in LIBRARIES.items():
        if any(f"torch.ops.{namespace}.".encode() in graph for graph in graphs):
            with suppress(ImportError):
                import_module(library)


def _is_mutating(exported: torch.export.ExportedProgram) -> bool:
    """Whether an op writes into its operand, as `x += y` is exported: IREE's values are never written. Decompositions end that."""
    schemas = (getattr(node.target, "_schema", None) for node in exported.graph.nodes)
    return any(schema is not None and schema.is_mutable for schema in schemas)


@contextmanager
def _brain_floats_as_bits() -> Iterator[None]:
    """Within the block, a tensor of bfloat16 is an array of its 16 bits to NumPy, which has no such type: iree-turbine makes an array of each large weight."""
    import torch

    plain = torch.Tensor.__array__

    def as_array(tensor: torch.Tensor, *words: Any, **more: Any) -> Any:
        if tensor.dtype == torch.bfloat16:
            return tensor.detach().view(torch.int16).numpy()
        return plain(tensor, *words, **more)

    torch.Tensor.__array__ = as_array
    try:
        yield
    finally:
        torch.Tensor.__array__ = plain


@contextmanager
def _tensors_only() -> Iterator[None]:
    """What the search of the file did not see is not run either: pickles name nothing but what tensors are made of, no library is loaded."""
    import torch

    load, is_on = torch.load, True

    def restricted(*words: Any, **more: Any) -> Any:
        return load(*words, **more | {"weights_only": True})

    def refused(*_words: Any, **_more: Any) -> Any:
        raise RunsCode("it holds a compiled library or a pickled object")

    def hear(event: str, arguments: tuple) -> None:
        if is_on and event == "pickle.find_class":
            raise RunsCode(f"a pickle names {arguments[0]}.{arguments[1]}")

    sys.addaudithook(hear)  # for the life of this process: it has no other work
    changed: list[tuple[Any, str, Any]] = [
        (torch, "load", restricted),
        (torch._C, "_pickle_load_obj", refused),
    ]
    try:
        from torch.export.pt2_archive import _package

        changed.append((_package, "_load_aoti", refused))
    except ImportError:  # torch 2.6, whose archives have none
        pass
    changed = [(owner, name, new) for owner, name, new in changed if hasattr(owner, name)]
    before = [getattr(owner, name) for owner, name, _new in changed]
    try:
        for owner, name, new in changed:
            setattr(owner, name, new)
        yield
    finally:
        is_on = False
        for (owner, name, _new), old in zip(changed, before, strict=True):
            setattr(owner, name, old)


def _name(op: object) -> str:
    """`aten.diff`, as it stands in findings, for the overload `default`; other overloads are part of the name."""
    return str(op).removesuffix(".default")


def _list_results(module: torch.fx.GraphModule) -> None:
    """Results that are a list of tensors (`aten.split`) are a tuple once a program was saved: iree-turbine 3.9 reads types of lists only."""
    for node in module.graph.nodes:
        returns: Sequence[Any] = getattr(getattr(node.target, "_schema", None), "returns", ())
        if (
            len(returns) == 1
            and str(returns[0].type) == "List[Tensor]"
            and isinstance(node.meta.get("val"), tuple)
        ):
            node.meta["val"] = list(node.meta["val"])


def _inline_gradient_modes(exported: torch.export.ExportedProgram) -> None:
    """Puts what stands under torch.no_grad() in its place: iree-turbine 3.9 does not import the operator around it.

    No gradient is computed in a compiled program, so it is the same. A result of the program that comes from such a region has another
    name afterwards, which its signature gets as well.
    """
    from torch._export.utils import node_inline_

    module = exported.graph_module
    graph = module.graph
    before = _results(graph)
    regions = [
        n for n in graph.nodes if n.op == "call_function" and str(n.target) == "wrap_with_set_grad_enabled"
    ]
    for node in regions:
        _enabled, region, *arguments = node.args
        with graph.inserting_before(node):
            call = graph.call_module(region.target, tuple(arguments))
        call.meta = dict(node.meta)
        node.replace_all_uses_with(call)
        graph.erase_node(node)
        if not region.users:
            graph.erase_node(region)
        node_inline_(call)
    if regions:
        graph.eliminate_dead_code()
        module.recompile()
        for old, new in zip(before, _results(graph), strict=True):
            if old != new:
                exported.graph_signature.replace_all_uses(old, new)


def _results(graph: torch.fx.Graph) -> list[str]:
    """The names of the values that ``graph`` returns; of a constant, its text."""
    [output] = [node for node in graph.nodes if node.op == "output"]
    results: Any = output.args[0]
    return [getattr(value, "name", str(value)) for value in results]


if __name__ == "__main__":
    sys.exit(main())
