"""lmms-eval: a folder for ``--include_path`` with Parquet files and three tasks a part.

Facts about lmms-eval (checked with 0.7.3) that decide the tasks here:

- ``dataset_path: parquet`` with ``data_files`` reads local files; a relative one is looked for beside the YAML.
- A column's name is a valid ``doc_to_visual``, ``doc_to_text`` and ``doc_to_target``, so a task needs no Python, and
  the metric ``bypass`` (with ``--log_samples``) only keeps the outputs.
- Its published ``vcr_wiki_*`` tasks read ``stacked_image``, ``crossed_text``, ``caption`` and ``question_id``, generate
  at most 120 tokens, greedily, and use one scoring function for each of en and zh. ``!function`` takes its full name.
- These functions need ``load_package: True`` in the installed ``vcr_wiki/_default_template_vcr_yaml``; as shipped it
  is ``False`` and they fail, for there is no tokenizer.
"""

from pathlib import Path

from vcrgen.core.errors import ConfigError
from vcrgen.data.export.base import ExportJob, ExportRow, Part, readme, template
from vcrgen.data.schema import STRING
from vcrgen.data.tasks.vcr import VCR
from vcrgen.data.views import View

COLUMNS = (
    "question_id",
    *("image", "caption", "stacked_image", "only_it_image", "only_it_image_small", "crossed_text"),
    *("question", "language", "mode"),
)
"""VCR-WIKI's columns, and those of a task without Python."""
PUBLISHED = frozenset({"en", "zh"})
"""Languages of the published scoring functions."""


def task_name(job: ExportJob, part: Part) -> str:
    """Name of the VI+TEI task of a part."""
    return f"vcr_{job.language.code}_{part.mode}_{part.split}"


def write_lmms_eval(job: ExportJob, folder: Path) -> str:
    """Write the files; see the module."""
    if odd := next((part.split for part in job.parts if part.split.endswith("_tei")), None):
        raise ConfigError(
            f"The split {odd!r} ends as the names of TEI tasks do, and would be taken for one; rename it."
        )
    (folder / "data").mkdir()
    for part in job.parts:
        rows = map(_values, job.rows(part, columns=COLUMNS))
        VCR.write(folder / "data" / f"{part}.parquet", rows, *COLUMNS)
        _write_tasks(job, part, folder)
    published = [template("lmms_eval_published.md")] if job.language.code in PUBLISHED else []
    return readme(job, template("lmms_eval.md", task=task_name(job, job.example)), *published)


def _write_tasks(job: ExportJob, part: Part, folder: Path) -> None:
    task = task_name(job, part)
    images = ((task, View.STACKED, "VI+TEI"), (f"{task}_tei", View.TEI, "TEI only"))
    texts = {
        name: template("lmms_eval_task.yaml", task=name, part=part, column=view.column, image=image)
        for name, view, image in images
    }
    if job.language.code in PUBLISHED:
        published = f"{task}_published"
        texts[published] = template("lmms_eval_published.yaml", included=task, task=published, lang=job.language.code)
    for name, text in texts.items():
        with (folder / f"{name}.yaml").open("x", encoding="utf-8", newline="") as file:
            file.write(text)


def _values(row: ExportRow) -> dict[str, object]:
    texts: dict[str, object] = {name: row.text(name) for name in COLUMNS if VCR.features[name] == STRING}
    images = {name: {"bytes": row.image(name), "path": None} for name in VCR.images}
    return texts | images | {"crossed_text": row.answers}
