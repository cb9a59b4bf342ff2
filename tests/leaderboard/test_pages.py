"""The pages as HTML, without a browser: what strangers wrote stays text, and links lead to pages that there are."""

import base64
import dataclasses
import hashlib
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.leaderboard import examples
from vcrgen.data.tasks.task import VCR_TASK
from vcrgen.data.views import View
from vcrgen.leaderboard.disclosure import in_points
from vcrgen.leaderboard.page_records import Estimate, OverallScore, Site
from vcrgen.leaderboard.records import Feedback, ModelFacts, SetLifecycle, SubmissionStatus
from vcrgen.leaderboard.site import names, texts
from vcrgen.leaderboard.site.board_pages import BOARD_PAGES, QUERY_PAGES
from vcrgen.leaderboard.site.render import Pages, policy
from vcrgen.report.published.results import read_reported, shipped_tables
from vcrgen.scorer.records import Outcome

HERE = Path(__file__).parent
SITE = Path(names.__file__).parent


class Reader(HTMLParser):
    """Tags of a page with their attributes, and the text outside of style and script."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self._open[-1:]):
            self.text += data

    def values(self, attribute: str, tag: str | None = None) -> list[str]:
        return [attrs[attribute] for name, attrs in self.tags if attribute in attrs and tag in (None, name)]


def page_of(name: str, rows: Sequence[object] = (), *, of: Site | None = None) -> str:
    return Pages(of or examples.site()).page(BOARD_PAGES[name], rows)


def all_pages(*, live: bool, hostile: bool) -> dict[str, str]:
    """One page of every kind; where it is hostile, every text that a stranger or a maintainer may choose."""
    text = examples.HOSTILE if hostile else ""
    mine = examples.hostile_facts() if hostile else examples.facts(1)
    other = dataclasses.replace(mine, model="Other", link="") if hostile else examples.facts(2)
    site = examples.site(live=live, models=[mine, other], text=text)
    pages = Pages(site)
    public, hidden = examples.tracks()[0], next(track for track in examples.tracks() if track.hidden)
    table = examples.table(public)
    if hostile:
        rankings = tuple(
            dataclasses.replace(
                each, signature=text, rows=tuple(dataclasses.replace(row, facts=mine) for row in each.rows)
            )
            for each in table.rankings
        )
        fields = ("source", "data", "model", "corrected", "note")
        reported = tuple(
            dataclasses.replace(row, **dict.fromkeys(fields, text), url=mine.link) for row in table.reported
        )
        table = dataclasses.replace(table, rankings=rankings, reported=reported)
    run = dataclasses.replace(
        examples.run(of=mine), signature=text or "signature", cells=tuple(examples.cell(t) for t in (public, hidden))
    )
    removed = examples.run("wiki-zh", mine, current=False, removed=text or "by mistake")
    model = dataclasses.replace(examples.model_page(mine), runs=(run, removed))
    comparison = examples.compare_page(mine, other)
    events = [
        dataclasses.replace(event, actor=text or "worker", what=text or "scored", subject=text, facts={text: text})
        for event in examples.events(2)
    ]
    form = dict.fromkeys(("token", "set", "model", "link", "access", "size", "released"), text or "secret-token")
    sent = {
        status: examples.submission(status, mine, file_name=text or "p.jsonl", problems=(text or "No.",), removed=text)
        for status in SubmissionStatus
    }
    cells = [examples.cell(public)]
    rows = {
        "gap.html": [dataclasses.replace(gap, facts=mine) for gap in examples.gaps(3)],
        "history.html": events + examples.events(9)[2:],
        names.REPORTED: table.reported,
    }
    return (
        {
            "board": pages.board(table),
            "hidden": pages.board(examples.table(hidden)),
            "no models": pages.board(examples.table(count=0, older=0, publications=False)),
            "empty": Pages(examples.site(live=live, of=[], models=[], text=text)).empty(),
            "model": pages.model(model),
            "removed model": pages.model(dataclasses.replace(model, runs=(removed,))),
            "compare": pages.compare(comparison),
            "nothing to compare": pages.compare(dataclasses.replace(comparison, comparisons=())),
            "submit": pages.submit(form, [text or "The token is not known."]),
            "message": pages.message(text or "Not found", text or "There is no such page."),
        }
        | {
            status.value: pages.status(sent[status], 2, cells if status is SubmissionStatus.SCORED else [])
            for status in SubmissionStatus
        }
        | {
            f"{prefix}{row.name}": pages.page(row, found)
            for row in QUERY_PAGES
            for prefix, found in (("", rows.get(row.name, ())), ("empty ", ()))
        }
    )


@pytest.fixture(scope="module", params=[True, False], ids=["live", "static"])
def ordinary(request: pytest.FixtureRequest) -> dict[str, str]:
    return all_pages(live=request.param, hostile=False)


@pytest.fixture(scope="module", params=[True, False], ids=["live", "static"])
def hostile(request: pytest.FixtureRequest) -> dict[str, str]:
    return all_pages(live=request.param, hostile=True)


def test_what_strangers_write_stays_text(hostile: dict[str, str]) -> None:
    for kind, page in hostile.items():
        found = Reader(page)
        assert [name for name, _ in found.tags].count("script") == 1, kind
        assert page.count("<script") == 1, kind
        assert not {"img", "iframe", "object"} & {name for name, _ in found.tags}, kind
        assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on") or name == "style"], kind
        assert "javascript:" not in page, kind
    for kind in (
        "board",
        "model",
        "compare",
        "gap.html",
        "reported.html",
        "history.html",
        "submit",
        "failed",
        "message",
        "compare.html",
    ):
        assert examples.HOSTILE in Reader(hostile[kind]).text, kind


def test_names_of_strangers_do_not_turn_the_text_around_them(hostile: dict[str, str]) -> None:
    for kind in ("board", "model", "compare", "gap.html", "failed"):
        assert re.search(r"<bdi>&lt;/script&gt;", hostile[kind]), kind


def test_links_are_relative_and_lead_to_pages(ordinary: dict[str, str]) -> None:
    for kind, page in ordinary.items():
        for link in Reader(page).values("href", "a"):
            known = link.startswith(("#", "https://example.org/")) or link == "mailto:board@example.org"
            assert known or link in (*names.TABLES, *BOARD_PAGES, names.MANAGE) or names.parse_name(link), (kind, link)
        assert set(Reader(page).values("action", "form")) <= {"submit", names.COMPARE}, kind
        assert Reader(page).values("src") == [], kind


def test_links_to_elsewhere_give_nothing_away(ordinary: dict[str, str]) -> None:
    for page in ordinary.values():
        for _, attrs in Reader(page).tags:
            if attrs.get("href", "").startswith("http"):
                assert {"nofollow", "noopener"} <= set(attrs["rel"].split())


def test_pages_are_well_formed(ordinary: dict[str, str]) -> None:
    empty = {"meta", "link", "input", "br", "rect", "line", "circle"}
    for kind, page in ordinary.items():
        stack: list[str] = []
        for closing, tag, itself in re.findall(r"<(/?)([a-z][a-z0-9]*)\b[^>]*?(/?)>", page):
            if closing:
                assert stack.pop() == tag, (kind, tag)
            elif tag not in empty and not itself:
                stack.append(tag)
        assert stack == [], kind
        found = Reader(page)
        assert [name for name, _ in found.tags].count("h1") == 1, kind
        ids = found.values("id")
        assert len(ids) == len(set(ids)), kind
        assert "main" in ids and found.values("href", "a")[0] == "#main", kind


def test_the_policy_allows_the_style_and_the_script_of_every_page(ordinary: dict[str, str]) -> None:
    for page in ordinary.values():
        rules = next(attrs["content"] for _, attrs in Reader(page).tags if "http-equiv" in attrs)
        assert rules == policy(header=False)
        for tag in ("style", "script"):
            (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
            digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in rules
    assert policy() == f"{policy(header=False)}; frame-ancestors 'none'"
    assert "unsafe" not in policy() and "default-src 'none'" in policy()


def test_the_script_sets_text_only() -> None:
    script = (SITE / "templates/board.js").read_text("utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|Function\(|fetch\(", script)


def test_the_page_about_the_board_says_what_the_documentation_says_of_a_file(ordinary: dict[str, str]) -> None:
    documentation = (HERE.parents[1] / "docs" / "leaderboard-teams.md").read_text("utf-8")
    rule = "A file has to be complete: an output for every question in every mode and view that it holds"
    for text in (documentation, Reader(ordinary["about.html"]).text):
        assert rule in " ".join(text.split()) and "counts as wrong" not in text


def test_a_live_page_offers_what_a_file_cannot(ordinary: dict[str, str]) -> None:
    live = names.SUBMIT in Reader(ordinary["board"]).values("href")
    assert ("<form" in ordinary["compare.html"]) == live
    assert ("vcrgen leaderboard submit" in ordinary["about.html"]) == live
    assert any(link.startswith("compare-") for link in Reader(ordinary["compare.html"]).values("href")) != live


def test_a_token_is_never_filled_in(ordinary: dict[str, str]) -> None:
    (token,) = [attrs for _, attrs in Reader(ordinary["submit"]).tags if attrs.get("name") == "token"]
    assert token["type"] == "password" and token["autocomplete"] == "off" and "value" not in token
    values = Reader(ordinary["submit"]).values("value", "input")
    assert values.count("secret-token") == 4  # model, link, size, released


def test_a_path_of_the_machine_is_never_shown(ordinary: dict[str, str]) -> None:
    assert not [kind for kind, page in ordinary.items() if "/secret/place" in page]


def test_hidden_sets_show_no_outcomes_and_rounded_scores() -> None:
    hidden = next(track for track in examples.tracks() if track.hidden)
    cell = dataclasses.replace(
        examples.cell(hidden), outcomes={"exact": 777}, groups=examples.cell(examples.track()).groups
    )
    run = dataclasses.replace(examples.run("hidden-en-2026"), cells=(cell,))
    pages = Pages(examples.site())
    page = Reader(pages.model(dataclasses.replace(examples.model_page(), runs=(run,)))).text
    assert "777" not in page and "Parts of" not in page and "exact match (" not in page
    assert "86.0" in page and "86.00" not in page
    board = pages.board(examples.table(hidden))
    assert "hidden answers" in board and "scores rounded to 0.5 points" in board
    ranked = board.split("How to read")[0]
    assert re.search(r">\d+\.\d<", ranked) and not re.search(r"\d\.\d\d[<–]", ranked)


def test_public_sets_show_outcomes_and_parts() -> None:
    page = Reader(Pages(examples.site()).model(examples.model_page())).text
    assert "exact match" in page and "Parts of easy, VI+TEI" in page and "no output" in page
    assert "empty output" not in page  # none had one
    assert set(VCR_TASK.outcomes) == {outcome.value for outcome in Outcome}


def test_ranks_and_their_ranges() -> None:
    table = examples.table()
    page = Pages(examples.site()).board(table)
    row = table.rankings[0].rows[0]
    assert row.worst_rank > row.rank
    assert (
        f'<b>{row.rank}</b><small title="The model could stand at any of these ranks">{row.rank}–{row.worst_rank}'
        in page
    )
    text = Reader(page).text
    assert text.count("Scored in another way") == 1
    assert f"(signature {table.rankings[1].short})" in text
    assert "cannot be compared" in text


def test_the_view_that_ranks_comes_first() -> None:
    heads = re.compile(r"Exact match <small>([^<]+)</small>")
    pages = Pages(examples.site())
    assert heads.findall(pages.board(examples.table(older=0))) == ["VI+TEI", "TEI"]
    tei = examples.table(examples.track(view=View.TEI), older=0)
    assert heads.findall(pages.board(tei)) == ["TEI", "VI+TEI"]


def test_a_board_of_one_view_has_no_columns_for_the_other() -> None:
    table = examples.table(older=0, publications=False)
    ranking = table.rankings[0]
    rows = tuple(
        dataclasses.replace(row, scores={View.STACKED: row.scores[View.STACKED]}, difference=None)
        for row in ranking.rows
    )
    page = Pages(examples.site()).board(dataclasses.replace(table, rankings=(dataclasses.replace(ranking, rows=rows),)))
    assert "<small>TEI</small>" not in page and "Difference" not in page


def test_quoted_rows_are_marked_and_have_no_rank() -> None:
    reported = page_of(names.REPORTED, examples.reported())
    assert 'class="r"' not in reported and "data-counted" not in reported
    assert "Printed as 9.155" in Reader(reported).text
    assert 'title="Printed as 9.155; the same table&#39;s text says 91.55."' in reported
    assert "VCR-wiki-en-easy-test-500, 500 images" in reported
    assert 'rel="nofollow noopener">Some et al. 2024, Table 1' in reported
    assert "Bigmodel" not in Pages(examples.site()).board(examples.table())


def test_rules_are_paragraphs_of_plain_text() -> None:
    site = examples.site()
    text = "No training <on> the test set.\n\n- One file\n- One model\n"
    ruled = dataclasses.replace(site, settings=site.settings.model_copy(update={"rules": text}))
    page = page_of(names.ABOUT, of=ruled)
    assert '<p class="lines-kept">No training &lt;on&gt; the test set.</p>' in page
    assert '<p class="lines-kept">- One file\n- One model</p>' in page
    assert f"{names.ABOUT}#rules" in Pages(ruled).submit({}, []) and "#rules" not in Pages(site).submit({}, [])


def test_the_published_tables_fit_the_page() -> None:
    rows = [row for file in shipped_tables() for row in read_reported(file)]
    page = Reader(page_of(names.REPORTED, rows))
    assert [name for name, _ in page.tags].count("tr") == len(rows) + 1


def test_the_status_page_looks_again_while_it_waits(ordinary: dict[str, str]) -> None:
    looks = {status: 'http-equiv="refresh" content="3"' in ordinary[status.value] for status in SubmissionStatus}
    assert {status for status, again in looks.items() if again} == {SubmissionStatus.QUEUED, SubmissionStatus.SCORING}
    assert "2 files are scored before this one" in Reader(ordinary["queued"]).text
    assert names.model_name(examples.facts(1).entry) in Reader(ordinary["scored"]).values("href")


@pytest.mark.parametrize("status", [SubmissionStatus.QUEUED, SubmissionStatus.SCORING])
def test_who_waits_for_a_ladder_is_told_how_long(status: SubmissionStatus) -> None:
    site = examples.site()
    lifecycle = SetLifecycle(feedback=Feedback.LADDER)
    laddered = dataclasses.replace(site, sets=tuple(dataclasses.replace(one, lifecycle=lifecycle) for one in site.sets))
    sentence = "A ladder answers 1 minute after a file has come."
    assert sentence in Pages(laddered).status(examples.submission(status), 0, [])
    assert sentence not in Pages(site).status(examples.submission(status), 0, [])


def test_every_problem_has_a_line_of_its_own() -> None:
    submission = examples.submission(SubmissionStatus.FAILED, problems=("First.", "Second."))
    page = Pages(examples.site()).status(submission, 0, [])
    assert "<li>First.</li><li>Second.</li>" in page


def test_history_is_newest_first_and_names_models() -> None:
    page = page_of("history.html", examples.events(4))
    assert re.findall(r'<td class="n quiet">(\d)</td>', page) == ["4", "3", "2", "1"]
    assert f'<a href="{names.model_name(examples.facts(0).entry)}"><bdi>Aurora-VL 72B</bdi></a>' in page


def test_navigation_marks_where_one_is() -> None:
    track = examples.track("wiki-en", "hard", View.TEI)
    found = Reader(Pages(examples.site()).board(examples.table(track)))
    links = [attrs for tag, attrs in found.tags if tag == "a" and attrs["href"].startswith("board-")]
    assert [attrs["href"] for attrs in links if "aria-current" in attrs] == [names.board_name(track)] * 4
    others = {attrs["href"] for attrs in links} - {names.board_name(track)}
    assert others == {
        "board-wiki-zh-hard-tei.html",  # the language
        "board-hidden-en-2026-mixed-tei.html",
        "board-wiki-en-easy-tei.html",
        "board-wiki-en-hard-stacked.html",
    }


@pytest.mark.parametrize(
    ("step", "points", "decimals"),
    [(0.005, "0.5 points", 1), (0.01, "1 point", 0), (0.0025, "0.25 points", 2), (0.1, "10 points", 0)],
)
def test_decimals_of_a_step(step: float, points: str, decimals: int) -> None:
    track = dataclasses.replace(examples.track(hidden=True), step=step)
    assert (in_points(step), texts.decimals_of(track)) == (points, decimals)


def test_odd_figures_can_be_drawn() -> None:
    odd = {"exact": Estimate(float("nan"), -5.0, 7.0), "jaccard": Estimate(0.0, 0.0, 0.0)}
    part = dataclasses.replace(examples.versus(examples.track(), 0.0), a=odd, b=odd, difference=odd)
    page = Pages(examples.site()).compare(dataclasses.replace(examples.compare_page(), comparisons=(part,)))
    assert not re.search(r'"(nan|-?inf)', page)


@pytest.mark.parametrize(
    "contact", ["https://example.org/ask", "board@example.org", "Room 12, ask for Ada", "javascript:alert(1)"]
)
def test_a_contact_is_a_link_only_if_it_is_an_address(contact: str) -> None:
    site = examples.site()
    settings = site.settings.model_copy(update={"contact": contact})
    page = page_of(names.ABOUT, of=dataclasses.replace(site, settings=settings))
    leads = [link for link in Reader(page).values("href", "a") if contact in link]
    assert bool(leads) == (contact.startswith("https") or "@" in contact)


def test_facts_without_anything_are_rendered() -> None:
    bare = ModelFacts(team="T", model="M")
    page = Reader(Pages(examples.site(models=[bare])).model(examples.model_page(bare)))
    assert "None" not in page.text and "unknown" not in page.text


def test_scores_are_drawn_over_date_and_size() -> None:
    pages, table = Pages(examples.site()), examples.table()
    page = pages.board(table)
    known = table.rankings[0].rows
    drawn = page.split('<svg class="sc"')[1:]
    assert len(drawn) == 2 and "Exact match by date of release" in page and "Exact match by parameters" in page
    dated, sized = (part.partition("</svg>")[0].count("<circle") for part in drawn)
    assert dated == sum(row.facts.released is not None for row in known)
    assert sized == sum(row.facts.size is not None for row in known)
    few = dataclasses.replace(table.rankings[0], rows=known[:1])
    assert '<svg class="sc"' not in pages.board(dataclasses.replace(table, rankings=(few,)))


def test_one_figure_over_the_sets_that_maintainers_name() -> None:
    site = examples.site()
    named = tuple(each.name for each in site.sets[:2])
    settings = site.settings.model_copy(update={"overall": named})
    named_site = dataclasses.replace(site, settings=settings)
    row = OverallScore(facts=examples.facts(0), exact=0.5, by_set={named[0]: 0.25, named[1]: 0.75})
    page = page_of("overall.html", [row], of=named_site)
    assert all(text in page for text in ("50.00", "25.00", "75.00", examples.facts(0).model, *named))
    assert "overall.html" in page and "overall.html" not in page_of(names.ABOUT, of=site)
    assert "No model has a figure" in page_of("overall.html", of=named_site)
