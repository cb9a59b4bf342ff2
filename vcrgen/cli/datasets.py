"""``vcrgen inspect`` and ``vcrgen export``: statistics and other forms of a finished dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from vcrgen.cli import console
from vcrgen.cli.bloom import inspect_benchmark
from vcrgen.cli.options import examples, out_option
from vcrgen.cli.root import app
from vcrgen.core.errors import ConfigError, DatasetError, OutputError
from vcrgen.core.plurals import pluralize
from vcrgen.data.export.export_formats import EXPORT_FORMATS, FILE_FORMATS
from vcrgen.report.table import percent

if TYPE_CHECKING:
    from vcrgen.data.tasks.vcr import SplitStatistics

_Pixels = Annotated[Path | None, typer.Option(help="Outputs of vcrgen baseline template on the dataset.")]
_Dataset = Annotated[
    Path, typer.Argument(help="A dataset: vcrgen's, VCR-WIKI's Parquet, what save_to_disk wrote; a folder or a URL.")
]


@app.command(epilog=examples("vcrgen inspect data/my-vcr", "vcrgen inspect data/my-vcr --pixels pixels.jsonl"))
def inspect(
    dataset: _Dataset,
    pixels: _Pixels = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show a dataset's statistics as in the paper's Table 4, rejected pairs, and its signature.

    For a dataset that vcrgen did not build only the statistics are known, without the visible ink. With --pixels: the
    bits that the visible pixels leave of each span, and the baseline's exact match. For a multiple-choice benchmark
    (MCQ): items by level and language, categories without items, and cues in its options.
    """
    from vcrgen.data.tasks import bloom
    from vcrgen.data.tasks.opening import open_task_dataset
    from vcrgen.data.tasks.pixel_bits import read_pixel_bits
    from vcrgen.data.tasks.vcr import vcr_statistics

    data = open_task_dataset(dataset)
    if data.kind.task == bloom.TASK:
        if pixels is not None:
            raise ConfigError("--pixels has bits of masked spans, which an MCQ benchmark lacks; leave it out.")
        return inspect_benchmark(data, as_json=as_json)
    if data.is_hidden:
        raise DatasetError(f"{data} is the public part of a hidden test set, which has no captions and no answers.")
    bits = read_pixel_bits(pixels) if pixels else None
    manifest, statistics = data.manifest, vcr_statistics(data, bits)
    baseline = _baseline_scores(dataset, pixels) if pixels else []
    if as_json:
        value = {
            "source": manifest and manifest.source,
            "read": manifest and manifest.read,
            "pairs": manifest and manifest.pairs,
            "rejected": manifest and dict(manifest.rejected),
            "signature": manifest and str(manifest.signature),
            "statistics": [{"mode": mode, "split": split} | asdict(row) for (mode, split), row in statistics.items()],
            **({"pixels": {"signature": str(bits.signature), "scores": baseline}} if bits else {}),
        }
        return console.out.print_json(json.dumps(value))
    _print_statistics(statistics)
    for row in baseline:
        unread = f"; {row['missing']} of {pluralize(row['images'], 'strip')} were not read" if row["missing"] else ""
        console.say(
            f"{escape(row['mode'])}: the template baseline recovers {percent(row['exact'])} % of "
            f"{pluralize(row['spans'], 'span')} exactly (95 % interval {percent(row['low'])} to "
            f"{percent(row['high'])}){unread}."
        )
    if bits:
        console.say(
            f"Bits that the dataset itself does not have: [dim]{escape(str(bits.signature))}[/]", highlight=False
        )
    if manifest is None:
        console.out.print("vcrgen did not build this dataset: it has no counts of rejected pairs and no signature.")
        return
    console.out.print(
        f"{pluralize(manifest.read, 'pair')} read, {manifest.pairs:,} built, from {escape(manifest.source)}."
    )
    console.print_counts("rejected", manifest.rejected)
    console.say_signature(manifest.signature)


def _baseline_scores(dataset: Path, outputs: Path) -> list[dict[str, Any]]:
    """Score the template baseline in every mode."""
    from vcrgen.scorer.run import score

    return [
        {
            "mode": cell.variant,
            "spans": cell.units,
            "images": cell.clusters,
            "missing": cell.counts.get("missing", 0),
            "exact": exact.value,
            "low": exact.low,
            "high": exact.high,
        }
        for cell in score(outputs, data=dataset, split="all").cells
        for exact in [cell.metrics["exact"]]
    ]


def _print_statistics(statistics: Mapping[tuple[str, str], SplitStatistics]) -> None:
    table = console.ruled_table(
        "mode", "split", "pairs", "spans", "stacked height, px", "spans per image", "ink", "off"
    )
    for (mode, split), row in statistics.items():
        height, spans = row.height, row.spans_per_image
        table.add_row(
            mode,
            split,
            f"{row.rows:,}",
            f"{row.spans:,}",
            f"{height.mean:.2f} ± {height.sd:.2f} ({height.p05:.0f}-{height.p95:.0f})",
            f"{spans.mean:.2f} ± {spans.sd:.2f} ({spans.p05:.0f}-{spans.p95:.0f})",
            f"{row.visible_ink.mean:.2f}" if row.visible_ink else "-",
            f"{row.outside:,}" if row.outside is not None else "-",
        )
    console.out.print(table)
    console.out.print(
        "Mean ± standard deviation (5th-95th percentile); ink: share of a span's ink that stays visible; "
        "off: spans far from the target of the mode."
    )
    for (mode, split), row in statistics.items():
        if row.pixel_bits:
            console.say(f"{escape(mode)}, {escape(split)}: {row.pixel_bits}.")


def _default_out(dataset: Path, out: Path | None, suffix: str) -> Path:
    """Return ``out``, or by default a path beside the dataset; in this folder if the dataset is in an object store."""
    from vcrgen.core.storage import remote_url

    if out and remote_url(out.as_posix()):
        raise OutputError(f"--out {remote_url(out.as_posix())} is in an object store; only builds write there.")
    remote = remote_url(dataset.as_posix())
    return out or (Path(f"{dataset.name}{suffix}") if remote else dataset.with_name(f"{dataset.name}{suffix}"))


_OF_SCORES = "Scores in other forms"


@app.command(
    epilog=examples(
        "vcrgen export data/my-vcr --to vlmevalkit --out exports/my-vcr",
        "vcrgen export data/my-vcr --to trl --split train --out exports/for-trl",
        "vcrgen export data/my-vcr --to croissant --rai rai.yaml --out croissant.json",
        "vcrgen export preds.scores.json --to hub --dataset ORG/NAME@REVISION --out .eval_results/vcrgen.yaml",
        "vcrgen export preds.scores.json --to every-eval-ever --model DEVELOPER/NAME --organization US",
    )
)
def export(
    source: Annotated[
        Path, typer.Argument(help="A dataset, as for `vcrgen inspect`; for hub and every-eval-ever saved scores.")
    ],
    to: Annotated[
        str,
        typer.Option(
            help=f"{', '.join(EXPORT_FORMATS)}; in one file: croissant. Of saved scores: hub or every-eval-ever."
        ),
    ],
    out: Annotated[Path | None, out_option("A new folder or file.", default="SOURCE-FORMAT")] = None,
    mode: Annotated[
        str | None, typer.Option(help="Only this mode; also the mode of files that do not state theirs.")
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Only this split; also the split of files that do not state theirs (test).")
    ] = None,
    rai: Annotated[
        Path | None, typer.Option(help="YAML file of fields for croissant that only you know, as rai:dataBiases.")
    ] = None,
    base: Annotated[
        Path | None, typer.Option(help="For croissant: the file that the Hub made, whose files and records stay.")
    ] = None,
    dataset: Annotated[
        str, typer.Option(help="The dataset on the Hub: ORG/NAME or ORG/NAME@REVISION.", rich_help_panel=_OF_SCORES)
    ] = "",
    url: Annotated[
        str, typer.Option(help="Address of the evaluation, as the page of a board.", rich_help_panel=_OF_SCORES)
    ] = "",
    model: Annotated[
        str,
        typer.Option(help="DEVELOPER/NAME of the model, if the scores name it otherwise.", rich_help_panel=_OF_SCORES),
    ] = "",
    organization: Annotated[str, typer.Option(help="Who ran the evaluation.", rich_help_panel=_OF_SCORES)] = "",
    relationship: Annotated[
        str,
        typer.Option(
            help="Of the organization to the model: first_party, third_party, collaborative or other.",
            rich_help_panel=_OF_SCORES,
        ),
    ] = "",
) -> None:
    """Write a dataset or scores in the format of another tool."""
    given = {
        "mode": mode,
        "split": split,
        "rai": rai,
        "base": base,
        "dataset": dataset,
        "url": url,
        "model": model,
        "organization": organization,
        "relationship": relationship,
    }
    allowed = FILE_FORMATS[to].options if to in FILE_FORMATS else ("mode", "split")
    if odd := [name for name, value in given.items() if value and name not in allowed]:
        raise ConfigError(f"--{odd[0]} is not for --to {to}; leave it out.")
    if to not in FILE_FORMATS:
        return _export_dataset(source, to, out, mode, split)
    named = source.with_name(source.name.removesuffix(".json").removesuffix(".scores"))
    target = _default_out(named, out, FILE_FORMATS[to].ending)
    if to == "croissant":
        return _export_croissant(source, target, base, rai)
    if not source.is_file():
        raise ConfigError(f"{source} is no file of scores; give what `vcrgen score` wrote, such as preds.scores.json.")
    return _export_scores(source, to, target, {name: value for name in allowed if (value := given[name])})


def _export_dataset(source: Path, to: str, out: Path | None, mode: str | None, split: str | None) -> None:
    from vcrgen.data.export import export_dataset

    folder = _default_out(source, out, f"-{to}")
    result = export_dataset(source, to=to, out=folder, mode=mode, split=split)
    console.say(
        f"[bold]{escape(str(folder))}[/] {'was complete already' if result.was_complete else 'is complete'}: "
        f"{pluralize(result.rows, 'row')} in {pluralize(result.files, 'file')}; how to use them: "
        f"{escape(str(folder / 'README.md'))}"
    )


def _export_croissant(source: Path, out: Path, base: Path | None, rai: Path | None) -> None:
    from vcrgen.data.tasks.croissant import export_croissant

    missing = export_croissant(source, out, base=base, fields=rai)
    console.say(
        f"[bold]{escape(str(out))}[/]" + (f" lacks {', '.join(missing)}; give them by --rai." if missing else "")
    )


def _export_scores(source: Path, to: str, out: Path, facts: dict[str, Any]) -> None:
    from vcrgen.scorer.score_exports import ScoreFacts, write_every_eval_ever, write_hub_results

    if to == "hub":
        count = write_hub_results(source, out, ScoreFacts(**facts))
        console.say(
            f"[bold]{escape(str(out))}[/]: {pluralize(count, 'result')}; put it into .eval_results/ of the model's "
            "repository."
        )
    else:
        console.say(f"[bold]{escape(str(write_every_eval_ever(source, out, ScoreFacts(**facts))))}[/]")
