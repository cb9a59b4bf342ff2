"""Rules of names in languages with capitals: cases that are not in the data of a language."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from tests.text.test_each_language import eligible_text
from vcrgen.builder.masking import is_whole_words
from vcrgen.text.eligibility import selectable_ngrams
from vcrgen.text.pipelines import load_pipeline


def parse(text: str) -> Doc:
    """Return a text as the language's pipeline reads it."""
    return load_pipeline("en").nlp(text)


@pytest.fixture(scope="module")
def nlp() -> Language:
    return load_pipeline("en").nlp


def test_ngrams_stay_inside_a_sentence(nlp: Language) -> None:
    doc = nlp("There was a small hut. It was on a hill.")
    assert [span.text for span in selectable_ngrams(doc, 5)] == ["There was a small hut", "It was on a hill"]


def test_a_dense_caption_has_no_ngram(nlp: Language) -> None:
    assert selectable_ngrams(nlp("Pieter Soutman was a Dutch Golden Age painter from Haarlem."), 5) == []


def test_without_sentence_bounds_only_the_text_opens() -> None:
    import spacy

    bare = spacy.blank("en")
    bare.add_pipe("vcrgen_names_capitals")
    assert [entity.text for entity in bare("The hut burned. The hut").ents] == ["The"]


# Letters with odd case rules, ties, numbers and words of the lists, so that every pass meets every other.
PIECES = st.sampled_from(
    [
        "the",
        "The",
        "of",
        "Paris",
        "paris",
        "de",
        "-",
        "'s",
        ".",
        "5",
        "%",
        "$",
        "may",
        "I",
        "ǅ",
        "ß",
        "İ",
        "#",
        "@",
        "river",
        "Greek",
        "government",
        " ",
        "\n",
        '"',
        "TV",
        "Member",
    ]
)


@settings(max_examples=60)
@given(st.lists(PIECES, max_size=20).map(" ".join))
def test_a_capital_inside_a_sentence_is_never_selectable(text: str) -> None:
    for span in selectable_ngrams(parse(f"it was {text}"), 1):
        assert span.text.islower() or span.text in {"I", "TV", "Member"} or parse(span.text)[0].is_sent_start


def test_a_span_does_not_begin_after_an_elision() -> None:
    text, nlp = "le fond de l'eau claire", load_pipeline("fr").nlp
    found = {
        span.text for span in selectable_ngrams(nlp(text), 2) if is_whole_words(text, span.start_char, span.end_char)
    }
    assert found == {"le fond", "fond de", "l'eau"}


def test_sentences_end_as_the_row_says() -> None:
    nlp = load_pipeline("fr").nlp
    assert [sentence.text for sentence in nlp("Il dort. Il a faim ; il mange ! Et M. Dupont ?").sents] == [
        "Il dort.",
        "Il a faim ; il mange !",
        "Et M. Dupont ?",
    ]
    other_script = "il dort 。 il mange"
    assert len(list(nlp(other_script).sents)) == 1
    assert len(list(parse(other_script).sents)) == 2


def test_a_very_long_word_is_no_compound() -> None:
    """Taking it apart would take hours."""
    assert eligible_text("de", f"Am Ufer steht {'Fischer' * 30_000}boot allein") == "Am Ufer steht | allein"
