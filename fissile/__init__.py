"""fissile: a compile guard for IREE.

    import fissile

    built = fissile.compile("model.mlir", target="gfx942")
    print(built)                    # the findings and repairs
    output = built.run(image)       # on the runtime of the target
    built.save("model.vmfb")

The names in `__all__` are the public API; errors are in `fissile.errors`. IREE is loaded on first use. Its compiler runs in
child processes, so that a crash becomes a finding.
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
    """Compiles ``program`` as `iree-compile` does, and repairs it if stock IREE rejects or miscompiles it.

    ``program`` is a path, MLIR as text or bytes (including bytecode), an `iree.compiler.ir.Module`, or the result of iree-turbine's
    `aot.export`. A string is a path unless it contains a line break or a brace.

    ``target`` is a name that `fissile targets` lists (`gfx942`, `sm_86`, `vulkan`, `vulkan:device`, `llvm-cpu`). ``flags`` are
    more flags of iree-compile and of `fissile compile`. They can run your own passes: after `register_pass` in this process,
    ``flags=["--iree-preprocessing-pass-pipeline=builtin.module(my-pass)"]`` runs the pass `my-pass`.

    ``guard``: "assert" adds run-time checks for sizes that cannot be proved to fit, "check" only reports them, "off" does neither.
    ``repair``: "auto", "suggest" or "off". ``match_device="vulkan"`` compiles for the Vulkan device of this machine. ``verify=True``
    runs the repaired program against the original. ``allow_wrong=True`` returns a module even if its numbers are known to be wrong.
    ``output`` names a file for the module.

    If errors remain, raises `CompileError`, which carries the report; with ``check=False`` it returns a result without a module
    instead (``vmfb`` is empty). Raises `UsageError` for bad arguments.
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
    simulate: bool = False,
) -> Result:
    """Finds what stock IREE would reject or miscompile in ``program`` (as for `compile`), for many targets, without a full compile.

    ``target`` is a name or a `Target`, or a list of them. ``budget`` replaces the memory limit of every target (65536, or "64K").
    ``probe`` chooses the dispatches that code is generated for: "auto" (those whose prediction may be wrong), "all" or "never".
    ``dispatch_timeout`` is in seconds per dispatch; 0 means no limit. ``memory=True`` adds the live bytes over program time to
    the facts. ``baseline`` names a file of recorded bytes to compare with, or to write with ``update_baseline=True``.
    ``simulate=True`` runs the code of each dispatch for a GPU in NumPy and compares it with what the dispatch says (FIS189).
    ``allow_pipelines=True`` runs pass pipelines in the program (FIS005).

    The result's ``facts["targets"]`` has the bytes, certainty and buffers of every dispatch (docs/footprint.md). Raises `UsageError`.
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
        simulate=simulate,
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
    """Checks that ``second``, or ``first`` on every available runtime, computes the same numbers as ``first``.

    Programs are as for `compile`, or compiled modules (a path that ends in .vmfb, or a `Result`). ``inputs``, one array per
    argument, replace random inputs. The reference is what ``first`` computes on llvm-cpu; or ``expected``, one array per result;
    or ``reference``, a function of the inputs that returns an array or a tuple of arrays.

    ``function`` is required if a program has several. ``on`` names runtimes ("local-task", "vulkan", "cuda", "hip"; default: all
    available ones). ``seeds`` is the number of random inputs, or their seeds. ``sizes`` is the size of every dynamic dimension;
    "8,0.1=16" makes an exception: dimension 1 of argument 0 is 16. ``tolerance`` is "exact", an absolute difference,
    "ABSOLUTE,RELATIVE", "1steps,0.001" for quantised results, or a `fissile.pipelines.numerics.tolerance.Tolerance`; the default
    depends on the type of each result. ``flags`` go to every compile; ``timeout`` is in seconds per run.

    The result is `ok` if everything that was compared agrees; `checks` has each comparison. Raises `UsageError`, and
    `CompileError` if a model cannot be imported.
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
