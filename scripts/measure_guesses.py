"""Measure that a list of guesses does not win, and what the forms of honest outputs cost.

    python scripts/measure_guesses.py [--pairs 400] [--langs en,zh]

Spans are masked in captions of built-in pairs as a build masks them. A model gets each word right with a probability,
its skill; a wrong word is another one of the captions. An honest output has one guess for each span, one a line. A list
has several independent guesses for each span. All have the same first guess, so differences are paired; but of JSON
objects the last one is scored, another guess, so these differ by chance.
"""

import argparse
import json
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from vcrgen.builder.options import BuildConfig
from vcrgen.builder.pipeline import Pipeline
from vcrgen.core.records import Item, Reject
from vcrgen.samples import sample_pair
from vcrgen.scorer.scorer import Scorer, make_scorer
from vcrgen.text.languages import LANGUAGES

SKILLS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
LEAD_IN = {"en": "The covered texts are:", "zh": "被覆盖的文本是："}
SENTENCE = {"en": "I restored them from the visible parts of the letters.", "zh": "我根据可见的笔画还原了这些文字。"}
STEPS = {
    "en": "The caption has several covered places. I look at the tops and the bottoms of the letters first. ",
    "zh": "说明文字有几处被遮住。我先看笔画的上下部分。",
}


class Image(NamedTuple):
    """The masked spans of an image, and its caption."""

    spans: tuple[str, ...]
    caption: str

    def filled(self, guesses: Sequence[str]) -> str:
        """The caption with guesses in place of its spans."""
        caption = self.caption
        for span, guess in zip(self.spans, guesses, strict=True):
            caption = caption.replace(span, guess, 1)
        return caption


Rounds = Sequence[Sequence[str]]
"""Rounds of guesses, each with one for each span."""
Form = Callable[[Image, Rounds, str], str]


def _alternatives(rounds: Rounds) -> list[Sequence[str]]:
    """The guesses of each span."""
    return list(zip(*rounds, strict=True))


HONEST: dict[str, Form] = {
    "one a line": lambda image, rounds, lang: "\n".join(rounds[0]),
    "one line": lambda image, rounds, lang: (", " if lang == "en" else "，").join(rounds[0]),
    "one line without marks": lambda image, rounds, lang: LANGUAGES[lang].joiner.join(rounds[0]),
    "numbered": lambda image, rounds, lang: "\n".join(f"{n}. {text}" for n, text in enumerate(rounds[0], 1)),
    "quoted": lambda image, rounds, lang: ", ".join(f'"{text}"' for text in rounds[0]),
    "JSON list": lambda image, rounds, lang: json.dumps(rounds[0], ensure_ascii=False),
    "JSON in a fence": lambda image, rounds, lang: (
        "```json\n" + json.dumps({"answers": rounds[0]}, ensure_ascii=False) + "\n```"
    ),
    "lead-in, one line": lambda image, rounds, lang: f"{LEAD_IN[lang]} " + ", ".join(rounds[0]),
    "lead-in, bullets": lambda image, rounds, lang: LEAD_IN[lang] + "".join(f"\n- {text}" for text in rounds[0]),
    "lead-in, bold and quoted bullets, a sentence": lambda image, rounds, lang: (
        LEAD_IN[lang] + "".join(f'\n- **"{text}"**' for text in rounds[0]) + f"\n\n{SENTENCE[lang]}"
    ),
}
LOSING: dict[str, Form] = {
    "the whole caption": lambda image, rounds, lang: image.filled(rounds[0]),
    "lead-in, the whole caption": lambda image, rounds, lang: f"{LEAD_IN[lang]} {image.filled(rounds[0])}",
    "two sentences, then one a line": lambda image, rounds, lang: STEPS[lang] + "\n" + "\n".join(rounds[0]),
    "two sentences, then one line": lambda image, rounds, lang: STEPS[lang] + ", ".join(rounds[0]),
}
LISTS: dict[str, Form] = {
    "one a line, span by span": lambda image, rounds, lang: "\n".join(
        guess for guesses in _alternatives(rounds) for guess in guesses
    ),
    "one a line, round by round": lambda image, rounds, lang: "\n".join(guess for texts in rounds for guess in texts),
    "one line a span, commas": lambda image, rounds, lang: "\n".join(map(", ".join, _alternatives(rounds))),
    "one line a span, slashes": lambda image, rounds, lang: "\n".join(map(" / ".join, _alternatives(rounds))),
    "one line a span, or": lambda image, rounds, lang: "\n".join(map(" or ".join, _alternatives(rounds))),
    "numbered, spaces": lambda image, rounds, lang: "\n".join(
        f"{n}. {' '.join(guesses)}" for n, guesses in enumerate(_alternatives(rounds), 1)
    ),
    "one line a round": lambda image, rounds, lang: "\n".join(LANGUAGES[lang].joiner.join(texts) for texts in rounds),
    "quoted": lambda image, rounds, lang: " ".join(f'"{guess}"' for texts in rounds for guess in texts),
    "JSON list": lambda image, rounds, lang: json.dumps([g for texts in rounds for g in texts], ensure_ascii=False),
    "JSON list of lists": lambda image, rounds, lang: json.dumps(_alternatives(rounds), ensure_ascii=False),
    "JSON object a round": lambda image, rounds, lang: "\n".join(
        json.dumps({"answers": texts}, ensure_ascii=False) for texts in rounds
    ),
    "words interleaved": lambda image, rounds, lang: "\n".join(
        " ".join(word for words in zip(*map(str.split, guesses), strict=False) for word in words)
        for guesses in _alternatives(rounds)
    ),
    "repeated captions": lambda image, rounds, lang: "\n".join(image.filled(texts) for texts in rounds),
    "a lead-in a round": lambda image, rounds, lang: "\n".join(f"{LEAD_IN[lang]} {', '.join(t)}" for t in rounds),
    "only the first span's": lambda image, rounds, lang: "\n".join(_alternatives(rounds)[0]),
    "the other language's words between": lambda image, rounds, lang: "\n".join(
        f"{texts[0]} (eine kleine Stadt) {' '.join(texts[1:])}" for texts in rounds
    ),
}


def images(lang: str, pairs: int) -> list[Image]:
    """Spans and captions of built-in pairs, masked as in a build."""
    source = (sample_pair(lang, number) for number in range(pairs))
    items = (Item(source_id=pair.id, image=pair.image, caption=pair.caption) for pair in source)
    planned = Pipeline(BuildConfig(source="samples", lang=lang)).plan_items(items)
    kept = [plan for plan in planned if not isinstance(plan, Reject)]
    return [Image(tuple(span.text for span in spans), prepared.layout.caption) for prepared, spans in kept]


def guess(span: str, scorer: Scorer, words: Sequence[str], skill: float, rng: random.Random) -> str:
    """A guess of a span: each of its tokens is right with a probability."""
    tokens = scorer.prepare(span).tokens
    drawn = [token if rng.random() < skill else rng.choice(words) for token in tokens]
    return LANGUAGES[scorer.lang].joiner.join(drawn)


def exact(asked: Sequence[Image], outputs: Sequence[str], scorer: Scorer) -> float:
    """Percent of the spans that are exact matches."""
    matches = [
        match for image, output in zip(asked, outputs, strict=True) for match in scorer(image.spans, output).matches
    ]
    return 100 * sum(match.exact for match in matches) / len(matches)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--langs", default="en,zh")
    options = parser.parse_args()
    for lang in options.langs.split(","):
        asked, scorer = images(lang, options.pairs), make_scorer(lang)
        words = sorted({token for image in asked for span in image.spans for token in scorer.prepare(span).tokens})
        print(
            f"\n{lang}: {len(asked)} images, {sum(len(image.spans) for image in asked)} spans, {scorer.protocol.name}"
        )
        print(f"| exact match, % | {' | '.join(f'{skill:g}' for skill in SKILLS)} |\n|---|" + "--:|" * len(SKILLS))
        drawn = {
            skill: [_rounds(image, scorer, words, skill, seed) for seed, image in enumerate(asked)] for skill in SKILLS
        }
        for name, form in {**HONEST, **LOSING}.items():
            print(row(name, [_score(asked, drawn[skill], 1, form, scorer) for skill in SKILLS]))
        honest = [_score(asked, drawn[skill], 1, HONEST["one a line"], scorer) for skill in SKILLS]
        for name, form in LISTS.items():
            for count in (2, 4):
                listed = [_score(asked, drawn[skill], count, form, scorer) for skill in SKILLS]
                gains = [f"{got - right:+.1f}" for got, right in zip(listed, honest, strict=True)]
                print(f"| {count} guesses, {name} | {' | '.join(gains)} |")


def _rounds(image: Image, scorer: Scorer, words: Sequence[str], skill: float, seed: int) -> Rounds:
    rng = random.Random(f"{seed} {skill}")
    return [[guess(span, scorer, words, skill, rng) for span in image.spans] for _ in range(4)]


def _score(asked: Sequence[Image], drawn: Sequence[Rounds], count: int, form: Form, scorer: Scorer) -> float:
    outputs = [form(image, rounds[:count], scorer.lang) for image, rounds in zip(asked, drawn, strict=True)]
    return exact(asked, outputs, scorer)


def row(name: str, values: Sequence[float]) -> str:
    """A row of a table."""
    return f"| {name} | {' | '.join(f'{value:.1f}' for value in values)} |"


if __name__ == "__main__":
    main()
