"""The pages in a browser. The fixture ``browser`` also checks the console and the network after every test."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.browsing import shown_at
from vcrgen.analysis.factors import fit_factors
from vcrgen.analysis.factors_report import factors_document
from vcrgen.analysis.map_report import map_document
from vcrgen.analysis.redundancy import make_map
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.spec import FactorSpec
from vcrgen.report.document import Document, render

pytestmark = pytest.mark.browser

OVERLAPS = """
const of = (each) => each.getBoundingClientRect();
const inside = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
const found = [];
for (const svg of document.querySelectorAll('svg.drawing')) {
  const names = [...svg.querySelectorAll('text.name')];
  for (const [i, a] of names.entries()) {
    const box = of(a), frame = of(svg);
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1) found.push(a.textContent);
    for (const b of names.slice(i + 1)) if (inside(box, of(b))) found.push(a.textContent + ' / ' + b.textContent);
  }
}
return found;
"""


def forty_tasks() -> tuple[ScoreTable, FactorSpec]:
    """Forty tasks with long and wide names."""
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((60, 1)) + rng.standard_normal((60, 41))
    tasks = tuple(f"{('MMW' * 12, 'a task of words ' * 4, '基准' * 15, 'OCR')[i % 4]} {i}" for i in range(40))
    models = tuple(f"model {i}" for i in range(60))
    table = ScoreTable(source="forty tasks", models=models, tasks=(*tasks, "Human"), scores=scores)
    return table, FactorSpec(abilities={f"Ability {k}": tasks[k::4] for k in range(4)}, anchor="Human")


@pytest.fixture(scope="module")
def documents() -> dict[str, Document]:
    table, spec = forty_tasks()
    chain = FactorSpec(abilities=spec.abilities)
    return {
        "map": map_document(make_map(table, clusters=4, draws=100), settings="seed 0"),
        "factors": factors_document(fit_factors(table, spec, draws=100), settings="seed 0"),
        "chain": factors_document(fit_factors(table, chain, draws=100), settings="seed 0"),
    }


@pytest.mark.parametrize("name", ["map", "factors", "chain"])
def test_forty_names_do_not_overlap_and_nothing_is_wider_than_the_page(
    browser: Any, documents: dict[str, Document], name: str, tmp_path: Path
) -> None:
    file = tmp_path / f"{name}.html"
    file.write_text(render(documents[name], "html"), "utf-8")
    browser.get(file.as_uri())
    for width in (400, 1200):
        with shown_at(browser, width):
            wide = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
            assert wide[0] <= wide[1] == width
            assert browser.execute_script(OVERLAPS) == []
            cards = browser.execute_script(
                "return [...document.querySelectorAll('figure')].map(card => [card.clientWidth, card.scrollWidth])"
            )
            assert cards and all(shown == whole for shown, whole in cards)  # no card scrolls
    drawn = browser.execute_script("return document.querySelectorAll('svg.drawing text.name').length")
    assert drawn >= (160 if name == "map" else 44)
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(246, 244, 239)"
