"""Opening a dataset of whichever task: its manifest says which one it is."""

from pathlib import Path

from vcrgen.dataset.reader import Dataset, open_dataset
from vcrgen.errors import VcrgenError
from vcrgen.storage import Folder
from vcrgen.tasks import bloom
from vcrgen.tasks.vcr import VCR


def open_any(place: str | Path | Folder) -> Dataset:
    """A dataset of Visual Caption Restoration or a question set; ``dataset.kind.task`` tells them apart.

    Raises:
        DatasetError: There is no dataset, it is of a task that is not known, or what lists its files is damaged.
    """
    return open_dataset(place, VCR, others={bloom.TASK: bloom.question_kind})


def is_question_set(place: str | Path) -> bool:
    """Whether there is a question set in a place; False for whatever cannot be opened as a dataset."""
    try:
        return open_any(place).kind.task == bloom.TASK
    except (VcrgenError, OSError, ValueError):
        return False
