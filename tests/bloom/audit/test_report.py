"""The report of simulated raters, and the set without what they rejected."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bloom.audit.conftest import exported, line
from tests.bloom.conftest import made_set, row
from vcrgen.bloom.audit.audit_report import write_report
from vcrgen.bloom.audit.audit_statistics import audit_statistics
from vcrgen.bloom.audit.draw import Draw, DrawnItem, draw_items, write_draw
from vcrgen.bloom.audit.verdicts import AuditVerdicts, read_verdicts
from vcrgen.bloom.options import AuditOptions
from vcrgen.core.errors import DatasetError
from vcrgen.core.rng import rng_for
from vcrgen.data.reader import Dataset
from vcrgen.data.tasks.bloom import LETTERS, read_items
from vcrgen.data.tasks.opening import open_task_dataset


def test_the_rate_is_weighted_by_category(drawn: Draw, tmp_path: Path) -> None:
    bad = drawn.items[0].path
    file = exported(drawn, tmp_path, lambda item, _: "image" if item.path == bad else "approve")
    answers = read_verdicts(file, drawn)
    statistics = audit_statistics(drawn, answers, {item.question_id: "A" for item in drawn.items})
    assert statistics.overall and statistics.overall.value == pytest.approx(1 - drawn.categories[bad] / 120)
    assert statistics.errors["image"].value == pytest.approx(drawn.categories[bad] / 120)
    assert statistics.errors["choices"].value == 0
    assert all(of.own_answers == (of.judged, of.judged) and of.judged == of.assigned > 30 for of in statistics.raters)
    assert statistics.audited == statistics.drawn == 60 and not statistics.empty and not statistics.problems


def test_the_agreement_of_two_simulated_raters_is_found(tmp_path: Path) -> None:
    """Each says what is true in 90 % of the items, of which 80 % are in order."""
    draw = draw_items(
        [(f"i{number}", f"a/b/{number % 10}", 4) for number in range(4000)], AuditOptions(items=4000, overlap=1)
    )

    def says(item: DrawnItem, rater: int) -> str:
        good = rng_for(0, "truth", item.question_id).random() < 0.8
        right = rng_for(0, f"rater {rater}", item.question_id).random() < 0.9
        return "approve" if good == right else "question"

    answers = read_verdicts(exported(draw, tmp_path, says), draw)
    statistics = audit_statistics(draw, answers, {item.question_id: "A" for item in draw.items})
    same, approve = 0.9**2 + 0.1**2, 0.8 * 0.9 + 0.2 * 0.1
    chance, by_luck = approve**2 + (1 - approve) ** 2, 2 * approve * (1 - approve)
    assert statistics.agreement and statistics.agreement.items == 4000
    assert statistics.agreement.same == pytest.approx(same, abs=0.02)
    assert statistics.agreement.kappa == pytest.approx((same - chance) / (1 - chance), abs=0.04)
    assert statistics.agreement.ac1 == pytest.approx((same - by_luck) / (1 - by_luck), abs=0.04)
    assert statistics.classes == statistics.agreement  # where only two verdicts occur


def test_categories_without_a_verdict_are_listed(drawn: Draw, tmp_path: Path) -> None:
    only = drawn.items[0]
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(line(drawn, only, only.raters[0])) + "\n")
    statistics = audit_statistics(drawn, read_verdicts(file, drawn), {only.question_id: "B"})
    assert len(statistics.empty) == 5 and statistics.agreement is None
    one, other = sorted(statistics.raters, key=lambda of: of.rater != only.raters[0])
    assert (one.judged, one.approved, one.own_answers) == (1, 1, (0, 1)) and (other.judged, other.own_answers) == (
        0,
        (0, 0),
    )
    nobody = audit_statistics(drawn, AuditVerdicts(), {})
    assert nobody.overall is None and nobody.audited == 0 and len(nobody.empty) == 6


def test_a_judge_against_people(made: Dataset, drawn: Draw, tmp_path: Path) -> None:
    files = exported(drawn, tmp_path, lambda item, _: "choices" if item.question_id.endswith("1") else "approve")
    judge = tmp_path / "judge.jsonl"
    rows = [{"question_id": item.question_id, "verdict": "approve"} for item in drawn.items[1:]]
    rows.append({"question_id": drawn.items[0].question_id, "verdict": "blocked"})
    judge.write_text("".join(json.dumps(one) + "\n" for one in rows))
    statistics, _ = write_report(made, drawn, files, tmp_path / "out", judge=judge)
    bad = sum(item.question_id.endswith("1") for item in drawn.items[1:])
    assert statistics.judge and (statistics.judge.both, statistics.judge.judge_only) == (59 - bad, bad)
    assert statistics.judge.people_only == statistics.judge.neither == 0 and dict(statistics.judge.problems) == {
        "blocked": 1
    }
    saved = json.loads((tmp_path / "out/report.json").read_text("utf-8"))
    assert saved["judge"]["judge_only"] == bad and saved["overall"]["value"] == statistics.overall.value  # type: ignore[union-attr]
    judge.write_text('{"question_id": "of another set", "verdict": "approve"}\n')
    with pytest.raises(DatasetError, match=r"No line of .*judge\.jsonl is about a drawn item"):
        write_report(made, drawn, files, tmp_path / "other", judge=judge)
    assert not (tmp_path / "other").exists()


def test_html_in_a_note_stays_text_and_no_table_breaks(made: Dataset, drawn: Draw, tmp_path: Path) -> None:
    item = drawn.items[0]
    file = tmp_path / "a.jsonl"
    other = line(drawn, item, 99)
    hostile = "<script>alert(1)</script> | x\n\n# head \u202e [a](http://b)"
    file.write_text(f"{json.dumps(line(drawn, item, item.raters[0], 'image', note=hostile))}\n{json.dumps(other)}\n")
    write_report(made, drawn, file, tmp_path / "out")
    assert json.loads((tmp_path / "out/report.json").read_text("utf-8"))["problems"] == {"other_rater": 1}
    report = (tmp_path / "out/report.md").read_text("utf-8")
    (told,) = [text for text in report.splitlines() if item.question_id in text]
    page = (tmp_path / "out/report.html").read_text("utf-8")
    assert (
        "<script>" not in page
        and "&lt;script&gt;alert(1)" in page
        and ">1 item that a rater did not approve. This page" in page
    )
    assert "<script" not in report and "\u202e" not in report and "\\|" in told and "\\# head" in told


def test_what_raters_doubt_is_shown_with_all_that_was_asked(
    made: Dataset, drawn: Draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = exported(drawn, tmp_path, lambda item, rater: "choices" if rater == 2 else "approve")
    wanted = {item.question_id: item for item in drawn.items if 2 in item.raters}
    write_report(made, drawn, files, tmp_path)
    page = (tmp_path / "report.html").read_text("utf-8")
    keys = {item.question_id: LETTERS[item.answer or 0] for item in read_items(made, pictures=False)}
    articles = page.split("<article>")[1:]
    assert len(articles) == len(wanted) > 30 and f">{len(wanted)} items that a rater" in page
    for article in articles:
        item = next(each for name, each in wanted.items() if f">{name}: " in article)
        key = keys[item.question_id]
        right = re.findall(
            r'class="key"><b>(\w)</b><span dir="auto">(.*?)</span><i class="mark" lang="en">right', article
        )
        place = LETTERS.index(key)
        assert right == [(key, row(0)[f"options_{lang}"][place]) for lang in ("en", "ar")]
        assert article.count("chosen</i>") == (0 if key == "A" else 2) and "data:image/png;base64," in article
        assert ("Rater 1, who chose A: <b>in order</b>" in article) == (1 in item.raters)
        assert "Rater 2, who chose A: <b>choice validity</b>" in article and 'lang="ar" dir="rtl"' in article
    monkeypatch.setattr("vcrgen.bloom.audit.rejected_items.MAX_ITEMS", 3)
    write_report(made, drawn, files, tmp_path)
    assert f"{len(wanted)} items that a rater did not approve, of which the first 3 are shown." in (
        tmp_path / "report.html"
    ).read_text("utf-8")


def test_a_rater_who_stopped_is_named(made: Dataset, drawn: Draw, tmp_path: Path) -> None:
    file = exported(drawn, tmp_path, lambda item, _: "approve")
    lines = [json.loads(one) for one in file.read_text().splitlines()]
    second = [one for one in lines if one["rater"] == 2]
    kept = [one for one in lines if one["rater"] == 1] + second[:10]
    file.write_text("".join(json.dumps(one) + "\n" for one in kept))
    _, document = write_report(made, drawn, file, tmp_path / "out")
    rates, raters = document.sections[0].tables[:2]
    assert rates.heads == ("Rate", "Audited", "%", "95 % interval")
    assert [row[:3] for row in raters.rows] == [["1", drawn_for(drawn, 1), drawn_for(drawn, 1)], ["2", len(second), 10]]
    assert json.loads((tmp_path / "out/report.json").read_text())["raters"][1]["judged"] == 10


def drawn_for(draw: Draw, rater: int) -> int:
    return sum(rater in item.raters for item in draw.items)


def test_a_note_on_an_item_in_order_is_not_lost(made: Dataset, drawn: Draw, tmp_path: Path) -> None:
    item = drawn.items[0]
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(line(drawn, item, item.raters[0], note="a comma is missing")) + "\n")
    write_report(made, drawn, file, tmp_path / "out")
    assert "in order | a comma is missing |" in (tmp_path / "out/report.md").read_text()
    assert (tmp_path / "out/without.txt").read_text() == ""


def test_the_whole_way(run: Callable[..., tuple[int, str, str]], made: Dataset) -> None:
    assert run("bloom", "audit", "report", made, "a.jsonl", "--folder", "audit")[0] == 2  # nothing is drawn yet
    code, out, _ = run("bloom", "audit", "draw", made, "-n", "60", "--overlap", "0.5", "--folder", "audit")
    assert code == 0 and "60 of 120 items, of 6 categories, for 2 raters; 30 of them for two." in out
    from vcrgen.bloom.audit.draw import read_draw

    draw = read_draw(Path("audit/draw.json"))
    bad = {item.question_id for item in draw.items[:7]}
    files = exported(draw, Path(), lambda item, _: "question" if item.question_id in bad else "approve")
    code, out, _ = run("bloom", "audit", "report", made, files, "--folder", "audit")
    assert code == 0 and "60 of 60 drawn items" in out and "question integrity" in out
    assert set(Path("audit/without.txt").read_text("utf-8").split()) == bad
    code, out, _ = run("bloom", "filter", made, "--without", "audit/without.txt", "--out", "less")
    assert code == 0 and "113 of 120 items" in out
    assert "has to keep to the license of its source" in Path("less/README.md").read_text("utf-8")
    less = open_task_dataset("less")
    kept = {row["question_id"]: row for _, row in less.rows()}
    whole = {row["question_id"]: row for _, row in made.rows()}
    assert kept == {name: row for name, row in whole.items() if name not in bad}
    assert Counter(less.built.rejected) == {"excluded": 7} and str(less.built.signature) != str(made.built.signature)
    code, out, _ = run("bloom", "filter", made, "--audit", "audit", "--out", "audited")
    assert code == 0 and "113 of 120 items" in out
    card = Path("audited/README.md").read_text("utf-8")
    assert "People judged 60 of 120 items. In order, weighted by category: " in card
    assert "Two people judged 30 of them, and agree on 100.0 %" in card
    assert "about as large a share is at fault" in card and "7 of 120 items. All that follows" in card
    code, out, _ = run(
        "bloom", "audit", "report", made, exported(draw, Path(), lambda *_: "approve"), "--folder", "audit"
    )
    assert code == 0 and run("bloom", "filter", made, "--audit", "audit", "--out", "all")[0] == 0  # it rejected nothing
    assert "In order, weighted by category: 100.0 %" in Path("all/README.md").read_text("utf-8")


def test_files_without_a_line_that_counts_write_no_report(made: Dataset, drawn: Draw, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(line(drawn, drawn.items[0], 99)) + "\n")
    with pytest.raises(DatasetError, match=r"No line of .*a\.jsonl counts \(other_rater 1\)"):
        write_report(made, drawn, file, tmp_path / "out")
    empty = tmp_path / "b.jsonl"
    empty.write_text("")
    with pytest.raises(DatasetError, match=r"No line of .*b\.jsonl counts \(there is none\)"):
        write_report(made, drawn, empty, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "change", [{"draw": "0" * 16}, {"overall": {"value": "<b>"}}, {"errors": []}, {"audited": "x"}]
)
def test_a_report_that_was_changed_gets_onto_no_card(
    run: Callable[..., tuple[int, str, str]], made: Dataset, drawn: Draw, change: dict[str, object]
) -> None:
    write_draw(Path("audit/draw.json"), drawn)
    code, _, err = run("bloom", "filter", made, "--audit", "audit", "--out", "less")
    assert code == 2 and "audit has no report yet" in err
    write_report(made, drawn, exported(drawn, Path(), lambda *_: "approve"), Path("audit"))
    file = Path("audit/report.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    code, _, err = run("bloom", "filter", made, "--audit", "audit", "--out", "less")
    assert code == 2 and "is not the report of this audit" in err and not Path("less").exists()


def test_one_of_list_and_audit_is_named(run: Callable[..., tuple[int, str, str]], made: Dataset) -> None:
    for words in ([], ["--without", "list.txt", "--audit", "audit"]):
        code, _, err = run("bloom", "filter", made, *words, "--out", "less")
        assert code == 2 and "give one of --without FILE, --audit FOLDER and --blind FILE" in err


def test_a_set_says_all_that_was_left_out_of_it(run: Callable[..., tuple[int, str, str]]) -> None:
    """The ids of the first list were gone; an id with white space around it was of no item."""
    made_set(Path("made"), [row(number, question_id=f" item {number} ") for number in range(4)])
    for number, (data, out) in enumerate([("made", "less"), ("less", "least")]):
        Path("list.txt").write_text(f" item {number} \n")
        assert run("bloom", "filter", data, "--without", "list.txt", "--out", out)[0] == 0
    least = open_task_dataset("least")
    assert least.built.config["without"] == ["item 0", "item 1"]
    assert [item.question_id for item in read_items(least)] == [" item 2 ", " item 3 "]


@pytest.mark.parametrize(
    ("text", "problem"), [("", "is empty"), ("item-000\nnone\n", "names 1 item that"), (None, "cannot be read")]
)
def test_a_list_that_does_not_fit(
    run: Callable[..., tuple[int, str, str]], made: Dataset, text: str | None, problem: str
) -> None:
    if text is not None:
        Path("list.txt").write_text(text)
    code, _, err = run("bloom", "filter", made, "--without", "list.txt", "--out", "less")
    assert code == 2 and problem in err and not Path("less").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["draw", "SET", "--overlap", "2"], "overlap: "),
        (["draw", "SET", "--raters", "0"], "raters: "),
        (["draw", "none"], "none does not exist"),
        (["draw", "SET", "--folder", "s3://bucket/audit"], "is in an object store"),
        (["report", "SET", "none.jsonl", "--folder", "audit"], "begin with `vcrgen bloom audit draw`"),
    ],
)
def test_rubbish_is_a_sentence(
    run: Callable[..., tuple[int, str, str]], made: Dataset, words: list[str], problem: str
) -> None:
    code, _, err = run("bloom", "audit", *(str(made.folder) if word == "SET" else word for word in words))
    assert code == 2 and problem in err and "Traceback" not in err
