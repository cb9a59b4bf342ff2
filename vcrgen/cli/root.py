"""The command ``vcrgen``: what every command shares. The commands are in the other modules of this room."""

import sys
from typing import Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from vcrgen.cli import console
from vcrgen.errors import VcrgenError

GOES_ON = ("build", "hidden", "baseline", "predict", "finetune")  # commands that take up what an interruption left


class BeginsAnew(KeyboardInterrupt):
    """An interruption of a job that keeps nothing, in one of the commands that mostly do."""


class Commands(TyperGroup):
    """Ends a command that failed: what a user can mend is one sentence and exit code 2, never a traceback."""

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
            keeps = ctx.invoked_subcommand in GOES_ON and not isinstance(stopped, BeginsAnew)
            console.err.print(f"Interrupted. {goes_on if keeps else nothing}", soft_wrap=True)
            sys.exit(130)
        except BrokenPipeError:
            sys.stderr.close()  # the reader of our output went away (`| head`)
            sys.exit(141)


app = typer.Typer(
    name="vcrgen",
    cls=Commands,
    help="Build and score Visual Caption Restoration data: images with captions of which a model sees only "
    "parts of some letters.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
