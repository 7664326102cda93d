"""A property of a user's that throws, returns something else or does not end is named, with the pass that needs it."""

import pytest
from contract_shell import ADD, LLVM_CPU, holds, shell

FILE = '''from dataclasses import dataclass
from typing import ClassVar

from fissile.passes.definition import Contract, Offence, Pass, define_property, register_pass


@define_property("mine-tidy", "everything is tidy")
def TIDY(op):
    {act}


@register_pass
@dataclass(frozen=True)
class Mine(Pass):
    """Does nothing."""

    name: ClassVar[str] = "mine-p"
    contract: ClassVar[Contract] = Contract({part}=(TIDY,))

    def run(self, op, report):
        pass
'''
NAMED = "property 'mine-tidy' (mine.py:7), which pass 'mine-p' (mine.py:20) "
WRONG = {
    "raise ValueError('boom')": "failed: ValueError: boom (mine.py:9)",
    "raise SystemExit(0)": "failed: SystemExit: 0 (mine.py:9)",
    "return 42": "returned int, not a list of Offence",
    "return None": "returned NoneType, not a list of Offence",
    "return ['untidy']": "returned a list of str, not a list of Offence",
}
COMPILE = f"fissile compile {' '.join(LLVM_CPU)} in.mlir -o out --load-passes=mine.py '--pipeline-after=input:builtin.module(mine-p)'"
OPT = "fissile-opt in.mlir -o out --load-passes=mine.py --mine-p"


def in_folder(folder, act, part="requires"):
    (folder / "in.mlir").write_text(ADD)
    (folder / "mine.py").write_text(FILE.format(act=act, part=part))
    return folder


@pytest.mark.parametrize("command", [COMPILE, OPT], ids=["compile", "opt"])
@pytest.mark.parametrize("act", WRONG)
def test_a_property_that_fails_is_named_with_its_pass(act, command, tmp_path):
    ended = shell(command, in_folder(tmp_path, act))
    holds(ended, 3, f"{NAMED}requires, {WRONG[act]}" if "failed" in WRONG[act] else WRONG[act], NAMED)
    assert not (tmp_path / "out").exists()


def test_what_a_pass_establishes_is_evaluated_with_verify_contracts(tmp_path):
    ended = shell(f"{OPT} --verify-contracts", in_folder(tmp_path, "return 42", "establishes"))
    holds(ended, 3, f"{NAMED}establishes, returned int")


@pytest.mark.parametrize("command", [COMPILE, OPT], ids=["compile", "opt"])
def test_a_property_that_does_not_end_is_named(command, tmp_path):
    folder = in_folder(tmp_path, "while True: pass")
    ended = shell(f"{command} --phase-timeout=2", folder)
    holds(ended, 3, f"{NAMED}requires, did not end within 2 s (--phase-timeout)")
    assert not (folder / "out").exists()


@pytest.mark.parametrize(("act", "status"), [("return []", 0), ("return [Offence('untidy')]", 1)])
def test_a_property_that_answers_is_a_contract(act, status, tmp_path):
    """The twin."""
    ended = shell(COMPILE, in_folder(tmp_path, act))
    printed = ended.stdout + ended.stderr
    assert ended.returncode == status and ("FIS501" in printed) == bool(status), printed
    assert "property 'mine-tidy'" not in printed


def test_the_help_of_opt_lists_the_limits_of_every_command(tmp_path):
    ended = shell("fissile-opt --help", tmp_path)
    assert "--phase-timeout SECONDS" in ended.stdout and "--memory-limit SIZE" in ended.stdout


@pytest.mark.parametrize("command", [COMPILE, OPT], ids=["compile", "opt"])
def test_a_property_that_no_pass_of_the_pipeline_names_is_not_evaluated(command, tmp_path):
    folder = in_folder(tmp_path, "return []")
    other = "\n\n@define_property('mine-other', 'of a pass that does not run')\ndef OTHER(op):\n    raise ValueError('boom')\n"
    (folder / "mine.py").write_text((folder / "mine.py").read_text() + other)
    holds(shell(f"{command} --verify-contracts", folder), 0)


def test_the_phases_are_watched_for_what_a_pass_of_the_command_line_names(tmp_path):
    act = "return [] if ops_of(op, 'arith.addf') else [Offence('no sum')]"
    folder = in_folder(tmp_path, f"from fissile.dialect import ops_of; {act}")
    ended = shell(f"{COMPILE} --verify-contracts", folder)
    holds(ended, 1, "FIS502", "phase 'executable-targets' broke mine-tidy: everything is tidy")


def test_a_property_that_is_named_on_the_command_line_is_checked(tmp_path):
    folder = in_folder(tmp_path, "raise ValueError('boom')", "establishes")
    command = OPT.replace("--mine-p", "--pass-pipeline='builtin.module(cse)' --verify-contracts")
    holds(shell(command, folder), 0)
    holds(
        shell(f"{command} --verify-property=mine-tidy", folder), 3, "property 'mine-tidy' (mine.py:7) failed"
    )
    ended = shell(f"{command} --verify-property=mine-tydi", folder)
    holds(ended, 2, "unknown property 'mine-tydi'", "did you mean 'mine-tidy'?")
