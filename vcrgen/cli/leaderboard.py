"""``vcrgen leaderboard``: the commands of a board's maintainers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.root import add_group
from vcrgen.core.errors import LeaderboardError
from vcrgen.core.extras import needs_extra
from vcrgen.core.files import output_errors, write_text
from vcrgen.core.options import drop_none, validate_options
from vcrgen.core.plurals import pluralize
from vcrgen.data.tasks.task import VCR_TASK
from vcrgen.leaderboard.disclosure import in_points
from vcrgen.report.escape import escape_terminal
from vcrgen.web.options import ServiceOptions

if TYPE_CHECKING:
    from vcrgen.leaderboard.board import Board
    from vcrgen.leaderboard.client import SubmissionAnswer
    from vcrgen.leaderboard.page_records import Estimate
    from vcrgen.leaderboard.records import Submission, TestSet

_Board = Annotated[Path, typer.Argument(help="Folder of the board.")]
_SetName = Annotated[str, typer.Argument(help="Name of the set.")]
_Data = Annotated[
    list[str] | None, typer.Option("--data", "-d", help="NAME:PATH of a dataset or of a hidden set's key. Repeatable.")
]
_Database = Annotated[
    str, typer.Option(help="postgresql+psycopg://USER:PASSWORD@HOST/NAME.", show_default="SQLite in the folder")
]


def _examples(*lines: str) -> str:
    return examples(*(f"vcrgen leaderboard {line}" for line in lines))


def _open(folder: Path) -> Board:
    from vcrgen.leaderboard.board import open_board

    return open_board(folder)


def _print_sets(sets: Sequence[TestSet]) -> None:
    """Print a table of sets, with a warning for each that discloses its key."""
    from vcrgen.leaderboard.disclosure import INSTANT_SENTENCE
    from vcrgen.leaderboard.records import Feedback

    table = console.ruled_table("set", "language", "images", "spans", "answers", "feedback", "phase")
    for test_set in sets:
        kind = "hidden" if test_set.hidden else "public"
        size = (f"{test_set.questions:,}", f"{test_set.spans:,}")
        table.add_row(
            test_set.name, test_set.language, *size, kind, test_set.lifecycle.feedback.value, test_set.lifecycle.phase
        )
    console.out.print(table)
    for test_set in sets:
        if test_set.lifecycle.feedback is Feedback.INSTANT:
            console.say(f"{escape(test_set.name)}: {INSTANT_SENTENCE}", highlight=False)


leaderboard = add_group(
    "leaderboard",
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
    title: Annotated[str, typer.Option(help="Head of every page.", show_default="what the sets are")] = "",
    contact: Annotated[str, typer.Option(help="How teams reach you.")] = "",
    database: _Database = "",
    reported: Annotated[bool, typer.Option(help="Begin with the published results, as quoted rows.")] = True,
    feedback: Annotated[
        str,
        typer.Option(
            help="Feedback on a hidden set: ladder (improvements of the best score on a split), or instant (all "
            "rounded scores; they disclose the key).",
            show_default="ladder",
        ),
    ] = "",
    view: Annotated[str, typer.Option(help="View whose exact match a ladder shows.", show_default="stacked")] = "",
    opens: Annotated[
        str, typer.Option(help="First day of submissions to hidden sets: 2026-12-01, in UTC.", show_default="now")
    ] = "",
    closes: Annotated[
        str, typer.Option(help="Last day of submissions: 2026-12-31, in UTC.", show_default="until `close`")
    ] = "",
    protocol: Annotated[
        str | None,
        typer.Option(
            help=f"Protocol of a set of captions: one of {', '.join(VCR_TASK.protocols)}.",
            show_default=VCR_TASK.protocols[0],
        ),
    ] = None,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Take --feedback instant, by which the key can be read out.")
    ] = False,
) -> None:
    """Make a board, with its settings in BOARD/board.yaml."""
    from vcrgen.leaderboard.new_board import init_board
    from vcrgen.leaderboard.rotation import check_unsafe, make_lifecycle
    from vcrgen.leaderboard.settings import Settings

    if not data:
        raise LeaderboardError("Name the sets that the board scores with --data NAME:PATH.")
    settings = validate_options(Settings, {"title": title, "contact": contact, "database": database})
    check_unsafe(feedback, unsafe=unsafe)
    lifecycle = make_lifecycle(feedback=feedback, view=view, opens=opens, closes=closes)
    made = init_board(board, data, settings, with_reported=reported, lifecycle=lifecycle, protocol=protocol)
    _print_sets(made.sets)
    place = escape(str(board))
    console.out.print(f"[bold]{place}[/] is a board; its settings are in {escape(str(board / 'board.yaml'))}.")
    console.say_next("Open it", "vcrgen", "leaderboard", "serve", board)


@leaderboard.command(epilog=_examples("apply board"))
def apply(board: _Board) -> None:
    """Put the sets of BOARD/board.yaml into use: add, move and retire them, change their dates; and list them."""
    from vcrgen.leaderboard.rotation import apply_settings

    opened, changes = apply_settings(board)
    for change in changes:
        console.say(f"[bold]{escape(change.set)}[/]: {change.what}.", highlight=False)
    _print_sets(opened.sets)


@leaderboard.command(epilog=_examples("serve board", "serve board --host 0.0.0.0 --port 8080 --proxy 10.0.0.1"))
@options_of(ServiceOptions)
def serve(
    board: _Board,
    **options: Any,
) -> None:
    """Run the service, which takes and scores submissions, until Ctrl-C or SIGTERM.

    First the sets of BOARD/board.yaml are put into use, as `apply` does.
    """
    from vcrgen.leaderboard.rotation import apply_settings

    opened, _ = apply_settings(board)
    try:
        from vcrgen.leaderboard.service.serve import serve as run
    except ModuleNotFoundError as missing:
        raise LeaderboardError(needs_extra("The service", "serve", missing.name)) from None
    run(opened, validate_options(ServiceOptions, drop_none(options)))


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
    """Submit outputs without the service, and score them; exit code 1 if they are rejected."""
    from vcrgen.leaderboard.commands import add as run
    from vcrgen.leaderboard.model_facts import check_facts
    from vcrgen.leaderboard.store.teams import all_teams

    facts = check_facts(team=team, model=model, link=link, access=access, size=size, released=released)
    opened = _open(board)
    with opened.reading() as connection:
        teams = [name for name, _ in all_teams(connection)]
    submission = run(opened, predictions, facts, set_name=test_set)
    if submission.problems:
        console.say(f"[bold]{escape(str(predictions))}[/] is rejected:")
        for problem in submission.problems:
            console.say(f"  {escape(problem)}", highlight=False)
        raise typer.Exit(1)
    _print_scores(opened, submission)
    _doubt_team(facts.team, teams, f"`vcrgen leaderboard remove` takes back {submission.id[:12]}.")


@leaderboard.command(
    epilog=_examples(
        "submit https://board.example.org preds.jsonl --model 'My VLM'",
        "submit https://board.example.org preds.jsonl --set hidden-en --model 'My VLM' --size 7B --access open",
    )
)
def submit(
    url: Annotated[str, typer.Argument(help="Address of the board.")],
    predictions: Annotated[Path, typer.Argument(help="File of model outputs.")],
    model: Annotated[str, typer.Option(help="Name of the model.")],
    test_set: Annotated[
        str | None, typer.Option("--set", help="The test set.", show_default="the only one that takes files")
    ] = None,
    link: Annotated[str, typer.Option(help="Address of the model or its paper.")] = "",
    access: Annotated[str, typer.Option(help="open, closed or unknown.")] = "unknown",
    size: Annotated[str, typer.Option(help="Parameters: 7B, 1.3B, 350M.")] = "",
    released: Annotated[str, typer.Option(help="Date of release: YYYY-MM-DD.")] = "",
    private: Annotated[bool, typer.Option("--private", help="Only the team sees it, until it chooses it.")] = False,
) -> None:
    """Submit outputs to a board elsewhere with the team's token in VCRGEN_BOARD_TOKEN, and wait for the result.

    What the board would refuse is not sent. Exit code 1 if the file is refused or rejected.
    """
    from vcrgen.leaderboard.client import TOKEN_VARIABLE
    from vcrgen.leaderboard.client import submit as run

    facts = {"model": model, "link": link, "access": access, "size": size, "released": released}
    result = run(
        url,
        predictions,
        facts,
        set_name=test_set,
        private=private,
        token=os.environ.get(TOKEN_VARIABLE),
        say=lambda text: console.err.print(escape(text), highlight=False),
    )
    if result.answer is None:
        console.say_plain(f"{predictions} is not sent, as the board would refuse it:")
    elif result.answer.problems:
        console.say_plain(f"{predictions} is rejected:")
    for problem in result.refused or (result.answer.problems if result.answer else ()):
        console.say_plain(f"  {problem}")
    if result.answer is not None:
        _print_answer(result.answer)
        console.say_plain(f"Page: {result.page}")
    if result.refused or (result.answer is not None and result.answer.status == "failed"):
        raise typer.Exit(1)


def _print_answer(answer: SubmissionAnswer) -> None:
    """Print what a board tells of a submission; its texts are a stranger's."""
    from vcrgen.data.tasks.task import LABELS

    if answer.feedback:
        leading = next((value for name, value in answer.feedback.items() if name in LABELS), None)
        shown = f"{100 * leading:g} %" if isinstance(leading, float) else "not better than the team's best"
        console.say_plain(f"{answer.set}: {shown} on the feedback split.")
    elif answer.scores:
        metrics = [name for name in LABELS if any(name in score for score in answer.scores)]
        axis = "lang" if "lang" in answer.scores[0] else "mode"
        table = console.ruled_table(axis, "view", *(LABELS[name] for name in metrics), "rank")
        for score in answer.scores:
            cells = [score.get(name) for name in (axis, "view", *metrics, "rank")]
            table.add_row(*map(_as_cell, cells))
        console.out.print(table)
    console.say_plain(f"Submission {answer.id} is {answer.status}.")


def _as_cell(value: Estimate | int | str | None) -> str:
    if isinstance(value, int | str):
        return escape(escape_terminal(str(value)))
    return "" if value is None else f"{100 * value.value:.2f}"


def _print_scores(board: Board, submission: Submission) -> None:
    from vcrgen.data.tasks.task import VCR_TASK
    from vcrgen.leaderboard.store.models import ladder_feedback, submission_cells
    from vcrgen.leaderboard.store.reader import BoardReader

    with board.reading() as connection:
        reader = BoardReader(board.settings, connection)
        cells, feedback = submission_cells(reader, submission.id), ladder_feedback(reader, submission)
    if feedback is not None:
        score = (
            "not better than the team's best"
            if feedback.leading_score is None
            else f"{100 * feedback.leading_score:g} %"
        )
        where = f"{feedback.task.leading.in_text} on {feedback.view.label}"
        basis = f"{where} of the feedback split, in steps of {in_points(feedback.step)}"
        console.say(f"{escape(submission.set)}: {score} ({basis}).", highlight=False)
        console.out.print(f"Submission {submission.id} is taken.", highlight=False)
        return
    task = cells[0].track.task if cells else VCR_TASK
    labels = (task.leading.in_text, task.metrics[task.main_metrics[1]].label)
    table = console.ruled_table("set", task.axis_label.lower(), "view", *labels, "rank", "of")
    for cell in cells:
        estimates = (cell.estimates.get(metric) for metric in task.main_metrics)
        figures = ("" if estimate is None else f"{100 * estimate.value:.2f}" for estimate in estimates)
        rank = str(cell.rank) if cell.rank == cell.worst_rank else f"{cell.rank} ({cell.rank}-{cell.worst_rank})"
        table.add_row(submission.set, cell.track.mode, cell.track.view.label, *figures, rank, str(cell.models))
    console.out.print(table)
    console.out.print(f"Submission {submission.id} is on the board.", highlight=False)


@leaderboard.command(epilog=_examples("export board --to site --out site", "export board --to latex > table.tex"))
def export(
    board: _Board,
    to: Annotated[str, typer.Option(help="site, md, csv, latex or json.")],
    out: Annotated[Path | None, out_option("A folder, or a file.", default="BOARD-site; or print")] = None,
    reported: Annotated[
        bool | None, typer.Option(help="Rows from publications.", show_default="all but latex have them")
    ] = None,
) -> None:
    """Export the board as a static site, or as tables."""
    from vcrgen.leaderboard.export import KINDS, SITE, export_site, export_tables

    if to not in KINDS:
        raise LeaderboardError(f"Unknown form {to!r}; known: {', '.join(KINDS)}.")
    opened = _open(board)
    if to == SITE:
        folder = out or board.absolute().with_name(f"{board.absolute().name}-site")
        count = export_site(opened, folder)
        console.say(f"[bold]{escape(str(folder))}[/]: {pluralize(count, 'file')}; open index.html.")
        return
    text = export_tables(opened, to, with_reported=to != "latex" if reported is None else reported)
    if out is None:
        typer.echo(text, nl=False)
    else:
        with output_errors(out):
            write_text(out.absolute(), text)
        console.say(f"Written: {escape(str(out))}")


@leaderboard.command(
    "import", epilog=_examples("import board published.csv", "import board people.json", "import board pixels.jsonl")
)
def import_(
    board: _Board,
    tables: Annotated[
        list[Path], typer.Argument(help="CSV of publications; JSON of studies; JSON Lines of `baseline template`.")
    ],
) -> None:
    """Add unranked rows: results from publications, human baselines of `study report`, the template baseline.

    Outputs of `vcrgen baseline template` are scored on the set whose ids they have.
    """
    from vcrgen.leaderboard.commands import quote

    count = quote(_open(board), tables)
    console.out.print(f"New rows: {count:,}.")


@leaderboard.command(epilog=_examples("token board --team 'Team A'", "token board --team 'Team A' --revoke"))
def token(
    board: _Board,
    team: Annotated[str | None, typer.Option(help="Name of the team.", show_default="list all teams")] = None,
    label: Annotated[str, typer.Option(help="Purpose of the token.")] = "",
    group: Annotated[
        str | None,
        typer.Option(help="Group whose teams share one limit; empty: none.", show_default="as it is"),
    ] = None,
    revoke: Annotated[bool, typer.Option("--revoke", help="Revoke all tokens of the team.")] = False,
) -> None:
    """Issue a token to a team, revoke its tokens, or list the teams."""
    from vcrgen.leaderboard import commands
    from vcrgen.leaderboard.store.teams import all_teams

    opened = _open(board)
    with opened.reading() as connection:
        teams = all_teams(connection)
    if team is None:
        if revoke:
            raise LeaderboardError("Name the team whose tokens are to be void with --team.")
        table = console.ruled_table("team", "valid tokens")
        for name, count in teams:
            table.add_row(escape(name), str(count))
        console.out.print(table)
    elif revoke:
        console.out.print(f"Tokens that are void now: {commands.revoke(opened, team)}.")
    else:
        typer.echo(commands.give_token(opened, team, label, group=group))
        console.err.print("This is the only time it is shown; the board keeps a hash of it.")
        if valid := dict(teams).get(team):
            earlier = pluralize(valid, "earlier token stays", "earlier tokens stay")
            console.err.print(f"The team's {earlier} valid.")
        _doubt_team(team, [name for name, _ in teams], "With --revoke, the token of the new team is void.")


def _doubt_team(team: str, others: Sequence[str], undo: str) -> None:
    """Say which team a new one may be taken for, or whose name was mistyped."""
    from vcrgen.leaderboard.model_facts import near_team, taken_for

    if alike := taken_for(team, others):
        console.err.print(f"People may take it for {escape(', '.join(alike))}, as the names look the same.")
    elif near := near_team(team, others):
        sentence = f"{escape(team)} is a new team; did you mean {escape(near)}? {undo}"
        console.err.print(sentence, soft_wrap=True, highlight=False)


@leaderboard.command(epilog=_examples("maintainer board Ada", "maintainer board Ada --revoke"))
def maintainer(
    board: _Board,
    name: Annotated[str, typer.Argument(help="Name of the maintainer; the public history does not show it.")],
    revoke: Annotated[bool, typer.Option("--revoke", help="Revoke all tokens of the maintainer.")] = False,
) -> None:
    """Issue or revoke a maintainer's token for the page that approves, edits and withdraws submissions."""
    from vcrgen.leaderboard import maintainers

    opened = _open(board)
    if revoke:
        console.out.print(f"Tokens that are void now: {maintainers.revoke(opened, name)}.")
    else:
        typer.echo(maintainers.give_token(opened, name))
        console.err.print("This is the only time it is shown; the board keeps a hash of it.")


@leaderboard.command("list", epilog=_examples("list board --status failed"))
def list_(
    board: _Board,
    status: Annotated[
        str | None, typer.Option(help="queued, scoring, scored, failed or removed.", show_default="all")
    ] = None,
) -> None:
    """List submissions with their ids, and the problems of failed ones."""
    from vcrgen.leaderboard.records import SubmissionStatus
    from vcrgen.leaderboard.store.submissions import list_submissions
    from vcrgen.leaderboard.times import minute

    if status is not None and status not in list(SubmissionStatus):
        raise LeaderboardError(f"Unknown state {status!r}; known: {', '.join(SubmissionStatus)}.")
    with _open(board).reading() as connection:
        submissions = list_submissions(connection, SubmissionStatus(status) if status else None)
    if not submissions:
        console.err.print(f"No submission has the state {status}." if status else "No submission has come yet.")
    for submission in submissions:
        when = minute(submission.received)
        who = f"{escape(submission.facts.model)}, {escape(submission.facts.team)}"
        line = f"{submission.id[:12]}  {when}  {submission.status:8}  {submission.set}  {who}"
        console.say(line, highlight=False)
        for problem in submission.problems:
            console.say(f"    {escape(problem)}", highlight=False)


@leaderboard.command(epilog=_examples("remove board 5f2c81d0 --reason 'trained on the test set'"))
def remove(
    board: _Board,
    submission: Annotated[str, typer.Argument(help="Its id, or the beginning of it; see `vcrgen leaderboard list`.")],
    reason: Annotated[str, typer.Option(help="Reason, which the board shows.")],
) -> None:
    """Remove a submission from the board; the log and the model's page record it."""
    from vcrgen.leaderboard.commands import refresh_ranks
    from vcrgen.leaderboard.commands import remove as run

    opened = _open(board)
    removed = run(opened, submission, reason)
    refresh_ranks(opened)
    who = f"{escape(removed.facts.model)} of {escape(removed.facts.team)}"
    console.out.print(f"{who}: {removed.id} is removed.", soft_wrap=True)


@leaderboard.command(epilog=_examples("choose board 5f2c81d0", "choose board 5f2c81d0 --take-back"))
def choose(
    board: _Board,
    submission: Annotated[str, typer.Argument(help="Its id, or the beginning of it; see `vcrgen leaderboard list`.")],
    back: Annotated[bool, typer.Option("--take-back", help="Leave it to the rule again.")] = False,
) -> None:
    """Choose the submission that counts for its model on its set; by default the last one does.

    While a ladder is open, a team has at most `closing_models` chosen models.
    """
    from vcrgen.leaderboard.commands import choose as run
    from vcrgen.leaderboard.commands import refresh_ranks, take_back
    from vcrgen.leaderboard.store.log import maintainer

    opened = _open(board)
    if back:
        taken = take_back(opened, submission, team=None, actor=maintainer())
        refresh_ranks(opened)
        console.out.print(f"{taken.id} is no longer chosen for {escape(taken.facts.model)}.", soft_wrap=True)
        return
    counted = run(opened, submission, team=None, actor=maintainer())
    refresh_ranks(opened)
    console.out.print(f"{counted.id} counts for {escape(counted.facts.model)} on {counted.set}.", soft_wrap=True)


@leaderboard.command(epilog=_examples("close board hidden-en"))
def close(
    board: _Board,
    name: _SetName,
    early: Annotated[
        bool, typer.Option("--early", help="Now, although its last day is not over, or it has none.")
    ] = False,
    leave_out: Annotated[bool, typer.Option("--leave-out", help="Without files that cannot be scored.")] = False,
) -> None:
    """Close a hidden set for good: score the final split of the submissions that count, and show all scores.

    It is closed after its last day, which is `closes` of the set in BOARD/board.yaml.
    """
    from vcrgen.leaderboard.closing import close as run
    from vcrgen.leaderboard.closing import long_files

    for model, ratio in long_files(_open(board), name):
        console.say(
            f"{escape(model)}: its outputs are {ratio:g} times as long as the answers; look for lists of guesses."
        )
    with console.progress(doing="scoring", unit="files", kept="scored") as listener:
        count = run(_open(board), name, listener, early=early, leave_out=leave_out)
    console.out.print(
        f"{escape(name)} is closed; {pluralize(count, 'model has its scores', 'models have their scores')} on the "
        "final split."
    )


@leaderboard.command("publish-key", epilog=_examples("publish-key board hidden-en --out hidden-en-key"))
def publish_key(
    board: _Board,
    name: _SetName,
    out: Annotated[Path, out_option("A new folder for the key.")],
    public: Annotated[
        Path | None, typer.Option(help="The set's public part.", show_default="the folder beside the key")
    ] = None,
) -> None:
    """Write the key of a retired set for publication, after a check of its commitment."""
    from vcrgen.leaderboard.rotation import publish_key as run

    commitment = run(_open(board), name, out, public=public)
    console.out.print(f"[bold]{escape(str(out))}[/] holds the key of {escape(name)}.")
    console.say(f"Commitment: {commitment}", highlight=False)


@leaderboard.command(epilog=_examples("rescore board"))
def rescore(board: _Board) -> None:
    """Score all submissions again, after an update of vcrgen or a changed set; old scores stay in the database."""
    from vcrgen.leaderboard.commands import rescore as run

    console.out.print(
        f"{pluralize(run(_open(board)), 'submission waits', 'submissions wait')} to be scored again, by `serve` or by "
        "the next `add`."
    )


@leaderboard.command(epilog=_examples("log board", "log board --head 57:3f2a..."))
def log(
    board: _Board,
    head: Annotated[
        str, typer.Option(help="An earlier NUMBER:CHAIN, from a page or a backup, to compare with the log.")
    ] = "",
) -> None:
    """Print the log; verify its hash chain, and that the board shows what the log says."""
    from vcrgen.leaderboard.store import log as lines
    from vcrgen.web.database.engine import as_written

    opened = _open(board)
    with opened.reading() as connection, as_written(opened.engine):
        for event in lines.read_log(connection):
            facts = " ".join(f"{name}={value}" for name, value in sorted(event.facts.items()))
            when = event.at.strftime("%Y-%m-%d %H:%M:%S")
            subject = f"model {event.subject}" if "model" in event.facts else event.subject
            typer.echo(f"{event.number} {when} {event.actor}: {event.what} {subject} {facts}".rstrip())
        if head:
            lines.check_head(connection, head)
        count = lines.check_board(connection)
        lines.check_unchanged(lines.read_log(connection))
        console.out.print(f"{pluralize(count, 'line')}; the chain is whole, and the board is as it says.", style="dim")
        console.say(f"Head: {lines.log_head(connection)}", highlight=False)


@leaderboard.command(epilog=_examples("backup board board-2026-11-21.tar.gz"))
def backup(board: _Board, file: Annotated[Path, typer.Argument(help="A new file.")]) -> None:
    """Back up the board to one private file, also while the service runs."""
    from vcrgen.leaderboard.backup import backup as run

    written = run(_open(board), file)
    console.say(f"[bold]{escape(str(file))}[/]: {written.bytes / 1e6:,.1f} MB. Keep it private.")
    console.say(f"Head of its log: {written.head}", highlight=False)


@leaderboard.command(
    epilog=_examples(
        "restore board-2026-11-21.tar.gz board",
        "restore board.tar.gz board --database postgresql+psycopg://vcr@localhost/vcr",
    )
)
def restore(
    file: Annotated[Path, typer.Argument(help="A file of `vcrgen leaderboard backup`.")],
    board: Annotated[Path, typer.Argument(help="A new folder.")],
    database: _Database = "",
    data: _Data = None,
) -> None:
    """Restore a backup to SQLite or PostgreSQL; --data names the place of a set on this machine."""
    from vcrgen.leaderboard.backup import restore as run

    restored = run(file, board, database=database, data=data or [])
    names = ", ".join(test_set.name for test_set in restored.sets)
    console.say(f"[bold]{escape(str(board))}[/] is restored; sets: {escape(names)}.")
    for test_set in restored.sets:
        if not Path(test_set.path).exists():
            console.err.print(
                f"The set {escape(test_set.name)} is not at {escape(test_set.path)}, so its files wait: write its "
                f"place into {escape(str(board / 'board.yaml'))}, or restore with --data {escape(test_set.name)}:PATH.",
                soft_wrap=True,
                highlight=False,
            )
    console.say_next("Open it", "vcrgen", "leaderboard", "serve", board)
