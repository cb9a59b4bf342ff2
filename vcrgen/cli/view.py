"""``vcrgen view``: look at a dataset and at outputs, in a browser."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.reports import check_targets
from vcrgen.cli.root import app
from vcrgen.core.errors import ConfigError, ServiceError
from vcrgen.core.extras import needs_extra
from vcrgen.core.options import drop_none, validate_options
from vcrgen.core.plurals import pluralize
from vcrgen.scorer.options import VIEW_OPTIONS, ScoreOptions


@app.command(
    epilog=examples(
        "vcrgen view data/my-vcr",
        "vcrgen view data/my-vcr run_a.jsonl run_b.jsonl --protocol paper",
        "vcrgen view data/my-vcr preds.jsonl --filter 'outcome=wrong&mode=hard' --out wrong",
        "vcrgen view data/my-vcr run_a.jsonl run_b.jsonl --filter 'right=0&wrong=1' --figure pair.svg",
    )
)
@options_of(ScoreOptions, only=VIEW_OPTIONS)
def view(
    data: Annotated[
        Path, typer.Argument(help="A dataset or key, as for `vcrgen score --data`, or the public part of a hidden set.")
    ],
    outputs: Annotated[
        list[Path] | None, typer.Argument(help="Files of model outputs, as for `vcrgen score`.", show_default=False)
    ] = None,
    filters: Annotated[
        str, typer.Option("--filter", metavar="TEXT", help="What the address of the page has behind #.")
    ] = "",
    out: Annotated[
        Path | None, out_option("Write a folder that opens without a server, over an earlier one; serve nothing.")
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the first item of --filter with its answer and the outputs, as in papers: .svg, .png or .pdf; "
            "serve nothing.",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="With --out: all items, not the first 2,000.")] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the address, and open no browser.")] = False,
    **options: Any,
) -> None:
    """Look at a dataset, and at every output beside what was expected, on a page of this machine.

    Outputs are scored as `vcrgen score` does. The page filters by outcome, mode, language, split, bits and length,
    finds items that one model has right and another wrong, and searches in captions, answers and outputs. With --out
    the page is a folder to pass on.
    """
    from vcrgen.report.figures import check_figure, write_figure
    from vcrgen.view.folder import MAX_ITEMS, write_view
    from vcrgen.view.pair_figure import pair_figure
    from vcrgen.view.query import Query
    from vcrgen.view.view_data import ViewData

    if every and out is None:
        raise ConfigError("--all is of the folder of --out; the page that is served shows all items.")
    settings, query = validate_options(ScoreOptions, drop_none(options)), Query.parse(filters)
    if out is not None and figure is not None:
        raise ConfigError("--out writes a folder and --figure a drawing of one item; give one of them.")
    check_targets([out, figure], [data, *(outputs or [])])
    if figure is not None:
        check_figure(figure)
    shown = ViewData(data, outputs or [], settings)
    doing = "Scoring the outputs" if outputs else "Reading the dataset"
    if figure is not None:
        with console.err.status(doing):
            drawn = pair_figure(shown, query)
        write_figure(drawn, figure)
        return console.say_plain(f"Written: {figure}")
    if out is not None:
        with console.err.status(doing):
            count = write_view(shown, out, query, max_items=None if every else MAX_ITEMS)
        kind = "item" if shown.source.task == "mcq" else "pair"
        console.say(f"[bold]{escape(str(out / 'index.html'))}[/] shows {pluralize(count, kind)}; open it in a browser.")
        return
    try:
        from vcrgen.view.server import ViewServer
    except ModuleNotFoundError as missing:
        raise ServiceError(f"{needs_extra('The page', 'serve', missing.name)} Or write a folder with --out.") from None
    server = ViewServer(shown, filters.removeprefix("#"))
    console.say(f"{escape(shown.name)} is at {escape(server.url)} (Ctrl-C ends it)", highlight=False)
    server.run(open_browser=not no_open, tell=console.say_mistake)
    if shown.problem:
        raise typer.Exit(2)
