"""``vcrgen finetune``: a LoRA of a model that runs on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from vcrgen.builder.options import SPLIT_FIELDS, BuildConfig
from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.root import app
from vcrgen.core.options import drop_none, validate_options
from vcrgen.core.plurals import pluralize
from vcrgen.train.options import TrainOptions

# What of a build's configuration counts for a stream, too.
PAIR_OPTIONS = tuple(
    name
    for name in BuildConfig.model_fields
    if name not in ("source", "mode", "seed", "image_format", "source_license", *SPLIT_FIELDS)
)


@app.command(
    epilog=examples(
        "vcrgen finetune models/my-vlm pairs.parquet --lang en --mode hard --out lora",
        "vcrgen finetune models/my-vlm data/my-vcr --steps 250 --out lora",
        "vcrgen finetune models/my-vlm data/my-vcr --out lora --targets all --rank 32 --micro-batch 8",
        "vcrgen finetune models/my-vlm data/second --adapter lora --out lora-2",
        "vcrgen predict data/my-vcr --transformers models/my-vlm --adapter lora --split test --out preds.jsonl",
    )
)
@options_of(BuildConfig, only=PAIR_OPTIONS)
@options_of(TrainOptions)
def finetune(
    model: Annotated[Path, typer.Argument(help="Folder of a vision-language model of transformers.")],
    source: Annotated[
        str, typer.Argument(help="A dataset with a split `train`, or pairs, as for `vcrgen build`.", show_default=False)
    ],
    out: Annotated[Path, out_option("Folder of the adapter.")],
    **options: Any,
) -> None:
    r"""Fine-tune a model by LoRA to recover masked text, on a dataset or on examples made while it trains.

    Needs the extra `train`: pip install "vcrgen\[train]". The defaults are the VCR paper's. Run the same
    command again to resume from the last checkpoint.
    """
    from vcrgen.cli.progress import ConsoleProgress
    from vcrgen.train.run import finetune as train

    options["where"] = options["where"] or None
    own = {name: value for name, value in options.items() if name in TrainOptions.model_fields}
    of_pairs = {name: options[name] for name in PAIR_OPTIONS}
    settings = validate_options(TrainOptions, drop_none(own))
    with ConsoleProgress(console.err, doing="training", unit="steps") as listener:
        result = train(model, source, out=out, options=settings, of_pairs=drop_none(of_pairs), listener=listener)
    counts = result.counts
    done = "was complete already" if result.was_complete else "is complete"
    console.say(
        f"[bold]{escape(str(out))}[/] {done}: {pluralize(counts.step, 'step')}, "
        f"{pluralize(counts.examples, 'example')}; loss of a token {counts.first_loss:.3f} in the first step, "
        f"{counts.last_loss:.3f} in the last one."
    )
    console.say(f"Source {escape(result.source)}", highlight=False)
    console.say_next("Use it", "vcrgen", "predict", "DATASET", "--transformers", model, "--adapter", out)
