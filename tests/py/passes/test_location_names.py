"""The front end's names of places: read from every kind of location, bounded, and shown by every format."""

from __future__ import annotations

import json

import pytest
from iree.compiler import ir

from fissile import dialect, wire
from fissile.cli.main import main
from fissile.dialect.location_names import LONGEST, best_name
from fissile.dialect.places import names_of_places
from fissile.finding import Finding, Place
from fissile.pipelines.report.formats import rendered
from fissile.pipelines.report.html.page import page
from fissile.pipelines.report.text import render_finding
from fissile.pipelines.session import PhaseFailed, Session
from fissile.report import Report

ATTN = "model.layers.0.attn"
PLACE = '"m.py":3:4'
PROGRAM = f"""func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = "stablehlo.custom_call"(%a) {{call_target_name = "nope"}} : (tensor<4xf32>) -> tensor<4xf32> loc("{ATTN}"({PLACE}))
  return %0 : tensor<4xf32>
}}
"""


@pytest.fixture(scope="module")
def context():
    made = ir.Context()
    dialect.register(made)
    return made


def read(location: str, context: ir.Context) -> Place | None:
    return dialect.place_of(ir.Module.parse(f"module {{}} loc({location})", context=context).operation)


def named(*names: str) -> str:
    """``PLACE`` inside ``names``, the first outermost."""
    text = PLACE
    for name in reversed(names):
        text = f'"{name}"({text})'
    return text


@pytest.mark.parametrize(
    "location, name",
    [
        (PLACE, ""),
        (named(ATTN), ATTN),
        (named("model", "model.layers.0", ATTN), ATTN),
        (named(ATTN, "attn"), ATTN),  # the most specific, wherever it is
        (named("q_proj"), "q_proj"),
        (named("/layer1/act"), "/layer1/act"),
        # JAX: the op's name around call frames that are named after functions
        (named("jit(main)/Dense_0/dot_general", "Net.__call__"), "jit(main)/Dense_0/dot_general"),
        (f'"jit(main)/add"(callsite({named("Net.__call__")} at {named("<module>")}))', "jit(main)/add"),
        (f"callsite({named('<module>')} at {named(ATTN)})", ""),  # another place's
        (f'callsite({named(ATTN)} at "n.py":9:9)', ATTN),
        # TensorFlow: the op's type and its name; names beside a place
        ('fused["MatMul:", "model/dense/MatMul", "m.py":3:4]', "model/dense/MatMul"),
        (f'fused<"meta">[{PLACE}, "{ATTN}"]', ATTN),
        (f'fused[{named("a.b")}, "other.c"("n.py":1:1)]', "a.b"),
        (f'fused[{PLACE}, "other.c"("n.py":1:1)]', ""),  # another place's
        (f'"{ATTN}"(fused[unknown, {PLACE}])', ATTN),
        (f'callsite("fz":12:1 at {named(ATTN)})', ATTN),  # fissile's own tag
        # file names and numbering say nothing
        *((named(name), "") for name in ("m.py", "src/m.py", "%12", "12", "arg0", "-", "<module>", "", " ")),
        *((named(name), "") for name in ("graph:main", "onnx_importer.none", "m.py:3:4")),
    ],
)
def test_a_name_is_read_through_every_kind_of_location(location, name, context):
    place = read(location, context)
    assert (str(place), place.name) == ("m.py:3:4", name)


@pytest.mark.parametrize("location", ["unknown", f'"{ATTN}"', f'fused["{ATTN}", unknown]', '"fz":1:1'])
def test_a_name_alone_is_no_place(location, context):
    assert read(location, context) is None


def test_a_hostile_name_is_data(context):
    assert read(named(r"a\0Ab\1B[2J.c"), context).name == "a\nb\x1b[2J.c"
    assert (
        read(named(r"\FF\FE.a"), context).name == "\\xff\\xfe.a"
    )  # IREE's bindings end the process where it is read
    long = read(named("model." + "layers." * 1000 + "attn"), context).name
    assert len(long) == LONGEST and long.startswith("…") and long.endswith("layers.attn")
    assert read(named(*[f"l{n}" for n in range(500)], ATTN), context).name == "l99", "so many are read"
    wide = ", ".join([PLACE, *(f'"n.py":{n}:1' for n in range(1, 5000)), f'"{ATTN}"'])
    assert read(f"fused[{wide}]", context).name == "", "so many are looked through"


def test_the_most_specific_name_is_the_inner_of_equals():
    assert best_name(["a.b", "c.d"]) == "c.d"
    assert best_name(["a/b", "c.d.e"]) == "a/b"
    assert best_name(["weights.bin"], "weights.bin") == best_name([]) == ""


def test_a_name_is_no_part_of_what_a_place_is(context):
    assert read(named(ATTN), context) == Place("m.py", 3, 4)
    module = ir.Module.parse(f"module {{ module {{}} loc({named(ATTN)}) }}", context=context)
    assert names_of_places(module.operation) == {Place("m.py", 3, 4): ATTN}
    assert wire.build(Place, {"file": "m.py", "line": 3, "column": 4, "label": ""}).name == "", (
        "an older report"
    )


# --- the formats

HOSTILE = "a\nerror[FIS101] forged\x1b[2J<script>.b"
FINDING = Finding(
    "FIS101",
    "does not fit",
    places=(
        Place("m.py", 3, 4, "fused", ATTN),
        Place("m.py", 5, 1, "root", ATTN),
        Place("m.py", 7, 1, "user", "model.norm"),
        Place("n.py", 1, 1, "node 1 'act': Celu(x)", "act"),
    ),
)


def test_the_text_says_each_name_once():
    assert render_finding(FINDING).splitlines()[1:] == [
        f"  --> m.py:3:4 in {ATTN}",
        "     | 3:4 fused",
        "     | 5:1 root",
        "     | 7:1 user (in model.norm)",
        "  ::: n.py:1:1",
        "     | 1:1 node 1 'act': Celu(x)",
    ]


def test_every_format_has_the_names_and_none_runs_them():
    report = Report("check", (FINDING, Finding("FIS101", "m", places=(Place("z.py", 1, 1, "", HOSTILE),))))
    document = json.loads(rendered(report, "json", 1))
    assert [place["name"] for place in document["findings"][0]["places"]][:2] == [ATTN, ATTN]
    first, second = json.loads(rendered(report, "sarif", 1))["runs"][0]["results"]
    assert first["locations"][0]["logicalLocations"] == [{"name": ATTN}]
    assert first["relatedLocations"][1]["logicalLocations"] == [{"name": "model.norm"}]
    spelled = "a\\nerror[FIS101] forged\\x1b[2J<script>.b"
    assert second["locations"][0]["logicalLocations"] == [{"name": spelled}]
    annotations = rendered(report, "github", 1).splitlines()
    assert len(annotations) == 2 and f"%0Ain {ATTN}, model.norm, act%0A" in annotations[0] + "%0A"
    assert f"%0Ain {spelled}" in annotations[1]
    assert f"  --> z.py:1:1 in {spelled}" in render_finding(report.findings[1]).splitlines()
    html = page(document)
    assert f"in {ATTN}</div>" in html and "<script>.b" not in html and "\x1b" not in html


# --- a program


def test_check_names_the_module_of_the_failing_op(tmp_path, capsys):
    source = tmp_path / "model.mlir"
    source.write_text(PROGRAM)
    assert main(["check", str(source), "--target=llvm-cpu"]) == 1
    assert f"  --> m.py:3:4 in {ATTN}" in capsys.readouterr().out.splitlines()


def test_a_message_of_the_compiler_has_the_name_of_its_place(tmp_path):
    source = tmp_path / "model.mlir"
    source.write_text(PROGRAM)
    session = Session(["--iree-hal-target-backends=llvm-cpu"])
    module = session.parse(source)
    with pytest.raises(PhaseFailed) as failed:
        session.run(module, "input")
    assert failed.value.errors[0].places[0].name == ATTN


def test_a_new_input_of_the_same_name_has_lines_of_its_own(tmp_path, monkeypatch):
    from fissile.finding import Place
    from fissile.passes.analysis.program.source_lines import line_at, may_be_quoted

    for folder, text in (("a", "first\n"), ("b", "other\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "in.mlir").write_text(text)
        monkeypatch.chdir(tmp_path / folder)
        may_be_quoted("in.mlir")
        assert line_at(Place("in.mlir", 1, 1)) == text
