"""Builders of a board's records: like real ones, hostile ones, and many of them."""

import hashlib
import itertools
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta

import pytest

from vcrgen.data.views import View
from vcrgen.leaderboard.page_records import (
    BoardTable,
    ComparePage,
    Estimate,
    Estimates,
    Group,
    ModelCell,
    ModelPage,
    ModelRun,
    PairwiseComparison,
    PublicHiddenGap,
    RankedModel,
    Ranking,
    Site,
    Track,
)
from vcrgen.leaderboard.records import Event, ModelFacts, Submission, SubmissionStatus, TestSet
from vcrgen.leaderboard.settings import Settings
from vcrgen.report.published.fields import Access
from vcrgen.report.published.results import ReportedResult

EACH_DATABASE = pytest.mark.parametrize("board", ["sqlite", "postgresql"], indirect=True)
HOSTILE = "</script><script>alert(1)</script>\"'`><img src=x onerror=alert(2)>{{ 7*7 }}{% raw %}&lt;b&gt; שלום"
NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
KNOWN = (
    ("Example Lab", "Aurora-VL 72B", "open", 72.0, "2026-08-01", 0.913),
    ("Example Lab", "Aurora-VL 7B", "open", 7.0, "2026-08-01", 0.861),
    ("Northern Institute", "Fjord 2 Pro", "closed", None, "2026-10-12", 0.922),
    ("Northern Institute", "Fjord 2 Mini", "closed", None, "2026-10-12", 0.743),
    ("OpenEyes", "Iris 34B", "open", 34.0, "2025-11-30", 0.802),
    ("OpenEyes", "Iris 1.5B", "open", 1.5, "2025-11-30", 0.447),
    (
        "Kestrel Research Group at the University of Somewhere",
        "Kestrel-Vision-Instruct-preview-v3.1",
        "open",
        13.0,
        "",
        0.7,
    ),
    ("视觉实验室", "观海 9B", "open", 9.0, "2026-03-15", 0.851),
    ("مختبر الرؤية", "بصر 8B", "open", 8.0, "2026-05-02", 0.612),
    ("Baselines", "OCR on the strip", "open", 0.014, "2024-06-01", 0.052),
    ("Solo", "tiny-reader", "unknown", 0.35, "", 0.18),
)


def estimate(value: float, half: float = 0.02) -> Estimate:
    return Estimate(value, max(value - half, -1.0), min(value + half * 0.9, 1.0))


def estimates(exact: float, half: float = 0.02) -> Estimates:
    return {"exact": estimate(exact, half), "jaccard": estimate(min(1.0, exact + 0.04), half)}


def track(
    set: str = "wiki-en", mode: str = "easy", view: View = View.STACKED, *, language: str = "en", hidden: bool = False
) -> Track:
    return Track(
        set=set,
        hidden=hidden,
        language=language,
        mode=mode,
        view=view,
        questions=500,
        spans=1243,
        step=0.005 if hidden else 0.0,
    )


def facts(number: int = 0) -> ModelFacts:
    """The model of that number; beyond the known ones they repeat with another name."""
    team, model, access, size, released, _ = KNOWN[number % len(KNOWN)]
    again = number // len(KNOWN)
    return ModelFacts(
        team=team,
        model=f"{model} v{again + 1}" if again else model,
        link=f"https://example.org/{number}" if number % 3 else "",
        access=Access(access),
        size=size,
        released=date.fromisoformat(released) if released else None,
    )


def hostile_facts() -> ModelFacts:
    return ModelFacts(team=HOSTILE, model=f"{HOSTILE} model", link="javascript:alert(3)", access=Access.OPEN, size=7.0)


def rows(count: int, of: Track) -> tuple[RankedModel, ...]:
    """The first models, best first, with ranks and ranges as intervals of 2 points would give them."""
    strength = [max(KNOWN[n % len(KNOWN)][5] - 0.013 * (n // len(KNOWN)), 0.01) for n in range(count)]
    order = sorted(range(count), key=lambda n: -strength[n])
    made = []
    for n in order:
        exact, tei = strength[n], strength[n] * (0.8 - 0.15 * math.sin(n))
        better = sum(other - exact > 0.025 for other in strength)
        worse = sum(exact - other > 0.025 for other in strength)
        other = View.TEI if of.view == View.STACKED else View.STACKED
        both = n % 5 != 3
        value = {View.STACKED: exact, View.TEI: tei}
        scores = {of.view: estimates(value[of.view])} | ({other: estimates(value[other], 0.025)} if both else {})
        made.append(
            RankedModel(
                facts=facts(n),
                received=NOW - timedelta(days=3 * n, hours=n),
                rank=1 + better,
                worst_rank=count - worse,
                files=1 + n % 4,
                scores=scores,
                difference={"exact": estimate(exact - tei, 0.015), "jaccard": estimate(exact - tei - 0.01)}
                if both
                else None,
            )
        )
    return tuple(made)


def ranking(of: Track, count: int = 25, signature: str = "paper-v2 and more") -> Ranking:
    return Ranking(signature=signature, short=hashlib.sha256(signature.encode()).hexdigest()[:8], rows=rows(count, of))


def reported(mode: str = "easy", view: View = View.STACKED) -> list[ReportedResult]:
    base = {"language": "en", "mode": mode, "view": view, "url": "https://example.org/paper"}
    return [
        ReportedResult(
            source="Some et al. 2024, Table 1",
            data="VCR-wiki-en-easy-test-500",
            items=500,
            model="Bigmodel 90B",
            access=Access.OPEN,
            size=90.0,
            exact=0.9155,
            exact_sd=0.0041,
            jaccard=0.9573,
            corrected="Printed as 9.155; the same table's text says 91.55.",
            **base,
        ),
        ReportedResult(
            source="Some et al. 2024, Table 1",
            data="VCR-wiki",
            model="Humans",
            jaccard=0.985,
            note="Seven people.",
            **base,
        ),
    ]


def table(of: Track | None = None, count: int = 25, *, older: int = 2, publications: bool = True) -> BoardTable:
    of = of or track()
    rankings = [ranking(of, count)] + ([ranking(of, older, "an older scorer")] if older else [])
    return BoardTable(
        track=of, rankings=tuple(rankings), reported=tuple(reported(of.mode, of.view)) if publications else ()
    )


def tracks() -> tuple[Track, ...]:
    sets = (("wiki-en", "en", False), ("hidden-en-2026", "en", True), ("wiki-zh", "zh", False))
    return tuple(
        track(name, mode, view, language=language, hidden=hidden)
        for name, language, hidden in sets
        for mode in (("mixed",) if hidden else ("easy", "hard"))
        for view in (View.STACKED, View.TEI)
    )


def site(
    *, live: bool = True, of: Sequence[Track] | None = None, models: Iterable[ModelFacts] | None = None, text: str = ""
) -> Site:
    of = tracks() if of is None else tuple(of)
    known = tuple(models) if models is not None else tuple(facts(n) for n in range(25))
    sets = {each.set: each for each in of}
    return Site(
        settings=Settings(
            title=text or "Visual Caption Restoration",
            intro=text
            or "Which models can read a caption of which only the top and the bottom of the letters are left?",
            contact=text or "board@example.org",
        ),
        sets=tuple(
            TestSet(
                name=name,
                path="/secret/place",
                hidden=each.hidden,
                language=each.language,
                questions=each.questions,
                spans=each.spans,
                modes=tuple(dict.fromkeys(other.mode for other in of if other.set == name)),
                signature="s" * 16,
            )
            for name, each in sets.items()
        ),
        tracks=of,
        models=known,
        live=live,
        compared=frozenset((a.entry, b.entry) for a, b in itertools.pairwise(known)),
        updated=NOW,
    )


def cell(of: Track, exact: float = 0.86, rank: int = 3, worst_rank: int = 5) -> ModelCell:
    public = not of.hidden
    counts = {"exact": 1000, "wrong": 160, "short": 40, "refused": 12, "empty": 0, "null": 8, "missing": 23}
    groups = [
        *(("position", label) for label in ("1. span", "2. span", "3. span", "4. span and later")),
        *(("tokens", label) for label in ("1", "2", "3", "4", "5")),
        *(("visible ink", label) for label in ("0.38-0.44", "0.44-0.47", "0.47-0.51", "0.51-0.58")),
    ]
    return ModelCell(
        track=of,
        rank=rank,
        worst_rank=worst_rank,
        models=25,
        estimates=estimates(exact),
        outcomes=counts if public else {},
        groups=tuple(
            Group(by=by, label=label, spans=310 - 20 * n, estimates=estimates(exact - 0.01 * (n % 5), 0.04))
            for n, (by, label) in enumerate(groups)
            if public
        ),
    )


def run(set: str = "wiki-en", of: ModelFacts | None = None, *, current: bool = True, removed: str = "") -> ModelRun:
    mine = [each for each in tracks() if each.set == set]
    return ModelRun(
        set=set,
        facts=of or facts(1),
        received=NOW,
        file=hashlib.sha256(f"{set}{current}{removed}".encode()).hexdigest(),
        bytes=1_234_567,
        signature="vcrgen 0.1.0, paper-v2, blank spaCy en, answers 0f3a77",
        current=current,
        removed=removed,
        cells=tuple(cell(each, 0.86 - 0.11 * n) for n, each in enumerate(mine)) if current else (),
        differences={mode: estimates(0.12 - 0.09 * n) for n, mode in enumerate({each.mode: 0 for each in mine})}
        if current
        else {},
    )


def model_page(of: ModelFacts | None = None) -> ModelPage:
    of = of or facts(1)
    runs = [run(name, of) for name in ("wiki-en", "hidden-en-2026")]
    old = [run(of=of, current=False), run("wiki-zh", of, current=False, removed="sent by mistake")]
    return ModelPage(facts=of, runs=(*runs, *old))


def versus(of: Track, difference: float, names: tuple[str, str] = ("A", "B")) -> PairwiseComparison:
    clear = abs(difference) > 0.02
    better = names[0] if difference > 0 else names[1]
    return PairwiseComparison(
        track=of,
        a=estimates(0.8 + difference / 2),
        b=estimates(0.8 - difference / 2),
        difference=estimates(difference),
        p=None if of.hidden else (0.00004 if clear else 0.41),
        p_corrected=None if of.hidden else (0.0004 if clear else 0.9),
        only_a=None if of.hidden else 83,
        only_b=None if of.hidden else 41,
        conclusion=f"{better} is better." if clear else "The data do not tell the two apart.",
    )


def compare_page(a: ModelFacts | None = None, b: ModelFacts | None = None) -> ComparePage:
    a, b = a or facts(0), b or facts(6)
    parts = tuple(
        versus(each, 0.07 - 0.027 * n, (a.model, b.model)) for n, each in enumerate(tracks()) if each.language == "en"
    )
    return ComparePage(a=a, b=b, comparisons=parts)


def gaps(count: int = 12) -> list[PublicHiddenGap]:
    public, hidden = (track(), track(mode="hard")), track("hidden-en-2026", "mixed", hidden=True)
    return [
        PublicHiddenGap(
            facts=facts(n),
            public=public,
            hidden=hidden,
            public_score=estimate(KNOWN[n % len(KNOWN)][5]),
            hidden_score=estimate(round(KNOWN[n % len(KNOWN)][5] * (0.97 - 0.03 * (n % 4)) / 0.005) * 0.005, 0.035),
            difference=estimate(-0.03 - 0.02 * (n % 4), 0.06),
        )
        for n in range(count)
    ]


def events(count: int = 8) -> list[Event]:
    kinds = ("accepted", "scored", "failed", "removed")
    return [
        Event(
            number=n + 1,
            at=NOW + timedelta(minutes=7 * n),
            actor=("team Example Lab", "worker", "maintainer ada")[n % 3],
            what=kinds[n % len(kinds)],
            subject=facts(n).entry if n % 3 != 2 else "wiki-en",
            facts={"model": facts(n).model, "set": "wiki-en", "file": hashlib.sha256(bytes([n])).hexdigest()},
            state={},
            chain=hashlib.sha256(bytes([n, n])).hexdigest(),
        )
        for n in range(count)
    ]


def submission(
    status: SubmissionStatus = SubmissionStatus.QUEUED, of: ModelFacts | None = None, **more: object
) -> Submission:
    values = {
        "id": "0123456789abcdef" * 2,
        "set": "wiki-en",
        "facts": of or facts(1),
        "file": "f" * 64,
        "file_name": "preds.jsonl",
        "bytes": 123_456,
        "channel": "page",
        "received": NOW,
        "status": status,
    }
    return Submission(**(values | more))  # type: ignore[arg-type]
