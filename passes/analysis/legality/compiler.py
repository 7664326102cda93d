"""Does IREE compile this text, for these flags, as far as that phase? Answered by IREE, once for each question."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from iree.compiler import ir

from fissile.dialect import register
from fissile.passes.iree import library, version
from fissile.passes.iree.legality.candidates import STEPS, TARGET_FLAGS
from fissile.passes.iree.messages import FAILED_PASS
from fissile.passes.iree.phases import INPUT_CONVERTED_AT, PHASES

MOST_ANSWERS = 4096
_DISPATCH = re.compile(r"func\.func (?:\w+ )?@(?P<name>[\w$.]*_dispatch_\d+[\w$.]*)")
_PLACE = re.compile(r'^\s*(?:"[^"\n]*"|[^\s":]+):\d+:\d+:\s*(?:error:\s*)?')
_WHOLE = {"large_elements_limit": 1 << 62, "large_resource_limit": 1 << 62}


@dataclass(frozen=True)
class Outcome:
    """``reached`` is the last of STEPS that IREE got to. Where it stopped, ``failed`` is the next, with its first error."""

    reached: str = ""
    failed: str = ""
    message: str = ""
    failing_pass: str = ""
    """The pass that failed, by its argument or else its class; empty where IREE did not print it (`PASS_FLAGS`)."""
    text: str = ""
    """The first error as IREE printed it, with its place."""
    dispatch: str = ""
    """The function of the dispatch in which it stopped; empty where it was in none, or IREE did not print it."""
    died: bool = False
    """Whether it took its process along: a crash, or a compile that did not end."""

    @property
    def ok(self) -> bool:
        return not self.failed


def text_of_module(op: ir.Operation, *, locations: bool = False, generic: bool = True) -> str:
    """All of ``op`` as text: constants are printed whole, whatever the process-global flags say."""
    return op.operation.get_asm(
        print_generic_op_form=generic,
        enable_debug_info=locations,
        assume_verified=not generic,
        **_WHOLE,
    )


def key_of(text: str, flags: Sequence[str], start: str, to: str) -> str:
    """The question: program, flags (the target among them, where it matters), phases, and the version of IREE that answers.

    The import of a front end does not look at the target: what it does with a program is asked once for all of them.
    """
    if to == INPUT_CONVERTED_AT:
        flags = [flag for flag in flags if not flag.startswith(TARGET_FLAGS)]
    parts = (text, *flags, start, to, version.installed() or "")
    return hashlib.sha256("\0".join(parts).encode(errors="backslashreplace")).hexdigest()


class Compiler:
    """Compiles texts in this process and remembers the outcomes, at most MOST_ANSWERS of them.

    ``known``: outcomes by key of an earlier process, crashes among them. ``begins(key, whole, step)`` is called before IREE runs to a step,
    and ``ended(key, outcome)`` after it: a process that watches this one knows what took it along.
    """

    def __init__(
        self,
        known: Mapping[str, Outcome] | None = None,
        begins: Callable[[str, bool, str], object] = lambda _key, _whole, _step: None,
        ended: Callable[[str, Outcome], object] = lambda _key, _outcome: None,
    ) -> None:
        self._answers: dict[str, Outcome] = dict(known or {})
        self._sessions: dict[tuple[str, ...], library.Session] = {}
        self._begins, self._ended = begins, ended
        self.compiled = 0

    def compile(
        self, text: str, flags: Sequence[str], to: str, start: str = "start", whole: bool = False
    ) -> Outcome:
        """How far IREE gets with ``text``, which stands at phase ``start``, on the way to ``to`` (one of STEPS)."""
        key = key_of(text, flags, start, to)
        imported = key_of(text, flags, start, INPUT_CONVERTED_AT)
        known = self._answers.get(key) or self._failed_import(imported)
        if known is not None:
            return known
        with _native_stderr() as printed:
            outcome = self._compile(
                text,
                tuple(flags),
                to,
                start,
                lambda step: self._begins(imported if step == INPUT_CONVERTED_AT else key, whole, step),
            )
            printed_text = printed()
        if outcome.failed:
            outcome = replace(
                outcome, failing_pass=failing_pass(printed_text), dispatch=dispatch_in(printed_text)
            )
        self.compiled += 1
        self._remember(key, outcome)
        if outcome.failed == INPUT_CONVERTED_AT and key != imported:
            self._remember(imported, outcome)
        return outcome

    def imported(self, text: str, flags: Sequence[str], start: str = "start") -> str:
        """``text``, which stands at phase ``start``, as IREE's import leaves it; empty where that fails, or was done before `start`."""
        if start != "start" or not self.compile(text, flags, INPUT_CONVERTED_AT, start).ok:
            return ""
        session = self.session(flags)
        invocation, output = session.invocation(), library.Output.open_membuffer()
        library.send_diagnostics(invocation, lambda _severity, _line: None)
        try:
            with _native_stderr():
                source = library.Source.wrap_buffer(session, text.encode() + b"\0", buffer_name="op")
                invocation.parse_source(source)
                library.phases(invocation, start, INPUT_CONVERTED_AT)
                invocation.execute()
                invocation.output_ir(output)
            return bytes(output.map_memory()).decode(errors="replace")
        finally:
            output.close()
            invocation.close()

    def _failed_import(self, key: str) -> Outcome | None:
        """A program that does not get through the import does not get further."""
        known = self._answers.get(key)
        return known if known is not None and not known.ok else None

    def _remember(self, key: str, outcome: Outcome) -> None:
        if len(self._answers) >= MOST_ANSWERS:
            self._answers.pop(next(iter(self._answers)))
        self._answers[key] = outcome
        self._ended(key, outcome)

    def session(self, flags: Sequence[str] = ()) -> library.Session:
        """The session for ``flags``, made when it is first needed. Raises ValueError for flags that IREE refuses."""
        key = tuple(flags)
        if key not in self._sessions:
            session = library.Session()
            session.context.load_all_available_dialects()
            register(session.context)
            session.set_flags(*library.not_in_force(key))
            self._sessions[key] = session
        return self._sessions[key]

    def _compile(
        self,
        text: str,
        flags: tuple[str, ...],
        to: str,
        start: str,
        begins: Callable[[str], object],
    ) -> Outcome:
        try:
            session = self.session(flags)
        except ValueError as error:
            return Outcome("", "start", " ".join(str(error).split()))
        printed_text: list[tuple[str, str]] = []
        invocation = session.invocation()
        library.send_diagnostics(invocation, lambda severity, line: printed_text.append((severity, line)))
        try:
            source = library.Source.wrap_buffer(session, text.encode() + b"\0", buffer_name="op")
            begins("start")
            if not invocation.parse_source(source):
                return _stopped("", "start", printed_text)
            reached = start
            for step in steps(start, to):
                begins(step)
                library.phases(invocation, reached, step)
                if not invocation.execute():
                    return _stopped(reached, step, printed_text)
                reached = step
            if to == STEPS[-1] and not _serialized(invocation):
                return _stopped(reached, to, printed_text)
            return Outcome(reached)
        finally:
            invocation.close()


def _serialized(invocation: library.Invocation) -> bool:
    """Whether the module can be written: IREE converts what is left of other dialects, and verifies imports, as it writes."""
    output = library.Output.open_membuffer()
    try:
        invocation.output_vm_bytecode(output)
    except (ValueError, RuntimeError):
        return False
    finally:
        output.close()
    return True


def steps(start: str, to: str) -> list[str]:
    """Those of STEPS behind phase ``start``, up to ``to``."""
    first, last = PHASES.index(start), PHASES.index(to)
    return [step for step in STEPS if first < PHASES.index(step) <= last]


def _stopped(reached: str, failed: str, printed_text: Sequence[tuple[str, str]]) -> Outcome:
    errors = [text for severity, text in printed_text if severity == "error"]
    text = errors[0] if errors else "IREE stopped without an error message"
    return Outcome(reached, failed, first_line(text), "", text)


def first_line(text: str) -> str:
    """The first line of a diagnostic, without the place in front of it."""
    return _PLACE.sub("", text.strip("\n").split("\n", 1)[0]).strip()


def failing_pass(printed: str) -> str:
    """The pass that IREE names first among those that fail; those after it are the passes around it."""
    found = FAILED_PASS.search(printed)
    return (found["argument"] or found["class"]) if found else ""


def dispatch_in(printed: str) -> str:
    """The first function of a dispatch in what IREE prints behind the name of a pass that fails."""
    found = _DISPATCH.search(printed)
    return found["name"] if found else ""


@contextmanager
def _native_stderr() -> Iterator[Callable[[], str]]:
    """What native code prints on standard error within the block is kept; the lines that name a pass or a function are all that is read."""
    kept = os.dup(2)
    try:
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), 2)

            def printed() -> str:
                file.seek(0)
                lines = (line for line in file if b"IR Dump After" in line or b"func.func" in line)
                return b"".join(lines).decode(errors="replace")

            try:
                yield printed
            finally:
                with suppress(OSError):
                    os.dup2(kept, 2)
    finally:
        os.close(kept)
