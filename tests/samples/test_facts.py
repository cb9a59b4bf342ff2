"""Sampled facts are as declared, and what follows from them is true."""

import hashlib
from collections import Counter
from dataclasses import FrozenInstanceError, fields
from random import Random
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.samples.facts import Aquarium, Bicycle, Chart, ClockTower, Desert, Football, Harbour, WindFarm
from vcrgen.samples.pairs import scene_and_facts
from vcrgen.samples.table import SCENES


def fits(value: Any, declared: Any) -> bool:
    """Return true if a value is of the type of an annotation."""
    if get_origin(declared) is tuple:
        return isinstance(value, tuple) and all(fits(one, get_args(declared)[0]) for one in value)
    if get_origin(declared) is Literal:
        return value in get_args(declared)
    if get_args(declared):
        return any(fits(value, one) for one in get_args(declared))
    return type(value) is declared


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.kind)
def test_facts_are_of_their_declared_types_and_vary(scene: Any) -> None:
    declared = get_type_hints(scene.facts)
    seen = Counter()
    for seed in range(200):
        facts = scene.facts.sample(Random(seed))
        for fact in fields(facts):
            assert fits(getattr(facts, fact.name), declared[fact.name]), (fact.name, facts)
        seen[repr(facts)] += 1
    assert len(seen) >= 24


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.kind)
def test_names_are_all_that_can_be_read_of_facts(scene: Any) -> None:
    facts = scene.facts.sample(Random(0))
    assert {fact.name for fact in fields(facts)} <= set(facts.names())
    for name in facts.names():
        assert not callable(getattr(facts, name))


def test_facts_are_complete_and_do_not_change() -> None:
    facts = Desert(camels=0, phase=None, cacti=2, tent=False)
    with pytest.raises(FrozenInstanceError):
        facts.camels = 3  # type: ignore[misc]
    with pytest.raises(TypeError, match="cacti"):
        Desert(camels=0, phase=None, tent=False)  # type: ignore[call-arg]


@given(st.integers(0, 10**9))
def test_facts_that_depend_on_others_agree_with_them(seed: int) -> None:
    rng = Random(seed)
    harbour, farm, desert, tower = (kind.sample(rng) for kind in (Harbour, WindFarm, Desert, ClockTower))
    assert not (harbour.daytime == "night" and harbour.gulls)
    assert bool(farm.sheep) == (farm.crop == "grass")
    assert bool(desert.camels) != bool(desert.cacti) and (desert.camels or not desert.tent)
    assert (tower.daytime == "night") == (tower.hour > 20) and (tower.daytime == "dawn") == (tower.hour < 8)
    tank, match, bike = (kind.sample(rng) for kind in (Aquarium, Football, Bicycle))
    assert tank.big != tank.small and match.attackers != match.defenders
    assert len({bike.wall, bike.frame, bike.door}) == 3
    assert not (tank.turtle and tank.jellyfish)


@given(st.lists(st.integers(1, 20), min_size=2, max_size=8, unique=True))
def test_a_chart_knows_its_tallest_and_shortest_bar_and_its_trend(bars: list[int]) -> None:
    chart = Chart(bars=tuple(bars), tint="red", plant=False)
    assert bars[chart.tallest - 1] == max(bars) and bars[chart.shortest - 1] == min(bars)
    trends = {"rising": bars == sorted(bars), "falling": bars == sorted(bars, reverse=True)}
    assert trends.get(chart.trend, not any(trends.values()))


@pytest.mark.parametrize(
    ("hour", "twelve", "following"), [(5, 5, 6), (11, 11, 12), (12, 12, 1), (13, 1, 2), (23, 11, 12)]
)
def test_a_clock_counts_to_twelve(hour: int, twelve: int, following: int) -> None:
    facts = ClockTower(hour=hour, minute=0, daytime="day", roof="red", pigeons=0)
    assert (facts.twelve, facts.following) == (twelve, following)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (0, "de08939e117b2272"),
        (17, "12fafc9efadc09b8"),
        (99, "baceca2949e43830"),
        (12_345, "6e3d998b96a3c266"),
    ],
)
def test_facts_are_pinned(index: int, expected: str) -> None:
    scene, facts = scene_and_facts(index)
    assert hashlib.sha256(f"{scene.kind} {facts!r}".encode()).hexdigest()[:16] == expected
