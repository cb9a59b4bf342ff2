"""``vcrgen bloom audit``: people look at a part of a question set, and what they say of it is counted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from vcrgen.cli import console
from vcrgen.cli.bloom import bloom
from vcrgen.cli.options import examples, options_of
from vcrgen.config import AuditOptions, checked, given
from vcrgen.errors import ConfigError, OutputError
from vcrgen.plurals import counted
from vcrgen.storage import remote_url

if TYPE_CHECKING:
    from vcrgen.bloom.audit.draw import Draw
    from vcrgen.dataset.reader import Dataset

audit = typer.Typer(
    no_args_is_help=True,
    help="Let people look at a part of a question set: draw items, write their pages, report what they found.",
    epilog=examples("vcrgen bloom audit draw data/my-bloom", "vcrgen bloom audit page data/my-bloom"),
)

_Data = Annotated[Path, typer.Argument(help="A question set.")]
_Folder = Annotated[Path | None, typer.Option(help="Where the audit is kept.", show_default="DATA-audit")]


@audit.command(epilog=examples("vcrgen bloom audit draw data/my-bloom --raters 3 --overlap 0.25"))
@options_of(AuditOptions)
def draw(data: _Data, folder: _Folder = None, **options: Any) -> None:
    """Draw items of every leaf, deal them to raters, and write it down: the same set and options, the same draw."""
    from vcrgen.bloom.audit.draw import FILE, draw_set, write_draw
    from vcrgen.tasks.opening import open_any

    file = _kept_in(data, folder) / FILE
    drawn = draw_set(open_any(data), checked(AuditOptions, given(options)))
    write_draw(file, drawn)
    twice = sum(len(item.raters) > 1 for item in drawn.items)
    weights = drawn.weights().values()
    ends = dict.fromkeys(f"{weight:.2f}" for weight in (min(weights), max(weights)))
    console.say(
        f"[bold]{escape(str(file))}[/]: {len(drawn.items):,} of {counted(sum(drawn.leaves.values()), 'item')}, of "
        f"{counted(len(drawn.leaves), 'leaf', 'leaves')}, for {counted(drawn.raters, 'rater')}; {twice:,} of them for "
        "two.",
        highlight=False,
    )
    console.say(f"An item stands for {' to '.join(ends)} items of its leaf.", highlight=False)


@audit.command(
    epilog=examples("vcrgen bloom audit page data/my-bloom", "vcrgen bloom audit page data/my-bloom --rater 2")
)
def page(
    data: _Data,
    folder: _Folder = None,
    rater: Annotated[list[int] | None, typer.Option(help="Only this rater. Repeatable.", show_default="all")] = None,
) -> None:
    """Write the page of each rater: one HTML file that works offline, or several where there are many pictures."""
    from vcrgen.bloom.audit.draw import FILE
    from vcrgen.bloom.audit.page import write_pages

    opened, drawn, place = _drawn(data, folder)
    if odd := [number for number in rater or () if not 1 <= number <= drawn.raters]:
        raise ConfigError(f"--rater {odd[0]} is none of the raters 1 to {drawn.raters} of {place / FILE}.")
    for file in write_pages(opened, drawn, place, rater or range(1, drawn.raters + 1)):
        console.say(f"[bold]{escape(str(file))}[/] ({file.stat().st_size / (1 << 20):.1f} MiB)", highlight=False)
    console.say("Pages hold the right options: give each to its rater only, and ask for the file that it saves.")


@audit.command(epilog=examples("vcrgen bloom audit report data/my-bloom rater-1.jsonl rater-2.jsonl"))
def report(
    data: _Data,
    answers: Annotated[list[Path], typer.Argument(help="What the pages saved.")],
    folder: _Folder = None,
    judge: Annotated[
        Path | None, typer.Option(help="Verdicts of a judge: JSON Lines with question_id and verdict.")
    ] = None,
) -> None:
    """Say how much of the set is in order, what is wrong, and how much raters agree; list what they rejected."""
    from vcrgen.bloom.audit.report import FAULTS, REPORT, make_report
    from vcrgen.cli.terminal import draw as drawn_table
    from vcrgen.cli.terminal import print_parts

    opened, drawn, place = _drawn(data, folder)
    figures, tables = make_report(opened, drawn, answers, place, judge=judge)
    print_parts(console.out, [drawn_table(table, set()) for table in tables])
    if figures.audited < figures.drawn:
        console.say(
            f"{counted(figures.drawn - figures.audited, 'drawn item has', 'drawn items have')} no verdict that counts.",
            highlight=False,
        )
    console.say(
        f"Every item at fault, with notes: {escape(str(place / REPORT))}; shown: {escape(str(place / FAULTS))}",
        highlight=False,
    )
    console.say_next(
        "The set without them, and with this on its card", "vcrgen", "bloom", "filter", data, "--audit", place
    )


def _drawn(data: Path, folder: Path | None) -> tuple[Dataset, Draw, Path]:
    """The set, its draw, and the folder of the audit."""
    from vcrgen.bloom.audit.draw import FILE, read_draw
    from vcrgen.tasks.opening import open_any

    opened, place = open_any(data), _kept_in(data, folder)
    return opened, read_draw(place / FILE, opened), place


def _kept_in(data: Path, folder: Path | None) -> Path:
    if folder and (url := remote_url(folder.as_posix())):
        raise OutputError(f"--folder {url} is in an object store; only builds write there.")
    if folder or remote_url(data.as_posix()):
        return folder or Path(f"{data.name}-audit")
    named = data if data.name not in ("", "..") else data.resolve()
    return named.with_name(f"{named.name}-audit")


bloom.add_typer(audit, name="audit")
