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
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.reports import Format
from vcrgen.cli.root import add_group
from vcrgen.core.errors import StudyError
from vcrgen.core.extras import needs_extra
from vcrgen.core.files import output_errors, write_text
from vcrgen.core.options import drop_none, validate_options
from vcrgen.core.plurals import pluralize
from vcrgen.study.options import StudyOptions
from vcrgen.web.options import ServiceOptions

if TYPE_CHECKING:
    from vcrgen.study.records import StudyDesign
    from vcrgen.study.store.database import StudyStore

_Study = Annotated[Path, typer.Argument(help="Folder of the study.")]
_Out = Annotated[Path | None, out_option("A file.", default="print")]
_Moved = Annotated[
    str | None, typer.Option("--data", "-d", help="Where the dataset is now.", show_default="where it was")
]
_Url = Annotated[
    str | None,
    typer.Option(
        help="Where raters reach the service, as https://study.example.org.", show_default="where `serve` is or was"
    ),
]

study = add_group(
    "study",
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
    """Create a study: its items, conditions and number of raters. None of these changes later."""
    from vcrgen.study.creation import init_study

    design, token = init_study(folder, data, validate_options(StudyOptions, drop_none(options)))
    people = design.options["raters"] * len(design.conditions)
    _print_frozen(design, people)
    place = escape(str(folder))
    console.say(f"[bold]{place}[/] is a study; CONSENT and INSTRUCTIONS in it are yours to write.")
    typer.echo(token)
    console.err.print("This token opens the page for maintainers; it is shown only now.")
    # Of an MCQ benchmark a person answers in one language, so people are invited language by language.
    invitations: list[tuple[object, ...]] = [(people,)]
    if design.is_mcq:
        counts = Counter(condition.mode for condition in design.conditions)
        invitations = [(design.options["raters"] * views, "--lang", lang) for lang, views in counts.items()]
    for count in invitations:
        console.say_next("Next", "vcrgen", "study", "invite", folder, "--count", *count)


def _print_frozen(design: StudyDesign, people: int) -> None:
    from vcrgen.study.exclusion import exclusion_rule

    table = Table("", "", box=None, pad_edge=False, show_header=False)
    spans = "" if design.is_mcq or design.draw else f" with {pluralize(design.spans, 'span')}"
    table.add_row("items", f"{design.items:,}{spans}, and {design.training:,} for training")
    table.add_row("shown", "; ".join(condition.label for condition in design.conditions))
    answers = pluralize(len(design.slots()), "answer")
    table.add_row("wanted", f"{answers}, by {pluralize(people, 'person', 'people')} or more: nobody sees an item twice")
    table.add_row("dataset", f"{escape(design.data)}, language {design.lang}, signature {design.signature}")
    table.add_row("excluded", exclusion_rule(design) or "nobody")
    console.out.print(table)


@study.command(
    epilog=examples(
        "vcrgen study invite study --count 7 --lang en",
        "vcrgen study invite study --count 20 --prolific C1A2B3C4 --url https://study.example.org",
        "vcrgen study invite study --count 5 --prolific C1A2B3C4 --failed-code F5E6 --speaks English --keep-ids",
        "vcrgen study invite study --count 5 --prolific C1A2B3C4 --participants ids.txt",
    )
)
def invite(
    folder: _Study,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=1000, help="Number of people.")],
    lang: Annotated[
        str | None,
        typer.Option(
            help="Language of the page (en, zh; of an audit en, ar), or of the questions of an MCQ benchmark.",
            show_default="that of the dataset, or its first",
        ),
    ] = None,
    prolific: Annotated[
        str,
        typer.Option(
            metavar="CODE",
            help="One link for Prolific; its completion code. The same code again adds places to its link.",
        ),
    ] = "",
    failed_code: Annotated[
        str, typer.Option(metavar="CODE", help="Completion code for raters whom the study excludes.")
    ] = "",
    speaks: Annotated[
        str, typer.Option(metavar="WORDS", help="Only people who name one of these languages, by commas.")
    ] = "",
    keep_ids: Annotated[
        bool, typer.Option("--keep-ids", help="Store ids of Prolific, for export --to payments.")
    ] = False,
    participants: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Only these ids of Prolific, one a line.", show_default="everybody"),
    ] = None,
    url: _Url = None,
) -> None:
    """Invite people, and print a link for each. Items of drop-outs go to the next ones."""
    from vcrgen.study.page_texts import unwritten_consents
    from vcrgen.study.participants import read_participants
    from vcrgen.study.raters import invite as run
    from vcrgen.study.records import Invitation
    from vcrgen.study.service_address import link_base, note_links

    with _open(folder) as store:
        words = tuple(word.strip() for word in speaks.split(",") if word.strip())
        options = Invitation(code=prolific, failed_code=failed_code, speaks=words, keeps_ids=keep_ids)
        if (failed_code or words or keep_ids or participants) and not prolific:
            raise StudyError(
                "--failed-code, --speaks, --keep-ids and --participants are of a link for Prolific; give --prolific"
                " CODE."
            )
        listed = read_participants(participants) if participants else []
        links, shared_link = run(store, count, lang, options if prolific else None, listed)
        base = (url or link_base(folder)).rstrip("/")
        note_links(folder, base)
        for link in [f"{base}/join/{shared_link}"] if shared_link else [f"{base}/r/{link}" for link in links]:
            typer.echo(link)
        console.err.print("Links are shown only now; the study keeps a hash of each.")
        if len(links) < count:
            console.err.print(f"There are items for {pluralize(len(links), 'person', 'people')} only, not for {count}.")
        for problem in unwritten_consents(store):
            console.err.print(f"{escape(problem)} `serve` refuses until then.")


@study.command(
    epilog=examples("vcrgen study serve study", "vcrgen study serve study --host 0.0.0.0 --port 8080 --proxy 10.0.0.1")
)
@options_of(ServiceOptions)
def serve(
    folder: _Study,
    **options: Any,
) -> None:
    """Serve the pages of raters until stopped with Ctrl-C or SIGTERM; /maintain shows their progress."""
    with _open(folder) as store:
        try:
            from vcrgen.study.service.serve import serve as run
        except ModuleNotFoundError as missing:
            raise StudyError(needs_extra("The service", "serve", missing.name)) from None
        run(store, validate_options(ServiceOptions, drop_none(options)))


@study.command(
    epilog=examples(
        "vcrgen study export study --out raters.jsonl",
        "vcrgen study export study --rater r3 --out r3.jsonl",
        "vcrgen study export study --to design --out design.jsonl",
        "vcrgen study export study --to payments --out payments.csv",
        "vcrgen study export study --to errors --out errors.csv",
        "vcrgen study export audit-study --to audit --out answers.jsonl",
    )
)
def export(
    folder: _Study,
    out: _Out = None,
    to: Annotated[
        str | None,
        typer.Option(
            help="outputs (a rater is a model), audit, design, payments or errors (both CSV).",
            show_default="audit of one, or outputs",
        ),
    ] = None,
    rater: Annotated[str | None, typer.Option(help="Only this rater, as r3.", show_default="all")] = None,
    data: _Moved = None,
) -> None:
    """Export responses as outputs of models or verdicts of an audit, the assignment, whom to pay, or all errors."""
    from vcrgen.study.exports import export as run

    with _open(folder) as store:
        _write(run(store, to, rater, data=data), out)


@study.command(
    epilog=examples(
        "vcrgen study report study",
        "vcrgen study report study --format html --compare preds.jsonl --out report.html",
        "vcrgen study report study --causes errors.csv",
        "vcrgen study report study --format json --out people.json",
    )
)
def report(
    folder: _Study,
    form: Format = None,
    compare: Annotated[
        list[Path] | None, typer.Option(help="Outputs of a model for the same dataset. Repeatable.")
    ] = None,
    causes: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Causes of errors: what `export --to errors` wrote, with its column `cause` filled in.",
        ),
    ] = None,
    out: _Out = None,
    data: _Moved = None,
) -> None:
    """Report the scores of people: means and deviations as published, intervals, agreement, raters, suspect answers."""
    from vcrgen.cli.terminal import print_parts, show_document
    from vcrgen.report.document import choose_format
    from vcrgen.study.report import make_report

    output_format = choose_format(form, out.suffix if out else "")
    if output_format == "text" and out is not None:
        raise StudyError("A report for the terminal is printed; choose a --format for --out.")
    with _open(folder) as store:
        report = make_report(store, data=data, compare=compare or [], causes=causes)
    if output_format == "text":
        print_parts(console.out, show_document(report.document))
    else:
        _write(report.render(output_format), out)


@study.command(epilog=examples("vcrgen study forget study r3"))
def forget(folder: _Study, rater: Annotated[str, typer.Argument(help="The rater, as r3.")]) -> None:
    """Remove all data of a rater; the items go to the next people who are invited."""
    from vcrgen.study.raters import forget as run
    from vcrgen.study.raters import rater_by_name
    from vcrgen.study.store.raters import read_raters

    with _open(folder) as store:
        with store.reading() as connection:
            person = rater_by_name(read_raters(connection), rater)
        run(store, person)
    console.out.print(f"{person.name} is forgotten. Files that were exported before may still hold what was typed.")


@study.command(epilog=examples("vcrgen study release study 5f3a9c0d1e2b4a6c8d7e9f01"))
def release(
    folder: _Study, participant: Annotated[str, typer.Argument(help="Id of somebody at Prolific: 24 hex digits.")]
) -> None:
    """Let somebody from Prolific go on in another browser."""
    from vcrgen.study.visitors import release_place

    with _open(folder) as store:
        names = ", ".join(rater.name for rater in release_place(store, participant))
    console.out.print(f"The next browser that comes with this id goes on as {names}.")


@contextmanager
def _open(folder: Path) -> Iterator[StudyStore]:
    from vcrgen.study.store.database import StudyStore

    with output_errors(folder), StudyStore(folder) as store:
        yield store


def _write(text: str, out: Path | None) -> None:
    if out is None:
        typer.echo(text, nl=False)
        return
    with output_errors(out):
        write_text(out.absolute(), text)
    console.say(f"Written: {escape(str(out))}")
