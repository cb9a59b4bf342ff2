"""Sentences and nouns of each task for web pages and boards."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vcrgen.core.plurals import pluralize
from vcrgen.data.tasks.task import MCQ_TASK, VCR_TASK, ScoredTask


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskWording:
    """The words of one task."""

    title: str  # of the task
    units: str  # the units on pages, such as "masked spans"
    unit_head: str  # the same as the head of a column: one word
    verb_correct: str  # of a model that has a unit right, as in "only A recovered 3 spans"
    size: Callable[[int, int], str]  # of a set, by its questions and units
    basis: Callable[[int, int], str]  # the same, after "In percent, over"
    task_description: str  # what a model has to do
    scoring_description: str  # the metrics of outputs
    human_activity: str  # what people of a study did, as in "Studies in which people answered questions of this set"
    outcomes: Mapping[str, str]  # words for the outcomes of the task


LBS_WINDOW = (
    "Window of LBS: all tokens of an option's text and no others, from the first one of the model's turn, after the "
    "question without its options."
)
_WORDING = {
    VCR_TASK.name: TaskWording(
        title="Visual Caption Restoration",
        units="masked spans",
        unit_head="Spans",
        verb_correct="recovered",
        size=lambda images, spans: f"{pluralize(images, 'image')}, {pluralize(spans, 'masked span')}",
        basis=lambda images, spans: f"{pluralize(spans, 'masked span')} in {pluralize(images, 'image')}",
        task_description=(
            "An image has its caption below or above it. Covers mask some words of the caption, and only parts of "
            "their letters stay visible. A model has to write the masked spans. Easy covers leave more of the letters "
            "than hard ones; a level such as ink-0.20 says what share of their ink is left, and one such as bits-4 how "
            "many bits the visible parts leave to infer at least."
        ),
        scoring_description=(
            "For every masked span the scorer takes all n-grams of the output with as many tokens, and of them the "
            "nearest one by Levenshtein distance. An output that lists one answer for each span is compared answer by "
            "answer instead; any other is read as far as one guess for each span takes. Exact match is 1 if the text "
            "is the span; Jaccard is the overlap of their sets of tokens. Case, width and composition count. "
            "A score is the mean over all masked spans."
        ),
        human_activity="recovered spans",
        outcomes={
            "exact": "exact match",
            "wrong": "another text",
            "short": "output too short",
            "beyond_limit": "beyond the part that is read",
            "refused": "refused",
            "empty": "empty output",
            "null": "null output",
            "failed": "failed call",
            "missing": "no output",
        },
    ),
    MCQ_TASK.name: TaskWording(
        title="Multiple-choice benchmark",
        units="items",
        unit_head="Items",
        verb_correct="got right",
        size=lambda _, questions: pluralize(questions, "question"),
        basis=lambda _, questions: pluralize(questions, "question"),
        task_description=(
            "An image has a question with several options, of which one is right. A model has to choose it. A set may "
            "ask in several languages, each of which has a table of its own."
        ),
        scoring_description=(
            "A multiple-choice benchmark (MCQ) has two scores. RAE (regex-based answer extraction) is the share of "
            "questions of which the output names the right option, by protocol bloom-v5; guessing gives 25 % with four "
            "options. LBS (likelihood-based scoring) takes the option with the highest mean log-probability of a "
            f"token, where a file has log-probabilities. {LBS_WINDOW}"
        ),
        human_activity="answered questions",
        outcomes={
            "right": "the right option",
            "wrong": "another option",
            "ambiguous": "two options or more",
            "invalid": "no option",
            "refused": "refused",
            "empty": "empty output",
            "null": "null output",
            "failed": "failed call",
            "missing": "no output",
        },
    ),
}


def wording_of(task: ScoredTask) -> TaskWording:
    """Words of a task; every task of `TASKS` has them."""
    return _WORDING[task.name]
