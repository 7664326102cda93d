"""Programs with one of fissile's pipelines applied at global optimisation, built for a runtime that is always there, and run."""

import pytest

from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import signatures_of_vmfb
from fissile.pipelines.pass_runner import run_pipeline
from fissile.pipelines.session import Session

CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)


def build(text: str, path, passes: str, flags=CPU) -> str:
    """Writes ``path``, a module; returns the program's text behind ``passes``, none of which may have anything to tell."""
    session = Session(flags)
    module = session.parse_text(text)
    session.run(module, "global-optimization")
    run_pipeline(f"builtin.module({passes})", module.op, report=pytest.fail)
    changed = module.text()
    session.run(module, "end")
    session.write(module, path)
    return changed


def run(path, inputs, name="local-task"):
    """The results of the module's function `main`."""
    [runtime] = runtimes.named([name])
    answer = runtimes.run(path, signatures_of_vmfb(path)["main"], inputs, runtime)
    assert isinstance(answer, list), answer
    return answer
