"""Programs whose text differs between the supported versions of IREE: written once, in the form of the calibrated one."""

from __future__ import annotations

import re

from fissile.passes.iree.version import installed, release

_MAPS = re.compile(
    r"(iree_linalg_ext\.(?:online_)?attention)\s*<\{?\s*(indexing_maps\s*=\s*\[.*?\])\s*\}?>", re.DOTALL
)
_KIND = re.compile(r"(linalg\.elementwise) <(\w+)>")


def spelled(text: str, version: str | None = None) -> str:
    """``text`` as ``version`` of IREE (the installed one by default) parses it: up to 3.12 the indexing maps of attention
    stand in its attribute dictionary, from 3.13 on in angle brackets; `linalg.elementwise` names its attribute `kind`."""
    if release(installed() if version is None else version) != "3.12":
        return text
    return _KIND.sub(r"\1 kind=#linalg.elementwise_kind<\2>", _MAPS.sub(r"\1 {\2}", text))
