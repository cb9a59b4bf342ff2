"""Options of ``vcrgen study``."""

from typing import Literal

from vcrgen.core.options import Options, option


class StudyOptions(Options):
    """Design of a study."""

    audit: str | None = option(
        None,
        "An audit's folder (bloom audit draw): people judge the items that were drawn there.",
        shown="no audit",
    )
    split: str | None = option(None, "Split of the dataset.", shown="test, or the only one")
    limit: int = option(100, "Only the first N items.", ge=1, le=100_000)
    modes: str | None = option(None, "Modes, by commas.", shown="all of the dataset")
    lang: str | None = option(None, "Languages of an MCQ benchmark, by commas.", shown="all of the set")
    view: Literal["stacked", "tei", "image", "text-only", "both"] | None = option(
        None,
        "stacked (VI+TEI), tei or both; of an MCQ benchmark image, text-only or both.",
        shown="stacked, or image",
    )
    raters: int = option(3, "People who see each item in each mode (or language) and view.", ge=1, le=1000)
    max_items: int | None = option(None, "Items of one rater, at most.", shown="no limit", ge=1)
    training: int = option(3, "Items to learn from, with their answers; not scored.", ge=0, le=100)
    training_data: str | None = option(
        None, "Another dataset for the training items.", shown="the items after the first N"
    )
    checks: int = option(2, "Attention checks of a rater.", ge=0, le=100)
    repeats: int = option(2, "Items that a rater sees twice.", ge=0, le=100)
    min_checks: float = option(0.5, "Exclude raters with a smaller share of checks right.", ge=0, le=1)
    min_repeats: float = option(0.0, "Exclude raters who typed a smaller share of repeats alike.", ge=0, le=1)
    max_blank: float = option(0.5, "Exclude raters who left a larger share of items blank.", ge=0, le=1)
    max_fast: float = option(0.5, "Exclude raters who answered a larger share of items too fast.", ge=0, le=1)
    max_speed: float = option(
        20.0, "Too fast: words (Chinese, Japanese: characters) that nobody reads in a second.", gt=0, le=1000
    )
    pause: int = option(20, "Items between two breaks.", ge=1)
    seed: int = option(0, "Decides who sees what.", ge=0)
