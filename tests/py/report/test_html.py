"""The HTML report: whole, offline, escaped; what it says is what the report says."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from report_documents import HOSTILE, check_document, compile_document, repaired_finding, verify_document

from fissile.finding import Place
from fissile.pipelines.report.html.bars import target_bars
from fissile.pipelines.report.html.layout import MOST_COLUMNS, MOST_DRAWN, draw
from fissile.pipelines.report.html.page import page
from fissile.pipelines.report.untrusted_text import SourceLines

VOID = {"meta", "path", "rect", "line", "polygon", "br", "img", "link", "input"}


class Structure(HTMLParser):
    """The elements of a page in order; refuses ends that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> in {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def count(self, tag: str, **attributes: str) -> int:
        return sum(
            one == tag and all(value in (given.get(name) or "").split() for name, value in attributes.items())
            for one, given in self.found
        )


DOCUMENTS = {
    "repaired": compile_document(),
    "one": check_document(1),
    "many": check_document(200),
    "one target": check_document(3, targets=1),
    "agrees": verify_document(),
    "differs": verify_document(agrees=False),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_page_is_well_formed_and_loads_nothing(name):
    text = page(DOCUMENTS[name])
    found = Structure(text)
    assert text.startswith("<!DOCTYPE html>") and found.count("h1") == 1
    assert not {tag for tag, _ in found.found} & {"script", "link", "img", "iframe", "object", "form"}
    for _tag, attributes in found.found:
        assert not [a for a in attributes if a.startswith("on") or a in ("src", "action")]
        assert (attributes.get("href") or "#").startswith("#")
    assert "url(" not in text and "@import" not in text
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text and "@media print" in text


def test_a_repair_shows_before_and_after_and_the_boundary():
    found = Structure(page(compile_document(), SourceLines("model.mlir", b"\n%xd = producer\n%conv = root")))
    assert "1 finding repaired, no error remains" in found.text
    assert "%xd = producer" in found.text and "fused into the dispatch" in found.text
    assert "861 184" in found.text and "910 336" in found.text and "50 688" in found.text
    assert "bit-identical on llvm-cpu" in found.text and "fissile-place-boundaries{ops=0}" in found.text
    assert found.count("figure") == 2
    assert found.count("g", **{"class": "fails"}) == 1  # before
    assert found.count("path", **{"class": "moved"}) == 1  # after


def test_a_check_shows_targets_side_by_side_bars_and_memory():
    found = Structure(page(check_document(3)))
    assert found.text.count("target0") >= 3 and "target1" in found.text
    assert found.count("polygon") == 4 and "peak 36 864 live bytes" in found.text
    assert found.count("i", **{"class": "limit"}) == 6
    assert "%n <= 10" in found.text


def test_a_verification_shows_its_verdict():
    assert "bit-identical on vulkan" in Structure(page(verify_document())).text
    differs = page(verify_document(agrees=False))
    assert '<header class="error">' in differs and "1 error remains" in Structure(differs).text


def test_what_an_input_says_is_escaped():
    hostile = compile_document(repaired_finding(HOSTILE, HOSTILE))
    hostile["facts"]["graph"]["ops"][0]["name"] = HOSTILE
    for document in (hostile, check_document(2, name=HOSTILE)):
        text = page(document, title=HOSTILE)
        found = Structure(text)
        assert "script" not in {tag for tag, _ in found.found} and "img" not in {
            tag for tag, _ in found.found
        }
        assert "\u202e" not in text and "\x1b" not in text
        assert "<script>alert('x')</script>" in found.text  # as text
        assert "\\u202e\\x1b[31m&amp;" in found.text


def _hostile(value):
    """``value`` with every text in it a hostile one."""
    if isinstance(value, dict):
        return {name: _hostile(more) for name, more in value.items()}
    if isinstance(value, list):
        return [_hostile(more) for more in value]
    return HOSTILE if isinstance(value, str) else value


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_report_that_somebody_else_wrote_is_escaped_all_over(name):
    """`fissile report` takes a file: each text may be anything."""
    facts = DOCUMENTS[name]["facts"]
    for key in facts:
        found = Structure(
            page(DOCUMENTS[name] | {"facts": facts | {key: _hostile(facts[key])}}, title=HOSTILE)
        )
        assert not {tag for tag, _ in found.found} & {"script", "link", "img", "iframe", "object", "form"}
        for _tag, attributes in found.found:
            assert not [a for a in attributes if a.startswith("on") or a in ("src", "action")]
            assert (attributes.get("href") or "#").startswith("#")


def test_many_dispatches_are_folded_away_and_the_failing_are_drawn():
    found = Structure(page(check_document(1000, targets=1)))
    assert found.count("details") >= 1
    drawn = found.count("g", **{"class": "dispatch"})
    assert drawn == MOST_DRAWN and f"{1000 - MOST_DRAWN} more dispatches are not shown" in found.text
    assert found.count("g", **{"class": "fails"}) > 0
    assert found.count("div", **{"class": "bar-row"}) == 1000


# --- where things stand


def ops(*feeds):
    return [
        {"name": f"%{i}", "op": "linalg.generic", "place": "", "feeds": list(f)} for i, f in enumerate(feeds)
    ]


def test_what_feeds_stands_above_and_boxes_do_not_overlap():
    drawing = draw("", ops([2], [2], [3, 4], [5], [5], []), [[0], [1], [2], [3], [4], [5]])
    y = [box.y for box in drawing.boxes]
    assert y[0] == y[1] < y[2] < y[3] == y[4] < y[5]
    boxes = drawing.boxes
    for number, one in enumerate(boxes):
        for other in boxes[:number]:
            apart = one.x >= other.x + other.width or other.x >= one.x + one.width
            assert apart or one.y >= other.y + other.height or other.y >= one.y + one.height
    assert len(drawing.edges) == 6 and all(edge.y1 < edge.y2 for edge in drawing.edges)
    assert all(box.x + box.width <= drawing.width and box.y + box.height <= drawing.height for box in boxes)


def test_a_producer_that_each_user_copies_is_no_edge():
    drawing = draw("", ops([1, 2], [], []), [[0, 1], [0, 2]])
    assert drawing.edges == ()


def test_a_wide_layer_takes_several_rows():
    drawing = draw("", ops(*([[]] * 12)), [[n] for n in range(12)])
    assert len({box.y for box in drawing.boxes}) == -(-12 // MOST_COLUMNS)


def test_bars_are_shares_of_the_same_scale():
    document = check_document(5, targets=1)
    bars = target_bars(document["facts"]["targets"][0])
    assert [bar.bytes for bar in bars] == sorted((bar.bytes for bar in bars), reverse=True)
    for bar in bars:
        share = sum(segment.percent for segment in bar.segments)
        assert share <= 100 and (share > bar.limit) == (bar.fits is False)


def test_a_check_says_under_its_verdict_how_many_errors_have_a_repair():
    document = check_document(1)
    error = {**compile_document()["findings"][0], "severity": "error"}
    with_help = {**document, "findings": [error, {**error, "helps": []}]}
    assert "`" not in Structure(page(with_help)).text
    assert "fissile compile can repair 1 of them" in Structure(page(with_help)).text
    assert "has a repair for" not in page({**document, "findings": [{**error, "helps": []}]})


def test_code_in_a_sentence_is_code_and_escaped():
    finding = repaired_finding().with_(notes=("`<b>` applies it", "an odd ` stays"))
    text = page(compile_document(finding))
    assert "<code>&lt;b&gt;</code> applies it" in text and "an odd ` stays" in text


def test_a_place_is_not_named_twice():
    finding = repaired_finding().with_(
        places=(
            Place("m.onnx", 3, 1, "node 3: Relu(x) -> x_relu: held", "x_relu"),
            Place("m.py", 4, 1, "root", "attn"),
        )
    )
    text = Structure(page(compile_document(finding))).text
    assert "in x_relu" not in text and "in attn" in text


def test_a_code_is_explained_once_where_it_leads_to():
    finding = repaired_finding()
    text = page(compile_document(finding))
    assert text.count(f'<a href="#{finding.code}">') == 1 and text.count(f'id="{finding.code}"') == 1
    assert "What the codes mean" not in page(check_document(1))


def test_functions_with_the_same_memory_are_named_together():
    document = check_document(3, targets=1)
    target = document["facts"]["targets"][0]
    (memory,) = target["memory"]
    target["memory"] = [
        memory,
        memory | {"function": "main$async"},
        memory | {"function": "other", "peak": 1},
    ]
    text = page(document)
    assert text.count("live bytes over") == 2 and "main, main$async" in text
