"""Does an exported PyTorch program hold anything but data?

PyTorch's loader runs what a file brings along: pickles, compiled libraries, and names and expressions that it puts into Python source
(its manual: "Never load data from an untrusted source"). All that it would run or evaluate is looked for here, before PyTorch sees the file.
"""

from __future__ import annotations

import ast
import io
import json
import pickletools
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

_ENTRIES = re.compile(
    r"(?:[^/]+/)?(?:archive_format|archive_version|version|byteorder|\.data/\w+|models/[^/]+\.json|data/weights/[^/]+|data/constants/tensor_\d+"
    r"|data/constants/[^/]+_config\.json|data/sample_inputs/[^/]+\.pt|extra(?:_files)?/.+"
    r"|serialized_exported_program\.json|serialized_(?:state_dict|constants|example_inputs)\.(?:pt|json))"
)
"""Of the archives of torch 2.6 to 2.13. Compiled libraries (data/aotinductor) and pickled objects are none of them."""
_TENSOR_ENTRIES = re.compile(r"[^/]+/(?:data\.pkl|byteorder|version|\.\w+|\.data/\w+|data/\d+)")
"""Of a file that torch.save writes; one of TorchScript has code."""
_ARCHIVE, _MOST_JSON = b"PK\x03\x04", 256 << 20
_GLOBALS = re.compile(
    r"collections OrderedDict|torch \w+Storage|torch\.storage (?:UntypedStorage|TypedStorage)|torch (?:Size|device|\w+\d+)"
    r"|torch\._utils _rebuild_(?:tensor|tensor_v2|parameter|qtensor|sparse_tensor)|torch\.serialization _get_layout"
)
"""What a pickle of tensors names."""
_PICKLED_NAMES = ("STACK_GLOBAL", "INST", "OBJ", "EXT1", "EXT2", "EXT4", "NEWOBJ_EX")
_NAME, _PATH = re.compile(r"\w*"), re.compile(r"[\w.:<>/+ @-]*")
_DUNDERS = "|".join(("and", "or", "xor", "lshift", "rshift", "iand", "ior", "ixor", "ilshift", "irshift"))
_PART = rf"(?!__)\w+|__(?:{_DUNDERS})__"
_OPERATORS = (
    "add sub mul truediv floordiv mod pow neg pos abs eq ne lt le gt ge and_ or_ xor not_ invert lshift rshift getitem "
    "truth index matmul"
)
_TARGET = re.compile(
    rf"torch\.ops\.(?!load_library\b|import_module\b)(?:{_PART})\.(?!from_file\b)(?:{_PART})(?:\.(?:{_PART}))?"
    rf"|_operator\.(?:{_OPERATORS.replace(' ', '|')})|math\.[a-z]\w*|torch\._?sym_\w+"
)
"""Operators: what else a dotted name leads to in the module torch may be any function."""
_FUNCTION = re.compile(r"[A-Z]\w*|sqrt|floor|ceiling|log|log2|exp|sin|cos|tan|asin|acos|atan|sinh|cosh|tanh")
_WORD = re.compile(r"[^\W\d]\w*|[+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?")
"""What a string in an expression may be: a symbol's name, or a number as in Float('1.5', precision=53)."""
_EXPRESSION = (ast.Expression, ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.Name, ast.keyword, ast.operator, ast.unaryop,
               ast.cmpop, ast.Load, ast.Tuple)  # fmt: skip
_UNREAD = ("metadata", "guards_code", "as_string", "as_strings", "context", "torch_version")
"""Keys of what becomes no Python source: it is printed, left out (`torch_child`), or spelled as a string."""


def code_in(file: Path) -> str:
    """What of the archive could run as code, in a few words; empty where all of it is data. Raises OSError and BadZipFile."""
    with zipfile.ZipFile(file) as archive:
        return next(_code(archive), "")


def _code(archive: zipfile.ZipFile) -> Iterator[str]:
    names = [info.filename for info in archive.infolist() if not info.is_dir()]
    for name, count in Counter(names).items():
        if count > 1:
            yield f"two entries are called {name}"
        if not _ENTRIES.fullmatch(name):
            yield f"{name} is neither a tensor nor a graph"
    for info in archive.infolist():
        if info.filename.endswith(".json") and not re.search(r"(?:^|/)extra(?:_files)?/", info.filename):
            yield from _code_in_document(archive, info)
        elif re.search(r"(?:^|/)(?:data/[^/]+/[^/]+|serialized_\w+\.pt)$", info.filename):
            yield from _code_in_tensors(archive, info)


def _code_in_document(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[str]:
    """``info`` is a graph, or the table of the weights. Old archives have tensors under such a name too."""
    if info.file_size > _MOST_JSON:
        yield f"{info.filename} has {info.file_size} bytes"
        return
    data = archive.read(info)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        yield from _code_in_pickle(data, info.filename)
        return
    try:
        yield from _code_in_value(document, "")
    except RecursionError:
        yield f"{info.filename} is nested too deep"


def _code_in_value(value: object, key: str) -> Iterator[str]:
    if key in _UNREAD and not (key == "context" and isinstance(value, str) and "__enum__" in value):
        return
    if isinstance(value, dict):
        if value.get("as_custom_obj") or value.get("custom_obj") or value.get("__enum__"):
            yield "the graph has an object that is not a tensor"
        for name, more in value.items():
            if not _PATH.fullmatch(name):
                yield f"a name is {name[:60]!r}"
            yield from _code_in_value(more, name)
    elif isinstance(value, list):
        for more in value:
            yield from _code_in_value(more, key)
    elif isinstance(value, str):
        yield from _code_in_text(value, key)


def _code_in_text(text: str, key: str) -> Iterator[str]:
    if key == "expr_str":
        if not is_expression(text):
            yield f"a size is {text[:60]!r}"
    elif key in ("target", "as_operator"):
        if not _TARGET.fullmatch(text):
            yield f"an operator is {text[:60]!r}"
    elif key in ("in_spec", "out_spec"):
        try:
            yield from _code_in_value(json.loads(text), "")
        except ValueError:
            yield f"a tree of arguments is {text[:60]!r}"
    elif not (_NAME if key in ("name", "as_name", "forward_arg_names") else _PATH).fullmatch(text):
        yield f"a name is {text[:60]!r}"


def is_expression(text: str) -> bool:
    """Whether ``text`` is a size: numbers, symbols and functions of theirs. PyTorch evaluates it as Python."""
    try:
        nodes = list(ast.walk(ast.parse(text, mode="eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    for node in nodes:
        if not isinstance(node, _EXPRESSION):
            return False
        if isinstance(node, ast.Call) and not (
            isinstance(node.func, ast.Name) and _FUNCTION.fullmatch(node.func.id)
        ):
            return False
        if isinstance(node, ast.Name) and node.id.startswith("_"):
            return False
        if isinstance(node, ast.Constant) and not (
            isinstance(node.value, int | float) or isinstance(node.value, str) and _WORD.fullmatch(node.value)
        ):
            return False
    return True


def _code_in_tensors(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[str]:
    """``info`` holds the bytes of a tensor, or a file that torch.save wrote."""
    with archive.open(info) as opened:
        start = opened.read(4)
    if start != _ARCHIVE:
        if info.filename.endswith(".pt"):
            yield from _code_in_pickle(archive.read(info), info.filename)
        return  # bytes: what says that they are a pickle all the same is loaded as one of tensors alone (`torch_child`)
    try:
        with zipfile.ZipFile(io.BytesIO(archive.read(info))) as inner:
            for name in inner.namelist():
                if not _TENSOR_ENTRIES.fullmatch(name):
                    yield f"{info.filename} has {name}, which is not a tensor"
                elif name.endswith(".pkl"):
                    yield from _code_in_pickle(inner.read(name), info.filename)
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError):
        yield f"{info.filename} is damaged"


def _code_in_pickle(data: bytes, where: str) -> Iterator[str]:
    if not data.strip():
        return
    try:
        for opcode, argument, _at in pickletools.genops(data):
            if opcode.name == "GLOBAL" and not _GLOBALS.fullmatch(str(argument)):
                yield f"{where} names {str(argument).replace(' ', '.')[:60]}"
            elif opcode.name in _PICKLED_NAMES:
                yield f"{where} is not a pickle of tensors ({opcode.name})"
    except Exception:  # pickletools raises anything for bytes that are none
        yield f"{where} is not a pickle of tensors"
