"""All forms of one pair: set, masked, covered and drawn as the secret says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from vcrgen.builder.compose import compose_images, draw_parts
from vcrgen.builder.encode import encode_png
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import Prepared
from vcrgen.builder.rows import span_row
from vcrgen.config import BuildConfig
from vcrgen.hidden.choices import EMS, LEAST_WIDTH, Slot, cover_modes, slot_for
from vcrgen.hidden.secret import Secret
from vcrgen.records import Item, Mode, Reject, Span
from vcrgen.typeset.fonts import FontChain, resolve_font
from vcrgen.typeset.style import Style, make_style

# A later form draws spans this often, and takes the drawing with the most new spans.
DRAWINGS = 24
# New is a span that shares at most half of its characters with every span of the forms before; if there is none, one
# that is not quite the same.
MOST_SHARED = (0.5, 0.99)
# Stacked images higher than this many widths are set aside, as in VCR-WIKI: 900 px at 300.
MOST_RATIO = 3
_STYLES = 64  # fonts in one size that are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One item of one form."""

    question_id: str  # random digits
    keys: dict[str, str]  # hashes of source image and shown caption, by which the same pair is known
    stacked: bytes  # PNG of VI+TEI
    only_it: bytes  # PNG of TEI only
    answer: dict[str, Any]  # the line of the key


class FormMaker:
    """Makes the forms of pairs.

    ``fonts`` are names of faces, or font files; ``variants`` is the number of forms.

    Raises:
        VcrgenError: A font or the text pipeline cannot be used.
    """

    def __init__(self, config: BuildConfig, secret: Secret, fonts: Sequence[str], variants: int) -> None:
        self.pipeline = Pipeline(config)
        self._secret, self._fonts, self._variants = secret, fonts, variants
        self._style = lru_cache(maxsize=_STYLES)(self._make_style)
        for font in fonts:
            self._style(font, round(LEAST_WIDTH / EMS))  # so that an unusable one is found before anything is written

    def canary(self, form: int) -> str:
        """The line that every public file of a form carries."""
        return f"Hidden test data, not for training. vcrgen canary {self._secret.token('canary', str(form))}"

    def forms(self, item: Item, number: int, spans_before: Sequence[int]) -> list[Form] | Reject:
        """Draw all forms of an item; if one of them cannot be made, the item is set aside.

        ``number`` is its number in the set, and ``spans_before`` says for each form how many spans the items before
        it have.
        """
        forms: list[Form] = []
        known: list[Span] = []
        for form in range(self._variants):
            slot = slot_for(self._secret, number, form, self._fonts)
            style = self._style(slot.font, slot.font_size)
            prepared = self.pipeline.prepare(item, replace(style, width=slot.width, max_height=MOST_RATIO * slot.width))
            if isinstance(prepared, Reject):
                return prepared
            spans = self._spans(prepared, form, known)
            if isinstance(spans, Reject):
                return spans
            known += spans
            modes = cover_modes(self._secret, form, spans_before[form], len(spans))
            forms.append(self._draw(prepared, slot, form, dict(zip(spans, modes, strict=True))))
        return forms

    def _make_style(self, font: str, size: int) -> Style:
        """The face alone, without fallbacks: a caption that it cannot set is set aside.

        Where no cover is even in a size, the nearest size in which it is, the next larger one first; if there is none
        near, the size itself.
        """
        styles: list[Style] = []
        for step in (0, 1, -1, 2, -2):
            chain = FontChain([resolve_font(font)], size=size + step)
            styles.append(make_style(self.pipeline.language, chain, width=0, max_height=0))
            if all(cover.even for cover in styles[-1].covers.values()):
                return styles[-1]
        return styles[0]

    def _spans(self, prepared: Prepared, form: int, known: Sequence[Span]) -> tuple[Span, ...] | Reject:
        """Spans that share little with those of the forms before; short captions may leave no others."""

        def shared(span: Span) -> float:  # the largest part of its characters that one of the known spans has, too
            counts = (min(span.end, other.end) - max(span.start, other.start) for other in known)
            return max([0, *counts]) / (span.end - span.start)

        doc = self.pipeline.text.nlp(prepared.layout.text)
        drawings: list[tuple[Span, ...]] = []
        for drawing in range(DRAWINGS if known else 1):
            rng = self._secret.random(f"mask/{form}/{drawing}", prepared.keys.pair)
            spans = self.pipeline.plan(prepared.item, doc, rng)
            if isinstance(spans, Reject):
                return spans
            drawings.append(spans)
        for most in MOST_SHARED:
            new = [tuple(span for span in spans if shared(span) <= most) for spans in drawings]
            if best := max(new, key=len):
                return best
        return drawings[0]

    def _draw(self, prepared: Prepared, slot: Slot, form: int, modes: dict[Span, Mode]) -> Form:
        rules = {span: prepared.style.covers[mode].rule for span, mode in modes.items()}
        encode = partial(encode_png, note=self.canary(form))
        images = compose_images(draw_parts(prepared, modes), rules, encode, strip_first=slot.strip_first)
        question_id = self._secret.token(f"id/{form}", prepared.keys.pair)
        answer = {
            "question_id": question_id, "source_id": prepared.item.source_id, "caption": prepared.layout.text,
            "crossed_text": [span.text for span in modes], "font": slot.font,
            "font_size": prepared.style.shaper.chain.size, "width": slot.width,
            "strip": "above" if slot.strip_first else "below", "strip_y": images.strip_y,
            "only_it_strip_y": images.only_it_strip_y, "strip_height": prepared.layout.height,
            "spans": [span_row(covered) | {"cover": str(modes[covered.span])} for covered in images.spans],
        }  # fmt: skip
        keys = {"image": prepared.keys.image, "caption": prepared.keys.caption}
        return Form(question_id=question_id, keys=keys, stacked=images.stacked, only_it=images.only_it, answer=answer)
