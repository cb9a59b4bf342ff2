"""Time of a whole scoring, from files to intervals, in times of spaCy's tokenizer in the same run.

    python scripts/bench_score.py [--data ../shared/data/wiki] [--items 50000]

The yardstick is what a user has to do in any case: to ask spaCy's tokenizer, as it is, for the texts and offsets of the
tokens of each output. For Chinese that is the one with jieba. Outputs are noisy and have 10 to 120 tokens.
"""

import argparse
import json
import os
import random
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

from vcrgen.scorer import ScoreOptions, Session, make_scorer
from vcrgen.text.languages import LANGUAGES

ROOT = Path(__file__).resolve().parents[1]
Item = tuple[tuple[str, ...], str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "wiki")
    parser.add_argument("--items", type=int, default=50_000, help="each with an output in two views")
    args = parser.parse_args()
    for lang in ("en", "zh"):
        whole_test_set(lang, read_answers(args.data / f"answers_{lang}.jsonl"), args.items)


def read_answers(file: Path) -> list[tuple[str, ...]]:
    return [tuple(json.loads(line)["answers"]) for line in file.read_text("utf-8").splitlines()]


def noisy_outputs(answers: list[tuple[str, ...]], lang: str, count: int, seed: int = 0) -> list[Item]:
    """Outputs of 10 to 120 words: the spans with a fifth of their words exchanged, among words of other spans."""
    rng = random.Random(seed)
    joiner = LANGUAGES[lang].joiner
    split: Callable[[str], list[str]] = str.split if joiner else make_scorer(lang).segmenter.__call__  # type: ignore[assignment]
    cut = {text: words_of(split(text)) for spans in answers for text in spans}
    pool = [word for words in cut.values() for word in words]
    items = []
    for number in range(count):
        spans = answers[number % len(answers)]
        words = [rng.choice(pool) if rng.random() < 0.2 else word for span in spans for word in cut[span]]
        filler = max(0, rng.randint(10, 120) - len(words))
        before = rng.randint(0, filler)
        words = [*rng.choices(pool, k=before), *words, *rng.choices(pool, k=filler - before)]
        items.append((spans, joiner.join(words)))
    return items


def words_of(value: object) -> list[str]:
    return list(getattr(value, "texts", value))  # type: ignore[call-overload]


def whole_test_set(lang: str, answers: list[tuple[str, ...]], count: int) -> None:
    """From files to intervals, with and without a file of every span, against tokenising the same outputs alone."""
    from vcrgen.scorer.evidence import write_evidence

    views = [noisy_outputs(answers, lang, count, seed) for seed in (1, 2)]
    outputs = [output for view in views for _, output in view]
    segment, plain = make_scorer(lang).segmenter, spacys_tokenizer(lang)
    with tempfile.TemporaryDirectory() as folder:
        key, predictions = Path(folder) / "key.jsonl", Path(folder) / "predictions.jsonl"
        write_lines(key, ({"question_id": str(i), "crossed_text": spans} for i, (spans, _) in enumerate(views[0])))
        write_lines(predictions, prediction_lines(views))

        def run(spans: str | None = None) -> None:
            with write_evidence(Path(folder) / spans if spans else None) as evidence:
                Session(key, ScoreOptions(lang=lang)).score(predictions, evidence)

        # In turns, so that what else the machine does slows all of them: each next to the yardstick.
        named: dict[str, Callable[[], object]] = {
            "spaCy's tokenizer as it is": lambda: deque(map(plain, outputs), maxlen=0),
            "ours": lambda: deque(map(segment, outputs), maxlen=0),
            "the whole run": run,
            "with --spans": lambda: run(spans="spans.parquet"),
        }
        turns = [{name: both_clocks(work) for name, work in named.items()} for _ in range(3)]
    print(f"{lang}, {count} items in both views: seconds of processors, by the clock; in times of spaCy's tokenizer")
    yardstick = best_of(turns, "spaCy's tokenizer as it is")
    for name in named:
        seconds = best_of(turns, name)
        ratios = [own / spacys for own, spacys in zip(seconds, yardstick, strict=True)]
        print(f"  {name:<27} {seconds[0]:7.2f} {seconds[1]:7.2f}   {ratios[0]:.2f} {ratios[1]:.2f}")


def both_clocks(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of processors, those of processes that it started included, and by the clock."""
    before, start = os.times(), time.perf_counter()
    work()
    after, end = os.times(), time.perf_counter()
    return sum(after[:4]) - sum(before[:4]), end - start


def best_of(turns: list[dict[str, tuple[float, float]]], name: str) -> tuple[float, float]:
    """The least of either clock."""
    processor, clock = zip(*(turn[name] for turn in turns), strict=True)
    return min(processor), min(clock)


def spacys_tokenizer(lang: str) -> Callable[[str], object]:
    """The tokenizer of spaCy as it is, and of each token its text and offset."""
    import spacy

    config = {"nlp": {"tokenizer": {"segmenter": "jieba"}}} if lang == "zh" else {}
    tokenizer = spacy.blank(lang, config=config).tokenizer
    return lambda text: [(token.text, token.idx) for token in tokenizer(text)]


def prediction_lines(views: list[list[Item]]) -> Iterator[dict[str, str]]:
    for view, items in zip(("stacked", "tei"), views, strict=True):
        for number, (_, output) in enumerate(items):
            yield {"question_id": str(number), "view": view, "output": output}


def write_lines(file: Path, rows: Iterator[dict[str, object]] | Iterator[dict[str, str]]) -> None:
    with file.open("w", encoding="utf-8") as handle:
        handle.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


if __name__ == "__main__":
    main()
