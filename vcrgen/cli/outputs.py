"""Shared parts of the commands that ask models: arguments, the default path, the command that scores."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vcrgen.core.options import PANEL_SERVER
from vcrgen.core.storage import remote_url

if TYPE_CHECKING:
    from vcrgen.data.pictures import Pictures, PictureSelection
    from vcrgen.models.connection import Limits
    from vcrgen.models.server_options import ServerOptions

PictureFolder = Annotated[
    Path, typer.Argument(help="A dataset that vcrgen built, or the public part of a hidden test set.")
]

ServerFile = Annotated[
    Path | None,
    typer.Option(
        "--server",
        help="YAML with these options, and profile, rpm, tpm, timeout, price, insecure_key: a line each, as "
        "`rpm: 500`. What is typed beside it counts in place of the file's.",
        rich_help_panel=PANEL_SERVER,
        show_default=False,
    ),
]


def default_out(dataset: Path, what: str) -> Path:
    """Default path of outputs: beside the dataset, or in this folder if it is in an object store."""
    if remote_url(dataset.as_posix()):
        return Path(f"{dataset.name}-{what}.jsonl")
    folder = dataset if dataset.name not in ("", "..") else dataset.resolve()
    return folder.with_name(f"{folder.name}-{what}.jsonl")


def score_command(file: Path, pictures: Pictures, choice: PictureSelection) -> str:
    """Write out the command that scores a file of outputs.

    Of a hidden set that is with its key where the key lies beside it, else by its board.
    """
    from vcrgen.data.key import is_key

    data, splits = str(pictures.dataset), pictures.dataset.splits
    if pictures.dataset.is_hidden:
        folder = pictures.dataset.folder.local_path
        has_key = folder is not None and is_key(folder.parent / "key")
        if not has_key and not choice.limit:  # a board takes complete files only
            return f"vcrgen leaderboard submit BOARD {shlex.quote(str(file))} --set SET --model MODEL"
        data = str(Path(data).parent / "key") if has_key else "KEY"
    words = ["vcrgen", "score", str(file), "--data", data]
    if choice.split or len(splits) > 1:
        words += ["--split", choice.split or "all"]
    if choice.limit:
        words += ["--subset", f"first{choice.limit}"]
    return shlex.join(words)


def limits_of(options: ServerOptions) -> Limits:
    """Limits of requests to a server; ``patience`` becomes seconds."""
    from vcrgen.models.connection import Limits

    return Limits(
        concurrency=options.concurrency,
        rpm=options.rpm,
        tpm=options.tpm,
        timeout=options.timeout,
        patience=options.patience_seconds,
    )
