"""``vcrgen study``: people do the task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from vcrgen.cli import console
from vcrgen.cli.options import Host, Port, Proxy, examples, options_of, out_option
from vcrgen.cli.root import app
from vcrgen.config import StudyOptions, checked, given
from vcrgen.errors import StudyError
from vcrgen.files import output_errors, write_text
from vcrgen.plurals import counted

if TYPE_CHECKING:
    from vcrgen.study.records import Frozen
    from vcrgen.study.store import Store

_Study = Annotated[Path, typer.Argument(help="Folder of the study.")]
_Out = Annotated[Path | None, out_option("A file.", shown="print")]
_Moved = Annotated[
    str | None, typer.Option("--data", "-d", help="Where the dataset is now.", show_default="where it was")
]
_Url = Annotated[str, typer.Option(help="Where raters reach the service, as https://study.example.org.")]

study = typer.Typer(
    no_args_is_help=True,
    help="Let people do the task: invite them, show them a page, and report what they restored.",
    epilog=examples(
        "vcrgen study init study --data data/my-vcr --split test --limit 100 --modes easy,hard --raters 3",
        "vcrgen study invite study --count 7 --lang en",
        "vcrgen study serve study",
        "vcrgen study report study --format html --out report.html",
    ),
)


@study.command(
    epilog=examples(
        "vcrgen study init study --data data/my-vcr --split test --limit 100 --modes easy,hard --raters 3",
        "vcrgen study init secret-study --data hidden-2026 --training-data data/my-vcr --limit 50",
        "vcrgen study init audit-study --data data/my-bloom --audit data/my-bloom-audit",
    )
)
@options_of(StudyOptions)
def init(
    folder: _Study,
    data: Annotated[
        str, typer.Option("--data", "-d", help="A dataset with its pictures, or the folder of a hidden set.")
    ],
    **options: Any,
) -> None:
    """Make a study: which items, how often, and what decides who sees them. Nothing of that changes later."""
    from vcrgen.study.make import init_study

    frozen, token = init_study(folder, data, checked(StudyOptions, given(options)))
    people = frozen.options["raters"] * len(frozen.conditions)
    _print_frozen(frozen, people)
    shown = escape(str(folder))
    console.say(f"[bold]{shown}[/] is a study; CONSENT and INSTRUCTIONS in it are yours to write.")
    typer.echo(token)
    console.err.print("This token opens the page for maintainers; it is shown only now.")
    # Of a question set a person answers in one language, so people are invited language by language.
    each: list[tuple[object, ...]] = [(people,)]
    if frozen.choosing:
        counts = Counter(condition.mode for condition in frozen.conditions)
        each = [(frozen.options["raters"] * views, "--lang", lang) for lang, views in counts.items()]
    for count in each:
        console.say_next("Next", "vcrgen", "study", "invite", folder, "--count", *count)


def _print_frozen(frozen: Frozen, people: int) -> None:

    table = Table("", "", box=None, pad_edge=False, show_header=False)
    spans = "" if frozen.choosing or frozen.draw else f" with {counted(frozen.spans, 'span')}"
    table.add_row("items", f"{frozen.items:,}{spans}, and {frozen.training:,} for training")
    table.add_row("shown", "; ".join(condition.label for condition in frozen.conditions))
    answers = counted(len(frozen.slots()), "answer")
    table.add_row("wanted", f"{answers}, by {counted(people, 'person', 'people')} or more: nobody sees an item twice")
    table.add_row("dataset", f"{escape(frozen.data)}, language {frozen.lang}, signature {frozen.signature}")
    console.out.print(table)


@study.command(
    epilog=examples(
        "vcrgen study invite study --count 7 --lang en",
        "vcrgen study invite study --count 20 --prolific C1A2B3C4 --url https://study.example.org",
    )
)
def invite(
    folder: _Study,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=1000, help="How many people.")],
    lang: Annotated[
        str | None,
        typer.Option(
            help="Language of the page (en, zh; of an audit en, ar), or of the questions of a question set.",
            show_default="that of the dataset, or its first",
        ),
    ] = None,
    prolific: Annotated[str, typer.Option(metavar="CODE", help="One link for Prolific; its completion code.")] = "",
    url: _Url = "http://127.0.0.1:8000",
) -> None:
    """Give items to new people, and print a link for each. What drop-outs left goes to the next ones."""
    from vcrgen.study.people import invite as run

    with _open(folder) as store:
        links, door = run(store, count, lang, prolific=prolific)
    base = url.rstrip("/")
    for link in [f"{base}/join/{door}"] if door else [f"{base}/r/{link}" for link in links]:
        typer.echo(link)
    console.err.print("Links are shown only now; the study keeps a hash of each.")
    if len(links) < count:
        console.err.print(f"There are items for {counted(len(links), 'person', 'people')} only, not for {count}.")


@study.command(
    epilog=examples("vcrgen study serve study", "vcrgen study serve study --host 0.0.0.0 --port 8080 --proxy 10.0.0.1")
)
def serve(
    folder: _Study,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    proxy: Proxy = "",
) -> None:
    """Ask raters and keep what they type, until stopped with Ctrl-C or SIGTERM; /maintain shows how far they are."""
    with _open(folder) as store:
        try:
            from vcrgen.study.service.serve import serve as run
        except ModuleNotFoundError as missing:
            raise StudyError(
                f'The service needs {missing.name}, which is not installed: pip install "vcrgen[serve]".'
            ) from None
        run(store, host=host, port=port, proxy=proxy)


@study.command(
    epilog=examples(
        "vcrgen study export study --out raters.jsonl",
        "vcrgen study export study --rater r3 --out r3.jsonl",
        "vcrgen study export study --to design --out design.jsonl",
        "vcrgen study export study --to label-studio --out tasks.json",
        "vcrgen study export audit-study --to audit --out answers.jsonl",
    )
)
def export(
    folder: _Study,
    out: _Out = None,
    to: Annotated[
        str | None,
        typer.Option(
            help="outputs (a rater is a model), audit, design or label-studio.", show_default="audit of one, or outputs"
        ),
    ] = None,
    rater: Annotated[str | None, typer.Option(help="Only this rater, as r3.", show_default="all")] = None,
) -> None:
    """Write what people typed as outputs of models, for an audit's report or Label Studio, or who is asked what."""
    from vcrgen.study.exports import export as run

    with _open(folder) as store:
        _write(run(store, to, rater), out)


@study.command("import", epilog=examples("vcrgen study import study label-studio.json"))
def import_(folder: _Study, file: Annotated[Path, typer.Argument(help="What Label Studio exported as JSON.")]) -> None:
    """Take in annotations of Label Studio for tasks that `export --to label-studio` wrote: an annotator is a rater."""
    from vcrgen.study.label_studio import take_tasks

    with _open(folder) as store:
        console.out.print(f"Raters taken in: {take_tasks(store, file):,}.")


@study.command(epilog=examples("vcrgen study adjudicate study --by ada"))
def adjudicate(
    folder: _Study,
    by: Annotated[str | None, typer.Option(help="Who marks.", show_default="your user name")] = None,
    data: _Moved = None,
) -> None:
    """Write a sheet of all wrong texts, or take it in: is it a name or date, a slip, unreadable, the item's fault?"""
    from getpass import getuser

    from vcrgen.study.adjudicate import adjudicate as run
    from vcrgen.study.marks import CAUSES

    with _open(folder) as store:
        done = run(store, by or getuser(), data=data)
    console.say(f"{escape(str(done.sheet))}: {done.marked} of {done.errors} wrong texts have a cause.", highlight=False)
    if done.unknown:
        console.say(f"Of texts that nobody has typed any more, the sheet had {counted(done.unknown, 'line')}.")
    if done.marked < done.errors:
        causes = ", ".join(f"{name} ({meaning})" for name, meaning in CAUSES.items())
        console.say(f"Look at {escape(str(done.page))}, and write into the column `cause`: {causes}.", highlight=False)
        console.say("Then run the same command again.")


@study.command(
    epilog=examples(
        "vcrgen study report study",
        "vcrgen study report study --format html --compare preds.jsonl --out report.html",
        "vcrgen study report study --format json --out people.json",
    )
)
def report(
    folder: _Study,
    form: Annotated[
        str, typer.Option("--format", "-f", help="text, md, csv, latex, html, or json (for a leaderboard).")
    ] = "text",
    compare: Annotated[
        list[Path] | None, typer.Option(help="Outputs of a model for the same dataset. Repeatable.")
    ] = None,
    out: _Out = None,
    data: _Moved = None,
) -> None:
    """Say what people restored: means and deviations as published, intervals, agreement, raters, odd answers."""
    from vcrgen.cli.terminal import draw, plain, print_parts
    from vcrgen.study.report import FORMS, WIDE, as_document, make_report

    if form not in ("text", *FORMS):
        raise StudyError(f"Unknown format {form!r}; known: {', '.join(('text', *FORMS))}.")
    if form == "text" and out is not None:
        raise StudyError("A report for the terminal is printed; choose a --format for --out.")
    with _open(folder) as store:
        found = make_report(store, data=data, compare=compare or [])
    if form != "text":
        _write(as_document(found, form), out)
        return
    print_parts(console.out, [draw(table, WIDE) for table in found.tables])
    print_parts(console.out, [plain(""), *(plain(f"Note: {note}", "yellow") for note in found.notes)])


@study.command(epilog=examples("vcrgen study forget study r3"))
def forget(folder: _Study, rater: Annotated[str, typer.Argument(help="The rater, as r3.")]) -> None:
    """Remove everything that a rater typed or said; the items go to the next people who are invited."""
    from vcrgen.study import store as db
    from vcrgen.study.people import find
    from vcrgen.study.people import forget as run

    with _open(folder) as store:
        with store.reading() as connection:
            found = find(db.raters_of(connection), rater)
        run(store, found)
    console.out.print(f"{found.name} is forgotten. Files that were exported before may still hold what was typed.")


@contextmanager
def _open(folder: Path) -> Iterator[Store]:
    from vcrgen.study.store import Store

    with output_errors(folder), Store(folder) as store:
        yield store


def _write(text: str, out: Path | None) -> None:
    if out is None:
        typer.echo(text, nl=False)
        return
    with output_errors(out):
        write_text(out.absolute(), text)
    console.say(f"Written: {escape(str(out))}")


app.add_typer(study, name="study")
