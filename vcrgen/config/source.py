"""Options of commands that read image-caption pairs."""

from pydantic import field_validator

from vcrgen.config.base import PANEL_SOURCE, Options, option


class SourceOptions(Options):
    """A source of pairs, and its columns."""

    source: str = option("", "Pairs, as `vcrgen build` reads them.")
    source_split: str | None = option(None, "One split of the source.", shown="all of them", panel=PANEL_SOURCE)
    image_column: str = option("image", "Column or nested path of the image.", panel=PANEL_SOURCE)
    caption_column: str = option("caption", "Column or nested path of the caption.", panel=PANEL_SOURCE)
    id_column: str | None = option(None, "Column or nested path of the pair's own id.", panel=PANEL_SOURCE)
    where: tuple[str, ...] = option(
        (), "PATH=VALUE; only rows that match all are used. Repeatable.", panel=PANEL_SOURCE
    )
    limit: int | None = option(None, "Use the first N matching pairs.", ge=1, panel=PANEL_SOURCE)

    @field_validator("where")
    @classmethod
    def _conditions_have_values(cls, conditions: tuple[str, ...]) -> tuple[str, ...]:
        for condition in conditions:
            if "=" not in condition.strip("="):
                raise ValueError(f"{condition!r} is not of the form PATH=VALUE")
        return conditions
