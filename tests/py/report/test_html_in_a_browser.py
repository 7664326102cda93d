"""The HTML report as Chromium shows it: light, dark, narrow, large, printed. Skipped where there is no Chromium."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest
from report_documents import check_document, compile_document, repaired_finding, verify_document

from fissile.pipelines.report.html.page import page

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium here: apt-get install chromium")

LIGHT, DARK = (0xFB, 0xFB, 0xFA), (0x14, 0x16, 0x19)
KEEP = os.environ.get("FISSILE_SCREENSHOTS", "")
"""A folder to leave the pictures in."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Runs Chromium with a profile of its own."""
    profile = tmp_path_factory.mktemp("profile")

    def run(*options: str) -> str:
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += ["--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={profile}", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    return run


def written(folder: Path, document: dict) -> str:
    file = folder / "report.html"
    file.write_text(page(document), encoding="utf-8")
    return file.as_uri()


def picture(browser, folder: Path, document: dict, name: str, width: int = 1280, *options: str) -> Picture:
    file = Path(KEEP or folder, f"{name}.png")
    browser(f"--window-size={width},1600", *options, f"--screenshot={file}", written(folder, document))
    return Picture(file)


class Picture:
    """The pixels of a PNG of 8 bits a channel, which is what Chromium writes."""

    def __init__(self, file: Path) -> None:
        data, at, packed = file.read_bytes(), 8, b""
        while at < len(data):
            length, kind = struct.unpack(">I4s", data[at : at + 8])
            body = data[at + 8 : at + 8 + length]
            if kind == b"IHDR":
                self.width, self.height, depth, colours = struct.unpack(">IIBB", body[:10])
                assert depth == 8
                self.channels = {2: 3, 6: 4}[colours]
            packed += body if kind == b"IDAT" else b""
            at += 12 + length
        self.rows = self._unfiltered(zlib.decompress(packed))

    def _unfiltered(self, data: bytes) -> list[bytearray]:
        step, rows, above = self.channels, [], bytearray(self.width * self.channels)
        for start in range(0, len(data), self.width * step + 1):
            kind, row = data[start], bytearray(data[start + 1 : start + 1 + self.width * step])
            for i in range(len(row)):
                left = row[i - step] if i >= step else 0
                up, corner = above[i], above[i - step] if i >= step else 0
                if kind == 1:
                    guess = left
                elif kind == 2:
                    guess = up
                elif kind == 3:
                    guess = (left + up) // 2
                elif kind == 4:
                    distance = [abs(left + up - corner - one) for one in (left, up, corner)]
                    guess = (left, up, corner)[distance.index(min(distance))]
                else:
                    break
                row[i] = row[i] + guess & 255
            rows.append(row)
            above = row
        return rows

    def pixel(self, x: int, y: int) -> tuple[int, ...]:
        return tuple(self.rows[y][x * self.channels : x * self.channels + 3])

    def colours(self) -> set[tuple[int, ...]]:
        step = self.channels
        return {tuple(row[x : x + 3]) for row in self.rows[::3] for x in range(0, len(row), 3 * step)}


def test_light_by_default(browser, tmp_path):
    seen = picture(browser, tmp_path, compile_document(), "light")
    assert (seen.width, seen.pixel(2, 2)) == (1280, LIGHT)
    # The verdict, a bar and the failing box are there, in their colours.
    assert {(0x1D, 0x6F, 0xB8), (0x3B, 0x6F, 0xB6), (0xB3, 0x26, 0x1E)} <= seen.colours()


def test_dark_where_the_reader_prefers_it(browser, tmp_path):
    dark = "--blink-settings=preferredColorScheme=0"
    seen = picture(browser, tmp_path, compile_document(), "dark", 1280, dark)
    assert seen.pixel(2, 2) == DARK


def dom(browser, folder: Path, document: dict, width: int) -> dict[str, int]:
    """Sizes that a script of the test measures in the page, whose own policy forbids scripts: in a frame around it."""
    import html
    import json
    import re

    measure = (
        "const p=document.querySelector('iframe').contentDocument.documentElement;"
        "document.body.dataset.sizes=JSON.stringify({width:p.clientWidth,needs:p.scrollWidth,height:p.scrollHeight})"
    )
    text = html.escape(page(document))
    frame = f'<body><iframe style=\'width:{width}px;height:900px;border:0\' srcdoc="{text}" onload="{measure}"></iframe></body>'
    file = folder / "frame.html"
    file.write_text(frame, encoding="utf-8")
    shown = browser("--dump-dom", "--virtual-time-budget=20000", file.as_uri())
    found = re.search(r'data-sizes="([^"]+)"', shown)
    assert found, shown[:500]
    return json.loads(html.unescape(found[1]))


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("name", ["repaired", "check", "verify", "long"])
def test_no_width_scrolls_sideways(browser, tmp_path, width, name):
    quoted = f"function '{'main_dispatch_' * 12}' uses 9 bytes"
    document = {
        "repaired": compile_document(),
        "check": check_document(12),
        "verify": verify_document(),
        "long": compile_document(repaired_finding("%" + "name" * 40).with_(stock=quoted)),
    }[name]
    sizes = dom(browser, tmp_path, document, width)
    assert sizes["needs"] <= sizes["width"], sizes


def test_a_thousand_dispatches_are_one_page_one_can_read(browser, tmp_path):
    picture(browser, tmp_path, check_document(1000), "thousand")
    sizes = dom(browser, tmp_path, check_document(1000), 1280)
    assert sizes["needs"] <= sizes["width"] and sizes["height"] < 30_000


def test_it_prints(browser, tmp_path):
    file = Path(KEEP or tmp_path, "printed.pdf")
    browser(f"--print-to-pdf={file}", "--no-pdf-header-footer", written(tmp_path, check_document(40)))
    data = file.read_bytes()
    assert data.startswith(b"%PDF") and 2 <= data.count(b"/Type /Page\n") <= 40
