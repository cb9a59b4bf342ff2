"""Analyses of scores, profiles, studies of people, and the help of commands."""

from __future__ import annotations

import json
from typing import Any

from tests.golden.bench import Bench, digest, golden


def rounded(value: Any) -> Any:
    """A JSON value with four decimals a number."""
    if isinstance(value, list):
        return [rounded(each) for each in value]
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return round(value, 4) if isinstance(value, float) else value


@golden("analysis", "numpy", "scipy")
def analysis(bench: Bench) -> Any:
    """Every figure of the analyses of shipped examples, to four decimals; not those of single models and pairs."""
    commands = {
        "clusters": ("map", "vcr-map", "--distance", "abs", "--clusters", 5),
        "anchor": ("factors", "gold-made", "--resamples", 200),
        "chain": ("factors", "gold", "--resamples", 100),
        "pruned": ("prune", "gold-made", "--resamples", 20, "--loading-min", 0.8, "--vif-max", 2, "--floor", 1),
    }
    found = {}
    for name, (command, example, *options) in commands.items():
        lines = bench.run("analyze", command, "--format", "json", "--example", example, *options)
        tables = json.loads("\n".join(lines))["tables"]
        long = ("Models", "All pairs", "Printed wrongly in the publication", "Scores of models")
        found[name] = {each["title"]: rounded(each["rows"]) for each in tables if each["title"] not in long}
    return found


@golden("profile", "numpy")
def profile(bench: Bench) -> Any:
    """The page of the published scores by its digest, and the figures of it that are not of single categories."""
    page = bench.folder / "profile.html"
    bench.run("profile", "--example", "--out", page)
    tables = json.loads("\n".join(bench.run("profile", "--example", "--format", "json")))["tables"]
    kept = ("Scores, in percent", "Levels, in percent", "Agreement of RAE and LBS", "Gaps, in points")
    kept += ("Differing categories", "Printed and recomputed")
    rows = [{"title": table["title"], "rows": table["rows"]} for table in tables if table["title"] in kept]
    return {"page": digest(page.read_text("utf-8")), "tables": rounded(rows)}


@golden("study", "numpy")
def study(bench: Bench) -> Any:
    """Items of a study's raters in their order; and every figure of people who answer by a rule."""
    from vcrgen.study import scoring
    from vcrgen.study.assignment import ExtraSteps, all_slots, assign, steps_for_rater
    from vcrgen.study.grading import typed_form
    from vcrgen.study.records import GradedResponse

    assigned = assign(all_slots(8, 2, 3), range(1, 8), seed=5, max_items=6)
    extras = ExtraSteps([8, 9], 2, 2)
    orders = {
        person: steps_for_rater(person, slots, extras, conditions=2, seed=5) for person, slots in assigned.items()
    }
    texts = ("a red fox", "A  Red Fox", "a rod fox", "")
    graded = [
        GradedResponse(
            person, item, condition, turn, place, text, not text, text == texts[0], text in texts[:2], person == 3
        )
        for person, slots in assigned.items()
        for item, condition, turn in sorted(slots)
        for place in range(1 + item % 2)
        for text in (texts[0 if (item + place) % 3 and person != 3 else (item + person) % 4],)
    ]
    rights = {
        "strict": scoring.exact_match,
        "filtered": scoring.filtered_match,
        "typed": scoring.lenient_match,
    }
    model = {(one.item, one.place): one.item % 2 == 0 for one in graded}
    return {
        "orders": {str(person): [" ".join(map(str, step)) for step in steps] for person, steps in orders.items()},
        "people": {name: scoring.human_scores(graded, right, seed=5) for name, right in rights.items()},
        "against": scoring.human_minus_model(graded, model, seed=5),
        "views": scoring.view_difference(*([m for m in graded if m.condition == view] for view in (0, 1)), seed=5),
        "agreement": scoring.agreement(graded),
        "odd keys": scoring.suspect_keys(graded),
        "typed": {text: typed_form(text) for text in ("“Ａ  Cat”", "STRASSE", "红色 的\u3000狐狸", "it's")},
    }
