"""Data that ships with the package or is made from a seed: with ``--example NAME`` no analysis needs a file."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import vcrgen.report.published
from vcrgen.core.errors import AnalysisError
from vcrgen.core.reading import read_csv_cells
from vcrgen.core.rng import array_rng_for
from vcrgen.report.document import Section
from vcrgen.report.table import Number, Table

if TYPE_CHECKING:
    from vcrgen.analysis.benchmarks import Benchmark
    from vcrgen.analysis.pool import Pool
    from vcrgen.analysis.redundancy import CorrelationTable
    from vcrgen.analysis.score_table import ScoreTable
    from vcrgen.analysis.spec import FactorSpec
    from vcrgen.stats.arrays import Floats

BENCHMARKS = Path(vcrgen.report.published.__file__).with_name("benchmarks")  # files of published scores
GOLD_ABILITIES: Mapping[str, tuple[str, ...]] = {
    "Perception": ("Color", "Count", "OCR"),
    "Memory": ("Artwork", "Landmark", "Basic Medical Science"),
    "Reasoning": ("Biology", "Computer Science", "Economics", "Electronics", "Math"),
}
GOLD_MODELS = 165  # of the paper's comparison; its scores are unpublished
VCR_MODELS = 38


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One example: what it is, which commands take it, and what reading a file of it would give."""

    about: str  # one sentence, which names the source and what is known to be wrong in it
    commands: Collection[str]
    load: Callable[[], Any]
    spec: Callable[[], FactorSpec] | None = None  # for the commands that need one
    errata: str = ""  # name of the CSV that lists what is printed wrongly
    quoted: Mapping[str, tuple[str, str]] = field(
        default_factory=dict
    )  # of commands: CSV of printed figures, its title


def get_example(name: str, command: str) -> Example:
    """The example of a name.

    Raises:
        AnalysisError: There is none of that name, or the command does not take it.
    """
    fitting = [title for title, example in EXAMPLES.items() if command in example.commands]
    if name not in fitting:
        problem = f"has no example {name!r}" if name not in EXAMPLES else f"does not take the example {name!r}"
        raise AnalysisError(f"vcrgen analyze {command} {problem}; it has {', '.join(fitting) or 'none'}.")
    return EXAMPLES[name]


def published_rows(name: str) -> list[list[str]]:
    """The lines of a CSV of ``vcrgen/report/published/benchmarks/``."""
    return [cells for _, cells in read_csv_cells(BENCHMARKS / f"{name}.csv", AnalysisError)]


def errata_section(name: str, about: str = "") -> Section:
    """What a publication prints wrongly, by the CSV of that name; ``about`` is a sentence above it."""
    heads, *rows = published_rows(name)
    heads = [head.capitalize() for head in heads]
    table = Table(title="Printed wrongly in the publication", heads=heads, labels=len(heads), rows=rows)
    return Section(title="Errata", text=[about] if about else [], tables=[table])


def published_sections(example: Example, command: str) -> list[Section]:
    """What the publication of an example prints, quoted, and what of it is wrong."""
    sections = []
    if command in example.quoted:
        name, title = example.quoted[command]
        heads, *rows = published_rows(name)
        labels = sum(not _is_number(cell) for cell in rows[0])
        cells = [[Number(float(cell), len(cell) - 2) if _is_number(cell) else cell for cell in row] for row in rows]
        table = Table(title=title, heads=[head[0].upper() + head[1:] for head in heads], labels=labels, rows=cells)
        text = "Quoted, not recomputed: the scores that these figures are of are unpublished."
        sections.append(Section(title="Published figures", text=[text], tables=[table]))
    return [*sections, *([errata_section(example.errata, example.about)] if example.errata else [])]


def _is_number(cell: str) -> bool:
    return cell.startswith("0.") and cell[2:].isdigit()


def gold_correlations() -> tuple[tuple[str, ...], Floats]:
    """A correlation matrix, made by us, that gives what the GOLD paper prints; one of many that do."""
    import numpy as np

    heads, *lines = published_rows("gold-correlations")
    return tuple(heads), np.array(lines, float)


def _gold() -> ScoreTable:
    from vcrgen.analysis.score_table import table_from_rows

    table = table_from_rows(iter(published_rows("gold-models")), "GOLD, Table IX")
    return replace(table, inputs=("--example", "gold"))


def _gold_made() -> ScoreTable:
    """Scores with exactly the correlations of `gold_correlations`."""
    import numpy as np

    from vcrgen.analysis.score_table import ScoreTable

    tasks, r = gold_correlations()
    rng = array_rng_for(0, "example", "gold-made")
    drawn = rng.standard_normal((GOLD_MODELS, len(tasks)))
    orthogonal, _ = np.linalg.qr(drawn - drawn.mean(axis=0))
    scores = 60 + 12 * orthogonal * np.sqrt(GOLD_MODELS) @ np.linalg.cholesky(r).T
    models = tuple(f"made {number}" for number in range(1, GOLD_MODELS + 1))
    inputs = ("--example", "gold-made")
    return ScoreTable(source="made scores", models=models, tasks=tasks, scores=scores, inputs=inputs)


def _gold_spec(example: str, anchor: str | None = None) -> FactorSpec:
    from vcrgen.analysis.spec import FactorSpec

    return FactorSpec(abilities=dict(GOLD_ABILITIES), anchor=anchor).read_by("--example", example)


def _gold_parts() -> list[Benchmark]:
    """GOLD of made scores, and its tasks of MME and of MMMU as benchmarks of their own."""
    from vcrgen.analysis.benchmarks import Benchmark
    from vcrgen.analysis.spec import FactorSpec

    table = _gold_made()
    of_mme = ("Color", "Count", "OCR", "Artwork", "Landmark")
    parts = {"GOLD": set(table.tasks), "MME tasks": set(of_mme), "MMMU tasks": set(table.tasks) - set(of_mme)}
    benchmarks = []
    for name, tasks in parts.items():
        abilities = {ability: tuple(filter(tasks.__contains__, own)) for ability, own in GOLD_ABILITIES.items()}
        spec = FactorSpec(abilities={ability: own for ability, own in abilities.items() if own}, anchor="Human")
        inputs = ("--example", "gold-parts")
        benchmarks.append(Benchmark(replace(table, source=name, inputs=inputs), spec.read_by(*inputs)))
    return benchmarks


def _pool_made() -> tuple[ScoreTable, Pool]:
    """Scores of made models on the tasks of four benchmarks, and the tasks with their items.

    Each of three abilities has six good tasks (loading .85), a copy of one and a weak task (.2).
    """
    import numpy as np

    from vcrgen.analysis.pool import Pool, PoolTask
    from vcrgen.analysis.score_table import ScoreTable

    rng = array_rng_for(0, "example", "pool-made")
    normal = rng.standard_normal
    abilities = np.sqrt(0.6) * normal((GOLD_MODELS, 1)) + np.sqrt(0.4) * normal((GOLD_MODELS, 3))
    tasks: dict[str, PoolTask] = {}
    columns: list[Floats] = []
    for ability, strength in zip(GOLD_ABILITIES, abilities.T, strict=True):
        good = [0.85 * strength + np.sqrt(1 - 0.85**2) * normal(GOLD_MODELS) for _ in range(6)]
        weak = 0.2 * strength + np.sqrt(1 - 0.2**2) * normal(GOLD_MODELS)
        columns += [*good, good[0] + 0.1 * normal(GOLD_MODELS), weak]
        for number, kind in enumerate((*map(str, range(1, 7)), "1 copied", "weak")):
            name = f"{ability} {kind}"
            items = tuple(f"{name}/{item:03}" for item in range(1, 31 + 10 * (number % 3)))
            tasks[name] = PoolTask(benchmark=f"Benchmark {'ABCD'[number % 4]}", ability=ability, items=items)
    human = abilities.sum(axis=1) + 1.5 * normal(GOLD_MODELS)
    inputs = ("--example", "pool-made")
    table = ScoreTable(
        source="made scores",
        models=tuple(f"made {number}" for number in range(1, GOLD_MODELS + 1)),
        tasks=(*tasks, "Human"),
        scores=60 + 12 * np.column_stack([*columns, human]),
        inputs=inputs,
    )
    return table, Pool(source="made pool", tasks=tasks, inputs=inputs)


def _vcr() -> ScoreTable:
    """Exact match of the published VCR-WIKI tables, a task for each language, mode and view."""
    from vcrgen.analysis.score_table import table_from_rows
    from vcrgen.report.published.fields import show_size
    from vcrgen.report.published.results import read_reported, shipped_tables

    (file,) = (file for file in shipped_tables() if file.stem == "vcr-wiki")
    rows: list[list[Any]] = [["model", "task", "score"]]
    for row in read_reported(file):
        if row.exact is not None:
            model = f"{row.model} {show_size(row.size)}".strip()
            rows.append([model, f"{row.language} {row.mode} {row.view.value}", 100 * row.exact])
    return replace(table_from_rows(iter(rows), "VCR, Table 2"), inputs=("--example", "vcr"))


def _vcr_map() -> CorrelationTable:
    import numpy as np

    from vcrgen.analysis.redundancy import CorrelationTable

    heads, *lines = published_rows("vcr-map")
    return CorrelationTable(
        source="VCR, heatmap of benchmarks",
        tasks=tuple(heads),
        r=np.array(lines, float),
        models=VCR_MODELS,
        inputs=("--example", "vcr-map"),
    )


_GOLD_QUOTED = {
    "prune": ("gold-rank-correlations", "Spearman correlations of rankings (GOLD paper, Table VII)"),
}

EXAMPLES: Mapping[str, Example] = {
    "gold": Example(
        about="Table IX of the GOLD paper: 20 models on its eleven tasks; their human scores are unpublished.",
        commands=("map", "factors", "prune"),
        load=_gold,
        spec=functools.partial(_gold_spec, "gold"),
        errata="gold-errata",
        quoted=_GOLD_QUOTED,
    ),
    "gold-made": Example(
        about="Made scores of 165 models with correlations that give Figure 7 and Table VIII of the GOLD paper; the "
        "paper's own scores are unpublished.",
        commands=("map", "factors", "prune"),
        load=_gold_made,
        spec=functools.partial(_gold_spec, "gold-made", "Human"),
        errata="gold-errata",
        quoted=_GOLD_QUOTED,
    ),
    "gold-parts": Example(
        about="Made scores as gold-made: GOLD beside its five tasks of MME and its six of MMMU.",
        commands=("benchmarks",),
        load=_gold_parts,
        errata="gold-errata",
        quoted={"benchmarks": ("gold-metrics", "Metrics of benchmarks (GOLD paper, Figures 8 and 9)")},
    ),
    "pool-made": Example(
        about="Made scores of 165 models on a made pool: of each ability six good tasks, a copy and a weak one.",
        commands=("assemble",),
        load=_pool_made,
    ),
    "vcr": Example(
        about="Exact match of Table 2 of the VCR paper (arXiv 2406.06462); closed models on the first 500 images, open "
        "ones on 5,000.",
        commands=("map",),
        load=_vcr,
    ),
    "vcr-map": Example(
        about="Correlations of 23 benchmarks over 38 models, read from the heatmap of the VCR paper (PDF of August "
        "2024, Figure 3); its scores are unpublished, and its clusters are those of abs(r).",
        commands=("map",),
        load=_vcr_map,
    ),
}
