"""``vcrgen bloom audit``: people judge a random sample of an MCQ benchmark."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from vcrgen.bloom.options import AuditOptions
from vcrgen.cli import console
from vcrgen.cli.bloom import bloom
from vcrgen.cli.options import examples, options_of
from vcrgen.core.errors import OutputError
from vcrgen.core.options import drop_none, validate_options
from vcrgen.core.plurals import pluralize
from vcrgen.core.storage import remote_url

audit = typer.Typer(
    no_args_is_help=True,
    help="Audit an MCQ benchmark: draw a sample of items, and report the verdicts of people.",
    epilog=examples(
        "vcrgen bloom audit draw data/my-bloom",
        "vcrgen study init audit --data data/my-bloom --audit data/my-bloom-audit",
    ),
)

_Data = Annotated[Path, typer.Argument(help="An MCQ benchmark.")]
_Folder = Annotated[Path | None, typer.Option(help="Where the audit is kept.", show_default="DATA-audit")]


@audit.command(epilog=examples("vcrgen bloom audit draw data/my-bloom --raters 3 --overlap 0.25"))
@options_of(AuditOptions)
def draw(data: _Data, folder: _Folder = None, **options: Any) -> None:
    """Draw items of every category and assign them to raters: the same benchmark and options, the same draw."""
    from vcrgen.bloom.audit.draw import FILE, draw_set, write_draw
    from vcrgen.data.tasks.opening import open_task_dataset

    file = _audit_folder(data, folder) / FILE
    drawn = draw_set(open_task_dataset(data), validate_options(AuditOptions, drop_none(options)))
    write_draw(file, drawn)
    twice = sum(len(item.raters) > 1 for item in drawn.items)
    size, categories = sum(drawn.categories.values()), len(drawn.categories)
    weights = drawn.weights().values()
    ends = dict.fromkeys(f"{weight:.2f}" for weight in (min(weights), max(weights)))
    console.say(
        f"[bold]{escape(str(file))}[/]: {len(drawn.items):,} of {pluralize(size, 'item')}, of "
        f"{pluralize(categories, 'category', 'categories')}, for {pluralize(drawn.raters, 'rater')}; {twice:,} of them "
        "for two.",
        highlight=False,
    )
    console.say(f"Weight of an item in its category: {' to '.join(ends)}.", highlight=False)


@audit.command(epilog=examples("vcrgen bloom audit report data/my-bloom verdicts.jsonl"))
def report(
    data: _Data,
    verdicts: Annotated[Path, typer.Argument(help="The verdicts of raters, as `vcrgen study export` writes them.")],
    folder: _Folder = None,
    judge: Annotated[
        Path | None, typer.Option(help="Verdicts of a judge: JSON Lines with question_id and verdict.")
    ] = None,
) -> None:
    """Report the share of items in order, classes of errors and agreement of raters; list the rejected items."""
    from vcrgen.bloom.audit.audit_report import PAGE, REPORT, write_report
    from vcrgen.bloom.audit.draw import FILE, read_draw
    from vcrgen.cli.terminal import print_parts, show_document
    from vcrgen.data.tasks.opening import open_task_dataset

    opened, place = open_task_dataset(data), _audit_folder(data, folder)
    statistics, document = write_report(opened, read_draw(place / FILE, opened), verdicts, place, judge=judge)
    print_parts(console.out, show_document(document))
    if statistics.audited < statistics.drawn:
        missing = statistics.drawn - statistics.audited
        console.say(f"{pluralize(missing, 'drawn item has', 'drawn items have')} no verdict.", highlight=False)
    console.say(
        f"Written: {escape(str(place / REPORT))}; with rejected items: {escape(str(place / PAGE))}", highlight=False
    )
    console.say_next(
        "The benchmark without them, and with this on its card", "vcrgen", "bloom", "filter", data, "--audit", place
    )


def _audit_folder(data: Path, folder: Path | None) -> Path:
    if folder and (url := remote_url(folder.as_posix())):
        raise OutputError(f"--folder {url} is in an object store; only builds write there.")
    if folder or remote_url(data.as_posix()):
        return folder or Path(f"{data.name}-audit")
    named = data if data.name not in ("", "..") else data.resolve()
    return named.with_name(f"{named.name}-audit")


bloom.add_typer(audit, name="audit")
