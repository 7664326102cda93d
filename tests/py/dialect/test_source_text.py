"""The text of a program without the elements of its constants: no name that is looked for is lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fissile.dialect.source_text import BYTECODE, without_elements
from fissile.pipelines.brought_code import may_bring_code

DIGITS = b"0123456789ABCDEF" * 8


def test_the_elements_of_constants_are_left_out():
    text = (
        b'%a = arith.constant dense<"0x'
        + DIGITS
        + b'"> : tensor<16xi32>\n{-# dialect_resources: {"0x'
        + DIGITS
        + b'"} #-}'
    )
    assert (
        without_elements(text)
        == b'%a = arith.constant dense<"0x"> : tensor<16xi32>\n{-# dialect_resources: {"0x"} #-}'
    )


@pytest.mark.parametrize("text", [b"", b'"0x', b'"0x12"', b"func.func @f() { return }", b'"0x' + DIGITS])
def test_a_text_without_long_strings_stays(text):
    assert without_elements(text) == text


def test_bytecode_stays():
    assert without_elements(BYTECODE + b'"0x' + DIGITS + b'"') == BYTECODE + b'"0x' + DIGITS + b'"'


WORDS = (
    b"llvm.inline_asm",
    b"ptr.load",
    b"executable.object<",
    b"preprocessing_pipeline",
    b"pass_pipeline",
    b"apply_registered_pass",
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from((b'"', b'"0x', b"0x", DIGITS, b" ", b"\n", b"a", *WORDS)), max_size=12))
def test_what_brings_code_along_is_seen_wherever_it_stands(parts):
    text = b"".join(parts)
    assert may_bring_code(without_elements(text)) == may_bring_code(text)
