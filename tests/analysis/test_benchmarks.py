"""Benchmarks side by side: the figures of single fits, paired intervals, models by name, and what is wrong."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr, zscore

from vcrgen.analysis.benchmarks import Benchmark, compare_benchmarks, read_benchmarks
from vcrgen.analysis.benchmarks_report import benchmarks_document
from vcrgen.analysis.examples import EXAMPLES
from vcrgen.analysis.factors import fit_factors
from vcrgen.analysis.score_table import Columns, ScoreTable
from vcrgen.analysis.spec import FactorSpec
from vcrgen.core.errors import AnalysisError

Run = Callable[..., tuple[int, str, str]]


def test_figures_are_those_of_each_benchmark_alone(gold: ScoreTable, gold_spec: FactorSpec) -> None:
    shuffled = np.random.default_rng(0).permutation(165)
    part = replace(
        gold.select_tasks(["Math", "Biology", "Color"]),
        source="part.csv",
        models=tuple(gold.models[row] for row in shuffled),
        scores=gold.scores[shuffled][:, [gold.tasks.index(task) for task in ("Math", "Biology", "Color")]],
    )
    found = compare_benchmarks([Benchmark(gold, gold_spec), Benchmark(part)], "Human", draws=100)
    alone = fit_factors(gold, gold_spec, draws=100)
    metrics = found.metrics(0)
    assert (metrics["d_div"], metrics["tc"], metrics["d_valid"]) == (alone.d_div, alone.tc, alone.d_valid)
    assert metrics["sum"].value == pytest.approx(1.892, abs=0.001)
    assert metrics["sum"].low < metrics["sum"].value < metrics["sum"].high
    # Models are found by name; without a specification the tasks are one ability, which has no D_div.
    human = gold.scores[:, -1]
    of_part = gold.select_tasks(part.tasks).scores
    assert found.agreement[1].value == pytest.approx(pearsonr(zscore(of_part).mean(axis=1), human).statistic)
    assert found.agreement[0].value == pytest.approx(pearsonr(zscore(gold.scores[:, :-1]).mean(axis=1), human)[0])
    assert np.isnan(found.metrics(1)["d_div"].value) and np.isnan(found.metrics(1)["sum"].value)
    ((first, second, difference),) = found.differences
    assert (first, second) == (0, 1) and difference.low < difference.value < difference.high
    assert difference.value == pytest.approx(found.agreement[0].value - found.agreement[1].value)
    widths = [estimate.high - estimate.low for estimate in found.agreement]
    assert difference.high - difference.low < np.hypot(*widths)  # the same models, so paired
    assert found.models == 165 and found.names == ("made scores", "part") and len(list(found.long_rows())) == 10


def test_only_common_models_count(gold: ScoreTable) -> None:
    mask = np.arange(165) < 60
    found = compare_benchmarks([Benchmark(gold), Benchmark(gold.select_models(mask))], "Human", draws=100)
    assert found.models == 60 and found.agreement[0] == found.agreement[1] and found.differences[0].estimate.value == 0
    votes = {model: float(number) for number, model in enumerate(gold.models[:30])}
    by_votes = compare_benchmarks([Benchmark(gold), Benchmark(gold)], "votes.csv", votes=votes, draws=100)
    assert by_votes.models == 30 and by_votes.tasks(0) == 12  # the column Human is a task now
    with pytest.raises(AnalysisError, match="5 models have all scores in every table and the anchor"):
        compare_benchmarks([Benchmark(gold), Benchmark(gold.select_models(np.arange(165) < 5))], "Human")
    other = replace(gold, source="other.csv", scores=gold.scores + 1)
    with pytest.raises(AnalysisError, match=r"other.csv: 'made 1' has the score .* on 'Human', and"):
        compare_benchmarks([Benchmark(gold), Benchmark(other)], "Human")


def test_a_benchmark_of_one_task_has_no_metrics_of_its_own(gold: ScoreTable, recwarn: pytest.WarningsRecorder) -> None:
    one = replace(gold.select_tasks(["Math", "Human"]), source="one.csv")
    found = compare_benchmarks([Benchmark(one), Benchmark(gold)], "Human", draws=100)
    assert found.metrics(0)["tc"].value == found.metrics(0)["d_valid"].value == 1 and not recwarn.list
    assert benchmarks_document(found, settings="").summary[1] == (
        "Compare one by the agreement with Human only: with one task an ability, TC and D_valid are 1 whatever the "
        "scores are."
    )


def test_the_command(run: Run) -> None:
    table = EXAMPLES["gold"].load()
    human = np.arange(20.0)
    for name, tasks in (("a", ("Color", "Count", "OCR")), ("b", ("Math", "Biology"))):
        scores = np.column_stack([table.select_tasks(tasks).scores, human])
        rows = [("model", *tasks, "human"), *((model, *row) for model, row in zip(table.models, scores, strict=True))]
        Path(f"{name}.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    Path("a.yaml").write_text("abilities: {See: [Color, Count], Read: [OCR]}\n")
    command = ("analyze", "benchmarks", "a.csv", "b.csv", "--resamples", 100)
    code, text, _ = run(*command, "--anchor", "human", "-f", "md")
    assert code == 0 and "2 benchmarks on the same 20 models, anchor human" in text and "| a | 1 | 3 | –" in text
    for more, sentence in (
        ((), "Name the outside score of the models: --anchor TASK"),
        (("--anchor", "people"), "The anchor 'people' is no task of any table (a.csv, b.csv)"),
        (("--anchor", "human", "--spec", "a.yaml"), "There are 2 tables and 1 specification; give one --spec for each"),
        (("--anchor", "none.csv"), "none.csv is not a file"),
    ):
        code, _, errors = run(*command, *more)
        assert code == 2 and sentence in errors
    code, _, errors = run("analyze", "benchmarks", "a.csv", "--anchor", "human")
    assert code == 2 and "1 table of scores: 2 to 12 benchmarks stand side by side" in errors
    code, text, _ = run("analyze", "benchmarks", "--example", "gold-parts", "--resamples", 100, "-f", "md")
    assert code == 0 and "| GOLD | 0.579 | 0.833 | 0.557 | 0.7359 |" in text


def test_an_anchor_is_taken_in_whatever_its_column_looks_like(run: Run) -> None:
    gold = EXAMPLES["gold"].load()
    for name, heads in (("a", ("Color", "Count", "Overall")), ("b", ("Math", "OCR"))):
        columns = {task: gold.scores[:, gold.tasks.index(task)] for task in heads if task in gold.tasks}
        rows = [("model", *heads), *zip(gold.models, *columns.values(), *[range(20)] * (name == "a"), strict=True)]
        Path(f"{name}.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    code, text, errors = run(
        "analyze", "benchmarks", "a.csv", "b.csv", "--resamples", 100, "--anchor", "Overall", "-f", "md"
    )
    assert code == 0, errors
    assert "2 benchmarks on the same 20 models, anchor Overall" in text and "are no outside score of them" in text


def test_what_names_a_column_is_said_of_the_tables_that_have_it(run: Run) -> None:
    gold = EXAMPLES["gold"].load()
    human = np.arange(20.0)
    heads = {
        "a.csv": ("System", "Color", "Count", "Elo", "human", "judged by"),
        "b.csv": ("model", "Math", "OCR", "human"),
    }
    for file, names in heads.items():
        columns = {
            "System": gold.models,
            "model": gold.models,
            "human": human,
            "Elo": human[::-1],
            "judged by": ["X"] * 20,
        }
        columns |= {task: gold.scores[:, gold.tasks.index(task)] for task in names if task in gold.tasks}
        rows = [names, *zip(*(columns[name] for name in names), strict=True)]
        Path(file).write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    own, other = read_benchmarks(
        [Path("a.csv"), Path("b.csv")],
        lower_is_better=["Math"],
        columns=Columns(models="System", ignore=["judged by"], keep=["Elo"]),
    )
    assert (
        own.table.tasks == ("Color", "Count", "Elo", "human") and own.table.models == other.table.models == gold.models
    )
    assert other.table.scores[:, 0].tolist() == (-gold.scores[:, gold.tasks.index("Math")]).tolist()
    command = ("analyze", "benchmarks", "a.csv", "b.csv", "--anchor", "human", "--resamples", 100)
    for more, sentence in (
        (("--ignore", "judge"), "--ignore 'judge' is no column of a.csv, b.csv."),
        (("--models", "name"), "--models 'name' is no column of a.csv, b.csv."),
        (
            ("--ignore", "judged by", "--lower-is-better", "Maths"),
            "--lower-is-better 'Maths' is no task of a.csv, b.csv.",
        ),
    ):
        code, _, errors = run(*command, *more)
        assert code == 2 and sentence in errors
    code, _, errors = run("analyze", "benchmarks", "--example", "gold-parts", "--keep", "Color")
    assert code == 2 and "--keep is for files; an example is as it is" in errors
