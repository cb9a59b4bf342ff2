"""Rows for programs that train: TRL, verl, ms-swift, LLaMA-Factory and Axolotl, checked with the versions in the docs.

Facts that decide the forms:

- TRL hands pixels to a model only from a column ``image`` or ``images``, and takes the loss of ``completion`` alone.
- verl wants contents that are texts, with one ``<image>`` for each picture; ``path`` of ``images`` may not be of the
  type null, as it is inferred of a column without a value. ``ground_truth`` is JSON, which stays whole in batches.
- ms-swift and LLaMA-Factory read the same lines of JSON; a path is looked for from the folder in which they run.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from vcrgen.core.media import media_type
from vcrgen.data.export.base import ExportJob, ExportRow, Part, readme, template
from vcrgen.data.schema import IMAGE, INT, STRING, DatasetKind
from vcrgen.data.views import View

_COLUMNS = ("question_id", "question", "crossed_text", View.STACKED.column)
_MESSAGES = [{"role": STRING, "content": STRING}]
_FOLDER_FILES = 1000  # pictures in a folder
_TRL = DatasetKind(
    features={
        "prompt": _MESSAGES,
        "completion": _MESSAGES,
        "image": IMAGE,
        "answers": [STRING],
        "question_id": STRING,
    },
    descriptions={},
    identifier="question_id",
    answers="answers",
)
_VERL = DatasetKind(
    features={
        "data_source": STRING,
        "prompt": _MESSAGES,
        "images": [IMAGE],
        "ability": STRING,
        "reward_model": {"style": STRING, "ground_truth": STRING},
        "extra_info": {"index": INT, "split": STRING, "question_id": STRING, "mode": STRING, "lang": STRING},
    },
    descriptions={},
    identifier="data_source",
    answers="reward_model",
)

Row = dict[str, Any]


def write_trl(job: ExportJob, folder: Path) -> str:
    """Parquet with prompt, completion and image, for SFT and GRPO."""

    def rows(part: Part) -> Iterator[Row]:
        for row in job.rows(part, columns=_COLUMNS):
            yield {
                "prompt": [_said("user", row.text("question"))],
                "completion": [_said("assistant", _answer(row))],
                "image": {"bytes": row.image(View.STACKED.column), "path": None},
                "answers": row.answers,
                "question_id": row.text("question_id"),
            }

    return _write_parquet(job, folder, _TRL, rows, "trl.md")


def write_verl(job: ExportJob, folder: Path) -> str:
    """Parquet with the columns of verl's `RLHFDataset`."""

    def rows(part: Part) -> Iterator[Row]:
        for row in job.rows(part, columns=_COLUMNS):
            about = {"question_id": row.text("question_id"), "mode": part.mode, "lang": job.language.code}
            yield {
                "data_source": "vcrgen",
                "prompt": [_said("user", f"<image>{row.text('question')}")],
                "images": [{"bytes": row.image(View.STACKED.column), "path": None}],
                "ability": "vcr",
                "reward_model": {"style": "rule", "ground_truth": json.dumps(row.answers, ensure_ascii=False)},
                "extra_info": {"index": row.number, "split": part.split, **about},
            }

    return _write_parquet(job, folder, _VERL, rows, "verl.md")


def write_swift(job: ExportJob, folder: Path) -> str:
    """Lines of JSON with ``<image>`` and paths, and the reward of their answers as a plugin."""
    _write_lines(job, folder, _tagged)
    plugin = template("swift_reward.txt", lang=job.language.code)
    (folder / "reward.py").write_text(plugin, encoding="utf-8")
    return readme(job, template("swift.md", file=f"{_example(job)}.jsonl"))


def write_llamafactory(job: ExportJob, folder: Path) -> str:
    """The lines of ms-swift, and the ``dataset_info.json`` that names them."""
    _write_lines(job, folder, _tagged)
    roles = {f"{role}_tag": role for role in ("user", "assistant", "system")}
    form = {
        "formatting": "sharegpt",
        "columns": {"messages": "messages", "images": "images"},
        "tags": {"role_tag": "role", "content_tag": "content", **roles},
    }
    files = {f"vcr-{part}": {"file_name": f"{part}.jsonl", **form} for part in job.parts}
    (folder / "dataset_info.json").write_text(json.dumps(files, indent=2) + "\n", encoding="utf-8")
    return readme(job, template("llamafactory.md", dataset=f"vcr-{_example(job)}"))


def write_axolotl(job: ExportJob, folder: Path) -> str:
    """Lines of JSON whose messages have parts."""

    def line(row: ExportRow, path: str) -> Row:
        asked = [{"type": "image", "path": path}, {"type": "text", "text": row.text("question")}]
        answer = [{"type": "text", "text": _answer(row)}]
        return {"messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]}

    _write_lines(job, folder, line)
    return readme(job, template("axolotl.md", file=f"{_example(job)}.jsonl"))


def _example(job: ExportJob) -> Part:
    """The part that a README shows: one for training where there is one."""
    return next((part for part in job.parts if part.split == "train"), job.parts[0])


def _tagged(row: ExportRow, path: str) -> Row:
    said = [_said("user", f"<image>{row.text('question')}"), _said("assistant", _answer(row))]
    return {"messages": said, "images": [path], "answers": row.answers}


def _said(role: str, content: str) -> Row:
    return {"role": role, "content": content}


def _answer(row: ExportRow) -> str:
    """The masked texts in reading order, one a line."""
    return "\n".join(row.answers)


def _write_parquet(
    job: ExportJob, folder: Path, kind: DatasetKind, rows: Callable[[Part], Iterator[Row]], text: str
) -> str:
    for part in job.parts:
        kind.write(folder / f"{part}.parquet", rows(part))
    example = _example(job)
    held_out = (part for part in job.parts if part.split != example.split and part.mode == example.mode)
    names = {"file": f"{example}.parquet", "validation": f"{next(held_out, example)}.parquet"}
    return readme(job, template(text, **names, lang=job.language.code))


def _write_lines(job: ExportJob, folder: Path, line: Callable[[ExportRow, str], Row]) -> None:
    """Write a file of lines for each part, and its pictures, numbered, as ids may be anything."""
    for part in job.parts:
        with (folder / f"{part}.jsonl").open("x", encoding="utf-8", newline="") as file:
            for row in job.rows(part, columns=_COLUMNS):
                data = row.image(View.STACKED.column)
                ending = str(media_type(data)).rpartition("/")[2]
                path = f"images/{part}/{row.number // _FOLDER_FILES:06d}/{row.number:09d}.{ending}"
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
                file.write(json.dumps(line(row, path), ensure_ascii=False) + "\n")
