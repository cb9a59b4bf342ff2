"""Options of ``vcrgen analyze`` and ``vcrgen profile``."""

from typing import Literal

from vcrgen.core.options import Options, option


class AnalysisOptions(Options):
    """Options of all analyses of scores."""

    seed: int = option(0, "Seed of every random choice.", ge=0, lt=1 << 63)
    resamples: int = option(2000, "Resamples of the models, for intervals.", ge=100, le=20_000)
    private: bool = option(
        False, "Take scores of a hidden set; the report is marked as not to be published.", names="--private"
    )
    example: str | None = option(
        None, "Take data that ships with vcrgen in place of files; a wrong name lists the right ones."
    )
    lower_is_better: tuple[str, ...] = option((), "A task of which a lower score is better. Repeatable.")
    models: str | None = option(
        None, "The column that names the models.", shown="that with the head model, method or name, or the first"
    )
    no_families: bool = option(
        False,
        "Take each model alone; without a column family, families are guessed from the names of the models.",
        names="--no-families",
    )
    ignore: tuple[str, ...] = option((), "A column of the table that is no task. Repeatable.")
    keep: tuple[str, ...] = option(
        (), "A task that its name or numbers make look like a mean, rank, size, price or date. Repeatable."
    )


class MapOptions(AnalysisOptions):
    """Options of the map of a benchmark."""

    method: Literal["pearson", "spearman", "kendall"] = option("pearson", "pearson, spearman or kendall.")
    distance: Literal["r", "abs"] = option("r", "r, or abs: tasks that rank models the other way round are near.")
    clusters: int | None = option(None, "Number of clusters.", shown="that with the best silhouette", ge=2)


class FactorOptions(AnalysisOptions):
    """Options of a factor model, whose specification is a file."""

    anchor: str | None = option(
        None,
        "Task with an outside score of the models, or a CSV of votes (model_a, model_b, winner), in place of the "
        "specification's.",
    )


class BenchmarkOptions(AnalysisOptions):
    """Options of benchmarks side by side."""

    anchor: str | None = option(
        None, "Task of one of the tables with an outside score of the models, or a CSV of votes. Needed."
    )


class PruneOptions(FactorOptions):
    """Options of pruning; they override the limits of the specification."""

    # Each resample is pruned as a whole, which takes tens of fits: 2,000, as for intervals, would take minutes.
    resamples: int = option(200, "Resamples of the models that are pruned as well.", ge=20, le=20_000)
    vif_max: float | None = option(None, "A task with a higher VIF is redundant.", ge=1)
    loading_min: float | None = option(None, "A task with a lower loading is weak.", ge=0, le=1)
    floor: int | None = option(None, "Tasks that every ability keeps.", ge=1)
    batch: bool = option(False, "Drop all such tasks of a fit at once, as the GOLD paper says.", names="--batch")
