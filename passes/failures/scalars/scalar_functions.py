"""What failures have in common that are a function of floats in the body of an op, wherever IREE expands it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from fissile.effect import Effect

from ..failure import Failure, Stage

if TYPE_CHECKING:
    from iree.compiler import ir


WHERE = (
    "on the CPU, in SPIR-V and on CUDA, and for every target in constants that it evaluates itself; AMD's targets call library functions. Measured on "
    "llvm-cpu and lavapipe; no CUDA device was."
)
"""For the manual pages: the code that has these expansions."""


class ScalarFunctions(Failure):
    """IREE 3.13 expands some functions to formulas that are wrong for some numbers: on the CPU, in SPIR-V and on CUDA, and where it
    evaluates constants, for every target. AMD's targets call library functions."""

    for_constants: ClassVar[Mapping[str, bool]] = {}
    """Options of the remedy where a constant is evaluated, which IREE does with its VM."""
    effect = Effect.UNPROVED
    stage = Stage.CONFIGURED

    def functions_in(self, op: ir.Operation) -> Sequence[ir.Operation]:
        """Those in the regions of ``op`` that may be wrong."""
        raise NotImplementedError

    def sentence(self, functions: Sequence[str]) -> str:
        """What may be wrong, with ``functions`` as the names of the ops, one for each."""
        raise NotImplementedError

    def concerns(self, backend):
        return backend.spirv or backend.name in ("llvm-cpu", "cuda")

    def may_occur(self, dispatch, configured):
        return bool(self.functions_in(dispatch.inner_module()))

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence

        return Evidence(types=_names(self.functions_in(code)))

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places

        return Finding(
            self.code,
            f"the numbers may be wrong: {self.sentence(evidence.types)}",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops),
        )

    def of_constant(self, op: ir.Operation):
        """The finding about ``op``, which computes a constant."""
        from fissile.finding import Finding
        from fissile.passes.analysis.dispatch.provenance import place_of
        from fissile.passes.checks.dispatch_places import labelled

        return Finding(
            self.code,
            f"the numbers may be wrong: {self.sentence(_names(self.functions_in(op)))}, in a constant, which IREE may evaluate itself",
            subject=op.name,
            places=labelled(place_of(op), "computes a constant"),
        )


def counted(functions: Sequence[str], one: str) -> str:
    """ "a power" or "3 powers"."""
    return f"{'an' if one[0] in 'aeio' else 'a'} {one}" if len(functions) == 1 else f"{len(functions)} {one}s"


def different(functions: Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(functions))


def _names(functions: Sequence[ir.Operation]) -> tuple[str, ...]:
    return tuple(op.name.removeprefix("math.") for op in functions)
