"""Pipelines of IREE's own passes on the command line: what IREE leaves out with an error message and exit status 0 is a usage error."""

from __future__ import annotations

import built
import pytest

from fissile.cli.main import main

PROGRAM = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.sqrt %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.mark.parametrize(
    ("pipeline", "status", "says"),
    [
        ("builtin.module(canonicalise)", 2, "did you mean 'canonicalize'"),
        ("builtin.module(canonicalize{max-iterationz=3})", 2, "does not take the options"),
        ("func.func(canonicalize)", 2, "write builtin.module(func.func(canonicalize))"),
        ("builtin.module(canonicalize,util.func(cse))", 0, ""),
    ],
)
def test_preprocessing(tmp_path, capfd, pipeline, status, says):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(PROGRAM)
    words = [str(source), *built.CPU, "-o", str(output)]
    assert main(["compile", *words, f"--iree-preprocessing-pass-pipeline={pipeline}"]) == status
    assert says in capfd.readouterr().err
    assert output.exists() == (status == 0)


@pytest.mark.parametrize("command", ["check", "audit"])
@pytest.mark.parametrize(("name", "status"), [("canonicalise", 2), ("canonicalize", 0)])
def test_preprocessing_of_what_writes_no_module(tmp_path, capfd, command, name, status):
    source = tmp_path / "in.mlir"
    source.write_text(PROGRAM)
    flags = f"--iree-flags=--iree-preprocessing-pass-pipeline=builtin.module({name})"
    assert main([command, str(source), "--target=llvm-cpu", flags]) == status
    assert ("did you mean 'canonicalize'" in capfd.readouterr().err) == (status == 2)
