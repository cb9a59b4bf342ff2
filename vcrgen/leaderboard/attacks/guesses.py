"""The guesses of an attacker for a hidden set, and files of outputs that hold some of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from vcrgen.dataset.key import FEEDBACK
from vcrgen.dataset.views import View
from vcrgen.leaderboard.attacks.key_search import Design, World
from vcrgen.rng import rng_for, shuffled
from vcrgen.scorer.mcq.session import ItemSession
from vcrgen.scorer.session import BaseScoringSession
from vcrgen.tasks.bloom import LETTERS

GUESSES = 4  # for each span in the search for a key
ALIKE = 32  # spans of nearly the same length, from which wrong guesses are drawn
STAGE = "board-check"


@dataclass(frozen=True)
class GuessedSet:
    """A hidden set with guesses for each of its units: spans, or items of a multiple-choice benchmark (MCQ).

    Attributes:
        session: The scoring session of the whole set.
        world: Its structure, and the number of the right guess of each unit.
        texts: Per unit its guesses.
        rows: Row of the question of each unit.
    """

    session: BaseScoringSession
    world: World
    texts: Sequence[Sequence[str]]
    rows: Sequence[int]

    def outputs(self, design: Design) -> list[str]:
        """Return per question an output with the guesses of a design."""
        said: list[list[str]] = [[] for _ in self.session.key.questions]
        for unit, row in enumerate(self.rows):
            said[row] += [self.texts[unit][guess] for guess in np.flatnonzero(design[unit]).tolist()]
        return ["\n".join(texts) or "-" for texts in said]

    def lines(self, outputs: Sequence[str], view: View) -> Iterator[str]:
        """Yield the lines of a complete file in one view, in all modes or languages."""
        for question, output in zip(self.session.key.questions, outputs, strict=True):
            line = {"question_id": question.question_id, "view": view.value, "output": output}
            languages = list(getattr(question, "questions", ()))
            modes = self.session.key.variants if len(self.session.key.variants) > 1 else ()
            for more in [{"lang": lang} for lang in languages] or [{"mode": mode} for mode in modes] or [{}]:
                yield json.dumps(line | more, ensure_ascii=False) + "\n"


def guess_set(session: BaseScoringSession, guesses: int = GUESSES) -> GuessedSet:
    """Make guesses for every unit of a set: the right one and texts of other units that are about as long.

    In an MCQ benchmark the guesses are the letters that every item has.
    """
    questions = session.key.questions
    rows = [row for row, question in enumerate(questions) for _ in question.answers]
    answers = [answer for question in questions for answer in question.answers]
    choices = isinstance(session, ItemSession)
    if choices:
        fewest = min(len(each.options) for question in session.key.questions for each in question.questions.values())
        texts = [list(LETTERS[:fewest])] * len(rows)
        texts = [each if answer in each else [*each[:-1], answer] for each, answer in zip(texts, answers, strict=True)]
    else:
        texts = [_with_wrong_guesses(answers, unit, guesses) for unit in range(len(answers))]
    starts = questions.starts
    image = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    parts = [questions[row].part for row in rows]
    world = World(
        image=image,
        right=np.array([each.index(answer) for each, answer in zip(texts, answers, strict=True)]),
        feedback=np.array([parts[start] == FEEDBACK for start in starts[:-1]]),
        guesses=len(texts[0]),
        single=choices,
    )
    return GuessedSet(session, world, texts, rows)


def _with_wrong_guesses(answers: Sequence[str], unit: int, guesses: int) -> list[str]:
    """Return guesses in random order; a span that no others differ from is spelt backwards."""
    right, rng = answers[unit], rng_for(guesses, STAGE, str(unit))
    others = sorted({each for each in answers if each.casefold() != right.casefold()})
    near = sorted(others, key=lambda each: abs(len(each) - len(right)))[: max(ALIKE, guesses)]
    wrong = shuffled(rng, near)[: guesses - 1]
    wrong += [right[::-1] + "x" * number for number in range(guesses - 1 - len(wrong))]
    return shuffled(rng, [right, *wrong])
