"""Findings about models of which it is known whether they had seen the set."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from vcrgen.contamination.examine import examine
from vcrgen.contamination.records import CanaryOutcome, ContaminationReport, Contrast, Verdict
from vcrgen.dataset.canary import LINE, canary_questions
from vcrgen.dataset.views import View
from vcrgen.errors import PredictionError, VcrgenError

ALL, NONE = (lambda *_: 1.0), (lambda *_: 0.0)
DIGITS = "00112233445566778899aabbccddeeff"


def always(share: float) -> Any:
    return lambda *_: share


def by_view(contrasts: tuple[Contrast, ...]) -> dict[str, Contrast]:
    return {each.ours.view.value: each for each in contrasts}


def test_shares_and_differences_are_those_of_the_spans(study: Any) -> None:
    ours, fresh = study.key("set.jsonl", 6, spans=(1, 3)), study.key("fresh.jsonl", 4, first=100, spans=(2,))
    texts = {f"q{number}" for number in (0, 1)}
    first = study.outputs(
        "p.jsonl", ours, {"text-only": lambda q, _: float(q in texts), "tei": lambda _, a: float("s0" in a)}
    )
    other = study.outputs("f.jsonl", fresh, {"text-only": NONE, "tei": ALL})
    report = examine([first], ours, against=[(other, fresh)])
    assert report.model == "qwen" and report.data == str(ours) and "missing:left-out" in report.signature
    text, of_fresh = report.guessed
    assert (text.exact.value, text.spans, text.images) == (4 / 12, 12, 6)
    assert (of_fresh.exact.value, of_fresh.spans, of_fresh.images) == (0.0, 8, 4)
    assert text.exact.low < 4 / 12 < text.exact.high
    (left,) = report.unguessed
    assert (left.all.exact.value, left.all.spans) == (6 / 12, 12)
    assert (left.unguessed.exact.value, left.unguessed.spans, left.unguessed.images) == (4 / 8, 8, 4)
    found = by_view(report.fresh)
    assert found["text-only"].value == pytest.approx(4 / 12) and found["tei"].value == pytest.approx(-6 / 12)
    assert all(each.verdict is Verdict.OPEN and each.low < 0 < each.high for each in report.fresh)
    tei, text = found["tei"], found["text-only"]
    assert tei.p < text.p and (tei.p_holm, text.p_holm) == (2 * tei.p, max(2 * tei.p, text.p))
    assert report.redrawn == report.canary == ()


def test_what_other_models_guess_is_left_out(study: Any) -> None:
    ours = study.key("set.jsonl", 6, spans=(2,))
    first = study.outputs("p.jsonl", ours, {"text-only": NONE, "stacked": ALL})
    other = study.outputs("o.jsonl", ours, {"text-only": lambda _, a: float("s1" in a)}, model="other")
    (alone,), (both,) = (examine([first], ours, guesses=each).unguessed for each in ([], [other]))
    assert (alone.unguessed.spans, both.unguessed.spans) == (12, 6)
    # Of a model whose own text-only outputs nobody has, those of others tell.
    seen = study.outputs("s.jsonl", ours, {"stacked": ALL})
    report = examine([seen], ours, guesses=[other])
    assert report.guessed == () and report.unguessed[0].unguessed.spans == 6


def test_all_was_guessed(study: Any) -> None:
    ours = study.key("set.jsonl", 6)
    report = examine([study.outputs("p.jsonl", ours, {"text-only": ALL, "stacked": ALL})], ours)
    assert report.unguessed == () and report.guessed[0].exact.value == 1.0


def test_spans_of_both_drawings_count_in_neither(study: Any) -> None:
    rows = [{"question_id": f"q{n}", "crossed_text": ["same in both sets", f"only here {n}"]} for n in range(8)]
    others = [{**row, "crossed_text": [f"only there {n}", "same in both sets"]} for n, row in enumerate(rows)]
    ours, redrawn = study.lines("set.jsonl", rows), study.lines("redrawn.jsonl", others)
    first = study.outputs("p.jsonl", ours, {"tei": lambda _, a: float("only" in a)})
    second = study.outputs("r.jsonl", redrawn, {"tei": lambda _, a: float("same" in a)})
    (found,) = examine([first], ours, redraw=[(second, redrawn)]).redrawn
    assert (found.ours.spans, found.theirs.spans, found.value) == (8, 8, 1.0)


def test_one_image_tells_nothing(study: Any) -> None:
    ours, fresh, again = study.key("s.jsonl", 1), study.key("f.jsonl", 1, first=9), study.key("a.jsonl", 1, drawing=1)
    files = [study.outputs(f"{key.stem}-p.jsonl", key, {"tei": chance}) for key, chance in ((ours, ALL), (fresh, NONE))]
    other = study.outputs("a-p.jsonl", again, {"tei": NONE})
    report = examine(files[:1], ours, against=[(files[1], fresh)], redraw=[(other, again)])
    for each in (*report.fresh, *report.redrawn):
        assert each.value == 1.0 and each.low < 0 and each.verdict is Verdict.OPEN


def test_images_of_which_both_cover_the_same_do_not_count(study: Any) -> None:
    """They would make the interval narrower, and say nothing."""
    rows = [{"question_id": f"q{n}", "crossed_text": [f"text {n}"]} for n in range(200)]
    others = [{**row, "crossed_text": [f"other {n}"]} if n < 5 else row for n, row in enumerate(rows)]
    ours, redrawn = study.lines("set.jsonl", rows), study.lines("redrawn.jsonl", others)
    files = [study.outputs(f"{key.stem}-p.jsonl", key, {"tei": ALL}) for key in (ours, redrawn)]
    (found,) = examine(files[:1], ours, redraw=[(files[1], redrawn)]).redrawn
    assert found.ours.images == found.theirs.images == 5 and found.low < -0.2 and found.high > 0.2


def test_planted_knowledge_of_items_is_found(study: Any) -> None:
    """93 % of the spans that were published, none of the others, as in a model that was trained on the set."""
    ours, redrawn = study.key("set.jsonl", 80), study.key("redrawn.jsonl", 80, drawing=1)
    fresh = study.key("fresh.jsonl", 80, first=1000)
    knows = {"text-only": always(0.93), "stacked": always(0.93)}
    preds = study.outputs("p.jsonl", ours, knows)
    others = [
        (study.outputs(f"{key.stem}-p.jsonl", key, {"text-only": NONE, "stacked": NONE}), key)
        for key in (fresh, redrawn)
    ]
    report = examine([preds], ours, against=others[:1], redraw=others[1:])
    for contrast in (*report.fresh, *report.redrawn):
        assert contrast.value >= 0.5 and contrast.low > 0 and contrast.verdict is Verdict.MORE
    assert len(report.fresh) == len(report.redrawn) == 2


def clean_model(study: Any, seed: int) -> ContaminationReport:
    """A model that knows nothing: it restores what is easy, in pictures that are easy, in whatever set."""
    keys = [
        study.key("set.jsonl", 60),
        study.key("fresh.jsonl", 60, first=1000),
        study.key("again.jsonl", 60, drawing=1),
    ]

    def chance(base: float) -> Any:
        def of(question_id: str, answer: str) -> float:
            picture = random.Random(f"{seed} {question_id}").random()
            easy = random.Random(f"{seed} {answer}").random() < 0.3  # some spans are easy, in every set
            return min(1.0, base * (0.5 + picture) + 0.5 * easy)

        return of

    chances = {"text-only": chance(0.1), "stacked": chance(0.6), "tei": chance(0.5)}
    files = [study.outputs(f"{key.stem}-p.jsonl", key, chances, seed=seed) for key in keys]
    return examine(files[:1], keys[0], against=[(files[1], keys[1])], redraw=[(files[2], keys[2])])


@pytest.mark.sweep
def test_of_twelve_clean_models_few_are_suspected(study: Any) -> None:
    """Six differences each; about one in twenty models errs at all, on either side."""
    reports = [clean_model(study, seed) for seed in range(12)]
    found = [{each.verdict for each in (*report.fresh, *report.redrawn)} for report in reports]
    assert all(len(report.fresh) == len(report.redrawn) == 3 for report in reports)
    assert sum(Verdict.MORE in each for each in found) <= 2
    assert sum(Verdict.LESS in each for each in found) <= 2


def test_a_model_with_fewer_outputs_is_not_suspected_for_that(study: Any) -> None:
    """Of the fresh pairs a quarter was asked for, then the run broke off; and some calls failed."""
    ours, fresh, again = (
        study.key("set.jsonl", 80),
        study.key("fresh.jsonl", 80, first=1000),
        study.key("again.jsonl", 80, drawing=1),
    )
    chances = {"text-only": always(0.2), "stacked": always(0.7)}
    preds = study.outputs("p.jsonl", ours, chances)
    few = study.outputs("f.jsonl", fresh, chances, most=20)
    some = study.outputs("a.jsonl", again, chances, most=30)
    with some.open("a", encoding="utf-8") as file:
        file.write(
            '{"question_id": "q40", "view": "text-only", "output": null}\n{"question_id": "zzz", "output": "x"}\n'
        )
    report = examine([preds], ours, against=[(few, fresh)], redraw=[(some, again)])
    assert {each.verdict for each in (*report.fresh, *report.redrawn)} == {Verdict.OPEN}
    assert [each.theirs.images for each in report.fresh] == [20, 20]
    assert [(each.ours.images, each.theirs.images) for each in report.redrawn] == [(30, 30), (30, 30)]
    assert f"{fresh}, Text only: 20 of 80 questions have an output; only these count." in report.notes
    assert f"{some}: 1 line without an output, or of a call that failed (left out)." in report.notes
    assert f"{some}: 1 id that the dataset does not have (left out)." in report.notes


def test_pairs_of_the_set_are_not_fresh(study: Any) -> None:
    ours, more = study.key("set.jsonl", 10), study.key("more.jsonl", 30)
    preds = study.outputs("p.jsonl", ours, {"tei": ALL})
    report = examine([preds], ours, against=[(study.outputs("m.jsonl", more, {"tei": NONE}), more)])
    assert report.fresh[0].theirs.images == 20 and report.fresh[0].value == 1.0
    assert f"{more}: 10 pairs are in {ours}, too (left out)." in report.notes


def test_the_two_modes_are_two_tests_and_without_an_image_there_is_one(dataset: Path, study: Any) -> None:
    from vcrgen.scorer import load_answers

    rows = [
        {"question_id": each.question_id, "view": view, "mode": mode, "output": " ".join(each.answers)}
        for each in load_answers(dataset, split="all").questions
        for view in ("stacked", "text-only")
        for mode in ("easy", "hard")
    ]
    fresh = study.key("fresh.jsonl", 6)
    others = study.lines(
        "f.jsonl", [{"question_id": "q1", "view": view, "output": ""} for view in ("stacked", "text-only")]
    )
    report = examine([study.lines("p.jsonl", rows)], dataset, against=[(others, fresh)])
    # A key that does not say its modes can only be compared where there are none.
    assert [(each.ours.mode, each.ours.view) for each in report.fresh] == [("-", View.TEXT_ONLY)]
    assert [(each.all.mode, each.all.view.value) for each in report.unguessed] == []
    assert report.guessed[0].images == 6  # of both splits
    assert examine([study.lines("p.jsonl", rows[:-1])], dataset).notes == ()


def test_how_datasets_were_built_is_compared(tmp_path: Path, study: Any) -> None:
    from vcrgen.builder.run import build
    from vcrgen.scorer import load_answers

    for name, options in (("set", {}), ("again", {"seed": 1}), ("three", {"seed": 1, "ngram_size": 3})):
        build("samples", out=tmp_path / name, limit=8, mode="hard", **options)
    files = {}
    for name in ("set", "again", "three"):
        questions = load_answers(tmp_path / name).questions
        rows = [
            {"question_id": each.question_id, "view": "tei", "output": " ".join(each.answers)} for each in questions
        ]
        files[name] = study.lines(f"{name}.jsonl", rows)
    pairs = {name: (files[name], tmp_path / name) for name in files}
    assert examine([files["set"]], tmp_path / "set", redraw=[pairs["again"]]).notes == ()
    (note,) = examine([files["set"]], tmp_path / "set", redraw=[pairs["three"]]).notes
    assert "were not built alike (mask ngram-3 there, ngram-5 here): a difference may come from that." in note
    with pytest.raises(PredictionError, match=r"covers the same spans as .*; build it with another --seed"):
        examine([files["set"]], tmp_path / "set", redraw=[pairs["set"]])


@pytest.fixture
def public(hidden: Any) -> Path:
    folder: Path = hidden()
    (folder / "manifest.json").write_text(json.dumps({"canary": LINE + DIGITS}), "utf-8")
    return folder


def test_a_canary(study: Any, public: Path) -> None:
    ways = [question.way for question in canary_questions(DIGITS)]
    rows = [{"question_id": way, "output": f"no {DIGITS[:16]}", "model": "m"} for way in ways[:4]]
    report = examine([], None, canary=[(study.lines("c.jsonl", rows), public)])
    assert (report.model, report.data) == ("m", "")
    outcomes = {each.way: each.outcome for each in report.canary}
    assert outcomes == {
        "line": CanaryOutcome.REPEATED,
        "half": CanaryOutcome.SILENT,
        "readme": CanaryOutcome.REPEATED,
        "row": CanaryOutcome.REPEATED,
        "question": CanaryOutcome.NO_REPLY,
    }


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("nothing", {}, "Nothing is asked for: give a file of outputs with --data, or --canary FILE=PUBLIC"),
    ("no data", {"files": ["p"]}, "Give a file of outputs and, with --data, the dataset that they are about"),
    ("no outputs", {"data": "set"}, "Give a file of outputs and, with --data, the dataset that they are about"),
    ("no set", {"against": [("f", "fresh")]}, "need outputs on the set to compare with: give them first, with --data"),
    (
        "two models",
        {"files": ["p"], "data": "set", "against": [("other", "fresh")]},
        "outputs of several models: 'qwen'",
    ),
    ("two files", {"files": ["p", "p2"], "data": "set"}, "give those of one model, each mode and view once"),
    (
        "no view",
        {"files": ["p"], "data": "set", "against": [("tei", "fresh")]},
        "no mode and view in common to compare",
    ),
    ("no image", {"files": ["p"], "data": "set", "redraw": [("f", "fresh")]}, "fresh.jsonl has no image of "),
    ("not fresh", {"files": ["p"], "data": "set", "against": [("p", "set")]}, "has no pair that is not in "),
    ("no text", {"files": ["p"], "data": "set", "guesses": ["tei-set"]}, "holds no outputs of the view 'text-only'"),
    ("no canary", {"canary": [("p", "set")]}, "set.jsonl is not a dataset but another file; name a dataset's folder"),
    ("language", {"files": ["p"], "data": "set", "against": [("zh", "zh-key")]}, "is of language 'en', "),
    ("no file", {"files": ["gone"], "data": "set"}, "gone.jsonl cannot be read: No such file"),
    ("gone data", {"files": ["p"], "data": "gone"}, "gone.jsonl does not exist; --data takes"),
    ("other data", {"files": ["f"], "data": "set"}, "of 10 outputs none fits"),
]


@pytest.mark.parametrize(("given", "message"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_what_is_refused(study: Any, tmp_path: Path, given: dict[str, Any], message: str) -> None:
    keys = {"set": study.key("set.jsonl", 10), "fresh": study.key("fresh.jsonl", 10, first=1000)}
    study.outputs("p.jsonl", keys["set"], {"text-only": ALL})
    study.outputs("p2.jsonl", keys["set"], {"text-only": ALL})
    study.outputs("tei-set.jsonl", keys["set"], {"tei": ALL}, model="other")
    study.outputs("f.jsonl", keys["fresh"], {"text-only": ALL})
    study.outputs("other.jsonl", keys["fresh"], {"text-only": ALL}, model="other")
    study.outputs("tei.jsonl", keys["fresh"], {"tei": ALL})
    study.lines("zh-key.jsonl", [{"question_id": "甲", "crossed_text": ["位于上海市"]}])
    study.lines("zh.jsonl", [{"question_id": "甲", "output": "位于上海市", "view": "text-only"}])

    def path(name: str) -> Path:
        return tmp_path / f"{name}.jsonl"

    pairs = {
        name: [(path(file), path(data)) for file, data in given.get(name, ())]
        for name in ("against", "redraw", "canary")
    }
    files, guesses = (list(map(path, given.get(name, ()))) for name in ("files", "guesses"))
    data = path(given["data"]) if "data" in given else None
    with pytest.raises(VcrgenError, match=message):
        examine(files, data, guesses=guesses, **pairs)


def test_how_outputs_were_made_is_read_beside_them(dataset: Path, study: Any) -> None:
    """A dataset with redrawn spans has the same ids, so its outputs, given for the set, would look like a cheat's."""
    from vcrgen.dataset.reader import open_dataset
    from vcrgen.scorer import load_answers
    from vcrgen.tasks.vcr import VCR

    identity = open_dataset(dataset, VCR).identity
    rows = [{"question_id": each.question_id, "output": ""} for each in load_answers(dataset, split="all").questions]
    fresh = study.key("fresh.jsonl", 5)
    other = study.outputs("f.jsonl", fresh, {"stacked": ALL}, model=None)
    preds = study.lines("p.jsonl", [{**row, "mode": None} for row in rows])

    def beside(file: Path, text: str) -> None:
        file.with_suffix(".run.json").write_text(text, "utf-8")

    beside(other, json.dumps({"run": {"dataset": "is not looked at", "temperature": 0, "model": "m"}}))
    beside(preds, json.dumps({"run": {"dataset": identity, "temperature": 1, "model": "m"}}))
    (note,) = examine([preds], dataset, against=[(other, fresh)]).notes
    assert note.startswith(f"{preds} and {other} were not asked for alike (temperature 0 there, 1 here): a difference")
    for text in ("", "[]", '{"run": 1}', '{"run": ["a"]}', "[" * 9999, '{"run": {}}'):
        beside(preds, text)
        assert examine([preds], dataset, against=[(other, fresh)]).notes == ()
    beside(preds, '{"run": {"dataset": "0123"}}')
    with pytest.raises(
        PredictionError, match=r"p\.jsonl was made of another dataset than .*; give the one that it was"
    ):
        examine([preds], dataset, against=[(other, fresh)])


def test_a_canary_file_that_is_none(study: Any, public: Path, hidden: Any) -> None:
    rows = [{"question_id": "q1", "output": "x"}]
    with pytest.raises(PredictionError, match="holds no reply to a question for a canary: none of its lines"):
        examine([], None, canary=[(study.lines("c.jsonl", rows), public)])
