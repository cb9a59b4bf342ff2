"""Reports of hidden sets: counts, and the overlap of forms, without answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from vcrgen.core.records import Mode
from vcrgen.data.key import FEEDBACK, FINAL
from vcrgen.text.languages import LANGUAGES

Answer = Mapping[str, Any]


def summary_report(
    answers: Sequence[Answer], *, language: str, modes: Sequence[Mode], rejected: Mapping[str, int]
) -> dict[str, Any]:
    """Summarise one form: the items of its key, and the numbers of rejected pairs by reason."""
    covers = {mode: LANGUAGES[language].cover_target(mode) for mode in modes}
    spans = [span for answer in answers for span in answer["spans"]]
    bits = [span["pixel_bits"] for span in spans if "pixel_bits" in span]
    stretches = [span["least_stretch_bits"] for span in spans if "least_stretch_bits" in span]
    ink = {mode: [s["visible_ink"] for s in spans if s["cover"] == mode] for mode in covers}
    widths = [answer["width"] for answer in answers]
    return {
        "items": len(answers),
        "spans": len(spans),
        "fonts": _counts(answer["font"] for answer in answers),
        "strip": _counts(answer["strip"] for answer in answers),
        "covers": _counts(span["cover"] for span in spans),
        "width": dict(zip(("least", "median", "most"), map(int, np.percentile(widths, [0, 50, 100])), strict=True)),
        "visible_ink": {
            str(mode): {
                "target": covers[mode].visible,
                "median": round(float(np.median(values)), 3) if values else None,
                "off_target": sum(not covers[mode].contains(value) for value in values),
            }
            for mode, values in ink.items()
        },
        **({"pixel_bits": _bits_of(bits, stretches)} if bits else {}),
        "parts": {
            part: {"items": len(inside), "spans": sum(len(answer["spans"]) for answer in inside)}
            | _counts(span["cover"] for answer in inside for span in answer["spans"])
            for part in (FEEDBACK, FINAL)
            if (inside := [answer for answer in answers if answer["part"] == part])
        },
        "set_aside": dict(rejected),
    }


def overlap_report(forms: Sequence[Sequence[Answer]]) -> list[dict[str, Any]]:
    """Report what every two forms of the same pairs, in the same order, have in common."""
    report: list[dict[str, Any]] = []
    for a, b in combinations(range(len(forms)), 2):
        pairs = list(zip(forms[a], forms[b], strict=True))
        same = sum(len(set(x["crossed_text"]) & set(y["crossed_text"])) for x, y in pairs)
        covered = [(_characters(x), _characters(y)) for x, y in pairs]
        shares = {
            "same_spans": same / sum(len(y["crossed_text"]) for _, y in pairs),
            "shared_characters": sum(len(x & y) for x, y in covered) / sum(len(y) for _, y in covered),
            "same_font": sum(x["font"] == y["font"] for x, y in pairs) / len(pairs),
            "same_place": sum(x["strip"] == y["strip"] for x, y in pairs) / len(pairs),
        }
        report.append({"forms": [a + 1, b + 1]} | {name: round(share, 4) for name, share in shares.items()})
    return report


def _bits_of(spans: Sequence[float], stretches: Sequence[float]) -> dict[str, float]:
    low, median = np.percentile(spans, [10, 50])
    return {
        "least": min(spans),
        "p10": round(float(low), 2),
        "median": round(float(median), 2),
        "least_stretch": min(stretches),
    }


def _characters(answer: Answer) -> set[int]:
    return {at for span in answer["spans"] for at in range(span["start"], span["end"])}


def _counts(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
