"""Options of ``vcrgen analyze``, ``vcrgen profile`` and ``vcrgen sample-size``."""

from typing import Literal, Self

from pydantic import model_validator

from vcrgen.config.base import Options, option


class AnalysisOptions(Options):
    """Options of all analyses of scores."""

    seed: int = option(0, "Seed of every random choice.", ge=0, lt=1 << 63)
    resamples: int = option(2000, "Resamples of the models, for intervals.", ge=100, le=20_000)
    private: bool = option(
        False, "Take scores of a hidden set; the report is marked as not to be published.", names="--private"
    )


class TableOptions(AnalysisOptions):
    """Reading of a table of scores."""

    lower_is_better: tuple[str, ...] = option((), "A task of which a lower score is better. Repeatable.")
    ignore: tuple[str, ...] = option((), "A column of the table that is no task. Repeatable.")


class MapOptions(TableOptions):
    """Options of the map of a benchmark."""

    method: Literal["pearson", "spearman", "kendall"] = option("pearson", "pearson, spearman or kendall.")
    distance: Literal["r", "abs"] = option("r", "r, or abs: tasks that rank models the other way round are near.")
    clusters: int | None = option(None, "Number of clusters.", shown="that with the best silhouette", ge=2)


class FactorOptions(TableOptions):
    """Options of a factor model, whose specification is a file."""

    anchor: str | None = option(None, "Task with an outside score of the models, in place of the specification's.")


class PruneOptions(FactorOptions):
    """Options of pruning; they override the limits of the specification."""

    resamples: int = option(200, "Resamples of the models that are pruned as well.", ge=20, le=20_000)
    vif_max: float | None = option(None, "A task with a higher VIF is redundant.", ge=1)
    loading_min: float | None = option(None, "A task with a lower loading is weak.", ge=0, le=1)
    floor: int | None = option(None, "Tasks that every ability keeps.", ge=1)
    batch: bool = option(False, "Drop all such tasks of a fit at once, as the GOLD paper says.", names="--batch")


class SampleSizeOptions(Options):
    """Goals of a comparison, a threshold, a human baseline or an analysis, and the kind of data."""

    difference: float | None = option(None, "Points between two models that shall be found: 1, 2, 3, 5 or 10.", gt=0)
    power: float = option(0.8, "How often it shall be found.", ge=0.5, le=0.95)
    accuracy: float = option(70, "Mean score of these models, %: 50, 70 or 90.")
    alike: float = option(0.5, "Share of the spans on which they do the same: 0, 0.5 or 0.8.")
    threshold: float | None = option(None, "Half-width of a threshold's interval, points of visible ink.", gt=0)
    levels: int = option(10, "Levels at which each image is shown: 6 or 10.")
    scale: float = option(5, "Scale of the curve, points of ink: 3 (steep), 5 or 10 (flat).")
    human: float | None = option(None, "Half-width of the interval of people's mean, points.", gt=0)
    human_accuracy: float = option(85, "Mean score of people, %: 75, 85 or 95.")

    lost_tasks: float | None = option(None, "Share of good tasks that analyze prune may drop, %.", gt=0, lt=100)

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        wanted = (self.difference, self.threshold, self.human, self.lost_tasks)
        if all(each is None for each in wanted):
            raise ValueError("name what shall be reached: --difference, --threshold, --human or --lost-tasks")
        return self
