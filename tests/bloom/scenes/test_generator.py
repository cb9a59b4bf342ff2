"""The built-in maker: every item has one true option, all languages say the same, and nobody can guess."""

import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.attribute_readers import credit_of
from vcrgen.bloom.checks import RawItem, find_problems
from vcrgen.bloom.options import BloomSceneOptions
from vcrgen.bloom.rejects import RejectLog
from vcrgen.bloom.scenes.generator import build_scene_set, generate_scene_items
from vcrgen.bloom.scenes.solver import true_options
from vcrgen.bloom.scenes.templates import TEMPLATES
from vcrgen.bloom.scenes.vocabulary import QUESTION_LANGUAGES
from vcrgen.bloom.taxonomy import default_taxonomy
from vcrgen.data.tasks.bloom import ChoiceItem, item_of, read_items
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.data.tasks.text_reader import read_without_pictures
from vcrgen.samples import facts as scenes
from vcrgen.samples.pairs import picture, scene_and_facts
from vcrgen.text.languages import LANGUAGES

ITEMS = 460  # 20 a category


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    rejects = RejectLog()
    found = [row for _, few in generate_scene_items(BloomSceneOptions(items=ITEMS, seed=5), rejects) for row in few]
    assert not rejects.counts
    return found


def test_all_levels_have_categories_of_the_taxonomy() -> None:
    assert len(TEMPLATES) == 23 and set(TEMPLATES) <= set(default_taxonomy().paths)
    levels = Counter(category.partition("/")[0] for category in TEMPLATES)
    assert set(levels) == set(default_taxonomy().levels) and min(levels.values()) >= 2


def test_every_category_gets_as_many_items(rows: list[dict[str, Any]]) -> None:
    assert Counter(row["path"] for row in rows) == dict.fromkeys(TEMPLATES, ITEMS // len(TEMPLATES))


def test_exactly_one_option_is_true_and_it_is_the_key(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        _, facts = scene_and_facts(int(row["source"].removeprefix("samples ")))
        assert true_options(facts, row["question_en"], row["options_en"]) == ["ABCD".index(row["answer"])], row
        assert row["trap"] in set("ABCD") - {row["answer"]}


@pytest.mark.parametrize("lang", QUESTION_LANGUAGES[1:])
def test_options_differ_and_all_languages_say_the_same(rows: list[dict[str, Any]], lang: str) -> None:
    said: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        questions = {code: (row[f"question_{code}"], row[f"options_{code}"]) for code in ("en", lang)}
        raw = RawItem(question_id="", path=row["path"], questions=questions, answer=row["answer"], trap=row["trap"])
        assert not list(find_problems(raw)), row
        for english, other in zip(row["options_en"], row[f"options_{lang}"], strict=True):
            said[row["path"]][english].add(other)
            assert re.findall(r"\d+", english) == re.findall(r"\d+", other)
        assert re.findall(r"\d+", row["question_en"]) == re.findall(r"\d+", row[f"question_{lang}"])
        assert LANGUAGES[lang].script == "LATIN" or not re.search("[a-z]", str(raw.questions[lang]))
    for category, texts in said.items():
        assert all(len(others) == 1 for others in texts.values()), category
        assert len({next(iter(others)) for others in texts.values()}) == len(texts), category


def test_the_key_stands_at_every_letter_as_often(rows: list[dict[str, Any]]) -> None:
    letters = Counter(row["answer"] for row in rows)
    assert max(letters.values()) - min(letters.values()) <= len(TEMPLATES)
    for category in TEMPLATES:
        counts = Counter(row["answer"] for row in rows if row["path"] == category)
        assert set(counts.values()) == {ITEMS // len(TEMPLATES) // 4}, category


def as_items(found: list[tuple[int, list[dict[str, Any]]]]) -> list[ChoiceItem]:
    return [replace(item_of(row, ("en",)), picture=str(index)) for index, rows in found for row in rows]


def generated(items: int, seed: int) -> list[ChoiceItem]:
    return as_items(list(generate_scene_items(BloomSceneOptions(items=items, seed=seed), RejectLog())))


def test_a_reader_without_pictures_is_at_chance() -> None:
    figures = read_without_pictures(generated(ITEMS, 5), training=generated(ITEMS, 6))
    assert figures and not [figure for figure in figures if figure.is_shortcut]
    assert all(figure.right < 0.3 for figure in figures if not figure.category)


def test_what_readers_of_attributes_solve_is_remembered_or_understood(rows: list[dict[str, Any]]) -> None:
    credits: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        _, facts = scene_and_facts(int(row["source"].removeprefix("samples ")))
        credits[row["path"]].append(credit_of(facts, row))
    solved = {path for path, values in credits.items() if sum(values) / len(values) > 0.9}
    assert solved == {path for path in TEMPLATES if path.partition("/")[0] in ("remember", "understand")}


def test_colours_and_seasons_are_asked_only_where_they_can_be_told(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        _, facts = scene_and_facts(int(row["source"].removeprefix("samples ")))
        texts = " ".join((row["question_en"], *row["options_en"])).lower()
        assert "teal" not in texts
        if re.search("colour|season", texts):
            assert getattr(facts, "daytime", "") != "night"


def test_a_slip_of_the_maker_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The template calls the number of small fish the difference: no item of that category is kept."""
    category = "analyze/contextual inference/comparative reasoning"
    made = TEMPLATES[category][0]

    def slip(facts: Any, rng: Any) -> Any:
        draft = made(facts, rng)
        return draft and replace(draft, options=(draft.options[1], draft.options[0], *draft.options[2:]))

    monkeypatch.setattr("vcrgen.bloom.scenes.generator.TEMPLATES", {category: (slip, TEMPLATES[category][1])})
    monkeypatch.setattr("vcrgen.bloom.scenes.generator.MAX_SCANNED", 200)
    rejects = RejectLog()
    assert (
        list(generate_scene_items(BloomSceneOptions(items=1), rejects)) == []
        and rejects.counts["not_one_true_option"] > 1
    )


@pytest.mark.parametrize(
    ("facts", "stem", "options", "true"),
    [
        (
            scenes.Bicycle(wall="red", frame="blue", door="pink", basket="empty"),
            "What is the colour of the wall?",
            ["blue", "red", "pink", "green"],
            [1],
        ),
        (
            scenes.Bicycle(wall="red", frame="blue", door="pink", basket="empty"),
            "Which statement about the picture is false?",
            ["Content of the basket: nothing", "Colour of the door: red", "Colour of the wall: red"],
            [1],
        ),
        (
            scenes.Castle(daytime="dusk", season="winter", towers=3, flag="red"),
            "The picture is from the northern half of the Earth. What season is it in the southern half",
            ["summer", "winter", "autumn", "spring"],
            [0],
        ),
        (
            scenes.Chart(bars=(7, 12, 5, 9), tint="red", plant=False),
            "Counted from the left, at which place is the shortest bar?",
            ["1", "2", "3", "4"],
            [2],
        ),
        (
            scenes.Football(attackers="red", defenders="blue", attacker_count=4, defender_count=2, floodlit=True),
            "The answers are: red, 4. Which questions about the picture have these answers?",
            [
                "What is the colour of the team at the goal, and the number of players of the team with the ball?",
                "What is the colour of the team with the ball, and the number of players of the team with the ball?",
            ],
            [1],
        ),
    ],
)
def test_truth_is_told_from_the_text(facts: Any, stem: str, options: list[str], true: list[int]) -> None:
    assert true_options(facts, stem, options) == true


def test_a_question_of_no_known_form_is_refused() -> None:
    with pytest.raises(ValueError, match="no form of a question"):
        true_options(scenes.Chart(bars=(1, 2), tint="red", plant=False), "Who is there?", ["a"])


def test_a_built_set_is_whole_and_the_same_again(tmp_path: Path) -> None:
    first, second = (build_scene_set(BloomSceneOptions(items=50), tmp_path / name) for name in "ab")
    assert first == second and first.pairs == 50 and first.languages == QUESTION_LANGUAGES
    items = list(read_items(open_task_dataset(tmp_path / "a")))
    assert len({item.picture for item in items}) < 50  # several items share one
    same = [a.picture == b.picture for a, b in pairwise(items)]
    assert any(same) and len({item.question_id for item in items}) == 50
    assert build_scene_set(BloomSceneOptions(items=50, seed=1), tmp_path / "c").digest != first.digest


def test_the_picture_is_the_one_of_the_facts() -> None:
    index, few = next(iter(generate_scene_items(BloomSceneOptions(items=25), RejectLog())))
    assert few and picture(index)[:2] in (b"\x89P", b"\xff\xd8")
