"""What the front end calls a place: the names in a location that a person knows (`model.layers.0.attn`).

What writes them: PyTorch a module's path, JAX `jit(main)/layer/dot_general` around call frames that are named after their functions,
TensorFlow `fused["MatMul:", "model/dense/MatMul"]`, ONNX the name of the node.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .attributes import unescaped

LONGEST = 80
"""Characters of a name: of a longer one the end, which is its most specific part."""
_NAME = re.compile(r'(?:loc\()?"((?:[^"\\]|\\.)*)"')
_FILE = re.compile(
    r".*\.(?:py|mlir|mlirbc|onnx|pt2|pb|tflite|cc|cpp|ipynb)(?::\d+)*", re.DOTALL | re.IGNORECASE
)
_NUMBERED = re.compile(r"%.*|-|<.*>|(?:arg|input|_)?\d+|graph:.*|onnx_importer\..*|.*:", re.DOTALL)
"""Names that say nothing: SSA names, a standard stream, `<module>`, numbers, the importer's own, TensorFlow's op types."""


def name_in(location: str) -> str:
    """The name in the text of a location. As text: to read a name that is not UTF-8 ends the process (IREE 3.13)."""
    found = _NAME.match(location)
    name = found[1] if found else ""
    return unescaped(name) if "\\" in name else name


def best_name(names: Iterable[str], file: str = "") -> str:
    """The most specific of ``names``, which are in order from the outside in; empty where none says more than the place in ``file``.

    A path (`a/b`) before a dotted name, which a call frame may have as well, the one with more parts before one with fewer,
    the inner one before the outer.
    """
    best, rank = "", (-1, -1)
    for name in map(str.strip, names):
        if (
            not name
            or _NUMBERED.fullmatch(name)
            or _FILE.fullmatch(name)
            or name in (file, file.rpartition("/")[2])
        ):
            continue
        own = ("/" in name, len(re.split(r"[./]", name)))
        if own >= rank:
            best, rank = name, own
    return best if len(best) <= LONGEST else "…" + best[1 - LONGEST :]
