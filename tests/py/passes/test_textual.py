"""The textual pipeline syntax: what is read, printed back, and refused with the column."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fissile.errors import UsageError
from fissile.pipelines.textual import Nest, PassCall, parse_pipeline, pass_names

names = st.from_regex(r"[a-z]{1,4}(-[a-z0-9]{1,3}){0,2}", fullmatch=True)
anchors = st.sampled_from(["builtin.module", "func.func", "hal.executable.variant", "any"])
values = st.sampled_from(["1", "true", "1,2,3", "{x=1 y={z}}", "'a b'", '"},("', "[4, 8]", "array<i64: 1>"])
options = st.lists(st.builds("{}={}".format, names, values), max_size=3).map(" ".join)
calls = st.builds(PassCall, names, options)


@st.composite
def nests(draw, depth=3):
    element = calls if depth == 0 else st.one_of(calls, nests(depth=depth - 1))
    return Nest(draw(anchors), tuple(draw(st.lists(element, max_size=3))))


@given(nests())
def test_printing_and_reading_agree(tree):
    assert parse_pipeline(str(tree)) == tree


@given(nests(), st.sampled_from([" ", "\n", "\t  "]))
def test_whitespace_between_elements_is_free(tree, space):
    def spaced(element):
        if isinstance(element, PassCall):
            return f"{space}{element}{space}"
        return f"{space}{element.anchor}{space}({','.join(map(spaced, element.body))}{space}){space}"

    assert parse_pipeline(spaced(tree)) == tree


def test_names_come_in_the_order_in_which_passes_run():
    assert pass_names("builtin.module(a,func.func(b,any(c{x=d})),e)") == ("a", "b", "c", "e")


@pytest.mark.parametrize(
    "text, column, says",
    [
        ("", 1, "empty pipeline"),
        ("cse", 1, "starts with the op"),
        ("cse,canonicalize", 1, "starts with the op"),
        ("builtin.module(cse),func.func(cse)", 1, "starts with the op"),
        ("builtin.module(cse,)", 20, "expected a pass or an op name, found ')'"),
        ("builtin.module(,cse)", 16, "expected a pass or an op name, found ','"),
        ("builtin.module(cse canonicalize)", 20, "expected ',' or ')', found 'c'"),
        ("builtin.module(cse", 15, "this '(' is not closed"),
        ("builtin.module(func.func(cse)", 15, "this '(' is not closed"),
        ("builtin.module(cse))", 20, "this ')' closes nothing"),
        ("builtin.module(cse{x=1)", 23, "expected '}', found ')'"),
        ("builtin.module(cse{x=1", 19, "this '{' is not closed"),
        ("builtin.module(cse{x='1})", 22, "this ''' is not closed"),
        ("builtin.module(cse}", 19, "expected ',' or ')', found '}'"),
        ("builtin.module(cse) x", 21, "expected the end of the pipeline, found 'x'"),
        ("(cse)", 1, "expected a pass or an op name, found '('"),
    ],
)
def test_a_wrong_pipeline_is_refused_at_its_column(text, column, says):
    with pytest.raises(UsageError) as refused:
        parse_pipeline(text)
    shown, caret = refused.value.excerpt.split("\n")
    assert refused.value.message.startswith(f"pipeline, column {column}: ")
    assert says in refused.value.message
    # The caret stands under the column that is named.
    assert len(caret) - len("^") == min(column - 1, 60) and "\n" not in shown


def test_the_pipeline_is_quoted_to_its_end_and_what_is_cut_off_is_marked():
    long = ",".join(["canonicalize"] * 12)
    for text, shown in (
        ("builtin.module(func.func(mine-anch)", "builtin.module(func.func(mine-anch)"),
        (f"builtin.module({long}", f"builtin.module({long}"[:74] + "…"),
        (f"builtin.module({long},)", "…" + f"builtin.module({long},)"[-60:]),
    ):
        with pytest.raises(UsageError) as refused:
            parse_pipeline(text)
        assert refused.value.excerpt.split("\n")[0] == shown


def test_a_bare_list_of_passes_is_told_how_to_be_written():
    with pytest.raises(UsageError) as refused:
        parse_pipeline("cse,canonicalize")
    assert refused.value.hint == "write builtin.module(cse,canonicalize)"


@given(st.text(alphabet="abc-(){}[],='\" .", max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        tree = parse_pipeline(text)
    except UsageError:
        return
    assert parse_pipeline(str(tree)) == tree
