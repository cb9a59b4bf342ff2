"""Strangers' facts about their models: the accepted ones, their types, and the rejected ones."""

import unicodedata
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.core.errors import LeaderboardError
from vcrgen.leaderboard.model_facts import MAX_FILE_NAME, check_facts, file_name, lookalikes, near_team, taken_for
from vcrgen.leaderboard.records import ModelFacts, entry_of
from vcrgen.report.escape import MAX_NAME, check_name
from vcrgen.report.published.fields import MAX_LINK, Access, check_link, parse_size, show_size


@pytest.mark.parametrize(
    ("given_name", "stored"),
    [
        ("Seer 7B", "Seer 7B"),
        ("  Seer \t 7B\n", "Seer 7B"),
        ("Seer\u00a07B", "Seer 7B"),
        ("e\u0301clair", "\u00e9clair"),
        ("观海 9B", "观海 9B"),
        ("بصر", "بصر"),
        ("<b>&amp;", "<b>&amp;"),
        ("x" * MAX_NAME, "x" * MAX_NAME),
        ("e\u0301" * MAX_NAME, "\u00e9" * MAX_NAME),
    ],
)
def test_names_are_stored_in_one_form(given_name: str, stored: str) -> None:
    assert check_name(given_name, "model") == stored


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "The name of the team is missing."),
        (" \t\u3000", "The name of the team is missing."),
        ("x" * (MAX_NAME + 1), "longer than 80 characters"),
        ("a\u202eb", "U+202E"),  # right-to-left override
        ("a\u2066b", "U+2066"),
        ("a\u200bb", "U+200B"),  # zero width
        ("a\ufeffb", "U+FEFF"),
        ("a\u00adb", "U+00AD"),
        ("a\0b", "U+0000"),
        ("a\x1b[31mb", "U+001B"),
        ("a\x7fb", "U+007F"),
        ("a\ud800b", "U+D800"),
        ("a\ue000b", "U+E000"),
        ("a\uffffb", "U+FFFF"),
        ("a\u3164b", "U+3164"),  # a Hangul filler, a letter to Unicode
        ("a\u2800b", "U+2800"),  # a blank of Braille
        ("a\uffa0", "U+FFA0"),
        ("a\u115f", "U+115F"),
        ("Seer\ufe0f", "U+FE0F"),  # variation selectors
        ("Seer\U000e0101", "U+E0101"),
        ("Seer\u180b", "U+180B"),
        ("Seer\U000e0041", "U+E0041"),  # a tag
        ("Seer\u034f", "U+034F"),
        ("Seer\U00013441", "U+13441"),
        ("\u0301", "accents without a letter"),
        ("Z" + "\u0335" * 5, "five on one letter"),
    ],
)
def test_names_that_cannot_be_seen_are_refused(name: str, message: str) -> None:
    with pytest.raises(LeaderboardError) as caught:
        check_name(name, "team")
    assert message in str(caught.value)


@given(st.text(max_size=100))
def test_a_name_is_stored_once_and_for_all(text: str) -> None:
    try:
        name = check_name(text, "model")
    except LeaderboardError:
        return
    assert check_name(name, "model") == name == unicodedata.normalize("NFC", name)
    assert 1 <= len(name) <= MAX_NAME
    # Characters that Python's Unicode does not know yet may be letters of a later one, by which names are checked.
    assert not [char for char in name if unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs")]


@pytest.mark.parametrize(
    "link",
    ["", "https://example.org", "http://example.org:8080/a?b=c#d", "HTTPS://EXAMPLE.ORG/", "https://[::1]/model"],
)
def test_links_to_pages_are_taken(link: str) -> None:
    assert check_link(link) == link


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "ftp://example.org",
        "//example.org",
        "example.org",
        "https://",
        "https:///path",
        "http:example.org",
        "https://user@example.org",
        "https://user:word@example.org",
        "https://@example.org",
        "https://example.org/a b",
        "https://example.org/\tb",
        "https://example.org/\nb",
        'https://example.org/"x',
        "https://example.org/'x",
        "https://example.org/<x>",
        "https://example.org\\@evil.example",
        "https://example.org/`x",
        "https://[::1",
        "https://exämple.org",
        "https://example.org/" + "x" * MAX_LINK,
    ],
)
def test_other_links_are_refused(link: str) -> None:
    with pytest.raises(LeaderboardError, match="The link has to be an http or https address"):
        check_link(link)


@given(st.text(max_size=60).map(lambda text: f"https://example.org/{text}"))
def test_a_link_that_is_taken_needs_no_escaping(link: str) -> None:
    try:
        taken = check_link(link)
    except LeaderboardError:
        return
    assert taken == link and link.isascii() and not set(link) & set(" \t\r\n\f\v\"'<>\\`")


@pytest.mark.parametrize(
    ("text", "size", "shown"),
    [
        ("", None, ""),
        ("-", None, ""),
        ("7B", 7.0, "7B"),
        ("1.3B", 1.3, "1.3B"),
        ("350M", 0.35, "350M"),
        ("0.35b", 0.35, "350M"),
        ("72 B", 72.0, "72B"),
        ("1.5T", 1500.0, "1.5T"),
        ("1000B", 1000.0, "1T"),
        ("14m", 0.014, "14M"),
    ],
)
def test_sizes(text: str, size: float | None, shown: str) -> None:
    assert parse_size(text) == size
    assert show_size(size) == shown
    assert parse_size(shown) == size


@given(st.integers(1, 9999), st.sampled_from("MBT"))
def test_every_size_comes_back(number: int, unit: str) -> None:
    size = parse_size(f"{number / 10:g}{unit}")
    assert size is not None and parse_size(show_size(size)) == size


@pytest.mark.parametrize("text", ["7", "B", "-7B", "7GB", "7e9", "7,3B", "1.2345B", "٧B", "nanB", "infB", "9999999B"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(LeaderboardError, match="The size is written like 7B"):
        parse_size(text)


def test_facts_of_a_model() -> None:
    facts = check_facts(
        team=" Lab ", model="Seer", link=" https://a.example ", access="open", size="7B", released=" 2026-01-31 "
    )
    assert facts == ModelFacts(
        team="Lab", model="Seer", link="https://a.example", access=Access.OPEN, size=7.0, released=date(2026, 1, 31)
    )
    bare = check_facts(team="Lab", model="Seer")
    assert bare == ModelFacts(team="Lab", model="Seer", access=Access.UNKNOWN)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"access": "Open"}, "The access is one of open, closed, unknown"),
        ({"released": "2026-02-30"}, "The date of release is written like 2026-01-31"),
        ({"released": "2026-W05-6"}, "The date of release"),
        ({"released": "20260131"}, "The date of release"),
        ({"released": "31.01.2026"}, "The date of release"),
        ({"model": " "}, "The name of the model is missing"),
    ],
)
def test_wrong_facts_are_named(more: dict[str, str], message: str) -> None:
    with pytest.raises(LeaderboardError, match=message):
        check_facts(**{"team": "Lab", "model": "Seer", **more})


def test_an_entry_stands_for_team_and_model_whatever_their_case() -> None:
    assert entry_of("Lab", "Seer") == entry_of("LAB", "sEER") == entry_of("lab", "seer") == "28d206ce2baf", "links stay"
    assert entry_of("Straße", "M") == entry_of("STRASSE", "m")
    different = [("Lab", "Seer"), ("LabS", "eer"), ("Seer", "Lab"), ("Lab", "Seer "), ('Lab", "S', "eer")]
    assert len({entry_of(*names) for names in different}) == len(different)
    assert len(entry_of("a", "b")) == 12 and set(entry_of("a", "b")) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (None, "predictions"),
        ("", "predictions"),
        ("/", "predictions"),
        ("preds.jsonl", "preds.jsonl"),
        ("../../etc/passwd", "passwd"),
        (r"C:\Users\me\preds.jsonl", "preds.jsonl"),
        ("a/b\\c", "c"),
        ("a\0b\nc\u202ed.json", "abcd.json"),
        ("my preds.csv", "my preds.csv"),
        ("x" * 200 + ".jsonl", "x" * 94 + ".jsonl"),
    ],
)
def test_names_of_files(name: str | None, shown: str) -> None:
    assert file_name(name) == shown


@given(st.text(max_size=300))
def test_a_file_name_is_never_a_path(name: str) -> None:
    shown = file_name(name)
    assert 1 <= len(shown) <= MAX_FILE_NAME
    assert not set(shown) & {"/", "\\", "\0"}
    assert not [char for char in shown if unicodedata.category(char)[0] == "C"]
    assert file_name(shown) == shown


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"size": "999999T"}, "The size is at most 100T"),
        ({"size": "100.1T"}, "The size is at most 100T"),
        ({"size": "0B"}, "more than 0"),
        ({"released": "9999-12-31"}, "at most a year ahead, not 9999-12-31"),
        ({"released": "0001-01-01"}, "after 1950"),
    ],
)
def test_what_no_model_is(facts: dict[str, str], message: str) -> None:
    with pytest.raises(LeaderboardError, match=message):
        check_facts(team="T", model="M", **facts)
    assert check_facts(team="T", model="M", size="100T", released="2026-01-31").size == 100_000


@pytest.mark.parametrize(
    ("models", "marked"),
    [
        ([("Team A", "Seer"), ("Team B", "Seer"), ("Team A", "Se\u0435r")], [1, 2]),  # a Cyrillic letter
        ([("Team A", "Seer"), ("Team B", "seer"), ("Team C", "Looker")], []),
        ([("Team A", "Seer"), ("Te\u0430m A", "Looker"), ("Team B", "x")], [0, 1]),
        ([("Team A", "Seer 1"), ("Team A", "Seer l")], []),  # its own names are its own matter
        ([("paypal", "x"), ("PAYPAI", "y")], [0, 1]),
    ],
)
def test_names_that_look_the_same(models: list[tuple[str, str]], marked: list[int]) -> None:
    facts = [check_facts(team=team, model=model) for team, model in models]
    assert lookalikes(facts) == {facts[number].entry for number in marked}


def test_a_team_whose_name_looks_the_same() -> None:
    others = ["Paypal Lab", "PAYPAL LAB", "Other"]
    assert taken_for("P\N{CYRILLIC SMALL LETTER A}ypal Lab", others) == ["Paypal Lab", "PAYPAL LAB"]
    assert taken_for("paypal lab", others) == [] == taken_for("Third", others)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Univeristy of Ada", "University of Ada"),
        ("university of ada", ""),
        ("Team B", ""),
        ("Team 12", ""),
        ("TeamA", "Team A"),
        ("Somebody else", ""),
    ],
)
def test_a_mistyped_team(name: str, near: str) -> None:
    assert near_team(name, ["University of Ada", "Team A", "Team 1"]) == near
