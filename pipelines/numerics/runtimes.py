"""Which runtimes answer on this machine, and what a compiled function returns on one of them.

Every run is a child process (`iree-run-module`) in its own process group: a crash, a hang or an error of a
program is a finding, and ends nothing but that child.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from fissile.errors import UsageError
from fissile.finding import Finding, Severity

from ..native_programs import native_program
from ..process.child import run_child
from ..process.scratch import scratch
from ..status import announce
from .signature import Signature, Value
from .sub_byte import SUB_BYTE_BITS, pack, unpack

DRIVERS = ("local-task", "vulkan", "cuda", "hip")
"""In the order in which they are tried and listed."""

_QUERY_SECONDS = 30.0
_NPY_KINDS = "biufc"
"""What iree-run-module 3.13 writes as .npy; bf16, 8-bit floats and integers below a byte are written as raw bytes."""


@dataclass(frozen=True)
class Runtime:
    """``name`` is the driver's, ``device`` what --device= takes, ``description`` names the hardware."""

    name: str
    device: str
    description: str

    def __str__(self) -> str:
        return f"{self.name} ({self.description})" if self.description else self.name


@cache
def present() -> tuple[Runtime, ...]:
    """The runtimes that answer, queried once per process. local-task always does."""
    return tuple(runtime for driver in DRIVERS if (runtime := _queried(driver)))


def named(names: Sequence[str]) -> tuple[Runtime, ...]:
    """The runtimes of these names; all present ones for none. `UsageError` for one that is not here."""
    here = {runtime.name: runtime for runtime in present()}
    for name in names:
        if name not in here:
            what = "has no device here" if name in DRIVERS else "is not a runtime"
            hint = f"present: {', '.join(here)}"
            if name == "vulkan":
                hint += "; Debian's mesa-vulkan-drivers and libvulkan1 give a software device"
            raise UsageError(f"'{name}' {what}", hint)
    return tuple(here[name] for name in dict.fromkeys(names)) or present()


def _queried(driver: str) -> Runtime | None:
    if driver == "local-task":
        return Runtime(driver, driver, "llvm-cpu on this processor")
    ended = run_child([run_module_program(), f"--dump_devices={driver}"], _QUERY_SECONDS)
    device = re.search(r"--device=(\S+)\s*\n#\s*(.+)", ended.out)
    if ended.status != 0 or not device:
        return None
    name = re.search(r"^name: (.+)$", ended.out, re.MULTILINE)
    return Runtime(driver, driver, (name or device)[1 if name else 2].strip())


def run(
    vmfb: Path,
    signature: Signature,
    inputs: Sequence[np.ndarray],
    runtime: Runtime,
    timeout: float = 120.0,
    flags: Sequence[str] = (),
) -> list[np.ndarray] | Finding:
    """The function's results, with the element types that its signature declares, or FIS131 with the reason.

    ``timeout`` is in seconds. ``flags`` go to iree-run-module as they are (``--parameters=…``).
    """
    with scratch() as folder:
        base = [
            run_module_program(),
            f"--module={vmfb}",
            f"--function={signature.function}",
            f"--device={runtime.device}",
        ]
        base += [*input_flags(folder, signature, inputs), *flags]
        outputs = [
            Path(folder, f"output{i}.{'npy' if _as_npy(value) else 'bin'}")
            for i, value in enumerate(signature.results)
        ]
        failed = _failure([*base, *(f"--output=@{path}" for path in outputs)], signature, runtime, timeout)
        if failed:
            return failed
        shapes: list[tuple[int, ...] | None] = [None] * len(outputs)
        if any(not _as_npy(v) and (v.shape or ()).count(None) > 1 for v in signature.results):
            # Raw bytes do not tell a shape, and one length cannot tell two dimensions: ask for the text as well.
            text = run_child([*base, "--output_max_element_count=1"], timeout).out
            found = re.findall(r"^result\[\d+\]: hal\.buffer_view\n((?:\d+x)*)", text, re.MULTILINE)
            shapes = [tuple(map(int, s.split("x")[:-1])) for s in found]
        return [_output(*row) for row in zip(outputs, signature.results, shapes, strict=True)]


def input_flags(folder: Path, signature: Signature, inputs: Sequence[np.ndarray]) -> list[str]:
    """The arguments that give a runtime program ``inputs``; their bytes are written into ``folder``."""
    return [
        _input(folder / f"input{i}", value, np.asarray(array))
        for i, (value, array) in enumerate(zip(signature.arguments, inputs, strict=True))
    ]


def _as_npy(value: Value) -> bool:
    return value.dtype.kind in _NPY_KINDS and value.element not in SUB_BYTE_BITS


def _input(path: Path, value: Value, array: np.ndarray) -> str:
    if value.shape is None:
        return f"--input={int(array) if array.dtype.kind in 'biu' else repr(float(array))}"
    if value.dtype.kind == "c":  # whose type has no spelling on a command line: it has an x in it
        np.save(path.with_suffix(".npy"), array.astype(value.dtype))
        return f"--input=@{path.with_suffix('.npy')}"
    spelled = "".join(f"{d}x" for d in array.shape) + value.element.replace("index", "i64")
    if not array.size:
        return f"--input={spelled}"
    array, bits = np.ascontiguousarray(array.astype(value.dtype)), SUB_BYTE_BITS.get(value.element)
    path.write_bytes(pack(array, bits) if bits else array.tobytes())
    return f"--input={spelled}=@{path}"


def _output(path: Path, value: Value, shape: tuple[int, ...] | None) -> np.ndarray:
    if _as_npy(value):
        # astype, not view: a scalar i1 or i8 comes back as i32.
        return np.load(path).astype(value.dtype)
    bits = SUB_BYTE_BITS.get(value.element)
    data = (
        unpack(path.read_bytes(), bits, value.dtype)
        if bits
        else np.frombuffer(path.read_bytes(), value.dtype)
    )
    if shape is None:
        shape = tuple(-1 if d is None else d for d in value.shape or ())
    if bits:  # what fills the last byte is no element
        known = math.prod(d for d in shape if d != -1)
        data = data[: len(data) // known * known if -1 in shape and known else known]
    return data.reshape(shape)


def _failure(command: list[str], signature: Signature, runtime: Runtime, timeout: float) -> Finding | None:
    announce(f"running @{signature.function} on {runtime}, limit {timeout:g} s")
    ended = run_child(command, timeout)
    if ended.status == 0:
        return None
    reason = ended.reason or _reason(ended.err)
    return Finding(
        "FIS131",
        f"@{signature.function} was not run on {runtime}: {reason}",
        severity=Severity.ERROR,
        subject=f"@{signature.function}",
        target=runtime.name,
        detail=(ended.out + ended.err).strip(),
    )


def _reason(stderr: str) -> str:
    """IREE's status in one line: ``c/path.c:12: CODE; what; where`` without its path, declaration and attributes."""
    for line in stderr.splitlines():
        status = re.search(r"(?:\.[ch](?:pp)?|<vm>):\d+: (.+)", line)
        if status:
            return re.sub(r":?\s*#\w+\..*|;\s*`.*", "", status[1]).strip().rstrip(";")[:300]
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "the runtime ended with an error and no message"


def run_module_program() -> str:
    """IREE's runner of modules."""
    return native_program("iree-run-module")
