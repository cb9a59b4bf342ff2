"""``vcrgen demo``: from built-in pairs to a board, offline, with recorded outputs."""

import shlex
import shutil
from pathlib import Path
from typing import Annotated

import typer

from vcrgen.cli.options import examples, out_option
from vcrgen.cli.root import app
from vcrgen.core.errors import OutputError
from vcrgen.core.files import output_errors
from vcrgen.core.resources import resource_dir

STEPS = (
    "build samples:10 --out demo/data",
    "score demo/ocr.jsonl --data demo/data",
    "score demo/template.jsonl --data demo/data",
    "view demo/data demo/ocr.jsonl demo/template.jsonl --out demo/view",
    "compare demo/template.scores.json demo/ocr.scores.json",
    "leaderboard init demo/board --data public:demo/data",
    "leaderboard add demo/board demo/ocr.jsonl --model RapidOCR --team vcrgen",
    "leaderboard add demo/board demo/template.jsonl --model Templates --team vcrgen",
    "leaderboard export demo/board --to site --out demo/site",
)


@app.command(epilog=examples("vcrgen demo", "vcrgen demo --out /tmp/demo"))
def demo(
    out: Annotated[Path, out_option("The new folder.", default="demo")] = Path("demo"),
) -> None:
    """Build from built-in pairs, score outputs, and write pages of failures and a board, offline.

    Each command is printed before it runs. The outputs are recorded ones of the OCR baseline and of the template
    baseline, which recognises letters by their visible pixels.
    """
    if out.exists():
        raise OutputError(f"{out} exists; name a new folder with --out.")
    with output_errors(out):
        out.mkdir(parents=True)
        for file in sorted(resource_dir("configs").joinpath("demo").glob("*.jsonl")):
            shutil.copyfile(file, out / file.name)
    command_line = typer.main.get_command(app)
    for step in STEPS:
        words = [word.replace("demo/", f"{out.as_posix()}/") for word in shlex.split(step)]
        typer.echo(f"\n$ vcrgen {shlex.join(words)}")
        if code := command_line.main(words, prog_name="vcrgen", standalone_mode=False):
            raise typer.Exit(code)
    board, outputs = out / "site" / "board-public-hard-tei.html", out / "view" / "index.html"
    typer.echo(f"\nOpen the board: {board}; the outputs: {outputs}")
