"""Remedies declare themselves, and the tables, the docs and the order of trials follow from that."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import pytest

from fissile.cli.commands.explain import find_rule
from fissile.cli.main import main
from fissile.finding import Finding, Help, Severity
from fissile.passes.catalogue import find_pass
from fissile.passes.definition import PassDefinitionError
from fissile.passes.remedies.remedy import Exactness, OpRemedy, Remedy
from fissile.pipelines.repair.edits import CUT, Edit, by_remedy, passes_of
from fissile.pipelines.repair.failures import suggested
from fissile.pipelines.repair.strategies import OWN_REMEDY, STRATEGIES
from fissile.pipelines.report.declared_tables import remedies, strategies_text
from fissile.rules import RETIRED, RULES


def test_every_remedy_cures_failures_that_there_are_and_no_two_stand_in_one_place():
    assert {code for remedy in remedies() for code in remedy.cures} <= set(RULES)
    orders = [remedy.order for remedy in remedies() if issubclass(remedy, OpRemedy)]
    assert len(orders) > 10 and len(set(orders)) == len(orders)


def test_a_remedy_that_leaves_something_undeclared_is_refused():
    with pytest.raises(PassDefinitionError, match="does not declare 'repairs'"):

        @dataclass(frozen=True)
        class Half(Remedy):
            """Half of one."""

            name: ClassVar[str] = "test-half"
            cures: ClassVar[tuple[str, ...]] = ("FIS101",)
            exactness: ClassVar[Exactness] = Exactness.BITS
            does: ClassVar[str] = "nothing"


def test_a_strategy_of_named_failures_uses_remedies_that_cure_them():
    """Each row that offers one remedy on every op names only failures that the remedy declares."""
    seen = 0
    for strategy in STRATEGIES:
        names = [
            cell.cell_contents
            for cell in strategy.offer.__closure__ or ()
            if isinstance(cell.cell_contents, str)
        ]
        for name in names:
            if name.startswith("fissile-") and strategy.codes:
                seen += 1
                assert set(strategy.codes) <= set(find_pass(name).cures), (name, strategy.codes)
    for code, name in OWN_REMEDY.items():
        seen += 1
        assert code in find_pass(name).cures, (name, code)
    assert seen >= 4
    assert {code for strategy in STRATEGIES for code in (*strategy.codes, *strategy.but)} <= set(RULES)


def test_the_table_of_strategies_is_printed_as_it_stands():
    lines = strategies_text().splitlines()
    assert len(lines) == len(STRATEGIES) and 20 <= len(lines) <= 25
    assert all(len(line) <= 140 for line in lines)
    assert re.match(r"1\s+all\s+IREE refuses it", lines[0])


def test_edits_of_one_remedy_are_one_pass_in_the_order_in_which_they_are_applied():
    wanted = (
        Edit("fissile-fold-producers", 4),
        Edit("fissile-read-by-element", 2, "flat=true"),
        Edit("fissile-read-by-element", 1),
        Edit(CUT, 7),
        Edit(CUT, 3),
    )
    assert passes_of(wanted) == (
        "fissile-place-boundaries{ops=3,7}",
        "fissile-read-by-element{ops=1}",
        "fissile-read-by-element{ops=2 flat=true}",
        "fissile-fold-producers{ops=4}",
    )
    assert [applied.order for applied, _edits in by_remedy(wanted)] == [10, 130, 130, 140]


def test_what_was_done_reads_as_advice_where_nothing_was_applied():
    for remedy in remedies():
        done = remedy().help(("pass", remedy.name))
        finding = Finding("FIS101", "too large", Severity.REPAIRED, helps=(done,))
        (help_,) = suggested(finding).helps
        assert help_ == Help(remedy.advice, remedy.name, False, (("pass", remedy.name),))
        assert {"{ops}", "{them}"} & set(re.findall(r"\{\w+\}", done.title)) == {"{ops}", "{them}"} & set(
            re.findall(r"\{\w+\}", help_.title)
        )


@pytest.mark.parametrize("code", sorted(RETIRED))
def test_a_code_of_an_earlier_version_is_still_explained(code, capsys):
    assert code not in RULES
    assert find_rule(code).code == RETIRED[code]
    assert main(["explain", code.lower()]) == 0
    assert capsys.readouterr().out.startswith(f"{code} is now part of {RETIRED[code]}.\n\n{RETIRED[code]} ")
