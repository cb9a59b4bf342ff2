"""The template attack as a model: it reads the pixels of the strip and neither picture, caption nor question."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from vcrgen.models.base import Reply, Request, RequestProblem
from vcrgen.models.pictures import decode_image
from vcrgen.pixels.attack import ReadStrip, read_strip
from vcrgen.pixels.faces import FaceFinder
from vcrgen.pixels.lexicon import load_lexicon
from vcrgen.pixels.posterior import SIGMA
from vcrgen.signature import Signature

EXPLAINED = 0.98  # share of the uncovered ink from which on no other face is tried
LEAST_EXPLAINED = 0.9  # share of the uncovered ink; below it the face is not that of the strip, and bits are unknown
VERSION = 1  # of the method


class TemplateModel:
    """The pixel-only baseline.

    Args:
        font: A font file or a name of the registry; None for all shipped faces.
        lexicon: A word list; None for ``wordfreq``.
        sigma: Standard deviation of the noise, in grey levels.

    Attributes:
        name: As of a model.
        facts: Everything that replies depend on.
    """

    def __init__(self, *, font: str | None = None, lexicon: Path | None = None, sigma: float = SIGMA) -> None:
        self._font, self._lexicon, self._sigma = font, lexicon, sigma
        self._finders: dict[str, FaceFinder] = {}
        self.name = f"template-{VERSION}"
        self.facts: Mapping[str, Any] = {
            "model": self.name, "pillow": version("pillow"), "wordfreq": version("wordfreq"), "sigma": sigma,
            "font": font, "lexicon": load_lexicon("en", file=lexicon).name if lexicon else None,
        }  # fmt: skip

    def reply(self, request: Request) -> Reply:
        """Return the covered texts of a strip, a line each, and for each the bits that its pixels leave.

        Raises:
            RequestProblem: The image is invalid, no known face explains its text, or the language has no templates.
        """
        words = load_lexicon(request.language, file=self._lexicon)
        finder = self._finders.get(request.language)
        if finder is None:
            finder = self._finders[request.language] = FaceFinder(words, self._font)
        ink = 255 - np.asarray(decode_image(request.images[0]).convert("L"))
        best: ReadStrip | None = None
        for face, baseline in finder.candidates(ink):
            strip = read_strip(ink, face, baseline, self._sigma)
            if best is None or strip.fit > best.fit:
                best = strip
            if strip.fit >= EXPLAINED:
                break
        if best is None:
            raise RequestProblem("unknown_face", "no known face matches its text; give the font with --font")
        if best.fit < LEAST_EXPLAINED:
            raise RequestProblem(
                "unexplained_text",
                f"{best.face} explains {best.fit:.0%} of the uncovered ink (at least {LEAST_EXPLAINED:.0%}); give the "
                "font with --font, or for resized or compressed images more noise with --sigma",
            )
        signature = str(self._signature(words.name, best.face))
        spans = tuple(
            {
                "text": span.text, "bits": None if span.bits is None else round(span.bits, 6),
                "fit": round(span.fit, 4), "signature": signature,
            }
            for span in best.spans
        )  # fmt: skip
        return Reply(
            text="\n".join(span.text for span in best.spans), model=self.name, finish_reason="stop", spans=spans
        )

    def _signature(self, lexicon: str, face: str) -> Signature:
        """Return what the bits of a strip depend on."""
        facts = {"method": self.name, "lexicon": lexicon, "prior": "unigram", "sigma": f"{self._sigma:g}", "font": face}
        return Signature({name: fact.replace("|", "-") for name, fact in facts.items()})
