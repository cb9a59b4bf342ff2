"""``vcrgen finetune``: a LoRA of a model that runs on this machine."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.root import app, end_interrupted
from vcrgen.core.options import drop_none, validate_options
from vcrgen.core.plurals import pluralize
from vcrgen.train.options import TrainOptions


@app.command(
    epilog=examples(
        "vcrgen finetune pairs.parquet --model models/my-vlm --lang en --mode hard --out lora",
        "vcrgen finetune data/my-vcr --model models/my-vlm --recipe my.yaml --out lora",
        "vcrgen finetune pairs.parquet --model models/my-vlm --method grpo --adapter lora --out lora-2",
        "vcrgen predict data/my-vcr --transformers models/my-vlm --adapter lora --split test --out preds.jsonl",
    )
)
@options_of(TrainOptions)
def finetune(
    source: Annotated[
        str, typer.Argument(help="A dataset with a split `train`, or pairs, as for `vcrgen build`.", show_default=False)
    ],
    model: Annotated[Path, typer.Option(help="Folder of a vision-language model of transformers.")],
    out: Annotated[Path, out_option("Folder of the adapter.")],
    **options: Any,
) -> None:
    """Train a LoRA adapter that recovers masked text, by TRL, on a dataset or on examples made while it trains.

    Needs the extra `train`. The defaults of sft are the VCR paper's. Run the same command again to resume from the last
    checkpoint.
    """
    from vcrgen.train.run import WORK
    from vcrgen.train.run import finetune as train

    settings = validate_options(TrainOptions, drop_none(options))
    with console.progress(doing="training", unit="steps") as listener:
        try:
            result = train(source, model=model, out=out, options=settings, listener=listener)
        except KeyboardInterrupt:
            end_interrupted(keeps=(out / WORK).exists())
    done = "was complete already" if result.was_complete else "is complete"
    name = "loss" if settings.method == "sft" else "reward"
    first, last = (entry.get(name, float("nan")) for entry in (result.log[0], result.log[-1]))
    console.say(
        f"[bold]{escape(str(out))}[/] {done}: {pluralize(result.steps, 'step')}; {name} {first:.3f} in the first step, "
        f"{last:.3f} in the last one."
    )
    console.say_next("Use it", "vcrgen", "predict", "DATASET", "--transformers", model, "--adapter", out)
