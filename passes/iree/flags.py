"""Flags of `iree-compile` that fissile reads or sets. IREE 3.13."""

from __future__ import annotations

from collections.abc import Sequence

PREPROCESSING_FLAG = "iree-preprocessing-pass-pipeline"

DRIVER_FLAGS = {
    # Flags that iree-compile's driver reads itself; the session does not know them.
    "o",
    "compile-mode",
    "compile-from",
    "compile-to",
    "output-format",
    "verify",
    "split-input-file",
    "dump-compilation-phases-to",
    "emit-mlir-bytecode",
    "emit-mlir-bytecode-version",
    "remarks-filter",
    "remarks-output-file",
    "iree-hal-list-target-backends",
    "iree-list-plugins",
}

STOCK_ONLY_FLAGS = {
    "help",
    "h",
    "help-hidden",
    "help-list",
    "help-list-hidden",
    "version",
    "iree-hal-list-target-backends",
    "iree-list-plugins",
    "split-input-file",
    "print-options",
    "print-all-options",
}
"""Flags that ask iree-compile for something other than one guarded compile."""

PRINTED_AT_EXIT = ("timing", "stat", "time-", "remark", "profil", "trace", "debug", "dump", "print", "graph")
"""In flags that write as the process ends (`--time-passes`, `--stats`), or may write to buffers that are flushed then."""

ANNOTATED_VM_CODE = "--iree-vm-bytecode-module-output-format=annotated-mlir-text"
"""Writes the VM's code as text, with its register allocation."""

ASSERTS_STRIPPED_BY = "iree-opt-strip-assertions"
"""The flag that removes every cf.assert (Util's StripDebugOps, at the beginning of global optimisation)."""

TUNING_SPEC_FLAG = "iree-codegen-tuning-spec-path"
"""The session flag that names a file of lowering configurations; one file a compile."""

TRANSFORM_LIBRARY_FLAG = "iree-codegen-transform-dialect-library"
"""The older flag for the same file (MaterializeUserConfigs), the only one that SPIR-V reads."""

TARGET_FLAGS = r"iree-hal-target-(device|backends)\b|iree-hal-local-target-device-backends\b|iree-(rocm|hip|cuda|vulkan)-target\b"
"""A pattern of the flags that choose a target."""

NOT_EVALUATED = "--iree-opt-const-eval=false"
"""Leaves constants that are computed to the device, which computes them when the module is loaded."""

IN_F64 = "--iree-input-demote-f64-to-f32=false"
"""Computes f64 as such; by default IREE computes it as f32."""


ELIDED_AS_ZERO = "iree-util-zero-fill-elided-attrs"
"""The flag that makes zeros of constants which were left out of a text."""


def keeps_doubles(flags: Sequence[str]) -> bool:
    """Whether IREE computes f64 as such."""
    name = IN_F64.split("=")[0]
    return any(one in (IN_F64, f"{name}=0") for one in one_word_each(flags))


def is_on(flags: Sequence[str], name: str) -> bool:
    """Whether ``flags`` set the boolean flag ``name``; the last one counts."""
    on = False
    for flag in flags:
        given, _, value = flag.lstrip("-").partition("=")
        if given == name:
            on = value.lower() not in ("false", "0")
    return on


def one_word_each(words: Sequence[str]) -> list[str]:
    """``words`` with each value behind its flag and ``=``, as a session takes it; LLVM's command line takes two words as well."""
    joined: list[str] = []
    for word in words:
        if not word.startswith("-") and joined and "=" not in joined[-1]:
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined
