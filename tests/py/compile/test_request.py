"""iree-compile's command line, parsed. Pure."""

from __future__ import annotations

import pytest

from fissile import wire
from fissile.errors import UsageError
from fissile.pipelines.compile.request import CompileRequest, parse_command_line


def test_flags_of_iree_pass_through_in_order():
    request = parse_command_line(
        ["--iree-hal-target-device=vulkan", "a.mlir", "--iree-opt-level=O2", "-o", "b.vmfb"]
    )
    assert (request.input, request.output) == ("a.mlir", "b.vmfb")
    assert request.flags == ("--iree-hal-target-device=vulkan", "--iree-opt-level=O2")


@pytest.mark.parametrize("spelled", [["-o", "x"], ["-o=x"], ["--o=x"], ["--o", "x"]])
def test_output_in_every_spelling_of_llvm(spelled):
    assert parse_command_line(["a.mlir", *spelled]).output == "x"


def test_a_value_behind_a_blank_belongs_to_its_flag():
    request = parse_command_line(["--iree-hal-target-device", "vulkan", "a.mlir"])
    assert request.input == "a.mlir"
    assert request.flags == ("--iree-hal-target-device=vulkan",)


def test_standard_output_and_input_are_the_dash():
    request = parse_command_line(["-"])
    assert (request.input, request.output) == ("-", "-")


def test_verify_has_both_meanings():
    assert parse_command_line(["a.mlir", "--verify"]).verify
    request = parse_command_line(["a.mlir", "--verify=false"])
    assert not request.verify and not request.verify_ir


def test_pipelines_after_a_phase_keep_their_order():
    request = parse_command_line(
        [
            "a.mlir",
            "--fissile-pipeline-after=global-optimization:builtin.module(cse)",
            "--fissile-pipeline-after=flow:builtin.module(canonicalize)",
        ]
    )
    assert request.pipelines_after == (
        ("global-optimization", "builtin.module(cse)"),
        ("flow", "builtin.module(canonicalize)"),
    )


def test_response_files_are_read(tmp_path):
    (tmp_path / "flags").write_text("--iree-opt-level=O3 -o out.vmfb")
    request = parse_command_line([f"@{tmp_path}/flags", "a.mlir"])
    assert request.flags == ("--iree-opt-level=O3",) and request.output == "out.vmfb"


@pytest.mark.parametrize(
    "argv",
    [
        ["--help-list"],
        ["--iree-hal-list-target-backends"],
        ["--split-input-file", "a.mlir"],
        ["--compile-mode=hal-executable", "a.mlir"],
    ],
)
def test_other_modes_go_to_iree_compile_unchanged(argv):
    request = parse_command_line(argv)
    assert request.stock and request.argv == tuple(argv)


@pytest.mark.parametrize(
    "argv, printed, hint",
    [
        ([], "no input file", "usage"),
        (["a.mlir", "b.mlir"], "more than one input file", "one file"),
        (["a.mlir", "--compile-to=flwo"], "unknown value 'flwo'", "flow"),
        (["a.mlir", "--repair=maybe"], "unknown value 'maybe'", "auto"),
        (["a.mlir", "--fissile-match-devic=vulkan"], "unknown option", "match-device"),
        (["a.mlir", "--fissile-pipeline-after=cse"], "takes PHASE:PIPELINE", "for example"),
        (["a.mlir", "--fissile-pipeline-after=flo:cse"], "unknown phase 'flo'", "flow"),
        (["a.mlir", "--fissile-time-limit=soon"], "takes a number", ""),
        (["a.mlir", "--verify=maybe"], "true or false", "compares numbers"),
        (["a.mlir", "-o"], "needs a value", ""),
        (["a.mlir", "--compile-from=flow", "--compile-to=abi"], "does not precede", ""),
        (
            ["a.mlir", "--compile-to=flow", "--fissile-pipeline-after=hal:builtin.module(cse)"],
            "outside",
            "up to flow",
        ),
    ],
)
def test_a_wrong_command_line_is_told_with_a_way_out(argv, printed, hint):
    with pytest.raises(UsageError) as error:
        parse_command_line(argv)
    assert printed in error.value.message
    assert hint in error.value.hint


def test_a_request_survives_the_way_to_the_worker():

    request = parse_command_line(
        ["a.mlir", "--fissile-pipeline-after=flow:builtin.module(cse)", "--iree-opt-level=O1"]
    )
    assert wire.decode(CompileRequest, wire.encode(request)) == request
