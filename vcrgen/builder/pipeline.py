"""The stages in a row: from items of a source to rows of a dataset. Only here do stages meet."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from vcrgen.builder.encode import Band, ImageFormat, Pixels, encode_image, white_band
from vcrgen.builder.filters import CensorList
from vcrgen.builder.images import ImageLimits, load_image
from vcrgen.builder.masking import locate_answers, plan_mask
from vcrgen.config import BuildConfig
from vcrgen.errors import ImageProblem, PipelineError
from vcrgen.records import CoveredSpan, Item, Layout, Mode, Reason, Reject, Span
from vcrgen.rng import rng_for
from vcrgen.signature import Signature
from vcrgen.text.languages import LANGUAGES, LanguageRow
from vcrgen.text.normalise import NORMALISATION, normalise_caption
from vcrgen.text.pipelines import load_pipeline
from vcrgen.text.sample import calibration_sample
from vcrgen.typeset.calibrate import Calibration, calibrate
from vcrgen.typeset.cover import cover_boxes, measure_cover
from vcrgen.typeset.fonts import FontChain, default_chain, resolve_font
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.render import cover_strip, render_strip

if TYPE_CHECKING:
    from spacy.tokens import Doc

BATCH = 32  # items whose captions go through the text pipeline together


KEY_LENGTH = 20  # hex digits
KEY_DTYPE = np.dtype([(name, f"S{KEY_LENGTH}") for name in ("pair", "image", "caption")])


@dataclass(frozen=True, slots=True, kw_only=True)
class PairKeys:
    """Hashes by which pairs are told apart and kept together, in hex; one record of :data:`KEY_DTYPE`.

    Attributes:
        pair: Of image bytes and caption; also the ``question_id``.
        image: Of the source image's bytes.
        caption: Of the shown caption.
    """

    pair: str
    image: str
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a pair is set and covered.

    Attributes:
        width: Of all images, in pixels.
        max_height: Of the stacked image, in pixels.
        chain: The fonts at their size.
        covers: What each mode hides in these fonts.
    """

    width: int
    max_height: int
    chain: FontChain
    covers: Mapping[Mode, Calibration]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An item that passed all filters but the text pipeline's."""

    item: Item
    keys: PairKeys
    style: Style
    image: Image.Image
    layout: Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """The images of one pair under one set of covers, as bands of rows from the top.

    Attributes:
        stacked: VI+TEI.
        only_it: TEI only, of the same size.
        only_it_small: The strip.
        spans: The spans under their covers.
        strip_y: Top row of the strip in ``stacked``, in pixels.
        only_it_strip_y: The same in ``only_it``.
    """

    stacked: tuple[Band, ...]
    only_it: tuple[Band, ...]
    only_it_small: tuple[Band, ...]
    spans: tuple[CoveredSpan, ...]
    strip_y: int
    only_it_strip_y: int


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The images of one pair in one mode, encoded.

    Attributes:
        stacked: VI+TEI.
        only_it: TEI only, of the same size.
        only_it_small: The strip.
        spans: The spans under their covers.
        strip_y: Top row of the strip in ``stacked``, in pixels.
        only_it_strip_y: The same in ``only_it``.
    """

    stacked: bytes
    only_it: bytes
    only_it_small: bytes
    spans: tuple[CoveredSpan, ...]
    strip_y: int
    only_it_strip_y: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One finished pair."""

    keys: PairKeys
    source_id: str
    caption: str
    image: bytes
    views: dict[Mode, View]
    strip_height: int


class Pipeline:
    """All stages of one configuration, with what they need loaded.

    Raises:
        VcrgenError: A font, a list or the text pipeline cannot be used.
    """

    def __init__(self, config: BuildConfig) -> None:
        self.config = config
        self.language = LANGUAGES[config.lang]
        first = resolve_font(config.font) if config.font else None
        chain = default_chain(self.language.fonts, size=config.font_size, first=first)
        self.style = make_style(self.language, chain, width=config.width, max_height=config.max_height)
        self.censor = CensorList.load(self.language, config.censor_list)
        self.text = load_pipeline(config.lang, config.spacy_model)
        if config.mask == "nouns" and not self.text.finds_nouns:
            raise PipelineError(
                f"--mask nouns needs parts of speech, which {self.text.eligibility} does not give; "
                "name a trained pipeline with --spacy-model."
            )

    @cached_property
    def signature(self) -> Signature:
        """What the datasets of this pipeline can be compared with."""
        config, language, chain = self.config, self.language, self.style.chain
        rows = (f"{mode}={self.style.covers[mode].shown}" for mode in config.modes)
        mask = {"ngram": f"ngram-{config.n}", "percentage": f"percentage-{config.percentage:g}"}
        return Signature(
            {
                "vcrgen": version("vcrgen"),
                "lang": language.code,
                "mode": "+".join(config.modes),
                "mask": mask.get(config.mask, config.mask),
                "share": f"{config.max_share:g}",
                "norm": NORMALISATION,
                "seg": self.text.segmenter,
                "elig": self.text.eligibility,
                "censor": self.censor.digest,
                "cover": ",".join(rows),
                "font": f"{chain.faces[0].family.replace('|', ' ')}@{chain.digest}",
                "size": str(config.font_size),
                "width": str(config.width),
                "lines": str(config.max_lines),
                "layout": f"pillow-{version('pillow')}-basic",
                "seed": str(config.seed),
            }
        )

    def pairs(self, items: Iterable[Item]) -> Iterator[Pair | Reject]:
        """Build every item; the order is kept, and each item gives one pair or one reject."""
        for outcome in self.planned(items):
            yield outcome if isinstance(outcome, Reject) else self._draw(*outcome)

    def planned(
        self, items: Iterable[Item], *, stage: str = "mask", batch_size: int = BATCH
    ) -> Iterator[tuple[Prepared, tuple[Span, ...]] | Reject]:
        """Every item with its spans, before a pixel of it is covered; the order is kept.

        Args:
            items: The items.
            stage: Names the random choice of spans: another name gives other spans.
            batch_size: Items whose captions go through the text pipeline together.
        """
        batch: list[Prepared | Reject] = []
        for item in items:
            batch.append(self.prepare(item, self.style))
            if len(batch) == batch_size:
                yield from self._plan_batch(batch, stage)
                batch = []
        yield from self._plan_batch(batch, stage)

    def prepare(self, item: Item, style: Style) -> Prepared | Reject:
        """Everything that needs no text pipeline, the cheapest checks first."""

        def reject(reason: Reason, detail: str) -> Reject:
            return Reject(source_id=item.source_id, reason=reason, detail=detail)

        config = self.config
        if item.image is None:
            unreadable = item.problem and item.caption is None
            reason = Reason.UNREADABLE_ROW if unreadable else Reason.NO_IMAGE
            return reject(reason, item.problem or "no image in the row")
        caption = normalise_caption(item.caption or "")
        if not caption:
            return reject(Reason.NO_CAPTION, "no text in the row")
        least = config.n if config.mask == "ngram" and item.answers is None else 1
        if self.language.count_units(caption) < least:
            return reject(Reason.SHORT_CAPTION, f"fewer than {least} {self.language.break_unit}s")
        if self.censor.matches(caption):
            return reject(Reason.SENSITIVE, "the caption has a word of the censor list")
        layout = layout_caption(
            caption,
            style.chain,
            width=style.width,
            max_lines=config.max_lines,
            break_unit=self.language.break_unit,
        )
        if missing := style.chain.missing(layout.text):
            shown = ", ".join(f"U+{ord(character):04X}" for character in missing[:5])
            return reject(Reason.NO_GLYPH, f"no font of the chain has {shown}")
        try:
            limits = ImageLimits(max_pixels=config.max_pixels, min_side=config.min_side, max_height=style.max_height)
            image = load_image(item.image, width=style.width, limits=limits)
        except ImageProblem as problem:
            return reject(problem.reason, problem.detail)
        height = image.height + layout.height + 1
        if height > style.max_height:
            return reject(Reason.TOO_TALL, f"the stacked image is {height} px high; at most {style.max_height}")
        image_hash = hashlib.blake2b(item.image, digest_size=KEY_LENGTH // 2)
        pair_hash = image_hash.copy()
        pair_hash.update(b"\0" + caption.encode("utf-8", "surrogatepass"))
        caption_hash = hashlib.blake2b(layout.text.encode("utf-8", "surrogatepass"), digest_size=KEY_LENGTH // 2)
        keys = PairKeys(pair=pair_hash.hexdigest(), image=image_hash.hexdigest(), caption=caption_hash.hexdigest())
        return Prepared(item=item, keys=keys, style=style, image=image, layout=layout)

    def _plan_batch(
        self, batch: list[Prepared | Reject], stage: str
    ) -> Iterator[tuple[Prepared, tuple[Span, ...]] | Reject]:
        """Choose the spans of what was prepared."""
        texts = [entry.layout.text for entry in batch if isinstance(entry, Prepared)]
        docs = iter(self.text.nlp.pipe(texts, batch_size=BATCH))
        for entry in batch:
            if isinstance(entry, Reject):
                yield entry
                continue
            rng = rng_for(self.config.seed, stage, entry.keys.pair)
            spans = self.plan(entry.item, next(docs), rng)
            yield spans if isinstance(spans, Reject) else (entry, spans)

    def plan(self, item: Item, doc: Doc, rng: Random) -> tuple[Span, ...] | Reject:
        """The spans of an item whose shown caption is ``doc``."""
        config = self.config
        if item.answers is not None:
            located = locate_answers(doc, item.answers)
            if located:
                return located
            detail = "a given text is not in the shown caption exactly once"
            return Reject(source_id=item.source_id, reason=Reason.ANSWER_NOT_SHOWN, detail=detail)
        planned = plan_mask(
            doc,
            rng,
            mask=config.mask,
            n=config.n,
            max_share=config.max_share,
            percentage=config.percentage,
            word_boundaries=self.language.word_boundaries,
        )
        detail = "no text in the shown caption can be masked"
        return planned or Reject(source_id=item.source_id, reason=Reason.NO_NGRAM, detail=detail)

    def _draw(self, prepared: Prepared, spans: tuple[Span, ...]) -> Pair:
        config = self.config
        photo, strip = draw_parts(prepared)
        views = {
            mode: draw_view(prepared, photo, strip, dict.fromkeys(spans, mode), image_format=config.image_format)
            for mode in config.modes
        }
        return Pair(
            keys=prepared.keys,
            source_id=prepared.item.source_id,
            caption=prepared.layout.text,
            image=encode_image([photo], config.image_format),
            views=views,
            strip_height=prepared.layout.height,
        )

    def row(self, pair: Pair, mode: Mode) -> dict[str, Any]:
        """One row of the dataset, in the columns of :data:`vcrgen.dataset.schema.FEATURES`."""
        view = pair.views[mode]
        suffix = self.config.image_format

        def image(data: bytes, name: str) -> dict[str, Any]:
            return {"bytes": data, "path": f"{pair.keys.pair}-{name}.{suffix}"}

        return {
            "question_id": pair.keys.pair,
            "image": image(pair.image, "image"),
            "caption": pair.caption,
            "stacked_image": image(view.stacked, f"{mode}-stacked"),
            "only_it_image": image(view.only_it, f"{mode}-only-it"),
            "only_it_image_small": image(view.only_it_small, f"{mode}-only-it-small"),
            "crossed_text": [covered.span.text for covered in view.spans],
            "question": self.language.question,
            "language": self.language.code,
            "mode": str(mode),
            "spans": [span_row(covered) for covered in view.spans],
            "strip_height": pair.strip_height,
            "strip_y": view.strip_y,
            "only_it_strip_y": view.only_it_strip_y,
            "source_id": pair.source_id,
        }


def make_style(language: LanguageRow, chain: FontChain, *, width: int, max_height: int) -> Style:
    """A style whose covers are calibrated on the language's frozen sample."""
    covers = calibrate(chain, language, calibration_sample(language.code))
    return Style(width=width, max_height=max_height, chain=chain, covers=covers)


def draw_parts(prepared: Prepared) -> tuple[Band, Pixels]:
    """VI, and the uncovered strip as brightness."""
    return Band(np.asarray(prepared.image)), render_strip(prepared.layout, prepared.style.chain)


def draw_view(
    prepared: Prepared,
    photo: Band,
    strip: Pixels,
    modes: Mapping[Span, Mode],
    *,
    image_format: ImageFormat = "png",
    strip_first: bool = False,
    note: str | None = None,
) -> View:
    """Cover the strip, put the images together and encode them.

    Args:
        prepared: The pair.
        photo: VI, from :func:`draw_parts`.
        strip: The strip, from there too.
        modes: The spans in reading order, each with the mode of its cover.
        image_format: Format of the images.
        strip_first: The strip stands above VI, not below it.
        note: A comment that every PNG carries.
    """
    rows = {span: prepared.style.covers[mode].rows for span, mode in modes.items()}
    composed = compose_view(prepared, photo, strip, rows, strip_first=strip_first)
    return View(
        stacked=encode_image(composed.stacked, image_format, note),
        only_it=encode_image(composed.only_it, image_format, note),
        only_it_small=encode_image(composed.only_it_small, image_format, note),
        spans=composed.spans,
        strip_y=composed.strip_y,
        only_it_strip_y=composed.only_it_strip_y,
    )


def compose_view(
    prepared: Prepared, photo: Band, strip: Pixels, rows: Mapping[Span, range], *, strip_first: bool = False
) -> Composition:
    """Cover the strip and put the images together.

    Args:
        prepared: The pair.
        photo: VI, from :func:`draw_parts`.
        strip: The strip, from there too.
        rows: The spans in reading order, each with the rows of a line that its cover hides.
        strip_first: The strip stands above VI, not below it.
    """
    layout = prepared.layout
    ink = 255 - strip
    covered = []
    for span, hidden in rows.items():
        boxes = cover_boxes(span, layout, prepared.style.chain, hidden)
        covered.append(measure_cover(span, boxes, ink, layout.line_height))
    small = Band(cover_strip(strip, (box for span in covered for box in span.boxes)))
    gap = white_band(1, layout.width)
    above = (photo.height + gap.height) // 2
    below = photo.height + gap.height - above
    return Composition(
        stacked=(small, gap, photo) if strip_first else (photo, gap, small),
        only_it=(white_band(above, layout.width), small, white_band(below, layout.width)),
        only_it_small=(small,),
        spans=tuple(covered),
        strip_y=0 if strip_first else photo.height + gap.height,
        only_it_strip_y=above,
    )


def span_row(covered: CoveredSpan) -> dict[str, Any]:
    """A span under its cover, as datasets and keys hold it."""
    span = covered.span
    return {
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "tokens": list(span.tokens),
        "boxes": [asdict(box) for box in covered.boxes],
        "visible_ink": covered.visible_ink,
        "rows_above": covered.rows_above,
        "rows_below": covered.rows_below,
    }
