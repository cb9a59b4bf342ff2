"""Recognise the format of a file of outputs by its first bytes; of its name, only `.pkl` counts."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from vcrgen.core.errors import PredictionError
from vcrgen.core.reading import MAX_JSON_BYTES, MAX_JSON_VALUES, iter_lines, parse_json, read_json
from vcrgen.data.views import View
from vcrgen.scorer.predictions.inspect_log import read_inspect_log
from vcrgen.scorer.predictions.jsonfiles import (
    REPOSITORY_KEYS,
    is_canonical,
    maps_ids_to_outputs,
    read_lmms_eval_json,
    read_vcr_repository,
    read_vcrgen_json,
    read_vlmevalkit_json,
)
from vcrgen.scorer.predictions.jsonlines import read_canonical, read_lmms_eval
from vcrgen.scorer.predictions.names import TaskName, read_lmms_eval_name, read_vlmevalkit_name
from vcrgen.scorer.predictions.tables import NEEDED_COLUMNS, has_outputs, read_table
from vcrgen.scorer.predictions.xlsx import read_xlsx
from vcrgen.scorer.records import Prediction


@dataclass(frozen=True, slots=True)
class _Format:
    """The reader of a format."""

    read: Callable[[Path], Iterator[Prediction]]  # gives the outputs of a file
    read_name: Callable[[Path], TaskName] = lambda _: TaskName()  # tells what the file's name says of them all
    failures: tuple[str, ...] = ()  # how an output begins that the tool wrote because its calls to the model failed
    view: View | None = None  # the view of outputs of which nothing says another; None where it cannot be known


_LMMS_EVAL = (read_lmms_eval_name, ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED]"))
_VLMEVALKIT = (read_vlmevalkit_name, ("Failed to obtain answer via API",))
FORMATS = {
    "vcrgen-jsonl": _Format(read_canonical, view=View.STACKED),  # as docs/scoring.md says
    "vcrgen-json": _Format(read_vcrgen_json, view=View.STACKED),
    "lmms-eval-jsonl": _Format(read_lmms_eval, *_LMMS_EVAL),
    "lmms-eval-json": _Format(read_lmms_eval_json, *_LMMS_EVAL),
    "vcr-repository-json": _Format(read_vcr_repository),
    "vlmevalkit-json": _Format(read_vlmevalkit_json, *_VLMEVALKIT),
    "vlmevalkit-csv": _Format(partial(read_table, delimiter=","), *_VLMEVALKIT),
    "vlmevalkit-semicolons": _Format(partial(read_table, delimiter=";"), *_VLMEVALKIT),
    "vlmevalkit-tsv": _Format(partial(read_table, delimiter="\t"), *_VLMEVALKIT),
    "vlmevalkit-xlsx": _Format(read_xlsx, *_VLMEVALKIT),
    "inspect-eval": _Format(read_inspect_log),
}
_KNOWN_FORMATS = (
    "known are JSON Lines with question_id and output, an array of such objects, an object from ids to outputs, the "
    "VCR repository's JSON, tables with such columns or VLMEvalKit's, lmms-eval's sample logs, and logs of Inspect AI."
)
SUFFIXES = (".gz", ".zst")  # of compressed files, before which the suffix of the content stands
_REFUSED_STARTS = {
    b"PAR1": "a Parquet file",
    b"\x1f\x8b": "compressed with gzip; unpack it first",  # where files of strangers are read; see `received.py`
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first",
    b"BZh": "compressed with bzip2; unpack it first",
    b"\xd0\xcf\x11\xe0": "an Excel table of the old kind (.xls); save it as .xlsx or CSV",
}


@dataclass(frozen=True, slots=True)
class PredictionFile:
    """A file of outputs; iterating reads it anew each time, as a stream."""

    path: Path  # as the user names it
    format: str
    task: TaskName  # what its name says of all outputs; outputs that say nothing else have it
    copy: Path | None = None  # where its content stands if it is no plain file
    folder: Any = field(default=None, repr=False, compare=False)  # of the copy, which goes away with it

    def __iter__(self) -> Iterator[Prediction]:
        form = FORMATS[self.format]
        with self._own_name() as file:
            for prediction in form.read(file):
                if form.failures and (prediction.output or "").lstrip().startswith(form.failures):
                    prediction = prediction._replace(flaws=(*prediction.flaws, "failed"))
                yield self._with_task(prediction) if self.task.mode else prediction

    @contextmanager
    def _own_name(self) -> Iterator[Path]:
        """The place of the content; errors name the user's file instead."""
        file = self.copy or self.path
        try:
            yield file
        except PredictionError as problem:
            raise PredictionError(str(problem).replace(str(file), str(self.path))) from None

    @property
    def stem(self) -> str:
        """The last part of the path without its suffix."""
        return (self.path.with_suffix("") if self.path.suffix in SUFFIXES else self.path).stem

    @property
    def view(self) -> View | None:
        """The view of outputs of which nothing says another; None where it has to be asked for."""
        return FORMATS[self.format].view

    def _with_task(self, prediction: Prediction) -> Prediction:
        view, mode = prediction.view or self.task.view, prediction.mode or self.task.mode
        if view != self.task.view or mode != self.task.mode:
            raise PredictionError(
                f"{self.path}, {prediction.place}: its output is of {view} and {mode}, and the file's name says "
                f"{self.task.view} and {self.task.mode}; mend the one that is wrong."
            )
        return prediction._replace(view=view, mode=mode)


def open_predictions(file: Path, *, name: str | None = None) -> PredictionFile:
    """Recognise a file of outputs by its content; ``name`` is what it was called if that is not its name now."""
    try:
        with file.open("rb") as handle:
            start = handle.read(8)
    except OSError as problem:
        raise PredictionError(f"{file} cannot be read: {problem.strerror or problem}.") from None
    if file.suffix.lower() in {".pkl", ".pickle"} or (start[:1] == b"\x80" and start[1:2] in b"\x02\x03\x04\x05"):
        raise PredictionError(
            f"{file} is a pickle: reading one runs whatever program is in it. Save the table as xlsx, csv or json."
        )
    for magic, kind in _REFUSED_STARTS.items():
        if start.startswith(magic):
            raise PredictionError(f"{file} is {kind}, not a file of outputs.")
    if utf16_of(start[:4]):  # see `received.py`
        raise PredictionError(f"{file} is UTF-16 text; save it as UTF-8.")
    if start.startswith(b"PK\x03\x04"):
        form = "inspect-eval" if file.suffix == ".eval" else "vlmevalkit-xlsx"
    else:
        form = _text_format(file)
    return PredictionFile(file, form, FORMATS[form].read_name(Path(name) if name is not None else file))


def utf16_of(start: bytes) -> str | None:
    """The byte order of UTF-16 in which four bytes begin a text, by its mark or by an ASCII character; else None.

    PowerShell and Excel write UTF-16. Four bytes of UTF-32 would have two zeros together.
    """
    if len(start) < 4 or b"\0\0" in start:
        return None
    if start.startswith(BOM_UTF16_LE) or start[1] == 0:
        return "utf-16-le"
    return "utf-16-be" if start.startswith(BOM_UTF16_BE) or start[0] == 0 else None


def _text_format(file: Path) -> str:
    lines = iter_lines(file, PredictionError)
    _, line = next(lines, (0, ""))
    if not line:
        raise PredictionError(f"{file} is empty.")
    if line[0] not in "{[":
        return _table_format(file, line)
    try:
        value = parse_json(line, f"{file}, line 1", PredictionError, most=MAX_JSON_VALUES)
    except PredictionError:
        # A damaged first line of many, or one value over many lines? That begins an array, or ends within one.
        if line[0] == "{" and line[-1] not in "{[," and len(line) > 80:
            raise
        return _json_format(file, read_json(file, PredictionError))
    if isinstance(value, dict) and "doc_id" in value and "question_id" not in value:
        return "lmms-eval-jsonl"
    if isinstance(value, dict) and ("question_id" in value or "output" in value):
        return "vcrgen-jsonl"
    if file.stat().st_size <= MAX_JSON_BYTES and next(lines, None) is None:
        return _json_format(file, value)
    keys = f" among its keys {', '.join(sorted(value))[:200]}" if isinstance(value, dict) else ""
    raise PredictionError(f"{file}, line 1: no `question_id` and no `output`{keys}; {_KNOWN_FORMATS}")


def _json_format(file: Path, value: Any) -> str:
    """The format of a file that is one JSON value."""
    if isinstance(value, dict):
        if {"schema", "scores"} <= set(value):
            raise PredictionError(f"{file} holds saved scores, not outputs; `vcrgen compare` takes it.")
        if isinstance(value.get("logs"), list):
            return "lmms-eval-json"
        if {"index", "prediction"} <= set(value):
            return "vlmevalkit-json"
        first = next(iter(value.values()), None)
        if isinstance(first, dict) and REPOSITORY_KEYS.keys() & first.keys():
            return "vcr-repository-json"
        if is_canonical(value) or maps_ids_to_outputs(value):
            return "vcrgen-json"
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        if {"index", "prediction"} <= set(value[0]):
            return "vlmevalkit-json"
        if "doc_id" in value[0] and "question_id" not in value[0]:
            return "lmms-eval-json"
        if is_canonical(value[0]):
            return "vcrgen-json"
    raise PredictionError(f"{file} is JSON, but of no known form; {_KNOWN_FORMATS}")


def _table_format(file: Path, header: str) -> str:
    for delimiter, name in (("\t", "vlmevalkit-tsv"), (",", "vlmevalkit-csv"), (";", "vlmevalkit-semicolons")):
        if has_outputs({cell.strip().strip('"') for cell in header.split(delimiter)}):
            return name
    if any(delimiter in header for delimiter in ",;\t"):
        raise PredictionError(f"{file}: a table needs {NEEDED_COLUMNS}; its first line is {header[:100]!r}.")
    raise PredictionError(f"{file}, line 1: not JSON and not a table; {_KNOWN_FORMATS}")
