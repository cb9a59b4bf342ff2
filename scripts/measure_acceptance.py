"""Measure covers that go by bits: template attack, draws, and what the rule of acceptance gives away.

    python scripts/measure_acceptance.py ../shared/data/wiki/pairs_en.parquet --cover bars --mode bits=4 [--pairs 240]
    python scripts/measure_acceptance.py ../shared/data/wiki/pairs_en.parquet --cover bars --mode bits=4 --leak 20
    python scripts/measure_acceptance.py fr --cover stain --mode both --pairs 40

For every mode, of all spans: visible ink; bits, and exact match of the template attack, both with the font and the
place and width of each word known; draws of a cover. What an n-gram model adds: scripts/measure_language.py.

With --leak, of so many spans: an attacker who knows the rule and not the seed weighs every text that fits the visible
pixels by 1 / its rate of acceptance. Printed are the logarithms of these rates, the truth's against the others', and
the bits by which the weighing reduces the entropy over the texts.
"""

import argparse
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from vcrgen.builder.acceptance import Threshold
from vcrgen.builder.compose import draw_parts
from vcrgen.builder.options import load_build_config
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import PreparedItem
from vcrgen.core.records import Item, Mode, Reject, Span
from vcrgen.pixels.lexicon import load_lexicon
from vcrgen.pixels.posterior import VisibleCell, lower_bound, unit_posteriors, visible_cells
from vcrgen.pixels.templates import Templates
from vcrgen.samples import sample_pair
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover import CoverRule, cell_texts, draw_covers, draw_layers, mark_hidden, measure_span, with_seed
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.records import WHITE

FORMS = 40  # covers by which a rate of acceptance is estimated
RIVALS = 8  # texts that fit the visible pixels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="Parquet file of pairs, named *_LANG.parquet; or LANG, for built-in pairs")
    parser.add_argument("--cover", default="bars")
    parser.add_argument("--mode", default="bits=4")
    parser.add_argument("--pairs", type=int, default=240, help="number of pairs")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="each chooses other spans of the pairs")
    parser.add_argument("--leak", type=int, default=0, metavar="SPANS", help="measure the leak on so many spans")
    arguments = parser.parse_args()
    lang = Path(arguments.source).stem.rpartition("_")[2]
    items = list(read_items(arguments.source, arguments.pairs))
    options = {"lang": lang, "cover": arguments.cover, "mode": arguments.mode}
    pipelines = [Pipeline(load_build_config(None, options | {"seed": seed})) for seed in arguments.seeds]
    if arguments.leak:
        measure_leak(pipelines[0], items, arguments.leak)
    else:
        measure(pipelines, items)


def read_items(source: str, pairs: int) -> Iterator[Item]:
    if not source.endswith(".parquet"):
        for number in range(pairs):
            pair = sample_pair(source, number)
            yield Item(source_id=str(number), image=pair.image, caption=pair.caption)
        return
    for number, row in enumerate(pq.read_table(source).slice(0, pairs).to_pylist()):
        yield Item(source_id=str(number), image=row["image"]["bytes"], caption=row["caption"])


def measure(pipelines: Sequence[Pipeline], items: Sequence[Item]) -> None:
    pipeline = pipelines[0]
    outcomes = list(pipeline.pairs(items))
    rejected = [str(outcome.reason) for outcome in outcomes if isinstance(outcome, Reject)]
    counts = ", ".join(f"{rejected.count(reason)} {reason}" for reason in sorted(set(rejected)))
    print(f"{len(items)} pairs; rejected: {counts or 'none'}")
    templates = Templates(pipeline.style.shaper.chain.glyph, load_lexicon(pipeline.config.lang))
    for mode in pipeline.config.modes:
        rule, found = pipeline.style.calibrations[mode].rule, []
        for pipeline, prepared, spans in planned(pipelines, items):
            thresholds = [pipeline.threshold(rule, mode)]
            accepted = pipeline.accept(prepared, spans, thresholds, pipeline.choices(prepared.keys.pair))
            if isinstance(accepted, Reject):
                continue
            for span, cover in accepted.items():
                form = pipeline.choices(prepared.keys.pair).span_rule(rule, span, cover.draw)
                cells, ink = seen(templates, prepared, span, form)
                texts = cell_texts(span, prepared.layout)
                posteriors = [unit_posteriors(templates, *cell) for cell in zip(cells, texts, strict=True)]
                separator = templates.lexicon.separator
                own = [unit for text in texts for unit in (text.split(separator) if separator else text)]
                found_units = zip(own, (unit for one in posteriors for unit in one), strict=True)
                text = [templates.lexicon.units[u[p.argmax()]] if len(u) else word for word, (u, p) in found_units]
                bits = lower_bound(templates, cells, texts)
                found.append((ink, bits, text == own, cover.draw + 1))
        ink, bits, right, draws = map(np.array, zip(*found, strict=True))
        print(
            f"{mode} {rule.name}: {len(found)} spans, ink {shown(ink, 2)}, bits at least "
            f"{shown(bits, 1)}, below 1 bit {np.mean(bits < 1):.1%}, below 4 {np.mean(bits < 4):.1%}, template exact "
            f"match {np.mean(right):.1%}, draws mean {draws.mean():.1f} median {np.median(draws):.0f} "
            f"most {draws.max()}"
        )


def shown(values: np.ndarray, digits: int) -> str:
    low, median, high = np.percentile(values, [10, 50, 90])
    return f"{median:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def planned(
    pipelines: Sequence[Pipeline], items: Sequence[Item]
) -> Iterator[tuple[Pipeline, PreparedItem, tuple[Span, ...]]]:
    for pipeline in pipelines:
        for outcome in pipeline.plan_items(items):
            if not isinstance(outcome, Reject):
                yield pipeline, *outcome


def seen(
    templates: Templates, prepared: PreparedItem, span: Span, form: CoverRule
) -> tuple[tuple[VisibleCell, ...], float]:
    """Return the visible cells of a span under a cover, and its visible ink."""
    parts = draw_parts(prepared, (span,))
    covers = draw_covers(form, parts.cells[span], parts.layers, np.zeros(parts.strip.shape, dtype=bool))
    hidden = np.zeros(parts.strip.shape, dtype=bool)
    mark_hidden(hidden, covers)
    layers = parts.layers or draw_layers(prepared.layout, parts.cells[span])
    cells = visible_cells(templates, parts.strip, hidden, parts.cells[span], layers, prepared.layout.baseline)
    return cells, measure_span(span, parts.cells[span], covers, WHITE - parts.strip, parts.layers).visible_ink


def measure_leak(pipeline: Pipeline, items: Sequence[Item], count: int) -> None:
    assert pipeline.acceptance is not None
    mode = Mode(pipeline.config.modes[0])
    rule = pipeline.style.calibrations[mode].rule
    least = pipeline.threshold(rule, mode).bits
    templates = Templates(pipeline.style.shaper.chain.glyph, load_lexicon(pipeline.config.lang))
    rng, ratios, gains, rates = random.Random(0), [], [], []
    for _, prepared, spans in planned([pipeline], items):
        accepted = pipeline.accept(prepared, spans, [Threshold(rule, least)], pipeline.choices(prepared.keys.pair))
        if isinstance(accepted, Reject) or len(gains) >= count:
            continue
        span, cover = next(iter(accepted.items()))
        form = pipeline.choices(prepared.keys.pair).span_rule(rule, span, cover.draw)
        cells, _ = seen(templates, prepared, span, form)
        texts = rivals(templates, cells, span, prepared, rng)
        own, *others = [rate(pipeline, text, rule, least) for text in [(prepared, span), *texts]]
        ratios += [math.log2(own / other) for other in others]
        if others:
            weights = 1 / np.array(others)
            weights /= weights.sum()
            gains.append(math.log2(len(others)) + float((weights * np.log2(weights)).sum()))
            rates.append(own)
    print(
        f"{mode} {rule.name}: {len(gains)} spans, {len(ratios)} texts that fit; rate of acceptance {shown(rates, 2)}; "
        f"log2 of rates, truth against texts that fit: absolute median {np.median(np.abs(ratios)):.2f}, 95th "
        f"percentile {np.percentile(np.abs(ratios), 95):.2f}, most {np.abs(ratios).max():.2f}; entropy reduced by "
        f"{shown(gains, 3)} bits"
    )


def rivals(
    templates: Templates, cells: Sequence[VisibleCell], span: Span, prepared: PreparedItem, rng: random.Random
) -> list[tuple[PreparedItem, Span]]:
    """Draw texts from the posterior given the places and widths of words, and set each in the span's place."""
    found, texts = [], cell_texts(span, prepared.layout)
    posteriors = [list(unit_posteriors(templates, cell, text)) for cell, text in zip(cells, texts, strict=True)]
    separator, style = templates.lexicon.separator, prepared.style
    for _ in range(RIVALS):
        lines = []
        for text, units in zip(texts, posteriors, strict=True):
            own = text.split(separator) if separator else list(text)
            drawn = [
                templates.lexicon.units[rng.choices(u, p)[0]] if len(u) else o
                for (u, p), o in zip(units, own, strict=True)
            ]
            lines.append(separator.join(drawn))
        text = separator.join(lines)
        caption = prepared.layout.text[: span.start] + text + prepared.layout.text[span.end :]
        unit = LANGUAGES[templates.lexicon.lang].break_unit
        layout = layout_caption(caption, style.shaper, width=style.width, max_lines=99, break_unit=unit)
        other = Span(start=span.start, end=span.start + len(text), text=text, tokens=tuple(text.split()))
        if text != span.text and len(layout.lines) == len(prepared.layout.lines):
            found.append((replace(prepared, layout=layout), other))
    return found


def rate(pipeline: Pipeline, text: tuple[PreparedItem, Span], rule: CoverRule, least: float) -> float:
    """Return the share of covers that are accepted for a text, with one more of each kind."""
    assert pipeline.acceptance is not None
    prepared, span = text
    parts, accepted = draw_parts(prepared, (span,)), 0
    for seed in range(FORMS):
        bits = pipeline.acceptance.bits(span, parts, prepared.style.shaper, with_seed(rule, seed))
        accepted += bits is not None and bits >= least
    return (accepted + 1) / (FORMS + 2)


if __name__ == "__main__":
    main()
