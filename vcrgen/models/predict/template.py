"""The template attack as a model: it reads the pixels of the strip and neither picture, caption nor question."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from vcrgen.core.errors import ConfigError
from vcrgen.core.signature import Signature
from vcrgen.data.reader import Dataset
from vcrgen.models.base import Reply, Request, RequestProblem
from vcrgen.models.pictures import decode_image
from vcrgen.pixels.attack import SURE, ReadStrip, Typeface, read_strip
from vcrgen.pixels.faces import FaceFinder
from vcrgen.pixels.harvest import ROUNDS, harvest
from vcrgen.pixels.lexicon import Lexicon, load_lexicon
from vcrgen.pixels.posterior import SIGMA
from vcrgen.pixels.strips import PAPER, Gray, without_covers, without_noise

EXPLAINED = 0.98  # share of the uncovered ink from which on no other face is tried
LEAST_EXPLAINED = 0.9  # share of the uncovered ink; below it the face is not that of the strip, and bits are unknown
LEAST_ALIKE = 0.75  # share of it that a look-alike explains, if differences of 40 grey levels are allowed
TRIED_STRIPS, MOST_STRIPS = 4, 60  # the first strips: those whose face is looked for, those that glyphs are cut out of
DARKEST_PAPER = 64  # grey levels; covers are darker
COLOURED_PAPER = "coloured_paper"  # reason of a strip that is not read
VERSION = 8  # of the method


class TemplateModel:
    """The pixel-only baseline.

    Args:
        font: A font file or a name of the registry; None for all shipped faces.
        lexicon: A word list; None for ``wordfreq``.
        sigma: Standard deviation of the noise, in grey levels.
        cut_out: Faces of glyphs cut out of the dataset, by language.

    Attributes:
        name: As of a model.
        facts: Everything that replies depend on.
    """

    def __init__(
        self,
        *,
        font: str | None = None,
        lexicon: Path | None = None,
        sigma: float = SIGMA,
        cut_out: Mapping[str, Typeface] = MappingProxyType({}),
    ) -> None:
        self._font, self._lexicon, self._sigma, self._cut_out = font, lexicon, sigma, cut_out
        self._finders: dict[str, FaceFinder] = {}
        self.name = f"template-{VERSION}"
        self.facts: Mapping[str, Any] = {
            "model": self.name,
            "pillow": version("pillow"),
            "wordfreq": version("wordfreq"),
            "sigma": sigma,
            "font": font,
            "lexicon": load_lexicon("en", file=lexicon).name if lexicon else None,
            "cut_out": {lang: face.digest for lang, face in sorted(cut_out.items())},
        }

    def reply(self, request: Request) -> Reply:
        """Read the covered texts of a strip, one a line, and for each the bits that its pixels leave.

        Raises:
            RequestProblem: The image is invalid, no known face explains its text, or no cover is found.
            ConfigError: The language has no templates.
        """
        words = load_lexicon(request.language, file=self._lexicon)
        ink, noise = darkness(request.images[0]), self._sigma if self._sigma > SIGMA else 0.0
        _, clean = without_noise(ink, noise)
        if _is_coloured(clean):
            raise RequestProblem(COLOURED_PAPER, "its paper is not white, and black print on white paper is compared")
        finder = self._finder(words)
        best: ReadStrip | None = None
        for face, baseline in self._faces(finder, self._cut_out.get(request.language), clean):
            strip = read_strip(ink, face, baseline, self._sigma, LEAST_EXPLAINED, noise)
            if best is None or strip.fit > best.fit:
                best = strip
            if strip.fit >= EXPLAINED:
                break
        if best is None:
            raise RequestProblem(
                "unknown_face",
                "no known face matches its text; give the font with --font; if it is noisy or was compressed with "
                "loss, give the noise, as --sigma 10",
            )
        if best.fit < LEAST_EXPLAINED:
            raise RequestProblem(
                "unexplained_text",
                f"{best.face.name} explains less than {LEAST_EXPLAINED:.0%} of the uncovered ink; give "
                "the font with --font; if it is noisy or was compressed with loss, give the noise, as --sigma 10; "
                "images that were resized cannot be read",
            )
        if not best.spans:
            raise RequestProblem(
                "no_cover_found",
                "no covered text was found in it; white rows and grey covers are, in images that were not resized",
            )
        signature = str(self._signature(words.name, best.face.name))
        spans = tuple(
            {
                "text": span.text,
                "bits": None if span.bits is None else round(span.bits, 6),
                "fit": round(span.fit, 4),
                "signature": signature,
            }
            for span in best.spans
        )
        text = "\n".join(span.text for span in best.spans)
        return Reply(text=text, model=self.name, finish_reason="stop", spans=spans)

    def _finder(self, words: Lexicon) -> FaceFinder:
        finder = self._finders.get(words.lang)
        if finder is None:
            finder = self._finders[words.lang] = FaceFinder(words, self._font)
        return finder

    @staticmethod
    def _faces(finder: FaceFinder, cut_out: Typeface | None, ink: Gray) -> Iterator[tuple[Typeface, int]]:
        """Yield the likeliest faces of a strip, with the row of its first baseline."""
        if cut_out is not None:
            match = cut_out.match(without_covers(ink))
            if match.alike > 0:
                yield cut_out, match.baseline
        yield from finder.candidates(ink)

    def _signature(self, lexicon: str, face: str) -> Signature:
        """Return what the bits of a strip depend on."""
        facts = {"method": self.name, "lexicon": lexicon, "prior": "unigram", "sigma": f"{self._sigma:g}", "font": face}
        return Signature({name: fact.replace("|", "-") for name, fact in facts.items()})


def check_print(dataset: Dataset) -> None:
    """Check that a dataset's captions are black on white, as templates are.

    Raises:
        ConfigError: They are printed in another colour or on another paper.
    """
    printed = dataset.manifest.signature.facts.get("print") if dataset.manifest else None
    if printed:
        paper, _, colour = printed.partition(",")
        raise ConfigError(
            f"The template baseline compares black print on white paper; {dataset} has print of the colour {colour} on "
            f"{paper} paper. Read a dataset that was built without --paper and --ink-colour."
        )


def _is_coloured(ink: Gray) -> bool:
    """Tell whether the paper of a strip is not white."""
    strip = ink[(ink > PAPER).any(axis=1)]
    pale = strip[strip < DARKEST_PAPER]
    return bool(pale.size and np.median(pale) > PAPER)


def darkness(image: bytes) -> Gray:
    """Darkness of an image; a RequestProblem if it is invalid."""
    ink: Gray = 255 - np.asarray(decode_image(image).convert("L"))
    return ink


def cut_out_glyphs(
    pictures: Iterable[tuple[str, bytes | None]], *, font: str | None = None, lexicon: Path | None = None
) -> dict[str, Typeface]:
    """Return faces of glyphs cut out of uncovered text, of the languages whose strips are in no known face.

    A strip counts as of a known face if its characters explain :data:`EXPLAINED` of the uncovered ink.

    Args:
        pictures: Language and encoded image of strips in one face and size. The first of each language tell whether
            their face is known.
        font: As for :class:`TemplateModel`.
        lexicon: As for :class:`TemplateModel`.
    """
    strips: defaultdict[str, list[Gray]] = defaultdict(list)
    for lang, data in pictures:
        if data is not None and len(strips[lang]) < MOST_STRIPS:
            with suppress(RequestProblem):  # which the run counts
                strips[lang].append(darkness(data))
    faces = {}
    for lang, inks in sorted(strips.items()):
        face = _look_alike(FaceFinder(load_lexicon(lang, file=lexicon), font), inks[:TRIED_STRIPS])
        if face is not None:
            faces[lang] = harvest(face, [(ink, face.match(without_covers(ink)).baseline) for ink in inks])
    return faces


def _look_alike(finder: FaceFinder, inks: Sequence[Gray]) -> Typeface | None:
    """Find the face that most of some strips are like; None if the faces of most of them are known."""
    votes: Counter[str] = Counter()
    faces: dict[str, Typeface] = {}
    for ink in inks:
        fits = [
            (read_strip(ink, face, at, ROUNDS[0], least=LEAST_ALIKE).fit, face, at)
            for face, at in finder.candidates(ink)
        ]
        fit, best, baseline = max(fits, key=lambda read: read[0], default=(0.0, None, 0))
        if best is not None and fit >= LEAST_ALIKE:
            # Under bars, letters that are cut are often read wrongly, whatever the face.
            is_known = best.match(without_covers(ink)).equal >= SURE or read_strip(ink, best, baseline).fit >= EXPLAINED
            votes["" if is_known else best.name] += 1
            faces[best.name] = best
    name = max(votes, key=lambda face_name: (votes[face_name], face_name), default="")
    return faces[name] if name else None
