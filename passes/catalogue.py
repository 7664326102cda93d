"""Which passes there are, by name, without importing them.

A built-in pass is imported when it is first asked for: a start-up does not pay for passes it does not use.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.machinery
import importlib.util
import sys
from pathlib import Path

from fissile.errors import UsageError, closest

from .definition import Pass, registered_passes
from .user_code import MODULE_PREFIX, cause, running

BUILT_IN: dict[str, str] = {
    "fissile-assert-bounds": "fissile.passes.remedies.storage.assert_bounds",
    "fissile-check-leftovers": "fissile.passes.checks.refusals.leftover_ops",
    "fissile-check-lifetimes": "fissile.passes.checks.storage.lifetimes",
    "fissile-decompose-attention": "fissile.passes.remedies.decompose.decompose_attention",
    "fissile-decompose-movement": "fissile.passes.remedies.decompose.decompose_movement",
    "fissile-decompose-softmax": "fissile.passes.remedies.decompose.decompose_softmax",
    "fissile-drop-configuration": "fissile.passes.remedies.fusion.drop_configuration",
    "fissile-expand-scalars": "fissile.passes.remedies.narrow.expand_scalars",
    "fissile-extend-operands": "fissile.passes.remedies.fusion.extend_operands",
    "fissile-flatten-inserts": "fissile.passes.remedies.host.flatten_inserts",
    "fissile-fold-host-floats": "fissile.passes.remedies.host.fold_host_floats",
    "fissile-fold-producers": "fissile.passes.remedies.fusion.fold_producers",
    "fissile-grow-storage": "fissile.passes.remedies.storage.grow_storage",
    "fissile-hide-sizes": "fissile.passes.remedies.host.hide_sizes",
    "fissile-insert-kills": "fissile.passes.remedies.lifetime.insert_kills",
    "fissile-keep-arguments": "fissile.passes.remedies.host.keep_arguments",
    "fissile-lower-boundaries": "fissile.passes.remedies.fusion.lower_boundaries",
    "fissile-lower-groups": "fissile.passes.remedies.fusion.lower_groups",
    "fissile-lower-requires": "fissile.passes.remedies.storage.lower_requires",
    "fissile-lower-storage": "fissile.passes.remedies.storage.lower_storage",
    "fissile-pack-narrow-storage": "fissile.passes.remedies.narrow.pack_narrow_storage",
    "fissile-place-boundaries": "fissile.passes.remedies.fusion.place_boundaries",
    "fissile-rank-sorts": "fissile.passes.remedies.decompose.rank_sorts",
    "fissile-read-by-element": "fissile.passes.remedies.decompose.read_by_element",
    "fissile-set-lowering": "fissile.passes.remedies.fusion.set_lowering",
    "fissile-split-reductions": "fissile.passes.remedies.decompose.split_reductions",
    "fissile-split-results": "fissile.passes.remedies.decompose.split_results",
    "fissile-trim-borders": "fissile.passes.remedies.decompose.trim_borders",
    "fissile-widen-accumulators": "fissile.passes.remedies.fusion.widen_accumulators",
}
"""Pass name -> the module that defines it. A test holds it together with what the modules register."""


def known_passes() -> tuple[str, ...]:
    """All names, sorted: the built-in passes and those of the users' files loaded so far."""
    return tuple(sorted({*BUILT_IN, *registered_passes()}))


def is_known(name: str) -> bool:
    return name in BUILT_IN or name in registered_passes()


def find_pass(name: str) -> type[Pass]:
    """The pass class called ``name``. Raises UsageError with the nearest known name."""
    if name not in registered_passes() and name in BUILT_IN:
        importlib.import_module(BUILT_IN[name])
    found = registered_passes().get(name)
    if found is None:
        raise UsageError(f"unknown pass '{name}'", closest(name, list(known_passes())))
    return found


def load_user_passes(path: str | Path) -> tuple[str, ...]:
    """Imports a user's Python file and returns the names of the passes it registers. Raises UsageError.

    A file that was loaded before is not loaded again.
    """
    file = Path(path).resolve()
    module_name = MODULE_PREFIX + hashlib.sha256(str(file).encode()).hexdigest()[:12]
    if module_name not in sys.modules:
        _import_file(file, module_name, shown=str(path))
    return tuple(sorted(name for name, cls in registered_passes().items() if cls.__module__ == module_name))


def _import_file(file: Path, module_name: str, shown: str) -> None:
    if not file.is_file():
        raise UsageError(f"no such file of passes: {shown}")
    before = registered_passes()
    # Without a known suffix the loader cannot be guessed, so it is named.
    loader = importlib.machinery.SourceFileLoader(module_name, str(file))
    spec = importlib.util.spec_from_loader(module_name, loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses look annotations up here
    try:
        with running(f"the import of {shown}"):
            spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit at the top of a file is no way to end a compile
        del sys.modules[module_name]
        raise UsageError(f"{shown} cannot be imported: {cause(error, str(file))}") from None
    taken = [name for name in registered_passes() if name not in before and name in BUILT_IN]
    taken = [name for name in taken if registered_passes()[name].__module__ == module_name]
    if taken:
        raise UsageError(f"{shown} defines a pass '{taken[0]}', which is the name of a built-in pass")
