"""Names of pages: each reads back as what it is of, and no other text is one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.leaderboard.examples import track
from vcrgen.data.views import View
from vcrgen.leaderboard.site import names

ENTRIES = st.text("0123456789abcdef", min_size=12, max_size=12)
SETS = st.from_regex("[a-z0-9-]{1,40}", fullmatch=True)


@given(
    SETS, st.sampled_from(["easy", "mixed", "any", "ink-0.20", "bits-4", "bits-12", "en"]), st.sampled_from(list(View))
)
def test_the_name_of_a_board_reads_back(name: str, mode: str, view: View) -> None:
    assert names.parse_name(names.board_name(track(name, mode, view))) == ("board", name, mode, view.value)


@given(ENTRIES, ENTRIES)
def test_names_of_models_read_back(a: str, b: str) -> None:
    assert names.parse_name(names.model_name(a)) == ("model", a)
    assert names.compare_name(a, b) == names.compare_name(b, a)
    assert names.parse_name(names.compare_name(a, b)) == (None if a == b else ("compare", *sorted((a, b))))


@given(st.text("0123456789abcdef", min_size=32, max_size=32))
def test_names_of_submissions_read_back(number: str) -> None:
    assert names.parse_name(names.status_name(number)) == ("submission", number)


@given(st.text(max_size=60))
def test_any_text_is_a_name_or_none(text: str) -> None:
    assert names.parse_name(text) is None or re.fullmatch(r"[a-z0-9.-]+\.html", text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "index",
        "/index.html",
        "../index.html",
        "index.html\n",
        "board-a-easy-tei.html ",
        "board--.html",
        "board-A-easy-tei.html",
        "board-a-easy-teis.html",
        "board-a-ink-0.2-tei.html",
        f"board-{'a' * 41}-easy-tei.html",
        "model-0123456789AB.html",
        "model-0123456789abc.html",
        "compare-bbbbbbbbbbbb-aaaaaaaaaaaa.html",
        "submission-0123.html",
        "model-\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661.html",
    ],
)
def test_other_texts_are_no_names(text: str) -> None:
    assert names.parse_name(text) is None
