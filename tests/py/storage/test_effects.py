"""Exit 0 means that the numbers are right as far as fissile knows: what each rule says of stock IREE, and what is withheld."""

from pathlib import Path

import pytest

from fissile import wire
from fissile.effect import Effect
from fissile.finding import Finding, Severity
from fissile.pipelines.compile.wrong_numbers import OPTION, settled
from fissile.report import Report
from fissile.rules import RULES

WRONG = Finding("FIS110", "i8 in 1 dispatch")
RACE = Finding("FIS111", "threads read %x")
SLOW = Finding("FIS109", "unrolled")
REFUSED = Finding("FIS101", "dispatch needs more")


@pytest.mark.parametrize("code", RULES)
def test_a_rule_that_speaks_of_wrong_numbers_withholds_the_output(code):
    """The title of a rule and its effect say the same: no rule calls numbers wrong and lets them pass with a warning."""
    says_wrong = "numbers will be wrong" in RULES[code].title
    assert not says_wrong or RULES[code].effect is Effect.WRONG


def test_severity_follows_from_the_effect():
    assert [f.severity for f in (WRONG, RACE, SLOW, REFUSED)] == [
        Severity.ERROR,
        Severity.ERROR,
        Severity.WARNING,
        Severity.ERROR,
    ]
    assert [f.withholds for f in (WRONG, RACE, SLOW, REFUSED)] == [True, True, False, False]
    assert [f.stops for f in (WRONG, RACE, SLOW, REFUSED)] == [False, False, False, True]


@pytest.mark.parametrize("finding", (WRONG, RACE))
def test_what_is_wrong_is_written_only_where_the_user_insists(finding):
    [kept] = settled([finding], allowed=False)
    assert (
        kept.severity is Severity.ERROR
        and OPTION in str(kept.notes)
        and Report("compile", (kept,)).exit_code == 1
    )
    [passed] = settled([finding], allowed=True)
    assert (
        passed.severity is Severity.WARNING
        and OPTION in str(passed.notes)
        and Report("compile", (passed,)).exit_code == 0
    )


def test_the_option_is_not_offered_where_iree_refuses_the_program():
    assert OPTION not in str([f.notes for f in settled([WRONG, REFUSED], allowed=False)])
    assert [f.severity for f in settled([WRONG, REFUSED], allowed=True)] == [Severity.WARNING, Severity.ERROR]
    assert settled([SLOW], allowed=True) == settled([SLOW], allowed=False) == [SLOW]
    repaired = WRONG.with_(severity=Severity.REPAIRED)
    assert settled([repaired], allowed=False) == [repaired]


def test_json_carries_effect_and_stock():
    reported = WRONG.with_(effect=Effect.MAY_BE_WRONG, stock="refuses it: …")
    assert (
        wire.plain(reported)["effect"] == "may be wrong"
        and wire.decode(Finding, wire.encode(reported)) == reported
    )
    assert wire.build(Finding, wire.plain(reported)).stock == "refuses it: …"


def test_no_check_sets_a_severity_that_its_effect_has_already():
    """`severity=` in a check is for a note; errors and warnings follow from the effect."""
    checks = Path(__file__).parents[3] / "passes" / "checks"
    for file in checks.rglob("*.py"):
        if file.name in (
            "storage_fit.py",
            "limit_agreement.py",
            "workgroup_prediction.py",
            "audit_legality.py",
        ):
            continue  # they depend on what is asserted or on --strict, or compare two sources
        assert "Severity.ERROR" not in file.read_text() and "Severity.WARNING" not in file.read_text(), (
            file.name
        )
