"""``vcrgen predict``: outputs of a model that a server answers for, or that is loaded into this process."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.outputs import PictureFolder, ServerFile, default_out, limits_of, score_command
from vcrgen.cli.root import app
from vcrgen.core.errors import ConfigError
from vcrgen.core.options import validate_options
from vcrgen.core.plurals import pluralize
from vcrgen.models.predict.options import PredictOptions
from vcrgen.models.server_options import with_server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vcrgen.data.pictures import PictureSelection
    from vcrgen.data.reader import Dataset
    from vcrgen.data.views import View
    from vcrgen.models.base import Model
    from vcrgen.models.predict.job import JobResult
    from vcrgen.models.predict.prompts import Prompt
    from vcrgen.models.predict.report import ReplyTally

UNFINISHED = 3  # exit code: some pictures have no reply


@app.command(
    epilog=examples(
        "vcrgen predict data/my-vcr --endpoint http://127.0.0.1:8000/v1 --model qwen --view both --out preds.jsonl",
        "vcrgen predict hidden-2026/public --server server.yaml --concurrency 32 --max-cost 20 --out preds.jsonl",
        "vcrgen predict data/my-vcr --transformers models/qwen3-vl-2b --adapter lora --batch-size 16 --answer-logprobs",
        "vcrgen predict data/my-vcr --endpoint http://127.0.0.1:8000/v1 --model qwen --view text-only --out p.jsonl",
        "vcrgen predict data/my-bloom --endpoint http://127.0.0.1:8000/v1 --model qwen --rotations 4 --label-logprobs",
        "vcrgen predict data/my-bloom --transformers models/qwen3-vl-2b --view both --answer-logprobs --lang ar",
    )
)
@options_of(PredictOptions)
def predict(
    dataset: PictureFolder,
    out: Annotated[Path | None, out_option("A file (JSON Lines).", default="DATASET-MODEL.jsonl")] = None,
    allow_failed: Annotated[
        bool, typer.Option("--allow-failed", help="Write the outputs even if pictures have no reply.")
    ] = False,
    retry_refused: Annotated[
        bool, typer.Option("--retry-refused", help="Send requests again that the server refused.")
    ] = False,
    server: ServerFile = None,
    **options: Any,
) -> None:
    r"""Send the images to a model, and write its answers as outputs to score.

    Needs httpx2 for a model behind a server, or torch, transformers and peft for one in this process.
    Every reply is kept when it arrives: run the same command again to resume.
    Exit code 3: some images have no reply; the same command asks for them again.
    """
    from vcrgen.data.tasks.opening import open_task_dataset
    from vcrgen.models.predict import job
    from vcrgen.models.predict.questions import open_selection

    settings = validate_options(PredictOptions, with_server(PredictOptions, server, options))
    data = open_task_dataset(dataset)
    choice, prompt = _select_pictures(data, settings)
    prompt = replace(prompt, system=settings.system)
    # Before the model, whose loading may take long: what is wrong with the pictures is said at once.
    pictures = open_selection(data, choice, answers=settings.answer_logprobs)
    model = model_of(settings, prompt)
    target = out or default_out(dataset, f"{file_name(model)}{'-canary' if settings.canary else ''}")
    with console.progress(doing="asking", unit="pictures", kept="answered") as listener:
        result = job.predict(
            data,
            choice,
            out=target,
            model=model,
            prompt=prompt,
            price=settings.prices,
            max_cost=settings.max_cost,
            allow_failed=allow_failed,
            retry_refused=retry_refused,
            listener=listener,
        )
    exit_unless_finished(result, settings)
    counts = ", ".join(f"{count:,} {name}" for name, count in result.tally.outcomes.items() if count)
    typer.echo(f"{pluralize(result.tally.replies, 'reply', 'replies')}: {counts}; {_tokens(result.tally)}.")
    if len(names := result.tally.served.get("model", ())) > 1:
        typer.echo(f"Note: the server gave the model several names: {', '.join(names)}.")
    following = score_command(result.path, pictures, choice)
    if settings.preset == "bloombench":
        following += " --protocol bloom-code"
    if settings.canary:
        following = shlex.join(["vcrgen", "score", str(result.path), "--data", str(dataset)])
    typer.echo(f"{result.path}: {pluralize(result.tally.replies, 'output')} of {result.model}; next: {following}")


def _select_pictures(data: Dataset, settings: PredictOptions) -> tuple[PictureSelection, Prompt]:
    """Select pictures, or questions of an MCQ benchmark, and make the prompt for them."""
    from vcrgen.data.pictures import PictureSelection
    from vcrgen.data.tasks import bloom
    from vcrgen.data.views import QUESTION_VIEWS, VIEWS
    from vcrgen.models.predict.prompts import make_choice_prompt, make_prompt
    from vcrgen.models.predict.questions import QuestionSelection

    asks_questions = data.kind.task == bloom.TASK
    views: Mapping[str, tuple[View, ...]] = QUESTION_VIEWS if asks_questions else VIEWS
    view: str = settings.view or next(iter(views))
    if view not in views:
        raise ConfigError(f"{data} has no view {view!r}; the views of such a dataset are {', '.join(views)}.")
    only: dict[str, Any] = {
        "mode": settings.mode,
        "split": settings.split,
        "limit": settings.limit,
        "canary": settings.canary,
    }
    if asks_questions:
        if settings.mode is not None:
            raise ConfigError(f"{data} is an MCQ benchmark, which has no modes; leave --mode out.")
        prompt = make_choice_prompt(
            settings.preset,
            settings.parameters,
            answer_logprobs=settings.answer_logprobs,
            label_logprobs=settings.label_logprobs,
            is_open=settings.open_answers,
        )
        return QuestionSelection(views=views[view], lang=settings.lang, rotations=settings.rotations, **only), prompt
    for name in ("lang", "rotations", "label_logprobs", "open_answers"):
        if getattr(settings, name) != type(settings).model_fields[name].default:
            raise ConfigError(f"--{name.replace('_', '-')} is for MCQ benchmarks, and {data} is none.")
    return PictureSelection(views=views[view], **only), make_prompt(
        settings.preset, settings.parameters, answer_logprobs=settings.answer_logprobs
    )


def file_name(model: Model) -> str:
    """Return a model's name as part of a file name."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", model.name).strip("-.")


def exit_unless_finished(result: JobResult, settings: PredictOptions) -> None:
    """Print missing replies; exit if no outputs were written."""
    if result.missing:
        typer.echo(f"{_missing(result)}; the first: {result.example}", err=not result.finished)
    if not result.finished:
        typer.echo(_unfinished(result, settings), err=True)
        raise typer.Exit(UNFINISHED)


def model_of(settings: PredictOptions, prompt: Prompt) -> Model:
    """Load the model into this process, or open the connection to its server."""
    return _model_here(settings.transformers, settings, prompt) if settings.transformers else _model_served(settings)


def _model_here(folder: Path, settings: PredictOptions, prompt: Prompt) -> Model:
    from vcrgen.models.inprocess import InProcessModel, check_settings
    from vcrgen.models.loading import check_model, load_model

    check_settings(prompt.sampling, prompt.parameters)
    check_model(folder)
    console.say_step("loading the model ...")
    loaded = load_model(
        folder, adapter=settings.adapter, device=settings.device, trust_remote_code=settings.trust_remote_code
    )
    names = [path.resolve().name for path in (folder, settings.adapter) if path]
    return InProcessModel(loaded, settings.model or "+".join(names), batch=settings.batch_size)


def _model_served(settings: PredictOptions) -> Model:
    from vcrgen.models.address import parse_address, read_key
    from vcrgen.models.endpoint import EndpointModel

    assert settings.endpoint is not None
    assert settings.model is not None
    address = parse_address(settings.endpoint, settings.model, settings.profile)
    if settings.answer_logprobs and not address.kind.gives_candidate_logprobs:
        raise ConfigError(
            f"Servers of the kind {address.profile} give no log-probabilities of given answers; --answer-logprobs "
            "works with vLLM (profile: vllm), and with a model in this process (--transformers)."
        )
    key = read_key(settings.key_env, address, insecure=settings.insecure_key)
    return EndpointModel(address, settings.model, key=key, limits=limits_of(settings))


def _missing(result: JobResult) -> str:
    counts = ", ".join(f"{reason} {count:,}" for reason, count in result.missing.most_common())
    singular, many = (f"of {pluralize(result.total, 'picture')} {verb}" for verb in ("has", "have"))
    return f"{pluralize(result.missing.total(), singular, many)} no reply: {counts}"


def _cost_reached(spent: ReplyTally, settings: PredictOptions) -> str:
    """A sentence for a run that ended at --max-cost; empty for other runs."""
    if settings.max_cost is None or spent.cost is None or spent.cost < settings.max_cost:
        return ""
    return f"--max-cost {settings.max_cost:g} is reached ({_tokens(spent)}). Raise it to go on with the rest."


def _unfinished(result: JobResult, settings: PredictOptions) -> str:
    if reached := _cost_reached(result.spent, settings):
        return reached
    if not result.tally.replies:
        return "Not one picture has a reply, so nothing was written; see what is said of the first."
    rest = "the same command asks for the rest only"
    if result.refused:
        rest += " but for what the server refuses (--retry-refused asks for that, too)"
    return f"What was answered is kept: {rest}, and with --allow-failed the outputs are written without it."


def _tokens(tally: ReplyTally) -> str:
    return tally.spending or "the server counts no tokens"
