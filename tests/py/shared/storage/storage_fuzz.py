"""Guards random programs in batches, runs them in this process, and holds every call against the oracle."""

from __future__ import annotations

import tempfile
import traceback
from collections import Counter
from pathlib import Path

import iree.runtime as rt
import numpy as np
import storage_fuzz_host
import storage_fuzz_indices
import storage_fuzz_slices
from checked_schedule import programs_out_of_order
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from storage_fuzz_programs import EDGES, KINDS, FuzzProgram, Values, Writer
from storage_fuzz_steps import STEPS
from storage_oracle import TooLarge, Violation, wrap

from fissile.passes.remedies.storage.order.scheduled_checks import bring_back
from fissile.pipelines.compile.hooks.guard import GUARDED_AT, guard
from fissile.pipelines.session import Module, PhaseFailed, Session

FLAGS = [
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
]
REFUSED = ("FAILED_PRECONDITION", "INVALID_ARGUMENT", "OUT_OF_RANGE", "RESOURCE_EXHAUSTED")
"""An assert; IREE's own check of an argument's shape; of a buffer that it hands out; no memory for a result that
another argument makes large, before the check of an index."""
RUNTIME_RANGE = "OUT_OF_RANGE"

STEP_FILES = (storage_fuzz_host, storage_fuzz_indices, storage_fuzz_slices)
"""What fills STEPS."""
"""A program's function, a part that it calls, and what IREE names by them."""


@st.composite
def programs(draw, calls: int) -> FuzzProgram:
    w = Writer(draw)
    for _ in range(draw(st.integers(1, 2))):
        STEPS[draw(st.sampled_from(sorted(STEPS)))](w)
    w.p.result = w.arrays[-1]
    if w.p.result.name in {n for n, _ in w.p.arguments} or w.chance(2):
        w.p.result = w.twice(w.p.result)
    w.p.calls = [draw(call_of(w.p)) for _ in range(calls)]
    return w.p


@st.composite
def call_of(draw, program: FuzzProgram) -> Values:
    """Sizes below, at and above what fits, and at the ends of i64: most of them alike, so that many calls are legal."""
    call: Values = {}
    common = draw(st.integers(0, 6))
    size = st.one_of(st.just(common), st.just(common), st.integers(0, 6))
    for name, kind in program.arguments:
        if not kind.startswith("tensor"):
            value = draw(
                st.one_of(st.just(common), st.integers(0, 6), st.integers(-2, 8), st.sampled_from(EDGES))
            )
            call[name] = wrap(value, 32) if kind == "i32" else value
            continue
        *dims, element = kind[7:-1].split("x")
        shape = [int(d) if d != "?" else draw(size) for d in dims]
        count = int(np.prod(shape))
        if element == "i1":
            call[name] = np.array(
                draw(st.lists(st.booleans(), min_size=count, max_size=count)), bool
            ).reshape(shape)
        elif name[1] in "to":
            low, high = draw(st.sampled_from([(0, 2), (0, max(common - 1, 0)), (-1, 5), (-7, 7)]))
            values = (
                st.integers(low, high)
                if draw(st.integers(0, 9))
                else st.sampled_from([0, 1, -(2**31), 2**31 - 1] if element != "i8" else [0, 1, -128, 127])
            )
            drawn = draw(st.lists(values, min_size=count, max_size=count))
            if element == "i64" and drawn and not draw(st.integers(0, 9)):
                drawn[0] = 2**32
            call[name] = np.array(drawn, KINDS[element]).reshape(shape)
        else:
            call[name] = (np.arange(count) % 100 + 1).astype(KINDS[element]).reshape(shape)
    return call


def drawn_programs(count: int, calls: int, first: int) -> list[FuzzProgram]:
    """The ``count`` programs that seed ``first`` draws, numbered from it on."""
    drawn: list[FuzzProgram] = []

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @seed(first)
    @given(programs(calls))
    def draw_all(program: FuzzProgram) -> None:
        program.name = f"p{first + len(drawn)}"
        drawn.append(program)

    draw_all()
    return drawn


class Fuzz:
    """``counts`` says what was seen, ``failures`` where guard and oracle disagree: (kind, call, message, program)."""

    def __init__(self, batch: int = 20) -> None:
        self.counts: Counter[str] = Counter()
        self.failures: list[tuple[str, str, str, str]] = []
        self._batch, self._number = batch, 0
        self._config = rt.Config("local-sync")
        self._folder = tempfile.TemporaryDirectory(prefix="fissile-fuzz-")

    def run(self, count: int, calls: int = 6, first: int = 0) -> None:
        """``count`` programs from seed ``first`` on."""
        for begin in range(first, first + count, self._batch):
            self.check(drawn_programs(min(self._batch, first + count - begin), calls, begin))

    def check(self, batch: list[FuzzProgram]) -> None:
        with Session(FLAGS) as session:
            self._check(session, batch)

    def _check(self, session: Session, batch: list[FuzzProgram]) -> None:
        try:
            refuted, codes = self._guarded(session, batch, compile_=False)
        except Exception as error:
            if len(batch) > 1:
                for program in batch:
                    self._check(session, [program])
                return
            self._failed("internal", {}, "".join(traceback.format_exception(error)[-4:]), batch[0])
            return
        for program in batch:
            if program.name in refuted:
                self.counts["programs refuted"] += 1
                for call in program.calls:
                    if _expected(program, call)[0] != "violation":
                        self._failed("refuted though legal", call, refuted[program.name], program)
            for code in ("FIS204", "FIS205", "FIS902"):
                if codes.get(code) and len(batch) == 1:
                    self._failed(code, {}, codes[code], program)
        if len(batch) > 1 and any(c in codes for c in ("FIS204", "FIS205", "FIS902")):
            for program in batch:
                self._check(session, [program])
            return
        kept = [p for p in batch if p.name not in refuted]
        if not kept:
            return
        try:
            module = self._guarded(session, kept, compile_=True)
        except PhaseFailed as error:
            if len(kept) > 1:
                for program in kept:
                    self._check(session, [program])
                return
            if self._stock_refuses(session, kept[0]):
                self.counts["programs that stock IREE refuses"] += 1
            else:
                self._failed("does not compile", {}, str(error), kept[0])
            return
        for program in kept:
            self.counts["programs run"] += 1
            for call in program.calls:
                self._call(program, call, getattr(module, program.name))

    def _guarded(self, session: Session, batch: list[FuzzProgram], compile_: bool):
        module = session.run(session.parse_text("\n".join(p.text for p in batch)), GUARDED_AT)
        found = guard(module.op)
        if not compile_:
            refuted = {f.subject[1:]: f.message for f in found.findings if f.code == "FIS201"}
            # A part that a program calls is its own.
            refuted = {name.split("_part")[0]: message for name, message in refuted.items()}
            return refuted, {f.code: f.message for f in found.findings}
        session.run(module, "stream")
        bring_back(module.op, found.contract)
        late = programs_out_of_order(session, module.op, {p.name: p.text for p in batch}, "p")
        session.run(module, "end")
        for program in batch:
            if program.name in late:
                self._failed("write before its check", {}, late[program.name], program)
            else:
                self.counts["programs with no dispatch before its check"] += 1
        return self._loaded(session, module)

    def _loaded(self, session: Session, module: Module):
        self._number += 1
        path = Path(self._folder.name, f"{self._number}.vmfb")
        session.write(module, path)
        return rt.load_vm_module(
            rt.VmModule.copy_buffer(self._config.vm_instance, path.read_bytes()), self._config
        )

    def _stock_refuses(self, session: Session, program: FuzzProgram) -> bool:
        try:
            session.run(session.parse_text(program.text), "end")
        except PhaseFailed:
            return True
        return False

    def _stock_runtime_refuses(self, program: FuzzProgram, call: Values) -> bool:
        """Whether IREE's runtime refuses the call of the program without a guard as well: an empty slice that begins past the
        end of its source reads nothing, and is copied by a command whose offset the runtime checks."""
        with Session(FLAGS) as session:
            stock = self._loaded(session, session.run(session.parse_text(program.text), "end"))
        try:
            getattr(stock, program.name)(*call.values())
        except Exception as raised:
            return RUNTIME_RANGE in str(raised)
        return False

    def _call(self, program: FuzzProgram, call: Values, function) -> None:
        what, expected = _expected(program, call)
        if what == "large":
            self.counts["calls left out: legal and large, or writes twice"] += 1
            return
        before = {name: np.copy(value) for name, value in call.items()}
        try:
            found, error = function(*call.values()), ""
            found = found.to_host() if hasattr(found, "to_host") else found
        except Exception as raised:
            found, error = None, str(raised)
        if what == "violation":
            if not error:
                self._failed("missed", call, f"got {found}", program)
            elif not any(word in error for word in REFUSED):
                self._failed("refused in another way", call, error, program)
            else:
                word = next(word for word in REFUSED if word in error)
                self.counts[f"calls that violate, refused: {word}"] += 1
        elif RUNTIME_RANGE in error and self._stock_runtime_refuses(program, call):
            self.counts[f"calls that are legal, refused by stock's runtime too: {RUNTIME_RANGE}"] += 1
        elif error:
            self._failed("false alarm", call, error, program)
        elif not np.array_equal(found, expected):
            self._failed("wrong numbers", call, f"got {found}, not {expected}", program)
        else:
            self.counts["calls that are legal, same numbers"] += 1
        if any(not np.array_equal(before[name], call[name]) for name in call):
            self._failed("an input was written", call, "", program)

    def _failed(self, kind: str, call: Values, message: str, program: FuzzProgram) -> None:
        self.counts[f"FAILED: {kind}"] += 1
        self.failures.append(
            (
                kind,
                str({k: np.asarray(v).tolist() if np.size(v) < 40 else np.shape(v) for k, v in call.items()}),
                message,
                program.text,
            )
        )


def _expected(program: FuzzProgram, call: Values) -> tuple[str, object]:
    try:
        with np.errstate(all="ignore"):
            return "legal", program.run(call)
    except Violation:
        return "violation", None
    except TooLarge:
        return "large", None
