"""``vcrgen baseline``: OCR, the template attack and a reader of texts."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.outputs import PictureFolder, ServerFile, default_out, score_command
from vcrgen.cli.predict import exit_unless_finished, file_name, model_of
from vcrgen.cli.reports import Format, Out, report_format, write_report
from vcrgen.cli.root import add_group
from vcrgen.core.errors import ConfigError, PredictionError
from vcrgen.core.options import validate_options
from vcrgen.core.plurals import pluralize
from vcrgen.models.predict.options import PredictOptions
from vcrgen.models.server_options import with_server

if TYPE_CHECKING:
    from vcrgen.data.pictures import Pictures, PictureSelection
    from vcrgen.data.reader import Dataset
    from vcrgen.models.base import VisionModel
    from vcrgen.scorer.mcq.text_only import Outputs

MOST_WORKERS = 4  # each holds some hundred MB
# Before so many pictures are read, the first ones tell how long it takes.
MANY, TRIED = 50, 3
LEARNT = 120  # strips of all languages, out of which glyphs may be cut

# Of the options of `vcrgen predict`, those that say which model is asked without the pictures; and of which items.
_MODEL = [
    *("model", "endpoint", "key_env", "concurrency"),
    *("transformers", "adapter", "batch_size", "device", "trust_remote_code", "param"),
]
_ITEMS = ["split", "limit", "lang"]

baseline = add_group(
    "baseline",
    epilog=examples("vcrgen baseline ocr data/my-vcr", "vcrgen baseline text-only data/my-bloom"),
)


@baseline.command(
    epilog=examples(
        "vcrgen baseline ocr data/my-vcr",
        "vcrgen baseline ocr data/my-vcr --view both --mode hard --split test --limit 100 --out ocr.jsonl",
        "vcrgen baseline ocr hidden/public --workers 2",
    )
)
def ocr(
    dataset: PictureFolder,
    out: Annotated[Path | None, out_option("A new file (JSON Lines).", default="DATASET-ocr.jsonl")] = None,
    view: Annotated[str, typer.Option(help="stacked (VI+TEI), tei or both.")] = "stacked",
    mode: Annotated[str | None, typer.Option(help="Only this mode.", show_default="all")] = None,
    split: Annotated[str | None, typer.Option(help="Only this split.", show_default="all")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N questions.", show_default="all")] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, max=64, help="Pictures read at a time.", show_default=f"one a core, at most {MOST_WORKERS}"
        ),
    ] = None,
) -> None:
    r"""Read the images with OCR and write what was read as outputs to score.

    Needs rapidocr-onnxruntime. Run the same command again to resume.
    """
    from vcrgen.data.pictures import PictureSelection, open_pictures
    from vcrgen.data.reader import open_dataset
    from vcrgen.data.tasks.vcr import VCR
    from vcrgen.data.views import VIEWS, View
    from vcrgen.models.ocr import OcrModel

    views = [name for name in VIEWS if name != View.TEXT_ONLY]  # in which there is nothing to read
    if view not in views:
        raise ConfigError(f"OCR reads pictures: the view is one of {', '.join(views)}, not {view!r}.")
    choice = PictureSelection(views=VIEWS[view], mode=mode, split=split, limit=limit)
    pictures = open_pictures(open_dataset(dataset, VCR), choice)
    workers = workers or min(_cores() or 1, MOST_WORKERS)
    if pictures.total >= MANY:
        _say_how_long(pictures, OcrModel(), workers)
    _run(pictures, choice, OcrModel, out or default_out(dataset, "ocr"), workers)


@baseline.command(
    epilog=examples(
        "vcrgen baseline template data/my-vcr",
        "vcrgen baseline template data/my-vcr --mode hard --font fonts/arial.ttf --out template.jsonl",
        "vcrgen baseline template hidden/public --limit 20",
    )
)
def template(
    dataset: PictureFolder,
    out: Annotated[
        Path | None,
        out_option("A new file (JSON Lines).", default="DATASET-template.jsonl"),
    ] = None,
    font: Annotated[
        str | None, typer.Option(help="Its font: a name or a file.", show_default="the best of all shipped faces")
    ] = None,
    lexicon: Annotated[
        Path | None,
        typer.Option(help="A word list: a word a line, after a tab its frequency.", show_default="wordfreq"),
    ] = None,
    sigma: Annotated[
        float, typer.Option(min=1, max=100, help="Noise in grey levels; for noisy images or JPEG about 10.")
    ] = 4.0,
    mode: Annotated[str | None, typer.Option(help="Only this mode.", show_default="all")] = None,
    split: Annotated[str | None, typer.Option(help="Only this split.", show_default="all")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N questions.", show_default="all")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Strips read at a time.")] = 1,
) -> None:
    """Restore covered texts from the visible pixels alone, by comparing them with rendered words.

    Neither the picture nor a key is used, and of the rest of the caption only its places.

    If no known face is that of the strips, glyphs are cut out of their uncovered text. Each line of outputs has, for
    every covered text, the bits that are left (the equivocation). Run the same command again to resume.
    """
    from vcrgen.data.pictures import PictureSelection, open_pictures
    from vcrgen.data.reader import open_dataset
    from vcrgen.data.tasks.vcr import VCR
    from vcrgen.data.views import View
    from vcrgen.models.predict.template import TemplateModel, check_print, cut_out_glyphs

    choice = PictureSelection(views=(View.TEI,), mode=mode, split=split, limit=limit)
    data = open_dataset(dataset, VCR)
    check_print(data)
    pictures = open_pictures(data, choice)
    strips = ((picture.lang, picture.data) for picture in islice(pictures.stream(), LEARNT))
    cut_out = cut_out_glyphs(strips, font=font, lexicon=lexicon)
    for face in cut_out.values():
        console.err.print(f"No known face explains the first strips: read with {escape(face.name)}.", soft_wrap=True)

    def make_model() -> VisionModel:
        return TemplateModel(font=font, lexicon=lexicon, sigma=sigma, cut_out=cut_out)

    _run(pictures, choice, make_model, out or default_out(dataset, "template"), workers)


def _run(
    pictures: Pictures, choice: PictureSelection, make_model: Callable[[], VisionModel], out: Path, workers: int
) -> None:
    """Read the pictures, write the outputs, and say how to score them."""
    from vcrgen.models.predict.run import run_baseline

    with console.progress(doing="reading", unit="pictures", kept="read") as listener:
        result = run_baseline(pictures, choice, out=out, make_model=make_model, workers=workers, listener=listener)
    if result.rejected:
        counts = ", ".join(f"{reason} {count:,}" for reason, count in result.rejected.most_common())
        typer.echo(f"Rejected: {counts}; the first: {result.example}")
    score = score_command(result.path, pictures, choice)
    typer.echo(f"{result.path}: {pluralize(result.outputs, 'output')} of {result.model}; next: {score}")


def _cores() -> int | None:
    """Cores that this process may use, which may not be all of the machine; None if the system is silent."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count()


def _say_how_long(pictures: Pictures, model: VisionModel, workers: int) -> None:
    """Read the first pictures of many, and say how long all of them will take."""
    from vcrgen.models.base import Request, RequestProblem

    began = time.monotonic()
    for picture in islice(pictures.stream(), TRIED):
        with suppress(RequestProblem):  # which the run counts
            model.reply(Request(images=(picture.data or b"",), language=picture.lang))
    minutes = (time.monotonic() - began) / TRIED * pictures.total / workers / 60
    many = f"Reading {pluralize(pictures.total, 'picture')}, {workers} at a time"
    estimate = f"{many}: about {math.ceil(minutes)} min, if all are like the first {TRIED}."
    console.err.print(estimate, soft_wrap=True)


@baseline.command(
    "text-only",
    epilog=examples(
        "vcrgen baseline text-only data/my-bloom",
        "vcrgen baseline text-only data/my-bloom --lang en --format md --out text-only.md",
        "vcrgen baseline text-only data/my-bloom --transformers models/qwen3-vl-2b",
    ),
)
@options_of(PredictOptions, only=[*_MODEL, *_ITEMS])
def text_only(
    dataset: Annotated[Path, typer.Argument(help="An MCQ benchmark with its keys.")],
    form: Format = None,
    out: Out = None,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    server: ServerFile = None,
    **options: Any,
) -> None:
    """Measure text-only accuracy on an MCQ benchmark: of a reader of texts, and of a model without the images.

    The reader is an n-gram classifier, which learns from the other pictures of the set; it needs 100 items.
    With --transformers or --endpoint a model is asked without the pictures, too, as by vcrgen predict --view text-only.
    """
    from vcrgen.data.tasks import bloom
    from vcrgen.data.tasks.opening import open_task_dataset
    from vcrgen.scorer.mcq.loading import categories_of
    from vcrgen.scorer.mcq.text_only import items_with_keys, text_only_accuracies, text_only_document

    output_format = report_format(form, out, [dataset])
    data = open_task_dataset(dataset)
    if data.kind.task != bloom.TASK:
        raise ConfigError(f"{data} is no MCQ benchmark; make one with vcrgen bloom build.")
    items, models = items_with_keys(data.select(split=options["split"]), options["limit"]), {}
    if server or any(value is not None for name, value in options.items() if name not in _ITEMS):
        settings = validate_options(PredictOptions, with_server(PredictOptions, server, options))
        name, outputs = _text_only_outputs(dataset, data, settings)
        models[name] = outputs
    rows = text_only_accuracies(items, seed=seed, lang=options["lang"], models=models)
    write_report(text_only_document(str(data), rows, categories_of(data)), output_format, out)


def _text_only_outputs(folder: Path, data: Dataset, settings: PredictOptions) -> tuple[str, Outputs]:
    """Ask a model in the text-only view, as `vcrgen predict` does; nothing that was answered is asked again."""
    from vcrgen.core.reading import iter_json_lines
    from vcrgen.data.views import View
    from vcrgen.models.predict import job
    from vcrgen.models.predict.prompts import make_choice_prompt
    from vcrgen.models.predict.questions import QuestionSelection

    prompt = make_choice_prompt(None, settings.parameters)
    choice = QuestionSelection(views=(View.TEXT_ONLY,), split=settings.split, limit=settings.limit, lang=settings.lang)
    model = model_of(settings, prompt)
    target = default_out(folder, f"{file_name(model)}-text-only")
    with console.progress(doing="asking", unit="questions", kept="answered") as listener:
        result = job.predict(data, choice, out=target, model=model, prompt=prompt, listener=listener)
    exit_unless_finished(result, settings)
    lines = (line for _, line in iter_json_lines(result.path, PredictionError))
    return model.name, {(line["question_id"], line["lang"]): line["output"] for line in lines}
