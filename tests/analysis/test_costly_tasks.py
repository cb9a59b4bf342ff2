"""Tasks that cost most models: which are named, with the command that leaves them out, and what it then does."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from vcrgen.analysis.benchmarks import Benchmark, compare_benchmarks
from vcrgen.analysis.costly_tasks import costly_tasks
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.core.errors import AnalysisError

Run = Callable[..., tuple[int, str, str]]


def table_of(gaps: dict[str, range], models: int = 20, **more: bool) -> ScoreTable:
    """Scores of a to f, of which some models lack some."""
    tasks = tuple("abcdef")
    scores = np.random.default_rng(0).standard_normal((models, len(tasks)))
    for task, rows in gaps.items():
        scores[rows, tasks.index(task)] = np.nan
    return ScoreTable(source="t", models=tuple(f"m{row}x" for row in range(models)), tasks=tasks, scores=scores, **more)


@pytest.mark.parametrize(
    ("gaps", "costly"),
    [
        ({}, None),
        ({"a": range(9)}, None),  # half of the models have all scores
        ({"a": range(18)}, (("a",), 2, 20)),
        ({"a": range(18), "b": range(3)}, (("a",), 2, 17)),
        ({"b": range(18), "d": range(12)}, (("b", "d"), 2, 20)),
        ({"b": range(18), "d": range(18)}, (("b", "d"), 2, 20)),  # neither alone gains a model
        ({"f": range(20)}, None),  # the anchor stays
        ({"f": range(14), "a": range(18)}, (("a",), 2, 6)),
        ({task: range(4 * number, 4 * number + 4) for number, task in enumerate("abcde")}, (tuple("abc"), 0, 12)),
    ],
)
def test_tasks_are_named_without_which_half_of_the_models_are_complete(
    gaps: dict[str, range], costly: tuple[tuple[str, ...], int, int] | None
) -> None:
    found = costly_tasks(table_of(gaps), anchor="f")
    assert (None if found is None else (found.tasks, found.complete, found.complete_without)) == costly


def test_a_command_is_named_only_where_columns_are_tasks() -> None:
    gaps = {"b": range(18)}
    sentences = [found.sentence for wide in (True, False) if (found := costly_tasks(table_of(gaps, is_wide=wide)))]
    assert sentences == [
        "Leave b out (--ignore b): 2 of 20 models have all scores, and 20 without it.",
        "Leave b out: 2 of 20 models have all scores, and 20 without it.",
    ]


def test_benchmarks_with_too_few_models_name_the_task() -> None:
    whole, rare = table_of({}), table_of({"b": range(18)})
    with pytest.raises(AnalysisError, match=r"10 are needed\. Leave b out: 2 of 20 models have all scores"):
        compare_benchmarks([Benchmark(whole), Benchmark(rare)], "f", draws=100)


def test_pruning_first_names_the_task_and_its_command_leaves_it_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vcrgen.analysis.prune_evaluation.RANDOM_SETS", 20)
    command = ("analyze", "prune", "s.csv", "--spec", "s.yaml", "--resamples", 20, "--no-families", "-f", "md")
    Path("s.yaml").write_text("abilities: {A: [a, b, c], B: [d, e]}\nanchor: f\n")
    for complete in (2, 12):
        table = table_of({"b": range(100 - complete)}, models=100)
        rows = [("model", *table.tasks), *((name, *row) for name, row in zip(table.models, table.scores, strict=True))]
        Path("s.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
        code, text, errors = run(*command)
        sentence = f"Leave b out (--ignore b): {complete} of 100 models have all scores, and 100 without it."
        if complete == 2:
            assert code == 2 and f"10 models with all scores are needed. {sentence}" in errors
        else:
            assert code == 0 and sentence in text and "Score more models" not in text
    code, text, errors = run(*command, "--ignore", "b")
    assert code == 0 and "of 4" in text and sentence not in text, errors
    code, _, errors = run(*command, "--ignore", "d", "--ignore", "e")
    assert code == 2 and "--ignore leaves the ability 'B' without a task" in errors
