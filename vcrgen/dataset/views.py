"""Which image of a question a model is shown: the names of the views, in commands, in files and in tables."""

from enum import StrEnum
from functools import cache
from typing import Self


class View(StrEnum):
    """Which image the model saw. The value is the name in commands and in files of outputs."""

    STACKED = "stacked"
    TEI = "tei"
    STRIP = "strip"

    @property
    def column(self) -> str:
        """The column of a dataset that holds the image; VCR-WIKI and the VCR repository call it the same."""
        return {"stacked": "stacked_image", "tei": "only_it_image", "strip": "only_it_image_small"}[self.value]

    @property
    def label(self) -> str:
        """The name in tables."""
        return {"stacked": "VI+TEI", "tei": "TEI", "strip": "TEI strip"}[self.value]

    @classmethod
    def named(cls, text: str) -> Self | None:
        """The view with this value or column, as ``TEI`` for "only_it_image", whatever the case; None for others."""
        return cls._by_name().get(text.lower())

    @classmethod
    @cache
    def _by_name(cls) -> dict[str, Self]:
        return {name: view for view in cls for name in (view.value, view.column)}


# What commands call the views that they are to show.
VIEWS = {"stacked": (View.STACKED,), "tei": (View.TEI,), "both": (View.STACKED, View.TEI)}
