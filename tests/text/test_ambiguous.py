"""Texts whose drawing is another text's, too."""

from collections import defaultdict

import pytest
import regex

from vcrgen.builder.masking import plan_mask
from vcrgen.builder.options import BuildConfig
from vcrgen.core.rng import rng_for
from vcrgen.text.ambiguous import is_ambiguous
from vcrgen.text.eligibility import ineligible_reason
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.normalise import normalise_caption
from vcrgen.text.pipelines import load_pipeline
from vcrgen.text.sample import calibration_sample
from vcrgen.typeset.fonts import default_chain


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", "c\u0430t"),  # a Cyrillic letter in a Latin word
        ("en", "\u0410\u0412"),  # a Cyrillic word that looks Latin
        ("en", "\u0261reen"),  # a phonetic letter
        ("en", "re\ue001ne"),  # private use: "fi" in some fonts
        ("en", "\u017fet"),  # a long s is a compatibility character
        ("en", "\u2026"),
        ("fr", "\uff36in"),  # a full-width letter
        ("ru", "\u041coc\u043a\u0432\u0430"),
        ("ru", "HBO"),
        ("ar", "\u06a9\u062a\u0627\u0628"),  # a Persian letter
        ("ar", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"),
        ("hi", "\u0915\u094d\u200d\u0937"),
        ("zh", "\uff21\u578b"),
        ("zh", "\u30cb\u6708"),  # a katakana that looks like the ideograph of two
        ("ja", "\uff71"),
        ("ko", "\u1100"),  # half a syllable
    ],
)
def test_not_told_by_their_drawing(lang: str, text: str) -> None:
    assert is_ambiguous(normalise_caption(text), lang)


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", "na\u00efve"),
        ("en", "\u0391\u03b8\u03ae\u03bd\u03b1"),  # Greek, as its other letters tell
        ("en", "\u041c\u043e\u0441\u043a\u0432\u0430"),
        ("en", "\u00bd\u00b2\u00ba"),
        ("es", "a\u00f1o"),
        ("ru", "COVID"),
        ("ru", "\u0438\u043b\u0438"),
        ("zh", "\uff0c"),
        ("zh", "\u67ff"),
        ("ja", "T\u30b7\u30e3\u30c4\u3005"),
        ("ko", "\u314b\u314b"),
        ("hi", "\u0906\u092a"),
    ],
)
def test_told_by_their_drawing(lang: str, text: str) -> None:
    assert not is_ambiguous(normalise_caption(text), lang)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_words_of_the_language_are_told(lang: str) -> None:
    words = regex.findall(r"[\w\p{M}]+", normalise_caption(" ".join(calibration_sample(lang))))
    assert len(words) > 50 and not [word for word in words if is_ambiguous(word, lang)]


def test_what_is_drawn_alike_is_one_text() -> None:
    """Of what the default faces draw as a letter of English, the letter alone is in spans; a gap is a space."""
    chain = default_chain(LANGUAGES["en"].fonts, size=20)
    letters = {letter for line in calibration_sample("en") for letter in line if letter.isalpha() or letter == "-"}
    codes = sorted(set().union(*(face.characters for face in chain.faces)))
    drawn = defaultdict(set)
    gaps = set()
    for character in map(chr, codes):
        # Ideographs and syllables differ by strokes that 20 px do not show; private use is told by no rule.
        if regex.match(r"[\p{Ideographic}\p{HST=LV}\p{HST=LVT}\p{Cs}\p{Co}]", character):
            continue
        if (glyph := chain.glyph(character)) is None:
            continue
        if glyph.ink.any():
            drawn[glyph.face, glyph.advance, glyph.ink.shape, glyph.ink.tobytes()].add(normalise_caption(character))
        else:
            gaps.add(normalise_caption(f"a{character}b"))
    assert gaps == {"ab", "a b"}
    compared = 0
    for texts in drawn.values():
        native = texts & letters
        others = {text for text in texts - letters if text and not is_ambiguous(text, "en")}
        assert not native or others <= {"\u051a"}, (native, others)  # a Cyrillic Q that UTS #39 lacks
        compared += bool(native)
    assert compared > 20


def test_such_tokens_are_in_no_span() -> None:
    doc = load_pipeline("en").nlp("the small gr\u0435en boat lies quietly on the warm \u0261sand")
    assert [token.i for token in doc if ineligible_reason(token) == "ambiguous"] == [2, 9]
    (whole,) = plan("the small green boat lies quietly here.")
    assert whole == "the small green boat lies quietly here"
    assert not plan("the small gr\u0435en boat lies quietly here.")


def plan(text: str) -> list[str]:
    config = BuildConfig(mask="sentence", max_share=1)
    doc = load_pipeline("en").nlp(text)
    return [span.text for span in plan_mask(doc, rng_for(0, "mask", text), config, word_boundaries=True)]
