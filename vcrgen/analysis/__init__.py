"""Analyses of a benchmark: which tasks and items tell the same story twice, and how sure is that?

    tables -> checks -> correlations -> map | factors | prune -> resampling -> report
    items  -> statistics of items, shorter sets              -> report

Scores of models go in, numbers with their intervals come out. Nothing here knows how a model was run, and no room but
the command line imports this one. The names below are loaded when they are first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vcrgen.analysis.correlations import pairwise
    from vcrgen.analysis.document import Document, render
    from vcrgen.analysis.examples import EXAMPLES
    from vcrgen.analysis.factors import fit_correlations, fit_factors
    from vcrgen.analysis.factors_report import factors_document
    from vcrgen.analysis.items.analyse import analyse_items
    from vcrgen.analysis.items.classical import item_figures, reliability
    from vcrgen.analysis.items.hardness import what_makes_hard
    from vcrgen.analysis.items.irt import fit_2pl, fit_rasch
    from vcrgen.analysis.items.items_report import items_document
    from vcrgen.analysis.items.read import read_items
    from vcrgen.analysis.items.shorten import shorten
    from vcrgen.analysis.items.table import ItemTable
    from vcrgen.analysis.map_report import map_document
    from vcrgen.analysis.people import agreement
    from vcrgen.analysis.pls import Structure, fit_pls, quality
    from vcrgen.analysis.prune_report import prune_document
    from vcrgen.analysis.pruning import prune
    from vcrgen.analysis.redundancy import make_map
    from vcrgen.analysis.refinement import refine
    from vcrgen.analysis.spec import FactorSpec, bind, read_spec
    from vcrgen.analysis.tables import ScoreTable, read_scores

_HOMES = {
    "agreement": "people", "pairwise": "correlations", "Document": "document", "render": "document",
    "EXAMPLES": "examples", "fit_correlations": "factors", "fit_factors": "factors",
    "factors_document": "factors_report", "map_document": "map_report", "Structure": "pls", "fit_pls": "pls",
    "quality": "pls", "prune": "pruning", "prune_document": "prune_report", "make_map": "redundancy",
    "refine": "refinement", "FactorSpec": "spec", "bind": "spec", "read_spec": "spec", "ScoreTable": "tables",
    "read_scores": "tables", "item_figures": "items.classical", "reliability": "items.classical",
    "what_makes_hard": "items.hardness", "fit_2pl": "items.irt", "fit_rasch": "items.irt",
    "analyse_items": "items.analyse", "items_document": "items.items_report", "read_items": "items.read",
    "shorten": "items.shorten", "ItemTable": "items.table",
}  # fmt: skip
__all__ = [
    "EXAMPLES", "Document", "FactorSpec", "ItemTable", "ScoreTable", "Structure", "agreement", "analyse_items", "bind",
    "factors_document", "fit_2pl", "fit_correlations", "fit_factors", "fit_pls", "fit_rasch", "item_figures",
    "items_document", "make_map", "map_document", "pairwise", "prune", "prune_document", "quality", "read_items",
    "read_scores", "read_spec", "refine", "reliability", "render", "shorten", "what_makes_hard",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vcrgen.analysis' has no attribute {name!r}")
    return getattr(importlib.import_module(f"vcrgen.analysis.{_HOMES[name]}"), name)
