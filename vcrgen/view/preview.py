"""One self-contained HTML page that shows examples of datasets, for a browser that is offline."""

from collections.abc import Sequence
from pathlib import Path

from vcrgen.core.errors import ConfigError, OutputError
from vcrgen.core.files import output_errors, write_text
from vcrgen.core.plurals import pluralize
from vcrgen.data.tasks.bloom import TASK
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.view.preview_mcq import mcq_page
from vcrgen.view.preview_vcr import vcr_page


def write_preview(datasets: Sequence[Path], out: Path, *, limit: int = 48, mode: str | None = None) -> str:
    """Write a page that shows examples of datasets of one task.

    Args:
        datasets: Datasets of any kind that `open_task_dataset` opens.
        out: A new HTML file.
        limit: Maximal number of examples of each dataset; they are spread evenly over it.
        mode: The mode of files that do not state theirs, for datasets that vcrgen did not build.

    Returns:
        The number of examples on the page, as ``"48 pairs"``. An example whose image no browser shows, or whose
        geometry does not fit it, is left out; the page gives their number.

    Raises:
        VcrgenError: ``limit`` is not positive, ``out`` cannot be written, the datasets are of two tasks, or one is
            damaged.
    """
    if limit < 1:
        raise ConfigError(f"The limit of the preview is {limit}; it has to be 1 or more.")
    if out.exists():
        raise OutputError(f"{out} exists; choose another file, or remove that one.")
    opened = [open_task_dataset(dataset) for dataset in datasets]
    of_questions = {data.kind.task == TASK for data in opened}
    if len(of_questions) > 1:
        raise ConfigError("A page shows MCQ benchmarks or VCR datasets, not both; write one page of each.")
    if True not in of_questions:
        page, count = vcr_page(opened, limit, mode)
    elif mode is None:
        page, count = mcq_page(opened, limit)
    else:
        raise ConfigError(f"{opened[0]} is an MCQ benchmark, which has no modes; leave --mode out.")
    with output_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        write_text(out, page)
    return pluralize(count, "item" if True in of_questions else "pair")
