"""A benchmark from a pool: which tasks and items, the manifest, the final fit, and what is wrong with a pool."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from vcrgen.analysis.assembly import AssembledBenchmark, assemble
from vcrgen.analysis.examples import EXAMPLES
from vcrgen.analysis.factors import fit_factors
from vcrgen.analysis.pool import read_pool
from vcrgen.core.errors import AnalysisError, VcrgenError

Run = Callable[..., tuple[int, str, str]]
HEAD = "task,benchmark,ability,item\n"


@pytest.fixture(autouse=True)
def few_random_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vcrgen.analysis.prune_evaluation.RANDOM_SETS", 20)
    monkeypatch.setattr("vcrgen.analysis.assembly.DRAWS", 100)


@pytest.fixture
def assembled() -> AssembledBenchmark:
    table, pool = EXAMPLES["pool-made"].load()
    return assemble(table, pool, pool.spec("Human"), repeats=20)


def test_copies_and_weak_tasks_go(assembled: AssembledBenchmark) -> None:
    kept = set(assembled.evaluation.pruning.kept)
    for ability in ("Perception", "Memory", "Reasoning"):
        assert f"{ability} weak" not in kept and len({f"{ability} 1", f"{ability} 1 copied"} & kept) == 1
        assert {f"{ability} {number}" for number in range(2, 7)} <= kept
    rows = {row["task"]: row for row in assembled.long_rows()}
    assert {row["reason"] for row in rows.values()} == {None, "VIF", "loading"} and len(rows) == 24
    assert assembled.items == sum(row["items"] for row in rows.values() if row["is_kept"])
    # The final fit is that of the kept tasks alone.
    alone = fit_factors(assembled.evaluation.table, assembled.final.bound.spec, draws=100)
    assert alone.d_valid == assembled.final.d_valid and set(assembled.final.bound.tasks) == kept | {"Human"}


def test_the_folder_is_made_from_files(assembled: AssembledBenchmark, run: Run) -> None:
    table, pool = EXAMPLES["pool-made"].load()
    rows = [("model", *table.tasks), *((model, *row) for model, row in zip(table.models, table.scores, strict=True))]
    Path("scores.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    lines = [(name, task.benchmark, task.ability, item) for name, task in pool.tasks.items() for item in task.items]
    Path("pool.csv").write_text(HEAD + "".join(",".join(line) + "\n" for line in lines))
    command = ("analyze", "assemble", "scores.csv", "--pool", "pool.csv", "--anchor", "Human", "--resamples", 20)
    code, _, errors = run(*command, "--out", "set")
    assert code == 0, errors
    found = json.loads(Path("set/manifest.json").read_text())
    items = Path("set/items.csv").read_bytes()
    kept = [task["task"] for task in found["tasks"] if task["is_kept"]]
    assert found["items"] == {
        "file": "items.csv",
        "number": assembled.items,
        "sha256": hashlib.sha256(items).hexdigest(),
    }
    assert kept == list(assembled.evaluation.pruning.kept) == list(found["fit"]["loadings"])
    of_kept = [line for line in lines if line[0] in kept]
    listed = [line.split(",") for line in items.decode().splitlines()[1:]]
    assert listed == [[ability, benchmark, task, item] for task, benchmark, ability, item in of_kept]
    spec = yaml.safe_load(Path("set/kept.yaml").read_text())
    assert [task for tasks in spec["abilities"].values() for task in tasks] == kept
    page = Path("set/report.html").read_text()
    assert "Assemble 18 tasks of 24" in page and "Final fit: Model" in page and "Spearman correlations" in page
    # Of few models there is no verdict, so no set.
    Path("few.csv").write_text("\n".join(Path("scores.csv").read_text().splitlines()[:41]) + "\n")
    few = (*command[:2], "few.csv", *command[3:])
    assert run(*few, "--out", "few")[0] == 0
    assert sorted(file.name for file in Path("few").iterdir()) == [".vcrgen-analysis", "log.csv", "report.html"]
    assert "Assemble" not in Path("few/report.html").read_text()


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("", "has no item; a line is an item"),
        ("a,M,See,1\na,M,Read,2\n", "line 3: the task 'a' is of M and Read here, and of M and See above"),
        ("a,M,See,1\nb,M,See,1\n", "line 3: the item '1' of M stands under 'a' above; keep one of them"),
        ("a,M,See,1\na,M,See,1\n", "line 3: the item '1' of M stands under 'a' above; keep one of them"),
        ("a,M,See,\n", "line 2: an item has a name of 1 to 1,000 characters"),
        ("a*,M,See,1\n", "line 2: the task 'a*' has a *, which stands for any characters"),
        ("a,M,See\n", "line 2: 3 cells under 4 column names"),
    ],
)
def test_what_is_wrong_with_a_pool_is_one_sentence(tmp_path: Path, lines: str, sentence: str) -> None:
    file = tmp_path / "pool.csv"
    file.write_text(HEAD + lines)
    with pytest.raises(AnalysisError) as problem:
        read_pool(file)
    assert sentence in str(problem.value)


def test_other_separators_of_a_pool(tmp_path: Path) -> None:
    file = tmp_path / "pool.csv"
    file.write_text(f"{HEAD}a,M,See,1\n".replace(",", ";"))
    assert read_pool(file).tasks["a"].items == ("1",)


def test_a_pool_has_to_fit_the_scores(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "pool.csv"
    file.write_text(f"{HEAD}Colour,M,See,1\nMath,M,Think,2\n")
    table = EXAMPLES["gold"].load()
    with pytest.raises(VcrgenError, match="'Colour' of the ability 'See' fits no task; the nearest is 'Color'"):
        assemble(table, read_pool(file), read_pool(file).spec(None))
    code, _, errors = run("analyze", "assemble", "scores.csv")
    assert code == 2 and "Name the tasks with their abilities and items in a CSV: --pool pool.csv" in errors
