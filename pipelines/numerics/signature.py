"""What a compiled function takes and gives: element types and shapes, read from a module or from a vmfb."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np

from fissile.errors import UsageError, closest
from fissile.passes.iree import ops as iree_ops
from fissile.passes.progress import running

from .sub_byte import SUB_BYTE_BITS

ELEMENT_TYPES: dict[str, np.dtype] = {
    name: np.dtype(dtype)
    for name, dtype in {
        "i1": np.bool_,
        "i8": np.int8,
        "i16": np.int16,
        "i32": np.int32,
        "i64": np.int64,
        "index": np.int64,
        "si8": np.int8,
        "si16": np.int16,
        "si32": np.int32,
        "si64": np.int64,
        "ui8": np.uint8,
        "ui16": np.uint16,
        "ui32": np.uint32,
        "ui64": np.uint64,
        "i4": np.int8,
        "i2": np.int8,
        "si4": np.int8,
        "ui4": np.uint8,
        "f16": np.float16,
        "bf16": ml_dtypes.bfloat16,
        "f32": np.float32,
        "f64": np.float64,
        "f8E4M3FN": ml_dtypes.float8_e4m3fn,
        "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
        "f8E5M2": ml_dtypes.float8_e5m2,
        "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
        "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
        "complex<f32>": np.complex64,
        "complex<f64>": np.complex128,
    }.items()
}
"""NumPy's type for each element type that data can be made of, by MLIR's name; `SUB_BYTE_BITS` are packed on their way to IREE."""

_NO_SCALARS = {*SUB_BYTE_BITS, "complex<f32>", "complex<f64>"}
"""Elements of tensors that a runtime program takes from no command line as scalars."""

_TORCH_SCALARS = {"!torch.int": "i64", "!torch.float": "f64", "!torch.bool": "i1"}


@dataclass(frozen=True)
class Value:
    """One argument or result: MLIR element type, and a shape with None for a dynamic dimension.

    ``shape`` is None for a scalar (an i32 or an index, not a 0-d tensor).
    ``element`` is empty where the type is none that can be made or read (``text`` has it).
    """

    text: str
    element: str
    shape: tuple[int | None, ...] | None

    @property
    def dtype(self) -> np.dtype:
        """NumPy's element type. `UsageError` for a type that NumPy data cannot be made for."""
        if self.element not in ELEMENT_TYPES:
            raise UsageError(
                f"no data can be made for a value of type {self.text}",
                "fissile verify handles tensors and scalars of " + ", ".join(ELEMENT_TYPES),
            )
        return ELEMENT_TYPES[self.element]


@dataclass(frozen=True)
class Signature:
    function: str
    arguments: tuple[Value, ...]
    results: tuple[Value, ...]

    @property
    def opaque(self) -> str:
        """Why no data can be made for it, in words; empty where it can."""
        unknown = next((value.text for value in (*self.arguments, *self.results) if not value.element), "")
        return f"@{self.function}: no data can be made for {unknown}" if unknown else ""

    def not_given(self, given: int) -> str:
        """That ``given`` inputs are not as many as the function takes, in words."""
        takes = len(self.arguments)
        inputs, were = "input" if takes == 1 else "inputs", "was" if given == 1 else "were"
        return f"@{self.function} takes {takes} {inputs}, {given} {were} given"


def parse_value(text: str) -> Value:
    """A `Value` from MLIR's or torch-mlir's spelling of a type."""
    text = text.strip()
    tensor = re.fullmatch(r"tensor<((?:(?:\d+|\?)x)*)(complex<\w+>|[^,<>]+)(?:,.*)?>", text)
    if tensor:
        dims = tensor[1].split("x")[:-1]
        return _value(text, tensor[2].strip(), dims)
    torch = re.fullmatch(r"!torch\.vtensor<\[([\d?, ]*)\],\s*(complex<\w+>|[^,<>]+)(?:,.*)?>", text)
    if torch:
        dims = [d.strip() for d in torch[1].split(",") if d.strip()]
        # torch-mlir's signed types become signless ones before the ABI.
        return _value(text, re.sub(r"^si(\d)", r"i\1", torch[2].strip()), dims)
    scalar = _TORCH_SCALARS.get(text, text)
    return Value(text, scalar if scalar in ELEMENT_TYPES and scalar not in _NO_SCALARS else "", None)


def _value(text: str, element: str, dims: list[str]) -> Value:
    shape = tuple(None if d == "?" else int(d) for d in dims)
    return Value(text, element if element in ELEMENT_TYPES else "", shape)


def parse_declaration(text: str) -> Signature:
    """A signature from IREE's reflection (`iree.abi.declaration`), made by its wrap-entry-points pass in 3.13.

    It reads like ``sync func @main(%input0: tensor<?x4xi8>, …) -> (%output0: tensor<?x4xi8>)``.
    """
    head = re.search(r"func @([^(]+)\(", text)
    if not head:
        raise ValueError(f"not an ABI declaration: {text}")
    arguments, rest = _bracketed(text[head.end() - 1 :])
    arrow = rest.find("->")
    results = _bracketed(rest[arrow + 2 :].strip())[0] if arrow >= 0 else []
    return Signature(head[1], tuple(map(_declared, arguments)), tuple(map(_declared, results)))


def _declared(text: str) -> Value:
    text = text.split(":", 1)[1] if text.lstrip().startswith("%") else text
    return parse_value(re.sub(r"\s*\{.*\}\s*$", "", text))


def _bracketed(text: str) -> tuple[list[str], str]:
    """The comma-separated parts of the leading (…), and what follows it."""
    depth, start, parts = 0, 1, []
    for i, c in enumerate(text):
        if c in "(<{[":
            depth += 1
        elif c in ")}]" or (c == ">" and text[i - 1] != "-"):
            depth -= 1
        if (c == "," and depth == 1) or (c == ")" and depth == 0):
            if text[start:i].strip():
                parts.append(text[start:i])
            start = i + 1
            if depth == 0:
                return parts, text[start:]
    return parts, ""


def signatures_of_module(module) -> dict[str, Signature]:
    """The public functions of a live module (`ir.Operation` or `ir.Module`), in order, before the VM phase.

    IREE's own reflection wins where there is one: after the ABI phase the types are opaque buffers.
    """
    from fissile.dialect.attributes import text_of

    functions = {}
    for op in getattr(module, "operation", module).regions[0].blocks[0].operations:
        op = op.operation
        if op.name not in ("func.func", iree_ops.UTIL_FUNC) or not op.regions[0].blocks:
            continue
        if "sym_visibility" in op.attributes and text_of(op, "sym_visibility") != "public":
            continue
        functions[text_of(op, "sym_name")] = op
    return {
        name: _signature_of(name, op, functions.get(f"{name}$async"))
        for name, op in functions.items()
        if not name.endswith("$async")
    }


def _signature_of(name: str, op, asynchronous) -> Signature:
    from iree.compiler import ir

    reflection = op.attributes["iree.reflection"] if "iree.reflection" in op.attributes else {}
    if "iree.abi.declaration" in reflection:
        return parse_declaration(ir.StringAttr(reflection["iree.abi.declaration"]).value)
    types = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)
    arguments, results = ([parse_value(str(t)) for t in ts] for ts in (types.inputs, types.results))
    if asynchronous is not None:
        # torch-mlir's wrapper: the tensors' types stand where its asynchronous twin imports and exports them.
        block = asynchronous.regions[0].blocks[0]
        for index in range(len(arguments)):
            for use in block.arguments[index].uses:
                if use.owner.operation.name == iree_ops.HAL_TENSOR_IMPORT:
                    arguments[index] = parse_value(str(use.owner.operation.results[0].type))
        last = list(block.operations)[-1].operation
        for index, value in enumerate(list(last.operands)[: len(results)]):
            made = value.owner
            if not isinstance(made, ir.Block) and made.operation.name == iree_ops.HAL_TENSOR_EXPORT:
                results[index] = parse_value(str(made.operation.operands[0].type))
    return Signature(name, tuple(arguments), tuple(results))


def signatures_of_source(path: Path) -> dict[str, Signature]:
    """The public functions of an MLIR file (text or bytecode). `UsageError` where it does not parse."""
    from iree.compiler import ir
    from iree.compiler.api import Session

    context = Session().context
    try:
        with context, running(f"the parse of {path}"):
            return signatures_of_module(ir.Module.parse(Path(path).read_bytes()))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "name a file that exists") from None
    except ir.MLIRError as error:
        located = re.search(r'error: "-":(\d+:\d+): (.*)', str(error))
        reason = f"{located[2]} at {located[1]}" if located else str(error).splitlines()[0]
        raise UsageError(
            f"{path} is not MLIR that IREE parses: {reason}", "`iree-opt FILE` shows the whole message"
        ) from None
    except RuntimeError:  # nanobind cannot make a string of IREE's message, which quotes bytes of the file
        raise UsageError(
            f"{path} is not MLIR that IREE parses: the message quotes bytes that are no text",
            "`iree-opt FILE` shows the whole message",
        ) from None


def refuse_pipelines_of(path: Path) -> None:
    """`UsageError` where the MLIR file ``path`` brings pass pipelines or native code along; one that does not parse is left to its
    reader."""
    from iree.compiler import ir

    from fissile.passes.definition import PassFailed

    from ..brought_code import may_bring_code, refuse_brought_code
    from ..session import Session

    source = Path(path).read_bytes()
    if not may_bring_code(source):
        return
    with Session().context:
        try:
            refuse_brought_code(ir.Module.parse(source).operation, source)
        except PassFailed as refused:
            first = refused.findings[0]
            raise UsageError(f"{first.code}: {path}: {first.message}", first.notes[0]) from None
        except (ir.MLIRError, RuntimeError):
            return


def signatures_of_vmfb(path: Path) -> dict[str, Signature]:
    """The functions of a compiled module whose reflection has their types (torch imports have none)."""
    from iree import runtime

    try:
        instance = runtime.VmInstance()
        module = runtime.VmModule.copy_buffer(instance, Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "name a file that exists") from None
    except Exception as error:
        raise UsageError(
            f"{path} is not an IREE 3.13 module: {str(error).splitlines()[0]}",
            "compile it again with this IREE",
        ) from None
    found = {}
    for name in module.function_names:
        declaration = module.lookup_function(name).reflection.get("iree.abi.declaration")
        if declaration:
            found[name] = parse_declaration(declaration)
    return found


def choose(found: dict[str, Signature], function: str | None, where: str) -> Signature:
    """The named function, or the only one. `UsageError` says what there is."""
    if function is None:
        if len(found) == 1:
            return next(iter(found.values()))
        known = ", ".join(found) or "none whose types are known"
        raise UsageError(f"{where} has {len(found)} public functions: {known}", "name one with --function")
    if function not in found:
        raise UsageError(f"{where} has no public function '{function}'", closest(function, list(found)))
    return found[function]
