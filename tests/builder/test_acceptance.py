"""Covers that leave something to infer: what is accepted, what is drawn again, and what no cover is fitted to."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.making import pixels, rows_of
from tests.pixels.whole_strip import WholeStrip
from vcrgen.builder.acceptance import DRAWS, PLANS, Acceptance, Accepted, Threshold
from vcrgen.builder.compose import draw_parts
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import PairParts
from vcrgen.builder.run import build
from vcrgen.builder.stream import VCRStream
from vcrgen.builder.transform import VCRTransform
from vcrgen.core.errors import ConfigError
from vcrgen.core.records import Item, Mode, Reject, RejectReason, Span
from vcrgen.pixels.lexicon import load_lexicon
from vcrgen.pixels.posterior import lower_bound, visible_cells
from vcrgen.pixels.templates import Templates
from vcrgen.samples import sample_pair
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.cover import TEXT, cell_texts, draw_layers, span_cells
from vcrgen.typeset.fonts import default_chain, resolve_font
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.shaping import Shaper


def items(count: int, lang: str = "en", answers: tuple[str, ...] | None = None) -> list[Item]:
    pairs = (sample_pair(lang, 7 * n) for n in range(count))
    return [Item(source_id=str(n), image=p.image, caption=p.caption, answers=answers) for n, p in enumerate(pairs)]


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline(BuildConfig(cover="bars", mode="bits=4,8", seed=3))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    out = tmp_path_factory.mktemp("bits") / "built"
    build("samples:5", out=out, cover="bars", mode="bits=4,8", seed=3)
    return {mode: rows_of(out / mode) for mode in ("bits-4", "bits-8")}


def picture(row: dict[str, Any], column: str) -> np.ndarray:
    return pixels(row[column]["bytes"], "L")


def test_every_span_leaves_its_bits_and_its_ink(rows: dict[str, list[dict[str, Any]]]) -> None:
    assert rows["bits-4"] and len(rows["bits-4"]) == len(rows["bits-8"])
    for mode, built in rows.items():
        for row in built:
            assert len(row["pixel_bits"]) == len(row["spans"])
            assert min(row["pixel_bits"]) >= Mode(mode).bits
            assert min(span["visible_ink"] for span in row["spans"]) >= 0.25


def test_a_cover_that_leaves_less_ink_is_drawn_again(rows: dict[str, list[dict[str, Any]]], tmp_path: Path) -> None:
    """Of the same pairs and the same draws, some are refused at a floor that lies amid the ink of the others."""
    ink = sorted(span["visible_ink"] for row in rows["bits-4"] for span in row["spans"])
    floor = ink[len(ink) // 2]
    assert ink[0] < floor
    build("samples:5", out=tmp_path / "out", cover="bars", mode="bits=4", seed=3, least_ink=floor)
    built = rows_of(tmp_path / "out" / "bits-4")
    assert built and min(span["visible_ink"] for row in built for span in row["spans"]) >= floor


def test_bits_are_those_of_the_written_pixels(rows: dict[str, list[dict[str, Any]]], pipeline: Pipeline) -> None:
    """Computed anew from the covered strip and its mask: nothing under a cover counts."""
    templates = Templates(pipeline.style.shaper.chain.glyph, load_lexicon("en"))
    for row in (row for built in rows.values() for row in built):
        strip, mask = picture(row, "only_it_image_small"), picture(row, "cover_mask")[row["strip_y"] :] > 0
        item = Item(source_id="a", image=row["image"]["bytes"], caption=row["caption"])
        prepared = pipeline.prepare(item, pipeline.style)
        assert not isinstance(prepared, Reject) and prepared.layout.text == row["caption"]
        for told, bits in zip(row["spans"], row["pixel_bits"], strict=True):
            span = Span(start=told["start"], end=told["end"], text=told["text"], tokens=tuple(told["tokens"]))
            cells = span_cells(span, prepared.layout)
            layers = draw_layers(prepared.layout, cells)
            seen = visible_cells(templates, strip, mask, cells, layers, prepared.layout.baseline)
            assert lower_bound(templates, seen, cell_texts(span, prepared.layout)) == pytest.approx(bits, abs=0.006)


@pytest.mark.parametrize(
    ("cover", "font"), [("bars", "liberation-sans"), ("blots", "liberation-serif"), ("bars", "open-sans")]
)
def test_the_whole_strip_leaves_what_is_promised(cover: str, font: str, tmp_path: Path) -> None:
    """All pixels of the strip, also those below, above and beside the lines and pen positions, by another count."""
    build("samples:3", out=tmp_path / "out", cover=cover, mode="bits=8", font=font, seed=5)
    chain = default_chain(LANGUAGES["en"].fonts, size=20, first=resolve_font(font))
    count, counted = WholeStrip(load_lexicon("en"), chain), 0
    for row in rows_of(tmp_path / "out" / "bits-8"):
        strip, mask = picture(row, "only_it_image_small"), picture(row, "cover_mask")[row["strip_y"] :] > 0
        layout = layout_caption(row["caption"], BasicShaper(chain), width=300, max_lines=5, break_unit="word")
        for span, told in zip(row["spans"], row["pixel_bits"], strict=True):
            bits = count.bits(layout, strip, mask, span["start"], span["end"])
            assert 8 <= told <= bits + 0.05 and bits >= 8, (span["text"], told, bits)
            counted += 1
    assert counted >= 3


def test_ink_of_other_text_tells_nothing_of_a_span(pipeline: Pipeline) -> None:
    """Under it nothing is known: with such ink everywhere, all words of a width are left."""
    prepared, spans = next(found for found in pipeline.plan_items(items(6)) if not isinstance(found, Reject))
    parts, rule = draw_parts(prepared, spans), pipeline.style.calibrations[Mode("bits-4")].rule
    assert parts.layers
    inked = replace(parts, layers=replace(parts.layers, layers=np.full_like(parts.layers.layers, TEXT)))
    acceptance = Acceptance("en", 0)
    alone, among = (acceptance.bits(spans[0], each, prepared.style.shaper, rule) for each in (parts, inked))
    assert alone is not None and among is not None and among > alone + 1


def test_all_modes_have_one_form(rows: dict[str, list[dict[str, Any]]]) -> None:
    """A cover that hides less lies inside one that hides more, so the modes of a pair differ in nothing else."""
    for few, many in zip(rows["bits-4"], rows["bits-8"], strict=True):
        assert few["crossed_text"] == many["crossed_text"]
        inside = picture(few, "cover_mask") > 0
        assert (picture(many, "cover_mask")[inside] > 0).all() and inside.any()


def test_the_first_draw_that_leaves_enough_is_taken(pipeline: Pipeline) -> None:
    """Earlier draws are no smaller covers of the same form, and each of them leaves too little."""
    calibration = pipeline.style.calibrations[Mode("bits-4")]
    again = 0
    for prepared, spans in filter(lambda found: not isinstance(found, Reject), pipeline.plan_items(items(6))):
        parts = draw_parts(prepared, spans)
        accepted = pipeline.accept(
            prepared, spans, [Threshold(calibration.rule, 6)], pipeline.choices(prepared.keys.pair)
        )
        assert not isinstance(accepted, Reject)
        for span in set(spans) & set(accepted):
            forms = [
                pipeline.choices(prepared.keys.pair).span_rule(calibration.rule, span, draw)
                for draw in range(accepted[span].draw + 1)
            ]
            assert len(set(forms)) == len(forms) and {form.name for form in forms} == {calibration.rule.name}
            for draw, form in enumerate(forms):
                bits = pipeline.acceptance.bits(span, parts, prepared.style.shaper, form)
                assert (bits is not None and bits >= 6) == (draw == accepted[span].draw)
            again += accepted[span].draw
    assert again > 0


class Refusing(Acceptance):
    """Accepts spans by a rule of a test."""

    def __init__(self, accepts: Callable[[Span], bool]) -> None:
        self._accepts, self.asked = accepts, list[Span]()

    def draw(
        self, span: Span, parts: PairParts, shaper: Shaper, form: Callable[[int], Sequence[Threshold]]
    ) -> Accepted | None:
        self.asked.append(span)
        return Accepted(0, (5.0, 9.0)) if self._accepts(span) else None


@pytest.fixture
def refusing(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Refusing]:
    def refuse(accepts: Callable[[Span], bool]) -> Refusing:
        chosen = Refusing(accepts)
        monkeypatch.setattr(pipeline, "acceptance", chosen)
        return chosen

    return refuse


def test_another_span_is_taken(pipeline: Pipeline, refusing: Callable[..., Refusing]) -> None:
    planned = [found for found in pipeline.plan_items(items(8)) if not isinstance(found, Reject)]
    refused = {(prepared.keys.pair, span.start) for prepared, spans in planned for span in spans[:1]}
    others = 0
    for prepared, spans in planned:
        chosen = refusing(lambda span, pair=prepared.keys.pair: (pair, span.start) not in refused)
        accepted = pipeline.accept(prepared, spans, [], pipeline.choices(prepared.keys.pair))
        assert len(chosen.asked) == len(set(chosen.asked))
        if isinstance(accepted, Reject):
            continue
        assert spans[0] not in accepted and list(accepted) == sorted(accepted, key=lambda span: span.start)
        others += not set(accepted) <= set(spans)
    assert others > 0


def test_a_pair_that_pixels_settle_is_rejected(pipeline: Pipeline, refusing: Callable[..., Refusing]) -> None:
    chosen = refusing(lambda span: False)
    outcomes = list(pipeline.pairs(items(3)))
    assert {outcome.reason for outcome in outcomes if isinstance(outcome, Reject)} >= {RejectReason.SETTLED}
    assert not any(not isinstance(outcome, Reject) for outcome in outcomes)
    settled = next(o for o in outcomes if isinstance(o, Reject) and o.reason == RejectReason.SETTLED)
    assert settled.detail == f"none of {DRAWS} covers of a text leaves enough bits and 0.25 of the ink"
    assert 3 <= len(chosen.asked) <= 3 * PLANS * 4


def test_given_texts_are_not_exchanged(pipeline: Pipeline, refusing: Callable[..., Refusing]) -> None:
    pair = sample_pair("en", 0)
    words = pair.caption.split()
    given = (" ".join(words[1:3]), " ".join(words[4:6]))
    item = Item(source_id="a", image=pair.image, caption=pair.caption, answers=given)
    refusing(lambda span: span.text != given[0])
    assert next(iter(pipeline.pairs([item]))).reason == RejectReason.SETTLED


def test_rows_are_settled_by_pixels() -> None:
    pipeline = Pipeline(BuildConfig(mode="hard", least_bits=1))
    assert {outcome.reason for outcome in pipeline.pairs(items(2))} == {RejectReason.SETTLED}


def test_a_stream_says_its_bits() -> None:
    stream = VCRStream("samples:6", cover="blots", ink=0.35, least_bits=3, epochs=1, seed=2)
    for example in stream:
        assert len(example["pixel_bits"]) == len(example["answers"]) and min(example["pixel_bits"]) >= 3


def test_modes_of_bits_in_a_stream_are_resumed() -> None:
    def make() -> VCRStream:
        return VCRStream("samples:6", cover="bars", mode={"bits-4": 1, "bits-8": 1}, epochs=2, seed=2)

    whole = list(make())
    assert {example["mode"] for example in whole} == {"bits-4", "bits-8"}
    for example in whole:
        assert min(example["pixel_bits"]) >= Mode(example["mode"]).bits and min(example["visible_ink"]) >= 0.25
    first, second = ({e["question_id"]: e for e in whole if e["epoch"] == epoch} for epoch in (0, 1))
    assert any((first[name]["image"] != second[name]["image"]).any() for name in first.keys() & second.keys())
    stream = make()
    started = [example for _, example in zip(range(4), stream, strict=False)]
    resumed = make()
    resumed.load_state_dict(stream.state_dict())
    again = [*started, *resumed]
    assert [(e["question_id"], e["epoch"], e["mode"]) for e in again] == [
        (e["question_id"], e["epoch"], e["mode"]) for e in whole
    ]
    assert all((a["image"] == b["image"]).all() for a, b in zip(again, whole, strict=True))


def test_a_transform_has_the_covers_of_a_build(tmp_path: Path) -> None:
    build("samples:3", out=tmp_path / "built", cover="bars", mode="bits=4", seed=3)
    built = {row["question_id"]: row for row in rows_of(tmp_path / "built" / "bits-4")}
    transform = VCRTransform(cover="bars", mode="bits=4", seed=3)
    for number in range(3):
        pair = sample_pair("en", number)
        row = transform({"image": pair.image, "caption": pair.caption})
        same = built[row["question_id"]]
        assert row["crossed_text"] == same["crossed_text"] and row["pixel_bits"] == pytest.approx(same["pixel_bits"])
        assert np.array_equal(row["stacked_image"], pixels(same["stacked_image"]["bytes"]))
        assert min(row["pixel_bits"]) >= 4


def test_the_signature_names_lexicon_and_threshold(pipeline: Pipeline) -> None:
    assert pipeline.signature.facts["mode"] == "bits-4+bits-8"
    assert pipeline.signature.facts["bits"] == f"0,bound-3,ink-0.25,sigma-4,{load_lexicon('en').name}"
    plain = Pipeline(BuildConfig(cover="bars"))
    assert "bits" not in plain.signature.facts and plain.acceptance is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"mode": "bits=4"}, "--mode bits needs covers that hide whole letters, as --cover bars"),
        ({"mode": "bits=5", "cover": "bars"}, "bits=5 has no calibrated covers; known: 4, 8"),
        ({"mode": "bits=4,4", "cover": "bars"}, "bits=4,4 is not one whole number or several"),
        ({"mode": "bits=", "cover": "bars"}, "bits= is not one whole number"),
        ({"lang": "ar", "cover": "bars", "mode": "bits=4"}, "bits are unknown for Arabic"),
        ({"lang": "hi", "least_bits": 1}, "bits are unknown for Hindi"),
        ({"least_bits": 21}, "less than or equal to 20"),
    ],
)
def test_bad_options_are_sentences(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        build("samples:2", out=Path("nowhere"), **options)
