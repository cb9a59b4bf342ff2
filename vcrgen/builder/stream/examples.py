"""Examples from pairs and spans: cover, view and pixels, without encoding."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from vcrgen.builder.acceptance import Accepted
from vcrgen.builder.bands import stack_bands
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import PairImages, PreparedItem
from vcrgen.builder.stream.difficulty import Difficulty
from vcrgen.core.records import Mode, Reject, Span
from vcrgen.core.rng import rng_for
from vcrgen.data.views import View
from vcrgen.text.sample import calibration_sample
from vcrgen.typeset.calibrate import Calibration, Calibrator, make_calibrator
from vcrgen.typeset.render import glyph_boxes
from vcrgen.typeset.shaping import Shaper

_IMAGES = {View.STACKED: "stacked", View.TEI: "only_it", View.STRIP: "only_it_small"}
"""The image of a composition that shows a view."""

INK_DIGITS = 2  # covers hide whole rows, so finer shares would give the same ones


class Examples:
    """Builder of the examples of one configuration; ``views`` are drawn from."""

    def __init__(self, config: BuildConfig, difficulty: Difficulty, views: Sequence[str]) -> None:
        self.pipeline = Pipeline(config)
        self._difficulty, self._views = difficulty, views
        self._calibrator = cache(self._make_calibrator)
        self._cover = cache(self._find_cover)

    def make(self, prepared: PreparedItem, spans: Sequence[Span], *, epoch: int, step: int) -> dict[str, Any] | Reject:
        """Build one example from a pair and its spans; a Reject if they cannot be covered.

        Random choices depend on the epoch, and a schedule on ``step``, the pair's number in the stream.
        """
        pair, language = prepared.keys.pair, self.pipeline.language
        seed = self.pipeline.config.seed
        level = self._difficulty.draw(step, rng_for(seed, f"stream cover {epoch}", pair))
        cover = (
            prepared.style.calibrations[level]
            if isinstance(level, Mode)
            else self._cover(prepared.style.shaper, round(level, INK_DIGITS))
        )
        number = rng_for(seed, f"stream view {epoch}", pair).random() * len(self._views)
        view = View(self._views[int(number)])
        choices = self.pipeline.choices(pair, epoch)
        threshold = self.pipeline.threshold(cover.rule, level if isinstance(level, Mode) else None)
        accepted = self.pipeline.accept(prepared, tuple(spans), [threshold], choices)
        if isinstance(accepted, Reject):
            return accepted
        parts = self.pipeline.draw_parts(prepared, accepted)
        composed = self.pipeline.compose(prepared, parts, cover.rule, tuple, accepted, choices)
        if isinstance(composed, Reject):
            return composed
        return {
            "question_id": pair,
            "image": stack_bands(getattr(composed, _IMAGES[view])),
            "question": language.question,
            "answers": [span.text for span in accepted],
            "caption": prepared.layout.caption,
            "view": str(view),
            "mode": str(level) if isinstance(level, Mode) else "ink",
            "ink": cover.target,
            "visible_ink": [covered.visible_ink for covered in composed.spans],
            "epoch": epoch,
            "step": step,
            "source_id": prepared.item.source_id,
            **_hidden_pixels(composed, view),
            **_pixel_bits(accepted.values()),
            **self._glyph_boxes(prepared, composed, view),
        }

    def _glyph_boxes(self, prepared: PreparedItem, composed: PairImages[Any], view: View) -> dict[str, Any]:
        """A column of glyph boxes in pixels of the view's image; empty without `glyph_boxes`."""
        if not self.pipeline.config.glyph_boxes:
            return {}
        down = {View.STACKED: composed.strip_y, View.TEI: composed.only_it_strip_y, View.STRIP: 0}[view]
        return {"glyph_boxes": [glyph.as_row(down) for glyph in glyph_boxes(prepared.layout)]}

    def _make_calibrator(self, shaper: Shaper) -> Calibrator:
        language = self.pipeline.language
        return make_calibrator(shaper, language, calibration_sample(language.code), self.pipeline.config.cover)

    def _find_cover(self, shaper: Shaper, ink: float) -> Calibration:
        """A cover that leaves a share of ink, balanced like the language's own covers."""
        return self._calibrator(shaper).nearest(self.pipeline.language.cover_target(Mode.of_ink(ink)))


def _hidden_pixels(composed: PairImages[Any], view: View) -> dict[str, Any]:
    """A column with the mask of covers that are not boxes; empty for boxes, which columns list."""
    mask = composed.mask(_IMAGES[view])
    return {} if mask is None else {"cover_mask": mask}


def _pixel_bits(accepted: Iterable[Accepted]) -> dict[str, Any]:
    """A column with the bits that each span's pixels leave at least; empty where covers do not go by bits."""
    bits = [round(cover.bits[0], 2) for cover in accepted if cover.bits]
    return {"pixel_bits": bits} if bits else {}
