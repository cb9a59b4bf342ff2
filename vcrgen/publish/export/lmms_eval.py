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

import itertools
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from vcrgen.dataset.schema import STRING
from vcrgen.dataset.views import View
from vcrgen.errors import ConfigError
from vcrgen.publish.export.base import ExportJob, ExportRow, Part, readme
from vcrgen.tasks.vcr import VCR

COLUMNS = (
    "question_id",
    *("image", "caption", "stacked_image", "only_it_image", "only_it_image_small", "crossed_text"),
    *("question", "language", "mode"),
)
"""VCR-WIKI's, and what makes a task of them without Python."""
PUBLISHED = frozenset({"en", "zh"})
"""Languages that the published scoring functions know."""
GROUP_ROWS = 64

_TASK = """\
# VCR, {image}: outputs only, to be scored with `vcrgen score`.
task: {task}
dataset_path: parquet
dataset_kwargs:
  data_files:
    "{split}": data/{part}.parquet
test_split: "{split}"
output_type: generate_until
doc_to_visual: {column}
doc_to_text: question
doc_to_target: crossed_text
generation_kwargs:
  max_new_tokens: 120
  temperature: 0
  top_p: 0
  num_beams: 1
  do_sample: false
metric_list:
  - metric: bypass
    aggregation: bypass
    higher_is_better: true
metadata:
  version: 1.0
"""
_PUBLISHED = """\
# The same, scored by the functions of lmms-eval's `vcr_wiki_*` tasks.
include: {included}.yaml
task: {task}
process_results: !function lmms_eval.tasks.vcr_wiki.utils.vcr_{lang}_process_results
metric_list:
  - metric: jaccard
    aggregation: !function lmms_eval.tasks.vcr_wiki.utils.vcr_aggregate_jaccard
    higher_is_better: true
  - metric: exact_match
    aggregation: !function lmms_eval.tasks.vcr_wiki.utils.vcr_aggregate_exact_match
    higher_is_better: true
"""


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
        schema, rows = VCR.schema(*COLUMNS), map(_values, job.rows(part, columns=COLUMNS))
        with pq.ParquetWriter(folder / "data" / f"{part}.parquet", schema, **VCR.parquet_options()) as writer:
            while group := list(itertools.islice(rows, GROUP_ROWS)):
                writer.write_table(pa.Table.from_pylist(group, schema))
        _write_tasks(job, part, folder)
    task = task_name(job, job.example)
    sections = [
        "In this folder: one Parquet file a mode and split in `data/`, and the tasks that read them. `TASK` shows a "
        "model VI+TEI, `TASK_tei` TEI only; both keep the outputs, for `vcrgen score` to read.",
        f"```sh\npython -m lmms_eval --model MODEL --include_path THIS_FOLDER --tasks {task},{task}_tei \\\n"
        "  --log_samples --output_path OUT\n```",
        "The task in a log's name (`DATE_samples_TASK.jsonl`) tells `vcrgen score` mode and view; a log with another "
        "name needs `--view` and `--mode`. The logs of both tasks together give VI+TEI minus TEI.",
        "Versions of lmms-eval that do not look for `data_files` beside the YAML have to be started in this folder.",
    ]
    if job.language.code in PUBLISHED:
        sections.append(
            "`TASK_published` also scores with lmms-eval's own functions. They need spaCy's `en_core_web_sm` and "
            "`zh_core_web_sm`, and `load_package: True` in the installed "
            "`lmms_eval/tasks/vcr_wiki/_default_template_vcr_yaml` (as shipped, `False`: they fail)."
        )
    return readme(job, "VCR data for lmms-eval", *sections)


def _write_tasks(job: ExportJob, part: Part, folder: Path) -> None:
    task = task_name(job, part)
    texts = {
        f"{task}{ending}": _TASK.format(task=f"{task}{ending}", split=part.split, part=part, column=column, image=image)
        for ending, column, image in (("", View.STACKED.column, "VI+TEI"), ("_tei", View.TEI.column, "TEI only"))
    }
    if job.language.code in PUBLISHED:
        published = f"{task}_published"
        texts[published] = _PUBLISHED.format(included=task, task=published, lang=job.language.code)
    for name, text in texts.items():
        with (folder / f"{name}.yaml").open("x", encoding="utf-8", newline="") as file:
            file.write(text)


def _values(row: ExportRow) -> dict[str, object]:
    texts: dict[str, object] = {name: row.text(name) for name in COLUMNS if VCR.features[name] == STRING}
    images = {name: {"bytes": row.picture(name).data, "path": None} for name in VCR.images}
    return texts | images | {"crossed_text": row.answers}
