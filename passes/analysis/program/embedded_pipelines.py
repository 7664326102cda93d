"""Which pass pipelines does a program bring along? IREE runs them, and a pass may start a command or write a file."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.attributes import attribute
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops

from ..dispatch.provenance import place_of

_ATTRIBUTES = (iree_ops.UTIL_PREPROCESSING_PIPELINE, iree_ops.CODEGEN_PASS_PIPELINE)
"""Attributes whose text IREE (3.13) parses as a pass pipeline and runs: AttrBasedPipeline.cpp, IREECodegenAttrs.cpp."""
_OPS = ("transform.apply_registered_pass",)
"""Ops of a transform script that run a registered pass by its name."""
_SCRIPT = iree_ops.CODEGEN_TUNING_SPEC_BYTECODE
"""Attribute that holds a transform script as bytecode, which IREE runs on every dispatch: MaterializeUserConfigs.cpp."""
MNEMONICS = tuple(name.partition(".")[2].encode() for name in (*_ATTRIBUTES, *_OPS, _SCRIPT))
"""What the bytes of a program with such a pipeline hold, unless a letter is escaped by a backslash."""


@dataclass(frozen=True)
class EmbeddedPipeline:
    """``holder`` is the op that carries it, ``spelled`` the attribute or op that runs it."""

    holder: str
    spelled: str
    place: Place | None


def may_embed_pipelines(source: bytes) -> bool:
    """Whether the text or bytecode ``source`` can hold one: a search of bytes, so that a healthy program pays nothing.

    An attribute's mnemonic cannot be spelled in another way; an op's name in quotes can, with an escaped letter.
    """
    return b"\\" in source or any(word in source for word in MNEMONICS)


def embedded_pipelines(module: ir.Operation) -> list[EmbeddedPipeline]:
    """Every pipeline that the ops of ``module`` carry, in program order."""
    found: list[EmbeddedPipeline] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in _OPS:
            found.append(EmbeddedPipeline(op.name, op.name, place_of(op)))
        if _SCRIPT in op.attributes:
            found.append(EmbeddedPipeline(op.name, _SCRIPT, place_of(op)))
        for name in op.attributes:
            if spelled := _pipeline_in(op, name):
                found.append(EmbeddedPipeline(op.name, spelled, place_of(op)))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _pipeline_in(op: ir.Operation, name: str) -> str:
    held = attribute(op, name)
    if held is None or isinstance(held, (ir.DenseElementsAttr, ir.StringAttr)):
        return ""
    text = str(held)
    return next((f"#{known}" for known in _ATTRIBUTES if f"#{known}<" in text), "")
