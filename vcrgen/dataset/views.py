"""What of a question a model is shown: the names of the views, in commands, in files and in tables."""

from enum import StrEnum


class View(StrEnum):
    """What the model saw. The value is the name in commands and in files of outputs."""

    STACKED = "stacked"
    TEI = "tei"
    STRIP = "strip"
    TEXT = "text"  # no image, but the words around the gaps: what can be guessed
    IMAGE = "image"  # of question sets: the picture
    BLIND = "blind"  # of question sets: the same question without its picture

    @property
    def column(self) -> str:
        """The column of a dataset that holds the image; VCR-WIKI and the VCR repository call it the same.

        Raises:
            KeyError: The view shows no image.
        """
        return _COLUMNS[self]

    @property
    def label(self) -> str:
        """The name in tables."""
        return _LABELS[self]

    @staticmethod
    def named(text: str) -> "View | None":
        """The view with this value or column, as ``TEI`` for "only_it_image", whatever the case; None for others."""
        return _NAMES.get(text.lower())


_LABELS = {
    View.STACKED: "VI+TEI", View.TEI: "TEI", View.STRIP: "TEI strip", View.TEXT: "Text only", View.IMAGE: "Image",
    View.BLIND: "Blind",
}  # fmt: skip
_COLUMNS = {View.STACKED: "stacked_image", View.TEI: "only_it_image", View.STRIP: "only_it_image_small"}
_NAMES = {view.value: view for view in View} | {column: view for view, column in _COLUMNS.items()}
# The views of the first task that show an image.
IMAGE_VIEWS = tuple(_COLUMNS)
# What commands call the views that they are to show.
VIEWS = {
    "stacked": (View.STACKED,),
    "tei": (View.TEI,),
    "both": (View.STACKED, View.TEI),
    "text": (View.TEXT,),
}
QUESTION_VIEWS = {"image": (View.IMAGE,), "blind": (View.BLIND,), "both": (View.IMAGE, View.BLIND)}
