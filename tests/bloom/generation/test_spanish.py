"""Spanish by the stage of translation, end to end: made, asked, scored, audited, and filtered."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bloom.audit.conftest import exported
from tests.bloom.author import stage_of
from tests.bloom.conftest import done
from tests.bloom.spanish import answering, in_spanish, spanish
from tests.models.fault_server import FaultServer
from vcrgen.bloom.audit.draw import read_draw
from vcrgen.bloom.checks import find_text_problems
from vcrgen.data.tasks.bloom import ChoiceItem, read_items
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.scorer import score

Run = Callable[..., tuple[int, str, str]]
BUILD = (
    "bloom build samples:120 --model M --judge J --taxonomy few.csv --per-category 30 --ledger made.ledger "
    "--lang {} --out {} --endpoint {}"
)


def items_of(folder: str) -> dict[str, ChoiceItem]:
    return {item.question_id: item for item in read_items(open_task_dataset(Path(folder)), pictures=False)}


def is_translated(item: ChoiceItem) -> bool:
    english, other = item.questions["en"], item.questions["es"]
    return other == (in_spanish(english.text), tuple(map(in_spanish, english.options)))


def test_spanish_from_the_author_to_the_audit(run: Run) -> None:
    Path("few.csv").write_text(
        "level,subcategory,leaf\nremember,core object recognition,animals\ncreate,creative generation,poem\n"
    )
    with FaultServer(spanish) as server:
        assert run(*BUILD.format("en,ar", "two", server.url).split())[0] == 0
        before = Counter(map(stage_of, server.calls))
        done(run, *BUILD.format("en,ar,es", "three", server.url).split())
        paid = Counter(map(stage_of, server.calls)) - before
    assert set(paid) <= {"translation", "answer", "verdict"}  # nothing is written anew for a third language
    items, rejected = items_of("three"), [*map(json.loads, Path("three/rejects.jsonl").read_text().splitlines())]
    assert all(set(item.questions) == {"en", "ar", "es"} for item in items.values()) and len(items) > 20
    untranslated = [line for line in rejected if "untranslated" in line["detail"]]
    judged = [line for line in rejected if line["reason"] == "judge_rejects_translation"]
    assert untranslated and judged
    missed = {name for name, item in items.items() if not is_translated(item)}
    assert 0 < len(missed) < len(judged)  # the judge lets a few pass
    _ask_and_score(run, items)
    _audit(run, missed)


def _ask_and_score(run: Run, items: dict[str, ChoiceItem]) -> None:
    """The model takes the first option by the alphabet, in Spanish: its accuracy is known."""
    with FaultServer(answering) as server:
        words = f"predict three --endpoint {server.url} --model m --lang es --out es.jsonl"
        code, out, err = run(*words.split())
        assert code == 0 and len(server.calls) == len(items), out + err
    right = sum(
        item.questions["es"].options[item.answer or 0] == min(item.questions["es"].options) for item in items.values()
    )
    (cell,) = score(Path("es.jsonl"), data="three", lang="es").cells
    assert cell.metrics["rae"].value == pytest.approx(right / len(items)) and cell.outcomes["invalid"] == 0


def _audit(run: Run, missed: set[str]) -> None:
    """People who know Spanish find what the judge let pass; the filtered set has none of it."""
    assert run("bloom", "audit", "draw", "three", "--items", 1000, "--overlap", 0)[0] == 0
    draw = read_draw(Path("three-audit/draw.json"))
    exported(draw, Path(), lambda item, _: "translation" if item.question_id in missed else "approve")
    done(run, "bloom", "audit", "report", "three", "verdicts.jsonl")
    report = Path("three-audit/report.md").read_text()
    assert "translation" in report
    assert set(Path("three-audit/without.txt").read_text().split()) == missed
    assert run(*["bloom", "filter", "three", "--audit", "three-audit", "--out", "kept"])[0] == 0
    assert all(map(is_translated, items_of("kept").values()))


@pytest.mark.parametrize(
    ("spanish_texts", "found"),
    [
        (("¿Dónde está la casa roja?", ["a la izquierda", "en el río", "al fondo", "arriba"]), False),
        (("Where is the red house?", ["a la izquierda", "en el río", "al fondo", "arriba"]), True),
        (("Where is the red casa now, please tell?", ["a la izquierda", "en el río", "al fondo", "arriba"]), False),
        (("¿Dónde está la casa roja?", ["at the left side", "in the river", "at the back", "above"]), True),
        (("¿Dónde está la casa roja?", ["Real Madrid", "Paris", "IKEA", "2"]), False),
    ],
)
def test_what_was_left_in_english_is_found(spanish_texts: tuple[str, list[str]], found: bool) -> None:
    english = "Where is the red house?", ["at the left side", "in the river", "at the back", "above"]
    reasons = {reason.value for reason, _ in find_text_problems({"en": english, "es": spanish_texts})}
    assert ("untranslated" in reasons) == found
    names = {
        "en": ("Who?", ["Real Madrid", "Paris", "IKEA", "2"]),
        "es": ("¿Quién?", ["Real Madrid", "Paris", "IKEA", "2"]),
    }
    assert not list(find_text_problems(names))
