"""A program in memory or from standard input keeps the names of its values: findings are those of the same file."""

import io

import pytest
from contract_shell import shell

import fissile
from fissile.finding import Place
from fissile.passes.analysis.program.source_lines import line_at, may_be_quoted, text_may_be_quoted

SLICED = """\
func.func @f(%x: tensor<10xf32>, %count: index) -> tensor<?xf32> {
  %r = tensor.extract_slice %x[0] [%count] [1] : tensor<10xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}
"""


@pytest.mark.parametrize("form", [str, str.encode, lambda text: bytearray(text, "utf-8")])
def test_a_program_in_memory_has_the_findings_of_its_file(form, tmp_path):
    (tmp_path / "f.mlir").write_text(SLICED)
    of_file = fissile.compile(tmp_path / "f.mlir", target="llvm-cpu").findings
    in_memory = fissile.compile(form(SLICED), target="llvm-cpu").findings
    assert [(one.code, one.message, one.notes) for one in in_memory] == [
        (one.code, one.message, one.notes) for one in of_file
    ]
    assert "%count elements" in in_memory[0].message


def test_so_has_one_from_standard_input(tmp_path):
    (tmp_path / "f.mlir").write_text(SLICED)
    ended = shell("fissile compile --target=llvm-cpu - -o f.vmfb < f.mlir", tmp_path)
    assert ended.returncode == 0 and "reads %count elements" in ended.stdout + ended.stderr


def test_bytecode_has_no_lines(tmp_path):
    """The twin: what has no text has places and positions in place of names."""
    from iree.compiler import ir

    from fissile.pipelines.session import Session

    with Session().context:
        written = io.BytesIO()
        ir.Module.parse(SLICED).operation.write_bytecode(written)
    (found,) = fissile.compile(written.getvalue(), target="llvm-cpu").findings
    assert "(argument 1) elements" in found.message


def test_each_input_has_the_lines_of_its_own(tmp_path):
    file = tmp_path / "one.mlir"
    file.write_text("first\nsecond\n")
    may_be_quoted("<stdin>", str(file))
    assert line_at(Place("<stdin>", 2)) == "second\n"
    text_may_be_quoted("<stdin>", "third\n")
    assert line_at(Place("<stdin>", 1)) == "third\n" and not line_at(Place("<stdin>", 2))
    assert not line_at(Place("other", 1)) and not line_at(Place("<stdin>", 0))
