"""The reward pays for one whole, ordered answer, and nothing else pays more at the same skill."""

import inspect
import json
import random
from collections.abc import Callable, Sequence
from functools import cache
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pages import Page
from vcrgen.core.errors import ScoreError
from vcrgen.samples import sample_pair
from vcrgen.scorer.api import match_image, match_spans
from vcrgen.scorer.scorer import make_scorer
from vcrgen.text.languages import LANGUAGES
from vcrgen.train.rewards import NAME, Restoration, compute_score, restoration

SPANS = ["the old lighthouse", "in spring", "red and white boats"]
RIGHT = "\n".join(SPANS)
WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8)
reward = Restoration("en")
MEASURED = Page("docs/validation.md").text


@pytest.mark.parametrize(
    ("output", "worth"),
    [
        (RIGHT, 1),
        (" ".join(SPANS), 1),
        ("1. the old lighthouse\n2. in spring\n3. red and white boats", 1),
        ("- the old lighthouse\n\n- in spring\n- red and  white\tboats\n", 1),
        (f"<think>in winter?\nred dogs</think>{RIGHT}<|im_end|>", 1),
        (f"<answer>{RIGHT}</answer>", 1),
        (json.dumps({"answers": SPANS}), 1),
        (f"{RIGHT}\n{RIGHT}", 0.5),
        ("\n".join(reversed(SPANS)), 1 / 9),
        ("the old lighthouse\nin winter\nred and white boats", 8 / 9),
        ("", 0),
        ("<think>" + RIGHT, 0),
        ("a b c d e f g h i", 0),
        ("\n" * 500, 0),
    ],
)
def test_worth(output: str, worth: float) -> None:
    assert reward.of(SPANS, output) == pytest.approx(worth) == restoration(SPANS, output)


Policy = Callable[[Sequence[Sequence[str]], str, str], str]
ATTACKS: dict[str, Policy] = {
    "2 guesses a span": lambda rounds, caption, joiner: "\n".join(map("\n".join, zip(*rounds[:2], strict=True))),
    "4 guesses a span": lambda rounds, caption, joiner: "\n".join(map(", ".join, zip(*rounds[:4], strict=True))),
    "rounds of guesses": lambda rounds, caption, joiner: "\n".join(map("\n".join, rounds[:3])),
    "JSON of guesses": lambda rounds, caption, joiner: json.dumps(rounds[:2]),
    "in a sentence": lambda rounds, caption, joiner: f"The covered texts are: {', '.join(rounds[0])}.",
    "another order": lambda rounds, caption, joiner: "\n".join(reversed([*rounds[0], ""])) + " ?",
    "said twice": lambda rounds, caption, joiner: "\n".join([*rounds[0], *rounds[0]]),
    "the whole caption": lambda rounds, caption, joiner: caption,
    "the caption, repeated": lambda rounds, caption, joiner: " ".join([caption] * 6),
    "nothing": lambda rounds, caption, joiner: "",
}


@cache
def caption_of(lang: str, number: int) -> str:
    """The caption of a built-in pair, whose picture takes ten milliseconds to draw."""
    return sample_pair(lang, number).caption


@cache
def drawn(lang: str, skill: float) -> list[tuple[tuple[str, ...], list[list[str]], str]]:
    """Spans of captions, guesses that have each token right by chance, and the caption with the first guesses."""
    scorer, joiner, images = make_scorer(lang), LANGUAGES[lang].joiner, []
    for number in range(40):
        caption = caption_of(lang, number)
        tokens = list(scorer.prepare(caption).tokens)
        rng = random.Random(f"{number} {skill}")
        spans = [tokens[start : start + 3] for start in (1, 6) if start + 3 <= len(tokens)]
        rounds = [
            [joiner.join(token if rng.random() < skill else rng.choice(tokens) for token in span) for span in spans]
            for _ in range(4)
        ]
        texts = tuple(joiner.join(span) for span in spans)
        filled = joiner.join(tokens)
        for text, guess in zip(texts, rounds[0], strict=True):
            filled = filled.replace(text, guess, 1)
        images.append((texts, rounds, filled))
    return images


@pytest.mark.parametrize("skill", [0.3, 0.7, 0.95])
@pytest.mark.parametrize("lang", ["en", "zh", "ja"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_pays_less_than_honest_reading(attack: str, lang: str, skill: float) -> None:
    pay, joiner = Restoration(lang), LANGUAGES[lang].joiner
    honest = fmean(pay.of(spans, "\n".join(rounds[0])) for spans, rounds, _ in drawn(lang, skill))
    attacked = fmean(
        pay.of(spans, ATTACKS[attack](rounds, caption, joiner)) for spans, rounds, caption in drawn(lang, skill)
    )
    assert attacked < honest


def test_the_docs_say_what_is_paid() -> None:
    cells: dict[str, Policy] = {"honest": lambda rounds, caption, joiner: "\n".join(rounds[0]), **ATTACKS}
    means = {}
    for name, policy in cells.items():
        paid = [
            reward.metrics(spans, output) | {"restoration": reward.of(spans, output)}
            for spans, rounds, caption in drawn("en", 0.7)
            for output in [policy(rounds, caption, " ")]
        ]
        means[name] = [fmean(row[column] for row in paid) for column in ("restoration", "exact", "jaccard")]
    honest, *others = means.values()
    pairs = [f"{a:.2f} {b:.2f}".replace("0.", ".").split() for a, b in zip(honest, map(max, *others), strict=True)]
    paid_most = ", the others at most ".join(pairs[0])
    exact, jaccard = (" and ".join(pair) for pair in pairs[1:])
    assert f"honest {paid_most}; by exact match {exact}, by Jaccard {jaccard} |" in MEASURED, pairs


def share_of_groups_that_differ(of: Callable[[list[str], str], float], skill: float) -> float:
    """Of groups of eight answers whose words are right by chance, those in which not all have the same reward."""
    groups = []
    for number in range(60):
        tokens, rng = caption_of("en", number).split(), random.Random(f"{number} {skill}")
        spans = [tokens[start : start + 5] for start in (1, 8)]
        outputs = (
            "\n".join(" ".join(word if rng.random() < skill else rng.choice(tokens) for word in span) for span in spans)
            for _ in range(8)
        )
        answers = [" ".join(span) for span in spans]
        groups.append({of(answers, output) for output in outputs})
    return fmean(len(values) > 1 for values in groups)


@pytest.mark.parametrize(
    ("name", "of"),
    [("exact", lambda answers, output: reward.metrics(answers, output)["exact"]), ("restoration", reward.of)],
)
def test_groups_differ_at_any_skill(name: str, of: Callable[[list[str], str], float]) -> None:
    shares = [share_of_groups_that_differ(of, skill) for skill in (0.1, 0.3, 0.5, 0.7, 0.9)]
    assert f"{name} {', '.join(f'{share:.2f}'.removeprefix('0') for share in shares)}" in MEASURED, shares
    assert name == "exact" or min(shares) > 0.95


@given(word=WORD)
def test_a_word_more_lowers_a_right_answer(word: str) -> None:
    assert reward.of(SPANS, f"{RIGHT} {word}") < 1 > reward.of(SPANS, f"{word} {RIGHT}")


@given(places=st.lists(st.tuples(st.integers(0, 9), WORD), max_size=8), guess=st.integers(0, 2), at=st.integers(0, 20))
@settings(max_examples=60)
def test_a_second_guess_lowers_whatever_has_all_spans_in_order(
    places: list[tuple[int, str]], guess: int, at: int
) -> None:
    words = RIGHT.split()
    for place, word in places:
        words.insert(place, word)
    more = [*words[:at], *SPANS[guess].split(), *words[at:]]
    assert reward.of(SPANS, " ".join(more)) < reward.of(SPANS, " ".join(words))


@given(words=st.lists(WORD, min_size=1, max_size=20), tail=st.lists(st.sampled_from(RIGHT.split()), max_size=20))
@settings(max_examples=30)
def test_nothing_behind_the_cap_raises_it(words: list[str], tail: list[str]) -> None:
    long = [words[number % len(words)] for number in range(4 * 9 + 40)]
    assert reward.of(SPANS, " ".join(long + tail)) == reward.of(SPANS, " ".join(long))


@given(st.lists(st.sampled_from([" ", "\n", "\t", "  ", "\r\n", "\u00a0"]), min_size=8, max_size=8))
def test_white_space_and_thoughts_leave_it_as_it_is(gaps: list[str]) -> None:
    words = ["the", "old", "lighthouse", "in", "winter", "red", "white", "boats", "and"]
    output = "".join(map("".join, zip(words, [*gaps, ""], strict=True)))
    assert reward.of(SPANS, f"<think>{RIGHT}</think>{output}") == reward.of(SPANS, " ".join(words))


def test_trainers_call_one_object() -> None:
    logged: dict[str, float] = {}
    conversations = [[{"role": "assistant", "content": RIGHT}], [{"role": "assistant", "content": "in spring"}]]
    of_trl = reward(
        prompts=["?", "?"],
        completions=conversations,
        completion_ids=[[1], [2]],
        answers=[SPANS, SPANS],
        ink=[0.2, 0.2],
        log_metric=logged.__setitem__,
    )
    assert of_trl == reward([RIGHT, "in spring"], answers=[json.dumps(SPANS), tuple(SPANS)], solution=None)
    assert of_trl == [1, pytest.approx(2 / 9)]
    parts = [{"role": "assistant", "content": [{"type": "text", "text": RIGHT}]}]
    assert reward([parts], [SPANS]) == [1]
    assert logged["exact"] == pytest.approx((1 + 1 / 3) / 2) and set(logged) == {"exact", "jaccard"}
    assert reward.__name__ == NAME == "restoration-v1"


def test_verl_calls_a_function() -> None:
    of_verl = compute_score("vcrgen", RIGHT, json.dumps(SPANS), {"lang": "en", "index": 3}, reward_router=None)
    assert of_verl == {"score": 1.0, "exact": 1.0, "jaccard": 1.0}
    assert compute_score("vcrgen", "位于上海市。", '["位于上海市"]', lang="zh")["score"] == pytest.approx(2 / 3)
    assert list(inspect.signature(compute_score).parameters)[:4] == [
        "data_source",
        "solution_str",
        "ground_truth",
        "extra_info",
    ]


@pytest.mark.parametrize("answers", ["in spring", "[in spring", "[" * 100_000, '{"a": 1}', {"a": 1}, [], [3], None])
def test_answers_that_are_no_list_of_texts_are_refused(answers: object) -> None:
    with pytest.raises(ScoreError, match="the list of its image's masked texts"):
        reward(["in spring"], [answers])
    with pytest.raises(ScoreError, match="1 completion and 0 lists of answers are no pairs"):
        reward(["in spring"], [])


@pytest.mark.parametrize(
    ("completions", "problem"),
    [
        ("x", "one text and 1 list of answers are no pairs"),
        ([None], "not None"),
        ([[]], "not "),
        ([[{"role": "assistant"}]], "not "),
    ],
)
def test_completions_that_are_no_texts_are_refused(completions: list[Any], problem: str) -> None:
    with pytest.raises(ScoreError, match=problem):
        reward(completions, [["in spring"]])


def test_one_text_is_no_pair_of_tags() -> None:
    with pytest.raises(ScoreError, match="an opening and a closing tag"):
        Restoration("en", thinking_tags="<plan>")  # type: ignore[arg-type]  # of which every letter would be a tag


def test_an_image_has_one_budget_for_all_its_spans() -> None:
    answers = ["red dog", "big cat", "old man"]
    output = "x " * 5 + "red dog"
    assert match_image(answers, output) == make_scorer("en")(tuple(answers), output).matches
    assert match_image(answers, output)[0].exact and not match_spans(answers[:1], [output])[0].exact
    assert [match.outcome for match in match_image(answers, None)] == ["null"] * 3
    with pytest.raises(ScoreError, match="match_image takes a list"):
        match_image("red dog", "red dog")
