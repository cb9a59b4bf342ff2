"""The index against filters in plain Python."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.core.errors import ConfigError
from vcrgen.view.index import OUTCOMES, IndexedItem, IndexedOutput, IndexedRow, ViewIndex
from vcrgen.view.query import Query

MODE, VIEW, RUNS = "hard", "stacked", 2
WORDS = ("red", "Tent", "blue", "ÉTÉ")

texts = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
outputs = st.none() | st.tuples(st.text("enwmur", min_size=2, max_size=2), st.sampled_from([0.0, 0.5, 2.0]), texts)
items = st.lists(
    st.fixed_dictionaries(
        {
            "lang": st.sampled_from(["en", "zh"]),
            "split": st.sampled_from(["test", "train"]),
            "length": st.integers(0, 9),
            "bits": st.none() | st.sampled_from([0.5, 1.5, 2.5]),
            "text": texts,
            "outputs": st.lists(outputs, min_size=RUNS, max_size=RUNS),
        }
    ),
    max_size=7,
)
numbers = st.none() | st.integers(0, RUNS - 1)
bounds = st.none() | st.sampled_from([1.0, 2.0, 5.0])
queries = st.builds(
    Query,
    mode=st.just(MODE),
    view=st.just(VIEW),
    lang=st.sampled_from(["", "en"]),
    split=st.sampled_from(["", "train"]),
    outcome=st.sampled_from(["", *OUTCOMES]),
    run=numbers,
    right=numbers,
    wrong=numbers,
    bits_min=bounds,
    bits_max=bounds,
    length_min=bounds,
    length_max=bounds,
    search=texts.map(str.upper),
    sort=st.sampled_from(["order", "id", "lang", "split", "length", "bits", "score", "score-1"]),
    direction=st.sampled_from(["up", "down"]),
)


def make_index(rows: list[dict[str, Any]]) -> ViewIndex:
    index = ViewIndex()
    index.add_items(
        IndexedItem(f"i{number}", row["lang"], row["split"], row["length"], 2, row["text"])
        for number, row in enumerate(rows)
    )
    for mode in (MODE, "easy"):  # whose rows are not asked for
        index.add_rows(IndexedRow(f"i{n}", mode, n, row["bits"] if mode == MODE else 0) for n, row in enumerate(rows))
    for run in range(RUNS):
        index.add_outputs(
            run,
            (
                IndexedOutput(f"i{number}", mode, VIEW, codes if mode == MODE else "ur", score, text, "null")
                for number, row in enumerate(rows)
                for codes, score, text in [row["outputs"][run] or ("", 0, "")]
                for mode in (MODE, "easy")
                if codes
            ),
        )
        index.add_missing(run, MODE, VIEW, "null")
    index.finish()
    return index


def expected(rows: list[dict[str, Any]], query: Query) -> list[str]:
    def within(value: float | None, low: float | None, high: float | None) -> bool:
        if low is None and high is None:
            return True
        return value is not None and (low is None or value >= low) and (high is None or value <= high)

    found = []
    for number, row in enumerate(rows):
        answers = [output or ("mm", 0.0, "") for output in row["outputs"]]
        runs = range(RUNS) if query.run is None else [query.run]
        letter = OUTCOMES.get(query.outcome, "")
        pairs = zip(answers[query.right or 0][0], answers[query.wrong or 0][0], strict=True)
        if not (
            query.lang in ("", row["lang"])
            and query.split in ("", row["split"])
            and any(letter in answers[run][0] for run in runs)
            and any((query.right is None or a == "e") and (query.wrong is None or b != "e") for a, b in pairs)
            and within(row["bits"], query.bits_min, query.bits_max)
            and within(row["length"], query.length_min, query.length_max)
            and all(any(w in t.lower() for t in (row["text"], *(a[2] for a in answers))) for w in query.words)
        ):
            continue
        scores = {"score": sum(answer[1] for answer in answers) / RUNS, "score-1": answers[1][1], "order": number}
        found.append((scores.get(query.sort, f"i{number}" if query.sort == "id" else row.get(query.sort)), number))
    there = sorted(key for key in found if key[0] is not None)
    if query.direction == "down":
        there.sort(key=lambda key: key[0], reverse=True)
    return [f"i{number}" for _, number in [*there, *(key for key in found if key[0] is None)]]


@given(items, queries)
def test_filters_and_orders(rows: list[dict[str, Any]], query: Query) -> None:
    index = make_index(rows)
    selection = index.select(query, 100)
    names = index.ids(selection.places)
    wanted = expected(rows, query)
    assert [names[place] for place in selection.places] == wanted and selection.total == len(wanted)
    pages = [index.select(query.model_copy(update={"page": page}), 3).places for page in range(4)]
    assert [place for page in pages for place in page] == selection.places
    for before, name, after in zip(["", *wanted], wanted, [*wanted[1:], ""], strict=False):
        one = index.select(query.model_copy(update={"id": name}), 3)
        assert (one.previous, one.next, [names[place] for place in one.places]) == (before, after, [name])


@pytest.mark.parametrize(
    "text",
    [
        "outcome=fine",
        "sort=place; DROP TABLE items",
        "run=-1",
        "page=x",
        "bits_min=nan",
        "colour=red",
        "&".join("a" * 40),
    ],
)
def test_queries_that_are_none(text: str) -> None:
    with pytest.raises(ConfigError):
        make_index([]).select(Query.parse(text), 10)


def test_an_address_is_read_with_and_without_its_mark() -> None:
    assert Query.parse("#mode=easy&page=2&search=a+b") == Query(mode="easy", page=2, search="a b")
