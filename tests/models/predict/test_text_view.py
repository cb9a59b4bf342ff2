"""``vcrgen predict --view text-only``: words in place of the image; scored apart, never ranked."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from vcrgen.core.errors import ConfigError, DatasetError
from vcrgen.data.pictures import PictureSelection, open_pictures
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR, caption_with_gaps
from vcrgen.data.views import View
from vcrgen.text.languages import LANGUAGES

Run = Callable[..., tuple[int, str, str]]
TEXT = (View.TEXT_ONLY,)
ZH = {"start": 2, "end": 4}


@pytest.mark.parametrize(
    ("row", "lang", "shown"),
    [
        ({"caption": "It is in Asia.", "crossed_text": ["is in"]}, "en", "It [covered] Asia."),
        # by offsets: what is covered is that place, and no other
        (
            {"caption": "a b a b", "crossed_text": ["a b"], "spans": [{"start": 4, "end": 7}]},
            "en",
            "a b [covered]",
        ),
        ({"caption": "中国中国", "crossed_text": ["中国"], "spans": [ZH]}, "zh", "中国[被覆盖]"),
        # the placeholder of one span is no text for the next
        ({"caption": "x covered y", "crossed_text": ["x", "covered"]}, "en", "[covered] [covered] y"),
        # found the longest first, whatever the order in the row
        ({"caption": "the red dog and the", "crossed_text": ["the", "the red"]}, "en", "[covered] dog and [covered]"),
        ({"caption": "Le chat dort.", "crossed_text": ["chat dort"]}, "fr", "Le [masqué]."),
        ({"caption": "no gap", "crossed_text": [], "spans": []}, "en", "no gap"),
    ],
)
def test_the_caption_with_its_gaps(row: dict[str, Any], lang: str, shown: str) -> None:
    assert caption_with_gaps(row, lang) == shown


@pytest.mark.parametrize(
    "row",
    [
        {"caption": None, "crossed_text": []},
        {"caption": "a", "crossed_text": None},
        {"caption": "a b", "crossed_text": ["c"]},
        {"caption": "a b", "crossed_text": ["a", "a"]},
        {"caption": "a b", "crossed_text": ["a"], "spans": [{"start": 1, "end": 2}]},
        {"caption": "a b", "crossed_text": ["a"], "spans": [None]},
        {"caption": "a b c", "crossed_text": ["a b", "b c"], "spans": [{"start": 0, "end": 3}, {"start": 2, "end": 5}]},
    ],
)
def test_a_row_that_does_not_hold_together(row: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^(it has|its|two of its) "):
        caption_with_gaps(row, "en")


def test_the_published_words() -> None:
    assert (
        LANGUAGES["en"].text_only_prompt.format(text="A [covered].", question="What?")
        == "Text context in image starts with:A [covered]. Text context in image ends here. Question: What?"
    )
    asked = LANGUAGES["zh"].text_only_prompt.format(text="甲", question="乙？")
    assert asked == "图片中的文字：甲图片中的文字结束。问题：乙？"


def test_every_span_of_a_build_is_a_gap_and_no_answer_is_shown(dataset: Path) -> None:
    pictures = open_pictures(open_dataset(dataset, VCR), PictureSelection(views=TEXT, mode="hard"))
    rows = {row["question_id"]: row for _, row in open_dataset(dataset, VCR).select(mode="hard").rows()}
    assert pictures.total == len(rows) == 6
    for picture in pictures.stream():
        row = rows[picture.question_id]
        assert picture.data is None and not picture.problem and picture.view is View.TEXT_ONLY
        assert picture.question.endswith(row["question"]) and picture.question.count("[covered]") == len(row["spans"])
        assert not any(answer in picture.question for answer in row["crossed_text"])


def test_it_goes_the_way_of_the_other_views(run: Run, dataset: Path, serve: Any) -> None:
    server = serve()
    words = ["predict", dataset, "--endpoint", server.url, "--model", "m", "--out", "p.jsonl"]
    code, out, err = run(*words, "--view", "text-only")
    assert code == 0 and "12 outputs of m" in out, err
    # What is asked is the same in both modes, so it is asked once.
    assert len(server.calls) == 6
    bodies = [call.body["messages"][0]["content"] for call in server.calls]
    assert all([part["type"] for part in body] == ["text"] for body in bodies)
    assert all(body[0]["text"].startswith("Text context in image starts with:") for body in bodies)
    assert run(*words, "--view", "stacked")[0] == 0 and len(server.calls) == 18
    lines = [json.loads(line) for line in Path("p.jsonl").read_text("utf-8").splitlines()]
    assert [line["view"] for line in lines] == ["stacked", "text-only"] * 12
    assert run(*words, "--view", "text-only")[0] == 0 and len(server.calls) == 18
    code, out, _ = run("score", "p.jsonl", "--data", dataset, "--split", "all", "--format", "md")
    assert code == 0 and out.count("| Text only |") >= 2 and "Text only" in out and "VI+TEI" in out
    page = ["--format", "html", "--out", "r.html"]
    assert run("score", "p.jsonl", "--data", dataset, "--split", "all", *page)[0] == 0
    code, out, _ = run("validate", "p.jsonl", "--data", dataset, "--split", "all")
    assert code == 0 and "Text only, easy: outputs for 6 of 6 questions." in out
    code, out, _ = run(
        "score", "p.jsonl", "--data", dataset, "--split", "all", "--view", "text-only", "--format", "csv"
    )
    assert code == 0 and ",stacked," not in out and ",text-only," in out


def test_a_dataset_without_offsets(dataset: Path, tmp_path: Path) -> None:
    table = pq.read_table(next((dataset / "hard").glob("*.parquet")))
    foreign = tmp_path / "foreign" / "test-00000-of-00001.parquet"
    foreign.parent.mkdir()
    pq.write_table(table.select(["question_id", "caption", "crossed_text"]), foreign)
    built = open_pictures(open_dataset(dataset, VCR), PictureSelection(views=TEXT, mode="hard")).stream()
    words = {picture.question_id: picture.question for picture in built}
    for picture in open_pictures(open_dataset(foreign, VCR), PictureSelection(views=TEXT)).stream():
        assert picture.question == words[picture.question_id]


def test_a_row_without_its_answers_is_reject(run: Run, tampered: Any, serve: Any) -> None:
    def change(mode: str, rows: Any) -> Any:
        rows[0]["spans"][0]["start"] += 1
        return rows

    server = serve()
    words = [
        "predict",
        tampered(change),
        "--endpoint",
        server.url,
        "--model",
        "m",
        "--view",
        "text-only",
        "--mode",
        "hard",
    ]
    code, _, err = run(*words, "--out", "p.jsonl")
    assert code == 3 and "there are no words to show: its spans are not where it says" in err


def test_what_is_refused(run: Run, dataset: Path, hidden: Callable[..., Path], serve: Any) -> None:
    public, server = hidden(), serve()
    words = ["--endpoint", server.url, "--model", "m", "--view", "text-only"]
    code, _, err = run("predict", public, *words)
    assert code == 2 and "it is a hidden test set, whose words are in its pictures only" in err
    code, _, err = run("baseline", "ocr", dataset, "--view", "text-only")
    assert code == 2 and "OCR reads pictures: the view is one of stacked, tei, both, not 'text-only'." in err
    assert not server.calls
    wordless = open_dataset(dataset, dataclasses.replace(VCR, text_context=None))
    with pytest.raises(DatasetError, match="cannot be shown as text: it is of another kind"):
        open_pictures(wordless, PictureSelection(views=TEXT))
    from vcrgen.builder.stream import VCRStream

    with pytest.raises(ConfigError, match="give one or several of stacked, tei, strip"):
        VCRStream("samples:2", views=("text-only",))


def test_a_board_does_not_rank_it(run: Run, dataset: Path, tmp_path: Path, serve: Any) -> None:
    server = serve()
    words = ["predict", dataset, "--endpoint", server.url, "--model", "m", "--out", "p.jsonl", "--split", "test"]
    for view in ("stacked", "text-only"):
        assert run(*words, "--view", view)[0] == 0
    from vcrgen.leaderboard.scoring import score_file
    from vcrgen.scorer.options import ScoreOptions
    from vcrgen.scorer.span_session import Session

    outcome = score_file(Session(dataset, ScoreOptions()), Path("p.jsonl"), shown_as="p.jsonl")
    assert outcome.problems == (
        "Outputs of the view 'text-only', for which no image was shown, are not ranked: leave them out of the file.",
    )


def test_the_canary_is_asked_for(run: Run, hidden: Callable[..., Path], dataset: Path, serve: Any) -> None:
    from vcrgen.data.canary import LINE, canary_questions

    public, server, digits = hidden(), serve(), "0123456789abcdef" * 2
    (public / "manifest.json").write_text(json.dumps({"canary": LINE + digits}), "utf-8")
    words = ["predict", public, "--endpoint", server.url, "--model", "m", "--canary"]
    code, out, err = run(*words)
    file = public.with_name("public-m-canary.jsonl")
    assert code == 0 and out.endswith(f"next: vcrgen score {file} --data {public}\n"), err
    asked = [call.body["messages"][0]["content"][0]["text"] for call in server.calls]
    assert sorted(asked) == sorted(question.text for question in canary_questions(digits))
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [line["question_id"] for line in lines] == [question.way for question in canary_questions(digits)]
    assert run(*words)[0] == 0 and len(server.calls) == 5
    # What is asked about pictures is another file's.
    code, _, err = run(*words[:-1], "--out", file)
    assert code == 2 and "is of another run (dataset" in err
    code, _, err = run("predict", dataset, *words[2:])
    assert code == 2 and "has no canary: only the public part of a hidden test set has one" in err
    code, _, err = run(*words, "--view", "tei")
    assert (
        code == 2
        and "--canary asks about no picture, so leave out --view, --mode, --split, --limit and --answer-logprobs" in err
    )
