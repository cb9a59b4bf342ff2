"""Items of a hidden set: layout, mask and covers drawn from the secret."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

from vcrgen.builder.acceptance import Acceptance, Threshold
from vcrgen.builder.compose import MAX_VISIBLE, compose_images, draw_parts
from vcrgen.builder.encode import encode_png
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import PreparedItem
from vcrgen.builder.rows import span_row
from vcrgen.core.records import Item, Mode, Reject, RejectReason, Span
from vcrgen.data.canary import LINE
from vcrgen.hidden.design import MAX_EMS, MIN_WIDTH, ItemDesign, draw_cover_modes, draw_design
from vcrgen.hidden.secret import Secret
from vcrgen.pixels.lexicon import load_lexicon
from vcrgen.text.graphemes import clusters
from vcrgen.typeset.cover import CoverRule, Gray, draw_layers, measure_span, span_cells, with_seed
from vcrgen.typeset.cover_kinds import ROWS
from vcrgen.typeset.fonts import FontChain, resolve_font
from vcrgen.typeset.layout import WORD
from vcrgen.typeset.records import WHITE
from vcrgen.typeset.render import render_strip
from vcrgen.typeset.shaping import Shaper
from vcrgen.typeset.style import Style, make_shaper, make_style

# Attempts to draw spans of rare words, whose covers are usable and that differ from earlier forms; the attempt with the
# most such spans counts.
DRAWINGS = 24
# Of each letter at least this share of its ink stays visible, in both modes. Some, such as 一, have nearly all of it
# where the covers are. In a cursive script that holds for each word: a fifth of the Arabic letters would be hidden, but
# they are parts of one stroke, which goes on beside them.
MIN_LETTER_INK = 0.1
# New is a span that shares at most half of its characters with every span of the forms before; if there is none, one
# that is not quite the same, and at last any.
MAX_SHARED = (0.5, 0.99, 1.0)
# Bits a word by which the words of a span are rarer than the language's: of rarer ones, text alone tells less. At last
# any span is taken.
RARER = (1.0, -math.inf)
# Stacked images higher than this many widths are rejected, as in VCR-WIKI: 900 px at 300.
MAX_RATIO = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FormItem:
    """One item of one form."""

    question_id: str  # random digits
    stacked: bytes  # PNG of VI+TEI
    only_it: bytes  # PNG of TEI only
    answer: dict[str, Any]  # the line of the key


class SpanBits(NamedTuple):
    """The bits that a cover leaves at least, its neighbours apart."""

    span: float
    least_stretch: float  # of the covered units in a row that have the fewest


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanCovers:
    """The cover of one span in each mode."""

    rules: Mapping[Mode, CoverRule]
    bits: Mapping[Mode, SpanBits]  # that each leaves at least; empty if the covers do not go by bits

    def row(self, mode: Mode) -> dict[str, float]:
        """Entries of the key that say its bits in a mode; none where bits are not measured."""
        if not self.bits:
            return {}
        bits = self.bits[mode]
        return {"pixel_bits": round(bits.span, 2), "least_stretch_bits": round(bits.least_stretch, 2)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedItem:
    """What is decided of one pair before it is drawn; without its picture, as processes send it."""

    slot: ItemDesign  # with the size of the font in which covers are even
    caption: str  # as it is shown
    covers: Mapping[Span, SpanCovers]  # the spans in reading order, each with its covers
    visible: float  # ink that covers leave of each span, as a share: mean of both modes, summed over the spans

    @property
    def statistics(self) -> tuple[int, ...]:
        """Numbers by which forms are matched: spans, letters, masked letters, visible ink in thousandths."""
        covered = sum(span.end - span.start for span in self.covers)
        return len(self.covers), len(self.caption), covered, round(1000 * self.visible)


class FormBuilder:
    """Builder of the items of forms; ``fonts`` are names of faces or font files.

    Raises:
        VcrgenError: A font or the text pipeline cannot be used.
    """

    def __init__(self, config: BuildConfig, secret: Secret, fonts: Sequence[str]) -> None:
        self.pipeline = Pipeline(config)
        self.secret, self.fonts = secret, fonts
        self._lexicon = load_lexicon(config.lang) if self.pipeline.language.shaper == "basic" else None
        self._style = cache(self._make_style)  # a few hundred, each with the glyphs that it has drawn
        self._shaper = cache(self._make_shaper)

    def check_font(self, font: str) -> None:
        """Check that a user's font can be used; every shipped text face can.

        Raises:
            FontError: It lacks letters of the language, or its letters cannot be covered as asked for.
        """
        self._style(font, round(MIN_WIDTH / MAX_EMS))

    def canary(self, form: int) -> str:
        """Canary that every public file of a form holds."""
        return LINE + self.secret.token("canary", str(form))

    def plan(self, item: Item, number: int, form: int = 0, earlier_spans: Sequence[Span] = ()) -> PlannedItem | Reject:
        """Draw the design and the spans of an item.

        Args:
            number: The number of the item in its form.
            form: The number of the form, if several forms have the same pair.
            earlier_spans: The spans of the pair's earlier forms, to be avoided.
        """
        slot = draw_design(self.secret, number, form, self.fonts)
        style = self._style(slot.font, slot.font_size)
        prepared = self.pipeline.prepare(item, _on_page(style, slot.width))
        if isinstance(prepared, Reject):
            return prepared
        ink = WHITE - render_strip(prepared.layout)
        covers = self._select(prepared, ink, form, earlier_spans)
        if isinstance(covers, Reject):
            return covers
        shares = (
            share for span, span_covers in covers.items() for share in _visible(span, prepared, ink, span_covers.rules)
        )
        visible = sum(shares) / len(prepared.style.calibrations)
        slot = replace(slot, font_size=style.shaper.chain.size)
        return PlannedItem(slot=slot, caption=prepared.layout.caption, covers=covers, visible=visible)

    def _make_style(self, font: str, size: int) -> Style:
        """Make a style of one face without fallbacks, in the nearest size with even covers."""
        language, config, file = self.pipeline.language, self.pipeline.config, resolve_font(font)
        styles: list[Style] = []
        for step in (0, 1, -1, 2, -2):
            chain = FontChain([file], size=size + step)
            style = make_style(language, chain, width=0, max_height=0, cover=config.cover, modes=config.modes)
            styles.append(style)
            if all(cover.is_even for cover in style.calibrations.values()):
                return style
        return styles[0]

    def _drawing_style(self, slot: ItemDesign) -> Style:
        """The style of a planned item; its covers are chosen, so the font is not calibrated again."""
        shaper, cover = self._shaper(slot.font, slot.font_size), self.pipeline.config.cover
        return _on_page(Style(width=0, max_height=0, shaper=shaper, cover=cover, calibrations={}), slot.width)

    def _make_shaper(self, font: str, size: int) -> Shaper:
        return make_shaper(self.pipeline.language, FontChain([resolve_font(font)], size=size))

    def _rules(self, prepared: PreparedItem, span: Span, form: int, draw: int = 0) -> dict[Mode, CoverRule]:
        """Choose a cover rule for a span in each mode, seeded by the secret."""
        rules = {mode: calibration.rule for mode, calibration in prepared.style.calibrations.items()}
        if self.pipeline.config.cover == ROWS:
            return rules
        place = f"{prepared.keys.pair} {span.start}" + (f" draw {draw}" if draw else "")
        seed = int(self.secret.random(f"cover form/{form}", place).random() * (1 << 53))
        return {mode: with_seed(rule, seed) for mode, rule in rules.items()}

    def _covers(self, prepared: PreparedItem, span: Span, ink: Gray, form: int) -> SpanCovers | None:
        """Draw the covers of a span; None if they would hide a letter, as rows may not, or nothing, or too little."""
        if self.pipeline.acceptance:
            return self._accept(prepared, span, form, self.pipeline.acceptance)
        rules = self._rules(prepared, span, form)
        if self.pipeline.config.cover == ROWS:
            parts = [word.span() for word in WORD.finditer(span.text)]
            parts = parts if self.pipeline.language.cursive else clusters(span.text)
            usable = _shows_each_letter(parts, span, prepared, ink, rules)
        else:
            usable = max(_visible(span, prepared, ink, rules)) <= MAX_VISIBLE
        return SpanCovers(rules=rules, bits={}) if usable else None

    def _accept(self, prepared: PreparedItem, span: Span, form: int, acceptance: Acceptance) -> SpanCovers | None:
        """Draw the cover of each mode until it leaves enough bits; None if it does not."""
        pair, rules, bits = draw_parts(prepared, (span,)), dict[Mode, CoverRule](), dict[Mode, SpanBits]()
        for mode in self.pipeline.config.modes:
            draws = partial(self._thresholds, prepared, span, form, mode)
            accepted = acceptance.draw(span, pair, prepared.style.shaper, draws)
            if accepted is None:
                return None
            rules[mode] = draws(accepted.draw)[0].rule
            stretches = acceptance.stretches(span, pair, prepared.style.shaper, rules[mode])
            bits[mode] = SpanBits(accepted.bits[0], min(stretches))
        return SpanCovers(rules=rules, bits=bits)

    def _thresholds(self, prepared: PreparedItem, span: Span, form: int, mode: Mode, draw: int) -> list[Threshold]:
        return [self.pipeline.threshold(self._rules(prepared, span, form, draw)[mode], mode)]

    def _select(
        self, prepared: PreparedItem, ink: Gray, form: int, earlier_spans: Sequence[Span]
    ) -> dict[Span, SpanCovers] | Reject:
        """Select spans whose covers are usable and that overlap little with those of earlier forms.

        Of rare words, as text alone tells them least; others are taken where there are none.
        """

        def shared(span: Span) -> float:  # its largest overlap with a known span, as a share
            counts = (min(span.end, other.end) - max(span.start, other.start) for other in earlier_spans)
            return max([0, *counts]) / (span.end - span.start)

        doc = self.pipeline.text.nlp(prepared.layout.caption)

        usable = cache(partial(self._covers, prepared, ink=ink, form=form))
        drawings: list[tuple[Span, ...]] = []
        for drawing in range(DRAWINGS):
            rng = self.secret.random(f"mask/{form}/{drawing}", prepared.keys.pair)
            spans = self.pipeline.plan(prepared.item, doc, rng)
            if isinstance(spans, Reject):
                return spans
            drawings.append(spans)
        for max_shared, rarer in product(MAX_SHARED, RARER):
            candidates = [
                tuple(span for span in spans if shared(span) <= max_shared and self._rarity(span) >= rarer)
                for spans in drawings
            ]
            if best := _most_usable(candidates, usable):
                return best
        if self.pipeline.acceptance:
            reason, detail = RejectReason.SETTLED, "no cover of a text that can be masked leaves enough bits"
        else:
            reason = RejectReason.NO_NGRAM
            detail = "every text that can be masked has a letter of which its cover would hide nearly all"
        return prepared.item.reject(reason, detail)

    def _rarity(self, span: Span) -> float:
        """Mean bits of a span's words above those of the language's; infinite where no lexicon tells them."""
        return self._lexicon.bits_a_unit(span.text) - self._lexicon.mean_bits if self._lexicon else math.inf

    def draw(self, item: Item, planned: PlannedItem, form: int, before: int, picture: str) -> FormItem:
        """Draw an item.

        Args:
            planned: What was decided of it.
            form: The number of its form, from 0.
            before: Spans of the items before it in the form.
            picture: The hash of its picture, in hex, for the key.
        """
        slot = planned.slot
        prepared = self.pipeline.prepare(item, self._drawing_style(slot))
        assert isinstance(prepared, PreparedItem)  # as in its plan
        drawn = draw_cover_modes(self.secret, form, before, len(planned.covers), self.pipeline.config.modes)
        modes = dict(zip(planned.covers, drawn, strict=True))
        rules = {span: planned.covers[span].rules[mode] for span, mode in modes.items()}
        encode = partial(encode_png, note=self.canary(form))
        images = compose_images(draw_parts(prepared, modes), rules, encode, strip_first=slot.strip_first)
        question_id = self.secret.token(f"id/{form}", prepared.keys.pair)
        answer = {
            "question_id": question_id,
            "source_id": prepared.item.source_id,
            "caption": prepared.layout.caption,
            "picture": picture,
            "crossed_text": [span.text for span in modes],
            "font": slot.font,
            "font_size": slot.font_size,
            "width": slot.width,
            "strip": "above" if slot.strip_first else "below",
            "strip_y": images.strip_y,
            "only_it_strip_y": images.only_it_strip_y,
            "strip_height": prepared.layout.height,
            "drawn": prepared.layout.text,
            "lines": [[line.start, line.end] for line in prepared.layout.lines],
            "spans": [
                span_row(boxed) | {"cover": str(modes[boxed.span])} | planned.covers[boxed.span].row(modes[boxed.span])
                for boxed in images.spans
            ],
        }
        return FormItem(question_id=question_id, stacked=images.stacked, only_it=images.only_it, answer=answer)


def _on_page(style: Style, width: int) -> Style:
    return replace(style, width=width, max_height=MAX_RATIO * width)


def _most_usable(
    drawings: Sequence[tuple[Span, ...]], usable: Callable[[Span], SpanCovers | None]
) -> dict[Span, SpanCovers]:
    """The usable spans of the drawing that has the most, each with its covers."""
    best: dict[Span, SpanCovers] = {}
    for spans in sorted(drawings, key=len, reverse=True):
        if len(spans) <= len(best):
            break
        found = {span: covers for span in spans if (covers := usable(span))}
        best = max(best, found, key=len)
    return best


def _visible(span: Span, prepared: PreparedItem, ink: Gray, rules: Mapping[Mode, CoverRule]) -> list[float]:
    """Share of a span's ink that its cover leaves, in each mode; ``ink`` is the darkness of the strip."""
    cells = span_cells(span, prepared.layout)
    layers = None if prepared.style.cover == ROWS else draw_layers(prepared.layout, cells)
    covers_by_mode = ([rule.cover(cell) for cell in cells] for rule in rules.values())
    return [measure_span(span, cells, covers, ink, layers).visible_ink for covers in covers_by_mode]


def _shows_each_letter(
    parts: Iterable[tuple[int, int]], span: Span, prepared: PreparedItem, ink: Gray, rules: Mapping[Mode, CoverRule]
) -> bool:
    """Return True if both modes leave ink of each part of a span that has a letter or a digit."""
    for start, end in parts:
        text = span.text[start:end]
        part = Span(start=span.start + start, end=span.start + end, text=text, tokens=(text,))
        if any(map(str.isalnum, text)) and min(_visible(part, prepared, ink, rules)) < MIN_LETTER_INK:
            return False
    return True
