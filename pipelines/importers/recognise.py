"""Is an input a model in another format than MLIR, and which one? By content, and by suffix where content has no mark."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

from fissile.errors import UsageError

ONNX = "ONNX model"
EXPORTED = "exported PyTorch program"

_BYTECODE = b"ML\xefR"
"""MLIR bytecode begins with it."""
_MOST_ENTRIES = 100_000
_EXPORTED_ENTRIES = ("models/model.json", "serialized_exported_program.json", "archive_format")
"""Entries of the archive that torch.export.save writes, of torch 2.8 and newer, and of older ones; in a folder or not."""


@dataclass(frozen=True)
class NoProgram:
    """A format that `fissile` does not import: what it is called, and the way to a program that it takes."""

    name: str
    way_out: str


_WEIGHTS = "export the model that uses them: torch.export.save(…, 'model.pt2')"
_PICKLED = "export the model: torch.export.save(torch.export.export(model, args), 'model.pt2')"
_BY_SUFFIX = {
    ".tflite": NoProgram(
        "a TensorFlow Lite model", "convert it to ONNX: python -m tf2onnx.convert --tflite …"
    ),
    ".pb": NoProgram("a TensorFlow graph", "convert it to ONNX: python -m tf2onnx.convert --graphdef …"),
    ".h5": NoProgram("a Keras model", "convert it to ONNX: python -m tf2onnx.convert --saved-model …"),
    ".keras": NoProgram("a Keras model", "convert it to ONNX: python -m tf2onnx.convert --saved-model …"),
    ".safetensors": NoProgram("a file of weights without a program", _WEIGHTS),
    ".gguf": NoProgram("a file of weights without a program", _WEIGHTS),
    ".ckpt": NoProgram("a checkpoint without a program", _WEIGHTS),
    ".pt": NoProgram("a pickled PyTorch object", _PICKLED),
    ".pth": NoProgram("a pickled PyTorch object", _PICKLED),
}
RAISED = "opset"
"""Stands for all ops of an ONNX model of an old opset, which the onnx package converts (`onnx_child`)."""
NEWEST_OPSETS = (21, 17)
"""What such a model is converted to: the first that the converter reaches. IREE's import lacks forms that ops had before opset 17."""


def recognised(path: str | Path) -> str:
    """`ONNX`, `EXPORTED`, or nothing for what IREE reads itself, and for what is no regular file.

    Raises UsageError for a model in a format that has to be converted elsewhere, if the content is no MLIR either.
    """
    path = Path(path)
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            start = file.read(64)
    except OSError:
        return ""
    suffix = path.suffix.lower()
    if start.startswith(_BYTECODE):
        return ""
    if start.startswith(b"PK\x03\x04") and (suffix == ".pt2" or _is_exported(path)):
        return EXPORTED
    if suffix == ".pt2":
        raise UsageError(
            f"{path} is not an exported PyTorch program: it is {'not an archive' if start else 'empty'}",
            "write it with torch.export.save(torch.export.export(model, args), 'model.pt2')",
        )
    if _begins_as_model(start) or suffix == ".onnx" and not _is_text(start):
        return ONNX
    if suffix in _BY_SUFFIX and not _is_text(start):
        found = _BY_SUFFIX[suffix]
        raise UsageError(f"{path} is {found.name}, which has no importer here", found.way_out)
    return ""


def _begins_as_model(start: bytes) -> bool:
    """Whether a protobuf ModelProto begins so: ir_version (field 1, a small number), then a field that may follow it."""
    following = (0x12, 0x1A, 0x22, 0x28, 0x32, 0x3A, 0x42)
    return len(start) > 3 and start[0] == 0x08 and 1 <= start[1] < 0x40 and start[2] in following


def _is_text(start: bytes) -> bool:
    return bool(start) and all(byte >= 0x20 or byte in b"\t\r\n" for byte in start)


def _is_exported(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()[:_MOST_ENTRIES]
    except (OSError, zipfile.BadZipFile, ValueError):
        return False
    return any(name == entry or name.endswith(f"/{entry}") for name in names for entry in _EXPORTED_ENTRIES)
