"""``vcrgen leaderboard sets``, and shared parts of the commands of boards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from vcrgen.cli import console
from vcrgen.cli.options import examples, out_option
from vcrgen.errors import LeaderboardError

if TYPE_CHECKING:
    from vcrgen.leaderboard.board import Board
    from vcrgen.leaderboard.records import TestSet

BoardFolder = Annotated[Path, typer.Argument(help="Folder of the board.")]
FeedbackKind = Annotated[
    str,
    typer.Option(
        help="Feedback on a hidden set: ladder (improvements of the best score on a split), or instant (all rounded "
        "scores; they disclose the key).",
        show_default="ladder",
    ),
]
LadderView = Annotated[str, typer.Option(help="View whose exact match a ladder shows.", show_default="stacked")]
Unsafe = Annotated[bool, typer.Option("--unsafe", help="Take --feedback instant, by which the key can be read out.")]
ProtocolName = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        help="Protocol of a set of captions: vcrgen, paper, vlmevalkit or lmms-eval.",
        show_default="vcrgen",
    ),
]
Opens = Annotated[
    str, typer.Option(help="First day of submissions to hidden sets: 2026-12-01, in UTC.", show_default="now")
]
Closes = Annotated[str, typer.Option(help="Last day of submissions.", show_default="until `close`")]
SetName = Annotated[str, typer.Argument(help="Name of the set.")]
SetSource = Annotated[str, typer.Argument(help="NAME:PATH of a dataset or of a hidden set's key.")]


def board_examples(*lines: str) -> str:
    """Return examples of commands of boards, for the help."""
    return examples(*(f"vcrgen leaderboard {line}" for line in lines))


def open_folder(folder: Path) -> Board:
    """Return the board of a folder."""
    from vcrgen.leaderboard.board import open_board

    return open_board(folder)


def check_unsafe(feedback: str, *, unsafe: bool) -> None:
    """Refuse, with a LeaderboardError, instant feedback that is not said to be unsafe."""
    if feedback == "instant" and not unsafe:
        raise LeaderboardError(
            "With --feedback instant a team that has a few guesses for each text can read the key out of the scores; "
            "take the ladder, or say --unsafe where you trust all teams."
        )


def print_sets(sets: Sequence[TestSet]) -> None:
    """Print a table of sets, with a warning for each that discloses its key."""
    from vcrgen.leaderboard.disclosure import INSTANT_SENTENCE
    from vcrgen.leaderboard.records import Feedback

    table = console.ruled_table("set", "language", "images", "spans", "answers", "feedback", "phase")
    for one in sets:
        kind = "hidden" if one.hidden else "public"
        size = (f"{one.questions:,}", f"{one.spans:,}")
        table.add_row(one.name, one.language, *size, kind, one.lifecycle.feedback.value, one.lifecycle.phase)
    console.out.print(table)
    for one in sets:
        if one.lifecycle.feedback is Feedback.INSTANT:
            console.say(f"{escape(one.name)}: {INSTANT_SENTENCE}", highlight=False)


sets = typer.Typer(
    no_args_is_help=True,
    help="The test sets of a board: add, retire, replace, publish a key.",
    epilog=board_examples("sets list board", "sets replace board hidden-en hidden-en-2:hidden-2027/key"),
)


@sets.command("list", epilog=board_examples("sets list board"))
def list_sets(board: BoardFolder) -> None:
    """List the sets with their feedback and phase."""
    print_sets(open_folder(board).sets)


@sets.command("add", epilog=board_examples("sets add board hidden-fr:hidden-fr/key --closes 2027-03-01"))
def add_set(
    board: BoardFolder,
    data: SetSource,
    feedback: FeedbackKind = "",
    view: LadderView = "",
    opens: Opens = "",
    closes: Closes = "",
    protocol: ProtocolName = None,
    unsafe: Unsafe = False,
) -> None:
    """Add a set to the board."""
    from vcrgen.leaderboard import rotation

    check_unsafe(feedback, unsafe=unsafe)
    lifecycle = rotation.make_lifecycle(feedback=feedback, view=view, opens=opens, closes=closes)
    print_sets([rotation.add(open_folder(board), *_parse_named_set(data), lifecycle, protocol=protocol)])


@sets.command("retire", epilog=board_examples("sets retire board hidden-en"))
def retire_set(board: BoardFolder, name: SetName) -> None:
    """Close a set to submissions; its rows stay, and are marked."""
    from vcrgen.leaderboard.rotation import retire

    retire(open_folder(board), name)
    console.out.print(f"{escape(name)} is retired.")


@sets.command("replace", epilog=board_examples("sets replace board hidden-en hidden-en-2:hidden-2027/key"))
def replace_set(
    board: BoardFolder,
    name: SetName,
    data: SetSource,
    feedback: FeedbackKind = "",
    view: LadderView = "",
    opens: Opens = "",
    closes: Closes = "",
    protocol: ProtocolName = None,
    unsafe: Unsafe = False,
) -> None:
    """Retire a set and add its successor."""
    from vcrgen.leaderboard import rotation

    check_unsafe(feedback, unsafe=unsafe)
    lifecycle = rotation.make_lifecycle(feedback=feedback, view=view, opens=opens, closes=closes)
    print_sets([rotation.replace_set(open_folder(board), name, *_parse_named_set(data), lifecycle, protocol=protocol)])


@sets.command("dates", epilog=board_examples("sets dates board hidden-en --closes 2027-03-15"))
def move_dates(board: BoardFolder, name: SetName, opens: Opens = "", closes: Closes = "") -> None:
    """Change the dates of submissions to a set."""
    from vcrgen.leaderboard.rotation import move_dates as run

    print_sets([run(open_folder(board), name, opens=opens, closes=closes)])


@sets.command("publish-key", epilog=board_examples("sets publish-key board hidden-en --out hidden-en-key"))
def publish_key(
    board: BoardFolder,
    name: SetName,
    out: Annotated[Path, out_option("A new folder for the key.")],
    public: Annotated[
        Path | None, typer.Option(help="The set's public part.", show_default="the folder beside the key")
    ] = None,
) -> None:
    """Write the key of a retired set for publication, after a check of its commitment."""
    from vcrgen.leaderboard.rotation import publish_key as run

    commitment = run(open_folder(board), name, out, public=public)
    console.out.print(f"[bold]{escape(str(out))}[/] holds the key of {escape(name)}.")
    console.say(f"Commitment: {commitment}", highlight=False)


def _parse_named_set(data: str) -> tuple[str, Path]:
    from vcrgen.leaderboard.board import named_sets

    ((name, path),) = named_sets([data]).items()
    return name, path
