"""Compiles in this process as the supervisor's worker does, with a fault planted in any function of fissile's."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType

import fissile.passes.analysis
import fissile.passes.checks
import fissile.passes.failures
import fissile.passes.remedies
import fissile.pipelines
from fissile.passes.iree import library
from fissile.pipelines.audit import audit_worker  # noqa: F401  now: it would keep the `run_job` of `workers_here`
from fissile.pipelines.check import check_worker
from fissile.pipelines.compile import compile_run
from fissile.pipelines.compile.request import CompileRequest, parse_command_line
from fissile.pipelines.process import supervisor, worker
from fissile.pipelines.process.entry import leave_answer
from fissile.pipelines.process.job import Answer, CheckJob, CompileJob
from fissile.pipelines.session import Session
from fissile.report import Report

PACKAGES = (
    fissile.passes.analysis,
    fissile.passes.checks,
    fissile.passes.failures,
    fissile.passes.remedies,
    fissile.pipelines.repair,
)
STEPS = (
    "attentions",
    "compile_run",
    "conversion",
    "dispatch_check",
    "generated_finding",
    "guard",
    "guarded_compile",
    "host_floats",
    "host_updates",
    "one_dispatch",
    "stock_outcome",
    "unroll_limit",
)
"""The other modules of pipelines/ that are steps of a compile. Session, phase_pipeline and supervisor are what IREE is run by."""


def _throws(*_args, **_more):
    raise ZeroDivisionError("planted")


def _overflows(*_args, **_more):
    raise RecursionError("planted")


def _does_not_decode(*_args, **_more):
    raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "planted")


FAULTS = (_throws, _overflows, _does_not_decode)


def functions() -> dict[str, FunctionType]:
    """Every function and method of the analyses, checks, remedies and steps that does not start with an underscore, by name."""
    modules = [
        importlib.import_module(found.name)
        for package in PACKAGES
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    ]
    steps = {
        found.name.rpartition(".")[2]: found.name
        for found in pkgutil.walk_packages(fissile.pipelines.__path__, "fissile.pipelines.")
        if not found.ispkg
    }
    modules += [importlib.import_module(steps[name]) for name in STEPS]
    found: dict[str, FunctionType] = {}
    for module in modules:
        for name, value in vars(module).items():
            members = (
                vars(value)
                if inspect.isclass(value) and value.__module__ == module.__name__
                else {name: value}
            )
            for member, function in members.items():
                function = inspect.unwrap(
                    getattr(function, "fget", None) or getattr(function, "__func__", function)
                )
                own = isinstance(function, FunctionType) and function.__module__ == module.__name__
                if own and not member.startswith("_") and not function.__code__.co_freevars:
                    path = f"{module.__name__.removeprefix('fissile.')}.{function.__qualname__}"
                    found[path] = function
    return found


@contextmanager
def planted(function: FunctionType, fault: FunctionType = _throws) -> Iterator[None]:
    """``function`` throws, wherever it has been imported to."""
    code = function.__code__
    function.__code__ = fault.__code__
    try:
        yield
    finally:
        function.__code__ = code


def called(run: Callable[[], object]) -> set[CodeType]:
    """The code of every Python function that ``run`` calls."""
    seen: set[CodeType] = set()

    def see(frame, event, _argument) -> None:
        if event == "call":
            seen.add(frame.f_code)

    sys.setprofile(see)
    try:
        run()
    finally:
        sys.setprofile(None)
    return seen


@contextmanager
def workers_here(monkeypatch) -> Iterator[None]:
    """The workers of compiles, reductions and checks run in this process, one after the other."""

    def run_job(job: CompileJob | CheckJob, _folder: Path, *_limits) -> supervisor.WorkerEnd:
        leave_answer(job.result, check_worker.answer(job) if isinstance(job, CheckJob) else compiled(job))
        return supervisor.WorkerEnd(0, False, "")

    def compiled(job: CompileJob) -> Answer:
        def session(**options) -> Session:
            made = Session(job.request.flags, **options)
            made.context.enable_multithreading(False)  # small programs: threads cost more than they bring
            return made

        patch.setattr(compile_run, "Session", session)
        return worker.answer(job)

    with monkeypatch.context() as patch:
        patch.setattr(
            library, "initialise_command_line", lambda _flags: None
        )  # once per process; the session takes them here
        patch.setattr(supervisor, "run_job", run_job)
        patch.setattr(check_worker, "run_job", run_job)
        yield


def compile_here(monkeypatch, argv: list[str]) -> Report:
    """`run_compile` with its workers in this process, one after the other."""
    with workers_here(monkeypatch):
        return supervisor.run_compile(parse_command_line(argv))


def stocks_bytes(argv: list[str]) -> bytes:
    """What IREE itself makes of ``argv``."""
    request: CompileRequest = parse_command_line(argv)
    session = Session(request.flags)
    module = session.run(session.parse(request.input), request.compile_to)
    session.write(module, request.output, "vm-bytecode" if request.compile_to == "end" else "ir")
    return Path(request.output).read_bytes()
