"""The command that writes the page of an analysis, and its progress."""

import shlex
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.analysis.assembly import assemble
from vcrgen.analysis.benchmarks import Benchmark, BenchmarkComparison, compare_benchmarks, read_benchmarks
from vcrgen.analysis.examples import EXAMPLES
from vcrgen.analysis.factors import fit_factors
from vcrgen.analysis.options import MapOptions
from vcrgen.analysis.page_command import page_command
from vcrgen.analysis.profile.read_tables import read_profiles
from vcrgen.analysis.prune_evaluation import evaluate_pruning
from vcrgen.analysis.redundancy import make_map
from vcrgen.analysis.score_table import Columns, ScoreTable, read_scores
from vcrgen.analysis.spec import FactorSpec, inputs_of, read_spec
from vcrgen.analysis.votes import fit_votes, read_votes
from vcrgen.core.progress import ProgressListener

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def few_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vcrgen.analysis.prune_evaluation.RANDOM_SETS", 20)
    monkeypatch.setattr("vcrgen.analysis.assembly.DRAWS", 100)


@pytest.fixture
def files(run: Run) -> Run:
    """The command line in a folder with scores of a task whose scores are turned, and a column that is no task."""
    rows = [(f"m{row}", *(row % (3 + task) + row * row / 40 + task for task in range(5)), "text") for row in range(24)]
    lines = [("model", "a", "b", "c", "d", "people", "note"), *rows]
    Path("my scores.csv").write_text("\n".join(",".join(map(str, line)) for line in lines))
    Path("other.csv").write_text("\n".join(",".join(map(str, (row[0], *row[3:6]))) for row in lines))
    Path("other.yaml").write_text("abilities:\n  C: [c, d]\nanchor: people\n")
    tasks = [f"{task},M,{ability},{task}-1" for task, ability in zip("abcd", "AABB", strict=True)]
    Path("pool.csv").write_text("\n".join(("task,benchmark,ability,item", *tasks)))
    Path("spec.yaml").write_text("abilities:\n  A: [a, b]\n  B: [c, d]\n")
    Path("my votes.csv").write_text("model_a,model_b,winner\nm1,m2,m1\nm2,m1,m2\n")
    Path("scores_rae.csv").write_text("level,subcategory,leaf,count,m_en\nremember,x,y,10,0.5\n")
    return run


COMMANDS = [
    (
        "analyze map 'my scores.csv' --lower-is-better a --ignore note --seed 3 --resamples 100 --method spearman "
        "--clusters 2",
        "map.html",
    ),
    ("analyze factors 'my scores.csv' --ignore note --spec spec.yaml --anchor people --resamples 100", "factors.html"),
    (
        "analyze prune 'my scores.csv' --ignore note --spec spec.yaml --anchor people --vif-max 4.0 --resamples 20 "
        "--batch",
        "pruned/report.html",
    ),
    (
        "analyze benchmarks 'my scores.csv' other.csv --no-families --lower-is-better a --ignore note --seed 3 "
        "--resamples 100 --anchor people",
        "benchmarks.html",
    ),
    (
        "analyze assemble 'my scores.csv' --ignore note --pool pool.csv --anchor people --vif-max 4.0 --resamples 20",
        "set/report.html",
    ),
    ("analyze map --example vcr-map --distance abs --clusters 5", "map.html"),
    ("analyze votes 'my votes.csv'", "votes.html"),
    ("profile scores_rae.csv", "profile.html"),
    ("profile --example bloom", "profile.html"),
]


@pytest.mark.parametrize(("command", "page"), COMMANDS)
def test_a_report_in_the_terminal_names_the_command_that_writes_its_page(files: Run, command: str, page: str) -> None:
    code, text, _ = files(*shlex.split(command))
    last = text.splitlines()[-1]
    assert code == 0 and last == f"Next: vcrgen {command} --out {page.split('/')[0]}"
    assert files(*shlex.split(last)[2:])[0] == 0 and Path(page).exists()


def test_what_a_program_reads_has_no_command_and_quiet_neither(files: Run) -> None:
    for words in (("--format", "csv"), ("-q",)):
        code, text, _ = files("profile", "scores_rae.csv", *words)
        assert code == 0 and "Next" not in text


def test_results_in_python_name_the_same_command(files: Run) -> None:
    table = read_scores([Path("my scores.csv")], columns=Columns(ignore=["note"]))
    spec = read_spec(Path("spec.yaml"), anchor="people")
    common: dict[str, Any] = {"seed": 3, "progress": False}
    results = [
        make_map(table, clusters=2, draws=100, **common),
        fit_factors(table, spec, draws=100, **common),
        evaluate_pruning(table, spec, repeats=20, **common),
        read_profiles([Path("scores_rae.csv")]),
        fit_votes(read_votes(Path("my votes.csv"))),
    ]
    assert [result.next_command[1:3] for result in results[:3]] == [
        ("analyze", "map"),
        ("analyze", "factors"),
        ("analyze", "prune"),
    ]
    for result in results:
        assert "<p>Next: <code>vcrgen " in result._repr_html_()
        assert files(*result.next_command[1:])[0] == 0


def test_benchmarks_read_in_different_ways_have_no_command(files: Run) -> None:
    places = [Path("my scores.csv"), Path("other.csv")]
    own, other = read_benchmarks(places, columns=Columns(ignore=["note"]), families=False)
    (with_spec,) = read_benchmarks(places[1:], [Path("other.yaml")])

    def compare(*benchmarks: Benchmark) -> BenchmarkComparison:
        return compare_benchmarks(benchmarks, "people", draws=100, progress=False)

    expected = ("my scores.csv", "other.csv", "--no-families", "--ignore", "note", "--resamples")
    assert compare(own, other).next_command[3:9] == expected
    twice = compare(with_spec, with_spec)
    assert twice.next_command[3:9] == ("other.csv", "other.csv", "--spec", "other.yaml", "--spec", "other.yaml")
    assert all(fit.next_command == () for fit in twice.fits)  # whose anchor may be of another table
    read_otherwise = Benchmark(read_scores(places[1:]))
    made = Benchmark(other.table, FactorSpec(abilities={"C": ("c", "d")}, anchor="people"))
    for second in (with_spec, read_otherwise, made):
        assert compare(own, second).next_command == ()


def test_without_names_of_files_there_is_no_command(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("abilities:\n  A: [Color, Count]\n  B: [OCR, Math]\n")
    example, made = EXAMPLES["gold-made"], FactorSpec(abilities={"A": ("Color",), "B": ("Count",)})
    table: ScoreTable = example.load()
    assert example.spec
    assert inputs_of(table, example.spec()) == ("--example", "gold-made")
    assert inputs_of(table, made) == inputs_of(table, read_spec(tmp_path / "s.yaml")) == ()
    assert inputs_of(ScoreTable(source="", models=(), tasks=(), scores=table.scores), example.spec()) == ()
    assert page_command("map", ["a.csv"], MapOptions, {"resamples": 5}, out="map.html") == ()  # which it refuses


class Listener(ProgressListener):
    done = total = 0

    def begin(self, total: int, done: int) -> None:
        self.total = total

    def advance(self, done: int, kept: int, drops: Counter[str], /) -> None:
        self.done += done


@pytest.mark.parametrize("analysis", [fit_factors, evaluate_pruning])
def test_an_analysis_tells_its_progress(gold: ScoreTable, gold_spec: FactorSpec, analysis: Callable[..., Any]) -> None:
    told = Listener()
    analysis(gold, gold_spec, progress=told, **{"draws" if analysis is fit_factors else "repeats": 20})
    assert told.done == told.total == 20


def test_a_map_tells_its_progress(gold: ScoreTable) -> None:
    told = Listener()
    make_map(gold, draws=150, progress=told)
    assert told.done == told.total > 0


def test_benchmarks_and_a_pool_tell_their_progress() -> None:
    told = Listener()
    compared = compare_benchmarks(EXAMPLES["gold-parts"].load(), "Human", draws=100, progress=told)
    assert " ".join(compared.next_command) == (
        "vcrgen analyze benchmarks --example gold-parts --resamples 100 --anchor Human --out benchmarks.html"
    )
    assert told.done == told.total == 3
    table, pool = EXAMPLES["pool-made"].load()
    told = Listener()
    found = assemble(table, pool, pool.spec("Human"), repeats=20, progress=told)
    assert told.done == told.total == 20
    assert " ".join(found.next_command) == (
        "vcrgen analyze assemble --example pool-made --anchor Human --resamples 20 --out set"
    )
    assert found.evaluation.next_command == found.final.next_command == ()  # neither has the pool
