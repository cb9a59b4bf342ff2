"""Reading order, sizes, and the engine itself where it is installed."""

import io
import sys
import types
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from tests.pages import Run
from vcrgen.builder.run import build
from vcrgen.cli.demo import STEPS
from vcrgen.core.errors import PipelineError
from vcrgen.core.resources import resource_dir
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.models.base import Request, RequestProblem
from vcrgen.models.ocr import MAX_PIXELS, MAX_SIDE, Fragment, OcrModel, enlarged, reading_order
from vcrgen.samples.pairs import caption
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.fonts import default_chain
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.render import render_strip
from vcrgen.typeset.style import make_shaper

Box = tuple[float, float, float, float, str]


@pytest.mark.parametrize(
    ("boxes", "expected"),
    [
        ([], ""),
        ([(0, 0, 50, 20, "one")], "one"),
        ([(0, 22, 50, 42, "b"), (0, 0, 50, 20, "a")], "a|b"),
        ([(60, 0, 99, 20, "b"), (0, 0, 50, 20, "a")], "a|b"),
        # Lines whose boxes differ by a pixel or two, or are wider than the line, are told apart all the same.
        ([(60, 1, 99, 21, "b"), (0, 3, 50, 23, "a"), (0, 22, 50, 42, "c")], "a|b|c"),
        ([(0, 0, 50, 26, "a"), (60, 2, 99, 28, "b"), (0, 20, 50, 46, "c"), (60, 22, 99, 48, "d")], "a|b|c|d"),
        # The edges of a covered text, above and below its middle, belong to the line that they stand in.
        ([(0, 22, 50, 44, "b"), (60, 23, 99, 31, "up"), (60, 36, 99, 44, "low"), (0, 0, 50, 22, "a")], "a|b|up|low"),
        ([(60, 0, 99, 9, "up"), (60, 13, 99, 22, "low"), (0, 0, 50, 22, "a")], "a|up|low"),
        # A tall text of the picture beside two lines takes both, as a person would have to.
        ([(0, 0, 50, 20, "a"), (0, 60, 50, 80, "b"), (200, 200, 300, 400, "tall")], "a|b|tall"),
        # A box without height, blank texts, and white space around a text.
        ([(0, 10, 50, 10, "flat"), (60, 0, 99, 20, "a")], "flat|a"),
        ([(0, 0, 9, 20, "  "), (20, 0, 50, 20, " a "), (60, 0, 99, 20, "")], "a"),
    ],
)
def test_reading_order(boxes: list[Box], expected: str) -> None:
    fragments = [Fragment(x0=x0, y0=y0, x1=x1, y1=y1, text=t, confidence=1.0) for x0, y0, x1, y1, t in boxes]
    assert reading_order(fragments, "|") == expected
    assert reading_order(reversed(fragments), "|") == expected


def test_lines_of_a_right_to_left_script_begin_at_the_right() -> None:
    boxes = [(0, 0, 50, 20, "b"), (60, 0, 99, 20, "a"), (0, 22, 99, 42, "c")]
    fragments = [Fragment(x0=x0, y0=y0, x1=x1, y1=y1, text=t, confidence=1.0) for x0, y0, x1, y1, t in boxes]
    assert reading_order(fragments, " ", "rtl") == "a b c"


def test_languages_without_spaces_are_joined_without_any() -> None:
    boxes = [(0.0, 0.0, 50.0, 20.0, "\u4e00"), (60.0, 0.0, 99.0, 20.0, "\u53ea"), (0.0, 22.0, 50.0, 42.0, "\u732b")]
    fragments = [Fragment(x0=x0, y0=y0, x1=x1, y1=y1, text=t, confidence=1.0) for x0, y0, x1, y1, t in boxes]
    assert reading_order(fragments, "") == "\u4e00\u53ea\u732b"


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((300, 400), (600, 800)),
        ((600, 1000), (848, 1414)),  # 1.2 million pixels
        ((1000, 1500), (1000, 1500)),
        ((1, 1), (2, 2)),
        ((4000, 4000), (2828, 2828)),
        ((50_000, 1), (MAX_SIDE, 1)),
    ],
)
def test_pictures_are_enlarged_as_far_as_the_engine_can_hold(size: tuple[int, int], expected: tuple[int, int]) -> None:
    image = enlarged(Image.new("RGB", size))
    assert image.size == expected
    assert image.width * image.height <= MAX_PIXELS


def test_the_extra_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr_onnxruntime", None)
    with pytest.raises(PipelineError, match=r'not installed: pip install "rapidocr-onnxruntime>='):
        OcrModel()


def test_the_extra_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cv2", "onnxruntime", "rapidocr_onnxruntime"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    with pytest.raises(PipelineError, match="is installed, but cannot be loaded: cannot import name 'RapidOCR'"):
        OcrModel()


def encoded(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def asked(image: Image.Image, lang: str = "en") -> Request:
    return Request(images=(encoded(image),), language=lang)


def sample_strip(lang: str) -> bytes:
    """A built-in text, set and drawn."""
    language = LANGUAGES[lang]
    shaper = make_shaper(language, default_chain(language.fonts, size=20))
    layout = layout_caption(caption(lang, 0), shaper, width=300, max_lines=2, break_unit=language.break_unit)
    return encoded(Image.fromarray(render_strip(layout)))


@pytest.fixture(scope="module")
def model() -> OcrModel:
    for name in ("onnxruntime", "cv2", "rapidocr_onnxruntime"):
        pytest.importorskip(name, reason='needs the OCR engine (pip install ".[ocr]")', exc_type=ImportError)
    return OcrModel()


@pytest.mark.extras
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("column", ["stacked_image", "only_it_image"])
def test_what_is_not_covered_is_read(
    model: OcrModel, tmp_path_factory: pytest.TempPathFactory, lang: str, column: str
) -> None:
    dataset = tmp_path_factory.mktemp("ocr") / lang
    build("samples", out=dataset, limit=4, lang=lang, mode="hard")
    wanted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for _, row in open_dataset(dataset, VCR).select(mode="hard").rows():
        shown = row["caption"]
        for span in row["spans"]:
            shown = shown.replace(span["text"], "\n")
        request = Request(images=(row[column]["bytes"],), language=lang)
        text = model.reply(request).text
        assert model.reply(request).text == text
        units = [Counter(t.split() if lang == "en" else t) for t in (shown, text)]
        wanted += units[0]
        found += units[0] & units[1]
    assert found.total() > 0.9 * wanted.total()


@pytest.mark.extras
@pytest.mark.usefixtures("model")
def test_the_outputs_that_the_demo_scores_are_what_the_engine_reads(run: Run) -> None:
    assert run(*STEPS[0].split())[0] == 0
    assert run("baseline", "ocr", "demo/data", "--view", "tei", "--out", "now.jsonl")[0] == 0
    recorded = resource_dir("configs") / "demo" / "ocr.jsonl"
    assert Path("now.jsonl").read_bytes() == recorded.read_bytes(), "python scripts/record_demo.py"


@pytest.mark.extras
def test_a_picture_without_text(model: OcrModel) -> None:
    reply = model.reply(asked(Image.new("RGB", (300, 200), "white")))
    assert (reply.text, reply.model, reply.finish_reason) == ("", model.name, "stop")


@pytest.mark.extras
def test_likelihoods_are_not_made_up(model: OcrModel) -> None:
    with pytest.raises(RequestProblem, match="gives no log-probabilities"):
        model.reply(Request(language="en", candidates=("a", "b")))


@pytest.mark.extras
def test_the_engine_fails(model: OcrModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("no\nmore")

    monkeypatch.setattr(model, "_engine", fail)
    with pytest.raises(RequestProblem, match=r"the OCR engine fails on it: no$"):
        model.reply(asked(Image.new("RGB", (9, 9))))
