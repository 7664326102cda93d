"""What IREE says when it refuses a program, which of fissile's rules that is, and how a finding quotes it. IREE 3.13."""

from __future__ import annotations

import re

UNDEFINED_SYMBOL = r"undefined symbol: [\w.]+"
"""What the linker prints of it, on standard error (iree-lld)."""

LINKER_SAID = (
    r"(?ms)^iree-lld: error: undefined symbol: .*?^Linking failed;[^\n]*\n(?:\n?LLD_VERSION[^\n]*\n)?\n?"
    r"|^(?:(?:warning|error): <unknown>:0(?::0)?: (?:stack frame size \(|value evaluated as )[^\n]*\n\n?)+"
    r"(?:iree-lld: error: target emulation unknown[^\n]*\n)?"
)
"""All that IREE prints of one link that found undefined symbols; of code for AMD whose private memory has no size, and of its link."""

TOOL_LACKED_SPACE = re.compile(
    r"^(?:iree-lld|ld\.lld|\S*wasm-ld): error: (?:cannot|failed to|could not|unable to) .*: (?:No space left on device|File too large|Disk quota exceeded)$"
    r"|^\S+ execute fail:(?:File size limit exceeded|File too large|No space left on device|Disk quota exceeded)",
    re.MULTILINE,
)
"""What a linker prints that cannot write its file, and what IREE says of one that the system ended for that (ROCM's target backend)."""

NO_ELEMENT_TYPE = "'hal.element_type' op unsupported element type"
"""What IREE says of a tensor in a function's signature whose elements buffer views have no name for."""

PARTIAL_BYTES = r"failed to calculate total byte count: .* does not have integral number of total bytes"
"""EncodeTensors, of a tensor of elements below a byte whose last byte is not full."""

PARTIAL_ROWS = "Unsupported tensor type unable to pack to bytes"
"""BitcastUnsupportedElementTypes, of floats below a byte whose rows do not fill their last byte."""

UNKNOWN_OP = re.compile(
    r"Dialect `(?P<dialect>\w+)' not found for custom op '(?P<op>[\w.$-]+)'|custom op '(?P<known>\w+\.[\w.$-]+)' is unknown"
    r"|unregistered operation '(?P<generic>[\w.$-]+)' found in dialect \('\w+'\) that does not allow unknown operations"
)
"""What the parser says of an op in its own syntax whose dialect, or which itself, IREE does not have, and of one in generic form that its dialect does not have. A word without a dialect is no op."""

UNREGISTERED = "unregistered dialect"
"""What the parser says of an op, a type or an attribute of a dialect that IREE does not have, where those are refused."""

UNKNOWN_TYPE = re.compile(r"(?:type|attribute) created with unregistered dialect")
"""What the parser says of a type whose dialect IREE does not have, where ops of such a dialect are refused."""

NO_SUCH_TARGET = (
    r"no HAL devices defined|missing GPU target in|unregistered device alias|target backend '.*' not registered"
    r"|[Uu]nknown (?:ROCM|CUDA|Vulkan|Metal) target|target not set; did you forget|target backend not registered"
    r"|Unknown CPU for target architecture|createTargetMachine\(.*\) failed"
)
"""Device assignment and resolution; the target backends' registry and options; LLVMGPU configuration."""

NOTHING_TO_COMPILE = r"does not contain a vm\.module op"
"""VM bytecode serialisation of an empty module."""

CIRCULAR_PARTITION = r"circular dependency: input operation uses partition output"
"""ScheduleExecution, of a partition that waits for a loop that waits for the partition."""

WHILE_OPERANDS_DIFFER = r"'scf\.while' op along control flow edge .* region branch point has \d+ operands, but region successor needs \d+ inputs"
"""ConvertToStream, of a loop whose condition passes on less than the loop starts with."""

FRONT_END_LEFT = "illegal op still exists"
"""VerifyInputLegality, of an op of a front end that --iree-input-type does not name."""

WAITS_FOR_ITSELF = r"operand #\d+ does not dominate this use"
"""The verifier, after ElideTimepoints has made a command that updates a global in a loop wait for its own end."""

IMMUTABLE_LOAD = r"'util\.global\.load' op is marked as immutable but the global is mutable"
"""The verifier, after FuseGlobals has made one global of a constant and of one that changes."""

CALL_TYPES_DIFFER = r"'util\.call' op function type mismatch"
"""RefineUsage, or ExpandTensorShapes, of a call whose function is not inlined."""

SIZES_UNRESOLVED = r"'tensor\.dim' op unexpected during shape cleanup"
"""CleanupTensorShapes, of a size that is read from the result of a loop, a branch or a barrier."""

WHILE_TYPES_DIFFER = r"failed to legalize unresolved source materialization from \('!stream\.resource<"
"""ConvertToStream, of a loop whose condition passes on as much as the loop starts with, in another order."""

OPERAND_UNLINKED = "operation's operand is unlinked"
"""A verifier, after a size of a call's result has lost the op that computes it."""

LOOP_TYPES_DIFFER = (
    r"'scf\.(?:for|if|while)' op along control flow edge .* successor operand type #\d+ '!stream\.resource<"
)
"""RefineUsage, of a loop that passes a constant and an argument on to each other, or a branch that has one of them as its result."""

WORKGROUP_MEMORY_EXCEEDED = r"bytes of shared memory; exceeded the limit"
"""GPUCheckResourceUsage."""

STACK_EXCEEDED = r"exceeded stack allocation limit of|stack allocations? need to be hoisted"
"""LLVMCPUCheckIRBeforeLLVMConversion."""

MEMORY_UNBOUNDED = (
    r"unsupported dynamic shared memory|no unbounded stack allocations|without upper bound shapes"
)
"""The same two."""

NOT_DISTRIBUTED = r"failed to distribute|failed to pack reduction dimensions"
"""LLVMGPU vector distribution."""

NOT_CONVERTED = r"failed to legalize (?:unresolved materialization|operation)"
"""Dialect conversion."""

NOT_LINKED = r"undefined symbol: "
"""iree-lld."""

TYPES_NOT_SUPPORTED = r"types are not supported on"
"""8-bit floats on AMD (ConvertToROCDL)."""

NOT_TRANSLATED = r"LLVM Translation failed|missing `LLVMTranslationDialectInterface`"
"""The same on CUDA: they stay as they are."""

NO_SUCH_SYMBOL = re.compile(
    r"'(?P<op>[\w.]+)' op (?:'(?P<function>[^']+)' does not reference a valid function"
    r"|undefined/incompatible callee: (?P<callee>\S+)|undefined global: @(?P<global>\S+))"
)
"""The parser's errors of a function, or a global, that is not found by its name."""

UNKNOWN_PASS = re.compile(r"'([^']*)' does not refer to a registered pass")
REFUSED_OPTIONS = re.compile(r"failed to add `([^`]*)` with options `([^`]*)`")
"""MLIR's errors of a textual pipeline: the pass; the pass and its options."""

UNKNOWN_FLAG = re.compile(r"Unknown command line argument '([^']*)'")
DID_YOU_MEAN = re.compile(r"Did you mean '([^']*)'")
FLAG_ERROR = re.compile(r"(?:for the|for) (--?\S+) option: (.*)")
"""LLVM's errors of a command line: the flag, the flag that it suggests, the flag and what is wrong with its value."""

FAILED_PASS = re.compile(r"IR Dump After (?P<class>\S+) Failed(?:: (?P<argument>[\w.-]+))?")
"""MLIR's heading of the IR that a failing pass leaves."""

NOT_LOWERED = re.compile(r"failed to legalize operation '(?P<op>torch\.[\w.]+)'")
"""MLIR's error of an op of torch-mlir that IREE's input conversion leaves."""

BYTES_USED = re.compile(r"uses (\d+) bytes")
"""GPUCheckResourceUsage: the workgroup memory of a dispatch that does not fit."""

PIPELINE_NOT_BUILT = "failed to build pass pipeline"
"""What a backend says of a configuration with the pipeline of another (3.13)."""

NOT_FOR_THIS_DEVICE = "not found or unavailable"
"""What IREE's runtime (3.13) says, with status INCOMPATIBLE, when a module was built for another kind of device."""

_PRINTED_OP = re.compile(r": (?=(?:%[\w#:, ]+ = )?\"?[a-z_]+\.[\w.]+\"?\(?.*->|%\w+(?::\d+)? = ).*")
_ATTRIBUTE = re.compile(r"#[A-Za-z_][\w.]*<")


_OP_INSIDE = re.compile(r'%\w+(?::\d+)? = ("[\w.]+")\(.*\) -> .*?(?= - |$)')
"""An op in generic form within a message."""


def quoted(message: str) -> str:
    """``message`` of IREE in one line, as it stands but for attributes (a target's has 10 KB) and printed ops."""
    line = _PRINTED_OP.sub("", message.strip().split("\n", 1)[0])
    while (found := _ATTRIBUTE.search(line)) is not None:
        line = line[: found.end() - 1] + line[_closing(line, found.end()) :]
    return _OP_INSIDE.sub(r"\1", line).strip()


def _closing(text: str, at: int) -> int:
    """The position behind the bracket that closes the one before ``at``; the end where none does."""
    depth = 1
    for position in range(at, len(text)):
        depth += {"<": 1, ">": -1}.get(text[position], 0) * (text[position - 1] != "-")
        if not depth:
            return position + 1
    return len(text)
