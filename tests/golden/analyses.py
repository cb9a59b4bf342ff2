"""Figures of papers that analyses and profiles work out again, and studies of people."""

from typing import Any

import numpy as np

from tests.golden.bench import Bench, golden


@golden("analysis", "numpy")
def analysis(bench: Bench) -> Any:
    """The figures that papers print: GOLD's Figure 7, Tables VIII and IX, and the clusters of the VCR paper's map."""
    from vcrgen.analysis.examples import EXAMPLES, GOLD_ABILITIES, gold_correlations
    from vcrgen.analysis.factors import fit_correlations
    from vcrgen.analysis.redundancy import partition
    from vcrgen.analysis.spec import FactorSpec, bind

    tasks, r = gold_correlations()
    found = fit_correlations(r, bind(FactorSpec(abilities=dict(GOLD_ABILITIES), anchor="Human"), tasks))
    assert found is not None
    fit, of = found.fit, found.quality
    table, vcr = EXAMPLES["gold"].load(), EXAMPLES["vcr-map"].load()
    weights = dict(zip(tasks, (fit.loadings[:11] * fit.paths[[0] * 3 + [1] * 3 + [2] * 5, 3]).tolist(), strict=False))
    overall = table.scores @ [weights[task] for task in table.tasks]
    labels, inertia = partition(np.abs(vcr.r), 5, seed=0)
    return {
        "loadings": fit.loadings.tolist(),
        "effects": fit.paths[:3, 3].tolist(),
        "R2": float(fit.r2[3]),
        **{name: getattr(of, name).tolist() for name in ("vif", "alpha", "rho_a", "cr", "ave")},
        "htmt": of.htmt[np.triu_indices(4, 1)].tolist(),
        **{name: getattr(of, name) for name in ("srmr", "tc", "d_div", "d_valid")},
        "overall": dict(zip(table.models, overall.tolist(), strict=True)),
        "clusters": dict(zip(vcr.tasks, labels, strict=True)),
        "inertia": inertia,
    }


@golden("profile", "numpy")
def profile(bench: Bench) -> Any:
    """BloomBench's Tables 1 and 2, worked out from the scores of its categories."""
    from vcrgen.analysis.profile.example import example_profiles

    return {
        f"{each.model}, {each.lang}, {each.metric}": {
            "micro": each.micro.value,
            "macro": each.macro.value,
            **{level: of.value for level, of in each.levels.items()},
        }
        for each in example_profiles().profiles
    }


@golden("study", "numpy")
def study(bench: Bench) -> Any:
    """Items of a study's raters in their order; and every figure of people who answer by a rule."""
    from vcrgen.study import scoring
    from vcrgen.study.assignment import ExtraSteps, all_slots, assign, steps_for_rater
    from vcrgen.study.grading import typed_form
    from vcrgen.study.records import GradedResponse

    assigned = assign(all_slots(8, 2, 3), range(1, 8), seed=5, max_items=6)
    extras = ExtraSteps([8, 9], ["4821", "0037"], 2)
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
