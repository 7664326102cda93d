"""The pass `fissile-audit-legality`: can the rest of IREE's pipeline take every op of the module?"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from iree.compiler import ir

from fissile.errors import UsageError, closest
from fissile.finding import Finding, Severity
from fissile.passes.analysis.legality.audit import audit
from fissile.passes.analysis.legality.compiler import Compiler
from fissile.passes.analysis.legality.ways_out import WaysOut, ways_out
from fissile.passes.containment import contained
from fissile.passes.definition import Contract, Pass, PassFailed, option, register_pass
from fissile.passes.iree.phases import PHASES
from fissile.passes.iree.targets import flags_for
from fissile.passes.properties import NO_FISSILE_OPS
from fissile.target import find_target

from .refused_in_context import check_in_context
from .refused_op import check_refused


@register_pass
@dataclass(frozen=True)
class AuditLegality(Pass):
    """Stops the pipeline where IREE's phases behind `phase` cannot take an op of the module: all of them at once, each with its place.

    Changes nothing. IREE decides what is legal: each op is compiled alone for `target`, if the module does not compile.
    """

    name: ClassVar[str] = "fissile-audit-legality"
    contract: ClassVar[Contract] = Contract(requires=(NO_FISSILE_OPS,))
    target: str = option("llvm-cpu", "the target to compile for; `fissile targets` lists them")
    phase: str = option("start", "the phase that the module stands at, as in --compile-from")
    to: str = option("end", "the last phase that has to take it")
    flags: str = option("", "further flags of iree-compile, in one word")
    strict: bool = option(False, "unsupported dead code is an error as well")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for phase in (self.phase, self.to):
            if phase not in PHASES:
                raise UsageError(f"{self.name}: unknown phase '{phase}'", closest(phase, list(PHASES)))
        flags = (*shlex.split(self.flags), *flags_for(find_target(self.target)))
        compiler = Compiler()
        module = op.operation.clone()
        found = audit(compiler, module, flags, self.to, self.phase)
        findings = [
            check_refused(
                one, contained("ways out", partial(ways_out, compiler, one, flags), WaysOut()), self.target
            )
            for one in found.refused
        ]
        if not found.rest.ok:
            findings.append(
                check_in_context(found.rest, None, bool(found.refused), self.target, found.unprobed)
            )
        errors = [f for f in findings if self.strict or f.severity is Severity.ERROR]
        if errors:
            raise PassFailed([f.with_(severity=Severity.ERROR) for f in errors])
        for finding in findings:
            report(finding)
