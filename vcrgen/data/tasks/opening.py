"""Opening datasets of any task, as their manifests tell."""

from pathlib import Path

from vcrgen.core.errors import VcrgenError
from vcrgen.core.storage import Folder
from vcrgen.data.reader import Dataset, open_dataset
from vcrgen.data.tasks import bloom
from vcrgen.data.tasks.vcr import VCR


def open_task_dataset(place: str | Path | Folder) -> Dataset:
    """Open a dataset of Visual Caption Restoration or an MCQ benchmark; ``dataset.kind.task`` tells which.

    Raises:
        DatasetError: There is no dataset, it is of an unknown task, or its file list is damaged.
    """
    return open_dataset(place, VCR, others={bloom.TASK: bloom.question_kind})


def is_mcq_dataset(place: str | Path) -> bool:
    """Return True for an MCQ benchmark; False for everything that is no dataset."""
    try:
        return open_task_dataset(place).kind.task == bloom.TASK
    except (VcrgenError, OSError, ValueError):
        return False
