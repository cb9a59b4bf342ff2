"""The command ``vcrgen``: the table of its commands, and what all of them share.

A command's module is imported when the command is called: ``vcrgen --help`` and shell completion need the table only.
"""

import inspect
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, NamedTuple, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from vcrgen.cli.options import examples


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
    "plan": CommandRow(
        "Show what a build would cost: shards, core-hours, storage, rejected pairs. Nothing is written.", ("build",)
    ),
    "inspect": CommandRow(
        "Show a dataset's statistics as in the paper's Table 4, rejected pairs, and its signature.", ("datasets",)
    ),
    "preview": CommandRow("Write one self-contained HTML page to look at a dataset.", ("datasets",)),
    "export": CommandRow("Write a dataset or scores in the format of another tool.", ("datasets",)),
    "hidden": CommandRow("Make test sets whose answers stay secret, and check that they do.", ("hidden",), True),
    "predict": CommandRow("Send the images to a model, and write its answers as outputs to score.", ("predict",), True),
    "baseline": CommandRow(
        "Baselines of OCR, of visible pixels and of text-only rules, to compare models with.", ("baseline",), True
    ),
    "finetune": CommandRow(
        "Fine-tune a model by LoRA to recover masked text, on a dataset or on examples made while it trains.",
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
    "contamination": CommandRow(
        "Test whether a model has seen a dataset: text-only answers, fresh pairs, other spans, the canary.",
        ("contamination",),
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
        "Analyze a benchmark by the scores of models: redundant and weak tasks, with confidence intervals. Needs the "
        r'extra `analysis`: pip install "vcrgen\[analysis]".',
        ("analyze",),
    ),
    "leaderboard": CommandRow(
        "Run a leaderboard: receive submissions, score them, publish the ranking.", ("leaderboard",)
    ),
    "study": CommandRow(
        "Run a human baseline study: invite raters, show them the items, report their results.", ("study",)
    ),
    "demo": CommandRow("Build, score, hide and rank built-in pairs offline, and write a board to open.", ("demo",)),
    "fonts": CommandRow("List, check and fetch fonts.", ("fonts",)),
    "calibrate": CommandRow("Show how much the covers hide in a font, and draw a specimen image.", ("fonts",)),
    "doctor": CommandRow(
        "Check the installation: segmenters, pipelines, fonts, layout engines, image codecs; exit code 1 on a fault.",
        ("doctor",),
    ),
}


class _LoadedCommands(Mapping[str, Any]):
    """Every command by its name; a command's modules are imported when it is taken."""

    def __getitem__(self, name: str) -> Any:
        for module in COMMANDS[name].modules:
            import_module(f"vcrgen.cli.{module}")
        _join_lines(app)
        group = typer.main.get_group(app)
        assert isinstance(group, Commands)
        return group.registered[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Interrupted(KeyboardInterrupt):
    def __init__(self, *, keeps: bool) -> None:
        super().__init__()
        self.keeps = keeps


@contextmanager
def interruption(*, keeps: bool) -> Iterator[None]:
    """State whether the job in the block can be resumed, where its command alone does not decide it.

    For example, ``vcrgen hidden`` resumes a set of pairs, and begins a set of questions anew.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise _Interrupted(keeps=keeps) from None


class Commands(TyperGroup):
    """The group ``vcrgen``, whose commands are loaded on call and whose errors are one sentence and exit code 2.

    Args:
        commands: Those that the imported modules have registered so far.
        options: As of any group.
    """

    def __init__(self, *, commands: dict[str, Any] | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.registered = commands or {}
        self.commands = _LoadedCommands()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands in the order of the help."""
        return list(COMMANDS)

    def _overview(self) -> TyperGroup:
        """Return the same group with stand-ins of its commands, which know their names and helps only."""
        commands: dict[str, Any] = {name: TyperCommand(name, help=row.help) for name, row in COMMANDS.items()}
        return TyperGroup(
            name=self.name,
            commands=commands,
            params=self.params,
            help=self.help,
            epilog=self.epilog,
            rich_markup_mode=self.rich_markup_mode,
        )

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help without importing any command."""
        self._overview().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete a command's name, or an option of the group, without importing any command."""
        ctx.command = self._overview()
        return ctx.command.shell_complete(ctx, incomplete)

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line with UTF-8 in files and pipes; a terminal shows missing characters as escapes."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                encoding = None if stream.isatty() else "utf-8"
                stream.reconfigure(encoding=encoding, errors="backslashreplace")
        return super().main(*args, **options)

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Parse the words before the command; a mistake is one sentence."""
        try:
            return super().make_context(*args, **options)
        except Exception as error:
            if (problem := _usage_problem(error, "vcrgen")) is None:
                raise
            _refuse(problem)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; turn errors of the user into one sentence and exit code 2."""
        from vcrgen.cli import console
        from vcrgen.errors import VcrgenError
        from vcrgen.files import DISK_FULL

        try:
            return super().invoke(ctx)
        except VcrgenError as error:
            name, colon, problem = str(error).partition(":")
            _refuse(f"{getattr(error, 'option', '') or name}{colon}{problem}")
        except KeyboardInterrupt as stopped:
            goes_on = "What was finished is kept; run the same command again to go on."
            nothing = "Nothing is half written; the command begins anew next time."
            row = COMMANDS.get(ctx.invoked_subcommand)
            keeps = stopped.keeps if isinstance(stopped, _Interrupted) else row is not None and row.resumes
            console.err.print(f"Interrupted. {goes_on if keeps else nothing}", soft_wrap=True)
            sys.exit(130)
        except BrokenPipeError:
            sys.stderr.close()  # the reader of our output went away (`| head`)
            sys.exit(141)
        except Exception as error:
            if isinstance(error, OSError) and error.errno in DISK_FULL:
                where = f" of {error.filename}" if error.filename else ""
                _refuse(f"The disk{where} is full; free some space and run the same command again.")
            if (wrong := _usage_problem(error, f"{ctx.command_path} {ctx.invoked_subcommand or ''}".rstrip())) is None:
                raise
            _refuse(wrong)


def _refuse(sentence: str) -> NoReturn:
    """Print a mistake of the user, and end."""
    from rich.markup import escape

    from vcrgen.cli import console

    console.err.print(f"[bold red]Error:[/] {escape(sentence)}", soft_wrap=True)
    sys.exit(2)


def _usage_problem(error: Any, path: str) -> str | None:
    """Return what is wrong with the words of a command as a sentence; None for other errors, and for a shown help.

    Args:
        error: Of the library that reads them.
        path: The words before those that it reads, for errors that do not name the command.
    """
    if not hasattr(error, "format_message") or type(error).__name__ == "NoArgsIsHelpError":
        return None
    _explain_names(error)
    parameter = getattr(error, "param", None)
    text = str(error.format_message()).rstrip(".")
    if parameter is not None and type(error).__name__ == "BadParameter":
        text = f"{max(parameter.opts, key=len)}: {error.message}".rstrip(".")
    context = getattr(error, "ctx", None)
    path = context.command_path if context else path
    return f"{text}{'' if text.endswith('?') else ';'} `{path} --help` tells what it takes."


def _explain_names(error: Any) -> None:
    """Add a hint to an error about extra arguments that are files: the shell expanded a pattern without quotes."""
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
    help="Build, hide, score and rank data of Visual Caption Restoration (VCR), images with partly masked captions, "
    "and multiple-choice benchmarks (MCQ) at Bloom's levels.",
    epilog=examples(
        "vcrgen build",
        "vcrgen preview data/vcr-samples-en-both",
        "vcrgen predict data/my-vcr --endpoint http://127.0.0.1:8000/v1 --model qwen --out preds.jsonl",
        "vcrgen score preds.jsonl --data data/my-vcr",
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    from importlib.metadata import version

    if wanted:
        typer.echo(f"vcrgen {version('vcrgen')}")
        raise typer.Exit


@app.callback()
def main(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Parse options before the command."""


def _join_lines(commands: typer.Typer) -> None:
    """Join the lines of each help paragraph, so that only the terminal wraps it."""
    for command in commands.registered_commands:
        paragraphs = (inspect.getdoc(command.callback) or "").split("\n\n")
        command.help = command.help or "\n\n".join(" ".join(text.split()) for text in paragraphs)
    for group in commands.registered_groups:
        if group.typer_instance is not None:
            _join_lines(group.typer_instance)
