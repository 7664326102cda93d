"""Runs a textual pipeline in which fissile's and IREE's passes mix, on a live module.

MLIR's parser cannot know passes that Python defines. So a pipeline is cut into steps: the longest runs of
IREE's passes go to MLIR's pass manager in one piece, fissile's are called in between, and a nest that
contains both is walked op by op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from iree.compiler import ir
from iree.compiler.passmanager import PassManager

from fissile.dialect import load_dialects, place_of_location, register
from fissile.errors import FissileError, InternalError, UsageError, closest
from fissile.finding import Finding, Severity
from fissile.passes.analysis.program.private_calls import FUNCTIONS
from fissile.passes.catalogue import find_pass, is_known, known_passes
from fissile.passes.definition import Pass, PassFailed, make_pass
from fissile.passes.iree.flags import PREPROCESSING_FLAG
from fissile.passes.iree.messages import REFUSED_OPTIONS, UNKNOWN_PASS
from fissile.passes.progress import running
from fissile.passes.user_code import LEFT, cause, is_ctrl_c, is_users, pass_named, source_of

from .contracts import ContractWatch, unmet_requirements
from .native_passes import native_pass_names, wrong_options
from .textual import Nest, PassCall, parse_pipeline, pass_names


@dataclass(frozen=True)
class _NativeStep:
    """Consecutive elements without a fissile pass, run by MLIR's pass manager."""

    text: str
    calls: tuple[PassCall, ...]


@dataclass(frozen=True)
class _PythonStep:
    instance: Pass
    call: PassCall


@dataclass(frozen=True)
class _NestStep:
    anchor: str
    steps: tuple[_NativeStep | _PythonStep | _NestStep, ...]


_Step = _NativeStep | _PythonStep | _NestStep


def uses_fissile_passes(text: str) -> bool:
    """True where a textual pipeline names a pass that only fissile can run. Raises UsageError on bad text."""
    return any(is_known(name) for name in pass_names(text))


def check_preprocessing(flags: Iterable[str]) -> None:
    """Raises UsageError for a preprocessing pipeline in ``flags`` that IREE does not take: it would print an error, leave the pipeline out, and
    compile without."""
    for flag in flags:
        name, _, pipeline = flag.partition("=")
        if pipeline and name.lstrip("-") == PREPROCESSING_FLAG:
            _check_native(pipeline)


def _check_native(text: str) -> None:
    tree = parse_pipeline(text)
    if tree.anchor != "builtin.module":
        raise UsageError(
            f"the pipeline runs on {tree.anchor}, the input is a builtin.module",
            f"write builtin.module({tree})",
        )
    _native_pipeline(text, ir.Context())


def run_pipeline(
    pipeline: str | Nest,
    module_op: ir.Operation,
    *,
    report: Callable[[Finding], None],
    verify_contracts: bool = False,
) -> None:
    """Runs ``pipeline`` on ``module_op`` in place.

    Everything that can be known before is checked before anything runs: syntax, names, options, order.
    ``verify_contracts`` asks for every property after every pass. Findings that do not stop the run go to
    ``report``. Raises UsageError for a wrong pipeline, PassFailed with findings where a pass or a contract
    stops it, InternalError where a pass throws. After a failure the module is in an undefined state.
    """
    tree = parse_pipeline(pipeline) if isinstance(pipeline, str) else pipeline
    root = module_op.operation
    register(root.context)
    if tree.anchor not in (root.name, "any"):
        raise UsageError(
            f"the pipeline runs on {tree.anchor}, the input is a {root.name}",
            f"write {root.name}({tree.anchor}(…))",
        )
    # `any` around a pipeline is this op: a pass that runs on another one is refused, as it is where the op is named.
    steps = _plan(replace(tree, anchor=root.name), root.context, one_by_one=verify_contracts)
    if unmet := unmet_requirements(tree, root):
        raise PassFailed(unmet)
    watch = ContractWatch(tree, root) if verify_contracts else None
    for step in steps:
        _run_step(step, root, report, watch, (root.name,))


def _plan(nest: Nest, context: ir.Context, one_by_one: bool) -> tuple[_Step, ...]:
    steps: list[_Step] = []
    native: list[PassCall | Nest] = []

    def hand_over() -> None:
        if native:
            part = Nest(nest.anchor, tuple(native))
            _native_pipeline(str(part), context)  # refused now, not when half the pipeline has run
            steps.append(_NativeStep(str(part), tuple(part.calls())))
            native.clear()

    for element in nest.body:
        calls = list(element.calls()) if isinstance(element, Nest) else [element]
        if not any(is_known(call.name) for call in calls) and not (one_by_one and isinstance(element, Nest)):
            native.append(element)
            if one_by_one:
                hand_over()
            continue
        hand_over()
        if isinstance(element, Nest):
            steps.append(_NestStep(element.anchor, _plan(element, context, one_by_one)))
        else:
            steps.append(_PythonStep(_made(element, nest.anchor, context), element))
    hand_over()
    return tuple(steps)


def _made(call: PassCall, anchor: str, context: ir.Context) -> Pass:
    cls = find_pass(call.name)
    if "any" not in (anchor, cls.anchor) and cls.anchor != anchor:
        raise UsageError(
            f"pass '{call.name}' runs on {cls.anchor}, not on {anchor} (column {call.column})",
            f"move it into {cls.anchor}(…)",
        )
    try:
        load_dialects(context, cls.dialects)
    except ValueError as error:
        raise InternalError(
            f"pass '{call.name}' needs a dialect that IREE does not have: {_one_line(error)}"
        ) from None
    return make_pass(cls, call.options)


def _native_pipeline(text: str, context: ir.Context) -> PassManager:
    wrong: list[str] = []
    try:
        with running(f"the pipeline {text}"), wrong_options(text) as wrong:
            return PassManager.parse(text, context=context)
    except ValueError as error:
        error_text = str(error)
        if unknown := UNKNOWN_PASS.search(error_text):
            hint = closest(unknown.group(1), [*known_passes(), *native_pass_names()])
            if not hint.startswith("did you mean"):
                hint = "`fissile passes` lists fissile's, `iree-opt --help` lists IREE's"
            raise UsageError(f"unknown pass '{unknown.group(1)}'", hint) from None
        if refused := REFUSED_OPTIONS.search(error_text):
            raise UsageError(
                f"pass '{refused.group(1)}' does not take the options '{refused.group(2)}'",
                "; ".join([*wrong, *filter(None, error_text[: refused.start()].splitlines())]),
            ) from None
        raise UsageError(
            "IREE refuses the pipeline: " + " ".join(error_text.split()), f"it was: {text}"
        ) from None


def _run_step(
    step: _Step,
    op: ir.Operation,
    report: Callable[[Finding], None],
    watch: ContractWatch | None,
    path: tuple[str, ...],
) -> None:
    """Runs ``step`` on ``op``; ``path`` are the anchors down to it."""
    if isinstance(step, _NestStep):
        if nowhere := _runs_nowhere(step, op):
            report(nowhere)
        for child in _children(op, step.anchor):
            for inner in step.steps:
                _run_step(inner, child, report, watch, (*path, step.anchor))
        return
    if watch:
        watch.before()
    if isinstance(step, _PythonStep):
        _run_python(step.instance, op, report)
    else:
        _run_native(step, op)
    for call in _calls(step) if watch else ():
        if watch and (broken := watch.after(call, op, path)):
            raise PassFailed(broken)


def _runs_nowhere(step: _NestStep, op: ir.Operation) -> Finding | None:
    """FIS503 where the pipeline, or a pass in `any`, names one kind of functions, and ``op`` has those of another alone."""
    passes = [one.instance for one in step.steps if isinstance(one, _PythonStep)]
    first = next((one for one in passes if is_users(type(one))), None)
    if first is None:
        return None
    wanted = first.anchor if step.anchor == "any" else step.anchor
    there = [kind for kind in FUNCTIONS if _children(op, kind)]
    if wanted not in FUNCTIONS or wanted in there or not there:
        return None
    return Finding(
        "FIS503",
        f"{pass_named(type(first))} ran on nothing: there is no {wanted} in the {op.name}, and there are {there[0]} ops",
        severity=Severity.WARNING,
        subject=wanted,
        notes=(
            f"write {there[0]}({','.join(map(str, passes))}); the pass's anchor is '{there[0]}' or 'any' then",
        ),
    )


def _calls(step: _NativeStep | _PythonStep) -> tuple[PassCall, ...]:
    return (step.call,) if isinstance(step, _PythonStep) else step.calls


def _children(op: ir.Operation, anchor: str) -> list[ir.Operation]:
    return [
        child.operation
        for region in op.regions
        for block in region.blocks
        for child in block.operations
        if anchor in (child.operation.name, "any")
    ]


def _run_python(instance: Pass, op: ir.Operation, report: Callable[[Finding], None]) -> None:
    if instance.anchor not in (op.name, "any"):
        return  # below `any`, a pass takes the ops that it is made for
    unregistered = unregistered_ops(op)
    if not is_users(type(instance)):
        _run_own(instance, op, report)
        _check_left(instance, op, unregistered)
        return
    _run_users(instance, op, report)
    named = pass_named(type(instance))
    try:
        with running(LEFT.format(named), users=True):  # what the pass left may end the process
            _check_left(instance, op, unregistered)
    except RuntimeError as error:  # the op itself was erased
        raise InternalError(f"{named} left IR that cannot be read: {_one_line(error)}") from error


def _check_left(instance: Pass, op: ir.Operation, unregistered: set[str]) -> None:
    """Raises InternalError where ``op`` does not verify after the pass, or has unknown ops that it had not before."""
    if made := unregistered_ops(op) - unregistered:
        raise InternalError(
            f"pass '{instance.name}' made unregistered ops: {', '.join(sorted(made))}",
            "name their dialects in the pass's `dialects`",
        )
    try:
        op.verify()
    except ir.MLIRError as error:
        raise InternalError(
            f"pass '{instance.name}' left IR that does not verify: {_one_line(error)}"
        ) from error


def _run_own(instance: Pass, op: ir.Operation, report: Callable[[Finding], None]) -> None:
    try:
        with op.context, ir.Location.unknown(op.context):
            instance.run(op, report)
    except FissileError:
        raise
    except Exception as error:
        raise InternalError(
            f"pass '{instance.name}' failed: {type(error).__name__}: {_one_line(error)}"
        ) from error


def _run_users(instance: Pass, op: ir.Operation, report: Callable[[Finding], None]) -> None:
    """A user's pass may do anything: `sys.exit` in it ends no compile, and what ends the process is known by its name."""
    named = pass_named(type(instance))

    def checked(finding: Finding | None = None) -> None:
        if not isinstance(finding, Finding):
            raise TypeError(f"report takes a fissile.Finding, not {type(finding).__name__}")
        report(finding)

    try:
        with op.context, ir.Location.unknown(op.context), running(named, users=True):
            instance.run(op, checked)
    except PassFailed as failed:
        raise _stopped(failed, named) from None
    except FissileError:
        raise
    except ir.MLIRError as error:
        raise InternalError(f"{named} failed: {type(error).__name__}: {_one_line(error)}") from error
    except BaseException as error:
        if is_ctrl_c(error):
            raise
        raise InternalError(f"{named} failed: {cause(error, source_of(type(instance)))}") from error


def _stopped(failed: PassFailed, named: str) -> FissileError:
    """What the user's pass ``named`` stopped with: a pass that stops leaves no output, so one of its findings has to be an error."""
    if not failed.findings:
        return InternalError(
            f"{named} failed: it raised PassFailed without a finding",
            "give it what it found: raise PassFailed([finding])",
        )
    if any(finding.severity is Severity.ERROR for finding in failed.findings):
        return failed
    first, *more = failed.findings
    return PassFailed([first.with_(severity=Severity.ERROR), *more])


def unregistered_ops(root: ir.Operation) -> set[str]:
    """Names of ops in ``root`` that the context does not know, other than fissile's."""
    names: set[str] = set()

    def visit(op: ir.Operation) -> ir.WalkResult:
        names.add(op.name)
        return ir.WalkResult.ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    return {
        name
        for name in names
        if not name.startswith("fissile.") and not root.context.is_registered_operation(name)
    }


def _run_native(step: _NativeStep, op: ir.Operation) -> None:
    try:
        with running(f"the pipeline {step.text}"):
            _native_pipeline(step.text, op.context).run(op)
    except ir.MLIRError as error:
        raise PassFailed(_findings(error, step)) from None


def _findings(error: ir.MLIRError, step: _NativeStep) -> list[Finding]:
    while_running = "while running " + step.text
    findings = []
    for diagnostic in error.error_diagnostics:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            place = place_of_location(diagnostic.location)
            findings.append(
                Finding(
                    code="FIS002",
                    message=diagnostic.message.split("\n", 1)[0],
                    places=(place,) if place else (),
                    notes=(while_running,),
                    detail=diagnostic.message,
                )
            )
    return findings or [
        Finding(
            "FIS002", "a pass of IREE failed without a message", notes=(while_running,), detail=str(error)
        )
    ]


def _one_line(error: Exception) -> str:
    if isinstance(error, ir.MLIRError):
        messages = [diagnostic.message for diagnostic in error.error_diagnostics]
        return " ".join((messages[0] if messages else str(error)).split("\n", 1)[0].split())
    return " ".join(str(error).split())
