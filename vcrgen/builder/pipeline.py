"""The stages in a row: from items of a source to rows of a dataset. Only here do stages meet."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from vcrgen.builder.cover import cover_boxes, measure_cover
from vcrgen.builder.encode import Band, encode_image, white_band
from vcrgen.builder.filters import CensorList
from vcrgen.builder.fonts import default_chain
from vcrgen.builder.images import ImageLimits, ImageProblem, load_image
from vcrgen.builder.layout import layout_caption
from vcrgen.builder.masking import locate_answers, plan_mask
from vcrgen.builder.render import cover_strip, render_strip
from vcrgen.config import BuildConfig
from vcrgen.errors import PipelineError
from vcrgen.records import CoveredSpan, Item, Layout, Mode, Reason, Reject, Span
from vcrgen.rng import rng_for
from vcrgen.signature import Signature
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.normalise import NORMALISATION, normalise_caption
from vcrgen.text.pipelines import load_pipeline

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
class Prepared:
    """An item that passed all filters but the text pipeline's."""

    item: Item
    keys: PairKeys
    image: Image.Image
    layout: Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The images of one pair in one mode, encoded."""

    stacked: bytes
    only_it: bytes
    only_it_small: bytes
    spans: tuple[CoveredSpan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One finished pair."""

    keys: PairKeys
    source_id: str
    caption: str
    image: bytes
    views: dict[Mode, View]
    strip_height: int
    strip_y: int
    only_it_strip_y: int


class Pipeline:
    """All stages of one configuration, with what they need loaded.

    Raises:
        VcrgenError: A font, a list or the text pipeline cannot be used.
    """

    def __init__(self, config: BuildConfig) -> None:
        self.config = config
        self.language = LANGUAGES[config.lang]
        self.chain = default_chain(self.language.fonts, size=config.font_size, first=config.font)
        self.censor = CensorList.load(self.language, config.censor_list)
        self.text = load_pipeline(config.lang, config.spacy_model)
        self._limits = ImageLimits(max_pixels=config.max_pixels, min_side=config.min_side, max_height=config.max_height)
        if config.mask == "nouns" and not self.text.finds_nouns:
            raise PipelineError(
                f"--mask nouns needs parts of speech, which {self.text.eligibility} does not give; "
                "name a trained pipeline with --spacy-model."
            )

    @cached_property
    def signature(self) -> Signature:
        """What the datasets of this pipeline can be compared with."""
        config, language = self.config, self.language
        bands = (
            f"{mode}={band.top:.2f}-{band.bottom:.2f}" for mode, band in language.bands.items() if mode in config.modes
        )
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
                "cover": ",".join(bands),
                "font": f"{self.chain.faces[0].family.replace('|', ' ')}@{self.chain.digest}",
                "size": str(config.font_size),
                "width": str(config.width),
                "lines": str(config.max_lines),
                "layout": f"pillow-{version('pillow')}-basic",
                "seed": str(config.seed),
            }
        )

    def pairs(self, items: Iterable[Item]) -> Iterator[Pair | Reject]:
        """Build every item; the order is kept, and each item gives one pair or one reject."""
        batch: list[Prepared | Reject] = []
        for item in items:
            batch.append(self._prepare(item))
            if len(batch) == BATCH:
                yield from self._finish(batch)
                batch = []
        yield from self._finish(batch)

    def _prepare(self, item: Item) -> Prepared | Reject:
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
            self.chain,
            width=config.width,
            max_lines=config.max_lines,
            break_unit=self.language.break_unit,
        )
        if missing := self.chain.missing(layout.text):
            shown = ", ".join(f"U+{ord(character):04X}" for character in missing[:5])
            return reject(Reason.NO_GLYPH, f"no font of the chain has {shown}")
        try:
            image = load_image(item.image, width=config.width, limits=self._limits)
        except ImageProblem as problem:
            return reject(problem.reason, problem.detail)
        height = image.height + layout.height + 1
        if height > config.max_height:
            return reject(Reason.TOO_TALL, f"the stacked image is {height} px high; at most {config.max_height}")
        image_hash = hashlib.blake2b(item.image, digest_size=KEY_LENGTH // 2)
        pair_hash = image_hash.copy()
        pair_hash.update(b"\0" + caption.encode("utf-8", "surrogatepass"))
        caption_hash = hashlib.blake2b(layout.text.encode("utf-8", "surrogatepass"), digest_size=KEY_LENGTH // 2)
        keys = PairKeys(pair=pair_hash.hexdigest(), image=image_hash.hexdigest(), caption=caption_hash.hexdigest())
        return Prepared(item=item, keys=keys, image=image, layout=layout)

    def _finish(self, batch: list[Prepared | Reject]) -> Iterator[Pair | Reject]:
        """Mask and draw what was prepared."""
        texts = [entry.layout.text for entry in batch if isinstance(entry, Prepared)]
        docs = iter(self.text.nlp.pipe(texts, batch_size=BATCH))
        for entry in batch:
            if isinstance(entry, Reject):
                yield entry
                continue
            spans = self._plan(entry, next(docs))
            yield spans if isinstance(spans, Reject) else self._draw(entry, spans)

    def _plan(self, prepared: Prepared, doc: Doc) -> tuple[Span, ...] | Reject:
        config, item = self.config, prepared.item
        if item.answers is not None:
            located = locate_answers(doc, item.answers)
            if located:
                return located
            detail = "a given text is not in the shown caption exactly once"
            return Reject(source_id=item.source_id, reason=Reason.ANSWER_NOT_SHOWN, detail=detail)
        planned = plan_mask(
            doc,
            rng_for(config.seed, "mask", prepared.keys.pair),
            mask=config.mask,
            n=config.n,
            max_share=config.max_share,
            percentage=config.percentage,
            word_boundaries=self.language.word_boundaries,
        )
        detail = "no text in the shown caption can be masked"
        return planned or Reject(source_id=item.source_id, reason=Reason.NO_NGRAM, detail=detail)

    def _draw(self, prepared: Prepared, spans: tuple[Span, ...]) -> Pair:
        config, layout = self.config, prepared.layout
        strip = render_strip(layout, self.chain)
        ink = 255 - strip
        photo = Band(np.asarray(prepared.image))
        gap = white_band(1, layout.width)
        above = (photo.height + gap.height) // 2
        below = photo.height + gap.height - above
        views = {}
        for mode in config.modes:
            covered = tuple(
                measure_cover(
                    span,
                    cover_boxes(span, layout, self.chain, self.language.bands[mode]),
                    ink,
                    layout.line_height,
                )
                for span in spans
            )
            small = Band(cover_strip(strip, (box for span in covered for box in span.boxes)))
            views[mode] = View(
                stacked=encode_image([photo, gap, small], config.image_format),
                only_it=encode_image(
                    [white_band(above, layout.width), small, white_band(below, layout.width)], config.image_format
                ),
                only_it_small=encode_image([small], config.image_format),
                spans=covered,
            )
        return Pair(
            keys=prepared.keys,
            source_id=prepared.item.source_id,
            caption=layout.text,
            image=encode_image([photo], config.image_format),
            views=views,
            strip_height=layout.height,
            strip_y=photo.height + gap.height,
            only_it_strip_y=above,
        )

    def row(self, pair: Pair, mode: Mode) -> dict[str, Any]:
        """One row of the dataset, in the columns of :data:`vcrgen.builder.schema.FEATURES`."""
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
            "spans": [_span_row(covered) for covered in view.spans],
            "strip_height": pair.strip_height,
            "strip_y": pair.strip_y,
            "only_it_strip_y": pair.only_it_strip_y,
            "source_id": pair.source_id,
        }


def _span_row(covered: CoveredSpan) -> dict[str, Any]:
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
