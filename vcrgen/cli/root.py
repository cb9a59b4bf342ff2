"""The command ``vcrgen``: the table of its commands, and what all of them share.

A command's module is imported when the command is called: ``vcrgen --help`` and shell completion need the table only.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, NamedTuple, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from vcrgen.cli import console
from vcrgen.cli.options import examples
from vcrgen.core.errors import VcrgenError


class CommandRow(NamedTuple):
    """A command below ``vcrgen``.

    Attributes:
        help: The first paragraph of its help.
        modules: Modules of this package that add it, and its own commands, to ``app``.
        resumes: Whether it continues what an interruption left.
    """

    help: str
    modules: tuple[str, ...]
    resumes: bool = False


# In the order of the help.
COMMANDS = {
    "build": CommandRow("Build a VCR dataset from image-caption pairs.", ("build",), True),
    "inspect": CommandRow(
        "Show a dataset's statistics as in the paper's Table 4, rejected pairs, and its signature.", ("datasets",)
    ),
    "view": CommandRow(
        "Look at a dataset, and at every output beside what was expected, on a page of this machine.", ("view",)
    ),
    "export": CommandRow("Write a dataset or scores in the format of another tool.", ("datasets",)),
    "hidden": CommandRow("Make test sets whose answers stay secret, and check that they do.", ("hidden",), True),
    "predict": CommandRow("Send the images to a model, and write its answers as outputs to score.", ("predict",), True),
    "baseline": CommandRow(
        "Baselines of OCR, of visible pixels and of texts alone, to compare models with.", ("baseline",), True
    ),
    "finetune": CommandRow(
        "Train a LoRA adapter that recovers masked text, by TRL, on a dataset or on examples made while it trains.",
        ("finetune",),
        True,
    ),
    "score": CommandRow(
        "Score model outputs: exact match and Jaccard index of the nearest n-gram, with confidence intervals.",
        ("score",),
    ),
    "compare": CommandRow(
        "Compare saved scores pair by pair, with the tables and tests of vcrgen score --compare.", ("score",)
    ),
    "validate": CommandRow(
        "Check files of outputs without scoring them; exit code 1 if --strict would reject one.", ("score",)
    ),
    "bloom": CommandRow(
        "Make multiple-choice benchmarks (MCQ): questions about pictures at Bloom's levels.",
        ("bloom", "bloom_audit", "bloom_coverage"),
    ),
    "profile": CommandRow(
        "Show the accuracy profile of models: by level and category, in each language, by each method, with every gap.",
        ("profile",),
    ),
    "analyze": CommandRow(
        "Analyze a benchmark by the scores of models: redundant and weak tasks, with confidence intervals. Needs "
        "scipy.",
        ("analyze",),
    ),
    "leaderboard": CommandRow(
        "Run a leaderboard: receive submissions, score them, publish the ranking.", ("leaderboard",)
    ),
    "study": CommandRow(
        "Run a human baseline study: invite raters, show them the items, report their results.", ("study",)
    ),
    "demo": CommandRow(
        "Build from built-in pairs, score outputs, and write pages of failures and a board, offline.", ("demo",)
    ),
    "fonts": CommandRow("List, check and fetch fonts.", ("fonts",)),
}


LOUDNESS = ("-q", "--quiet", "-v", "--verbose")


class Commands(TyperGroup):
    """The group ``vcrgen``, whose commands are imported when they are taken.

    Args:
        commands: Those that the imported modules have registered so far.
        options: As of any group.
    """

    def __init__(self, *, commands: dict[str, Any], **options: Any) -> None:
        rows = {name: TyperCommand(name, help=row.help) for name, row in COMMANDS.items()}
        super().__init__(commands=rows, **options)  # type: ignore[arg-type]
        self.registered = commands

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command; None if there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        for module in COMMANDS[cmd_name].modules:
            import_module(f"vcrgen.cli.{module}")
        group = typer.main.get_command(app)
        assert isinstance(group, Commands)
        return _join_lines(group.registered[cmd_name])

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help without importing any command."""
        self._overview().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete a command's name, or an option of the group, without importing any command."""
        ctx.command = self._overview()
        return ctx.command.shell_complete(ctx, incomplete)

    def _overview(self) -> TyperGroup:
        """The same group with stubs of the rows in place of the commands, so that nothing is imported."""
        attributes: dict[str, Any] = {
            name: getattr(self, name) for name in ("name", "commands", "params", "help", "epilog")
        }
        return TyperGroup(**attributes, rich_markup_mode=self.rich_markup_mode)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an interruption is told as its row says."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            row = COMMANDS.get(ctx.invoked_subcommand)
            end_interrupted(keeps=row is not None and row.resumes)

    def main(self, args: Any = None, *, standalone_mode: bool = True, **options: Any) -> Any:  # type: ignore[override]
        """Run the command line; a mistake of the user is one sentence and exit code 2.

        Files and pipes get UTF-8; a terminal shows characters that it lacks as escapes.
        """
        words = sys.argv[1:] if args is None else list(args)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
        try:
            code = super().main(_loudness_first(words), standalone_mode=False, **options) or 0
        except (typer.TyperException, VcrgenError, OSError) as error:
            if (mistake := _mistake(error)) is None:
                raise
            if mistake:
                console.say_mistake(mistake)
            code = 2
        if standalone_mode:
            sys.exit(code)
        return code


def _loudness_first(words: list[str]) -> list[str]:
    """The words of a command line with ``-q`` and ``-v``, which may stand behind any command, before the command."""
    end = words.index("--") if "--" in words else len(words)
    loudness = [word for word in words[:end] if word in LOUDNESS]
    return [*loudness, *(word for word in words[:end] if word not in LOUDNESS), *words[end:]]


@contextmanager
def interruption(*, keeps: bool) -> Iterator[None]:
    """State whether the job in the block can be resumed, where its command alone does not decide it.

    For example, ``vcrgen hidden`` resumes a set of pairs, and begins a set of questions anew.
    """
    try:
        yield
    except KeyboardInterrupt:
        end_interrupted(keeps=keeps)


def end_interrupted(*, keeps: bool) -> NoReturn:
    """State whether a job that was interrupted can be resumed, and end with exit code 130."""
    goes_on = "What was finished is kept; run the same command again to go on."
    nothing = "Nothing is half written; the command begins anew next time."
    console.err.print(f"Interrupted. {goes_on if keeps else nothing}", soft_wrap=True)
    raise typer.Exit(130)


def _mistake(error: Exception) -> str | None:
    """Return what the user did wrong as a sentence, empty after a help was shown; None if it is another error."""
    if isinstance(error, typer.TyperException):
        return _usage_mistake(error)
    if isinstance(error, OSError):
        from vcrgen.core.files import is_disk_full

        where = f" of {error.filename}" if error.filename else ""
        full = f"The disk{where} is full; free some space and run the same command again."
        return full if is_disk_full(error) else None
    name, colon, problem = str(error).partition(":")
    return f"{getattr(error, 'option', '') or name}{colon}{problem}"


def _usage_mistake(error: typer.TyperException) -> str:
    text = error.format_message().rstrip(".")
    if isinstance(error, typer.BadParameter) and error.param is not None and error.message:
        text = f"{max(error.param.opts, key=len)}: {error.message}".rstrip(".")
    context = getattr(error, "ctx", None)
    if not text or context is None:
        return text and f"{text}."
    words = text.partition("unexpected extra argument(s) (")[2].rstrip(")").split()
    if any(map(os.path.exists, words)) and any(parameter.name == "source" for parameter in context.command.params):
        text += (
            ". Put a pattern such as 'data/*.parquet' in quotes: without them the shell writes names of files in its "
            "place"
        )
    return f"{text}{'' if text.endswith('?') else ';'} `{context.command_path} --help` tells what it takes."


app = typer.Typer(
    name="vcrgen",
    cls=Commands,
    help="Build, hide, score and rank data of Visual Caption Restoration (VCR), images with partly masked captions, "
    "and multiple-choice benchmarks (MCQ) at Bloom's levels.",
    epilog=examples(
        "vcrgen build",
        "vcrgen view data/vcr-samples-en-both",
        "vcrgen predict data/my-vcr --endpoint http://127.0.0.1:8000/v1 --model qwen --out preds.jsonl",
        "vcrgen score preds.jsonl --data data/my-vcr",
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def add_group(name: str, **options: Any) -> typer.Typer:
    """Add the group of commands that a row of `COMMANDS` names; it has the row's help."""
    group = typer.Typer(help=COMMANDS[name].help, no_args_is_help=True, **options)
    app.add_typer(group, name=name)
    return group


def _show_version(context: typer.Context, is_given: bool) -> None:
    if not is_given:
        return
    if context.params["verbose"]:
        from vcrgen.cli.versions import version_lines

        typer.echo("\n".join(version_lines()))
    else:
        from importlib.metadata import version

        typer.echo(f"vcrgen {version('vcrgen')}")
    raise typer.Exit


@app.callback()
def main(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, help="Show the version and exit.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show no progress, notes or next commands; behind any command, too.")
    ] = False,
    verbose: Annotated[  # eager, so that it is parsed before --version shows something
        bool,
        typer.Option(
            "--verbose",
            "-v",
            is_eager=True,
            help="Log each step on the standard error; behind any command, too. With --version: all that a report of "
            "a fault needs.",
        ),
    ] = False,
) -> None:
    """Parse options before the command."""
    if quiet and verbose:
        raise VcrgenError("--quiet and --verbose exclude each other; give one of them.")
    console.set_loudness(quiet=quiet, verbose=verbose)


def _join_lines(command: Any) -> Any:
    """Join the lines of each paragraph of the help of a command and those below it: only the terminal wraps them."""
    command.help = "\n\n".join(" ".join(text.split()) for text in (command.help or "").split("\n\n"))
    for below in getattr(command, "commands", {}).values():
        _join_lines(below)
    return command
