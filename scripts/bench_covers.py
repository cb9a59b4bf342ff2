"""Measure the processor time of a pair under each kind of cover, relative to white rows.

    python scripts/bench_covers.py ../shared/data/wiki/pairs_en.parquet [--pairs 40] [--rounds 6]

Both modes of each pair are made in one process, from its encoded image to encoded images. The minimum over all rounds
counts. The aim is at most 1.5. `scripts/bench_build.py --cover KIND` measures a whole build.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import pyarrow.parquet as pq

from vcrgen.builder.pipeline import Pipeline
from vcrgen.config.build import load_build_config
from vcrgen.records import Item
from vcrgen.typeset.cover_kinds import COVER_KINDS, ROWS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="Parquet file of pairs, named *_LANG.parquet")
    parser.add_argument("--pairs", type=int, default=40, help="number of pairs")
    parser.add_argument("--rounds", type=int, default=6, help="measurements of each kind")
    arguments = parser.parse_args()
    lang = arguments.source.stem.rpartition("_")[2]
    rows = pq.read_table(arguments.source).slice(0, arguments.pairs).to_pylist()
    items = [Item(source_id=str(n), image=row["image"]["bytes"], caption=row["caption"]) for n, row in enumerate(rows)]
    pipelines = {kind: Pipeline(load_build_config(None, {"lang": lang, "cover": kind})) for kind in COVER_KINDS}
    best = dict.fromkeys(COVER_KINDS, float("inf"))
    for _ in range(arguments.rounds):
        for kind, pipeline in pipelines.items():
            started = time.process_time()
            for _ in pipeline.pairs(items):
                pass
            best[kind] = min(best[kind], (time.process_time() - started) / len(items))
    for kind, seconds in best.items():
        print(f"{lang}, {kind}: {seconds * 1e3:.2f} ms a pair: {seconds / best[ROWS]:.2f}")


if __name__ == "__main__":
    main()
