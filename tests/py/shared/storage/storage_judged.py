"""One function's obligations, judged: for tests of single ops."""

from __future__ import annotations

from fissile.passes.checks.storage.storage_fit import judge_storage
from fissile.verdict import Answer

READ = "%r = tensor.extract_slice %x[0] [%n] [1] : tensor<4xf32> to tensor<?xf32>"
"""In bounds where 0 <= %n <= 4."""
CONSTANTS = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 3, 4, 8, 10, 16, 64))


def judge(session, arguments: str, body: str):
    """The report of one function that returns nothing."""
    text = (
        f"func.func @f({arguments}) {{\n{CONSTANTS}  %cst = arith.constant 0.0 : f32\n{body}\n  return\n}}\n"
    )
    module = session.parse_text(text)
    return module, judge_storage(module.op)


def unproved(report) -> list[str]:
    return [j.obligation.kind for j in report.judged if j.answer is not Answer.PROVED]
