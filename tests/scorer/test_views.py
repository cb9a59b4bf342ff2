"""The image that the model saw: read from columns and names, asked for, or refused; never guessed."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.scorer.test_predictions import ANSWERS
from vcrgen import build
from vcrgen.cli import app
from vcrgen.core.errors import ConfigError, PredictionError, ScoreError
from vcrgen.data.export import export_dataset
from vcrgen.data.tasks.task import VCR_TASK
from vcrgen.data.views import View
from vcrgen.scorer import RunResult, ScoreOptions, Session, load_answers, score
from vcrgen.scorer.predictions.names import TaskName, read_lmms_eval_name, read_vlmevalkit_name

TEI, STACKED = View.TEI, View.STACKED

VLMEVALKIT = {
    "GPT4o_VCR_EN_HARD_TEI_test_1a2b3c4d_openended.xlsx": TaskName(model="GPT4o", view=TEI, mode="hard"),
    "GPT4o_VCR_ZH_EASY_test_1a2b3c4d_openended.tsv": TaskName(model="GPT4o", view=STACKED, mode="easy"),
    "Qwen2-VL_7B_VCR_EN_EASY_500.xlsx": TaskName(model="Qwen2-VL_7B", view=STACKED, mode="easy"),
    "VCR_EN_HARD_ALL.csv": TaskName(view=STACKED, mode="hard"),
    "GPT4o_VCR_EN_HARD_tei_1a_openended.csv": TaskName(model="GPT4o", view=STACKED, mode="hard"),  # a split's name
    "GPT4o_VCR_EN_HARDER_test.csv": TaskName(),
    "predictions.xlsx": TaskName(),
}
LMMS_EVAL = {
    "llava/20260131_120000_samples_vcr_en_hard_test_tei.jsonl": TaskName(model="llava", view=TEI, mode="hard"),
    "llava/20260131_120000_samples_vcr_en_hard_test.jsonl": TaskName(model="llava", view=STACKED, mode="hard"),
    "llava/2026-01-31T12-00-00_samples_vcr_wiki_zh_easy_100.jsonl": TaskName(model="llava", view=STACKED, mode="easy"),
    "vcr_wiki_en_easy.json": TaskName(view=STACKED, mode="easy"),
    "x/1_samples_vcr_en_easy_test_published.jsonl": TaskName(model="x", view=STACKED, mode="easy"),
    "x/1_samples_vcr_en_easy_tei.jsonl": TaskName(model="x", view=STACKED, mode="easy"),  # a split's name
    "x/1_samples_vcr_en_easy_tei_tei.jsonl": TaskName(model="x", view=TEI, mode="easy"),
    "runs/llava_vcr_en_easy_test_tei.jsonl": TaskName(model="llava", view=TEI, mode="easy"),
    "x/samples_vcr_en_easier_test.jsonl": TaskName(),
    "x/samples.jsonl": TaskName(),
}


def test_names_of_tools() -> None:
    assert {name: read_vlmevalkit_name(Path(name)) for name in VLMEVALKIT} == VLMEVALKIT
    assert {name: read_lmms_eval_name(Path(name)) for name in LMMS_EVAL} == LMMS_EVAL


def table(file: Path, right: Sequence[str] = tuple(ANSWERS), **more: str) -> Path:
    """Return a file as VLMEvalKit writes it: some outputs are right, the others are not."""
    file.parent.mkdir(exist_ok=True)
    rows = [
        {"index": row, "prediction": text if name in right else "no idea", **more}
        for row, (name, text) in enumerate(ANSWERS.items())
    ]
    with file.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return file


def log(file: Path, right: Sequence[str] = tuple(ANSWERS), **more: Any) -> Path:
    """Return a file as lmms-eval writes it."""
    file.parent.mkdir(exist_ok=True)
    rows = (
        {"doc_id": row, "filtered_resps": [text if name in right else "no idea"], **more}
        for row, (name, text) in enumerate(ANSWERS.items())
    )
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def own(file: Path, right: Sequence[str] = tuple(ANSWERS), **more: Any) -> Path:
    """vcrgen's own form."""
    rows = ({"question_id": i, "output": text if i in right else "no", **more} for i, text in ANSWERS.items())
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def cells(result: RunResult) -> list[tuple[str, str]]:
    return [(cell.variant, cell.view.value) for cell in result.cells]


WRITERS: dict[str, tuple[Callable[..., Path], str]] = {
    "VLMEvalKit": (table, "GPT4o_VCR_EN_HARD{}_test_1a2b3c4d_openended.csv"),
    "lmms-eval": (log, "20260131_120000_samples_vcr_en_hard_test{}.jsonl"),
}


@pytest.mark.parametrize(("write", "name"), WRITERS.values(), ids=WRITERS.keys())
def test_tei_is_not_booked_as_what_shows_the_picture_too(
    tmp_path: Path, key: Path, write: Callable[..., Path], name: str
) -> None:
    ending = "_TEI" if "TEI" in name.format("_TEI") and write is table else "_tei"
    assert cells(score(write(tmp_path / name.format(ending)), data=key)) == [("hard", "tei")]
    assert cells(score(write(tmp_path / name.format("")), data=key)) == [("hard", "stacked")]


@pytest.mark.parametrize("write", [table, log])
@pytest.mark.parametrize(("view", "mode"), [("only_it_image", "hard")])
def test_columns_say_it_whatever_the_file_is_called(
    tmp_path: Path, key: Path, write: Callable[..., Path], view: str, mode: str
) -> None:
    result = score(write(tmp_path / "renamed.csv", view=view, mode=mode), data=key)
    assert cells(result) == [(mode, View.named(view))]


@pytest.mark.parametrize("write", [table, log])
def test_where_nothing_tells_it_is_asked_for(tmp_path: Path, key: Path, write: Callable[..., Path]) -> None:
    file = write(tmp_path / "renamed.csv")
    with pytest.raises(
        PredictionError, match=r"renamed\.csv: neither .* which image the model saw; name it with --view"
    ):
        score(file, data=key)
    for view in VCR_TASK.views:
        assert cells(score(file, data=key, view=view.value, mode="easy")) == [("easy", view.value)]


def test_our_own_form_means_the_stacked_image_where_it_does_not_say(tmp_path: Path, key: Path) -> None:
    file = own(tmp_path / "GPT4o_VCR_EN_HARD_TEI_x.jsonl")  # a name that means nothing here
    assert cells(score(file, data=key)) == [("-", "stacked")]
    assert cells(score(file, data=key, view="tei")) == [("-", "tei")]


def test_a_view_asked_for_leaves_the_others_out(tmp_path: Path, key: Path) -> None:
    rows = own(tmp_path / "a.jsonl", view="tei").read_text() + own(tmp_path / "b.jsonl", view="stacked").read_text()
    (tmp_path / "both.jsonl").write_text(rows)
    result = score(tmp_path / "both.jsonl", data=key, view="tei")
    assert cells(result) == [("-", "tei")]
    assert result.problems["other_view"] == (3, ("line 4: stacked", "line 5: stacked", "line 6: stacked"))


CONTRADICTIONS = {
    "--view and a name": (
        lambda at: log(at / "m" / "1_samples_vcr_en_hard_test_tei.jsonl"),
        {"view": "stacked"},
        "of 3 outputs none fits --view stacked: outputs of another view .left out., first line 1: tei",
    ),
    "--mode and a name": (
        lambda at: table(at / "GPT4o_VCR_EN_HARD_TEI_x.csv"),
        {"mode": "easy"},
        "of 3 outputs none fits --mode easy: outputs of the other mode .left out., first row 1: hard",
    ),
    "--view and a column": (lambda at: own(at / "p.jsonl", view="tei"), {"view": "strip"}, "fits --view strip"),
    "--mode and a column": (lambda at: own(at / "p.jsonl", mode="hard"), {"mode": "easy"}, "fits --mode easy"),
    "a name and a column": (
        lambda at: table(at / "GPT4o_VCR_EN_HARD_TEI_x.csv", view="stacked"),
        {},
        "row 1: its output is of stacked and hard, and the file's name says tei and hard",
    ),
    "a name and the other column": (
        lambda at: table(at / "GPT4o_VCR_EN_HARD_TEI_x.csv", mode="easy"),
        {},
        "is of tei and easy, and the file's name",
    ),
}


@pytest.mark.parametrize(("write", "options", "message"), CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_contradictions_are_one_sentence(
    tmp_path: Path, key: Path, write: Callable[[Path], Path], options: dict[str, str], message: str
) -> None:
    file = write(tmp_path)
    with pytest.raises(PredictionError, match=message) as caught:
        score(file, data=key, **options)
    assert str(file) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("options", [{"view": "up"}, {"mode": "mid"}])
def test_unknown_names_are_sentences(key: Path, options: dict[str, str]) -> None:
    (name, value), *_ = options.items()
    with pytest.raises(ScoreError, match=f"Unknown {name} '{value}'; known: "):
        Session(key, ScoreOptions(**options))  # type: ignore[arg-type]


@pytest.fixture
def pair(tmp_path: Path) -> list[Path]:
    """Of one model, one file a view: all right with the picture, one of three without."""
    return [
        table(tmp_path / "GPT4o_VCR_EN_HARD_test_1a_openended.csv"),
        table(tmp_path / "GPT4o_VCR_EN_HARD_TEI_test_1a_openended.csv", right=["a"]),
    ]


def test_two_files_of_one_model_go_into_one_score(pair: list[Path], key: Path) -> None:
    session = Session(key, ScoreOptions())
    (run,) = session.runs(pair)
    result = session.score(run)
    assert (result.title, cells(result)) == ("GPT4o", [("hard", "stacked"), ("hard", "tei")])
    assert result.differences[0].metrics["exact"].value == 0.5
    assert result.notes[0] == f"Files of one model, scored as one: {pair[0].name}, {pair[1].name}."
    assert score(pair, data=key).as_json() == result.as_json()


TOGETHER: dict[str, tuple[list[tuple[Callable[..., Path], str, dict[str, str]]], list[list[int]]]] = {
    "views of a model": ([(own, "a", {"model": "M"}), (own, "b", {"model": "M", "view": "tei"})], [[0, 1]]),
    "modes of a model": (
        [(own, "a", {"model": "M", "mode": m}) for m in ("easy",)] + [(own, "b", {"model": "M", "mode": "hard"})],
        [[0, 1]],
    ),
    "another model between them": (
        [(own, "a", {"model": "M"}), (own, "b", {"model": "N"}), (own, "c", {"model": "M", "view": "tei"})],
        [[0, 2], [1]],
    ),
    "two runs of a model": ([(own, "a", {"model": "M"}), (own, "b", {"model": "M"})], [[0], [1]]),
    "two runs, one of them with a second view": (
        [(own, "a", {"model": "M"}), (own, "b", {"model": "M", "view": "tei"}), (own, "c", {"model": "M"})],
        [[0], [1], [2]],
    ),
    "no model": ([(own, "a", {}), (own, "b", {"view": "tei"})], [[0], [1]]),
    "logs of a folder": (
        [(log, "m/1_samples_vcr_en_easy_t", {}), (log, "m/2_samples_vcr_en_easy_t_tei", {})],
        [[0, 1]],
    ),
    "logs of two folders": (
        [(log, "m/1_samples_vcr_en_easy_t", {}), (log, "n/1_samples_vcr_en_easy_t_tei", {})],
        [[0], [1]],
    ),
}


@pytest.mark.parametrize(("files", "expected"), TOGETHER.values(), ids=TOGETHER.keys())
def test_which_files_are_one_run(
    tmp_path: Path, key: Path, files: list[tuple[Callable[..., Path], str, dict[str, str]]], expected: list[list[int]]
) -> None:
    written = [write(tmp_path / f"{name}.jsonl", **more) for write, name, more in files]
    runs = Session(key, ScoreOptions()).runs(written)
    assert [[written.index(file.path) for file in run] for run in runs] == expected


def test_problems_of_two_files_name_the_file(tmp_path: Path, key: Path) -> None:
    files = [own(tmp_path / f"{view}.jsonl", view=view) for view in ("stacked", "tei")]
    with files[1].open("a") as more:
        more.write('{"question_id": "nobody", "output": ""}\n')
    result = score(files, data=key)
    assert result.problems["unknown"] == (1, ("tei.jsonl, line 4: 'nobody'",))
    with pytest.raises(PredictionError, match=r"stacked\.jsonl: of 3 outputs none fits .*: further outputs"):
        score([files[0], files[0]], data=key)


def run_command(*arguments: object) -> str:
    found = CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "100"})
    assert found.exit_code == 0, found.output
    return found.output


def test_the_commands(tmp_path: Path, pair: list[Path], key: Path) -> None:
    text = run_command("score", *pair, "--data", key, "--format", "md", "--spans", tmp_path / "s.jsonl")
    assert "| GPT4o | hard | VI+TEI − TEI |  | +50.00 |" in text
    written = json.loads(pair[0].with_name(f"{pair[0].stem}.scores.json").read_text("utf-8"))
    assert [cell["view"] for cell in written["scores"]] == ["stacked", "tei"]
    rows = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text("utf-8").splitlines()]
    assert {(row["run"], row["view"]) for row in rows} == {("GPT4o", "stacked"), ("GPT4o", "tei")}
    run_command("score", *pair, "--data", key, "--format", "html", "--out", tmp_path / "r.html")
    assert "<svg" in (tmp_path / "r.html").read_text("utf-8")
    plain = table(tmp_path / "plain.csv")
    assert "TEI, -: outputs for 3 of 3" in run_command("validate", plain, "--data", key, "--view", "tei")
    assert "TEI" in run_command("score", plain, "--data", key, "--view", "tei")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "samples"
    build("samples:6", out=folder, lang="en")
    return folder


def test_from_an_export_through_vlmevalkit_to_the_difference(dataset: Path, tmp_path: Path) -> None:
    """VLMEvalKit takes the images out of the table and puts the outputs in; all other columns stay."""
    export_dataset(dataset, to="vlmevalkit", out=tmp_path / "LMUData")
    answers = {question.question_id: question.answers for question in load_answers(dataset, split="all").questions}
    written = []
    for number, file in enumerate(sorted((tmp_path / "LMUData").glob("VCR_EN_HARD_*.tsv"))):
        with file.open(encoding="utf-8", newline="") as handle:
            rows = [{k: v for k, v in row.items() if k != "image"} for row in csv.DictReader(handle, delimiter="\t")]
        for row in rows:
            row["prediction"] = " ".join(answers[row["question_id"]]) if row["view"] == "stacked" else "no"
        written.append(tmp_path / f"results-{number}.tsv")  # no name of a task: the columns say it
        with written[-1].open("w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, list(rows[0]), delimiter="\t")
            writer.writeheader()
            writer.writerows(rows)
    result = score(written, data=dataset, split="all")
    assert cells(result) == [("hard", "stacked"), ("hard", "tei")]
    assert result.differences[0].metrics["exact"].value == 1.0


def test_a_split_that_ends_as_tei_tasks_do_is_not_exported(tmp_path: Path) -> None:
    build("samples:2", out=tmp_path / "d", lang="en", splits="x_tei=...")
    with pytest.raises(ConfigError, match="'x_tei' ends as the names of TEI tasks do"):
        export_dataset(tmp_path / "d", to="lmms-eval", out=tmp_path / "out")
