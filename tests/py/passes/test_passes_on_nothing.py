"""A user's pass in a nest of functions that the module has none of."""

import pytest
from contract_shell import ADD, LLVM_CPU, PASS, holds, shell

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


ON_FUNCTIONS = PASS.replace("    def run", '    anchor: ClassVar[str] = "{anchor}"\n    def run')


def run_in(pipeline, anchor, folder):
    (folder / "in.mlir").write_text(ADD)
    (folder / "mine.py").write_text(ON_FUNCTIONS.format(act="print('it ran')", top="", anchor=anchor))
    return shell(f"fissile-opt in.mlir --load-passes=mine.py --pass-pipeline='{pipeline}'", folder)


def test_any_around_a_pipeline_is_the_module(tmp_path):
    """A pass on functions is refused there, as it is in `builtin.module(mine-p)`."""
    ended = run_in("any(mine-p)", "func.func", tmp_path)
    holds(ended, 2, "runs on func.func, not on builtin.module", "move it into func.func(…)")
    for pipeline, anchor in (("any(any(mine-p))", "func.func"), ("any(mine-p)", "builtin.module")):
        holds(run_in(pipeline, anchor, tmp_path), 0, "it ran")


@pytest.mark.parametrize(("anchor", "runs"), [("util.func", False), ("func.func", True)])
def test_a_pass_on_other_functions_in_any_is_reported(anchor, runs, tmp_path):
    ended = run_in("builtin.module(any(mine-p))", anchor, tmp_path)
    holds(ended, 0)
    assert ("it ran" in ended.stderr) == runs and (
        "ran on nothing: there is no util.func" in ended.stderr
    ) != runs
