"""Every language of the table against its data in ``tests/text/languages``: its sample, and the rules of names."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.text.language_data import FOLDER, language_data
from vcrgen.text.eligibility import ineligible_reason, selectable_ngrams
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.lexicons import read_lexicon
from vcrgen.text.lexicons_zh import ChineseLists
from vcrgen.text.names_capitals import CapitalsLists
from vcrgen.text.names_morphemes import MorphemeLists
from vcrgen.text.pipelines import load_pipeline
from vcrgen.text.sample import calibration_sample

ANNOTATED = [code for code in LANGUAGES if "annotated" in language_data(code)]
FREQUENT = [code for code in LANGUAGES if "frequent_names" in language_data(code)]
MORPHEMES = [code for code, row in LANGUAGES.items() if "morphemes" in row.pipeline]
CAPITALS = [code for code, row in LANGUAGES.items() if "capitals" in row.pipeline]
# Characters of several scripts, with marks, ties, numbers and odd case rules, so that rules meet each other.
PIECES = [
    *(
        "the",
        "The",
        "of",
        "de",
        "l'",
        "Paris",
        "paris",
        "-",
        "'s",
        ".",
        "5",
        "%",
        "$",
        "I",
        "ǅ",
        "ß",
        "İ",
        "#",
        "@",
        " ",
    ),
    *("的", "中国", "王", "《", "・", "三", "月", "が", "가", "ال", "बिल्ली", "\n", '"', "\u200b", "😀"),
]
TEXTS = st.one_of(*(st.text(max_size=60), *(st.lists(st.sampled_from(PIECES)).map(gap.join) for gap in ("", " "))))


def lists_of(code: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the lists of a language: name, comments, entries; comments on top of a file count for all its lists."""
    for file in (FOLDER.parents[2] / "vcrgen" / "text" / code / "lexicons").glob("*.txt"):
        parts = re.split("^## (.+)$", file.read_text("utf-8"), flags=re.MULTILINE)
        top = [line for line in parts[0].splitlines() if line.startswith("#")]
        for name, text in zip([file.stem, *parts[1::2]], parts[::2], strict=True):
            lines = text.strip("\n").splitlines()
            head = " ".join(line for line in [*top, *lines] if line.startswith("#"))
            yield name, head, [line for line in lines if not line.startswith("#")]


def eligible_text(lang: str, text: str) -> str:
    """Return the eligible tokens, with a bar where an ineligible one stands between them."""
    parts = [token.text if ineligible_reason(token) is None else "|" for token in load_pipeline(lang).nlp(text)]
    kept = [part for i, part in enumerate(parts) if part != "|" or (i and parts[i - 1] != "|")]
    return " ".join(kept).strip(" |")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_calibration_sample_never_changes(lang: str) -> None:
    texts = calibration_sample(lang)
    assert len(texts) >= 60 and all(text and text == text.strip() for text in texts)
    assert hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16] == language_data(lang)["sample_digest"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_eligible_tokens_and_entities(lang: str) -> None:
    data = language_data(lang)
    assert {text: eligible_text(lang, text) for text in data["eligible"]} == data["eligible"]
    for text, expected in data.get("entities", {}).items():
        found = {f"{entity.text}/{entity.label_}" for entity in load_pipeline(lang).nlp(text).ents}
        assert found >= set(expected), text


@pytest.mark.parametrize("lang", FREQUENT)
def test_an_everyday_word_is_no_name_unless_it_is_allowed_by_hand(lang: str) -> None:
    import wordfreq

    """As lists of names are compared in lower case; in scripts with capitals, a name of such a word has its capital."""
    lists = ("names",) if "morphemes" in LANGUAGES[lang].pipeline else ("first_names", "places", "demonyms")
    listed = {word for name in lists for word in read_lexicon(lang, name)}
    assert listed.intersection(wordfreq.top_n_list(lang, 2000)) == set(language_data(lang)["frequent_names"].split())


@pytest.mark.parametrize("lang", ANNOTATED)
def test_few_ngrams_overlap_a_name_and_most_captions_keep_one(lang: str) -> None:
    """On captions that were written and annotated for this test; no native speaker has read them."""
    lines = (FOLDER / f"{lang}.jsonl").read_text("utf-8").splitlines()
    ngrams = leaking = kept = 0
    for item in map(json.loads, lines):
        spans = selectable_ngrams(load_pipeline(lang).nlp(item["text"]), 5)
        kept += bool(spans)
        ngrams += len(spans)
        leaking += sum(
            any(start < span.end_char and end > span.start_char for start, end, _ in item["entities"]) for span in spans
        )
    limits = language_data(lang)["annotated"]
    assert len(lines) >= 60 and leaking <= limits["leak"] * ngrams and kept >= limits["kept"] * len(lines)


@pytest.mark.parametrize("lang", LANGUAGES)
@settings(max_examples=40)
@given(text=TEXTS)
def test_any_text_is_read_and_read_alike_again(lang: str, text: str) -> None:
    doc, again = (load_pipeline(lang).nlp(text) for _ in range(2))
    assert doc.text == text
    assert all(0 <= entity.start < entity.end <= len(doc) and entity.label_ for entity in doc.ents)
    assert [(t.text, t.tag_, t.ent_type_) for t in doc] == [(t.text, t.tag_, t.ent_type_) for t in again]
    for span in selectable_ngrams(doc, 3):
        assert len({token.sent.start for token in span}) == 1


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_list_that_no_rule_reads_is_a_mistake(code: str) -> None:
    by_rules = {CapitalsLists: CAPITALS, MorphemeLists: MORPHEMES, ChineseLists: ("zh",)}
    (kind,) = [kind for kind, codes in by_rules.items() if code in codes]
    known = {field.name for field in fields(kind)} | OTHER_LISTS
    assert {name for name, _, _ in lists_of(code)} <= known


# Lists that other code reads than the classes of lists.
OTHER_LISTS = {"inflections", "name_quotes", "plain_numbers", "pointing", "sensitive", "units"}

# Lists of words beside names, which are compared as they are written: with a capital, if nouns have one.
AS_WRITTEN = ("geographic", "institutions", "bodies", "bodies_first")


@pytest.mark.parametrize("code", CAPITALS)
def test_lists_have_a_source_and_each_entry_once(code: str) -> None:
    for name, head, entries in lists_of(code):
        assert name == "sensitive" or ("Source: " in head and "Licence" in head), name
        assert len(set(entries)) == len(entries) and all(entry == entry.strip() != "" for entry in entries), name
        capital_nouns = name in AS_WRITTEN and code == "de"
        if not capital_nouns and name not in ("plain_capitals", "sensitive"):
            assert all(entry == entry.lower() for entry in entries), name
