"""Programs and files that once ended a command without an answer, ran something or forged a line, each with the test that shows it."""

import ast
from pathlib import Path

import pytest
from contract_shell import ADD, LLVM_CPU, holds, shell

from bench.faults.commands import CONV

TESTS = Path(__file__).parents[1]
GFX942 = "--iree-hal-target-device=hip --iree-rocm-target=gfx942"
CPU = " ".join(LLVM_CPU)
CHECK = "fissile check in.mlir --target gfx942 --probe=never"


def located(spelled: str) -> str:
    """CONV, which does not fit gfx942, whose ops say that they are from ``spelled``."""
    at = f' loc("{spelled}":1:1)\n'
    text = CONV.replace("  } -> tensor<1x64x18x18xf32>\n", f"  }} -> tensor<1x64x18x18xf32>{at}")
    return text.replace("-> tensor<1x64x16x16xf32>\n  return", f"-> tensor<1x64x16x16xf32>{at}  return")


RUNS_A_COMMAND = """util.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> attributes {preprocessing_pipeline = #util.preprocessing_pipeline<"builtin.module(hal.executable(iree-hal-preprocess-executables-with-tool{command=\\22sh -c id>RAN;cat\\22}))">} {
  builtin.module {
    hal.executable public @ex {
      hal.executable.variant public @v target(<"llvm-cpu", "embedded-elf-x86_64">) {
        hal.executable.export public @d ordinal(0) layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>)
        builtin.module { func.func @d() { return } }
      }
    }
  }
  %0 = arith.addf %a, %a : tensor<4xf32>
  util.return %0 : tensor<4xf32>
}
"""
CALLS_ITSELF = """func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
NOT_TEXT = ADD.encode().replace(b"@main", b'@"ma\xffin"')
HUGE = CONV.replace("64x18x18x", "64x9223372036854775807x18x")
NESTED = "func.func @main(%c: i1) {\n" + "scf.if %c {\n" * 1200 + "}\n" * 1200 + "return }\n"

HERE = {
    "badutf8_loc.mlir": (CHECK, located(r"\FF\FEx"), 1, r"--> \xff\xfex:1:1"),
    "uniloc.mlir": (CHECK, located('größe\\22é'), 1, '--> größe"é:1:1'),
    "loc_newline_forged_finding.mlir": (CHECK, located(r"x\0Aerror[FIS999] forged"), 1, r"--> x\nerror[FIS999] forged:1:1"),
    "loc_ansi_escape.mlir": (CHECK, located(r"\1B[31mx"), 1, r"--> \x1b[31mx:1:1"),
    "nonutf8_symbol.mlir": (CHECK, NOT_TEXT, 0, "1 of 1 dispatch fit"),
    "nonutf8_symbol.mlir, compiled": (f"fissile compile {GFX942} --strict in.mlir -o out", NOT_TEXT, 0, ""),
    "verify_nonutf8.mlir": ("fissile verify in.mlir --on local-task", CONV.encode().replace(b'"parallel"', b'"parall\xfcl"', 1), 2, "quotes bytes that are no text"),
    "huge_dim.mlir": (CHECK, HUGE, 1, "error[FIS"),
    "selfrec.mlir": (f"fissile compile {CPU} in.mlir -o out", CALLS_ITSELF, 1, "FIS145"),
    "sec_exec_preprocessing_pipeline.mlir": (f"fissile compile {CPU} in.mlir -o out", RUNS_A_COMMAND, 1, "FIS005"),
    "nested regions": ("fissile audit in.mlir --target llvm-cpu", NESTED, 0, "IREE compiles the program"),
    "tiny.mlir": (CHECK, ADD, 0, "1 of 1 dispatch fit"),
}  # fmt: skip
USERS, UNTRUSTED, CONTRACT = "passes/test_users_passes_that_fail.py", "compile/test_untrusted_input.py", "compile/test_exit_contract.py"  # fmt: skip
ELSEWHERE = {
    "baseline_ansi.json": (CONTRACT, "test_a_baseline_of_another_model_is_named_in_plain_text"),
    "baseline_functions_int.json": (CONTRACT, "test_a_baseline_that_is_none"),
    "loc_devzero_oom.mlir": (UNTRUSTED, "test_a_location_that_names_a_device_or_a_pipe_is_not_opened"),
    "loc_fifo_hang.mlir": (UNTRUSTED, "test_a_compile_opens_no_file_that_a_location_names"),
    "loc_reads_file.mlir": (UNTRUSTED, "test_lines_are_quoted_from_the_input_alone"),
    "p_abort.py": (USERS, "test_a_users_pass_that_ends_the_compile_is_named"),
    "p_osexit99.py": (USERS, "test_a_users_pass_that_ends_the_compile_is_named"),
    "p_hang.py": (USERS, "test_a_users_pass_that_does_not_end_is_named"),
    "p_slow.py": ("passes/test_what_users_code_leaves.py", "test_a_process_that_left_its_group_ends_with_a_command_that_ends_well"),
    "p_sysexit.py": (USERS, "test_a_users_pass_that_throws_is_named_with_its_line"),
    "p_throw_base.py": (USERS, "test_a_users_pass_that_throws_is_named_with_its_line"),
    "top_osexit.py": (USERS, "test_a_users_file_that_ends_while_it_is_imported"),
    "top_sysexit3.py": (USERS, "test_a_users_file_that_ends_while_it_is_imported"),
    "random.py": (UNTRUSTED, "test_no_module_of_the_working_directory_is_imported"),
    "sec_write_preprocessing_pipeline.mlir": (UNTRUSTED, "test_a_pipeline_in_the_input_is_refused_and_not_run"),
}  # fmt: skip


@pytest.mark.parametrize("name", HERE)
def test_a_hostile_program_is_answered(name, tmp_path):
    command, program, status, printed = HERE[name]
    (tmp_path / "in.mlir").write_bytes(program if isinstance(program, bytes) else program.encode())
    ended = shell(command, tmp_path)
    holds(ended, status)
    text = ended.stdout + ended.stderr
    assert printed in text and "FIS90" not in text and "\x1b" not in text and "\nerror[FIS999]" not in text, (
        text
    )
    assert not (tmp_path / "RAN").exists()


@pytest.mark.parametrize("name", ELSEWHERE)
def test_the_test_of_each_other_file_is_there(name):
    file, test = ELSEWHERE[name]
    defined = [
        node.name for node in ast.parse((TESTS / file).read_text()).body if isinstance(node, ast.FunctionDef)
    ]
    assert test in defined
