"""The reference build: llvm-cpu without what it is known to compute wrongly, and without what only a GPU takes.

A reference must not share the suspect path. What is known to be wrong stands in `KNOWN_WRONG`, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fissile.errors import FissileError
from fissile.finding import Finding
from fissile.passes.analysis.host.narrow_integers import narrow_integers
from fissile.passes.containment import contained
from fissile.passes.iree.ops import GPU_ATTRIBUTES, GPU_DIALECTS
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT
from fissile.passes.iree.runtime_flags import BACKEND_OF_RUNTIME, FLAGS_BY_BACKEND

from ..compile.hooks.imports import may_be_misread
from ..session import Session
from .build import compile_guarded, compile_stock
from .runtimes import Runtime


@dataclass(frozen=True)
class KnownWrong:
    """A pattern that stock llvm-cpu computes wrongly. ``spelled`` are the names by one of which it occurs in a program
    (of IREE's or of a front end's); ``pipeline`` are fissile's passes that replace it after global optimisation, and
    where it is empty fissile's own repair has to know it. ``occurs`` takes a closer look at a program with such a name.
    """

    what: str
    spelled: tuple[bytes, ...]
    pipeline: str = ""
    occurs: Callable[[Path], bool] = lambda _source: True


def _computes_narrow_integers(source: Path) -> bool:
    """Whether the host computes with integers below 32 bits (FIS148)."""

    def look() -> bool:
        return bool(narrow_integers(Session().parse(source).op))

    return contained("narrow integers of the host", look, True)


KNOWN_WRONG = (
    KnownWrong(
        "attention with a head dimension above 128",
        (b"attention",),
        "builtin.module(fissile-decompose-attention,fissile-lower-boundaries)",
    ),
    KnownWrong("an element inserted into a tensor", (b"tensor.insert ", b'"tensor.insert"')),
    KnownWrong(
        "integers below 32 bits that the host computes with",
        (b"arith.", b"math.", b"scf.for"),
        occurs=_computes_narrow_integers,
    ),
    KnownWrong("a stable sort", (b"sort", b"top_k")),
    KnownWrong("a part of a tensor that may have gaps", (b"flow.tensor.slice", b"flow.tensor.update")),
    KnownWrong(
        "a tensor that is updated while another op reads it, or that is put into larger ones",
        (b"scatter", b"insert_slice", b"index_put", b"dynamic_update_slice"),
    ),
    KnownWrong(
        "an op that the import reads as another one",
        (b"broadcast_in_dim", b"dot", b"convolution", b"pad", b"select_and_scatter"),
        occurs=may_be_misread,
    ),
)
"""IREE 3.13, llvm-cpu."""


def suspects(source: Path) -> tuple[KnownWrong, ...]:
    """What of `KNOWN_WRONG` may occur in an MLIR file, by the names in it."""
    data = source.read_bytes()
    spelled = [known for known in KNOWN_WRONG if any(name in data for name in known.spelled)]
    return tuple(known for known in spelled if known.occurs(source))


def build_reference(
    source: Path, output: Path, flags: Sequence[str] = (), timeout: float = 300.0
) -> Finding | None:
    """Compiles ``source``, an MLIR file, for llvm-cpu as a reference; FIS131 with the reason where that is not possible.

    A program without a suspect pattern is stock IREE's. Another one is compiled by fissile, with the passes of
    `KNOWN_WRONG`; so is one that stock IREE refuses.
    """
    chosen = [*FLAGS_BY_BACKEND["llvm-cpu"], *flags]
    if any(name in source.read_bytes() for name in GPU_ATTRIBUTES):
        portable = output.with_name(f"{output.stem}-portable.mlir")
        portable.write_text(
            without_gpu_attributes(source.read_text(errors="surrogateescape")), errors="surrogateescape"
        )
        source = portable
    found = suspects(source)
    if found:
        passes = [
            f"--pipeline-after={BOUNDARIES_PLACED_AT}:{known.pipeline}" for known in found if known.pipeline
        ]
        if compile_guarded(source, output, [*chosen, *passes], "", timeout) is None:
            return None
        if passes and compile_guarded(source, output, chosen, "", timeout) is None:
            return None
    refused = compile_stock(source, output, chosen, timeout)
    if refused and not found and compile_guarded(source, output, chosen, "", timeout) is None:
        return None
    return refused


def build_for(
    source: Path, runtime: Runtime, output: Path, flags: Sequence[str] = (), timeout: float = 300.0
) -> Finding | None:
    """Compiles ``source`` to ``output`` for ``runtime``; FIS131 with the reason where that is not possible.

    For llvm-cpu it is the reference build; for other runtimes `fissile compile`'s, matched to the device for Vulkan.
    ``flags`` are added to IREE's; those that select a target (for CUDA and HIP devices) win over the defaults.
    """
    backend = BACKEND_OF_RUNTIME[runtime.name]
    if backend == "llvm-cpu":
        return build_reference(source, output, flags, timeout)
    chosen = [*FLAGS_BY_BACKEND[backend], *flags]
    return compile_guarded(source, output, chosen, "vulkan" if backend == "vulkan" else "", timeout)


def portable_module(text: str) -> str:
    """A module after global optimisation (MLIR text) without GPU attributes and with known wrong patterns replaced."""
    from iree.compiler import ir

    from ..pass_runner import run_pipeline

    data = text.encode(errors="surrogateescape")
    passes = [k.pipeline for k in KNOWN_WRONG if k.pipeline and any(name in data for name in k.spelled)]
    if not passes and not any(name in data for name in GPU_ATTRIBUTES):
        return text
    with Session() as session, session.context:
        try:
            module = ir.Module.parse(text).operation
        except ir.MLIRError:
            return text  # IREE has the message
        _strip(module)
        for pipeline in passes:
            clone = module.clone()
            try:
                run_pipeline(pipeline, clone, report=lambda finding: None)
            except FissileError:  # a form that the pass does not know stays as it is; the witness decides
                continue
            module = clone
        return module.get_asm()


def without_gpu_attributes(text: str) -> str:
    """``text`` (MLIR) without lowering configurations for GPUs: they choose how, never what is computed."""
    from iree.compiler import ir

    with Session() as session, session.context:
        module = ir.Module.parse(text)
        _strip(module.operation)
        return module.operation.get_asm()


def _strip(root) -> None:
    for op in _ops(root):
        for name in list(_discardable(op)):
            if name.encode() in GPU_ATTRIBUTES or any(d in str(op.attributes[name]) for d in GPU_DIALECTS):
                del op.attributes[name]


def _discardable(op) -> Iterator[str]:
    """Names of attributes that may go: not those that an op's own definition reads, but for decomposition_config."""
    for name in op.attributes:
        if name.encode() in GPU_ATTRIBUTES or "." in name:
            yield name


def _ops(root):
    from iree.compiler import ir

    found = []

    def visit(op):
        if op != root:
            found.append(op)
        return ir.WalkResult.ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
