"""The command ``vcrgen``: what every command shares. The commands are in the other modules of this room."""

import inspect
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from vcrgen.cli import console
from vcrgen.cli.options import examples
from vcrgen.errors import VcrgenError

GOES_ON = ("build", "hidden", "baseline", "predict", "finetune")  # commands that take up what an interruption left
# In the order in which somebody meets them; the help lists those that are not named here behind them.
ORDER = (
    *("build", "plan", "inspect", "preview", "export", "hidden", "predict", "baseline", "finetune"),
    *("score", "compare", "validate", "contamination", "bloom", "profile", "analyze", "leaderboard", "study"),
    *("fonts", "calibrate", "doctor"),
)


class _Interrupted(KeyboardInterrupt):
    def __init__(self, *, keeps: bool) -> None:
        super().__init__()
        self.keeps = keeps


@contextmanager
def interruption(*, keeps: bool) -> Iterator[None]:
    """Around a job that takes up what an interruption left, or does not, where its command is no guide to that.

    For example, a set of pairs that ``vcrgen hidden`` makes is gone on with, and a set of questions begins anew.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise _Interrupted(keeps=keeps) from None


class Commands(TyperGroup):
    """Ends a command that failed: what a user can mend is one sentence and exit code 2, never a traceback."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands, as the help shows them."""
        return sorted(super().list_commands(ctx), key=lambda name: (*ORDER, name).index(name))

    def main(self, *args: Any, **options: Any) -> Any:
        """Read the command line and run it, so that any letter can be printed.

        What goes into a file or a pipe is UTF-8, on Windows too. A terminal that lacks a letter shows its number.
        """
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                encoding = None if stream.isatty() else "utf-8"
                stream.reconfigure(encoding=encoding, errors="backslashreplace")
        return super().main(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except VcrgenError as error:
            console.err.print(f"[bold red]Error:[/] {escape(str(error))}", soft_wrap=True)
            sys.exit(2)
        except KeyboardInterrupt as stopped:
            goes_on = "What was finished is kept; run the same command again to go on."
            nothing = "Nothing is half written; the command begins anew next time."
            keeps = stopped.keeps if isinstance(stopped, _Interrupted) else ctx.invoked_subcommand in GOES_ON
            console.err.print(f"Interrupted. {goes_on if keeps else nothing}", soft_wrap=True)
            sys.exit(130)
        except BrokenPipeError:
            sys.stderr.close()  # the reader of our output went away (`| head`)
            sys.exit(141)
        except Exception as error:
            _explain_names(error)
            raise


def _explain_names(error: Any) -> None:
    """Say of words too many that are files how they came there: a shell wrote them in place of a pattern.

    Only a command that reads pairs takes a pattern itself. The error is of typer's own class or click's, as the version
    has it.
    """
    words = re.fullmatch(r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)", getattr(error, "message", None) or "")
    if (
        words
        and any(map(os.path.exists, words[1].split()))
        and any(one.name == "source" for one in error.ctx.command.params)
    ):
        error.message += (
            ". Put a pattern such as 'data/*.parquet' in quotes: without them the shell writes names of files in its "
            "place."
        )


app = typer.Typer(
    name="vcrgen",
    cls=Commands,
    help="Build, hide, score and rank Visual Caption Restoration data, images with captions of which a model sees only "
    "parts of some letters, and question sets by Bloom's levels.",
    epilog=examples(
        "vcrgen build",
        "vcrgen preview data/vcr-samples-en-both",
        "vcrgen predict data/my-vcr --endpoint http://127.0.0.1:8000/v1 --model qwen --out preds.jsonl",
        "vcrgen score preds.jsonl --data data/my-vcr",
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    # Whoever writes `licence` or `license` in the name of an option is understood; the help shows one of them.
    context_settings={
        "help_option_names": ["-h", "--help"],
        "token_normalize_func": lambda name: name.replace("licence", "license"),
    },
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vcrgen {version('vcrgen')}")
        raise typer.Exit


@app.callback()
def main(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Take what stands before a command."""


def join_lines(commands: typer.Typer) -> None:
    """Let the help of all commands be wrapped where a terminal ends, not where the lines of the code do, too."""
    for command in commands.registered_commands:
        paragraphs = (inspect.getdoc(command.callback) or "").split("\n\n")
        command.help = command.help or "\n\n".join(" ".join(text.split()) for text in paragraphs)
    for group in commands.registered_groups:
        if group.typer_instance is not None:
            join_lines(group.typer_instance)
