"""The stages in a row: from items of a source to rows of a dataset. Only here do stages meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from importlib.metadata import version
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from vcrgen.builder.bands import Band, Pixels
from vcrgen.builder.compose import MOST_VISIBLE, compose_images, draw_parts, is_missed
from vcrgen.builder.degrade import degrade, move_mask
from vcrgen.builder.distract import place_distractors
from vcrgen.builder.encode import encode_image, encode_mask
from vcrgen.builder.filters import CensorList
from vcrgen.builder.images import load_image
from vcrgen.builder.masking import locate_answers, plan_mask
from vcrgen.builder.records import Distractors, Mask, Pair, PairImages, PairKeys, Parts, Prepared
from vcrgen.builder.rows import pair_row
from vcrgen.config import BuildConfig, parse_degradations
from vcrgen.errors import ImageProblem, PipelineError
from vcrgen.records import NAMED_MODES, Item, Mode, Reason, Reject, Span
from vcrgen.rng import rng_for
from vcrgen.signature import Signature
from vcrgen.text.graphemes import clusters
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.normalise import NORMALISATION, normalise_caption
from vcrgen.text.pipelines import load_pipeline
from vcrgen.typeset.cover import ROWS, CoverRule, seeded
from vcrgen.typeset.fonts import default_chain, resolve_font
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.style import Style, make_style

if TYPE_CHECKING:
    from spacy.tokens import Doc

T = TypeVar("T")

# Name and version, for signatures, of the rules by which captions are set: where lines end, and which captions are set
# aside for another script, for stacked marks or for a character that no font draws.
LAYOUT_RULES = "rules-2"
MAX_CLUSTER = 32  # characters that are drawn as one: a letter with more marks than any writing has cannot be read
BATCH = 32  # items whose captions go through the text pipeline together


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
        self.style = make_style(
            self.language, chain, width=config.width, max_height=config.max_height, cover=config.cover,
            modes=dict.fromkeys((*NAMED_MODES, *config.modes)),
        )  # fmt: skip
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
        config, language, shaper = self.config, self.language, self.style.shaper
        covers = (f"{mode}={self.style.covers[mode].rule.name}" for mode in config.modes)
        mask = {"ngram": f"ngram-{config.n}", "percentage": f"percentage-{config.percentage:g}"}
        more = {"distractors": str(config.distractors or ""), "degrade": config.degrade or ""}
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
                "cover": ",".join(covers),
                "font": f"{shaper.chain.faces[0].family.replace('|', ' ')}@{shaper.chain.digest}",
                "size": str(config.font_size),
                "width": str(config.width),
                "lines": str(config.max_lines),
                "layout": f"{LAYOUT_RULES}@{shaper.engine}",
                "seed": str(config.seed),
            }
            | {name: value for name, value in more.items() if value}
        )

    def pairs(self, items: Iterable[Item]) -> Iterator[Pair | Reject]:
        """Build every item; the order is kept, and each item gives one pair or one reject."""
        for outcome in self.planned(items):
            yield outcome if isinstance(outcome, Reject) else self._draw(*outcome)

    def planned(
        self, items: Iterable[Item], *, stage: str = "mask", batch_size: int = BATCH
    ) -> Iterator[tuple[Prepared, tuple[Span, ...]] | Reject]:
        """Every item with its spans, before a pixel of it is covered; the order is kept.

        The random choice of spans is named by ``stage``: another name gives other spans. The captions of
        ``batch_size`` items go through the text pipeline together.
        """
        for batch in batched((self.prepare(item, self.style) for item in items), batch_size):
            texts = [entry.layout.text for entry in batch if isinstance(entry, Prepared)]
            docs = iter(self.text.nlp.pipe(texts, batch_size=BATCH))
            for entry in batch:
                if isinstance(entry, Prepared):
                    spans = self.plan(entry.item, next(docs), rng_for(self.config.seed, stage, entry.keys.pair))
                    yield spans if isinstance(spans, Reject) else (entry, spans)
                else:
                    yield entry

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
            return reject(Reason.SHORT_CAPTION, f"fewer than {least} {self.language.counted}")
        if item.answers is None and not self.language.may_write(caption):
            return reject(Reason.OTHER_SCRIPT, f"no letter of the caption is one of {self.language.name}")
        if self.censor.matches(caption):
            return reject(Reason.SENSITIVE, "the caption has a word of the censor list")
        if any(end - start > MAX_CLUSTER for start, end in clusters(caption)):
            return reject(Reason.STACKED_MARKS, f"a letter has more than {MAX_CLUSTER} marks")
        unit = self.language.break_unit
        layout = layout_caption(caption, style.shaper, width=style.width, max_lines=config.max_lines, break_unit=unit)
        if missing := style.shaper.missing(layout.text):
            shown = ", ".join(f"U+{ord(character):04X}" for character in missing[:5])
            return reject(Reason.NO_GLYPH, f"no font of the chain draws {shown}")
        try:
            limits = {"max_pixels": config.max_pixels, "min_side": config.min_side, "max_height": style.max_height}
            image = load_image(item.image, width=style.width, **limits)
        except ImageProblem as problem:
            return reject(problem.reason, problem.detail)
        height = image.height + layout.height + 1
        if height > style.max_height:
            return reject(Reason.TOO_TALL, f"the stacked image is {height} px high; at most {style.max_height}")
        keys = PairKeys.of(item.image, caption, layout.text)
        return Prepared(item=item, keys=keys, style=style, image=image, layout=layout)

    def plan(self, item: Item, doc: Doc, rng: Random) -> tuple[Span, ...] | Reject:
        """The spans of an item whose shown caption is ``doc``."""
        if item.answers is not None:
            spans = locate_answers(doc, item.answers)
            reason, detail = Reason.ANSWER_NOT_SHOWN, "a given text is not in the shown caption exactly once"
        else:
            spans = plan_mask(doc, rng, self.config, word_boundaries=self.language.word_boundaries)
            reason, detail = Reason.NO_NGRAM, "no text in the shown caption can be masked"
        return spans or Reject(source_id=item.source_id, reason=reason, detail=detail)

    def _draw(self, prepared: Prepared, spans: tuple[Span, ...]) -> Pair | Reject:
        encode = partial(encode_image, image_format=self.config.image_format)
        parts = draw_parts(prepared, spans)
        images: dict[Mode, PairImages[bytes]] = {}
        for mode in self.config.modes:
            composed = self.compose(prepared, parts, prepared.style.covers[mode].rule, encode)
            if isinstance(composed, Reject):
                return composed
            images[mode] = composed
        masks = {mode: view.mask("stacked") for mode, view in images.items()}
        return Pair(
            keys=prepared.keys,
            source_id=prepared.item.source_id,
            caption=prepared.layout.text,
            photo=encode((parts.photo,)),
            images=images,
            cover_masks={mode: encode_mask(mask) for mode, mask in masks.items() if mask is not None},
            strip_height=prepared.layout.height,
        )

    def compose(
        self, prepared: Prepared, parts: Parts, rule: CoverRule, encode: Callable[[tuple[Band, ...]], T], when: str = ""
    ) -> PairImages[T] | Reject:
        """The images of a pair whose spans are covered by a rule; with distractors and degraded if so configured.

        The random choices, which are the same for every rule, are named by the pair and by ``when``.
        """
        config, pair = self.config, prepared.keys.pair

        def rng(stage: str, item: str = "") -> Random:
            return rng_for(config.seed, f"{stage}{when}", pair + item)

        def seed(stage: str, item: str) -> int:
            return int(rng(stage, item).random() * (1 << 53))

        def form(item: str) -> CoverRule:
            return rule if config.cover == ROWS else seeded(rule, seed("cover form", item))

        distractors = finish = move = None
        if config.distractors:
            places = place_distractors(parts, config.distractors, rng("distractors"), on_paper=config.cover != ROWS)
            if places is None:
                detail = f"{config.distractors} covers more do not fit on the picture and on blank paper"
                return Reject(source_id=prepared.item.source_id, reason=Reason.NO_ROOM, detail=detail)
            photo, strip = (tuple((cell, form(f" {cell}")) for cell in cells) for cells in places)
            distractors = Distractors(photo=photo, strip=strip)
        if config.degrade:
            steps = parse_degradations(config.degrade)

            def finish(pixels: Pixels, name: str) -> Pixels:
                return degrade(pixels, steps, seed("degrade", f" {name}"))

            def move(mask: Mask, name: str) -> Mask:
                return move_mask(mask, steps, seed("degrade", f" {name}"))

        rules = {span: form(f" {span.start}") for span in parts.cells}
        composed = compose_images(parts, rules, encode, distractors=distractors, finish=finish, with_mask=config.moves)
        if is_missed(composed.spans):
            detail = f"the cover hides less than {1 - MOST_VISIBLE:.0%} of the ink of a text"
            return Reject(source_id=prepared.item.source_id, reason=Reason.COVER_MISSED, detail=detail)
        if config.moves:  # no box holds in a skewed image
            spans = tuple(replace(covered, covers=()) for covered in composed.spans)
            return replace(composed, spans=spans, distractors=(), move=move)
        return composed

    def row(self, pair: Pair, mode: Mode) -> dict[str, Any]:
        """One row of the dataset, in the columns of :data:`vcrgen.tasks.vcr.VCR`."""
        return pair_row(pair, mode, language=self.language, image_format=self.config.image_format)


def batched(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of ``size`` values, the last one shorter."""
    iterator = iter(values)
    while batch := list(islice(iterator, size)):
        yield batch
