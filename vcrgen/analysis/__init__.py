"""Analyses of a benchmark: redundancy, structural model, pruning.

    tables -> checks -> correlations -> map | factors | prune -> resampling -> report

Scores of models go in, numbers with their intervals come out. Only the command line imports this
package. The names below are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from vcrgen.core.lazy import attach

if TYPE_CHECKING:
    from vcrgen.analysis.assembly import assemble
    from vcrgen.analysis.benchmarks import Benchmark, compare_benchmarks
    from vcrgen.analysis.examples import EXAMPLES
    from vcrgen.analysis.factors import anchor_agreement, fit_correlations, fit_factors
    from vcrgen.analysis.factors_report import factors_document
    from vcrgen.analysis.map_report import map_document
    from vcrgen.analysis.pairwise_correlations import pairwise
    from vcrgen.analysis.pls import Structure, fit_pls, quality
    from vcrgen.analysis.pool import read_pool
    from vcrgen.analysis.prune_evaluation import evaluate_pruning
    from vcrgen.analysis.prune_report import prune_document
    from vcrgen.analysis.pruning import prune
    from vcrgen.analysis.redundancy import make_map
    from vcrgen.analysis.score_table import Columns, ScoreTable, read_scores
    from vcrgen.analysis.spec import FactorSpec, bind, read_spec
    from vcrgen.analysis.votes import fit_votes, read_votes, with_votes
    from vcrgen.report.document import Document, render

__all__ = [
    "EXAMPLES",
    "Benchmark",
    "Columns",
    "Document",
    "FactorSpec",
    "ScoreTable",
    "Structure",
    "anchor_agreement",
    "assemble",
    "bind",
    "compare_benchmarks",
    "evaluate_pruning",
    "factors_document",
    "fit_correlations",
    "fit_factors",
    "fit_pls",
    "fit_votes",
    "make_map",
    "map_document",
    "pairwise",
    "prune",
    "prune_document",
    "quality",
    "read_pool",
    "read_scores",
    "read_spec",
    "read_votes",
    "render",
    "with_votes",
]

__getattr__, __dir__ = attach(
    __name__,
    {
        "analysis.pairwise_correlations": ["pairwise"],
        "analysis.assembly": ["assemble"],
        "analysis.benchmarks": ["Benchmark", "compare_benchmarks"],
        "analysis.examples": ["EXAMPLES"],
        "analysis.factors": ["anchor_agreement", "fit_correlations", "fit_factors"],
        "analysis.factors_report": ["factors_document"],
        "analysis.map_report": ["map_document"],
        "analysis.pls": ["Structure", "fit_pls", "quality"],
        "analysis.pool": ["read_pool"],
        "analysis.prune_report": ["prune_document"],
        "analysis.pruning": ["prune"],
        "analysis.redundancy": ["make_map"],
        "analysis.prune_evaluation": ["evaluate_pruning"],
        "analysis.spec": ["FactorSpec", "bind", "read_spec"],
        "analysis.score_table": ["Columns", "ScoreTable", "read_scores"],
        "analysis.votes": ["fit_votes", "read_votes", "with_votes"],
        "report.document": ["Document", "render"],
    },
)
