"""A registered pass that cannot be sent to the compiling process takes nothing from compiles that do not name it."""

import threading
from dataclasses import dataclass
from typing import ClassVar

import pytest

import fissile
from fissile.errors import UsageError
from fissile.passes import definition
from fissile.passes.definition import Pass

ADD = """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
LOCK = threading.Lock()


@pytest.fixture(autouse=True)
def two_passes(tmp_path, monkeypatch):
    """One that can be sent and one that cannot, for this test alone."""
    monkeypatch.setattr(definition, "_PASSES", dict(definition._PASSES))
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    @fissile.register_pass
    @dataclass(frozen=True)
    class Locks(Pass):
        """Refers to a lock."""

        name: ClassVar[str] = "sent-never"

        def run(self, op, report):
            print(LOCK)

    @fissile.register_pass
    @dataclass(frozen=True)
    class Sent(Pass):
        """Reports that it ran."""

        name: ClassVar[str] = "sent-always"

        def run(self, op, report):
            report(fissile.Finding("FIS402", "it ran", fissile.finding.Severity.NOTE))


def pipeline(name):
    return [f"--iree-preprocessing-pass-pipeline=builtin.module({name})"]


@pytest.mark.parametrize(("flags", "found"), [([], []), (pipeline("sent-always"), ["it ran"])])
def test_a_pass_that_cannot_be_sent_stays_behind(flags, found):
    built = fissile.compile(ADD, target="llvm-cpu", flags=flags)
    assert [one.message for one in built.findings] == found and built.vmfb


@pytest.mark.parametrize("passes", ["sent-never", "sent-always,sent-never"])
def test_a_compile_that_names_it_is_refused_with_its_name_alone(passes):
    with pytest.raises(UsageError, match=r"cannot pickle .*lock.* \(sent-never\)$") as raised:
        fissile.compile(ADD, target="llvm-cpu", flags=pipeline(passes))
    assert "no open file, lock or module" in raised.value.hint
