"""Options of ``vcrgen score``."""

from pathlib import Path
from typing import Self

from pydantic import model_validator

from vcrgen.core.options import PANEL_SERVER, Options, option
from vcrgen.data.tasks.task import MCQ_TASK, VCR_TASK

VIEW_OPTIONS = ("protocol", "mode", "view", "split", "subset", "lang")  # that `vcrgen view` has, too


class ScoreOptions(Options):
    """Options of scoring; the protocol decides where they are None."""

    protocol: str | None = option(
        None,
        f"One of {', '.join(VCR_TASK.protocols)}; of MCQ benchmarks one of {', '.join(MCQ_TASK.protocols)}.",
        shown=f"{VCR_TASK.protocols[0]}, or {MCQ_TASK.protocols[0]}",
    )
    mode: str | None = option(None, "Only outputs of this mode: easy, hard, ink-0.20, …")
    view: str | None = option(
        None, "What the model saw: stacked, tei, strip or text-only; of MCQ benchmarks image or text-only."
    )
    split: str | None = option(None, "Split of the dataset, or all.", shown="test, or the only one")
    subset: str | None = option(
        None,
        "firstN: the first N questions (the paper's: first100, first500); FILE: those whose ids it has, one a line; "
        "feedback or final: of a hidden set.",
    )
    lang: str | None = option(None, "Language, where the dataset does not say; of MCQ benchmarks, only this one.")
    segmenter: str | None = option(None, "builtin, or a trained spaCy pipeline for its tokens.")
    strip_thinking: bool | None = option(
        None, "Thinking blocks.", names="--strip-thinking/--keep-thinking", shown="strip (vcrgen, paper), keep (others)"
    )
    thinking_tags: tuple[str, str] | None = option(
        None, "OPEN CLOSE: tags of thinking blocks besides those that vcrgen and bloom-v5 know."
    )
    max_output_tokens: int | None = option(
        None, "Read only so many tokens of an output; 0 for all.", shown="512 (vcrgen, paper), all (others)"
    )
    refusals: str | None = option(
        None, "WORD,WORD: the words of refusal.", shown="I can't, I cannot, sorry, 无法, 抱歉"
    )
    normalise: str = option(
        "none", "Of answers and outputs: none, nfkc (full-width letters, ligatures) or arabic (alefs, tatweel, too)."
    )
    seed: int = option(0, "Seed of the bootstrap.")
    pixels: Path | None = option(
        None,
        "Outputs of vcrgen baseline template: compare with them on the same spans, and show accuracy by the bits that "
        "the visible pixels leave.",
    )
    strict: bool = option(False, "Missing, unknown, double, null or failed outputs are an error.", names="--strict")
    judge: str | None = option(
        None,
        "Address of a server with a model that reads the outputs which the rules do not read; of MCQ benchmarks.",
        panel=PANEL_SERVER,
    )
    judge_model: str | None = option(None, "Name of that model, as the server knows it.", panel=PANEL_SERVER)
    judge_key_env: str | None = option(None, "Environment variable that holds the key.", panel=PANEL_SERVER)

    @model_validator(mode="after")
    def _judge_is_whole(self) -> Self:
        if (self.judge is None) != (self.judge_model is None) or (self.judge_key_env and self.judge is None):
            raise ValueError("a judge takes --judge ADDRESS and --judge-model NAME")
        if self.judge_model is not None and ("|" in self.judge_model or not self.judge_model.isprintable()):
            raise ValueError("--judge-model is a name of printable characters without |")
        if self.judge is not None and self.protocol not in (None, "bloom-v5", "bloom-open"):
            raise ValueError("--judge reads on where bloom-v5 or bloom-open reads nothing; leave --protocol out")
        return self
