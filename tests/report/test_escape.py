"""Texts of strangers in tables that a spreadsheet opens."""

import pytest

from vcrgen.report.escape import escape_formula


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("=1+1", "'=1+1"),
        (' "@SUM(A1)', "' \"@SUM(A1)"),
        ("＝1+1", "'＝1+1"),
        ("a;=1+1", "a;'=1+1"),  # a semicolon begins a cell where people write decimals with a comma
        ("a\t-1", "a\t'-1"),
        ("\ta", "'\ta"),
        ("a=1", "a=1"),
        ("-", "-"),
    ],
)
def test_what_a_spreadsheet_would_run_has_an_apostrophe(text: str, escaped: str) -> None:
    assert escape_formula(text) == escaped
