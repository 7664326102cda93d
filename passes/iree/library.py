"""The parts of IREE's C API that its Python package leaves out, with their signatures.

Source: `iree/compiler/embedding_api.h`, IREE 3.13. Importing this module loads the compiler (0.1 to 0.4 s).
"""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Callable, Sequence

from iree.compiler.api import Invocation, Output, Session, Source, ctypes_dl

from fissile.errors import UsageError

from .flags import DRIVER_FLAGS, STOCK_ONLY_FLAGS

__all__ = [
    "Invocation",
    "Output",
    "Session",
    "Source",
    "Severity",
    "initialise_command_line",
    "not_in_force",
    "phases",
    "process_flags",
    "send_diagnostics",
]

_lib = ctypes_dl._dylib
_DIAGNOSTIC_CALLBACK = ctypes.CFUNCTYPE(
    None, ctypes.c_int, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t, ctypes.c_void_p
)

for _name, _arguments in {
    "ireeCompilerInvocationSetCompileFromPhase": [ctypes.c_void_p, ctypes.c_char_p],
    "ireeCompilerInvocationSetCompileToPhase": [ctypes.c_void_p, ctypes.c_char_p],
    "ireeCompilerInvocationSetDumpCompilationPhasesTo": [ctypes.c_void_p, ctypes.c_char_p],
    "ireeCompilerInvocationSetVerifyIR": [ctypes.c_void_p, ctypes.c_bool],
    "ireeCompilerInvocationSetupRemarks": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p],
    "ireeCompilerInvocationEnableCallbackDiagnostics": [
        ctypes.c_void_p,
        ctypes.c_int,
        _DIAGNOSTIC_CALLBACK,
        ctypes.c_void_p,
    ],
}.items():
    _function = getattr(_lib, _name)
    _function.restype = None
    _function.argtypes = _arguments
_lib.ireeCompilerInvocationOutputVMCSource.restype = ctypes.c_void_p
_lib.ireeCompilerInvocationOutputVMCSource.argtypes = [ctypes.c_void_p, ctypes.c_void_p]

Severity = ("note", "warning", "error", "remark")
"""By IREE's `iree_compiler_diagnostic_severity_t`."""

_command_line: tuple[str, ...] | None = None


def initialise_command_line(flags: Sequence[str]) -> None:
    """Parses ``flags`` into the process-global command line, as iree-compile does: once, before any session.

    LLVM prints an error and ends the process on an unknown flag, so this belongs into a worker process.
    Sessions made afterwards begin with these flags.
    """
    global _command_line
    if _command_line is not None:
        if tuple(flags) != _command_line:
            raise RuntimeError(
                "IREE's process-global flags are set once per process; use another worker process"
            )
        return
    _command_line = tuple(flags)
    ctypes_dl._initializeGlobalCL("iree-compile", *flags)


def not_in_force(flags: Sequence[str]) -> tuple[str, ...]:
    """``flags`` for a session: without those of the command line, which every session begins with and some of which none takes."""
    return tuple(flag for flag in flags if flag not in (_command_line or ()))


def process_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """Those of ``flags`` that IREE's session does not know. Raises UsageError for what iree-compile's driver reads, such as `--help`.

    A fork makes the session: in this process none may be made before they are set.
    """
    for flag in flags:
        if flag.lstrip("-").partition("=")[0] in DRIVER_FLAGS | STOCK_ONLY_FLAGS:
            raise UsageError(
                f"'{flag}' is an option of iree-compile itself, and no flag of the compiler",
                "fissile compile takes it",
            )
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(reading)
            with os.fdopen(writing, "w", encoding="utf-8") as answer:
                json.dump(_not_of_a_session(flags), answer)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as answer:
        content = answer.read()
    os.waitpid(pid, 0)
    return tuple(json.loads(content)) if content else ()


def _not_of_a_session(flags: Sequence[str]) -> list[str]:
    known = {flag.split("=", 1)[0] for flag in Session().get_flags()}
    return [flag for flag in dict.fromkeys(flags) if flag.split("=", 1)[0] not in known]


def phases(invocation: Invocation, start: str, end: str) -> None:
    """Makes ``invocation`` run the phases after ``start`` up to and including ``end``."""
    _lib.ireeCompilerInvocationSetCompileFromPhase(invocation._inv_p, start.encode())
    _lib.ireeCompilerInvocationSetCompileToPhase(invocation._inv_p, end.encode())


def dump_phases_to(invocation: Invocation, folder: str) -> None:
    _lib.ireeCompilerInvocationSetDumpCompilationPhasesTo(invocation._inv_p, folder.encode())


def verify_ir(invocation: Invocation, enabled: bool) -> None:
    _lib.ireeCompilerInvocationSetVerifyIR(invocation._inv_p, enabled)


def remarks(invocation: Invocation, pattern: str, file: str) -> None:
    _lib.ireeCompilerInvocationSetupRemarks(invocation._inv_p, pattern.encode(), file.encode())


def output_vm_c(invocation: Invocation, output: Output) -> None:
    ctypes_dl._handle_error(_lib.ireeCompilerInvocationOutputVMCSource(invocation._inv_p, output._output_p))


def send_diagnostics(invocation: Invocation, receive: Callable[[str, str], None]) -> None:
    """Sends each diagnostic of ``invocation`` to ``receive(severity, text)`` instead of the console.

    Worker threads of the compiler may call it. The callback object must outlive the invocation's handler,
    so it is kept on the invocation.
    """

    def forward(severity: int, message, size: int, _user_data) -> None:
        receive(Severity[severity], ctypes.string_at(message, size).decode(errors="replace"))

    invocation._fissile_callback = _DIAGNOSTIC_CALLBACK(forward)
    _lib.ireeCompilerInvocationEnableCallbackDiagnostics(
        invocation._inv_p, 0, invocation._fissile_callback, None
    )
