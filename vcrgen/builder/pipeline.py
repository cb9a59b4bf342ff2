"""The pipeline: all stages from items of a source to rows of a dataset."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from importlib.metadata import version
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from vcrgen.builder.acceptance import DRAWS, PLANS, Acceptance, Accepted, Threshold
from vcrgen.builder.bands import Band
from vcrgen.builder.compose import MAX_VISIBLE, Degradation, compose_images, draw_parts, has_uncovered_span
from vcrgen.builder.distract import place_distractors
from vcrgen.builder.encode import encode_image, encode_mask
from vcrgen.builder.filters import CensorList
from vcrgen.builder.images import LoadedPicture, difference_hash, fit_picture, is_blank, load_image
from vcrgen.builder.masking import locate_answers, plan_mask
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.records import (
    Pair,
    PairChoices,
    PairImages,
    PairKeys,
    PairParts,
    PictureKeys,
    Places,
    PreparedItem,
    SetItem,
)
from vcrgen.builder.rows import pair_row
from vcrgen.core.errors import ImageProblem, PipelineError
from vcrgen.core.records import NAMED_MODES, Item, Mode, Reject, RejectReason, Span
from vcrgen.core.rng import rng_for
from vcrgen.core.signature import Signature
from vcrgen.text.cleaning import CLEANINGS, Cleaned
from vcrgen.text.graphemes import clusters
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.mask_kinds import MASK_KINDS
from vcrgen.text.normalise import NORMALISATION, as_typed, normalise_drawn, without_emoji
from vcrgen.text.pipelines import load_pipeline
from vcrgen.typeset.cover import CoverRule
from vcrgen.typeset.cover_kinds import PATTERN_RULES, ROWS
from vcrgen.typeset.degradation_kinds import parse_degradations
from vcrgen.typeset.fonts import default_chain, resolve_font
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.papers import print_strip
from vcrgen.typeset.render import glyph_boxes
from vcrgen.typeset.style import Style, make_style

if TYPE_CHECKING:
    from spacy.tokens import Doc

T = TypeVar("T")

# Name and version, for signatures, of the layout rules: line breaks, the choice of the first face, and rejects for
# another script, stacked marks or missing glyphs.
LAYOUT_RULES = "rules-8"
MAX_CLUSTER = 32  # characters that are drawn as one: a letter with more marks than any writing has cannot be read
BATCH = 32  # items whose captions go through the text pipeline together
MAX_BATCH_BYTES = 64 << 20  # of their encoded pictures, which wait meanwhile


class Pipeline:
    """All stages of one configuration, with fonts and text pipeline loaded.

    Raises:
        VcrgenError: A font, a list or the text pipeline cannot be used.
    """

    def __init__(self, config: BuildConfig) -> None:
        self.config = config
        self.language = LANGUAGES[config.lang]
        first = resolve_font(config.font) if config.font else None
        self._chain = default_chain(self.language.fonts, size=config.font_size, first=first)
        self._style_led_by = cache(self._make_style)
        self.censor = CensorList.load(self.language, config.censor_list)
        self.cleaning = CLEANINGS[config.clean] if config.clean else None
        self.text = load_pipeline(config.lang, config.spacy_model)
        self.acceptance = Acceptance(config.lang, config.least_ink) if config.is_selective else None
        if config.mask == "nouns" and not self.text.tags_nouns:
            raise PipelineError(
                f"--mask nouns needs parts of speech, which {self.text.eligibility} does not give; "
                "name a trained pipeline with --spacy-model."
            )

    @cached_property
    def style(self) -> Style:
        """The style of captions; hidden sets have their own ones.

        Raises:
            FontError: The font's letters cannot be covered as asked for.
        """
        return self._style_led_by(0)

    def _make_style(self, face: int) -> Style:
        """The style whose font chain begins with face number ``face``."""
        config = self.config
        return make_style(
            self.language,
            self._chain.led_by(face),
            width=config.width,
            max_height=config.max_height,
            cover=config.cover,
            modes=dict.fromkeys((*NAMED_MODES, *config.modes)),
        )

    def _style_of(self, caption: str, style: Style) -> Style:
        """The style of a caption: another one if a face after the first one is the first with all letters."""
        chain = style.shaper.chain
        face = chain.first_with(self.language.letters_of_script(caption)) if self.language.one_face else 0
        return self._style_led_by(face) if face else style

    @property
    def _break_unit(self) -> str:
        native = self.config.line_breaks == "native"
        return self.language.break_unit if native else self.language.wiki_break_unit

    @cached_property
    def signature(self) -> Signature:
        """The signature of this pipeline's datasets."""
        config, language, shaper = self.config, self.language, self.style.shaper
        covers = (f"{mode}={self.style.calibrations[mode].rule.name}" for mode in config.modes)
        accepted = f"{config.least_bits:g},{self.acceptance.name}" if self.acceptance else ""
        printed = f"{config.paper},{config.ink_colour}" if config.is_printed else ""
        optional = {"bits": accepted, "distractors": str(config.distractors or ""), "degrade": config.degrade or ""}
        optional |= {"print": printed, "clean": self.cleaning.rule if self.cleaning else ""}
        optional["breaks"] = "" if self._break_unit == language.break_unit else config.line_breaks
        optional["drawing"] = PATTERN_RULES if config.cover != ROWS else ""
        return Signature(
            {
                "vcrgen": version("vcrgen"),
                "lang": language.code,
                "mode": "+".join(config.modes),
                "mask": MASK_KINDS[config.mask].signature.format(**config.model_dump()),
                "share": f"{config.max_share:g}",
                "norm": NORMALISATION,
                "seg": self.text.segmenter,
                "elig": self.text.rules,
                "censor": self.censor.digest,
                "cover": ",".join(covers),
                "font": f"{shaper.chain.faces[0].family.replace('|', ' ')}@{shaper.chain.digest}",
                "size": str(config.font_size),
                "width": str(config.width),
                "lines": str(config.max_lines),
                "layout": f"{LAYOUT_RULES}@{shaper.engine}",
                "seed": str(config.seed),
            }
            | {name: value for name, value in optional.items() if value}
        )

    def pairs(self, items: Iterable[Item]) -> Iterator[Pair | Reject]:
        """Build every item, in order; each gives one pair or one reject."""
        for outcome in self.plan_items(items):
            yield outcome if isinstance(outcome, Reject) else self._draw(*outcome)

    def plan_items(
        self, items: Iterable[Item], *, stage: str = "mask", batch_size: int = BATCH
    ) -> Iterator[tuple[PreparedItem, tuple[Span, ...]] | Reject]:
        """Prepare every item and select its spans, in order, ``batch_size`` captions at a time.

        ``stage`` names the random choice of spans: another name gives other spans.
        """
        for batch in _batches((self.set_caption(item, self.style) for item in items), batch_size):
            texts = [entry.layout.caption for entry in batch if isinstance(entry, SetItem)]
            docs = iter(self.text.nlp.pipe(texts, batch_size=BATCH))
            for entry in batch:
                yield self._plan_item(entry, next(docs), stage) if isinstance(entry, SetItem) else entry

    def _plan_item(self, entry: SetItem, doc: Doc, stage: str) -> tuple[PreparedItem, tuple[Span, ...]] | Reject:
        """Select the spans, and then decode the picture, which takes most of the time of a pair without spans."""
        if isinstance(unmaskable := self.plan(entry.item, doc, Random(0)), Reject):  # whatever the choices are
            return unmaskable
        prepared = self._with_picture(entry)
        if isinstance(prepared, Reject):
            return prepared
        plan = partial(self._plan, prepared, doc, stage)
        spans = plan()
        if isinstance(spans, Reject):
            return spans
        return replace(prepared, replan=plan) if self.acceptance else prepared, spans

    def prepare(self, item: Item, style: Style) -> PreparedItem | Reject:
        """Apply all filters that need no text pipeline, and set the caption beside the picture."""
        entry = self.set_caption(item, style)
        return entry if isinstance(entry, Reject) else self._with_picture(entry)

    def set_caption(self, item: Item, style: Style) -> SetItem | Reject:
        """Apply all filters of a caption that need no text pipeline, the cheapest first, and set it."""
        config = self.config
        if item.image is None and item.picture is None:
            unreadable = item.problem and item.caption is None
            reason = RejectReason.UNREADABLE_ROW if unreadable else RejectReason.NO_IMAGE
            return item.reject(reason, item.problem or "no image in the row")
        raw = item.caption or ""
        cleaned = self.cleaning(raw) if self.cleaning else Cleaned(raw)
        drawn = without_emoji(normalise_drawn(cleaned.text), style.shaper.missing)
        caption = as_typed(drawn)
        if not caption:
            return item.reject(RejectReason.NO_CAPTION, item.problem or "no text in the row")
        if item.answers is None and not self.language.accepts_script_of(caption):
            return item.reject(RejectReason.OTHER_SCRIPT, f"no letter of the caption is one of {self.language.name}")
        min_units = config.ngram_size if config.mask == "ngram" and item.answers is None else 1
        if self.language.count_units(caption) < min_units:
            return item.reject(RejectReason.SHORT_CAPTION, f"fewer than {min_units} {self.language.length_unit}")
        if self.censor.matches(caption):
            return item.reject(RejectReason.SENSITIVE, "the caption has a word of the censor list")
        if any(end - start > MAX_CLUSTER for start, end in clusters(caption)):
            return item.reject(RejectReason.STACKED_MARKS, f"a letter has more than {MAX_CLUSTER} marks")
        style = self._style_of(caption, style)
        layout = layout_caption(
            drawn, style.shaper, width=style.width, max_lines=config.max_lines, break_unit=self._break_unit
        )
        if missing := style.shaper.missing(layout.text):
            codes = ", ".join(f"U+{ord(character):04X}" for character in missing[:5])
            return item.reject(RejectReason.NO_GLYPH, f"no font of the chain draws {codes}")
        return SetItem(item=item, style=style, caption=caption, layout=layout, cleaned=cleaned.kinds)

    def _with_picture(self, entry: SetItem) -> PreparedItem | Reject:
        """Decode the picture of an item and see whether it fits above the caption."""
        item, layout, style = entry.item, entry.layout, entry.style

        try:
            picture = self._load(item, style)
        except ImageProblem as problem:
            return item.reject(problem.reason, problem.detail)
        if is_blank(picture.image):
            return item.reject(RejectReason.BLANK, "the picture has a single colour, so that nothing can be seen in it")
        height = picture.image.height + layout.height + 1
        if height > style.max_height:
            return item.reject(
                RejectReason.TOO_TALL, f"the stacked image is {height} px high; at most {style.max_height}"
            )
        keys = PairKeys.of(picture.content, entry.caption, layout.caption)
        item = replace(item, image=None, picture=None)  # which may be large
        return PreparedItem(
            item=item, keys=keys, style=style, image=picture.image, layout=layout, cleaned=entry.cleaned
        )

    def _load(self, item: Item, style: Style) -> LoadedPicture:
        config, width = self.config, style.width
        limits = {"max_pixels": config.max_pixels, "min_side": config.min_side, "max_height": style.max_height}
        if item.picture is not None:
            return fit_picture(item.picture, width=width, **limits)
        assert item.image is not None
        return LoadedPicture(image=load_image(item.image, width=width, **limits), content=item.image)

    def _plan(
        self, prepared: PreparedItem, doc: Doc, stage: str, refused: Collection[Span] = ()
    ) -> tuple[Span, ...] | Reject:
        return self.plan(prepared.item, doc, rng_for(self.config.seed, stage, prepared.keys.pair), refused)

    def plan(self, item: Item, doc: Doc, rng: Random, refused: Collection[Span] = ()) -> tuple[Span, ...] | Reject:
        """Select the spans of an item whose shown caption is ``doc``, none of them one of ``refused``."""
        if item.answers is not None:
            spans = locate_answers(doc, item.answers)
            reason, detail = RejectReason.ANSWER_NOT_SHOWN, "a given text is not in the shown caption exactly once"
        else:
            spans = plan_mask(doc, rng, self.config, word_boundaries=self.language.word_boundaries, refused=refused)
            reason, detail = RejectReason.NO_NGRAM, "no text in the shown caption can be masked"
        return spans or item.reject(reason, detail)

    def _draw(self, prepared: PreparedItem, spans: tuple[Span, ...]) -> Pair | Reject:
        encode = partial(encode_image, image_format=self.config.image_format)
        choices = self.choices(prepared.keys.pair)
        rules = [prepared.style.calibrations[mode].rule for mode in self.config.modes]
        accepted = self.accept(prepared, spans, list(map(self.threshold, rules, self.config.modes)), choices)
        if isinstance(accepted, Reject):
            return accepted
        parts = self.draw_parts(prepared, accepted)
        images: dict[Mode, PairImages[bytes]] = {}
        for number, (mode, rule) in enumerate(zip(self.config.modes, rules, strict=True)):
            composed = self.compose(prepared, parts, rule, encode, accepted, choices)
            if isinstance(composed, Reject):
                return composed
            bits = tuple(cover.bits[number] for cover in accepted.values() if cover.bits)
            images[mode] = replace(composed, pixel_bits=bits)
        masks = {mode: view.mask("stacked") for mode, view in images.items()}
        return Pair(
            keys=prepared.keys,
            picture=PictureKeys.of(parts.photo.pixels, difference_hash(prepared.image).tobytes()),
            source_id=prepared.item.source_id,
            caption=prepared.layout.caption,
            cleaned=prepared.cleaned,
            photo=encode((parts.photo,)),
            images=images,
            cover_masks={mode: encode_mask(mask) for mode, mask in masks.items() if mask is not None},
            strip_height=prepared.layout.height,
            glyphs=glyph_boxes(prepared.layout) if self.config.glyph_boxes else (),
        )

    def choices(self, pair: str, epoch: int | None = None) -> PairChoices:
        """The random choices of a pair in a build, or in an epoch of a stream."""
        return PairChoices(
            dataset_seed=self.config.seed, pair=pair, epoch=epoch, varies_covers=self.config.cover != ROWS
        )

    def draw_parts(self, prepared: PreparedItem, spans: Iterable[Span]) -> PairParts:
        """Draw the parts of a pair's images that do not depend on the covers, with the strip as it is printed."""
        config, parts = self.config, draw_parts(prepared, spans)
        if not config.is_printed:
            return parts
        seed = self.choices(prepared.keys.pair).seed("paper")
        return replace(parts, printed=print_strip(parts.strip, config.paper, config.ink_colour, seed))

    def compose(
        self,
        prepared: PreparedItem,
        parts: PairParts,
        rule: CoverRule,
        encode: Callable[[tuple[Band, ...]], T],
        accepted: Mapping[Span, Accepted],
        choices: PairChoices,
    ) -> PairImages[T] | Reject:
        """Compose the images of a pair under one cover rule, with distractors and degradation as configured.

        ``accepted`` has the number of the draw of each span's cover.
        """
        config = self.config
        distractors: tuple[Places, Places] = ((), ())
        if config.distractors:
            blanks = config.cover != ROWS or config.is_printed  # white rows are invisible on white paper
            places = place_distractors(parts, config.distractors, choices.rng("distractors"), on_paper=blanks)
            if places is None:
                detail = f"{config.distractors} covers more do not fit on the picture and on blank paper"
                return prepared.item.reject(RejectReason.NO_ROOM, detail)
            photo, strip = ([(cell, choices.cover_rule(rule, f" {cell}")) for cell in cells] for cells in places)
            distractors = photo, strip
        degradation = Degradation(parse_degradations(config.degrade), choices) if config.degrade else None
        rules = {span: choices.span_rule(rule, span, accepted[span].draw) for span in parts.cells}
        composed = compose_images(
            parts, rules, encode, distractors=distractors, degradation=degradation, with_mask=config.is_warped
        )
        if has_uncovered_span(composed.spans):
            detail = f"the cover hides less than {1 - MAX_VISIBLE:.0%} of the ink of a text"
            return prepared.item.reject(RejectReason.COVER_MISSED, detail)
        if degradation and config.is_warped:  # no box holds in a warped image
            spans = tuple(replace(covered, covers=()) for covered in composed.spans)
            return replace(composed, spans=spans, distractors=(), warp=degradation.mask)
        return composed

    def accept(
        self,
        prepared: PreparedItem,
        spans: tuple[Span, ...],
        thresholds: Sequence[Threshold],
        choices: PairChoices,
    ) -> dict[Span, Accepted] | Reject:
        """Choose the covers of a pair, and other spans where no cover of a span leaves enough bits."""
        if self.acceptance is None:
            return dict.fromkeys(spans, Accepted(0, ()))
        covers: dict[Span, Accepted | None] = {}
        accepted: dict[Span, Accepted] = {}
        for _ in range(PLANS):
            parts = draw_parts(prepared, spans)
            for span in (span for span in spans if span not in covers):
                draw = partial(_draw_thresholds, thresholds, choices, span)
                covers[span] = self.acceptance.draw(span, parts, prepared.style.shaper, draw)
            accepted = {span: cover for span in spans if (cover := covers[span])}
            if len(accepted) == len(spans) or prepared.item.answers is not None or prepared.replan is None:
                break
            other_spans = prepared.replan([span for span, cover in covers.items() if cover is None])
            if isinstance(other_spans, Reject):
                break
            spans = other_spans
        if accepted and (len(accepted) == len(spans) or prepared.item.answers is None):
            return accepted
        detail = f"none of {DRAWS} covers of a text leaves enough bits and {self.config.least_ink:g} of the ink"
        return prepared.item.reject(RejectReason.SETTLED, detail)

    def threshold(self, rule: CoverRule, mode: Mode | None = None) -> Threshold:
        """The bits that a rule's covers have to leave, in a mode if it has one."""
        return Threshold(rule, max(self.config.least_bits, mode.bits if mode else 0))

    def row(self, pair: Pair, mode: Mode) -> dict[str, Any]:
        """One row of the dataset, in the columns of `vcrgen.data.tasks.vcr.VCR`."""
        return pair_row(pair, mode, language=self.language, image_format=self.config.image_format)


def _draw_thresholds(thresholds: Sequence[Threshold], choices: PairChoices, span: Span, draw: int) -> list[Threshold]:
    """The thresholds of a span in a draw of its cover."""
    return [Threshold(choices.span_rule(rule, span, draw), bits) for rule, bits in thresholds]


def _batches(entries: Iterable[SetItem | Reject], size: int) -> Iterator[list[SetItem | Reject]]:
    """Yield lists of ``size`` entries, or of fewer where their encoded pictures are large."""
    batch: list[SetItem | Reject] = []
    held = 0
    for entry in entries:
        batch.append(entry)
        held += len(entry.item.image or b"") if isinstance(entry, SetItem) else 0
        if len(batch) == size or held >= MAX_BATCH_BYTES:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def batched(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of ``size`` values, the last one shorter."""
    iterator = iter(values)
    while batch := list(islice(iterator, size)):
        yield batch
