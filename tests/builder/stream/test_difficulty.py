"""Difficulty of examples and its schedules."""

from typing import Any

import pytest

from vcrgen.builder.stream.difficulty import read_difficulty
from vcrgen.core.errors import ConfigError
from vcrgen.core.records import Mode
from vcrgen.core.rng import rng_for


@pytest.mark.parametrize(
    ("given", "kind", "values"),
    [
        ({}, "mode", (0.5, 0.5)),
        ({"mode": "easy"}, "mode", (1, 0)),
        ({"mode": Mode.HARD}, "mode", (0, 1)),
        ({"mode": "both"}, "mode", (0.5, 0.5)),
        ({"mode": ("easy", "hard")}, "mode", (0.5, 0.5)),
        ({"mode": ["hard"]}, "mode", (0, 1)),
        ({"mode": {"easy": 3, "hard": 1}}, "mode", (0.75, 0.25)),
        ({"mode": {"hard": 0.2}}, "mode", (0, 1)),
        ({"mode": "bits-4"}, "mode", (1, 0)),
        ({"mode": "bits=8"}, "mode", (0, 1)),
        ({"mode": "bits=4,8"}, "mode", (0.5, 0.5)),
        ({"mode": ["bits=4"]}, "mode", (1, 0)),
        ({"mode": {"bits-4": 1, "bits-8": 3}}, "mode", (0.25, 0.75)),
        ({"ink": 0.4}, "ink", (0.4, 0.4)),
        ({"ink": (0.2, 0.6)}, "ink", (0.2, 0.6)),
        ({"ink": [0.2, 0.2]}, "ink", (0.2, 0.2)),
    ],
)
def test_what_is_asked_for(given: dict[str, Any], kind: str, values: tuple[float, float]) -> None:
    difficulty = read_difficulty(**given)
    assert difficulty.kind == kind
    assert difficulty.at(0) == difficulty.at(10**9) == pytest.approx(values)


@pytest.mark.parametrize(
    ("schedule", "step", "values"),
    [
        ([(0, "easy"), (100, "hard")], 0, (1, 0)),
        ([(0, "easy"), (100, "hard")], 25, (0.75, 0.25)),
        ([(0, "easy"), (100, "hard")], 100, (0, 1)),
        ([(0, "easy"), (100, "hard")], 10**6, (0, 1)),
        ([(10, "easy"), (20, "both"), (40, "hard")], 0, (1, 0)),
        ([(10, "easy"), (20, "both"), (40, "hard")], 15, (0.75, 0.25)),
        ([(10, "easy"), (20, "both"), (40, "hard")], 30, (0.25, 0.75)),
        ([(0, 0.8), (100, (0.2, 0.4))], 50, (0.5, 0.6)),
        ([[0, 0.8], [100, 0.2]], 25, (0.65, 0.65)),
        ([(5, "hard")], 0, (0, 1)),
        ([(0, "bits-4"), (100, "bits-8")], 25, (0.75, 0.25)),
    ],
)
def test_schedules_change_linearly(schedule: Any, step: int, values: tuple[float, float]) -> None:
    assert read_difficulty(schedule=schedule).at(step) == pytest.approx(values)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"mode": "medium"}, "'medium' is no mode"),
        ({"mode": ()}, "is no mode"),
        ({"mode": ("easy", "easy")}, "is no mode"),
        ({"mode": 3}, "3 is no mode"),
        ({"mode": {"easy": -1, "hard": 2}}, "at least 0"),
        ({"mode": {"easy": 0}}, "not all of them 0"),
        ({"mode": {"easy": float("nan")}}, "numbers"),
        ({"mode": {"easy": float("inf")}}, "numbers"),
        ({"mode": {"easy": "much"}}, "numbers"),
        ({"mode": "ink-0.20"}, "a level of ink is a number, as in ink=0.2"),
        ({"ink": 0}, "no share of visible ink"),
        ({"ink": 1}, "no share of visible ink"),
        ({"ink": True}, "no share of visible ink"),
        ({"ink": float("nan")}, "no share of visible ink"),
        ({"ink": (0.5, 0.2)}, "no share of visible ink"),
        ({"ink": (0.1, 0.2, 0.3)}, "no share of visible ink"),
        ({"ink": "0.3"}, "no share of visible ink"),
        ({"mode": "easy", "ink": 0.3}, "exclude one another"),
        ({"schedule": [(0, "easy")], "ink": 0.3}, "exclude one another"),
        ({"schedule": []}, "list of steps"),
        ({"schedule": "easy"}, "list of steps"),
        ({"schedule": 5}, "list of steps"),
        ({"schedule": [(0, "easy", 1)]}, "no point of a schedule"),
        ({"schedule": [("0", "easy")]}, "no point of a schedule"),
        ({"schedule": [(-1, "easy")]}, "no point of a schedule"),
        ({"schedule": [(5, "easy"), (5, "hard")]}, "rise; 5 comes after 5"),
        ({"schedule": [(0, "easy"), (5, 0.3)]}, "not between them"),
        ({"schedule": [(0, "easy"), (5, "bits-8")]}, "not between them"),
        ({"mode": ["easy", "bits-4"]}, "is no mode"),
        ({"mode": "bits-5"}, "is no mode"),
        ({"mode": "bits="}, "is no mode"),
        ({"schedule": [(0, "easy"), (5, ())]}, "no share|no mode"),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read_difficulty(**given)


def test_draws_are_as_asked_for() -> None:
    rngs = [rng_for(0, "test", str(number)) for number in range(1000)]
    mix = read_difficulty(mode={"easy": 0.8, "hard": 0.2})
    assert 750 < sum(mix.draw(0, rng) is Mode.EASY for rng in rngs) < 850
    inks = [read_difficulty(ink=(0.2, 0.6)).draw(0, rng) for rng in rngs]
    assert 0.2 <= min(inks) < 0.21 and 0.59 < max(inks) <= 0.6
    assert {read_difficulty(mode="easy").draw(0, rng) for rng in rngs} == {Mode.EASY}
    assert {read_difficulty(mode="hard").draw(0, rng) for rng in rngs} == {Mode.HARD}
    assert {read_difficulty(mode="bits-8").draw(0, rng) for rng in rngs} == {Mode("bits-8")}
