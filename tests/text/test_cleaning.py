"""Captions without what the web leaves in them."""

import html
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.samples.pairs import caption, has_captions
from vcrgen.text.cleaning import CLEANINGS, MAX_LENGTH
from vcrgen.text.eligibility import ineligible_reason
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.pipelines import load_pipeline
from vcrgen.text.sample import calibration_sample

clean = CLEANINGS["web"]
# Parts of markup, so that they often stand side by side and inside of each other.
PARTS = (
    *("&", "amp;", "lt;", "&gt;", "&nbsp;", "&#92;", "\\", "n", "u00e9", "<", ">", "br", "b", "/", "/>", "<!--", "-->"),
    *(
        "[",
        "12",
        "]",
        "citation needed",
        "<image>",
        "<|",
        "|>",
        "ref",
        "\u00e2\u20ac\u2122",
        "\u00c3\u00a9",
        " ",
        "boat",
    ),
)


@pytest.mark.parametrize(
    ("dirty", "text", "kinds"),
    [
        ("small&nbsp;green&nbsp;boat", "small green boat", "entities"),
        ("salt &amp;amp; pepper &#233; &quot;x&quot;", 'salt & pepper \u00e9 "x"', "entities"),
        ("a lighthouse[citation needed] near the sea[12][3].", "a lighthouse near the sea.", "citations"),
        ('a boat<ref name="x">Smith 2010</ref> lies[note 4]', "a boat lies", "citations"),
        ("a boat<br/>near <a href='x y'>the</a> <b>sea</b>", "a boat near the sea", "tags"),
        ("<p class=x>a boat</p><!-- by me -->", " a boat  ", "tags"),
        ("H<sub>2</sub>O", "H2O", "tags"),
        ("a boat\\tnear\\nthe \\u201csea\\u201d", "a boat near the \u201csea\u201d", "escapes"),
        ('\\ud83d\\ude00 \\"so\\" and\\/or', '\U0001f600 "so" and/or', "escapes"),
        ("the captain\u00e2\u20ac\u2122s caf\u00c3\u00a9", "the captain\u2019s caf\u00e9", "mojibake"),
        ("<image> a boat <PERSON> <image_2><|endoftext|>", "  a boat     ", "placeholders"),
        ("&lt;b&gt;a boat&lt;/b&gt;", "a boat", "entities tags"),
    ],
)
def test_kinds(dirty: str, text: str, kinds: str) -> None:
    cleaned = clean(dirty)
    assert (cleaned.text, " ".join(cleaned.kinds)) == (text, kinds)


@pytest.mark.parametrize(
    "text",
    [
        "AT&T, R&D and Q&A; black&white",
        "a < b and c > d, <3 you, x<y and z>w",
        "C:\\new\\table and \\\\server\\notes",
        "the angle $\\theta$ and \\nu, \\tau, \\rho",
        '"[t]he wa[s]", an array [3] of [a] and [sic]',
        "\u00c0 la carte, na\u00efve caf\u00e9 \u2014 \u201cso\u201d\u2026 \u00bd \u20ac",
        "S\u00c3O PAULO, \u00c2ngela, \u00e2me",
        "\u56fe\u7247\u300a\u6d77\u300b\uff08\u4e00\uff09 & Co.",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert clean(text).text == text and not clean(text).kinds


@pytest.mark.parametrize("lang", LANGUAGES)
def test_clean_captions_stay_as_they_are(lang: str) -> None:
    texts = [*calibration_sample(lang), *(caption(lang, index) for index in range(60 * has_captions(lang)))]
    assert not [text for text in texts if clean(text).kinds or clean(text).text != text]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_real_captions_stay_as_they_are(lang: str, wiki_dir: Path) -> None:
    texts = pq.read_table(wiki_dir / f"pairs_{lang}.parquet").column("caption").to_pylist()
    assert texts and not [text for text in texts if clean(text).kinds]
    # What a page makes of them is undone.
    assert [clean(html.escape(html.escape(text))).text for text in texts] == texts
    assert [clean(f"<p>{text}</p>").text.strip() for text in texts] == [text.strip() for text in texts]


@given(st.lists(st.sampled_from(PARTS)).map("".join) | st.text())
def test_a_cleaned_text_is_clean(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned.text).text == cleaned.text and not clean(cleaned.text).kinds
    assert cleaned.kinds or cleaned.text == text


@pytest.mark.parametrize(
    "part", ["<a b  ", "&amp;", "&", "<", "[1", "\\", "<ref>", "<!--", "<a =", "\u00c3\u00a9", "<b c='"]
)
def test_hostile_texts_are_read_in_one_go(part: str) -> None:
    """A pattern that goes back and forth would take hours."""
    assert len(clean(part * 20_000).text) <= MAX_LENGTH


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("the small&nbsp;green&nbsp;boat lies quietly", "the lies quietly"),
        ("a lighthouse[citation needed] stands", "a stands"),
        ("a boat <br/>near the sea", "a boat the sea"),
        ("a boat\\tlies quietly", "a quietly"),
        ("an <image> of a boat", "an of a boat"),
        ("the boat & the sea", "the boat the sea"),
    ],
)
def test_tokens_with_markup_are_not_masked(text: str, masked: str) -> None:
    doc = load_pipeline("en").nlp(text)
    assert " ".join(token.text for token in doc if ineligible_reason(token) is None) == masked
