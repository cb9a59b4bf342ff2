"""Options of commands that read image-caption pairs."""

from pathlib import Path

from pydantic import field_validator

from vcrgen.core.options import PANEL_SOURCE, Options, column, option


class SourceOptions(Options):
    """A source of pairs, and its columns."""

    source: str = option("", "Pairs, as `vcrgen build` reads them.")
    source_split: str | None = option(None, "One split of the source.", shown="all of them", panel=PANEL_SOURCE)
    image_root: Path | None = option(
        None,
        "Folder in which paths of pictures begin.",
        shown="that of the file that names them",
        legacy=None,
        panel=PANEL_SOURCE,
    )
    image_column: str = column("image", "image", "the picture")
    caption_column: str = column("caption", "caption", "its text")
    id_column: str | None = column("id", None, "the pair's own")
    where: tuple[str, ...] = option(
        (), "PATH=VALUE; only rows that match all are used. Repeatable.", panel=PANEL_SOURCE
    )
    limit: int | None = option(None, "Use the first N matching rows.", ge=1, panel=PANEL_SOURCE)

    @field_validator("where")
    @classmethod
    def _conditions_have_values(cls, conditions: tuple[str, ...]) -> tuple[str, ...]:
        for condition in conditions:
            if "=" not in condition.strip("="):
                raise ValueError(f"{condition!r} is not of the form PATH=VALUE")
        return conditions
