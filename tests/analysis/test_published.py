"""What papers print, recomputed; what does not come out is in the shipped list of errata."""

import numpy as np
import pytest

from vcrgen.analysis.examples import EXAMPLES, GOLD_ABILITIES, published_rows
from vcrgen.analysis.pls import Structure, fit_pls, quality
from vcrgen.analysis.redundancy import cluster_members, k_means, make_map
from vcrgen.analysis.tables import ScoreTable

LOADINGS = (0.874, 0.894, 0.773, 0.759, 0.784, 0.794, 0.830, 0.862, 0.878, 0.828, 0.840)  # Figure 7a
PATHS = (0.309, 0.186, 0.358)
OVERALL = (  # Table IX
    216.3, 212.9, 215.5, 183.9, 156.2, 165.8, 173.8, 118.2, 140.7, 148.4, 180.4, 194.2, 161.8, 201.6, 209.9, 221.1,
    183.9, 160.1, 195.9, 207.2,
)  # fmt: skip
# Tables III and IV: the tasks' VIF and loadings; Table V: alpha, rho_A, composite reliability and AVE of the ability.
REFINED = {
    "Attribute Reasoning": ((1.749, 1.749), (0.893, 0.924), (0.791, 0.806, 0.905, 0.826)),
    "Coarse Perception": ((2.682, 2.682), (0.938, 0.954), (0.884, 0.898, 0.945, 0.895)),
    "Cross-instance Perception": ((1.549, 1.549), (0.818, 0.949), (0.746, 0.940, 0.879, 0.785)),
    "Fine-grained Perception": ((2.113, 2.113), (0.956, 0.896), (0.841, 0.945, 0.924, 0.858)),
    "Logical Reasoning": ((2.793, 2.793), (0.938, 0.959), (0.890, 0.914, 0.947, 0.900)),
    "Relation Reasoning": ((2.133, 2.133), (0.941, 0.918), (0.843, 0.858, 0.927, 0.864)),
    "BLINK Low-level": ((1.248, 1.248), (0.76, 0.921), (0.717, 0.726, 0.831, 0.713)),
    "BLINK Mid-level": ((2.884, 2.730, 1.318), (0.869, 0.816, 0.829), (0.800, 0.838, 0.876, 0.703)),
    "BLINK High-level": ((2.137, 1.962, 2.015), (0.888, 0.881, 0.852), (0.846, 0.856, 0.906, 0.763)),
}


def test_table_9_comes_out_but_for_one_model() -> None:
    table: ScoreTable = EXAMPLES["gold"].load()
    abilities = list(GOLD_ABILITIES)
    weights = [
        PATHS[abilities.index(ability)] * LOADINGS[table.tasks.index(task)]
        for ability, tasks in GOLD_ABILITIES.items()
        for task in tasks
    ]
    order = [table.tasks.index(task) for tasks in GOLD_ABILITIES.values() for task in tasks]
    found = table.scores[:, order] @ np.array(weights)
    wrong = {
        model: round(float(value), 1)
        for model, value, printed in zip(table.models, found, OVERALL, strict=True)
        if abs(value - printed) > 0.07
    }
    assert wrong == {"KimiVL 16B": 189.4}
    errata = {(row[0], row[1]): row[2:4] for row in published_rows("gold-errata")}
    assert errata["Table IX", "Overall of KimiVL 16B"] == ["183.9", "189.4"]
    assert errata["Table VIII", "AVE of Memory"] == ["0.707", "0.607"]
    assert errata["Figure 8 and section IV-E", "D_valid"] == ["0.557", "0.482"]
    assert errata["Table V", "Alpha of BLINK low-level"] == ["0.717", "0.617"]


def correlations_of(vif: tuple[float, ...]) -> np.ndarray:
    """The correlations of two or three tasks that have these variance inflation factors."""
    if len(vif) == 2:
        r = np.sqrt(1 - 1 / vif[0])
        return np.array([[1, r], [r, 1]])
    from scipy.optimize import least_squares

    def matrix(r: np.ndarray) -> np.ndarray:
        return np.array([[1, r[0], r[1]], [r[0], 1, r[2]], [r[1], r[2], 1]])

    def missed(r: np.ndarray) -> np.ndarray:
        return np.diag(np.linalg.inv(matrix(r))) - vif

    found = least_squares(missed, [0.6, 0.5, 0.5], bounds=(0, 0.99), xtol=1e-15, ftol=1e-15)
    return matrix(found.x)


def test_table_5_comes_out_but_for_one_figure() -> None:
    """Alpha from the VIF of Tables III and IV, the other figures from the loadings."""
    wrong = {}
    for ability, (vif, loadings, printed) in REFINED.items():
        r, size = correlations_of(vif), np.array(loadings)
        # The weights that give these loadings: R w is in proportion to them. So is a neighbour's correlation.
        outside = size / np.sqrt(size @ np.linalg.inv(r) @ size) * 0.5
        whole = np.block([[r, outside[:, None]], [outside[None], np.ones((1, 1))]])
        tasks = len(size)
        structure = Structure((tuple(range(tasks)), (tasks,)), ((), (0,)), ("A", "A"), 1)
        fit = fit_pls(whole[None], structure)
        of = quality(whole[None], fit, structure)
        alpha = tasks / (tasks - 1) * (1 - tasks / r.sum())
        assert of.alpha[0, 0] == pytest.approx(alpha)
        length = size.sum() ** 2
        w = np.linalg.solve(r, size)
        w /= np.sqrt(w @ r @ w)
        off = w @ (r - np.eye(tasks)) @ w
        rho = (w @ w) ** 2 * off / ((w @ w) ** 2 - (w**4).sum())
        figures = (alpha, rho, length / (length + (1 - size**2).sum()), (size**2).mean())
        for name, value, was in zip(("alpha", "rho_A", "CR", "AVE"), figures, printed, strict=True):
            if abs(value - was) > 0.002:
                wrong[ability, name] = round(float(value), 3)
    assert wrong == {("BLINK Low-level", "alpha"): 0.617}


def test_the_map_of_the_vcr_paper_has_its_five_clusters_from_any_seed() -> None:
    table = EXAMPLES["vcr-map"].load()
    found = {k_means(np.abs(table.r), 5, seed=seed) for seed in range(20)}
    assert len(found) == 1
    ((labels, inertia),) = found
    assert inertia == pytest.approx(5.4897, abs=1e-4)
    groups = [{table.tasks[i] for i in members} for members in cluster_members(labels).values()]
    assert groups == [
        {"OCRBench", "MMStar", "MMVet", "MMMU_VAL", "SEEDBench2_Plus", "AI2D", "MathVista", "ScienceQA_TEST"},
        {"POPE", "COCO_VAL_ROUGE-L", "OCRVQA_TESTCORE"},
        {
            "MMBench_TEST_EN_V11", "RealWorldQA", "SEEDBench_IMG", "MME", "MMBench_TEST_CN_V11", "CCBench",
            "LLaVABench",
        },
        {"VCR_EN_HARD"},
        {"VCR_EN_EASY", "TextVQA_VAL", "HallusionBench", "ChartQA_TEST"},
    ]  # fmt: skip
    assert k_means(table.r, 5, seed=0)[0] != labels  # signed r groups otherwise


def test_the_components_of_the_vcr_map() -> None:
    found = make_map(EXAMPLES["vcr-map"].load(), basis="abs", clusters=5)
    assert found.components is not None and found.components.kept == 2
    np.testing.assert_allclose(found.components.values[:2], [13.62, 2.66], atol=0.005)
    np.testing.assert_allclose(found.components.by_chance[:2], [3.13, 2.62], atol=0.06)
    assert found.clusters.silhouettes[2] == pytest.approx(0.56, abs=0.005)
    assert found.clusters.silhouettes[5] == pytest.approx(0.30, abs=0.005)
