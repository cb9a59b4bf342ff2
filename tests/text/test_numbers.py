"""Numbers in words are in no span: num2words writes them, as cardinals, ordinals and years to 10,000."""

import re

import pytest
from num2words import num2words

from vcrgen.text.eligibility import ineligible_reason
from vcrgen.text.pipelines import load_pipeline

# A sentence around a number, and words of numbers that are no numbers on their own.
SENTENCES = {
    "en": ("They saw {} boats there.", {"and", "oh"}),
    "fr": ("Nous avons vu {} bateaux.", {"et", "un"}),
    "de": ("Wir sahen {} Boote im Hafen.", set()),
    "es": ("Vimos {} barcos en el puerto.", {"uno", "y"}),
    "pt": ("Nós vimos {} barcos no porto.", {"um", "e"}),
    "it": ("Vedemmo {} barche nel porto.", {"un", "uno"}),
    "ru": ("Мы видели {} лодок у берега.", set()),
    "ar": ("رأينا {} قوارب قرب الشاطئ", {"و"}),
    "ja": ("私は{}の船を見た。", set()),
    "ko": ("우리는 배 {} 척을 보았다.", set()),
}
# num2words has no years of Japanese before 645, and no Korean ordinal with a zero.
KINDS = {lang: ("cardinal",) if lang in ("ja", "ko") else ("cardinal", "ordinal", "year") for lang in SENTENCES}
# Of num2words in French, and in Italian, where 118 is "centodiciotto" and the 110th "centodecimo".
MISTAKES = re.compile(r"centsième|quatre-vingtsième|\w+todicott\w+|\w+todiecesimo")


def words_of_numbers(lang: str, kind: str) -> list[str]:
    """Return every word of the numbers to 200, and of some to 10,000, once."""
    numbers = [*range(1, 201), *range(201, 1001, 9), *range(1001, 10_001, 97)]
    written = dict.fromkeys(word for number in numbers for word in num2words(number, lang=lang, to=kind).split())
    return [word for word in written if not MISTAKES.fullmatch(word)]


@pytest.mark.parametrize(("lang", "kind"), [(lang, kind) for lang, kinds in KINDS.items() for kind in kinds])
def test_a_number_in_words_is_in_no_span(lang: str, kind: str) -> None:
    nlp, (sentence, plain) = load_pipeline(lang).nlp, SENTENCES[lang]
    start = sentence.index("{")
    selectable = set()
    for word in words_of_numbers(lang, kind):
        tokens = nlp(sentence.format(word)).char_span(start, start + len(word), alignment_mode="expand")
        if any(ineligible_reason(token) is None and token.text not in plain for token in tokens):
            selectable.add(word)
    assert selectable - plain == set()


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("de", "Wir sahen einen Mann, der einst die Dreistigkeit achtete."),
        ("de", "Wir gaben und nahmen von einander."),
        ("it", "Prima vedemmo un centauro, un ottone e i ventagli."),
        ("fr", "Nous avons vu un centaure et une unité."),
    ],
)
def test_words_with_the_letters_of_numbers_are_none(lang: str, text: str) -> None:
    assert "CARDINAL" not in {entity.label_ for entity in load_pipeline(lang).nlp(text).ents}


@pytest.mark.parametrize(
    ("lang", "text", "number"),
    [
        ("ja", "千三十五番目の人", "千三十五番目"),
        ("ko", "첫 번째 배", "첫 번째"),
        ("hi", "तीसरी नाव", "तीसरी"),
        ("de", "das dreihunderteinundzwanzigste Boot", "dreihunderteinundzwanzigste"),
        ("it", "la centodecima barca", "centodecima"),
        ("it", "il trecentodiciottesimo giorno", "trecentodiciottesimo"),
        ("ar", "القارب والثالث هناك", "والثالث"),
    ],
)
def test_an_ordinal_is_a_number(lang: str, text: str, number: str) -> None:
    start = text.index(number)
    tokens = load_pipeline(lang).nlp(text).char_span(start, start + len(number), alignment_mode="expand")
    assert None not in map(ineligible_reason, tokens)
