"""Preferences of people as an anchor: votes on pairs of models to Bradley-Terry strengths.

Example: a CSV whose first line is ``model_a,model_b,winner`` and whose other lines are ``A,B,model_a`` and so on, as
arenas publish their votes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vcrgen.analysis.bradley_terry import Strengths, fit_strengths, separated_groups, strength_covariance
from vcrgen.analysis.correlations import ranks
from vcrgen.analysis.score_table import ScoreTable, check_size, parse_name
from vcrgen.core.errors import AnalysisError
from vcrgen.core.plurals import pluralize
from vcrgen.core.reading import read_csv
from vcrgen.report.notebook import LongRow, NotebookResult
from vcrgen.report.table import NumberInterval, Table, TableCell, finite_number
from vcrgen.report.templating import named
from vcrgen.stats.arrays import Floats, Ints
from vcrgen.stats.intervals import NORMAL_QUANTILE

COLUMNS = ("model_a", "model_b", "winner")
TIES = ("tie", "tie (bothbad)", "bothbad")  # as Chatbot Arena writes them
MAX_MODELS = 1000  # whose pairs are kept as matrices
MOST_GROUPS = 4  # that an error names


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Votes:
    """Votes on pairs of models."""

    source: str
    models: tuple[str, ...]
    wins: Floats  # models x models: votes for the first against the second
    ties: Floats  # models x models, symmetric: votes for neither
    inputs: tuple[str, ...] = ()  # words of a command line that read the same; none for votes made in Python

    @property
    def counts(self) -> Ints:
        """The number of votes on each model."""
        counts: Ints = (self.wins + self.wins.T + self.ties).sum(axis=1).astype(np.int64)
        return counts


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class VoteResult(NotebookResult):
    """Strengths of models by votes.

    ``to_pandas()`` has a row for each model. Its columns are ``model``, ``strength`` (log odds of a win against the
    average model), ``low``, ``high`` and ``votes``.
    """

    votes: Votes
    strengths: Strengths

    @property
    def headline(self) -> str:
        """How many models and votes there are."""
        votes = self.votes
        number = int(votes.counts.sum()) // 2
        return f"{votes.source}: {pluralize(len(votes.models), 'model')}, {pluralize(number, 'vote')}"

    @property
    def next_command(self) -> Sequence[str]:
        """The command that writes the page; none for votes made in Python."""
        inputs = self.votes.inputs
        return ("vcrgen", "analyze", "votes", *inputs, "--out", "votes.html") if inputs else ()

    @property
    def order(self) -> list[int]:
        """The numbers of the models, the strongest first."""
        order: list[int] = np.argsort(ranks(self.strengths.value), kind="stable").tolist()
        return order

    @property
    def tied_with_first(self) -> list[int]:
        """The numbers of the models that are not significantly weaker than the strongest (5 %), the strongest first."""
        value = self.strengths.value
        covariance = strength_covariance(self.votes.wins, self.votes.ties, value)
        first, *others = self.order
        variance = covariance[first, first] + np.diagonal(covariance) - 2 * covariance[first]
        tied = value[first] - value <= NORMAL_QUANTILE * np.sqrt(variance)
        return [model for model in others if tied[model]]

    @property
    def summary_table(self) -> Table:
        """The models by their strength."""
        heads = ("Model", "Rank", "Strength", "95 % interval", "Votes")
        value, low, high = self.strengths
        model_ranks, counts = ranks(value), self.votes.counts
        rows: list[list[TableCell]] = [
            [
                self.votes.models[model],
                int(model_ranks[model]),
                finite_number(value[model]),
                NumberInterval(float(low[model]), float(high[model]), 3),
                int(counts[model]),
            ]
            for model in self.order
        ]
        return Table(title="Bradley-Terry strengths", heads=heads, labels=1, rows=rows)

    def long_rows(self) -> Iterator[LongRow]:
        """Yield each model, in the order of the votes."""
        columns = zip(self.votes.models, *self.strengths, self.votes.counts, strict=True)
        for model, value, low, high, count in columns:
            yield {"model": model, "strength": value, "low": low, "high": high, "votes": int(count)}


def read_votes(file: str | Path) -> Votes:
    """Read a CSV of votes with the columns ``model_a``, ``model_b`` and ``winner``; others are ignored.

    Commas, semicolons or tabs separate the cells.

    The winner is ``model_a``, ``model_b``, the name of one of both, or one of `TIES`.

    Raises:
        AnalysisError: The file cannot be read, a vote is on one model, or its winner is none of these.
    """
    file = Path(file)
    check_size(file, "a CSV of votes")
    numbers: dict[str, int] = {}
    counts: dict[tuple[int, int], list[int]] = {}  # of each ordered pair its wins, losses and ties
    for line, row in read_csv(file, AnalysisError, delimiters=",;\t", required=COLUMNS):
        place = f"{file}, line {line}"
        first, second = (parse_name(row[column], "model", place) for column in COLUMNS[:2])
        if first == second:
            raise AnalysisError(f"{place}: the vote is on {first!r} alone; a vote is on two models.")
        pair = tuple(numbers.setdefault(name, len(numbers)) for name in (first, second))
        if len(numbers) > MAX_MODELS:
            raise AnalysisError(f"{file} has more than {MAX_MODELS:,} models.")
        counts.setdefault((pair[0], pair[1]), [0, 0, 0])[_outcome(row["winner"], first, second, place)] += 1
    if not counts:
        raise AnalysisError(f"{file} has no vote; a line is a vote, such as A,B,model_a.")
    wins, ties = (np.zeros((len(numbers), len(numbers))) for _ in range(2))
    for (a, b), (won, lost, tied) in counts.items():
        wins[a, b] += won
        wins[b, a] += lost
        ties[[a, b], [b, a]] += tied
    return Votes(source=str(file), models=tuple(numbers), wins=wins, ties=ties, inputs=(str(file),))


def _outcome(winner: str, first: str, second: str, place: str) -> int:
    """0 if the first model won, 1 if the second did, 2 for a tie."""
    text = winner.strip()
    if text.lower() in TIES:
        return 2
    for number, names in enumerate((("model_a", first), ("model_b", second))):
        if text in names:
            return number
    raise AnalysisError(f"{place}: the winner {text[:40]!r} is not model_a, model_b, tie, or one of the two models.")


def fit_votes(votes: Votes) -> VoteResult:
    """Estimate Bradley-Terry strengths.

    Raises:
        AnalysisError: Models are not connected by votes, or some won, or lost, all votes against the others.
    """
    for directed in (False, True):
        groups = separated_groups(votes.wins, votes.ties, directed=directed)
        if groups.max() > 0:
            raise AnalysisError(_separation(votes, groups, directed=directed))
    try:
        return VoteResult(votes=votes, strengths=fit_strengths(votes.wins, votes.ties))
    except ValueError:
        raise AnalysisError(
            f"{votes.source}: some models won nearly all of very many votes, so no strengths fit; leave them out."
        ) from None


def _separation(votes: Votes, groups: Ints, *, directed: bool) -> str:
    """Why the strengths of models of several groups cannot be compared."""
    members = [np.flatnonzero(groups == group) for group in range(int(groups.max()) + 1)]

    def names(group: Ints) -> str:
        return named([votes.models[model] for model in group])

    if not directed:
        members.sort(key=lambda group: (-len(group), group[0]))
        more = f"; and {len(members) - MOST_GROUPS} more" if len(members) > MOST_GROUPS else ""
        parts = "; ".join(names(group) for group in members[:MOST_GROUPS])
        return (
            f"{votes.source}: no vote connects these groups of models, so their strengths have no common scale: "
            f"{parts}{more}. Collect votes between them, or keep one of them."
        )
    points = votes.wins + votes.ties / 2
    one_sided = [
        (len(group), outcome, group)
        for group in members
        for outcome, matrix in (("won", points.T), ("lost", points))
        if not np.delete(matrix[group], group, axis=1).any()
    ]
    _, outcome, group = min(one_sided, key=lambda side: (side[0], side[2][0]))
    return (
        f"{votes.source}: {names(group)} {outcome} every vote against the other models, so no finite strength fits; "
        f"collect more votes, or leave {'it' if len(group) == 1 else 'them'} out."
    )


def read_anchor(anchor: str | None, tasks: Sequence[str]) -> dict[str, float] | None:
    """The strengths of models if the anchor is a CSV of votes and no task; else None.

    Raises:
        AnalysisError: As `read_votes` and `fit_votes`.
    """
    if anchor is None or anchor in tasks or Path(anchor).suffix.lower() != ".csv":
        return None
    result = fit_votes(read_votes(Path(anchor)))
    return dict(zip(result.votes.models, result.strengths.value.tolist(), strict=True))


def with_votes(table: ScoreTable, anchor: str | None) -> ScoreTable:
    """The table of the models with votes, their strengths as a task, if the anchor is a CSV of votes and no task.

    Raises:
        AnalysisError: As `read_anchor`, or no model of the table has votes.
    """
    strengths = read_anchor(anchor, table.tasks)
    return table if strengths is None or anchor is None else with_anchor(table, anchor, strengths)


def with_anchor(table: ScoreTable, name: str, scores: dict[str, float]) -> ScoreTable:
    """The table with a further task, an outside score; models without one are left out, which a note says.

    Raises:
        AnalysisError: No model of the table has one.
    """
    has_score = np.array([model in scores for model in table.models])
    if not has_score.any():
        raise AnalysisError(
            f"{name} has none of the models of {table.source}: it has {named(list(scores))}, the table has "
            f"{named(list(table.models))}; give both the same names."
        )
    notes = table.notes
    if not has_score.all():
        notes += (f"Models left out, as {name} has no score of them: {(~has_score).sum()} of {len(has_score)}.",)
    part = table.select_models(has_score)
    column = np.array([[scores[model]] for model in part.models])
    errors = None if part.errors is None else np.hstack([part.errors, np.full_like(column, np.nan)])
    tasks = (*part.tasks, name)
    return replace(part, tasks=tasks, scores=np.hstack([part.scores, column]), errors=errors, notes=notes)
