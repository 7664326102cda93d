"""Functions of two numbers that run on the host alone, held against what they have to return."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Mapping

from iree import runtime

Wrong = dict[str, tuple[object, object, object, object]]


def wrong_calls(
    path,
    expected: Mapping[str, Callable],
    numbers: Iterable,
    same: Callable[[object, object], bool] = operator.eq,
) -> Wrong:
    """Function of the module at ``path`` -> its first wrong call with two of ``numbers``: both, the result, the right one. Where what is
    ``expected`` is None the function is not called."""
    context = runtime.SystemContext(config=runtime.Config("local-sync"))
    context.add_vm_module(runtime.VmModule.mmap(context.instance, str(path)))
    pairs, found = list(itertools.product(numbers, repeat=2)), {}
    for name, result_of in expected.items():
        call = context.modules.module[name]
        for a, b in pairs:
            wanted = result_of(a, b)
            if wanted is not None and not same(got := call(a, b), wanted):
                found[name] = (a, b, got, wanted)
                break
    return found
