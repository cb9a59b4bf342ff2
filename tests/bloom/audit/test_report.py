"""The report of simulated raters, and the set without what they rejected."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bloom.audit.conftest import exported, line
from vcrgen.bloom.audit.answers import read_answers
from vcrgen.bloom.audit.draw import Draw, DrawnItem, draw_items
from vcrgen.bloom.audit.figures import audit_figures
from vcrgen.bloom.audit.report import make_report
from vcrgen.config import AuditOptions
from vcrgen.dataset.reader import Dataset
from vcrgen.errors import DatasetError
from vcrgen.rng import rng_for
from vcrgen.tasks.opening import open_any


def test_the_rate_is_weighted_by_leaf(drawn: Draw, tmp_path: Path) -> None:
    bad = drawn.items[0].path
    answers = read_answers(exported(drawn, tmp_path, lambda item, _: "image" if item.path == bad else "approve"), drawn)
    figures = audit_figures(drawn, answers, {item.question_id: "A" for item in drawn.items})
    assert figures.overall and figures.overall.value == pytest.approx(1 - drawn.leaves[bad] / 120)
    assert figures.errors["image"].value == pytest.approx(drawn.leaves[bad] / 120)
    assert figures.errors["choices"].value == 0 and figures.own[0] == figures.own[1] > 60
    assert figures.audited == figures.drawn == 60 and not figures.empty and not figures.problems


def test_the_agreement_of_two_simulated_raters_is_found(tmp_path: Path) -> None:
    """Each says what is true in 90 % of the items, of which 80 % are in order."""
    draw = draw_items([(f"i{number}", f"a/b/{number % 10}") for number in range(4000)],
                      AuditOptions(items=4000, overlap=1))  # fmt: skip

    def says(item: DrawnItem, rater: int) -> str:
        good = rng_for(0, "truth", item.question_id).random() < 0.8
        right = rng_for(0, f"rater {rater}", item.question_id).random() < 0.9
        return "approve" if good == right else "question"

    answers = read_answers(exported(draw, tmp_path, says), draw)
    figures = audit_figures(draw, answers, {item.question_id: "A" for item in draw.items})
    same, approve = 0.9**2 + 0.1**2, 0.8 * 0.9 + 0.2 * 0.1
    chance, by_luck = approve**2 + (1 - approve) ** 2, 2 * approve * (1 - approve)
    assert figures.agreement and figures.agreement.items == 4000
    assert figures.agreement.same == pytest.approx(same, abs=0.02)
    assert figures.agreement.kappa == pytest.approx((same - chance) / (1 - chance), abs=0.04)
    assert figures.agreement.ac1 == pytest.approx((same - by_luck) / (1 - by_luck), abs=0.04)
    assert figures.classes == figures.agreement  # where only two verdicts occur


def test_leaves_that_nobody_read_are_told(drawn: Draw, tmp_path: Path) -> None:
    only = drawn.items[0]
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(line(drawn, only, only.raters[0])) + "\n")
    figures = audit_figures(drawn, read_answers([file], drawn), {only.question_id: "B"})
    assert figures.own == (0, 1) and len(figures.empty) == 5 and figures.agreement is None
    nobody = audit_figures(drawn, read_answers([], drawn), {})
    assert nobody.overall is None and nobody.audited == 0 and len(nobody.empty) == 6


def test_a_judge_against_people(made: Dataset, drawn: Draw, tmp_path: Path) -> None:
    files = exported(drawn, tmp_path, lambda item, _: "choices" if item.question_id.endswith("1") else "approve")
    judge = tmp_path / "judge.jsonl"
    rows = [{"question_id": item.question_id, "verdict": "approve"} for item in drawn.items[1:]]
    rows.append({"question_id": drawn.items[0].question_id, "verdict": "blocked"})
    judge.write_text("".join(json.dumps(one) + "\n" for one in rows))
    figures, _ = make_report(made, drawn, files, tmp_path / "out", judge=judge)
    bad = sum(item.question_id.endswith("1") for item in drawn.items[1:])
    assert figures.judge and (figures.judge.both, figures.judge.judge_only) == (59 - bad, bad)
    assert figures.judge.people_only == figures.judge.neither == 0 and dict(figures.judge.problems) == {"blocked": 1}
    saved = json.loads((tmp_path / "out/report.json").read_text("utf-8"))
    assert saved["judge"]["judge_only"] == bad and saved["overall"]["value"] == figures.overall.value  # type: ignore[union-attr]


def test_html_in_a_note_stays_text_and_no_table_breaks(made: Dataset, drawn: Draw, tmp_path: Path) -> None:
    item = drawn.items[0]
    file = tmp_path / "a.jsonl"
    other = line(drawn, item, 99)
    hostile = "<script>alert(1)</script> | x\n\n# head \u202e [a](http://b)"
    file.write_text(f"{json.dumps(line(drawn, item, item.raters[0], 'image', note=hostile))}\n{json.dumps(other)}\n")
    make_report(made, drawn, [file], tmp_path / "out")
    assert json.loads((tmp_path / "out/report.json").read_text("utf-8"))["problems"] == {"other_rater": 1}
    report = (tmp_path / "out/report.md").read_text("utf-8")
    (row,) = [text for text in report.splitlines() if item.question_id in text]
    assert "<script" not in report and "\u202e" not in report and "\\|" in row and "\\# head" in row


def test_the_whole_way(run: Callable[..., tuple[int, str, str]], made: Dataset) -> None:
    assert run("bloom", "audit", "report", made, "a.jsonl", "--folder", "audit")[0] == 2  # nothing is drawn yet
    code, out, _ = run("bloom", "audit", "draw", made, "-n", "60", "--overlap", "0.5", "--folder", "audit")
    assert code == 0 and "60 of 120 items, of 6 leaves, for 2 raters; 30 of them for two." in out
    code, out, _ = run("bloom", "audit", "page", made, "--folder", "audit", "--rater", "2")
    assert code == 0 and not Path("audit/rater-1.html").exists() and Path("audit/rater-2.html").exists()
    from vcrgen.bloom.audit.draw import read_draw

    draw = read_draw(Path("audit/draw.json"))
    bad = {item.question_id for item in draw.items[:7]}
    files = exported(draw, Path(), lambda item, _: "question" if item.question_id in bad else "approve")
    code, out, _ = run("bloom", "audit", "report", made, *files, "--folder", "audit")
    assert code == 0 and "60 of 60 drawn items" in out and "question integrity" in out
    assert set(Path("audit/without.txt").read_text("utf-8").split()) == bad
    code, out, _ = run("bloom", "filter", made, "--without", "audit/without.txt", "--out", "less")
    assert code == 0 and "113 of 120 items" in out
    less = open_any("less")
    kept = {row["question_id"]: row for _, row in less.rows()}
    whole = {row["question_id"]: row for _, row in made.rows()}
    assert kept == {name: row for name, row in whole.items() if name not in bad}
    assert Counter(less.built.drops) == {"without": 7} and str(less.built.signature) != str(made.built.signature)


def test_files_without_a_line_that_counts_write_no_report(made: Dataset, drawn: Draw, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(line(drawn, drawn.items[0], 99)) + "\n")
    with pytest.raises(DatasetError, match=r"counts \(other_rater 1\)"):
        make_report(made, drawn, [file], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "problem"), [("", "is empty"), ("item-000\nnone\n", "names 1 items that"), (None, "cannot be read")]
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
        (["page", "SET", "--folder", "audit"], "begin with `vcrgen bloom audit draw`"),
    ],
)
def test_rubbish_is_a_sentence(
    run: Callable[..., tuple[int, str, str]], made: Dataset, words: list[str], problem: str
) -> None:
    code, _, err = run("bloom", "audit", *(str(made.folder) if word == "SET" else word for word in words))
    assert code == 2 and problem in err and "Traceback" not in err
