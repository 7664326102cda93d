"""fissile: a compile guard for IREE.

    import fissile

    built = fissile.compile("model.mlir", target="gfx942")
    print(built)                    # what was found, and what was repaired
    output = built.run(image)       # on the runtime that the target names
    built.save("model.vmfb")

The names of `__all__` are the public face; errors are in `fissile.errors`. IREE is loaded on first use, and native code of
its compiler runs in processes of their own: a crash there is a finding.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # not typing's: this is imported before a program is ready for a signal
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from numpy.typing import ArrayLike

    from fissile.api.programs import Program
    from fissile.pipelines.numerics.tolerance import Tolerance

    from . import errors as errors
    from .api.result import Result as Result
    from .errors import CompileError as CompileError
    from .errors import FissileError as FissileError
    from .finding import Finding as Finding
    from .passes.definition import register_pass as register_pass
    from .report import Report as Report
    from .target import Target as Target

__version__ = "0.1.0"
__all__ = [
    "CompileError",
    "Finding",
    "FissileError",
    "Report",
    "Result",
    "Target",
    "check",
    "compile",
    "register_pass",
    "verify",
]

_HOMES = {
    "CompileError": "fissile.errors",
    "Finding": "fissile.finding",
    "FissileError": "fissile.errors",
    "Report": "fissile.report",
    "Result": "fissile.api.result",
    "Session": "fissile.pipelines.session",
    "Target": "fissile.target",
    "register_pass": "fissile.passes.definition",
}


def compile(
    program: Program,
    output: str | os.PathLike[str] | None = None,
    flags: Sequence[str] = (),
    *,
    target: str | Target | None = None,
    guard: str = "assert",
    repair: str = "auto",
    match_device: str = "",
    verify: bool = False,
    allow_wrong: bool = False,
    check: bool = True,
) -> Result:
    """Compiles ``program`` as `iree-compile` does, and repairs what stock IREE refuses or builds wrong.

    ``program`` is a path, MLIR as text or bytes (bytecode too), an `iree.compiler.ir.Module`, or what iree-turbine's
    `aot.export` returns. A string is a path unless it has a line break or a brace.

    ``target`` is a name that `fissile targets` lists (`gfx942`, `sm_86`, `vulkan`, `vulkan:device`, `llvm-cpu`); ``flags`` are
    further flags of iree-compile and of `fissile compile`, passes of your own among them:
    ``flags=["--iree-preprocessing-pass-pipeline=builtin.module(my-pass)"]`` runs one that `register_pass` has made known in this
    process.

    ``guard``: "assert" adds run-time checks of sizes that cannot be proved to fit, "check" only reports them, "off" does neither.
    ``repair``: "auto", "suggest" or "off". ``match_device`` "vulkan" compiles for the Vulkan device that is present. ``verify``
    runs the repaired program against the original. ``allow_wrong`` returns a module whose numbers are known to be wrong.
    ``output`` names a file for the module.

    Raises `CompileError`, which carries the report, where errors remain; with ``check=False`` the result is returned, and its
    ``vmfb`` is empty. Raises `UsageError` for bad arguments.
    """
    from fissile.api.compiling import compile_program

    options = {"guard": guard, "repair": repair, "match_device": match_device}
    return compile_program(
        program, output, flags, target, check, verify=verify, allow_wrong=allow_wrong, **options
    )


def check(
    program: Program,
    target: str | Target | Sequence[str | Target],
    *,
    budget: int | str | None = None,
    flags: Sequence[str] = (),
    probe: str = "auto",
    dispatch_timeout: float = 30.0,
    baseline: str | os.PathLike[str] | None = None,
    update_baseline: bool = False,
    allow_pipelines: bool = False,
    memory: bool = False,
) -> Result:
    """Which dispatches of ``program`` (as for `compile`) do not fit one or many targets, without a full compile.

    ``target`` is a name or a `Target`, or a list of them. ``budget`` bytes (65536, or "64K") stand in for each target's own limit.
    ``probe`` says for which dispatches code is generated: "auto" for all but
    those of a calibrated structure that fit by prediction, "all" or "never". ``dispatch_timeout`` is in seconds for each dispatch, 0
    is none. ``memory`` adds the live bytes over program time to the facts. ``baseline`` names a file of recorded bytes to compare
    with, or to write with ``update_baseline``. ``allow_pipelines`` runs pass pipelines that the program brings along (FIS005).

    The result's ``facts["targets"]`` has bytes, certainty and buffers of every dispatch (docs/footprint.md). Raises `UsageError`.
    """
    from fissile.api.checking import check_program

    return check_program(
        program,
        target,
        budget=budget,
        flags=flags,
        probe=probe,
        dispatch_timeout=dispatch_timeout,
        baseline=baseline,
        update_baseline=update_baseline,
        allow_pipelines=allow_pipelines,
        memory=memory,
    )


def verify(
    first: Program,
    second: Program | None = None,
    *,
    inputs: Sequence[ArrayLike] | None = None,
    expected: Sequence[ArrayLike] | None = None,
    reference: Callable[..., Any] | None = None,
    function: str | None = None,
    on: str | Sequence[str] = (),
    seeds: int | Sequence[int] = 1,
    sizes: int | str = 8,
    tolerance: float | str | Tolerance | None = None,
    flags: Sequence[str] = (),
    timeout: float = 120.0,
) -> Result:
    """Whether ``second`` (or ``first`` on every runtime that is present) computes the numbers of ``first``.

    Programs are as for `compile`; compiled modules (a path that ends in .vmfb, or a `Result`) too. ``inputs``, one array for each
    argument, stand in for seeded random ones. What is right is what ``first`` computes on llvm-cpu, or ``expected``, one array
    for each result, or what ``reference`` returns: a function of the inputs that returns an array or a tuple of them.

    ``function`` is needed where a program has several. ``on`` names runtimes ("local-task", "vulkan", "cuda", "hip"; default: all
    that are present). ``seeds`` is how many random inputs are tried, or their seeds. ``sizes`` is the size of every dynamic
    dimension, or with exceptions "8,0.1=16": dimension 1 of argument 0 is 16. ``tolerance`` is "exact", an absolute difference,
    "ABSOLUTE,RELATIVE", "1steps,0.001" for quantised results, or a `fissile.pipelines.numerics.tolerance.Tolerance`; the default follows from each result's type. ``flags`` go
    to every compile; a run ends after ``timeout`` seconds.

    The result is `ok` where everything that was compared agrees; `checks` has each comparison. Raises `UsageError`, and
    `CompileError` where a model cannot be imported.
    """
    from fissile.api.verifying import verify_programs

    return verify_programs(
        first,
        second,
        inputs=inputs,
        expected=expected,
        reference=reference,
        function=function,
        on=on,
        seeds=seeds,
        sizes=sizes,
        tolerance=tolerance,
        flags=flags,
        timeout=timeout,
    )


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "errors":
        return import_module("fissile.errors")
    if name not in _HOMES:
        raise AttributeError(f"module 'fissile' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
