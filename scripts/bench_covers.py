"""Measure the processor time of a pair under each kind of cover and with each option of images, relative to white rows.

    python scripts/bench_covers.py ../shared/data/wiki/pairs_en.parquet [--pairs 40] [--rounds 6]

Both modes of each pair are made in one process, from its encoded image to encoded images. The minimum over all rounds
counts. The aim is at most 1.5. `scripts/bench_build.py --cover KIND` measures a whole build.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from vcrgen.builder.options import load_build_config
from vcrgen.builder.pipeline import Pipeline
from vcrgen.core.records import Item
from vcrgen.typeset.cover_kinds import COVER_KINDS, ROWS
from vcrgen.typeset.paper_kinds import PAPER_KINDS, PLAIN

OPTIONS: dict[str, dict[str, Any]] = {
    **{kind: {"cover": kind} for kind in COVER_KINDS},
    **{f"paper {paper}": {"paper": paper} for paper in PAPER_KINDS if paper != PLAIN},
    "ink colour": {"ink_colour": "1f3a6e"},
    "glyph boxes": {"glyph_boxes": True},
    **{degrade: {"degrade": degrade} for degrade in ("jpeg=40", "skew=3", "perspective=0.2")},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="Parquet file of pairs, named *_LANG.parquet")
    parser.add_argument("--pairs", type=int, default=40, help="number of pairs")
    parser.add_argument("--rounds", type=int, default=6, help="measurements of each kind")
    arguments = parser.parse_args()
    lang = arguments.source.stem.rpartition("_")[2]
    rows = pq.read_table(arguments.source).slice(0, arguments.pairs).to_pylist()
    items = [Item(source_id=str(n), image=row["image"]["bytes"], caption=row["caption"]) for n, row in enumerate(rows)]
    pipelines = {name: Pipeline(load_build_config(None, {"lang": lang, **more})) for name, more in OPTIONS.items()}
    best = dict.fromkeys(OPTIONS, float("inf"))
    for _ in range(arguments.rounds):
        for name, pipeline in pipelines.items():
            started = time.process_time()
            for _ in pipeline.pairs(items):
                pass
            best[name] = min(best[name], (time.process_time() - started) / len(items))
    for name, seconds in best.items():
        print(f"{lang}, {name}: {seconds * 1e3:.2f} ms a pair: {seconds / best[ROWS]:.2f}")


if __name__ == "__main__":
    main()
