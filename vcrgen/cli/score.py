"""``vcrgen score`` and ``vcrgen validate``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vcrgen.cli import console
from vcrgen.cli.options import examples
from vcrgen.cli.root import app

if TYPE_CHECKING:
    from rich.console import RenderableType

_DATA = Annotated[
    Path,
    typer.Option(
        "--data",
        "-d",
        help="A dataset (vcrgen's, VCR-WIKI's Parquet, save_to_disk; or its URL), or a key (of a hidden set; JSONL).",
    ),
]
_MODE = Annotated[str | None, typer.Option(help="easy or hard: only outputs of this mode.")]
_VIEW = Annotated[
    str | None, typer.Option(help="stacked, tei or strip: what the model saw; only outputs of this view.")
]
_SPLIT = Annotated[str | None, typer.Option(help="Split of the dataset, or all.", show_default="test, or the only one")]
_SUBSET = Annotated[str | None, typer.Option(help="first100 or first500: the paper's subsets.")]
_LANG = Annotated[str | None, typer.Option(help="Language, where the dataset does not say.")]


@app.command(
    epilog=examples(
        "vcrgen score preds.jsonl --data data/my-vcr",
        "vcrgen score vlmevalkit_output.xlsx --data data/my-vcr --protocol vlmevalkit",
        "vcrgen score run_a.jsonl run_b.jsonl --data data/my-vcr --compare",
        "vcrgen score preds.jsonl --data data/my-vcr --spans spans.parquet --format html --out report.html",
        "vcrgen score preds.jsonl --data data/my-vcr --explain 5f2c81d09ab34e67",
    )
)
def score(
    predictions: Annotated[list[Path], typer.Argument(help="Files of model outputs; the format is recognised.")],
    data: _DATA,
    protocol: Annotated[str, typer.Option(help="paper, vlmevalkit or lmms-eval (as those programs score).")] = "paper",
    mode: _MODE = None,
    view: _VIEW = None,
    split: _SPLIT = None,
    subset: _SUBSET = None,
    lang: _LANG = None,
    compare: Annotated[bool, typer.Option("--compare", help="Compare the files pair by pair.")] = False,
    spans: Annotated[Path | None, typer.Option(help="Write per-span evidence: FILE.parquet or FILE.jsonl.")] = None,
    form: Annotated[str, typer.Option("--format", "-f", help="text, md, csv, latex, json or html.")] = "text",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the report to this file.")] = None,
    groups: Annotated[bool, typer.Option("--groups", help="text: show scores by length, place, ink, …, too.")] = False,
    explain: Annotated[str | None, typer.Option(metavar="ID", help="Show one question with its matches.")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Missing, unknown, double, null or failed outputs are an error.")
    ] = False,
    keep_thinking: Annotated[
        bool | None,
        typer.Option(
            "--keep-thinking/--strip-thinking", help="Thinking blocks.", show_default="strip (paper), keep (others)"
        ),
    ] = None,
    max_output_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Read only so many tokens of an output; 0 for all.",
            show_default="512 (paper), all (others)",
        ),
    ] = None,
    segmenter: Annotated[str | None, typer.Option(help="builtin, or a trained spaCy pipeline for its tokens.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
) -> None:
    """Score model outputs: exact match and Jaccard of the nearest n-gram, with honest intervals.

    Files of one model that hold different modes or views are scored as one. The result is written as JSON beside
    the file of outputs (preds.scores.json).
    """
    from vcrgen.cli.score_commands import explain_command, score_command
    from vcrgen.scorer.run import Options

    options = Options(
        protocol=protocol, mode=mode, view=view, split=split, subset=subset, lang=lang, segmenter=segmenter,
        strip_thinking=None if keep_thinking is None else not keep_thinking,
        max_output_tokens=max_output_tokens, seed=seed, strict=strict,
    )  # fmt: skip
    if explain is not None:
        _print(explain_command(predictions, data, options, explain))
        return
    _print(
        score_command(
            predictions, data, options, form=form, out=out, spans=spans, with_comparison=compare, groups=groups
        )
    )


@app.command(epilog=examples("vcrgen validate preds.jsonl --data data/my-vcr"))
def validate(
    predictions: Annotated[list[Path], typer.Argument(help="Files of model outputs; the format is recognised.")],
    data: _DATA,
    mode: _MODE = None,
    view: _VIEW = None,
    split: _SPLIT = None,
    subset: _SUBSET = None,
    lang: _LANG = None,
) -> None:
    """Check files of outputs without scoring them; exit code 1 if --strict would refuse one."""
    from vcrgen.cli.score_commands import validate_command
    from vcrgen.scorer.run import Options

    options = Options(mode=mode, view=view, split=split, subset=subset, lang=lang)
    shown, fit = validate_command(predictions, data, options)
    _print(shown)
    if not fit:
        raise typer.Exit(1)


def _print(parts: Iterable[RenderableType]) -> None:
    from vcrgen.cli.terminal import print_parts

    print_parts(console.out, parts)
