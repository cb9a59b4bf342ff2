"""How long a server asks to wait."""

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.models.wait_headers import LONGEST_WAIT, retry_after, seconds_of, used_up

NOW = 1_795_900_000.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7),
        ("0", 0),
        ("2.5", 2.5),
        ("-5", 0),
        ("inf", LONGEST_WAIT),
        ("1e300", LONGEST_WAIT),
        ("1m30s", 90),
        ("6m0s", 360),
        ("20ms", 0.02),
        ("2m59.56s", 179.56),
        ("1h2m", 3720),
        ("1d", 86_400),
        ("8s", 8),
        (formatdate(NOW + 60, usegmt=True), 60),
        (formatdate(NOW - 60, usegmt=True), 0),
        ("2026-11-29T02:40:00Z", pytest.approx(1_795_920_000 - NOW)),
        (f"{NOW + 30:.0f}", 30),
        (f"{1000 * (NOW + 30):.0f}", 30),
        ("", None),
        ("nan", None),
        ("soon", None),
        ("1m 30s", None),
        ("s", None),
        ("\xff", None),
    ],
)
def test_forms_of_a_time(value: str, seconds: float | None) -> None:
    assert seconds_of(value, NOW) == seconds
    assert retry_after({"retry-after": value}, NOW) == seconds


@given(st.text(max_size=120))
def test_any_text_is_a_bounded_time_or_none(value: str) -> None:
    seconds = seconds_of(value, NOW)
    assert seconds is None or 0 <= seconds <= LONGEST_WAIT


def limits(**headers: str) -> dict[str, str]:
    return {f"x-ratelimit-{name.replace('_', '-')}": value for name, value in headers.items()}


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "9", **limits(remaining="0", reset="50")}, 9),
        (limits(remaining="0", reset="50"), 50),
        (limits(remaining_requests="0", reset_requests="1m30s", remaining_tokens="900", reset_tokens="5m"), 90),
        (limits(remaining_tokens="0", reset_tokens="20ms"), 0.02),
        (limits(reset_requests="3s", reset_tokens="7s"), 7),  # which of them refuses is not said
        (limits(remaining_requests="0"), None),
        ({}, None),
    ],
)
def test_a_refused_request_waits_for_what_refuses_it(headers: dict[str, str], wait: float | None) -> None:
    assert retry_after(headers, NOW) == wait


@pytest.mark.parametrize(
    ("headers", "held"),
    [
        (limits(remaining="0", reset="50"), 50),
        (limits(remaining="1", reset="50"), 0),
        (limits(remaining_requests="0", reset_requests="2s", remaining_tokens="100", reset_tokens="9s"), 9),
        (limits(remaining_requests="5", reset_requests="2s", remaining_tokens="2000", reset_tokens="9s"), 0),
        (limits(remaining="none", reset="50"), 0),
        (limits(remaining_requests="0"), 0),
        ({}, 0),
    ],
)
def test_a_limit_without_room_for_a_request_holds_them(headers: dict[str, str], held: float) -> None:
    assert used_up(headers, 1500, NOW) == held
