"""Measure the length budget of restoration: its cost to honest outputs, and what is left of lists of guesses.

    python scripts/measure_budget.py [--pairs 150]

Spans are masked in captions of built-in pairs as a build masks them. Every honest output below restores all spans. A
list has GUESSES guesses for each span, the right one at a random place.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from vcrgen.builder.options import BuildConfig
from vcrgen.builder.pipeline import Pipeline
from vcrgen.core.records import Item, Reject
from vcrgen.samples import sample_pair
from vcrgen.scorer.protocols import VCRGEN
from vcrgen.scorer.scorer import Scorer, make_scorer

GUESSES = (2, 4, 8, 16)
PREAMBLE = {"en": "The covered texts in the image are:", "zh": "图片中被覆盖的文本是："}
AFTER = {
    "en": "I restored them from the visible parts of the letters and from the context of the caption.",
    "zh": "我根据可见的笔画和上下文还原了这些文字。",
}
STEPS = {
    "en": "The caption has several covered places. I look at the tops and the bottoms of the letters first. Then I "
    "compare what is left with words that fit the sentence and the picture. ",
    "zh": "说明文字有几处被遮住。我先看笔画的上下部分，再把剩下的部分与符合句子和图片的词语相比较。",
}
Format = Callable[[Sequence[str], str, str], str]
FORMATS: dict[str, Format] = {
    "one a line": lambda spans, _, __: "\n".join(spans),
    "a numbered list": lambda spans, _, __: "\n".join(f"{number}. {span}" for number, span in enumerate(spans, 1)),
    "JSON": lambda spans, _, __: json.dumps({"restored": list(spans)}, ensure_ascii=False),
    "a first sentence, quoted bullets": lambda spans, _, lang: PREAMBLE[lang] + "".join(f'\n- "{s}"' for s in spans),
    "the same in bold, a last sentence": lambda spans, _, lang: (
        PREAMBLE[lang] + "".join(f'\n- **"{span}"**' for span in spans) + "\n\n" + AFTER[lang]
    ),
    "the whole caption": lambda _, caption, __: caption,
    "a first sentence, the whole caption": lambda _, caption, lang: f'{PREAMBLE[lang]} "{caption}"',
    "a list, then the caption": lambda spans, caption, _: "\n".join(spans) + "\n" + caption,
    "three sentences, then a list": lambda spans, _, lang: STEPS[lang] + "\n".join(spans),
}


def questions(lang: str, count: int) -> list[tuple[list[str], str]]:
    """Spans and caption of built-in pairs, masked as in a build."""
    pairs = (sample_pair(lang, number) for number in range(count))
    items = (Item(source_id=pair.id, image=pair.image, caption=pair.caption) for pair in pairs)
    planned = Pipeline(BuildConfig(source="samples", lang=lang)).plan_items(items)
    kept = [one for one in planned if not isinstance(one, Reject)]
    return [([span.text for span in spans], prepared.layout.caption) for prepared, spans in kept]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=150)
    pairs = parser.parse_args().pairs
    for lang in ("en", "zh"):
        asked = questions(lang, pairs)
        ours, unlimited = make_scorer(lang), make_scorer(lang, protocol="paper", max_output_tokens=0)
        print(f"{lang}: {len(asked)} images, {sum(len(spans) for spans, _ in asked)} spans")
        for name, form in FORMATS.items():
            outputs = [form(spans, caption, lang) for spans, caption in asked]
            print(f"| {name} | {row(asked, outputs, ours, unlimited)} |")
        for count in GUESSES:
            outputs = [guesses(spans, count, seed) for seed, (spans, _) in enumerate(asked)]
            print(f"| {count} guesses for each span | {row(asked, outputs, ours, unlimited)} |")
        for each, more in ((1, 20), (2, 0), (2, 10), (2, 20), (3, 20)):
            budget = VCRGEN.budget._replace(each=each, more=more) if VCRGEN.budget else None
            other = replace(ours, protocol=replace(VCRGEN, budget=budget))
            honest = [found(asked, [form(s, c, lang) for s, c in asked], other) for form in FORMATS.values()]
            list_of_16 = found(asked, [guesses(s, 16, seed) for seed, (s, _) in enumerate(asked)], other)
            print(
                f"{each} x masked + {more}: honest {' '.join(f'{h:.1f}' for h in honest)}; 16 guesses {list_of_16:.1f}"
            )


def guesses(spans: Sequence[str], count: int, seed: int) -> str:
    """A list with ``count`` guesses for every span, of which one is right; wrong ones have as many words."""
    rng = random.Random(seed)
    rounds = [[" ".join(span.split()[::-1]) if " " in span else span[::-1] for span in spans] for _ in range(count)]
    for at, span in enumerate(spans):
        rounds[rng.randrange(count)][at] = span
    return "\n".join(guess for each in rounds for guess in each)


def found(asked: Sequence[tuple[list[str], str]], outputs: Sequence[str], scorer: Scorer) -> float:
    """Percent of the spans that are exact matches."""
    matches = [m for (spans, _), output in zip(asked, outputs, strict=True) for m in scorer(spans, output).matches]
    return 100 * sum(match.exact for match in matches) / len(matches)


def row(asked: Sequence[tuple[list[str], str]], outputs: Sequence[str], ours: Scorer, unlimited: Scorer) -> str:
    """Exact match without and with the budget, the share of outputs that are cut, and the length ratio."""
    cut = sum(ours(spans, output).over_tokens for (spans, _), output in zip(asked, outputs, strict=True))
    ratio = sum(map(len, outputs)) / sum(len("".join(spans)) for spans, _ in asked)
    without, within = found(asked, outputs, unlimited), found(asked, outputs, ours)
    return f"{without:.1f} | {within:.1f} | {100 * cut / len(asked):.0f} | {ratio:.1f}"


if __name__ == "__main__":
    main()
