"""Hidden sets under the default covers: each span leaves something to infer, and nothing is known of a form but it."""

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.pixels.whole_strip import WholeStrip
from vcrgen.builder.rows import read_covers
from vcrgen.core.errors import FontError, HiddenSetError
from vcrgen.core.progress import ProgressListener
from vcrgen.core.records import Mode, Span
from vcrgen.hidden import HiddenResult
from vcrgen.hidden.measured import measured_spans
from vcrgen.hidden.secret import load_secret
from vcrgen.hidden.verify import leaks, verify
from vcrgen.models.predict.strip_attack import attack_strips
from vcrgen.pixels.lexicon import load_lexicon
from vcrgen.pixels.posterior import lower_bound, visible_cells
from vcrgen.pixels.templates import Templates
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.cover import cell_texts, draw_layers, mark_hidden, span_cells
from vcrgen.typeset.fonts import FontChain, resolve_font
from vcrgen.typeset.layout import layout_caption

Answers = Callable[[Path], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def by_bits(make: Callable[..., HiddenResult], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bits") / "set"
    make(out, items=3, fonts=("open-sans",), cover="bars")
    return out


def test_every_span_leaves_the_bits_of_its_mode(by_bits: Path, answers: Answers) -> None:
    """Read from the published pixels, in the font of the key."""
    seen = Counter[str]()
    for answer in answers(by_bits):
        shaper = BasicShaper(FontChain([resolve_font(answer["font"])], size=answer["font_size"]))
        unit = LANGUAGES["en"].break_unit
        layout = layout_caption(answer["caption"], shaper, width=answer["width"], max_lines=5, break_unit=unit)
        image = np.asarray(Image.open(by_bits / "public/stacked_image" / f"{answer['question_id']}.png").convert("L"))
        strip = image[answer["strip_y"] : answer["strip_y"] + answer["strip_height"]]
        templates = Templates(shaper.chain.glyph, load_lexicon("en"))
        for told in answer["spans"]:
            span = Span(start=told["start"], end=told["end"], text=told["text"], tokens=tuple(told["tokens"]))
            hidden = np.zeros(strip.shape, bool)
            mark_hidden(hidden, (cover for row in answer["spans"] for cover in read_covers(row)))
            cells = span_cells(span, layout)
            cells = visible_cells(templates, strip, hidden, cells, draw_layers(layout, cells), layout.baseline)
            bits = lower_bound(templates, cells, cell_texts(span, layout))
            assert bits == pytest.approx(told["pixel_bits"], abs=0.006) and bits >= Mode(told["cover"]).bits - 0.006
            whole = WholeStrip(load_lexicon("en"), shaper.chain).bits(layout, strip, hidden, span.start, span.end)
            assert whole >= bits - 0.05 and whole >= Mode(told["cover"]).bits
            assert told["visible_ink"] >= 0.24
            seen[told["cover"]] += 1
    assert set(seen) == {"bits-4", "bits-8"} and abs(seen["bits-4"] - seen["bits-8"]) <= 1


class Steps(ProgressListener):
    total = done = 0

    def begin(self, total: int, done: int) -> None:
        self.total = total

    def advance(self, done: int, kept: int, rejected: Counter[str], /) -> None:
        self.done += done


def test_the_report_and_the_checks(by_bits: Path, secret_file: Path, answers: Answers) -> None:
    report = json.loads((by_bits / "key/report.json").read_text())
    bits = [span["pixel_bits"] for answer in answers(by_bits) for span in answer["spans"]]
    stretches = [span["least_stretch_bits"] for answer in answers(by_bits) for span in answer["spans"]]
    assert report["pixel_bits"] == {
        "least": min(bits),
        "p10": round(float(np.percentile(bits, 10)), 2),
        "median": round(float(np.median(bits)), 2),
        "least_stretch": min(stretches),
    }
    assert set(report["visible_ink"]) == {"bits-4", "bits-8"}
    steps = Steps()
    assert not leaks(verify(by_bits, secret=load_secret(secret_file, create=False), listener=steps))
    assert steps.total == steps.done == len(answers(by_bits))
    signature = json.loads((by_bits / "key/key.json").read_text())["signature"]
    assert "cover:bits-4=bars-0.38,bits-8=bars-0.3|" in signature and load_lexicon("en").name in signature
    public = "".join(path.read_text() for path in (by_bits / "public").iterdir() if path.is_file())
    assert "pixel_bits" not in public


def test_the_bits_are_measured_anew_in_the_public_pixels(by_bits: Path, answers: Answers) -> None:
    """Without the builder: fewer bits than a cover promises, and ink that stands outside of a cover, are found."""
    (check,) = (check for check in verify(by_bits) if "promise" in check.name)
    spans = [span for answer in answers(by_bits) for span in answer["spans"]]
    least, of_stretch = (min(span[name] for span in spans) for name in ("pixel_bits", "least_stretch_bits"))
    assert check.ok and f"bits of {len(spans)} spans: least {least:.1f}, median" in check.detail
    assert check.detail.endswith(f"covered stretches {of_stretch:.1f}")
    for answer in answers(by_bits):
        image = Image.open(by_bits / "public/stacked_image" / f"{answer['question_id']}.png").convert("L")
        strip = np.asarray(image)[answer["strip_y"] : answer["strip_y"] + answer["strip_height"]]
        measured = list(measured_spans(answer, strip, "en"))
        for span, told in zip(measured, answer["spans"], strict=True):
            assert span.bits == pytest.approx(told["pixel_bits"], abs=0.006)
            assert sum(span.stretches) == pytest.approx(span.bits)
            assert min(span.stretches) == pytest.approx(told["least_stretch_bits"], abs=0.006)
            assert f"{span.before}{''.join(span.texts)}{span.after}".replace(" ", "") in answer["drawn"].replace(
                " ", ""
            )
        box = next(read_covers(answer["spans"][0])).box
        shown = strip.copy()
        shown[min(box.y1, len(strip) - 1), box.x0] ^= 255
        with pytest.raises(HiddenSetError, match="not the text of the key"):
            list(measured_spans(answer, shown, "en"))
        missing = answer | {"font": "no-such-face"}
        with pytest.raises(FontError):
            list(measured_spans(missing, strip, "en"))


def test_a_cover_that_leaves_less_than_it_promises_fails(by_bits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[verify.__module__]
    few = SimpleNamespace(bits=3.9, stretches=[3.9])
    monkeypatch.setattr(module, "measured_spans", lambda item, *_: (few for _ in item["spans"]))
    (failed,) = leaks(verify(by_bits))
    assert "leaves 3.9 bits, and its cover promises" in failed.detail and "measured" not in failed.detail

    def no_font(*_: object) -> None:
        raise FontError("The font x is not on this machine.")

    monkeypatch.setattr(module, "measured_spans", no_font)
    assert [check.detail for check in verify(by_bits) if "promise" in check.name and check.ok is None]


def test_white_rows_are_said_to_be_settled(
    run: Callable[..., tuple[int, str, str]], by_bits: Path, secret_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "rows"
    words = ("--items", 1, "--fonts", "open-sans", "--secret-file", secret_file, "--reuse-secret", "--cover", "rows")
    code, said, err = run("hidden", "samples:20", "--private-source", *words, "--out", out)
    assert code == 0 and "the visible pixels settle every span" in err, said
    total = json.loads((out / "key/report.json").read_text())["spans"]
    code, said, err = run("hidden", "verify", out, "--secret-file", secret_file)
    assert (
        code == 0
        and f"restores {total} of {total} {'span' if total == 1 else 'spans'} (100%)" in " ".join(said.split())
        and "give these" in err
    )
    code, said, err = run("hidden", "verify", by_bits, "--strips", 1, "--secret-file", secret_file)
    assert code == 0 and "Template baseline on 1 strip" in said and "give these" not in err
    assert "Template baseline" not in run("hidden", "verify", by_bits, "--strips", "0")[1]


@pytest.mark.parametrize("paper", ["cream", "newsprint"])
def test_paper_is_said_to_be_the_cause(run: Callable[..., tuple[int, str, str]], tmp_path: Path, paper: str) -> None:
    """Even paper is of one shade, as covers are."""
    run("build", "samples:2", "--mode", "hard", "--paper", paper, "--out", tmp_path / "public")
    attack = attack_strips(tmp_path, 1)
    assert (attack.unread, attack.coloured) == (1, 1)
    assert "1 strip, of which it cannot read 1, as their paper is not white" in str(attack)
