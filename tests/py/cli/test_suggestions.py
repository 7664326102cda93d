"""A misspelled command, option, target, code or flag: the error names the right one, in one short line."""

from __future__ import annotations

import pytest

from fissile.cli.main import main


@pytest.mark.parametrize(
    "line, wanted",
    [
        ("chek a.mlir", "did you mean 'check'?"),
        ("complie a.mlir", "did you mean 'compile'?"),
        ("explian FIS101", "did you mean 'explain'?"),
        ("check a.mlir --targt=gfx942", "did you mean '--target'?"),
        ("check a.mlir --targt gfx942", "did you mean '--target'?"),
        ("cache --claer", "did you mean '--clear'?"),
        ("audit a.mlir --target=vulkan --reproducer=x", "did you mean '--reproducers'?"),
        ("sweep . --fail-no=worse --target=vulkan", "did you mean '--fail-on'?"),
        ("verify a.mlir --seed=3", "did you mean '--seeds'?"),
        ("explain FIS1o1", "did you mean 'FIS101'?"),
        ("explain FIS10", "did you mean 'FIS101'?"),
        ("explain workgroup-memry", "did you mean 'workgroup-memory'?"),
        ("targets gfx94", "did you mean 'gfx942'?"),
        ("targets vulcan", "did you mean 'vulkan'?"),
        ("targets sm90", "did you mean 'sm_89'?"),
        ("targets xyz", "`fissile targets` lists them"),
        ("passes fissile-place-boundarys", "did you mean 'fissile-place-boundaries'?"),
        ("support --target=llvm-cpu --element=bf61", "did you mean 'bf16'?"),
        ("compile a.mlir --iree-opt-levl=O2", "did you mean '--iree-opt-level=O2'?"),
        ("compile a.mlir --iree-rocm-traget=gfx942", "did you mean '--iree-rocm-target=gfx942'?"),
        ("compile a.mlir --reapir=off", "did you mean '--repair=off'?"),
        ("compile a.mlir --target=llvm-cpu --guard=asert", "did you mean 'assert'?"),
    ],
)
def test_a_typo_is_answered_with_the_right_word(line, wanted, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.mlir").write_text(
        "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }"
    )
    assert main(line.split()) == 2
    printed = capsys.readouterr().err
    assert wanted in printed and all(len(row) < 180 for row in printed.splitlines())
