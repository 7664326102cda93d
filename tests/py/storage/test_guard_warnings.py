"""`--werror` and the warnings of the storage guard, which come after those of the compile itself."""

import pytest

from fissile.cli.main import main

UNKNOWN_SIZE = """
func.func @f(%x: tensor<10xf32>, %n: index) -> tensor<?xf32> {
  %r = tensor.extract_slice %x[0] [%n] [1] : tensor<10xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}
"""


@pytest.mark.parametrize(
    ("options", "status", "severity"),
    [
        (["--guard=check", "--werror"], 1, "error"),
        (["--guard=check"], 0, "warning"),
        (["--werror"], 0, "note"),  # checked at run time: there is no warning
    ],
)
def test_a_warning_of_the_guard_is_an_error_with_werror(tmp_path, capfd, options, status, severity):
    source, output = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text(UNKNOWN_SIZE)
    assert main(["compile", str(source), "--target=llvm-cpu", "-o", str(output), *options]) == status
    printed = capfd.readouterr()
    assert f"{severity}[FIS202]" in printed.out + printed.err
    assert output.exists() == (status == 0)
