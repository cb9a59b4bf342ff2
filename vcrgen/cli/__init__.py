"""The command line: parse, call, print. No logic."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table
from typer.core import TyperGroup

from vcrgen.cli.hidden import register_hidden
from vcrgen.cli.leaderboard import register as register_leaderboard
from vcrgen.cli.plan import register_plan
from vcrgen.cli.predict import register as register_baselines
from vcrgen.cli.score import register
from vcrgen.config import BuildConfig
from vcrgen.errors import OutputError, VcrgenError

_out = Console()
_err = Console(stderr=True)


class _Commands(TyperGroup):
    """What a user can mend is one sentence and exit code 2; Ctrl-C says what to do next."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except VcrgenError as error:
            _err.print(f"[bold red]Error:[/] {escape(str(error))}", soft_wrap=True)
            sys.exit(2)
        except KeyboardInterrupt:
            _err.print("Interrupted. What was finished is kept; run the same command again to go on.", soft_wrap=True)
            sys.exit(130)
        except BrokenPipeError:
            sys.stderr.close()  # the reader of our output went away (`| head`)
            sys.exit(141)


app = typer.Typer(
    name="vcrgen",
    cls=_Commands,
    help="Build and score Visual Caption Restoration data: images with captions of which a model sees only the top "
    "and bottom pixels.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _field(name: str, *flags: str, **more: Any) -> Any:
    """An option that sets a field of the configuration, and is described there."""
    field = BuildConfig.model_fields[name]
    default = field.default
    shown = ",".join(default) if isinstance(default, tuple) else default
    return typer.Option(
        *flags, help=field.description, show_default=str(shown) if shown not in (None, "") else False, **more
    )


_SOURCE, _TEXT, _IMAGE, _RUN = "Source", "Text and masks", "Images", "Run"


@app.command(
    epilog="Examples:\n\n"
    "  vcrgen build\n\n"
    "  vcrgen build --lang zh --mode hard\n\n"
    "  vcrgen build pairs.parquet --lang en --out data/my-vcr --limit 5000 --workers 2 --seed 7\n\n"
    "  vcrgen build 'shards/*.tar' --caption-column json.text --splits train=...,validation=500,test=500\n\n"
    "  vcrgen build --config configs/vcr-wiki-zh-hard.yaml wikimedia/wit_base\n\n"
    "  vcrgen build 's3://bucket/pairs/*.parquet' --out s3://bucket/vcr --engine ray --address auto"
)
def build(
    source: Annotated[
        str | None,
        typer.Argument(
            help="File, folder, quoted glob, s3://, gs:// or hf:// URL, dataset of the Hub (org/name), or samples[:N].",
            show_default="samples",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder of the dataset, or s3:// or gs:// URL.",
            show_default="data/vcr-SOURCE-LANG-MODE",
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="YAML recipe with these options as keys (underscores for hyphens).")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=512, help="Processes.", rich_help_panel=_RUN)] = 1,
    engine: Annotated[
        str, typer.Option(help="local, ray or spark; the same bytes by each.", rich_help_panel=_RUN)
    ] = "local",
    address: Annotated[
        str | None,
        typer.Option(help="A running Ray cluster: HOST:PORT or auto.", show_default="auto", rich_help_panel=_RUN),
    ] = None,
    master: Annotated[
        str | None, typer.Option(help="Spark's master URL, such as local[2].", rich_help_panel=_RUN)
    ] = None,
    lang: Annotated[str | None, _field("lang", "--lang", "-l")] = None,
    mode: Annotated[str | None, _field("mode", "--mode", "-m")] = None,
    seed: Annotated[int | None, _field("seed")] = None,
    limit: Annotated[int | None, _field("limit", rich_help_panel=_SOURCE)] = None,
    image_column: Annotated[str | None, _field("image_column", rich_help_panel=_SOURCE)] = None,
    caption_column: Annotated[str | None, _field("caption_column", rich_help_panel=_SOURCE)] = None,
    id_column: Annotated[str | None, _field("id_column", rich_help_panel=_SOURCE)] = None,
    where: Annotated[list[str] | None, _field("where", rich_help_panel=_SOURCE)] = None,
    source_split: Annotated[str | None, _field("source_split", rich_help_panel=_SOURCE)] = None,
    source_license: Annotated[str | None, _field("source_license", rich_help_panel=_SOURCE)] = None,
    mask: Annotated[str | None, _field("mask", rich_help_panel=_TEXT)] = None,
    n: Annotated[int | None, _field("n", "-n", "--n", rich_help_panel=_TEXT)] = None,
    max_share: Annotated[float | None, _field("max_share", rich_help_panel=_TEXT)] = None,
    percentage: Annotated[float | None, _field("percentage", rich_help_panel=_TEXT)] = None,
    spacy_model: Annotated[str | None, _field("spacy_model", rich_help_panel=_TEXT)] = None,
    censor_list: Annotated[Path | None, _field("censor_list", rich_help_panel=_TEXT)] = None,
    width: Annotated[int | None, _field("width", rich_help_panel=_IMAGE)] = None,
    font: Annotated[Path | None, _field("font", rich_help_panel=_IMAGE)] = None,
    font_size: Annotated[int | None, _field("font_size", rich_help_panel=_IMAGE)] = None,
    max_lines: Annotated[int | None, _field("max_lines", rich_help_panel=_IMAGE)] = None,
    max_height: Annotated[int | None, _field("max_height", rich_help_panel=_IMAGE)] = None,
    min_side: Annotated[int | None, _field("min_side", rich_help_panel=_IMAGE)] = None,
    max_pixels: Annotated[int | None, _field("max_pixels", rich_help_panel=_IMAGE)] = None,
    image_format: Annotated[str | None, _field("image_format", rich_help_panel=_IMAGE)] = None,
    splits: Annotated[str | None, _field("splits", rich_help_panel=_RUN)] = None,
    shard_size: Annotated[int | None, _field("shard_size", rich_help_panel=_RUN)] = None,
) -> None:
    """Build a VCR dataset from image-caption pairs.

    Interrupted or killed, the same command goes on where it was; the result is the same to the byte.
    """
    options = {name: value for name, value in locals().items() if name in BuildConfig.model_fields}
    options["where"] = tuple(where) if where else None
    from vcrgen.builder.engines import EngineChoice
    from vcrgen.builder.run import Build, default_out
    from vcrgen.cli.progress_build import ConsoleWatcher
    from vcrgen.config import find_recipe, load_build_config

    merged = load_build_config(find_recipe(config) if config else None, options)
    folder = out or default_out(merged)
    choice = EngineChoice(name=engine, workers=workers, address=address, master=master)
    with ConsoleWatcher(_err) as watcher:
        result = Build(merged, out=folder, engine=choice, watcher=watcher).run()
    manifest = result.manifest
    done = "was complete already" if result.was_complete else "is complete"
    _out.print(f"[bold]{escape(str(result.path))}[/] {done}: {manifest.pairs:,} of {manifest.read:,} pairs.")
    _print_counts(
        "split",
        {
            s: sum(f.rows for f in manifest.files if (f.split, f.mode) == (s, manifest.modes[0]))
            for s in manifest.splits
        },
    )
    _print_counts("set aside", manifest.drops)
    _out.print(f"Signature [dim]{escape(str(manifest.signature))}[/]", soft_wrap=True)
    _out.print(f"Look at it: vcrgen preview {escape(str(result.path))}", soft_wrap=True, highlight=False)


register_plan(app, build)


def _print_counts(title: str, counts: Any) -> None:
    if counts:
        table = Table(title, "pairs", box=None, pad_edge=False)
        for name, count in sorted(counts.items(), key=lambda item: -item[1]):
            table.add_row(escape(name), f"{count:,}")
        _out.print(table)


_Dataset = Annotated[Path, typer.Argument(help="Folder of a built dataset, or its URL.")]


@app.command(epilog="Example:\n\n  vcrgen inspect data/my-vcr")
def inspect(
    dataset: _Dataset, as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False
) -> None:
    """Show a dataset's statistics as in the paper's Table 4, what was set aside, and its signature."""
    from vcrgen.dataset.reader import open_dataset
    from vcrgen.tasks.vcr import VCR, vcr_statistics

    data = open_dataset(dataset, VCR)
    manifest = data.built
    statistics = vcr_statistics(data)
    if as_json:
        value = {
            "source": manifest.source,
            "read": manifest.read,
            "pairs": manifest.pairs,
            "drops": dict(manifest.drops),
            "signature": str(manifest.signature),
            "statistics": [{"mode": mode, "split": split} | asdict(row) for (mode, split), row in statistics.items()],
        }
        _out.print_json(json.dumps(value))
        return
    table = Table(
        "mode", "split", "pairs", "spans", "stacked height, px", "spans per image", "ink", "off", box=SIMPLE_HEAD
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
            f"{row.visible_ink.mean:.2f}",
            f"{row.outside:,}",
        )
    _out.print(table)
    _out.print(
        "Mean ± standard deviation (5th-95th percentile); ink: share of a span's ink that stays visible; "
        "off: spans far from what the mode aims at."
    )
    _out.print(f"{manifest.read:,} pairs read, {manifest.pairs:,} built, from {escape(manifest.source)}.")
    _print_counts("set aside", manifest.drops)
    _out.print(f"Signature [dim]{escape(str(manifest.signature))}[/]", soft_wrap=True)


def _beside(dataset: Path, out: Path | None, suffix: str) -> Path:
    """Where to write what is made of a dataset: beside it if nobody says, or here if it is in an object store."""
    from vcrgen.storage import remote_url

    if out and remote_url(out.as_posix()):
        raise OutputError(f"--out {remote_url(out.as_posix())} is in an object store; only builds write there.")
    remote = remote_url(dataset.as_posix())
    return out or (Path(f"{dataset.name}{suffix}") if remote else dataset.with_name(f"{dataset.name}{suffix}"))


@app.command(epilog="Examples:\n\n  vcrgen preview data/my-vcr\n\n  vcrgen preview data/en data/zh --out both.html")
def preview(
    datasets: Annotated[list[Path], typer.Argument(help="Folders of built datasets, or their URLs.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page.", show_default="DATASET-preview.html")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=2000, help="Pairs to show of each dataset.")] = 48,
) -> None:
    """Write one self-contained HTML page to look at a dataset."""
    from vcrgen.publish.preview import write_preview

    page = _beside(datasets[0], out, "-preview.html")
    shown = write_preview(datasets, page, limit=limit)
    _out.print(f"[bold]{escape(str(page))}[/] shows {shown:,} pairs; open it in a browser.", soft_wrap=True)


@app.command(epilog="Example:\n\n  vcrgen export data/my-vcr --to vlmevalkit --out exports/my-vcr")
def export(
    dataset: _Dataset,
    to: Annotated[str, typer.Option(help="vlmevalkit, lmms-eval, webdataset or imagefolder.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A new folder.", show_default="DATASET-FORMAT")
    ] = None,
    mode: Annotated[str | None, typer.Option(help="Only this mode.", show_default="all")] = None,
    split: Annotated[str | None, typer.Option(help="Only this split.", show_default="all")] = None,
) -> None:
    """Write a dataset in the form another tool reads."""
    from vcrgen.publish.export import export_dataset

    folder = _beside(dataset, out, f"-{to}")
    result = export_dataset(dataset, to=to, out=folder, mode=mode, split=split)
    _out.print(f"[bold]{escape(str(folder))}[/]: {result.rows:,} rows in {result.files:,} files.", soft_wrap=True)


@app.command(epilog="Examples:\n\n  vcrgen fonts\n\n  vcrgen fonts '甲骨文 oracle bones' --lang zh")
def fonts(
    text: Annotated[str | None, typer.Argument(help="A text to check against a language's font chain.")] = None,
    lang: Annotated[str, typer.Option("--lang", "-l", help="Whose chain.")] = "en",
    font: Annotated[Path | None, typer.Option(help="A font file, or a name of the list, put before the chain.")] = None,
) -> None:
    """List the shipped fonts, or show which font draws each character of a text; exit code 1 if one has no glyph."""
    from vcrgen.typeset.fonts import check_text, font_register

    if text is None:
        name, here = (Column(head, no_wrap=True) for head in ("name", "here"))
        table = Table(name, "languages", "role", "licence", here, box=SIMPLE_HEAD)
        for entry in font_register().values():
            state = "yes" if entry.installed else "to fetch"
            table.add_row(entry.name, ", ".join(entry.languages), entry.role, entry.licence, state)
        _out.print(table)
        return
    coverage = check_text(text, lang=lang, font=font)
    for family, characters in coverage.items():
        _out.print(
            f"[bold]{escape(family)}[/]: {escape(characters)}" if family else f"[red]no glyph:[/] {escape(characters)}"
        )
    if coverage.get(""):
        raise typer.Exit(1)


@app.command(
    epilog="Examples:\n\n"
    "  vcrgen calibrate --lang en --font MyFont.ttf --font-size 34\n\n"
    "  vcrgen calibrate --lang zh --font lxgw-wenkai --out wenkai.png"
)
def calibrate(
    lang: Annotated[str, typer.Option("--lang", "-l", help="Language of the captions.")] = "en",
    font: Annotated[
        str | None, typer.Option(help="A font file, or a name of `vcrgen fonts`.", show_default="the language's own")
    ] = None,
    font_size: Annotated[int, typer.Option(min=6, max=400, help="Font size in pixels.")] = 20,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The picture.", show_default="calibration-LANG-FONT-SIZE.png")
    ] = None,
) -> None:
    """Show what the covers hide in a font, and draw a picture of it.

    `vcrgen build` and `vcrgen hidden` calibrate every font by themselves: easy and hard mean the same in all of them.
    """
    from vcrgen.builder.specimen import draw_specimen

    picture = out or Path(f"calibration-{lang}-{Path(font or 'default').stem}-{font_size}.png")
    covers = draw_specimen(lang, font, font_size, picture)
    table = Table("mode", "rows covered", "visible ink", "5th-95th pct", "target", "above", box=SIMPLE_HEAD)
    for mode, cover in covers.items():
        spread = f"{cover.low:.2f}-{cover.high:.2f}"
        table.add_row(mode, cover.shown, f"{cover.visible:.3f}", spread, f"{cover.target:.2f}", f"{cover.above:.2f}")
    _out.print(table)
    _out.print(
        "Rows from the top of a line; ink: median over a sample, as a share; above: share of it above the cover."
    )
    if uneven := [mode for mode, cover in covers.items() if not cover.even]:
        _out.print(
            f"[yellow]Uneven[/] ({', '.join(uneven)}): no whole rows leave the right ink on both sides in this size; "
            "a size one or two pixels larger or smaller does.",
            soft_wrap=True,
        )
    _out.print(f"[bold]{escape(str(picture))}[/] shows it: as it is, easy, hard.", soft_wrap=True)


@app.command()
def doctor() -> None:
    """Show what is installed: segmenters, pipelines, fonts, layout engines, image codecs; exit code 1 on a fault."""
    from vcrgen.cli.doctor import diagnose

    findings = diagnose()
    table = Table.grid(padding=(0, 2))
    for group, members in groupby(findings, key=lambda finding: finding.group):
        table.add_row(f"[bold]{escape(group)}[/]")
        for finding in members:
            mark = {True: "[green]ok[/]", False: "[red]fault[/]", None: "[dim]-[/]"}[finding.ok]
            hint = f" [dim]({escape(finding.hint)})[/]" if finding.hint else ""
            table.add_row(f"  {escape(finding.name)}", mark, escape(finding.value) + hint)
    _out.print(table)
    if any(finding.ok is False for finding in findings):
        raise typer.Exit(1)


register(app)
register_baselines(app)
register_hidden(app)
register_leaderboard(app)
