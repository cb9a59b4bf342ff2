"""Options of ``vcrgen analyze``, ``vcrgen profile`` and ``vcrgen sample-size``."""

from typing import Literal, Self

from pydantic import model_validator

from vcrgen.config.base import Options, option

MAX_SUBSET_SIZES = 30  # of shorter sets that are compared


class AnalysisOptions(Options):
    """Options of all analyses of scores."""

    seed: int = option(0, "Seed of every random choice.", ge=0, lt=1 << 63)
    resamples: int = option(2000, "Resamples of the models, for intervals.", ge=100, le=20_000)
    private: bool = option(
        False, "Take scores of a hidden set; the report is marked as not to be published.", names="--private"
    )


class ItemOptions(AnalysisOptions):
    """Selection of item scores."""

    metric: str | None = option(
        None, "Of evidence, the score: exact, jaccard, rae, … as in vcrgen score.", shown="exact, or rae of MCQ"
    )
    mode: str | None = option(None, "Of evidence with several, the mode, or the language.")
    view: str | None = option(None, "Of evidence with several, the view.")


class ShortenOptions(ItemOptions):
    """Options of shorter subsets."""

    keep: str | None = option(
        None, "N,N,…: how many images (or items, where they have no images) to keep.", shown="10,15,20,30,50,70,100,…"
    )
    method: Literal["random", "stratified", "pirt", "anchors", "anchors-pirt", "metabench"] = option(
        "pirt",
        "random, stratified, pirt, anchors, anchors-pirt or metabench: whose choice is written and held to limits.",
    )
    error: float | None = option(
        None, "Find the smallest size whose estimates are off by so many points at most, on average.", gt=0, le=100
    )
    agreement: float | None = option(
        None, "Find the smallest size whose ranking correlates so with that of all, on average.", gt=0, le=1
    )
    resamples: int = option(40, "How often models are held out of the choice.", ge=10, le=1000)

    @model_validator(mode="after")
    def _sizes_are_numbers(self) -> Self:
        _ = self.sizes
        return self

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """Return the sizes of ``--keep`` in order; a ValueError if one is no number."""
        if self.keep is None:
            return None
        parts = [part.strip() for part in self.keep.split(",")]
        if len(parts) > MAX_SUBSET_SIZES or not all(
            part.isascii() and part.isdigit() and len(part) < 10 for part in parts
        ):
            raise ValueError(
                f"--keep {self.keep[:80]!r} is not of the form N,N, as in 100,200,500 ({MAX_SUBSET_SIZES} at most)"
            )
        return tuple(sorted(set(map(int, parts))))


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

    wrong_keys: float | None = option(None, "Share of wrong keys that analyze items shall find, %.", gt=0, le=100)
    lost_tasks: float | None = option(None, "Share of good tasks that analyze prune may drop, %.", gt=0, lt=100)

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        wanted = (self.difference, self.threshold, self.human, self.wrong_keys, self.lost_tasks)
        if all(each is None for each in wanted):
            raise ValueError(
                "name what shall be reached: --difference, --threshold, --human, --wrong-keys or --lost-tasks"
            )
        return self
