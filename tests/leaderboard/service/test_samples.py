"""What teams can download of a set: complete, taken by the board, and without an answer of a hidden set."""

import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.leaderboard.common import Hand
from vcrgen.leaderboard import records
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.new_board import describe_set
from vcrgen.leaderboard.page_records import Site
from vcrgen.leaderboard.samples import SampleFolder, write_samples
from vcrgen.leaderboard.scoring import check_file, session_of
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.site.render import Pages
from vcrgen.scorer.answer_key import AnswerKey

MOST = 1 << 20


@pytest.fixture(scope="module")
def samples(public: Path, hidden: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SampleFolder]:
    folder = tmp_path_factory.mktemp("samples")
    written = SampleFolder(folder)
    for test_set in sets(public, hidden):
        written.write(test_set, most=MOST)
    yield written


def sets(public: Path, hidden: Path) -> list[records.TestSet]:
    return [describe_set("public", public), describe_set("hidden-en", hidden / "key")]


def lines(samples: SampleFolder, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in samples.file(name).read_text("utf-8").splitlines()]


def page(test_set: records.TestSet, samples: SampleFolder) -> str:
    settings = Settings(title="Board")
    site = Site(
        settings=settings, sets=(test_set,), tracks=(), models=(), live=True, compared=frozenset(), updated=None
    )
    return Pages(site, samples.read).set(test_set)


def test_a_template_has_every_line_and_an_example_is_taken(samples: SampleFolder, public: Path, hidden: Path) -> None:
    for test_set in sets(public, hidden):
        session = session_of(test_set)
        places = {(question.question_id, mode) for question in session.key.questions for mode in test_set.modes}
        view = test_set.lifecycle.view
        for kind, problems in (("template", 1), ("example", 0)):
            name = f"{kind}-{test_set.name}.jsonl"
            rows = lines(samples, name)
            stated = {(row["question_id"], row.get("mode", test_set.modes[0])) for row in rows}
            assert stated == places and len(rows) == len(places) and {row["view"] for row in rows} == {view.value}
            found = check_file(session, samples.file(name), shown_as=name, view=view.value)
            assert len(found) == problems and all(problem.startswith("Null instead of an output") for problem in found)


def test_the_example_item_of_a_public_set_is_right_and_shown(
    samples: SampleFolder, public: Path, hidden: Path, public_key: AnswerKey
) -> None:
    public_set, hidden_set = sets(public, hidden)
    read = samples.read(public_set)
    assert read is not None and read.item is not None
    first = public_key.question(0)
    assert read.item.answers == first.answers and read.item.picture.startswith("data:image/jpeg;base64,")
    shown = page(public_set, samples)
    assert read.item.picture in shown and first.answers[0] in shown and "template-public.jsonl" in shown
    outputs = {row["question_id"]: row["output"] for row in lines(samples, "example-public.jsonl")}
    assert [name for name, output in outputs.items() if output != "a guess"] == [first.question_id]
    read = samples.read(hidden_set)
    assert read is not None and read.item is None and "<img" not in page(hidden_set, samples)


def test_nothing_of_a_hidden_key_is_in_its_samples(
    samples: SampleFolder, public: Path, hidden: Path, hidden_key: AnswerKey
) -> None:
    (_, hidden_set) = sets(public, hidden)
    texts = [samples.file(f"{kind}-hidden-en.jsonl").read_text("utf-8") for kind in ("template", "example")]
    texts += [samples.file("hidden-en.json").read_text("utf-8"), page(hidden_set, samples)]
    answers = {answer.casefold() for question in hidden_key.questions for answer in question.answers if len(answer) > 3}
    assert answers and not [answer for text in texts for answer in answers if answer in text.casefold()]
    ids = [row["question_id"] for row in lines(samples, "template-hidden-en.jsonl")]
    assert ids == sorted(ids)


def test_samples_of_other_data_are_not_shown(samples: SampleFolder, public: Path, hidden: Path) -> None:
    (test_set, _) = sets(public, hidden)
    changed = dataclasses.replace(test_set, signature=f"{test_set.signature}0")
    assert samples.read(test_set) is not None and samples.read(changed) is None
    assert "jsonl" not in page(changed, samples)


def test_a_set_of_answers_alone_has_no_picture_and_a_large_one_no_files(tmp_path: Path) -> None:
    key = tmp_path / "key.jsonl"
    key.write_text('{"question_id": "<q>", "crossed_text": ["<b>"], "language": "en"}\n')
    test_set, folder = describe_set("answers", key), SampleFolder(tmp_path)
    folder.write(test_set, most=MOST)
    read = folder.read(test_set)
    assert read is not None and read.item is not None and read.item.picture == "" and read.has_files
    shown = page(test_set, folder)
    assert "&lt;b&gt;" in shown and "<b>" not in shown and "<img" not in shown
    small = SampleFolder(tmp_path / "small")
    (tmp_path / "small").mkdir()
    small.write(test_set, most=10)
    read = small.read(test_set)
    assert (
        read is not None
        and not read.has_files
        and sorted(path.name for path in small.file("").iterdir()) == ["answers.json"]
    )


def test_a_service_sends_the_files_of_its_sets(
    board: Board, open_desk: Callable[..., Any], hand: Hand, public_key: AnswerKey
) -> None:
    write_samples(board)
    client = open_desk(board).client
    for name in ("template-public.jsonl", "example-hidden-en.jsonl"):
        answer = client.get(f"/{name}")
        assert answer.status_code == 200 and name in answer.headers["content-disposition"]
        assert answer.content == SampleFolder(board.folder).file(name).read_bytes()
    assert "data:image/jpeg" in client.get("/set-public.html").text
    for name in ("template-other.jsonl", "set-other.html", "public.json", "template-..jsonl", "samples"):
        assert client.get(f"/{name}").status_code == 404
