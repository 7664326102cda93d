"""FIS005: the input brings a pass pipeline along, which could run commands or write files."""

from __future__ import annotations

from fissile.finding import Finding
from fissile.passes.analysis.program.embedded_pipelines import EmbeddedPipeline

ALLOW = "--allow-pipelines-in-input"


def check_embedded_pipeline(found: EmbeddedPipeline) -> Finding:
    return Finding(
        "FIS005",
        f"the input contains a pass pipeline: {found.spelled} on {found.holder}",
        subject=found.holder,
        places=(found.place,) if found.place else (),
        notes=(f"fissile did not run it; {ALLOW} runs it, if you trust the file",),
    )
