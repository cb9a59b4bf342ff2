"""What ``vcrgen baseline`` does, without a terminal but for the progress: a dataset in, a file of outputs out."""

from __future__ import annotations

import shlex
from pathlib import Path

from rich.console import Console

from vcrgen.cli.progress_build import ConsoleWatcher
from vcrgen.dataset.key import is_key
from vcrgen.dataset.pictures import Choice, Pictures, open_pictures
from vcrgen.dataset.reader import open_dataset
from vcrgen.dataset.views import View
from vcrgen.errors import ConfigError
from vcrgen.models.ocr import OcrModel
from vcrgen.predict.run import PredictResult, run_baseline
from vcrgen.scorer.answers import SUBSETS
from vcrgen.storage import remote_url
from vcrgen.tasks.vcr import VCR

VIEWS = {"stacked": (View.STACKED,), "tei": (View.TEI,), "both": (View.STACKED, View.TEI)}


def ocr_command(
    dataset: Path, *, out: Path | None, view: str, mode: str | None, split: str | None, limit: int | None, workers: int
) -> str:
    """Read a dataset's pictures with OCR.

    Returns:
        What to tell the user: how many outputs, where they are, and how to score them.

    Raises:
        VcrgenError: The user can mend it.
    """
    if view not in VIEWS:
        raise ConfigError(f"Unknown view {view!r}; known: {', '.join(VIEWS)}.")
    choice = Choice(views=VIEWS[view], mode=mode, split=split, limit=limit)
    pictures = open_pictures(open_dataset(dataset, VCR), choice)
    target = out or default_out(dataset)
    with ConsoleWatcher(Console(stderr=True), doing="reading", unit="pictures", kept="read") as watcher:
        result = run_baseline(pictures, choice, out=target, make_model=OcrModel, workers=workers, watcher=watcher)
    return _told(result, _score_command(result.path, pictures, choice))


def default_out(dataset: Path) -> Path:
    """Where outputs go if nobody says: beside the dataset, or here if it is in an object store."""
    if remote_url(dataset.as_posix()):
        return Path(f"{dataset.name}-ocr.jsonl")
    folder = dataset if dataset.name not in ("", "..") else dataset.resolve()
    return folder.with_name(f"{folder.name}-ocr.jsonl")


def _score_command(file: Path, pictures: Pictures, choice: Choice) -> str:
    """The command that scores a file of outputs; of a hidden test set, the key may be where only its owner looks."""
    data, splits = str(pictures.dataset), pictures.dataset.splits
    if pictures.dataset.is_hidden:
        folder = pictures.dataset.folder.disk
        data = str(Path(data).parent / "key") if folder and is_key(folder.parent / "key") else "KEY"
    words = ["vcrgen", "score", str(file), "--data", data]
    if choice.split or len(splits) > 1:
        words += ["--split", choice.split or "all"]
    words += [word for name, size in SUBSETS.items() if size == choice.limit for word in ("--subset", name)]
    return shlex.join(words)


def _told(result: PredictResult, score: str) -> str:
    told = f"{result.path}: {result.outputs:,} outputs of {result.model}; next: {score}"
    if not result.aside:
        return told
    counts = ", ".join(f"{reason} {count:,}" for reason, count in result.aside.most_common())
    return f"Set aside: {counts}; the first: {result.example}\n{told}"
