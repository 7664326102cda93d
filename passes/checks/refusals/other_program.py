"""Is what IREE refuses no program of tensors: an executable, a tuning spec, code of a device, functions on buffers?"""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.attributes import attribute, text_of
from fissile.finding import Finding
from fissile.passes.analysis.program.private_calls import CALLS
from fissile.passes.iree import flags
from fissile.passes.iree import ops as iree_ops

HAND_WRITTEN = (
    f"the program holds a {iree_ops.HAL_EXECUTABLE_SOURCE}, whose body IREE takes for host code here: "
    "--compile-mode=hal-executable compiles it"
)
EXECUTABLE_ALONE = "the module holds executables and no function that dispatches them: add one, or compile the program that they are of"
TUNING_SPEC = f"the module is a tuning spec: give it beside a program, with --{flags.TUNING_SPEC_FLAG}"
TRANSFORMS = (
    "the module holds transforms of other programs: keep them in a file of their own, "
    f"and give it beside the program, with --{flags.TRANSFORM_LIBRARY_FLAG}"
)
BUFFERS = (
    "{functions} {take} memory that the caller owns (memref), for which IREE has no calling convention: it allocates all memory itself. "
    "Write arguments and results as tensors (tensor<4xf32>), and return what is computed instead of writing it into an argument"
)
UNDEFINED = (
    "{functions} {has} no body, and the name names no module: define it here, or declare it as @module.function, which IREE calls in a VM module "
    "of that name that is loaded beside this one"
)
MOST_NAMED = 3
HOSTS = ("func.func", iree_ops.UTIL_FUNC, iree_ops.VM_MODULE)
FOREIGN = ("gpu.", "spirv.", "llvm.", "emitc.", "pdl.", "pdl_interp.")
"""Beginnings of the names of ops that hold code for a device, or for another tool, and that IREE lowers in no program (3.13)."""
SIGNS = tuple(
    name.encode() for name in (iree_ops.HAL_EXECUTABLE, "transform.", "memref<", "func private @", *FOREIGN)
)
"""What the text of such a module has in it: others need not be parsed to know."""


def note_other_program(finding: Finding, module: ir.Operation) -> Finding:
    """``finding`` about ``module``, as it was parsed, with what the module is and what to do with it, where it is no program of tensors."""
    found = other_program(module)
    return finding.with_(notes=(*finding.notes, *(note for note in found if note not in finding.notes)))


def other_program(module: ir.Operation) -> tuple[str, ...]:
    """What ``module`` is instead of a program of tensors, with the way out; nothing where it is one."""
    held = list(dict.fromkeys(op.operation.name for op in module.regions[0].blocks[0].operations))
    found = []
    if iree_ops.HAL_EXECUTABLE_SOURCE in held:
        found.append(HAND_WRITTEN)
    has_host = any(name in HOSTS for name in held)
    if not has_host and iree_ops.HAL_EXECUTABLE in held:
        found.append(EXECUTABLE_ALONE)
    if any(name.startswith("transform.") for name in held):
        found.append(TUNING_SPEC if not has_host and _is_tuning_spec(module) else TRANSFORMS)
    others = [name for name in held if name.startswith(FOREIGN)]
    if others:
        found.append(
            f"the module holds {', '.join(others)} outside of its functions, which IREE lowers in no program: "
            "it takes functions on tensors (func.func), and code of a device as an object of an executable"
        )
    if buffers := _with_buffers(module):
        found.append(BUFFERS.format(functions=_named(buffers), take="takes" if len(buffers) == 1 else "take"))
    if undefined := _undefined(module):
        found.append(
            UNDEFINED.format(functions=_named(undefined), has="has" if len(undefined) == 1 else "have")
        )
    return tuple(found)


def _named(functions: list[str]) -> str:
    named = [f"@{name}" for name in functions[:MOST_NAMED]]
    if len(functions) > MOST_NAMED:
        named.append(f"{len(functions) - MOST_NAMED} more")
    return ", ".join(named)


def _undefined(module: ir.Operation) -> list[str]:
    """The functions without a body that are called, and whose name has no module in it: IREE takes them for functions of another module,
    and finds none."""
    called: set[str] = set()

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in CALLS:
            called.add(text_of(op, "callee"))
        return ir.WalkResult.ADVANCE

    found = [
        name
        for op in module.regions[0].blocks[0].operations
        if op.operation.name in HOSTS[:2] and not len(op.operation.regions[0].blocks)
        if "." not in (name := text_of(op.operation, "sym_name"))
    ]
    if found:
        module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return [name for name in found if name in called]


def _with_buffers(module: ir.Operation) -> list[str]:
    """The functions that a caller of the module sees, and that take or return a memref."""
    found = []
    for op in module.regions[0].blocks[0].operations:
        kind = attribute(op.operation, "function_type")
        if op.operation.name not in HOSTS or not isinstance(kind, ir.TypeAttr):
            continue
        types = (*kind.value.inputs, *kind.value.results) if isinstance(kind.value, ir.FunctionType) else ()
        public = text_of(op.operation, "sym_visibility") in ("", "public")
        if public and any(isinstance(one, (ir.MemRefType, ir.UnrankedMemRefType)) for one in types):
            found.append(text_of(op.operation, "sym_name"))
    return found


def _is_tuning_spec(module: ir.Operation) -> bool:
    names = (iree_ops.TUNING_SPEC, iree_ops.TUNING_SPEC_ENTRY)
    ops = [module, *(op.operation for op in module.regions[0].blocks[0].operations)]
    return any(attribute(op, name) is not None for op in ops for name in names)
