"""Options of ``vcrgen analyze`` and ``vcrgen profile``."""

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

    metric: str = option("exact", "Of evidence, the score: exact, jaccard, … as in vcrgen score.")
    mode: str | None = option(None, "Of evidence with several, the mode.")
    view: str | None = option(None, "Of evidence with several, the view.")


class ShortenOptions(ItemOptions):
    """Options of shorter subsets."""

    keep: str | None = option(
        None, "N,N,…: how many images (or items, where they have no images) to keep.", shown="10,15,20,30,50,70,100,…"
    )
    method: Literal["random", "stratified", "information", "clustered"] = option(
        "stratified", "random, stratified, information or clustered: whose choice is written, and held to the limits."
    )
    error: float | None = option(
        None, "Find the smallest size whose scores are off by so many points at most, on average.", gt=0, le=100
    )
    agreement: float | None = option(
        None, "Find the smallest size whose ranking correlates so with that of all.", gt=0, le=1
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
