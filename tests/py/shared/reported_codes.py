"""What `fissile compile` reports of a program that comes out."""

from __future__ import annotations

import fissile


def codes(folder, text, target):
    """The codes of its findings for ``target``; the program is built in ``folder``, and its module must be there."""
    (folder / "in.mlir").write_text(text)
    report = fissile.compile(folder / "in.mlir", folder / "out.vmfb", target=target, check=False)
    assert report.exit_code == 0 and (folder / "out.vmfb").exists(), report.findings
    return [one.code for one in report.findings]
