"""How long a server asks to wait, in the headers of its responses: ``Retry-After`` and ``x-ratelimit-*``."""

import email.utils
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime

LONGEST_WAIT = 86_400.0  # seconds; a server that asks for more is taken to ask for a day
_KINDS = ("requests", "tokens", "")  # what limits count; of several servers it has no name
_UNITS = {"d": 86_400, "h": 3600, "m": 60, "s": 1, "ms": 0.001}
_DURATION = re.compile("".join(rf"(?:([0-9]+(?:\.[0-9]+)?){unit})?" for unit in _UNITS))
_EPOCH, _EPOCH_MS = 1e9, 1e12  # from here on a number is a time since 1970, in seconds or milliseconds


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds until a request that was refused may be sent again, or None where the server does not say.

    Args:
        headers: Of the response; names in lower case, or a mapping that does not mind.
        now: Seconds since 1970.
    """
    for asked in (f"{headers.get('retry-after-ms', '')}ms", headers.get("retry-after", "")):
        if (seconds := seconds_of(asked, now)) is not None:
            return seconds
    resets = [reset for kind in _KINDS if (reset := _reset(headers, kind, now)) is not None]
    return used_up(headers, 1, now) or max(resets, default=None)


def used_up(headers: Mapping[str, str], tokens: float, now: float) -> float:
    """Seconds in which a limit has no room for another request; 0 where it has, or nothing is said.

    Args:
        headers: As of `retry_after`.
        tokens: Of a request and its reply.
        now: Seconds since 1970.
    """
    full = [
        _reset(headers, kind, now)
        for kind in _KINDS
        if (remaining := _remaining(headers, kind)) is not None and remaining < (tokens if kind == "tokens" else 1)
    ]
    return max((reset for reset in full if reset is not None), default=0.0)


def _remaining(headers: Mapping[str, str], kind: str) -> float | None:
    try:
        return float(headers.get(_name("remaining", kind), ""))
    except ValueError:
        return None


def _reset(headers: Mapping[str, str], kind: str, now: float) -> float | None:
    return seconds_of(headers.get(_name("reset", kind), ""), now)


def _name(figure: str, kind: str) -> str:
    return f"x-ratelimit-{figure}-{kind}" if kind else f"x-ratelimit-{figure}"


def seconds_of(value: str, now: float) -> float | None:
    """Seconds of a time in any form that servers use; None for what is none.

    Forms: ``7``, ``1m30s``, ``20ms``, a date of HTTP or of ISO 8601, or a time since 1970.
    """
    value = value.strip()[:100]
    found = _DURATION.fullmatch(value)
    if value and found:
        seconds = math.fsum(
            float(part) * unit for part, unit in zip(found.groups(), _UNITS.values(), strict=True) if part
        )
    else:
        number = _number_or_date(value)
        if number is None or math.isnan(number):
            return None
        seconds = number / 1000 - now if number >= _EPOCH_MS else number - now if number >= _EPOCH else number
    return min(max(seconds, 0.0), LONGEST_WAIT)


def _number_or_date(value: str) -> float | None:
    for read in (float, _http_date, _iso_date):
        try:
            return read(value)
        except (ValueError, TypeError, OverflowError):
            continue
    return None


def _http_date(value: str) -> float:
    return email.utils.parsedate_to_datetime(value).timestamp()


def _iso_date(value: str) -> float:
    date = datetime.fromisoformat(value)
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
