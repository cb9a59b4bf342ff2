"""Masked spans and their places in builds of every kind; rejected pairs; sources."""

import base64
import csv
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.golden.bench import (
    INK,
    INPUTS,
    TOKENS,
    Bench,
    bitmap,
    captions,
    digest,
    for_languages,
    golden,
    picture,
    rows_of,
    write_pairs,
)


def shown_boxes(span: Mapping[str, Any]) -> str:
    """A span's cover on one line."""
    boxes = " ".join(f"{box['x0']},{box['y0']}-{box['x1']},{box['y1']}" for box in span["boxes"])
    return f"{boxes} ink {span['visible_ink']:.4f} rows {span['rows_above']}+{span['rows_below']}"


def shown_span(span: Mapping[str, Any]) -> str:
    """A span on one line, its tokens apart."""
    return f"{span['start']}-{span['end']}: {' | '.join(span['tokens'])}"


def check_row(row: Mapping[str, Any]) -> None:
    """Leave out what follows from other columns."""
    assert row["crossed_text"] == [span["text"] for span in row["spans"]]
    assert all(row["caption"][span["start"] : span["end"]] == span["text"] for span in row["spans"])


def drawn(config: Mapping[str, Any], items: Sequence[Any]) -> list[dict[str, Any]]:
    """Pairs of a configuration without files: lines, spans and covers, or why a pair is set aside."""
    from vcrgen.builder.options import BuildConfig
    from vcrgen.builder.pipeline import Pipeline
    from vcrgen.core.records import Reject

    pipeline = Pipeline(BuildConfig(**config))
    found: list[dict[str, Any]] = []
    for planned, pair in zip(pipeline.plan_items(items), pipeline.pairs(items), strict=True):
        if isinstance(planned, Reject) or isinstance(pair, Reject):
            assert planned == pair
            found.append({"id": planned.source_id, "reason": str(planned.reason), "detail": planned.detail})
            continue
        layout = planned[0].layout
        rows = {mode: pipeline.row(pair, mode) for mode in pipeline.config.modes}
        row = rows[pipeline.config.modes[0]]
        found.append(
            {
                "id": row["source_id"],
                "lines": [layout.text[line.start : line.end] for line in layout.lines],
                "spans": [shown_span(span) for span in row["spans"]],
                **{str(mode): [shown_boxes(span) for span in rows[mode]["spans"]] for mode in rows},
                "place": f"strip of {row['strip_height']} px from {row['strip_y']}, alone from "
                f"{row['only_it_strip_y']}, {layout.width} px wide",
            }
        )
    return found


def items_of(lang: str, places: Sequence[int], answers: Mapping[int, tuple[str, ...]] | None = None) -> list[Any]:
    """Some of the twenty pairs, as a source gives them."""
    from vcrgen.core.records import Item

    texts = captions(lang)
    return [
        Item(source_id=f"pair-{at}", image=picture(at), caption=texts[at], answers=(answers or {}).get(at))
        for at in places
    ]


@for_languages("pairs", *TOKENS)
def pairs(bench: Bench, lang: str) -> dict[str, Any]:
    """Twenty pairs: key, split, lines, spans; and what is set aside."""
    dataset = bench.dataset(lang)
    lines_of = {found["id"]: found for found in drawn({"lang": lang, "seed": 11}, items_of(lang, range(20)))}
    found: dict[str, Any] = {}
    for file, row in rows_of(dataset):
        check_row(row)
        known = found.setdefault(
            row["source_id"],
            {
                "key": row["question_id"],
                "files": [],
                "lines": lines_of[row["source_id"]]["lines"],
                "spans": [shown_span(span) for span in row["spans"]],
            },
        )
        known["files"].append(file)
        assert known.setdefault("caption", row["caption"]) == row["caption"]
        assert known["spans"] == [shown_span(span) for span in row["spans"]]
        assert (row["language"], row["mode"]) == (lang, file.partition("/")[0])
    question = next(row["question"] for _, row in rows_of(dataset))
    return {
        "pairs": found,
        "order": [f"{file} {row['source_id']}" for file, row in rows_of(dataset) if row["mode"] == "hard"],
        "question": question,
        "rejects": (dataset / "rejects.jsonl").read_text("utf-8").splitlines(),
    }


@for_languages("covers", *INK)
def covers(bench: Bench, lang: str) -> dict[str, Any]:
    """Boxes, visible ink and places of the same twenty pairs."""
    found: dict[str, Any] = {}
    for _, row in rows_of(bench.dataset(lang)):
        place = found.setdefault(row["source_id"], {})
        place[row["mode"]] = [shown_boxes(span) for span in row["spans"]]
        place["strip"] = f"{row['strip_height']} px from {row['strip_y']}, alone from {row['only_it_strip_y']}"
    return found


VARIANTS: dict[str, dict[str, Any]] = {
    "two lines": {"max_lines": 2},
    "400 px, 31 px type": {"width": 400, "font_size": 31},
    "another seed": {"seed": 5},
    "low": {"max_height": 160},
}
FONTS = {"en": "caladea", "zh": "wenquanyi-micro-hei"}


@for_languages("variants", *INK)
def variants(bench: Bench, lang: str) -> dict[str, Any]:
    """Widths, fonts and limits other than the defaults, in a few pairs each; other masks are in :func:`masks`."""
    items = items_of(lang, (0, 4, 9, 17))
    found: dict[str, Any] = {name: drawn({"lang": lang, **options}, items) for name, options in VARIANTS.items()}
    _, row = next(found for found in rows_of(bench.dataset(lang)) if found[1]["source_id"] == "pair-0")
    highest = row["strip_y"] + row["strip_height"]
    found["as high as may be"] = drawn({"lang": lang, "max_height": highest, "mode": "hard"}, items[:1])
    found["one pixel too high"] = drawn({"lang": lang, "max_height": highest - 1}, items[:1])
    huge = {"width": 64, "font_size": 90, "max_lines": 14, "max_height": 4000, "ngram_size": 2, "mode": "hard"}
    found["type wider than the image"] = drawn({"lang": lang, **huge}, items[:1])
    found["another font"] = drawn({"lang": lang, "font": FONTS[lang]}, items)
    terms = bench.once(f"terms-{lang}.txt", lambda path: path.write_text("Piano\n钢琴\n# lamp\n", "utf-8"))
    found["own censor list"] = drawn({"lang": lang, "censor_list": terms}, items)
    given = {"en": {0: ("a cliff above", "evening until"), 9: ("and was",)}, "zh": {0: ("矗立在海边",), 9: ("高的",)}}
    found["given texts"] = drawn({"lang": lang}, items_of(lang, (0, 9), given[lang]))
    if lang == "en":
        trained = {"lang": lang, "spacy_model": str(bench.trained)}
        found["nouns"] = drawn({**trained, "mask": "nouns"}, items_of(lang, (0, 1, 2)))
        found["a trained pipeline"] = drawn(trained, items_of(lang, (2, 9)))
    for pair in (pair for pairs in found.values() for pair in pairs if "lines" in pair):
        pair["lines"] = " / ".join(pair["lines"])
    return found


@for_languages("masks", *TOKENS)
def masks(bench: Bench, lang: str) -> Any:
    """The spans of every mask in all captions."""
    from vcrgen.builder.options import BuildConfig
    from vcrgen.builder.pipeline import Pipeline
    from vcrgen.core.records import Item, Reject

    ways: dict[str, dict[str, Any]] = {
        "n 2, share 0.35": {"ngram_size": 2, "max_share": 0.35},
        "n 4, share 0.2": {"ngram_size": 4, "max_share": 0.2, "seed": 2},
        "sentence, all": {"mask": "sentence", "max_share": 1.0},
        "percentage 0.23": {"mask": "percentage", "percentage": 0.23},
    }
    if lang == "zh":
        ways["nouns"] = {"mask": "nouns"}
    names = (INPUTS / f"names-{lang}.txt").read_text("utf-8").splitlines()
    more = [Item(source_id=f"name-{at}", image=picture(at), caption=text) for at, text in enumerate(names)]
    found: dict[str, list[str]] = {}
    for name, options in ways.items():
        pipeline = Pipeline(BuildConfig(**{"lang": lang, "max_lines": 20, **options}))
        items = [*items_of(lang, range(20)), *more]
        for outcome in pipeline.plan_items(items):
            if isinstance(outcome, Reject):
                found.setdefault(name, []).append(f"{outcome.source_id} {outcome.reason}")
            else:
                shown = " / ".join(span.text for span in outcome[1])
                found.setdefault(name, []).append(f"{outcome[0].item.source_id}: {shown}")
    return found


@for_languages("lines", *INK)
def line_breaks(bench: Bench, lang: str) -> Any:
    """Ends of the lines of all captions as in VCR-WIKI, in many widths, fonts and sizes."""
    from dataclasses import replace

    from vcrgen.builder.options import BuildConfig
    from vcrgen.builder.pipeline import Pipeline
    from vcrgen.core.records import Reject

    fonts = {"en": ("liberation-serif", "caladea", "roboto-slab"), "zh": ("wenquanyi-micro-hei", "ar-pl-sungti-gb")}[
        lang
    ]
    flat = bitmap(1, 320, 24)  # quick to resize, and at no width lower than 16 px
    items = [replace(item, image=flat) for item in items_of(lang, range(20))]
    found: dict[str, str] = {}
    for font, size in (*((font, 20) for font in fonts), (fonts[0], 25), (fonts[0], 33)):
        config = BuildConfig(lang=lang, font=Path(font), font_size=size, max_height=4000, line_breaks="vcr-wiki")
        pipeline = Pipeline(config)
        for width in range(12 * size, 18 * size, size // 2):
            ends = []
            for item in items:
                prepared = pipeline.prepare(item, replace(pipeline.style, width=width))
                if not isinstance(prepared, Reject):
                    ends.append([prepared.layout.height, *(line.end for line in prepared.layout.lines)])
            found[f"{font} {size}, {width} px"] = f"{sum(map(len, ends))} {digest(json.dumps(ends))}"
    return found


@golden("rejects", "pillow", *TOKENS)
def rejects(bench: Bench) -> Any:
    """One pair of each kind that is set aside, and what the command says of it."""
    from vcrgen.builder.filters import CensorList
    from vcrgen.text.languages import LANGUAGES

    good = captions("en")[15]
    image = bitmap(3, 60, 40)
    rows: list[dict[str, Any]] = [
        {"id": "good", "image": image, "caption": good},
        {"id": "good, another picture", "image": bitmap(4, 60, 40), "caption": good},
        {"id": "copy", "image": image, "caption": good},
        {"id": "no image", "image": None, "caption": good},
        {"id": "no caption", "image": image, "caption": " \u200d "},
        {"id": "short", "image": image, "caption": "Only four words here"},
        {"id": "sensitive", "image": image, "caption": f"{good} It was a massacre."},
        {"id": "sensitive, in capitals", "image": image, "caption": f"{good} It was a MASSACRE."},
        {"id": "garbage", "image": b"BM" + b"garbage" * 40, "caption": good},
        {"id": "truncated", "image": image[:3000], "caption": good},
        {"id": "tiny", "image": bitmap(3, 15, 40), "caption": good},
        {"id": "just large enough", "image": bitmap(3, 16, 16), "caption": good},
        {"id": "tall", "image": bitmap(3, 20, 90), "caption": good},
        {"id": "no glyph", "image": image, "caption": f"\U000131a0 {good}"},
        {"id": "names only", "image": image, "caption": "Paris, Rome, London, Oslo, Madrid"},
        {"id": "many pixels", "image": bitmap(3, 120, 100), "caption": good},
    ]
    source = bench.once("sources/bad.jsonl", lambda path: write_pairs(path, rows))
    out = bench.folder / "built/bad"
    printed = bench.run("build", source, "--out", out, "--column", "id=id", "--max-pixels", 9000, "--seed", 2)
    found = [
        (CensorList.load(LANGUAGES["en"], None), ["a murder", "murderous", "MURDER!", "a-murder", "murder\u0301"]),
        (CensorList.load(LANGUAGES["hi"], None), ["एक अपहरण हुआ।", "काअपहरण", "अपहरणा"]),
        (CensorList.load(LANGUAGES["ko"], None), ["그는 연쇄살인을 저질렀다."]),
        (CensorList.of(["☠"], whole_words=True), ["here ☠\ufe0f lies", "here\u0903☠ lies"]),
    ]
    return {
        "printed": printed,
        "rejects": (out / "rejects.jsonl").read_text("utf-8").splitlines(),
        "inspect": bench.run("inspect", out),
        "terms": {terms.digest: {text: terms.matches(text) for text in texts} for terms, texts in found},
    }


@golden("sources", *TOKENS)
def sources(bench: Bench) -> Any:
    """Pairs in other forms: what their ids are, which rows are taken, and what a dataset says of its source."""
    texts = captions("en")
    tall = {at: picture(at) for at in range(8)}
    folder = bench.folder / "sources/folder"
    folder.mkdir(parents=True, exist_ok=True)
    for at, data in tall.items():
        (folder / f"{at}.bmp").write_bytes(data)
    listed = [{"file_name": f"{at}.bmp", "text": texts[at]} for at in tall]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in listed), "utf-8")
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["picture", "caption", "part"])
    writer.writerows([base64.b64encode(tall[at]).decode(), texts[at], "ab"[at % 2]] for at in tall)
    (bench.folder / "sources/pairs.csv").write_text(table.getvalue(), "utf-8")
    nested = [
        {
            "question_id": f"q{at}",
            "image": {"bytes": tall[at], "path": "x"},
            "facts": [{"language": "de", "text": "Ein Boot liegt im Sand."}, {"language": "en", "text": texts[at]}],
        }
        for at in tall
    ]
    pq.write_table(pa.Table.from_pylist(nested), bench.folder / "sources/nested.parquet")
    with tarfile.open(bench.folder / "sources/shard.tar", "w") as archive:
        for at, data in tall.items():
            for name, content in ((f"{at:03d}.bmp", data), (f"{at:03d}.txt", texts[at].encode())):
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    asked: dict[str, tuple[Any, dict[str, Any]]] = {
        "csv": ("pairs.csv", {"image_column": "picture", "where": ("part=b",), "limit": 3}),
        "folder": ("folder", {"caption_column": "text", "limit": 4}),
        "nested": ("nested.parquet", {"caption_column": "facts.text", "where": ("language=en",), "shard_size": 3}),
        "shard": ("shard.tar", {}),
    }
    found = {}
    for name, (source, options) in asked.items():
        built = bench.build(f"from-{name}", bench.folder / "sources" / source, mode="hard", **options)
        manifest = json.loads((built / "manifest.json").read_text("utf-8"))
        found[name] = {
            "rows": [f"{row['source_id']}: {row['question_id']}" for _, row in rows_of(built)],
            "files": [file["path"] for file in manifest["files"]],
            "rejects": (built / "rejects.jsonl").read_text("utf-8").splitlines(),
            "source": manifest["source"],
            "read": manifest["read"],
        }
    return found
