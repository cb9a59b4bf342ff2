"""Views: the part of a question that a model is shown, with its name in commands, files and tables."""

from enum import StrEnum


class View(StrEnum):
    """An input condition. The value is its name in commands and in files of outputs."""

    STACKED = "stacked"
    TEI = "tei"
    STRIP = "strip"
    IMAGE = "image"  # of MCQ benchmarks: the image and the question
    TEXT_ONLY = "text-only"  # no image: the caption with gaps, or a multiple-choice question alone

    @property
    def column(self) -> str:
        """Image column, with the name of VCR-WIKI.

        Raises:
            KeyError: The view shows no image.
        """
        return _COLUMNS[self]

    @property
    def label(self) -> str:
        """Name in tables, as VI+TEI for ``stacked``."""
        return _LABELS[self]

    @staticmethod
    def named(text: str) -> "View | None":
        """Find the view with this value or column in any case, as ``TEI`` for "only_it_image"; None for others."""
        return _NAMES.get(text.lower())


_LABELS = {
    View.STACKED: "VI+TEI",
    View.TEI: "TEI",
    View.STRIP: "TEI strip",
    View.IMAGE: "Image",
    View.TEXT_ONLY: "Text only",
}
_COLUMNS = {View.STACKED: "stacked_image", View.TEI: "only_it_image", View.STRIP: "only_it_image_small"}
_NAMES = {view.value: view for view in View} | {column: view for view, column in _COLUMNS.items()}
# The views of Visual Caption Restoration that show an image.
IMAGE_VIEWS = tuple(_COLUMNS)
# The values of `--view`: of Visual Caption Restoration, and of MCQ benchmarks below.
VIEWS = {
    "stacked": (View.STACKED,),
    "tei": (View.TEI,),
    "both": (View.STACKED, View.TEI),
    "text-only": (View.TEXT_ONLY,),
}
QUESTION_VIEWS = {"image": (View.IMAGE,), "text-only": (View.TEXT_ONLY,), "both": (View.IMAGE, View.TEXT_ONLY)}
