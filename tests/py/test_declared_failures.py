"""Failures declare themselves: the programs of their pages have them and not, and catalogue, probe and wire follow from the files."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

import fissile
from bench.programs.text.spelling import spelled
from fissile import wire
from fissile.effect import Effect
from fissile.finding import Finding, Severity
from fissile.passes.failures.failure import Failure, FailureDefinitionError, failure, failures
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.pass_runner import run_pipeline
from fissile.pipelines.probe.dispatch_check import DispatchChecker
from fissile.pipelines.probe.generated_finding import is_left
from fissile.pipelines.probe.one_dispatch import probe
from fissile.pipelines.probe.probe_pool import ProbePool
from fissile.pipelines.repair.packing import NARROW, find_narrow
from fissile.pipelines.session import Session
from fissile.rules import RULES
from fissile.target import find_target

DEADLINE = 300.0
"""Seconds of a processor for the code of one dispatch, which takes less than one."""


def found(text: str, target: str, repaired_by: str = "", to_the_end: bool = False) -> Finding | None:
    """What IREE refuses or builds wrong of the program ``text``, if anything; after the pass ``repaired_by``, where one is given."""
    session = Session(flags_for(find_target(target)))
    module = session.run(session.parse_text(text, "in.mlir"), "global-optimization")
    passes = ",".join(filter(None, (repaired_by, "fissile-lower-boundaries")))
    run_pipeline(f"builtin.module({passes})", module.op, report=print)
    configured = session.run(module, "executable-configurations")
    if narrow := find_narrow(configured, probe).found:
        return narrow[0]
    with ProbePool(
        flags_for(find_target(target)), DEADLINE, watch=lambda *_: None, translate=to_the_end
    ) as pool:
        checked = DispatchChecker(pool, tune=True).check(configured, ())
    return next((one.finding for one in checked if one.finding), None)


def ended(folder, text: str, target: str) -> Finding | None:
    """The finding of `fissile compile`, unrepaired and in a process of its own: for a program that takes the compiler along."""
    (folder / "in.mlir").write_text(text)
    flags = [*flags_for(find_target(target)), "--dispatch-timeout=4"]
    report = fissile.compile(folder / "in.mlir", folder / "out.vmfb", flags, repair="off", check=False)
    return next(iter(report.findings), None)


@pytest.mark.parametrize("one", failures(), ids=lambda one: one.code)
def test_the_program_of_a_page_has_its_failure_and_the_repaired_one_has_none(tmp_path, one):
    fails = spelled(one.fails)
    finding = ended(tmp_path, fails, one.target) if one.ending else found(fails, one.target)
    assert finding is not None and finding.code == one.code
    assert found(fails, one.target, one.repaired_by, to_the_end=bool(one.ending)) is None


def test_more_workgroups_than_the_target_allows_are_reported_and_left():
    """The limit is inclusive, and that of the target: RDNA3 allows more. No device was seen to compute wrong numbers."""
    page = RULES["FIS144"].example
    too_many = found(page, "vulkan:valhall4")
    assert too_many.severity is Severity.WARNING and "1048576 workgroups" in too_many.message
    assert found(page, "vulkan:rdna3") is None
    assert found(page.replace("67108864", str(65535 * 256)), "vulkan") is None
    assert found(page.replace("67108864", str(65536 * 256)), "vulkan").code == "FIS144"


def test_every_failure_has_its_rule_and_an_order_of_its_own():
    assert len(failures()) >= 6 and len({one.order for one in failures()}) == len(failures())
    assert all(RULES[one.code].title == one.title for one in failures())
    assert {one.code for one in failures() if one.packed} <= set(NARROW)


def test_the_catalogue_of_rules_needs_no_compiler():
    """`fissile explain` lists the failures, and the process that reads reports knows their codes."""
    requested = "from fissile.rules import RULES; import sys; print(len(RULES), 'FIS143' in RULES, 'iree.compiler' in sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", requested], capture_output=True, text=True, check=True
    ).stdout.split()
    assert int(printed[0]) == len(RULES) and printed[1:] == ["True", "False"]


def test_a_failure_that_leaves_something_undeclared_is_refused():
    with pytest.raises(FailureDefinitionError, match="does not declare 'code'"):
        failure(type("Nameless", (Failure,), {}))
    whole = dict.fromkeys(
        ("name", "title", "what", "why", "remedy", "fails", "target", "repaired_by"), "x"
    ) | {
        "code": "FIS299",
        "effect": Effect.WRONG,
        "order": 1,
    }
    with pytest.raises(FailureDefinitionError, match="does not define concerns"):
        failure(type("Mute", (Failure,), whole))
    with pytest.raises(FailureDefinitionError, match="does not declare 'repaired_by'"):
        failure(type("Unrepaired", (Failure,), whole | {"repaired_by": ""}))
    assert "FIS299" not in RULES


@pytest.mark.parametrize(
    ("arch", "effect", "how", "left"),
    [
        ("llvmpipe", Effect.SLOW, {}, False),
        ("vp_android_baseline_2022", Effect.SLOW, {}, True),
        ("vp_android_baseline_2022", Effect.SLOW, {"changed": True}, False),
        ("vp_android_baseline_2022", Effect.SLOW, {"tune": True}, False),
        ("vp_android_baseline_2022", Effect.MAY_BE_WRONG, {}, False),
        ("ampere", Effect.SLOW, {}, True),
        ("ampere", Effect.SLOW, {"changed": True}, True),
        ("ampere", Effect.STALLS, {}, False),
        ("ampere", Effect.SLOW, {"tune": True}, False),
        ("ampere", Effect.MAY_BE_WRONG, {}, False),
        ("ampere", Effect.UNPROVED, {}, False),
        ("ampere", Effect.WRONG, {}, False),
    ],
)
def test_what_is_only_slow_is_left_on_a_device_that_was_not_measured(arch, effect, how, left):
    dispatch = SimpleNamespace(target=SimpleNamespace(arch=arch))
    assert is_left(Finding("FIS127", "x", effect=effect), dispatch, **{"tune": False, **how}) is left


def test_plain_values_come_back_by_their_types():
    from fissile.passes.analysis.kernel.narrow.narrow_access import NarrowAccess, Numbers

    access = NarrowAccess(Numbers.WRONG, "why")
    assert wire.decode(NarrowAccess, wire.encode(access)) == access
    assert wire.build(NarrowAccess | None, None) is None
