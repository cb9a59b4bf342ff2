"""The questions of a key: found by id or row, in little memory, and the same whether in memory or in a file."""

import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vcrgen.scorer import answer_key
from vcrgen.scorer.answer_key import AnswerKey, Questions
from vcrgen.scorer.records import AnswerSpan, Question

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
SPAN = st.builds(
    AnswerSpan,
    text=TEXT,
    tokens=st.none() | st.lists(TEXT, max_size=3).map(tuple),
    ink=st.dictionaries(st.sampled_from(["easy", "hard"]), st.floats(0, 1), max_size=2),
    traits=st.dictionaries(st.just("font"), st.text(max_size=3), max_size=1),
    bits=st.dictionaries(st.sampled_from(["easy", "hard"]), st.floats(0, 50), max_size=2),
)


def filled(questions: list[Question], *, limit: int | None = None, secret: bool = False) -> Questions:
    made = Questions(limit=limit, secret=secret)
    for question in questions:
        made.add(question)
    assert made.close() is None
    return made


def plain(question_id: str, *texts: str) -> Question:
    return Question(question_id=question_id, spans=tuple(AnswerSpan(text=text) for text in texts))


@pytest.fixture(params=["in memory", "in a file"])
def _where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "in a file":
        monkeypatch.setattr(answer_key, "MAX_MEMORY", 1)


@pytest.mark.sweep
@pytest.mark.usefixtures("_where")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.dictionaries(TEXT, st.lists(SPAN, max_size=3), max_size=20), limit=st.none() | st.integers(0, 25))
def test_what_is_put_in_comes_out(data: dict[str, list[AnswerSpan]], limit: int | None) -> None:
    every = [Question(question_id=name, spans=tuple(spans)) for name, spans in data.items()]
    questions = filled(every, limit=limit)
    asked = every[:limit]
    assert list(questions) == asked == [questions[row] for row in range(len(questions))]
    assert questions[1:3] == tuple(asked[1:3]) and (not asked or questions[-1] == asked[-1])
    assert [questions.row_of(question.question_id) for question in every] == list(range(len(every)))
    assert (len(questions), questions.total) == (len(asked), len(every))
    spans = [len(question.spans) for question in asked]
    assert questions.starts.tolist() == [sum(spans[:number]) for number in range(len(spans) + 1)]
    assert questions.digest == filled(asked).digest
    for name in ("nobody's id \ud800", ""):
        assert questions.row_of(name) == (list(data).index(name) if name in data else None)
    with pytest.raises(IndexError):
        questions[len(asked)]


def test_the_key_answers_by_id_and_row() -> None:
    key = AnswerKey(name="k", lang="en", questions=filled([plain("a", "x"), plain("b", "y", "z")], limit=1))
    assert (len(key), key.row_of("b"), key.row_of("c"), list(key.ids())) == (1, 1, None, ["a"])
    assert key.question(0).answers == ("x",)


def test_ids_of_equal_hashes_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_key, "_hash", lambda question_id: len(question_id))
    questions = filled([plain(name, name) for name in ("aa", "b", "cc", "d", "ee")])
    assert [questions.row_of(name) for name in ("aa", "b", "cc", "d", "ee", "ff", "g")] == [0, 1, 2, 3, 4, None, None]


@pytest.mark.parametrize(("ids", "twice"), [("abca", 3), ("abcb", 3), ("aab", 1), ("abcbaa", 3), ("abc", None)])
def test_an_id_that_is_there_twice(ids: str, twice: int | None) -> None:
    questions = Questions()
    for number, name in enumerate(ids):
        questions.add(plain(name, str(number)))
    assert questions.close() == twice


def test_secret_answers_stand_in_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_key, "MAX_MEMORY", 1)
    monkeypatch.setattr("tempfile.TemporaryFile", None)
    assert filled([plain("a", "x")], secret=True)[0] == plain("a", "x")
    with pytest.raises(TypeError):
        filled([plain("a", "x")])


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.usefixtures("_where")
def test_forked_processes_read_at_the_same_time(tmp_path: Path) -> None:
    every = [plain(f"{number:05}", f"text {number}") for number in range(3000)]
    questions = filled(every)
    children = []
    for _ in range(3):
        child = os.fork()
        if not child:
            right = all(questions[questions.row_of(q.question_id) or 0] == q for q in every)
            os._exit(0 if right else 1)
        children.append(child)
    right = all(questions[number] == question for number, question in enumerate(every))
    assert right and [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]


def many(count: int) -> Iterator[Question]:
    for number in range(count):
        tokens = tuple(f"word{number % 7} and some more words".split())
        span = AnswerSpan(text=f"text {number} of a span", tokens=tokens, ink={"easy": 0.5, "hard": 0.3})
        yield Question(question_id=f"{number:032x}", spans=(span, span))


@pytest.mark.sweep
def test_memory_holds_two_numbers_and_a_hash_of_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_key, "MAX_MEMORY", 1 << 16)
    count = 5_000
    tracemalloc.start()
    try:
        questions = filled(list(many(1)))  # what is imported on the way
        before = tracemalloc.get_traced_memory()[0]
        questions = Questions()
        for question in many(count):
            questions.add(question)
        questions.close()
        assert questions.row_of(f"{count - 1:032x}") == count - 1
        kept, most = (figure - before for figure in tracemalloc.get_traced_memory())
    finally:
        tracemalloc.stop()
    assert kept < 50 * count and most < 100 * count + (1 << 20)
