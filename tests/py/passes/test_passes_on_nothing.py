"""A user's pass in a nest of functions that the module has none of."""

import pytest
from contract_shell import ADD, LLVM_CPU, PASS, shell

COMPILE = (
    f"fissile compile {' '.join(LLVM_CPU)} in.mlir -o out --load-passes=mine.py '--pipeline-after={{}}:{{}}'"
)
ANY = PASS.replace("    def run", '    anchor: ClassVar[str] = "any"\n    def run')


def in_folder(folder):
    (folder / "in.mlir").write_text(ADD)
    (folder / "mine.py").write_text(ANY.format(act="print('it ran')", top=""))
    return folder


@pytest.mark.parametrize(
    ("phase", "kind", "runs"),
    [
        ("global-optimization", "func.func", False),
        ("global-optimization", "util.func", True),
        ("input", "func.func", False),
        ("input", "util.func", True),
    ],
)
def test_a_pass_that_ran_on_no_function_is_reported(phase, kind, runs, tmp_path):
    ended = shell(COMPILE.format(phase, f"builtin.module({kind}(mine-p))"), in_folder(tmp_path))
    printed = ended.stdout + ended.stderr
    assert ended.returncode == 0 and ("it ran" in printed) == runs, printed
    assert ("warning[FIS503] pass 'mine-p' (mine.py:12) ran on nothing" in printed) != runs, printed


@pytest.mark.parametrize(("kind", "runs"), [("func.func", True), ("util.func", False)])
def test_so_is_one_of_a_source_file(kind, runs, tmp_path):
    command = f"fissile-opt in.mlir --load-passes=mine.py --pass-pipeline='builtin.module({kind}(mine-p))'"
    ended = shell(command, in_folder(tmp_path))
    assert ended.returncode == 0 and ("FIS503" in ended.stderr) != runs, ended.stderr


@pytest.mark.parametrize("pipeline", ["builtin.module(scf.for(mine-p))", "builtin.module(util.func(cse))"])
def test_other_nests_may_be_empty(pipeline, tmp_path):
    """The twin: a module need not have loops, and IREE's own passes are run as by IREE."""
    ended = shell(
        f"fissile-opt in.mlir --load-passes=mine.py --pass-pipeline='{pipeline}'", in_folder(tmp_path)
    )
    assert ended.returncode == 0 and "FIS503" not in ended.stdout + ended.stderr
