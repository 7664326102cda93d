"""Guards random programs, runs them, and holds every call against the oracle (see storage_oracle)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import iree.runtime as rt
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from iree.compiler import ir
from storage_draws import programs
from storage_oracle import Program, TooLarge, Violation

from fissile.passes.analysis.program.check_order import overtaken_checks, unclamped_accesses
from fissile.passes.checks.storage.storage_fit import judge_storage
from fissile.passes.remedies.storage.order.scheduled_checks import bring_back
from fissile.pipelines.compile.hooks.guard import GUARDED_AT, guard
from fissile.pipelines.session import PhaseFailed, Session

FLAGS = {
    "local-task": [
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host",
    ],
    "vulkan": ["--iree-hal-target-device=vulkan"],
}


class Sweep:
    """One session and one runtime for all programs. ``counts`` tells what was seen."""

    def __init__(self, device: str = "local-task") -> None:
        self.device = device
        self.session = Session(FLAGS[device])
        self.counts: Counter[str] = Counter()
        self.programs = 0
        self._folder = tempfile.TemporaryDirectory(prefix="fissile-sweep-")
        self._file = Path(self._folder.name, "program.vmfb")
        if device == "local-task":
            self._config = rt.Config("local-task")

    def run(self, count: int, calls: int = 8, phases: tuple[Phase, ...] = (Phase.generate,)) -> None:
        @settings(
            max_examples=count,
            derandomize=True,
            database=None,
            deadline=None,
            phases=phases,
            suppress_health_check=list(HealthCheck),
        )
        @given(programs(calls))
        def each(program: Program) -> None:
            self.check(program)

        each()

    def check(self, program: Program) -> None:
        """Raises AssertionError, with the program, where the guard and the oracle disagree."""
        self.programs += 1
        module = self.session.parse_text(program.text)
        self.session.run(module, GUARDED_AT)
        report = judge_storage(module.op)
        for judged in report.judged:
            self.counts[f"obligations {judged.answer.value}"] += 1
            if judged.decision.values:
                self._counterexample(program, report.extents, judged)
        result = guard(module.op)
        if any(f.code == "FIS201" for f in result.findings):
            self.counts["programs refuted"] += 1
            for call in program.calls:
                assert self._expected(program, call) is not None, (
                    f"refuted, but {call} is legal:\n{program.text}"
                )
            return
        assert not [f for f in result.findings if f.code in ("FIS204", "FIS205")], (
            f"not covered:\n{program.text}"
        )
        self.counts["programs proved" if not result.changed else "programs asserted"] += 1
        try:
            self.session.run(module, "stream")
            bring_back(module.op, result.contract)
            early = [*overtaken_checks(module.op), *unclamped_accesses(module.op)]
            assert not early, f"{early} in:\n{program.text}"
            self.session.run(module, "end")
        except PhaseFailed as refused:
            # IREE itself refuses some slices of constant size in branches that never run; not because of
            # the guard.
            self.counts["programs that stock IREE refuses"] += 1
            assert self._stock_refuses(program), f"{refused}:\n{program.text}"
            return
        self.session.write(module, self._file)
        function = self._load() if self.device == "local-task" else None
        for call in program.calls:
            self._call(program, call, function)

    def _stock_refuses(self, program: Program) -> bool:
        try:
            self.session.run(self.session.parse_text(program.text), "end")
        except PhaseFailed:
            return True
        return False

    def _expected(self, program: Program, call: dict) -> str | None:
        """Why the oracle refuses the call, None where it is legal."""
        try:
            program.run(call)
        except Violation:
            return "violation"
        except TooLarge:
            return None
        return None

    def _call(self, program: Program, call: dict, function) -> None:
        try:
            expected = program.run(call)
        except Violation:
            expected = None
        except TooLarge:
            self.counts["calls left out: legal and large"] += 1
            return
        if self.device == "vulkan" and any(
            0 in np.shape(v) for v in [*call.values(), expected] if v is not None
        ):
            self.counts["calls left out: stock IREE refuses empty buffers on Vulkan"] += 1
            return
        before = {k: np.copy(v) for k, v in call.items()}
        got, error = self._invoke(program, call, function)
        shown = f"{ {k: np.shape(v) or v for k, v in call.items()} }\n{program.text}"
        if expected is None:
            self.counts["calls that violate, caught"] += 1
            assert error, f"a violation was not caught: {shown}\ngot {got}"
            assert any(word in error for word in ("FAILED_PRECONDITION", "INVALID_ARGUMENT")), (
                f"{error}\n{shown}"
            )
        else:
            self.counts["calls that are legal, same numbers"] += 1
            assert not error, f"a false alarm: {error}\n{shown}"
            np.testing.assert_array_equal(got, expected, err_msg=shown)
        for name, value in before.items():
            np.testing.assert_array_equal(call[name], value, err_msg=f"input {name} was changed: {shown}")

    def _load(self):
        context = rt.SystemContext(config=self._config)
        context.add_vm_module(rt.VmModule.copy_buffer(context.instance, self._file.read_bytes()))
        return context.modules.module["main"]

    def _invoke(self, program: Program, call: dict, function) -> tuple[np.ndarray | None, str]:
        values = [call[name] for name, _ in program.arguments]
        if function is not None:
            try:
                return function(*values).to_host(), ""
            except Exception as error:  # the runtime has no exception class of its own
                return None, str(error)
        inputs = []
        for i, value in enumerate(values):
            if isinstance(value, np.ndarray):
                path = Path(self._folder.name, f"input{i}.npy")
                np.save(path, value)
                inputs.append(f"--input=@{path}")
            else:
                inputs.append(f"--input={value}")
        output = Path(self._folder.name, "output.npy")
        done = subprocess.run(
            [
                str(Path(sys.executable).with_name("iree-run-module")),
                f"--module={self._file}",
                "--device=vulkan",
                "--function=main",
                *inputs,
                f"--output=@{output}",
            ],
            capture_output=True,
            text=True,
            timeout=300,
        )
        return (np.load(output), "") if done.returncode == 0 else (None, done.stderr)

    def _counterexample(self, program: Program, extents, judged) -> None:
        """The reported sizes do break the program: where they are a call, the oracle refuses
        that call."""
        values = {s: v for s, v in judged.decision.values}
        call: dict[str, object] = {}
        shapes: dict[str, dict[int, int]] = {}
        for symbol, value in values.items():
            handle = extents.handle(symbol)
            argument = handle.value
            if (
                not isinstance(argument.owner, ir.Block)
                or argument.owner.owner.operation.name != "util.func"
                or handle.element is not None
            ):
                self.counts["counterexamples about inner values"] += 1
                return
            name = program.arguments[ir.BlockArgument(argument).arg_number][0]
            if handle.dimension is None:
                call[name] = value
            else:
                shapes.setdefault(name, {})[handle.dimension] = value
        for name, kind in program.arguments:
            if kind.startswith("tensor"):
                *dims, element = kind[7:-1].split("x")
                shape = [int(d) if d != "?" else shapes.get(name, {}).get(i, 1) for i, d in enumerate(dims)]
                if np.prod([float(n) for n in shape]) > 1e6:
                    self.counts["counterexamples left out: large"] += 1
                    return
                call[name] = np.zeros(shape, np.int32 if element == "i32" else np.float32)
            else:
                call.setdefault(name, 0)
        try:
            program.run(call)
            broken = False
        except Violation:
            broken = True
        except TooLarge:
            self.counts["counterexamples left out: large"] += 1
            return
        self.counts["counterexamples that break the program"] += 1
        assert broken, f"{judged.sentence} | {judged.example} does not break it\n{program.text}"
