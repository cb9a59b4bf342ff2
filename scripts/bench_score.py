"""Speed and memory of the scorer, as ratios to a yardstick measured in the same run.

    python scripts/bench_score.py [--data ../shared/data/wiki] [--items 250] [--stream 100000]
    python scripts/bench_score.py --only-whole --test-set 50000
    python scripts/bench_score.py --vlmevalkit VLMEvalKit/vlmeval/dataset/vcr.py  # also needs nltk, rouge-score

The yardstick is the plain loop that the published code runs: difflib's ratio over the n-grams of the output that share
a token with the span. Both sides read the same real spans and the same noisy outputs of 10 to 120 tokens; the scorer
also finds offsets, distances and all metrics. One process, one core.

The yardstick of a whole scoring, from files to intervals, is what a user has to do in any case: to ask spaCy's
tokenizer, as it is, for the texts and offsets of the tokens of each output. For Chinese that is the one with jieba.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import resource
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

from vcrgen.scorer import ScoreOptions, Scorer, Session, make_scorer
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.segmenters import Tokens

ROOT = Path(__file__).resolve().parents[1]
Item = tuple[tuple[str, ...], str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "wiki")
    parser.add_argument("--items", type=int, default=250, help="items of the comparison with the yardstick")
    parser.add_argument(
        "--test-set", type=int, default=5000, help="items of the whole run, in two views; 50000 take minutes"
    )
    parser.add_argument("--stream", type=int, default=100_000, help="lines of the long file; 1000000 takes minutes")
    parser.add_argument("--only-whole", action="store_true", help="measure the whole run, and nothing else")
    parser.add_argument("--vlmevalkit", type=Path, help="compare with the functions of this file, and do nothing else")
    args = parser.parse_args()
    if args.vlmevalkit:
        return beside_vlmevalkit(args.vlmevalkit, read_answers(args.data / "answers_en.jsonl"), args.items)
    figures = []
    for lang in ("en", "zh"):
        answers = read_answers(args.data / f"answers_{lang}.jsonl")
        if not args.only_whole:
            figures.append(against_yardstick(lang, answers, args.items))
        whole_test_set(lang, answers, args.test_set)
    if args.only_whole:
        return
    *seconds, spans = (sum(column) for column in zip(*figures, strict=True))
    report("en and zh, matching alone", seconds, spans)
    adversarial()
    single_characters()
    streaming(read_answers(args.data / "answers_en.jsonl"), args.stream)


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


def yardstick(scorer: Scorer, items: list[Item], outputs: list[list[str]]) -> float:
    """The plain loop, given the tokens; gives the sum of its Jaccard indices, so that nothing is optimised away."""
    joiner, total = LANGUAGES[scorer.lang].joiner, 0.0
    for (spans, _), tokens in zip(items, outputs, strict=True):
        for span in spans:
            needle = scorer.prepare(span).tokens
            wanted, n = set(needle), len(needle)
            best, best_ngram = 0.0, []
            for i in range(len(tokens) - n + 1):
                ngram = tokens[i : i + n]
                if wanted.isdisjoint(ngram):
                    continue
                ratio = SequenceMatcher(None, joiner.join(ngram), span).ratio()
                if ratio > best:
                    best, best_ngram = ratio, ngram
            if best_ngram:
                total += len(wanted & set(best_ngram)) / len(wanted | set(best_ngram))
    return total


def remembering(scorer: Scorer, items: list[Item]) -> Scorer:
    """The scorer with the outputs' tokens at hand, so that matching is measured and not the tokenizer."""
    spaces = scorer.protocol.white_space
    known = {output: scorer.segmenter(output, spaces=spaces) for _, output in items}
    inner = scorer.segmenter

    class Remembering:
        name = inner.name

        def __call__(self, text: str, *, limit: int | None = None, spaces: bool = False) -> Tokens:
            return known.get(text) or inner(text, limit=limit, spaces=spaces)

    return replace(scorer, segmenter=Remembering())  # type: ignore[arg-type]


def timed(work: Callable[[], object], repeats: int = 3) -> float:
    """Seconds of the fastest run: the one least disturbed."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def against_yardstick(lang: str, answers: list[tuple[str, ...]], count: int) -> list[float]:
    """Seconds per span of the plain loop and of both protocols, tokens given to all of them; then of tokenising."""
    items = noisy_outputs(answers, lang, count)
    spans = sum(len(spans) for spans, _ in items)
    paper, published = make_scorer(lang), make_scorer(lang, protocol="vlmevalkit", segmenter="builtin")
    outputs = [paper.segmenter(output).texts for _, output in items]
    seconds = [timed(lambda: yardstick(paper, items, outputs))]
    for scorer in (remembering(paper, items), remembering(published, items)):
        seconds.append(timed(lambda scorer=scorer: [scorer(*item) for item in items], 5))  # type: ignore[misc]
    tokenise = timed(lambda: [paper.segmenter(output) for _, output in items])
    report(f"{lang}: {len(items)} outputs, {spans} spans, matching alone", seconds, spans)
    report("  with tokenising once", [second + tokenise for second in seconds], spans)
    return [*seconds, float(spans)]


def report(head: str, seconds: list[float], spans: float) -> None:
    loop, paper, published = seconds
    print(
        f"{head}: difflib loop {loop * 1e6 / spans:.0f} us/span; paper-v2 {paper * 1e6 / spans:.0f}, "
        f"{loop / paper:.1f} times as fast; vlmevalkit-v2 {published * 1e6 / spans:.0f}, {loop / published:.1f} times"
    )


def beside_vlmevalkit(file: Path, answers: list[tuple[str, ...]], count: int) -> None:
    """Processor time of an output: in VLMEvalKit's own function, and of all that we make of it, with its tokens."""
    items = noisy_outputs(answers, "en", count)
    wrapped = [(spans, f"The covered texts are:\n“{output}”<|im_end|>") for spans, output in items]
    theirs, progress = vlmevalkits_function(file), SimpleQueue[int]()
    published, ours = (make_scorer("en", protocol=name, segmenter="builtin") for name in ("vlmevalkit", "vcrgen"))
    named: dict[str, Callable[[], object]] = {
        "VLMEvalKit": lambda: [theirs("0", output, list(spans), "en", progress) for spans, output in items],
        published.protocol.name: lambda: [published(*item) for item in items],
        ours.protocol.name: lambda: [ours(*item) for item in items],
        "wrapped outputs": lambda: [ours(*item) for item in wrapped],
    }
    print(f"{count} outputs, {sum(len(spans) for spans, _ in items)} spans: milliseconds of the processor an output")
    for name, work in named.items():
        seconds = []
        for _ in range(5):
            start = time.process_time()
            work()
            seconds.append(time.process_time() - start)
        print(f"  {name:<16} {1000 * min(seconds) / count:.3f}")


def vlmevalkits_function(file: Path) -> Callable[..., object]:
    """``process_match_single_new`` of a checkout's file, with a blank pipeline of spaCy in place of a trained one.

    Of the file only functions are run: the rest asks for its package and for models that no registry has.
    """
    import spacy
    from rouge_score.rouge_scorer import RougeScorer

    class Rouge:
        @staticmethod
        def compute(
            predictions: list[str], references: list[str], tokenizer: Callable[[str], list[str]], rouge_types: list[str]
        ) -> dict[str, float]:
            scorer = RougeScorer(rouge_types, tokenizer=SimpleNamespace(tokenize=tokenizer))
            scores = scorer.score(references[0], predictions[0])
            return {name: score.fmeasure for name, score in scores.items()}

    tree = ast.parse(file.read_text("utf-8"))
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    module: dict[str, Any] = {"partial": partial, "rouge": Rouge, "nlp": {"en": spacy.blank("en")}}
    exec(compile(tree, str(file), "exec"), module)  # noqa: S102 - of a checkout that the user names
    function: Callable[..., object] = module["process_match_single_new"]
    return function


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
    print(f"  {lang}, {count} items in both views: seconds of processors, by the clock; in times of spaCy's tokenizer")
    yardstick = best_of(turns, "spaCy's tokenizer as it is")
    for name in named:
        seconds = best_of(turns, name)
        ratios = [own / spacys for own, spacys in zip(seconds, yardstick, strict=True)]
        print(f"    {name:<27} {seconds[0]:7.2f} {seconds[1]:7.2f}   {ratios[0]:.2f} {ratios[1]:.2f}")


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


def adversarial() -> None:
    """Half and whole of a megabyte: time per character must not grow."""
    print("outputs of 0.5 and 1 MB, seconds")
    texts = {
        "one word repeated": ("en", "the ", "the span is in the"),
        "no spaces": ("en", "a", "the span is in the"),
        "brackets": ("en", "(", "the span is in the"),
        "one Han character": ("zh", "的", "联邦各州现存的各类"),
        "thinking tags": ("en", "<think>", "the span is in the"),
    }
    for name, (lang, unit, span) in texts.items():
        for protocol, limit in (("paper", None), ("paper", 0), ("vlmevalkit", 0)):
            scorer = make_scorer(lang, protocol=protocol, segmenter="builtin", max_output_tokens=limit)
            scorer((span,), "warm up")
            half, whole = (measure(scorer, span, unit, size) for size in (500_000, 1_000_000))
            cut = "512 tokens" if limit is None else "all tokens"
            print(f"  {name:<18} {scorer.protocol.name:<14} {cut}: {half:6.2f} {whole:6.2f}")


def single_characters() -> None:
    """100,000 times one character, in times of as many characters of words: the slowest characters."""
    words = "one two three four five " * 4167
    characters = [*map(chr, range(1, 0x250)), *map(chr, range(0x2010, 0x2070)), *"中あ가ا،؟。、🙂①◁「﷽ﬁ"]
    scorer = make_scorer("en")

    def seconds(text: str) -> float:
        start = time.process_time()
        scorer(("a b c d e",), text[:100_000])
        return time.process_time() - start

    yardstick = min(seconds(words) for _ in range(5))
    slowest = sorted(((min(seconds(c * 100_000) for _ in range(2)), c) for c in characters), reverse=True)[:5]
    named = ", ".join(f"U+{ord(c):04X} {1000 * second:.0f} ms ({second / yardstick:.0f})" for second, c in slowest)
    print(f"100,000 characters of words: {1000 * yardstick:.1f} ms; of one character, the slowest: {named}")


def measure(scorer: Scorer, span: str, unit: str, size: int) -> float:
    output = unit * (size // len(unit))
    return timed(lambda: scorer((span,), output), 1)


def streaming(answers: list[tuple[str, ...]], lines: int) -> None:
    """A file of many lines for the same questions: memory belongs to the questions."""
    items = noisy_outputs(answers, "en", len(answers))
    with tempfile.TemporaryDirectory() as folder:
        key, predictions = Path(folder) / "key.jsonl", Path(folder) / "predictions.jsonl"
        write_lines(key, ({"question_id": str(i), "crossed_text": spans} for i, (spans, _) in enumerate(items)))
        for count in (lines // 10, lines):
            write_lines(predictions, stream_lines(items, count))
            start = time.perf_counter()
            Session(key, ScoreOptions(lang="en")).score(predictions)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            print(f"stream of {count} lines: {time.perf_counter() - start:.1f} s, peak {peak} MiB so far")


def stream_lines(items: list[Item], count: int) -> Iterator[dict[str, str]]:
    """A line a question and view, then lines for questions that nobody asked: joined, counted, left out."""
    for number in range(count):
        question = str(number) if number < len(items) else f"x{number}"
        yield {"question_id": question, "output": items[number % len(items)][1]}


if __name__ == "__main__":
    main()
