"""The gate of made sets: none is written whose keys can be read without pictures; the figures stand on the card."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vcrgen.core.errors import ShortcutError
from vcrgen.data.tasks.bloom import ChoiceItem
from vcrgen.data.tasks.text_reader import MARGIN, MIN_ITEMS, READER, ReaderFigure, read_without_pictures
from vcrgen.report.escape import escape_markdown

_SHOWN = 3  # shortcuts in a message
_HEAD = "| language | items | right, % | chance, % |\n| --- | --- | --- | --- |\n"
_ABOUT = """
## Read without pictures

An {reader} that sees no picture answered the items; it learned from {elsewhere}. A set in which it is above
chance by more than {margin:g} points, and by more than luck, is not written without `--allow-shortcuts`.

{table}
Most in one category: {most}. {verdict}
"""
_NOT_TESTED = f"""
## Read without pictures

Not tested: no language has {MIN_ITEMS} items, from which the {READER} of texts can learn.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortcutGate:
    """The conditions on which a set is written.

    Attributes:
        allowed: Write it in spite of shortcuts.
        training: Items of the same generator and other seeds, from the number of items of the set; None where a
            generator has no others, so that the set's own pictures serve for cross-validation.
    """

    allowed: bool = False
    training: Callable[[int], Sequence[ChoiceItem]] | None = None

    def section(self, items: Sequence[ChoiceItem]) -> str:
        """Read the items without their pictures, and return the section of the card.

        Raises:
            ShortcutError: The reader is above chance, and that is not allowed.
        """
        training = self.training(len(items)) if self.training and len(items) >= MIN_ITEMS else None
        figures = read_without_pictures(items, training=training)
        if not self.allowed:
            check_shortcuts(figures)
        return _section(figures, learns_elsewhere=training is not None)


def check_shortcuts(figures: Sequence[ReaderFigure]) -> None:
    """Refuse a set with shortcuts.

    Raises:
        ShortcutError: The reader is above chance by more than the margin and by more than luck.
    """
    shortcuts = sorted(
        (figure for figure in figures if figure.is_shortcut), key=lambda figure: figure.chance - figure.right
    )
    if shortcuts:
        listed = "; ".join(map(_figure_sentence, shortcuts[:_SHOWN]))
        raise ShortcutError(
            f"The items can be answered without their pictures, by an {READER}: {listed}. Mend what gives "
            "the keys away, or write the set as it is with --allow-shortcuts."
        )


def _figure_sentence(figure: ReaderFigure) -> str:
    place = f"{figure.items:,} items{f' of {figure.category}' if figure.category else ''} in {figure.lang}"
    return f"right in {100 * figure.right:.1f} % of {place} (chance {100 * figure.chance:.1f} %)"


def _section(figures: Sequence[ReaderFigure], *, learns_elsewhere: bool) -> str:
    whole = [figure for figure in figures if not figure.category]
    if not whole:
        return _NOT_TESTED
    rows = "".join(
        f"| {figure.lang} | {figure.items:,} | {100 * figure.right:.1f} | {100 * figure.chance:.1f} |\n"
        for figure in whole
    )
    of_categories = [figure for figure in figures if figure.category]
    most = max(of_categories, key=lambda figure: figure.right - figure.chance, default=None)
    shortcuts = [figure for figure in figures if figure.is_shortcut]
    verdict = f"**Shortcuts: {escape_markdown('; '.join(map(_figure_sentence, shortcuts)))}.**" if shortcuts else ""
    return _ABOUT.format(
        reader=READER,
        elsewhere="items of other seeds" if learns_elsewhere else "the other pictures of the set",
        margin=100 * MARGIN,
        table=_HEAD + rows,
        most=escape_markdown(_figure_sentence(most)) if most else "no category has items enough",
        verdict=verdict or "None is a shortcut.",
    )
