"""Options of ``vcrgen score``."""

from vcrgen.config.base import Options, option


class ScoreOptions(Options):
    """Options of scoring; the protocol decides where they are None."""

    protocol: str | None = option(
        None,
        "vcrgen (with a length budget), paper, vlmevalkit or lmms-eval (as those programs score); of MCQ benchmarks "
        "bloom-v2 or bloom-code.",
        shown="vcrgen, or bloom-v2",
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
    workers: int = option(1, "Processes that score at once; the scores are the same.", ge=1, le=256)
    curve: bool = option(False, "Fit accuracy against visible ink, for outputs at several levels.", names="--curve")
    strict: bool = option(False, "Missing, unknown, double, null or failed outputs are an error.", names="--strict")
