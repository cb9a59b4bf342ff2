"""``vcrgen leaderboard``: the commands of a board's maintainers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from vcrgen.cli import console
from vcrgen.cli.board_sets import BoardFolder as _Board
from vcrgen.cli.board_sets import Closes, FeedbackKind, LadderView, Opens, SetName, print_sets, sets
from vcrgen.cli.board_sets import board_examples as _examples
from vcrgen.cli.board_sets import open_folder as _open
from vcrgen.cli.options import Host, Port, Proxy, out_option
from vcrgen.cli.progress import ConsoleWatcher
from vcrgen.cli.root import app
from vcrgen.errors import LeaderboardError
from vcrgen.files import output_errors, write_text
from vcrgen.leaderboard.disclosure import in_points
from vcrgen.plurals import counted

if TYPE_CHECKING:
    from vcrgen.leaderboard.board import Board
    from vcrgen.leaderboard.records import Submission

_Data = Annotated[
    list[str] | None, typer.Option("--data", "-d", help="NAME:PATH of a dataset or of a hidden set's key. Repeatable.")
]
_Database = Annotated[
    str, typer.Option(help="postgresql+psycopg://USER:PASSWORD@HOST/NAME.", show_default="SQLite in the folder")
]


leaderboard = typer.Typer(
    no_args_is_help=True,
    help="Take submissions from strangers, score them, show them.",
    epilog=_examples(
        "init board --data public:data/my-vcr --data hidden-en:hidden-2026/key",
        "token board --team 'Team A'",
        "serve board",
        "add board preds.jsonl --model NAME --team 'Team A' --link https://example.org",
        "export board --to site --out site",
    ),
)


@leaderboard.command(epilog=_examples("init board --data public:data/my-vcr --data hidden-en:hidden-2026/key"))
def init(
    board: _Board,
    data: _Data = None,
    title: Annotated[str, typer.Option(help="Head of every page.")] = "Visual Caption Restoration",
    contact: Annotated[str, typer.Option(help="How teams reach you.")] = "",
    database: _Database = "",
    quoted: Annotated[bool, typer.Option(help="Begin with the published results, as quoted rows.")] = True,
    feedback: FeedbackKind = "",
    view: LadderView = "",
    opens: Opens = "",
    closes: Closes = "",
) -> None:
    """Make a board; what can be decided about it stands in BOARD/board.yaml."""
    from vcrgen.config import checked
    from vcrgen.leaderboard.board import init_board
    from vcrgen.leaderboard.rotation import make_phase
    from vcrgen.leaderboard.settings import Settings

    if not data:
        raise LeaderboardError("Name the sets that the board scores with --data NAME:PATH.")
    settings = checked(Settings, {"title": title, "contact": contact, "database": database})
    phase = make_phase(feedback=feedback, view=view, opens=opens, closes=closes)
    print_sets(init_board(board, data, settings, with_quoted=quoted, phase=phase).sets)
    shown = escape(str(board))
    console.out.print(f"[bold]{shown}[/] is a board; its settings are in {escape(str(board / 'board.yaml'))}.")
    console.say_next("Open it", "vcrgen", "leaderboard", "serve", board)


@leaderboard.command(epilog=_examples("serve board", "serve board --host 0.0.0.0 --port 8080 --proxy 10.0.0.1"))
def serve(
    board: _Board,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    proxy: Proxy = "",
) -> None:
    """Answer requests and score what is handed in, until stopped with Ctrl-C or SIGTERM."""
    opened = _open(board)
    try:
        from vcrgen.leaderboard.service.serve import serve as run
    except ModuleNotFoundError as missing:
        raise LeaderboardError(
            f'The service needs {missing.name}, which is not installed: pip install "vcrgen[serve]".'
        ) from None
    run(opened, host=host, port=port, proxy=proxy)


@leaderboard.command(epilog=_examples("add board preds.jsonl --model 'My VLM' --team 'Team A' --size 7B --access open"))
def add(
    board: _Board,
    predictions: Annotated[Path, typer.Argument(help="File of model outputs.")],
    model: Annotated[str, typer.Option(help="Name of the model.")],
    team: Annotated[str, typer.Option(help="Name of the team.")],
    link: Annotated[str, typer.Option(help="Address of the model or its paper.")] = "",
    access: Annotated[str, typer.Option(help="open, closed or unknown.")] = "unknown",
    size: Annotated[str, typer.Option(help="Parameters: 7B, 1.3B, 350M.")] = "",
    released: Annotated[str, typer.Option(help="Date of release: YYYY-MM-DD.")] = "",
    test_set: Annotated[
        str | None, typer.Option("--set", help="The test set.", show_default="the one whose ids the file has")
    ] = None,
) -> None:
    """Hand in outputs without the service, and score them; exit code 1 if they are refused."""
    from vcrgen.leaderboard.commands import add as run
    from vcrgen.leaderboard.facts import check_facts

    facts = check_facts(team=team, model=model, link=link, access=access, size=size, released=released)
    opened = _open(board)
    submission = run(opened, predictions, facts, set_name=test_set)
    if submission.problems:
        console.say(f"[bold]{escape(str(predictions))}[/] is refused:")
        for problem in submission.problems:
            console.say(f"  {escape(problem)}", highlight=False)
        raise typer.Exit(1)
    _print_scores(opened, submission)


def _print_scores(board: Board, submission: Submission) -> None:
    from vcrgen.leaderboard.views import Views
    from vcrgen.tasks.task import DEFAULT

    with board.reading() as connection:
        views = Views(board, connection)
        cells, told = views.cells_of(submission.id), views.told(submission)
    if told is not None:
        shown = "not better than the team's best" if told.exact is None else f"{100 * told.exact:g} %"
        where = f"{told.task.leading.in_text} on {told.view.label}"
        basis = f"{where} of the feedback part, in steps of {in_points(told.step)}"
        console.say(f"{escape(submission.set)}: {shown} ({basis}).", highlight=False)
        console.out.print(f"Submission {submission.id} is taken.", highlight=False)
        return
    task = cells[0].track.task if cells else DEFAULT
    labels = (task.leading.in_text, task.metrics[task.shown[1]].label)
    table = console.ruled_table("set", task.axis_label.lower(), "view", *labels, "rank", "of")
    for cell in cells:
        known = (cell.figures.get(metric) for metric in task.shown)
        figures = ("" if figure is None else f"{100 * figure.value:.2f}" for figure in known)
        rank = str(cell.rank) if cell.rank == cell.lowest else f"{cell.rank} ({cell.rank}-{cell.lowest})"
        table.add_row(submission.set, cell.track.mode, cell.track.view.label, *figures, rank, str(cell.models))
    console.out.print(table)
    console.out.print(f"Submission {submission.id} is on the board.", highlight=False)


@leaderboard.command(epilog=_examples("export board --to site --out site", "export board --to latex > table.tex"))
def export(
    board: _Board,
    to: Annotated[str, typer.Option(help="site, md, csv, latex or json.")],
    out: Annotated[Path | None, out_option("A folder, or a file.", shown="BOARD-site; or print")] = None,
) -> None:
    """Write the board as a folder of pages for any web server, or as tables."""
    from vcrgen.leaderboard.export import KINDS, SITE, export_site, export_tables

    if to not in KINDS:
        raise LeaderboardError(f"Unknown form {to!r}; known: {', '.join(KINDS)}.")
    opened = _open(board)
    if to == SITE:
        folder = out or board.absolute().with_name(f"{board.absolute().name}-site")
        count = export_site(opened, folder)
        console.say(f"[bold]{escape(str(folder))}[/]: {counted(count, 'file')}; open index.html.")
        return
    text = export_tables(opened, to)
    if out is None:
        typer.echo(text, nl=False)
    else:
        with output_errors(out):
            write_text(out.absolute(), text)
        console.say(f"Written: {escape(str(out))}")


@leaderboard.command("import", epilog=_examples("import board published.csv", "import board people.json"))
def import_(
    board: _Board,
    tables: Annotated[list[Path], typer.Argument(help="CSV files of publications; JSON files of studies of people.")],
) -> None:
    """Add rows quoted from publications, and scores of people that `study report -f json` wrote; none is ranked."""
    from vcrgen.leaderboard.commands import quote

    count = quote(_open(board), tables)
    console.out.print(f"New rows: {count:,}.")


@leaderboard.command(epilog=_examples("token board --team 'Team A'", "token board --team 'Team A' --revoke"))
def token(
    board: _Board,
    team: Annotated[str | None, typer.Option(help="Name of the team.", show_default="list all teams")] = None,
    label: Annotated[str, typer.Option(help="What the token is for.")] = "",
    group: Annotated[
        str | None,
        typer.Option(help="Group whose teams share one limit; empty: none.", show_default="as it is"),
    ] = None,
    revoke: Annotated[bool, typer.Option("--revoke", help="Make all tokens of the team void.")] = False,
) -> None:
    """Give a team a token to hand in with, make its tokens void, or list the teams."""
    from vcrgen.leaderboard import commands
    from vcrgen.leaderboard.facts import taken_for
    from vcrgen.leaderboard.store.teams import all_teams

    opened = _open(board)
    if team is None:
        if revoke:
            raise LeaderboardError("Name the team whose tokens are to be void with --team.")
        table = console.ruled_table("team", "valid tokens")
        with opened.reading() as connection:
            for name, count in all_teams(connection):
                table.add_row(escape(name), str(count))
        console.out.print(table)
    elif revoke:
        console.out.print(f"Tokens that are void now: {commands.revoke(opened, team)}.")
    else:
        typer.echo(commands.give_token(opened, team, label, group=group))
        console.err.print("This is the only time it is shown; the board keeps a hash of it.")
        with opened.reading() as connection:
            alike = taken_for(team, [name for name, _ in all_teams(connection)])
        if alike:
            console.err.print(f"People may take it for {escape(', '.join(alike))}, as the names look the same.")


@leaderboard.command(epilog=_examples("maintainer board Ada", "maintainer board Ada --revoke"))
def maintainer(
    board: _Board,
    name: Annotated[str, typer.Argument(help="Name of the maintainer; the public history does not show it.")],
    revoke: Annotated[bool, typer.Option("--revoke", help="Make all tokens of the maintainer void.")] = False,
) -> None:
    """Give a maintainer a token for the page on which files are approved, edited and withdrawn, or make it void."""
    from vcrgen.leaderboard import maintainers

    opened = _open(board)
    if revoke:
        console.out.print(f"Tokens that are void now: {maintainers.revoke(opened, name)}.")
    else:
        typer.echo(maintainers.give_token(opened, name))
        console.err.print("This is the only time it is shown; the board keeps a hash of it.")


@leaderboard.command("list", epilog=_examples("list board --state failed"))
def list_(
    board: _Board,
    state: Annotated[
        str | None, typer.Option(help="queued, scoring, scored, failed or removed.", show_default="all")
    ] = None,
) -> None:
    """List submissions with their ids, and why those failed that did."""
    from vcrgen.leaderboard.records import State
    from vcrgen.leaderboard.store.submissions import listed

    if state is not None and state not in list(State):
        raise LeaderboardError(f"Unknown state {state!r}; known: {', '.join(State)}.")
    with _open(board).reading() as connection:
        found = listed(connection, State(state) if state else None)
    if not found:
        console.err.print(f"No submission has the state {state}." if state else "No submission has come yet.")
    for one in found:
        when = one.received.strftime("%Y-%m-%d %H:%M")
        line = f"{one.id[:12]}  {when}  {one.state:8}  {one.set}  {escape(one.facts.model)}, {escape(one.facts.team)}"
        console.say(line, highlight=False)
        for problem in one.problems:
            console.say(f"    {escape(problem)}", highlight=False)


@leaderboard.command(epilog=_examples("remove board 5f2c81d0 --reason 'trained on the test set'"))
def remove(
    board: _Board,
    submission: Annotated[str, typer.Argument(help="Its id, or the beginning of it; see `vcrgen leaderboard list`.")],
    reason: Annotated[str, typer.Option(help="Why; the board shows it.")],
) -> None:
    """Take a submission off the board; the log and the model's page keep a trace of it."""
    from vcrgen.leaderboard.commands import remove as run

    removed = run(_open(board), submission, reason)
    who = f"{escape(removed.facts.model)} of {escape(removed.facts.team)}"
    console.out.print(f"{who}: {removed.id} is removed.", soft_wrap=True)


@leaderboard.command(epilog=_examples("choose board 5f2c81d0"))
def choose(
    board: _Board,
    submission: Annotated[str, typer.Argument(help="Its id, or the beginning of it; see `vcrgen leaderboard list`.")],
) -> None:
    """Make a file the one that counts for its model on its set, as its team can; otherwise the last file counts."""
    from vcrgen.leaderboard.board import maintainer
    from vcrgen.leaderboard.commands import choose as run

    chosen = run(_open(board), submission, team=None, actor=maintainer())
    console.out.print(f"{chosen.id} counts for {escape(chosen.facts.model)} on {chosen.set}.", soft_wrap=True)


@leaderboard.command(epilog=_examples("close board hidden-en"))
def close(
    board: _Board,
    name: SetName,
    early: Annotated[bool, typer.Option("--early", help="Although its last day is not over.")] = False,
) -> None:
    """End the phase of a hidden set: score the final part of the files that count, and show all scores at once."""
    from vcrgen.leaderboard.closing import close as run

    with ConsoleWatcher(console.err, doing="scoring", unit="files", kept="scored") as watcher:
        count = run(_open(board), name, watcher, early=early)
    console.out.print(
        f"{escape(name)} is closed; {counted(count, 'model has its scores', 'models have their scores')} on the final "
        "part."
    )


@leaderboard.command(epilog=_examples("rescore board"))
def rescore(board: _Board) -> None:
    """Score everything once more, after an update of vcrgen or a changed set; the old scores stay in the database."""
    from vcrgen.leaderboard.commands import rescore as run

    console.out.print(
        f"{counted(run(_open(board)), 'submission waits', 'submissions wait')} to be scored again, by `serve` or by "
        "the next `add`."
    )


@leaderboard.command(epilog=_examples("log board"))
def log(board: _Board) -> None:
    """Print the log of everything that happened, and check that nothing in it was changed."""
    from vcrgen.leaderboard.store.log import check_log, read_log
    from vcrgen.leaderboard.store.results import check_scores

    with _open(board).reading() as connection:
        for event in read_log(connection):
            facts = " ".join(f"{name}={value}" for name, value in sorted(event.facts.items()))
            when = event.at.strftime("%Y-%m-%d %H:%M:%S")
            typer.echo(f"{event.number} {when} {event.actor}: {event.what} {event.subject} {facts}".rstrip())
        count = check_log(read_log(connection))
        check_scores(connection, read_log(connection))
    console.out.print(f"{counted(count, 'line')}; the chain is whole.", style="dim")


@leaderboard.command(epilog=_examples("backup board board-2026-11-21.tar.gz"))
def backup(board: _Board, file: Annotated[Path, typer.Argument(help="A new file.")]) -> None:
    """Write the whole board into one file, also while it is served. Keep it private."""
    from vcrgen.leaderboard.backup import backup as run

    size = run(_open(board), file)
    console.say(f"[bold]{escape(str(file))}[/]: {size / 1e6:,.1f} MB. Keep it private.")


@leaderboard.command(
    epilog=_examples(
        "restore board-2026-11-21.tar.gz board",
        "restore board.tar.gz board --database postgresql+psycopg://vcr@localhost/vcr",
    )
)
def restore(
    file: Annotated[Path, typer.Argument(help="What `vcrgen leaderboard backup` wrote.")],
    board: Annotated[Path, typer.Argument(help="A new folder.")],
    database: _Database = "",
    data: _Data = None,
) -> None:
    """Make a board of a backup, in SQLite or PostgreSQL; --data says where a set is on this machine."""
    from vcrgen.leaderboard.backup import restore as run

    restored = run(file, board, database=database, data=data or [])
    names = ", ".join(one.name for one in restored.sets)
    console.say(f"[bold]{escape(str(board))}[/] is restored; sets: {escape(names)}.")


@leaderboard.command(epilog=_examples("upgrade board"))
def upgrade(board: _Board) -> None:
    """Bring the database of an older vcrgen to this version; make a backup first."""
    from vcrgen.leaderboard.store.migrate import upgrade as run

    run(_open(board, checked=False).engine)
    console.out.print("The database is up to date.")


leaderboard.add_typer(sets, name="sets")
app.add_typer(leaderboard, name="leaderboard")
