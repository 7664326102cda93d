"""The path of the PyTorch module that an op was written in (`layers.0.attn`), kept in the op's location.

`torch.export` records it for each node of its graph, and a `.pt2` keeps it. IREE's FX importer makes the location of an op from the
node's stack trace alone, so the name is put around that: `"layers.0.attn"("model.py":12:1)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

STACK = "nn_module_stack"
_ROOT = re.compile(r"^L\[['\"]self['\"]\]\.?|^self\b\.?")
_INDEX = re.compile(r"\[['\"]?([\w]+)['\"]?\]|(?:^|\.)slice\([^)]*\)")


def module_path(stack: object) -> str:
    """The innermost module in a node's ``stack``: a mapping to (path, class), from the outside in. Empty where it is the model itself."""
    if not isinstance(stack, Mapping):
        return ""
    for entry in reversed(list(stack.values())):
        path = entry[0] if isinstance(entry, (tuple, list)) and entry else entry
        if isinstance(path, str) and (cleaned := _cleaned(path)):
            return cleaned
    return ""


def _cleaned(path: str) -> str:
    """`L['self'].layers[0].attn` as `layers.0.attn`, the way `named_modules` writes it."""
    return _INDEX.sub(lambda found: f".{found[1]}" if found[1] else "", _ROOT.sub("", path)).strip(".")


@contextmanager
def module_paths_kept() -> Iterator[None]:
    """Within the block, IREE's FX importer puts the module's path around each location. An importer of another make is left as it is."""
    try:
        from iree.compiler.extras.fx_importer import ContextCache

        plain = ContextCache.get_node_location
    except (ImportError, AttributeError):
        yield
        return

    def named(cache: Any, node: Any) -> Any:
        location = plain(cache, node)
        if location is None or not (path := module_path(node.meta.get(STACK))):
            return location
        from iree.compiler import ir

        return ir.Location.name(path, location, context=location.context)

    ContextCache.get_node_location = named
    try:
        yield
    finally:
        ContextCache.get_node_location = plain
