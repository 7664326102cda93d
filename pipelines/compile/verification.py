"""What `fissile compile --verify` proves: the repair computes the same, and the artifact does so where it can run."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fissile.errors import FissileError
from fissile.finding import Finding, Help, Severity
from fissile.passes.iree.runtime_flags import RUNTIME_OF_BACKEND

from ..numerics.certificate import Certificate, Check, joined
from ..numerics.runtimes import present
from ..numerics.signature import signatures_of_source
from ..numerics.verify import Options, certify_transform, verify
from ..process.scratch import scratch


def verify_repair(original: str, repaired: str, seeds: int) -> Certificate:
    """Both modules (MLIR text after global optimisation, for whatever target) run on llvm-cpu with the same inputs."""
    subject = "repaired against original"
    with _certified(subject) as made:
        made.append(certify_transform(original, repaired, options=Options(seeds=tuple(range(seeds)))))
    return joined(subject, made)


@contextmanager
def _certified(subject: str) -> Iterator[list[Certificate]]:
    """Collects certificates; what a verification throws, whatever it is, becomes FIS131 with its name."""
    made: list[Certificate] = []
    try:
        yield made
    except Exception as error:  # the compile has succeeded: its own report must not be lost
        what = error.message if isinstance(error, FissileError) else f"{type(error).__name__}: {error}"
        finding = Finding("FIS131", f"{subject}: {what}", subject=subject)
        made.append(Certificate(subject, (Check(subject, "no runtime", None, "", finding=finding),)))


def verify_artifact(
    source: Path, artifact: Path, backends: Iterable[str], seeds: int
) -> tuple[Certificate | None, str]:
    """Runs ``artifact`` on its own runtime and compares it with ``source``, compiled by stock IREE for llvm-cpu: every function.

    Returns no certificate, and why in words, where no runtime for its ``backends`` answers here or no data can be made.
    """
    wanted = [RUNTIME_OF_BACKEND[b] for b in dict.fromkeys(backends) if b in RUNTIME_OF_BACKEND]
    answering = {runtime.name for runtime in present()}
    on = tuple(name for name in wanted if name in answering)
    if not on:
        return None, f"not run: no {' or '.join(wanted) or 'known'} device answers here"
    subject = f"{artifact.name} against {source.name}"
    with _certified(subject) as made:
        certificate, why_not = _verify_artifact(source, artifact, on, seeds)
        if certificate is None:
            return None, why_not
        made.append(certificate)
    return joined(subject, made), ""


def _verify_artifact(
    source: Path, artifact: Path, on: tuple[str, ...], seeds: int
) -> tuple[Certificate | None, str]:
    signatures = signatures_of_source(source).values()
    skipped = tuple(signature.opaque for signature in signatures if signature.opaque)
    known = [signature.function for signature in signatures if not signature.opaque]
    if not known:
        return None, f"not run: {'; '.join(skipped) or 'no public function'}"
    with scratch() as folder:
        module = Path(folder, "artifact.vmfb")
        shutil.copyfile(artifact, module)
        options = Options(on=on, seeds=tuple(range(seeds)))
        parts = [verify(source, module, options=replace(options, function=name)) for name in known]
    whole = joined(parts[0].subject, parts)
    return replace(whole, skipped=(*skipped, *whole.skipped)), ""


def with_numerics(findings: Iterable[Finding], sentence: str) -> list[Finding]:
    """``findings`` with the row `numerics` added to what was done."""
    compared = []
    for finding in findings:
        if finding.severity is Severity.REPAIRED:
            helps: tuple[Help, ...] = tuple(
                replace(h, facts=(*h.facts, ("numerics", sentence))) for h in finding.helps
            )
            finding = finding.with_(helps=helps)
        compared.append(finding)
    return compared
