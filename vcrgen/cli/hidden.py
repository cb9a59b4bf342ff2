"""``vcrgen hidden make``, ``vcrgen hidden verify`` and ``vcrgen hidden probe``."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table
from typer.core import TyperGroup

from vcrgen.builder.options import KNOWN_PAIRS, BuildConfig, load_build_config
from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.reports import Format, Out, report_format, write_report
from vcrgen.cli.root import add_group, interruption
from vcrgen.core.errors import ConfigError
from vcrgen.core.options import drop_none, validate_options
from vcrgen.core.plurals import pluralize
from vcrgen.hidden.options import HiddenOptions
from vcrgen.typeset.cover_kinds import ROWS

# What of a build's configuration counts for a hidden set, too; the rest is drawn from the secret.
CONFIG_OPTIONS = (
    *("lang", "image_root", "image_column", "caption_column", "id_column", "where", "source_split"),
    *("spacy_model", "censor_list"),
)
SETTLED = (
    "Note: Of white rows, the visible pixels settle every span: a program that compares them with rendered words needs "
    "neither picture nor caption (docs/covers.md). Leave out --cover for covers that leave something to infer."
)
SCENES = "scenes"  # as a source: the built-in questions


class _MakeByDefault(TyperGroup):
    """``vcrgen hidden pairs.parquet`` is ``vcrgen hidden make pairs.parquet``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the default command before arguments without one."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["make", *args]
        return super().parse_args(ctx, args)


hidden = add_group(
    "hidden",
    cls=_MakeByDefault,
    epilog=examples(
        "vcrgen hidden pairs.parquet --lang zh --out hidden-2026 --secret-file secret.key --not-in data/my-vcr",
        "vcrgen hidden pairs.parquet --out hidden-2026 --secret-file secret.key --forms 2 --not-in data/my-vcr",
        "vcrgen hidden data/my-bloom --items 200 --public-pictures --out hidden-bloom --secret-file bloom.key",
        "vcrgen hidden scenes --items 200 --private-source --out hidden-scenes --secret-file scenes.key",
        "vcrgen hidden verify hidden-2026 --secret-file secret.key",
        "vcrgen hidden probe hidden-2026 --against public-pairs.parquet",
        "vcrgen score preds.jsonl --data hidden-2026/key",
    ),
)


@hidden.command(
    epilog=examples(
        "vcrgen hidden make pairs.parquet --items 100 --out hidden-2026 --secret-file secret.key --not-in data/my-vcr",
        "vcrgen hidden make pairs.parquet --out forms --secret-file secret.key --same-pairs 5 --not-in ORG/NAME",
    )
)
@options_of(BuildConfig, only=CONFIG_OPTIONS)
@options_of(HiddenOptions)
def make(
    source: Annotated[str, typer.Argument(help="Pairs, as for `vcrgen build`, or an MCQ benchmark, or `scenes`.")],
    out: Annotated[Path, out_option("Folder of the set.")],
    secret_file: Annotated[Path, typer.Option(help="The maintainer's secret; made there if the file is new.")],
    workers: Annotated[int, typer.Option(min=1, max=512, help="Processes; a set of questions takes one.")] = 1,
    **options: Any,
) -> None:
    """Make a hidden test set: OUT/public for participants, OUT/key for the maintainer.

    Spans, fonts, widths, sizes, places and the modes of covers are drawn from the secret. Run the same command again to
    resume. Of an MCQ benchmark, items and the order of their options are drawn; this cannot be resumed.
    """
    from vcrgen.data.key import read_key
    from vcrgen.data.tasks.opening import is_mcq_dataset, open_task_dataset
    from vcrgen.hidden import make_hidden
    from vcrgen.hidden.mcq import make_hidden_mcq

    options["where"] = options["where"] or None
    config = load_build_config(None, {"source": source, **{name: options[name] for name in CONFIG_OPTIONS}})
    own = {name: value for name, value in options.items() if name in HiddenOptions.model_fields}
    settings = validate_options(HiddenOptions, drop_none(own) | {"config": config})
    is_new, scenes = not secret_file.exists(), source == SCENES
    questions = scenes or is_mcq_dataset(source)
    if questions and (odd := next((name for name in (*CONFIG_OPTIONS, "cover") if options[name] is not None), None)):
        raise ConfigError(f"--{odd.replace('_', '-')} is for hidden sets of pairs; {source} is an MCQ benchmark.")
    if not questions and settings.cover == ROWS:
        console.err.print(SETTLED, soft_wrap=True)
    place: dict[str, Any] = {"out": out, "secret_file": secret_file}
    try:
        unit = "items" if questions else "pairs"
        with interruption(keeps=not questions), console.progress(unit=unit) as listener:
            if questions:
                with _scenes(settings, **place) if scenes else nullcontext(Path(source)) as folder:
                    dataset = open_task_dataset(folder if scenes else source)
                    result = make_hidden_mcq(dataset, settings, **place, listener=listener)
            else:
                result = make_hidden(settings, **place, workers=workers, listener=listener)
    finally:  # an interrupted run has made the secret, too
        if is_new and secret_file.exists():
            notice = f"A new secret is in {escape(str(secret_file))}: keep a copy, and never publish it."
            console.err.print(notice, soft_wrap=True)
    console.out.print("The set was complete already." if result.was_complete else "The set is complete.")
    for public, key in zip(result.public, result.keys, strict=True):
        console.out.print(
            f"[bold]{escape(str(public))}[/] for participants, [bold]{escape(str(key))}[/] to keep.", soft_wrap=True
        )
    if note := read_key(result.keys[0]).pictures.note(mcq=questions):
        console.out.print(note, soft_wrap=True)
    if questions:
        _print_questions(result.report)
    else:
        console.say(f"Source {escape(result.source)}", highlight=False)
        _print_report(result.report)
    console.say_next("Check it", "vcrgen", "hidden", "verify", out, "--secret-file", secret_file)


@contextmanager
def _scenes(options: HiddenOptions, *, out: Path, secret_file: Path) -> Iterator[Path]:
    """Yield a folder with built-in questions that are drawn from the secret; it is removed after the block."""
    from vcrgen.bloom.scenes.generator import build_scene_set, scene_options
    from vcrgen.hidden.run import source_of_pictures
    from vcrgen.hidden.secret import open_secret

    source_of_pictures(True, options, what="Built-in questions", give="a set")
    secret = open_secret(secret_file, out)
    out.absolute().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.absolute().parent, prefix=".vcrgen-") as folder:
        build_scene_set(scene_options(options.items, secret.number("scenes")), Path(folder) / "set")
        yield Path(folder) / "set"


def _print_questions(report: dict[str, Any]) -> None:
    for title, counts in (("level", report["levels"]), ("right option", report["positions"])):
        console.print_counts(title, counts, unit="items")
    parts = "; ".join(f"{part} {counts['items']:,}" for part, counts in report["parts"].items())
    console.out.print(
        f"{pluralize(report['items'], 'item')} about {pluralize(report['pictures'], 'picture')}; splits: {parts}."
    )


def _print_report(report: dict[str, Any]) -> None:
    table = Table("", "", box=None, pad_edge=False, show_header=False)
    parts = (
        f"{part} {pluralize(counts['items'], 'item')}, {pluralize(counts['spans'], 'span')}"
        for part, counts in report["parts"].items()
    )
    table.add_row("splits", "; ".join(parts))
    for name in ("fonts", "strip", "covers", "width", "set_aside"):
        if report[name]:
            counts = ", ".join(f"{escape(str(value))} {count:,}" for value, count in report[name].items())
            table.add_row(name.replace("set_aside", "rejected"), counts)
    for reference in report.get("compared", ()):
        name = f"{reference['source']} {reference['split']}".strip()
        table.add_row("not in", f"{escape(name)}: {pluralize(reference['pairs'], 'pair')} compared")
    for mode, ink in report["visible_ink"].items():
        table.add_row(
            f"ink, {mode}", f"median {ink['median']}, target {ink['target']}; spans off target: {ink['off_target']}"
        )
    if bits := report.get("pixel_bits"):
        spans = f"least {bits['least']:g}, 10th percentile {bits['p10']:g}, median {bits['median']:g}"
        table.add_row("bits by pixels", f"a span: {spans}; a covered stretch: least {bits['least_stretch']:g}")
    for overlap in report["overlap"]:
        a, b = overlap["forms"]
        table.add_row(
            f"forms {a}, {b}",
            f"share {100 * overlap['same_spans']:.1f} % of spans and {100 * overlap['shared_characters']:.1f} % of "
            "masked characters",
        )
    for name, forms in report["alike"].items():
        means = ", ".join(f"{mean:g}" for mean in forms["means"])
        table.add_row(f"forms, {name}", f"means {means}; {forms['apart']:.2f} standard deviations apart")
    console.out.print(f"{pluralize(report['items'], 'item')}, {pluralize(report['spans'], 'span')} in a form")
    console.out.print(table)


@hidden.command(epilog=examples("vcrgen hidden verify hidden-2026 --secret-file secret.key"))
def verify(
    folder: Annotated[Path, typer.Argument(help="A hidden set, or the folder of its forms.")],
    secret_file: Annotated[Path | None, typer.Option(help="The maintainer's secret, to check the key's seal.")] = None,
    strips: Annotated[
        int, typer.Option(min=0, max=1000, help="Strips that the template baseline attacks; seconds each.")
    ] = 8,
) -> None:
    """Check that the public part holds no answer, and that the key is the one it commits to; exit code 1 if not.

    The template baseline also reads some strips of the public part, without key or font, and its success is printed.
    """
    from vcrgen.hidden.secret import load_secret
    from vcrgen.hidden.verify import find_sets, is_mcq, leaks
    from vcrgen.hidden.verify import verify as verify_set

    secret = load_secret(secret_file, create=False) if secret_file else None
    failed, weak = 0, False
    for part in find_sets(folder):
        console.say_step(f"Checking {part}: its files, and what the pixels of each span leave ...")
        with console.progress(doing="measuring", unit="images", kept="measured") as listener:
            checks = verify_set(part, secret=secret, listener=listener)
        table = console.ruled_table(escape(str(part)), "", "")
        for check in checks:
            mark = {True: "[green]ok[/]", False: "[bold red]FAILED[/]", None: "[dim]not checked[/]"}[check.ok]
            table.add_row(check.name, mark, escape(check.detail))
        console.out.print(table)
        failed += len(leaks(checks))
        if strips and not leaks(checks) and not is_mcq(part / "public"):
            weak |= _attack_strips(part, strips)
    if failed:
        console.err.print(f"[bold red]Do not publish this set:[/] {pluralize(failed, 'check')} failed.")
        raise typer.Exit(1)
    nothing = "Apart from the visible pixels, nothing" if weak else "Nothing"
    console.out.print(
        f"{nothing} was found that gives an answer away. Not checked: whether the pictures, and with them the "
        "captions, can be found again; search likely sources with `vcrgen hidden probe`.",
        soft_wrap=True,
    )


def _attack_strips(part: Path, strips: int) -> bool:
    """Print the success of the template baseline on a public part; return True if it gives many answers."""
    from vcrgen.models.predict.strip_attack import attack_strips

    console.say_step(f"The template baseline attacks {pluralize(strips, 'strip')} ...")
    try:
        with console.progress(doing="attacking", unit="strips", kept="attacked") as listener:
            attack = attack_strips(part, strips, listener)
    except ConfigError as error:
        console.out.print(f"Template baseline: not run. {escape(str(error))}", soft_wrap=True)
        return False
    console.out.print(str(attack), soft_wrap=True)
    if attack.is_weak:
        console.err.print(
            "[bold]The visible pixels alone give these answers away:[/] make the set with `--cover bars` or `blots`.",
            soft_wrap=True,
        )
    return attack.is_weak


@hidden.command(
    epilog=examples(
        "vcrgen hidden probe hidden-2026 --against pairs.parquet",
        "vcrgen hidden probe hidden-2026 --against ORG/NAME --out probe.html",
    )
)
@options_of(BuildConfig, only=KNOWN_PAIRS)
def probe(
    folder: Annotated[Path, typer.Argument(help="A hidden set, or the folder of its forms.")],
    against: Annotated[str, typer.Option(help="Known pairs, as for `vcrgen build`: all splits are read.")],
    form: Format = None,
    out: Out = None,
    **options: Any,
) -> None:
    """Search the pictures among known pairs by a perceptual hash; print how many are found, and how many answers."""
    from vcrgen.hidden.probe import probe as search
    from vcrgen.hidden.probe import probe_document
    from vcrgen.hidden.verify import find_sets

    output_format = report_format(form, out)
    config = load_build_config(None, {"source": against, **{name: options[name] for name in KNOWN_PAIRS}})
    with console.progress(unit="pairs") as listener:
        results = {part.name: search(part, config, listener) for part in find_sets(folder)}
    for name, result in results.items() if out else ():
        answers = f" and {result.answers_found} of {pluralize(result.answers, 'answer')}" if result.answers else ""
        found = f"{result.found} of {pluralize(len(result.pictures), 'picture')}{answers}"
        console.say_plain(f"{name}: {found} found among the {pluralize(result.pairs, 'picture')} of {against}.")
    write_report(probe_document(results), output_format, out)
