"""Random inputs that a program's own checks refuse, and inputs that NumPy cannot evaluate: what they say of the other ones."""

import numpy as np
import pytest

from fissile.cli.main import main
from fissile.finding import Severity
from fissile.pipelines.numerics.cases.refusals import other_seeds, refusal
from fissile.pipelines.numerics.cases.witnessed import Witness
from fissile.pipelines.numerics.reference import suspects
from fissile.pipelines.numerics.verify import Options, verify
from fissile.pipelines.numerics.witness.evaluation import Evaluation

# Three times a number in 8 bits is a size: seed 2 gives 44, and seeds 0 and 1 more than there is.
NARROW_SIZE = """
func.func @f(%x: tensor<100xf32>, %k: i32) -> tensor<?xf32> {
  %c3 = arith.constant 3 : i8
  %b = arith.trunci %k : i32 to i8
  %m = arith.muli %b, %c3 : i8
  %i = arith.index_cast %m : i8 to index
  %s = tensor.extract_slice %x[0] [%i] [1] : tensor<100xf32> to tensor<?xf32>
  %r = arith.addf %s, %s : tensor<?xf32>
  return %r : tensor<?xf32>
}
"""
# No number that is drawn for %k is between 5000 and 5100.
NEVER_DRAWN = """
func.func @f(%x: tensor<100xf32>, %k: i32) -> tensor<?xf32> {
  %c = arith.constant 5000 : i32
  %m = arith.subi %k, %c : i32
  %i = arith.index_cast %m : i32 to index
  %s = tensor.extract_slice %x[0] [%i] [1] : tensor<100xf32> to tensor<?xf32>
  %r = arith.addf %s, %s : tensor<?xf32>
  return %r : tensor<?xf32>
}
"""
ASSERTS = """
func.func @f(%x: tensor<4xf32>, %k: i32) -> tensor<4xf32> {
  %c = arith.constant 5000 : i32
  %ok = arith.cmpi eq, %k, %c : i32
  cf.assert %ok, "k must be 5000"
  %r = arith.addf %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
"""


def written(tmp_path, text):
    (tmp_path / "f.mlir").write_text(text)
    return tmp_path / "f.mlir"


def test_one_case_without_a_witness_leaves_the_others_theirs(tmp_path):
    source = written(tmp_path, NARROW_SIZE)
    x = np.ones(100, np.float32)
    fits, too_many = [x, np.array(100, np.int32)], [x, np.array(-1024 + 60, np.int32)]
    witness = Witness(source, "f", [too_many, fits], 60.0)
    assert "beyond the end" in witness.of(too_many)
    evaluation = witness.of(fits)
    assert isinstance(evaluation, Evaluation) and evaluation.wide[0].shape == (44,)
    later = [x, np.array(3, np.int32)]  # a case that comes later is evaluated alone
    assert isinstance(witness.of(later), Evaluation) and witness.of(later).wide[0].shape == (9,)


def test_inputs_that_a_guard_refuses_are_drawn_again(tmp_path):
    certificate = verify(written(tmp_path, NARROW_SIZE), options=Options(on=("local-task",), seeds=(0, 1, 2)))
    assert certificate.agrees and not certificate.findings, certificate.findings
    assert [check.seed for check in certificate.checks][2] == 2
    assert [check.seed in (0, 1) for check in certificate.checks] == [False] * 3
    assert len(certificate.skipped) == 2 and "seed 0, whose inputs a check refuses" in certificate.skipped[0]


def test_a_compile_is_not_stopped_by_inputs_that_its_guard_refuses(tmp_path, capfd):
    source = written(tmp_path, NARROW_SIZE)
    argv = ["compile", str(source), "--target=llvm-cpu", "-o", str(tmp_path / "f.vmfb"), "--verify"]
    assert main([*argv, "--verify-seeds=3"]) == 0
    assert "FIS13" not in capfd.readouterr().out and (tmp_path / "f.vmfb").is_file()


def test_where_every_input_is_refused_the_module_is_written_with_a_warning(tmp_path, capfd):
    source = written(tmp_path, NEVER_DRAWN)
    argv = ["compile", str(source), "--target=llvm-cpu", "-o", str(tmp_path / "f.vmfb"), "--verify"]
    assert main(argv) == 0
    printed = capfd.readouterr()
    assert "warning[FIS131]" in printed.out + printed.err and (tmp_path / "f.vmfb").is_file()


def test_a_verification_that_compares_nothing_is_not_clean(tmp_path, capfd):
    source = written(tmp_path, ASSERTS)
    assert main(["verify", str(source), "--on=local-task"]) == 1
    printed = capfd.readouterr().out
    assert "error[FIS131]" in printed and "nothing was compared: the program refuses every input" in printed
    assert main(["verify", str(source), "--on=local-task", "--range=1=5000:5000"]) == 0


def test_a_check_of_the_program_against_a_reference_that_answers_is_a_finding(tmp_path):
    """The twin: the program's own check is no excuse where the reference has numbers."""
    options = Options(on=("local-task",), ranges={1: (4, 4)})
    certificate = verify(written(tmp_path, ASSERTS), reference=lambda x, _k: x + x, options=options)
    (finding,) = certificate.findings
    assert finding.code == "FIS131" and finding.severity is Severity.ERROR
    assert not certificate.agrees and not certificate.checks[0].refused
    assert refusal(finding, finding) is finding and refusal(finding, [np.zeros(1)]) is None


def test_a_bounded_number_of_other_seeds_is_tried():
    seeds = list(other_seeds(2))
    assert len(seeds) == len(set(seeds)) == 16 and 2 not in seeds


@pytest.mark.parametrize(
    ("text", "words"),
    [(NARROW_SIZE, ["integers below 32 bits that the host computes with"]), (NEVER_DRAWN, [])],
)
def test_the_reference_is_repaired_where_the_host_computes_with_narrow_integers(tmp_path, text, words):
    assert [known.what for known in suspects(written(tmp_path, text))] == words
