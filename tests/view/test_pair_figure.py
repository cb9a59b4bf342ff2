"""One pair with its cover, its answer and outputs as a figure."""

import base64
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from vcrgen.core.errors import ConfigError
from vcrgen.report.lettering import outline
from vcrgen.report.paragraph import MOST_LINES, paragraph
from vcrgen.scorer.options import ScoreOptions
from vcrgen.view.pair_figure import GROUNDS, draw_item, pair_figure
from vcrgen.view.query import Query
from vcrgen.view.view_data import ViewData

Run = Callable[..., tuple[int, str, str]]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def data(dataset: Path, outputs: list[Path]) -> ViewData:
    return ViewData(dataset, outputs, ScoreOptions(split="all"))


def grounds(svg: str) -> list[str]:
    return [name for name, color in GROUNDS.items() for _ in re.findall(f'fill="{color}"', svg)]


def test_the_picture_and_its_strip_stand_beside_what_is_expected_and_what_was_said(data: ViewData) -> None:
    svg = pair_figure(data, data.complete(Query.parse("mode=hard&right=0&wrong=1")))
    root = ElementTree.fromstring(svg)
    pictures = root.findall(f".//{SVG}image")
    assert [float(picture.attrib["width"]) for picture in pictures] == [300, 300]
    top, strip = (float(picture.attrib["height"]) for picture in pictures)
    assert float(pictures[1].attrib["y"]) == pytest.approx(top, abs=0.01) and 0 < strip < top
    href = pictures[0].attrib["{http://www.w3.org/1999/xlink}href"]
    assert base64.b64decode(href.partition(",")[2]).startswith(b"\x89PNG") and not root.findall(f".//{SVG}text")
    assert {"masked", "exact"} <= set(grounds(svg))  # the covered words, and what the first model has right


def test_the_cover_is_that_of_the_mode(data: ViewData) -> None:
    drawn = {mode: pair_figure(data, data.complete(Query.parse(f"mode={mode}"))) for mode in ("easy", "hard")}
    strips = [re.findall(r'xlink:href="([^"]+)"', svg) for svg in drawn.values()]
    assert strips[0][0] == strips[1][0] and strips[0][1] != strips[1][1]


def test_a_question_has_its_options_and_the_right_one() -> None:
    question = {"text": "How many lamps?", "options": ["one", "two", "three", "four"]}
    card = {"image": None, "questions": {"en": question}, "key": 1}
    response = {"pieces": [["B", ""]], "cut": False}
    result = {
        "mode": "en",
        "view": "image",
        "run": 0,
        "spans": [{"outcome": "right", "group": "exact"}],
        "responses": [response],
    }
    svg = draw_item({"id": "q", "card": card, "results": [result]}, ["m"], "en", "image")
    assert grounds(svg) == ["masked"] and "image" not in svg.partition("<title>")[2]
    assert outline("two", 12).path in svg and outline("right", 11).path in svg


def test_what_no_filter_finds_and_what_is_secret_is_a_sentence(
    data: ViewData, dataset: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="The filter finds no item"):
        pair_figure(data, data.complete(Query.parse("search=zzzz")))
    code, out, err = run("view", dataset, "--filter", "mode=hard", "--figure", "pair.pdf")
    assert (code, out, err) == (0, "Written: pair.pdf\n", "") and Path("pair.pdf").read_bytes().startswith(b"%PDF")
    assert run("view", dataset, "--figure", "pair.jpg")[2].startswith("Error: pair.jpg: a figure is written as .svg")
    monkeypatch.setattr(data, "secret", True)
    with pytest.raises(ConfigError, match="would show answers that are secret"):
        pair_figure(data, data.complete(Query.parse("")))
    assert "give one of them" in run("view", dataset, "--figure", "pair.svg", "--out", "folder")[2]


def test_lines_break_between_words_and_keep_their_marks() -> None:
    part = paragraph([("one two three ", ""), ("four five", "exact"), (" 六七八九十", "")], 60, GROUNDS)
    root = ElementTree.fromstring(f"<g>{''.join(part.elements)}</g>")
    rows = {float(rect.attrib["y"]) for rect in root.findall("rect")}
    assert part.height == pytest.approx(4 * 1.45 * 12) and len(rows) == 2  # of "four" and of "five"
    assert all(float(rect.attrib["x"]) + float(rect.attrib["width"]) <= 61 for rect in root.findall("rect"))
    assert paragraph([("word " * 500, "")], 60, GROUNDS).height == pytest.approx(MOST_LINES * 1.45 * 12)


def test_words_from_right_to_left_begin_at_the_right() -> None:
    part = paragraph([("نموذج واحد", "exact")], 200, GROUNDS)
    first, *_ = ElementTree.fromstring(f"<g>{''.join(part.elements)}</g>").findall("rect")
    assert float(first.attrib["x"]) + float(first.attrib["width"]) == pytest.approx(200, abs=0.5)
