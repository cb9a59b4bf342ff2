r"""Rewards for reinforcement learning: how much of the covered text a completion restores.

    reward = Restoration("en")
    reward(completions=["the old lighthouse\nin spring"], answers=[["the old lighthouse", "in spring"]])   # [1.0]

`restoration` reads the whole answer, in order, and divides by the longer of the two texts. So a second guess, a word
more or another order pays less than one guess for each span, at any skill of the model; exact match, Jaccard and
character similarity pay for lists of guesses. It is no protocol: a board scores by exact match, which is logged beside.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from math import fsum
from typing import Any

from rapidfuzz.distance import Levenshtein

from vcrgen.core.errors import ScoreError
from vcrgen.core.plurals import pluralize
from vcrgen.scorer.clean import Cleaned
from vcrgen.scorer.listed import without_list_marks
from vcrgen.scorer.reader import plain_characters
from vcrgen.scorer.scorer import make_scorer

NAME = "restoration-v1"
LOGGED = ("exact", "jaccard")  # metrics of the protocol `vcrgen`, logged beside the reward


class Restoration:
    r"""The reward of a language, loaded once and called for each batch.

    TRL and Axolotl call it as ``reward(prompts=, completions=, answers=, ...)``, ms-swift as ``reward(completions,
    answers=, ...)``. Other columns are ignored.

    Args:
        lang: A code of the language table.
        thinking_tags: An opening and a closing tag of thought besides those that the reader of outputs knows.

    Raises:
        PipelineError: The language is unknown, or its extra is not installed.

    Examples:
        >>> reward = Restoration("en")
        >>> answers = ["the old lighthouse", "in spring"]
        >>> reward(completions=["the old lighthouse\nin spring", "in spring"], answers=[answers, answers])
        [1.0, 0.4]
    """

    def __init__(self, lang: str = "en", *, thinking_tags: tuple[str, str] | None = None) -> None:
        self.__name__ = NAME  # under which trainers log it
        self._scorer = make_scorer(lang, thinking_tags=thinking_tags)

    def __call__(
        self, completions: Sequence[Any], answers: Sequence[Any], log_metric: Any = None, **_: Any
    ) -> list[float]:
        """One reward a completion, from 0 to 1.

        Args:
            completions: Texts, or conversations of which the last message counts.
            answers: The texts of the masked spans of each, in reading order, as a list or as JSON of one.
            log_metric: Called with names and means of `LOGGED`, as TRL has it.
        """
        if isinstance(completions, str) or len(completions) != len(answers):
            texts = "one text" if isinstance(completions, str) else pluralize(len(completions), "completion")
            raise ScoreError(
                f"{texts} and {pluralize(len(answers), 'list')} of answers are no pairs; give a list of completions, "
                "and for each of them the list of its image's masked texts."
            )
        pairs = [(_spans(spans), _text(completion)) for completion, spans in zip(completions, answers, strict=True)]
        if log_metric is not None and pairs:
            measured = [self.metrics(*pair) for pair in pairs]
            for name in LOGGED:
                log_metric(name, fsum(metrics[name] for metrics in measured) / len(measured))
        return [self.of(*pair) for pair in pairs]

    def of(self, answers: Sequence[str], output: str) -> float:
        """1 - edit distance / the longer of the two, in tokens: of the answer that is read, and of all spans in order.

        Thoughts, end-of-turn tokens, wrappers and list marks are taken out. Four times the spans' tokens and 40 more
        are read.
        """
        expected = self._tokens((plain_characters(Cleaned(answer)) for answer in answers), limit=None)
        given = self._tokens([self._scorer.answer_part(output)], limit=4 * len(expected) + 40)
        if not expected or not given:
            return 0.0
        return 1 - Levenshtein.distance(expected, given) / max(len(expected), len(given))

    def metrics(self, answers: Sequence[str], output: str) -> dict[str, float]:
        """The means over an image's spans of what boards show."""
        matches = self._scorer(answers, output).matches
        return {name: fsum(getattr(match.scores, name) for match in matches) / len(matches) for name in LOGGED}

    def _tokens(self, texts: Iterable[Cleaned], *, limit: int | None) -> list[str]:
        """The tokens of texts without list marks; those of a word do not depend on the white space beside it."""
        words = (word for text in texts for word in without_list_marks(text).text.split())
        return list(islice((token for word in words for token in self._scorer.segmenter(word).texts), limit))


# A process rarely trains on more languages at once.
loaded_reward = lru_cache(maxsize=16)(Restoration)


def restoration(answers: Sequence[str], output: str, lang: str = "en") -> float:
    r"""The reward of one output for the masked spans of its image; see `Restoration.of`.

    Examples:
        >>> restoration(["the old lighthouse", "in spring"], "the old lighthouse\nin autumn")
        0.8
    """
    return loaded_reward(lang).of(_spans(answers), output)


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    lang: str | None = None,
    **_: Any,
) -> dict[str, float]:
    """The reward in the form of verl: ``reward.custom_reward_function.path=pkg://vcrgen.train.rewards``.

    Args:
        data_source: Not used.
        ground_truth: The texts of the masked spans, as JSON of a list or as a list.
        extra_info: Has the language as ``lang``, as `vcrgen export --to verl` writes it.
        lang: The language, where ``extra_info`` has none.
    """
    reward = loaded_reward(lang or (extra_info or {}).get("lang") or "en")
    answers = _spans(ground_truth)
    return {"score": reward.of(answers, solution_str)} | reward.metrics(answers, solution_str)


def _spans(answers: Any) -> list[str]:
    """The texts of an image's spans."""
    with suppress(ValueError, RecursionError):
        answers = json.loads(answers) if isinstance(answers, str) else answers
    spans = list(answers) if isinstance(answers, Iterable) and not isinstance(answers, str | Mapping) else []
    if not spans or not all(isinstance(span, str) for span in spans):
        raise ScoreError(f"The answers of a completion are the list of its image's masked texts, not {answers!r:.80}.")
    return spans


def _text(completion: Any) -> str:
    """The text of a completion: of a conversation the last message, without pictures."""
    try:
        content = completion if isinstance(completion, str) else completion[-1]["content"]
    except (TypeError, LookupError):
        raise ScoreError(f"A completion is a text or a list of messages, not {completion!r:.80}.") from None
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or () if isinstance(part, Mapping))
