"""The attacks of ``vcrgen leaderboard check``: each is run on one hidden set, and says what it wins over chance."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import numpy as np

from vcrgen.config.build import BuildConfig
from vcrgen.dataset.key import FINAL
from vcrgen.dataset.pictures import PictureSelection, open_pictures
from vcrgen.dataset.reader import open_dataset
from vcrgen.dataset.views import View
from vcrgen.errors import LeaderboardError, VcrgenError
from vcrgen.hidden.probe import check_pairs, probe
from vcrgen.leaderboard.attacks.board_copy import BoardCopy, copy_board
from vcrgen.leaderboard.attacks.guesses import STAGE, GuessedSet, guess_set
from vcrgen.leaderboard.attacks.key_search import Ladder, Numbers, World, search_key
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.disclosure import INSTANT_SENTENCE
from vcrgen.leaderboard.records import Feedback, TestSet
from vcrgen.leaderboard.scoring import score_file
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.worker import session_of
from vcrgen.models.base import Reply
from vcrgen.plurals import pluralize
from vcrgen.predict.strip_attack import read_strips
from vcrgen.rng import rng_for, shuffled
from vcrgen.scorer.mcq.session import ItemSession
from vcrgen.scorer.span_session import Session
from vcrgen.stats.intervals import mean_interval, wilson_interval
from vcrgen.tasks.bloom import ChoiceItem, ChoiceQuestion
from vcrgen.tasks.text_readers import read_without_pictures
from vcrgen.tasks.vcr import VCR
from vcrgen.text.normalise import normalise_caption
from vcrgen.work.progress import ProgressListener

HOLDS, LIMITED, WEAK, NOT_RUN = "holds", "known limit", "weak", "not run"
MARGIN = 0.05  # over chance, or over what is known: below it nothing is said to be won
MOST_FILES = 40  # of one team in a copy of the board
TEAMS, MOST_TEAM_FILES = 10, 200  # teams that share their feedback, and their files together
SIMULATIONS = 10  # of these teams
LISTS = (2, 4, 16)  # guesses for each span in one output
FITTING = 4  # guesses for each span that the length budget lets through
CLOCK_PAIRS, CLOCK_TIES = 16, 0.05  # questions of either split; relative difference of times that nobody can measure
CLOCK_ROUNDS = 4  # in each of which both questions of a pair are timed, as a machine is now slower, now quicker
HEAVY = "a<think></think>" * 6000  # an output that takes long to read
STRIPS = 16  # of the template baseline
STRIPS_KNOWN = 0.2  # share of spans that the template baseline restores of hidden sets' own covers, at most
SECONDS_A_MINUTE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The outcome of one attack on one set.

    Attributes:
        set: Name of the set.
        attack: Name of the attack, for people.
        wins: Share that the attacker has right, or None if the attack was not run.
        chance: Share that he has right without it.
        interval: 95 % interval of the share that is won over chance.
        count: Spans, questions or pictures.
        verdict: One of ``holds``, ``known limit``, ``weak``, ``not run``.
        note: A sentence that explains it.
    """

    set: str
    attack: str
    wins: float | None = None
    chance: float = 0.0
    interval: tuple[float, float] | None = None
    count: int = 0
    verdict: str = NOT_RUN
    note: str = ""


@dataclass(frozen=True)
class Target:
    """One hidden set with what its attacks need."""

    one: TestSet
    settings: Settings
    guessed: GuessedSet
    against: BuildConfig | None
    known: Sequence[ChoiceItem] = ()

    @property
    def public(self) -> Path:
        """The folder of its public part, beside the key."""
        return Path(self.one.path).parent / "public"

    def finding(
        self,
        attack: str,
        wins: float,
        interval: tuple[float, float],
        count: int,
        *,
        chance: float = 0.0,
        known: float = 0.0,
        note: str = "",
    ) -> Finding:
        """Return a finding; ``interval`` is that of ``wins``, and ``known`` the share that is known to be won."""
        low, high = interval
        verdict = WEAK if low > max(known, chance) + MARGIN else LIMITED if low > chance + MARGIN else HOLDS
        return Finding(
            set=self.one.name,
            attack=attack,
            wins=wins,
            chance=chance,
            interval=(low - chance, high - chance),
            count=count,
            verdict=verdict,
            note=note,
        )

    def not_run(self, attack: str, why: str) -> Finding:
        """Return the finding of an attack that cannot be run."""
        return Finding(set=self.one.name, attack=attack, note=why)


def check_board(
    board: Board,
    listener: ProgressListener,
    *,
    name: str | None = None,
    against: BuildConfig | None = None,
    known: Sequence[ChoiceItem] = (),
) -> list[Finding]:
    """Run every attack on each hidden set whose key is secret; the board is only read.

    Args:
        board: The board.
        listener: Is told which attack runs.
        name: The only set; None for all.
        against: Pairs among which pictures are searched; None for none.
        known: Items of an MCQ benchmark among which questions are searched.

    Raises:
        LeaderboardError: The board has no such set, none of its sets is hidden, or one cannot be read.
        SourceError: ``against`` cannot be read.
    """
    sets = [one for one in board.sets if one.lifecycle.has_secret(hidden=one.hidden) and name in (None, one.name)]
    if not sets:
        which = "no hidden set with a secret key" if name is None else f"no hidden set {name[:40]!r} with a secret key"
        raise LeaderboardError(f"The board has {which}; there is nothing to attack.")
    if against is not None:  # an error of it is told before the first attack
        check_pairs(against)
    listener.begin(len(sets) * len(ATTACKS), 0)
    findings: list[Finding] = []
    for one in sets:
        target = Target(one, board.settings, guess_set(session_of(one)), against, known)
        for title, attack in ATTACKS.items():
            listener.stage(f"{one.name}: {title}")
            findings += attack(target)
            listener.advance(1, 1, Counter())
    listener.stage("")
    return findings


def attack_scores(target: Target) -> Iterator[Finding]:
    """Attack the scores: one team against a copy of the board, then ten teams that share their feedback."""
    world, one = target.guessed.world, target.one
    with TemporaryDirectory(prefix="vcrgen-check-") as folder:
        board = copy_board(target.settings, one, Path(folder) / "board")
        game = BoardCopy(board, target.guessed)
        files = min(max(game.files, 1), MOST_FILES)
        try:
            right = search_key(world, game, "adaptive", files=files, teams=1, seed=0)
        finally:
            board.engine.dispose()
    note = f"{pluralize(files, 'file')}, each chosen after the feedback of those before."
    if game.rejected:
        note += f" Rejected: {len(game.rejected)}. {game.rejected[0].split('. ')[0].rstrip('.')}."
    if len(game.rejected) == files:
        yield target.not_run("scores, 1 team", note)
        return
    if not game.ladder:
        found = _share(target, "scores, 1 team: whole set", world, right, note=f"{note} {INSTANT_SENTENCE}")
        assert found.interval is not None
        yield replace(found, verdict=WEAK if found.interval[0] > 0 else LIMITED)
        return
    yield from _splits(target, "1 team", world, right, note)
    teams = min(TEAMS, MOST_TEAM_FILES // files)
    if teams > 1:
        games = [
            search_key(world, Ladder(world), "random", files=files, teams=teams, seed=seed, chains=8, sweeps=20)
            for seed in range(SIMULATIONS)
        ]
        how = f"{pluralize(files, 'file')} each, all feedback shared; the mean of {SIMULATIONS} simulations."
        yield from _splits(target, f"{teams} teams", world, np.mean(games, axis=0), how)


def _splits(target: Target, who: str, world: World, right: Numbers, note: str) -> Iterator[Finding]:
    until = f"{note} What is won of the feedback split counts until the set is closed."
    yield _share(target, f"scores, {who}: feedback split", world, right, world.fed, known=1.0, note=until)
    yield _share(target, f"scores, {who}: final split", world, right, ~world.fed, note=note)


def _share(
    target: Target,
    attack: str,
    world: World,
    right: Numbers,
    among: Numbers | None = None,
    *,
    known: float = 0.0,
    note: str = "",
) -> Finding:
    """Return the finding of guesses, with an interval clustered by image."""
    kept = np.ones(world.texts, bool) if among is None else among
    hits, image = right[kept], world.image[kept]
    share, interval = clustered_share(hits.astype(float), image)
    chance = 1 / world.guesses
    return target.finding(attack, share, interval, len(hits), chance=chance, known=known, note=note)


def clustered_share(hits: Numbers, clusters: Numbers) -> tuple[float, tuple[float, float]]:
    """Return the mean of values from 0 to 1 and its 95 % interval, clustered; both as shares."""
    _, places = np.unique(clusters, return_inverse=True)
    sizes, sums = np.bincount(places), np.bincount(places, weights=hits)
    mean = float(hits.mean())
    sd = float(np.sqrt(((sums - mean * sizes) ** 2).sum()) / len(hits))
    low, high = mean_interval(np.array([mean]), np.array([sd]), np.array([len(sizes)]))
    return mean, (float(low[0]), float(high[0]))


def attack_clock(target: Target) -> Iterator[Finding]:
    """Attack the clock: an output that takes long, once in a question of either split."""
    one, questions = target.one, target.guessed.session.key.questions
    title = "clock"
    if one.lifecycle.feedback is not Feedback.LADDER:
        yield target.not_run(title, "Without splits a clock has nothing to tell.")
        return
    order = shuffled(rng_for(0, STAGE, one.name), range(len(questions)))
    final = [row for row in order if questions[row].part == FINAL]
    pairs = list(zip([row for row in order if questions[row].part != FINAL], final, strict=False))[:CLOCK_PAIRS]
    times = pair_seconds(target, pairs)
    found = _told_apart(target, f"{title}, time of scoring", times, CLOCK_TIES)
    if found.verdict == WEAK:  # of sound boards one in 45 looks so by chance: only what is seen twice is one
        times = pair_seconds(target, pairs)
        found = _told_apart(target, found.attack, times, CLOCK_TIES)
    yield found
    unit = SECONDS_A_MINUTE * target.settings.ladder_minutes
    answers = [tuple(-(-seconds // unit) for seconds in pair) for pair in times] if unit else times
    yield _told_apart(target, f"{title}, moment of the answer", answers, CLOCK_TIES)


def pair_seconds(target: Target, pairs: Sequence[tuple[int, int]]) -> list[tuple[float, ...]]:
    """Return the mean seconds of scoring for both questions of each pair; each is timed first in half of the rounds."""
    times = []
    for pair in pairs:
        orders = (pair if number % 2 else pair[::-1] for number in range(CLOCK_ROUNDS))
        rounds = [{row: scoring_seconds(target, row) for row in order} for order in orders]
        times.append(tuple(fmean(seconds[row] for seconds in rounds) for row in pair))
    return times


def scoring_seconds(target: Target, row: int) -> float:
    """Return the seconds of processor that scoring takes with a heavy output in one question."""
    one, guessed = target.one, target.guessed
    outputs = ["-"] * len(guessed.session.key.questions)
    outputs[row] = HEAVY
    split, view = one.lifecycle.split, one.lifecycle.view
    others = [session_of(one, other, view) for other in one.lifecycle.splits if other != split]
    with TemporaryDirectory(prefix="vcrgen-check-") as folder:
        file = Path(folder) / "outputs.jsonl"
        file.write_text("".join(guessed.lines(outputs, view)))
        whole, shown = session_of(one), session_of(one, split, view)
        began = time.process_time()
        score_file(whole, file, shown_as=file.name, split_session=shown, other_splits=others)
        return time.process_time() - began


def _told_apart(target: Target, attack: str, times: Sequence[tuple[float, ...]], ties: float) -> Finding:
    if not times:
        return target.not_run(attack, "A split has no question.")
    won = 0.0
    for feedback, final in times:
        won += 0.5 if abs(feedback - final) <= ties * max(feedback, final) else float(feedback > final)
    share = won / len(times)
    low, high = wilson_interval(share, len(times))
    if share < 0.5:  # whoever knows which split is slower turns the guess round
        share, low, high = 1 - share, 1 - high, 1 - low
    return target.finding(attack, share, (low, high), len(times), chance=0.5)


def attack_lists(target: Target) -> Iterator[Finding]:
    """Attack the matching: outputs with several guesses for each span, or all options of a question."""
    guessed = target.guessed
    if guessed.world.single:
        design = np.ones((guessed.world.texts, guessed.world.guesses), bool)
        yield _scored_list(target, guessed, design, "lists: all options", "")
        return
    for count in LISTS:
        listed = guess_set(guessed.session, count)
        title, fit = f"lists: {count} guesses a span", min(FITTING, count) / count
        note = f"The length budget leaves room for up to {FITTING} guesses a span." if count <= FITTING else ""
        yield _scored_list(target, listed, np.ones((listed.world.texts, count), bool), title, note, known=fit)


def _scored_list(
    target: Target, guessed: GuessedSet, design: Numbers, title: str, note: str, *, known: float = 0.0
) -> Finding:
    view = target.one.lifecycle.view
    with TemporaryDirectory(prefix="vcrgen-check-") as folder:
        file = Path(folder) / "outputs.jsonl"
        file.write_text("".join(guessed.lines(guessed.outputs(design), view)))
        result = guessed.session.score(file)
    estimates = [cell.metrics[target.one.task.main_metrics[0]] for cell in result.cells]
    value, low, high = (
        sum(getattr(each, name) for each in estimates) / len(estimates) for name in ("value", "low", "high")
    )
    chance = 1 / guessed.world.guesses
    return target.finding(title, value, (low, high), guessed.world.texts, chance=chance, known=known, note=note)


def search_pictures(target: Target) -> Iterator[Finding]:
    """Search the pictures among known pairs."""
    title = "search by perceptual hash"
    if target.against is None:
        yield target.not_run(title, "Name likely sources, as pairs, with --against.")
        return
    if not target.public.is_dir():
        yield target.not_run(title, f"There is no public part beside the key of {target.one.name}.")
        return
    result = probe(target.public.parent, target.against, ProgressListener())
    for what, found, count in (
        ("pictures", result.found, len(result.pictures)),
        ("answers", result.answers_found, result.answers),
    ):
        if count:
            interval = wilson_interval(found / count, count)
            finding = target.finding(f"{title}, {what}", found / count, interval, count)
            note = "Whoever has these pairs has the captions of the found pictures."
            yield replace(finding, verdict=WEAK, note=note) if found else finding


def read_pixels(target: Target) -> Iterator[Finding]:
    """Read covered texts from the visible pixels alone, in a sample of the strips."""
    title = "pixels: template baseline"
    session = target.guessed.session
    if not isinstance(session, Session):
        yield target.not_run(title, "There are no covered texts.")
        return
    if not target.public.is_dir():
        yield target.not_run(title, f"There is no public part beside the key of {target.one.name}.")
        return
    pictures = open_pictures(open_dataset(target.public, VCR), PictureSelection(views=(View.TEI,)))
    ids = [question.question_id for question in session.key.questions]
    wanted = set(shuffled(rng_for(0, STAGE, f"{target.one.name} strips"), ids)[:STRIPS])
    hits, image = list[float](), list[int]()
    try:
        strips = read_strips(each for each in pictures.stream() if each.question_id in wanted)
        for number, (question_id, outcome) in enumerate(strips):
            row = session.key.row_of(question_id)
            assert row is not None
            answers = session.key.question(row).answers
            matches = session.scorer(answers, outcome.text if isinstance(outcome, Reply) else "").matches
            hits += [float(match.exact) for match in matches]
            image += [number] * len(matches)
    except VcrgenError as problem:
        yield target.not_run(title, str(problem))
        return
    share, interval = clustered_share(np.array(hits), np.array(image))
    note = f"A sample of {len(wanted)} strips; the rules of the attack know every shipped face."
    yield target.finding(title, share, interval, len(hits), known=STRIPS_KNOWN, note=note)


def search_questions(target: Target) -> Iterator[Finding]:
    """Search the questions of an MCQ benchmark among those of another one, whose right options are known."""
    title, session = "search by question", target.guessed.session
    if not isinstance(session, ItemSession):
        yield target.not_run(title, "There are no options; captions are found by their pictures.")
        return
    if not target.known:
        yield target.not_run(title, "Name a likely source, an MCQ benchmark, with --against.")
        return
    right_options: dict[tuple[str, frozenset[str]], Counter[str]] = {}
    for known in target.known:
        for asked in known.questions.values():
            assert known.answer is not None
            right = normalise_caption(asked.options[known.answer])
            right_options.setdefault(_question_texts(asked), Counter())[right] += 1
    credits, items = list[float](), list(session.key.questions)
    for item in items:
        found = next((each for each in item.questions.values() if _question_texts(each) in right_options), None)
        if found is None:
            credits.append(1 / item.options)
            continue
        ((often, _),) = right_options[_question_texts(found)].most_common(1)
        credits.append(float(often == normalise_caption(found.options[item.answer])))
    pictures = np.unique([item.picture for item in items], return_inverse=True)[1]
    share, interval = clustered_share(np.array(credits), pictures)
    chance = fmean(1 / item.options for item in items)
    note = "The option that is most often right of a known question; of an unknown one, any option."
    yield target.finding(title, share, interval, len(items), chance=chance, note=note)


def _question_texts(asked: ChoiceQuestion) -> tuple[str, frozenset[str]]:
    """Return what is the same of a question whose options stand in another order."""
    return normalise_caption(asked.text), frozenset(map(normalise_caption, asked.options))


def read_texts(target: Target) -> Iterator[Finding]:
    """Answer the questions of an MCQ benchmark by their texts alone; of many readers, the best is reported."""
    title, session = "texts without pictures", target.guessed.session
    if not isinstance(session, ItemSession):
        yield target.not_run(title, "There are no options; what a language model guesses, `predict --view text` tells.")
        return
    items = [
        ChoiceItem(
            question_id=one.question_id,
            path=one.path,
            picture=one.picture,
            questions=one.questions,
            answer=one.answer,
            trap=one.trap,
        )
        for one in session.key.questions
    ]
    figures = read_without_pictures(items)
    best = max(figures, key=lambda figure: (figure.is_shortcut, (figure.right - figure.chance) / (figure.error or 1)))
    low, high = mean_interval(np.array([best.right]), np.array([best.error]), np.array([best.items]))
    where = f"{best.lang}{f', {best.category}' if best.category else ''}"
    note = (
        f"The best of {pluralize(len(figures), 'reader')}: {best.reader} ({where}). Weak is more than luck among all."
    )
    interval = (float(low[0]), float(high[0]))
    finding = target.finding(title, best.right, interval, best.items, chance=best.chance, note=note)
    yield replace(finding, verdict=WEAK if best.is_shortcut else HOLDS)


ATTACKS: dict[str, Callable[[Target], Iterator[Finding]]] = {
    "scores": attack_scores,
    "clock": attack_clock,
    "lists of guesses": attack_lists,
    "pictures": search_pictures,
    "questions": search_questions,
    "pixels": read_pixels,
    "texts": read_texts,
}
