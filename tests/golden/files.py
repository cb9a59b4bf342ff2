"""Datasets on a disk: cards, bytes, covers' pixels, options; each language; streams, exports, pages."""

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from tests.golden.bench import (
    BYTES,
    HERE,
    INK,
    INPUTS,
    LANGUAGES,
    MORPHEMES,
    TOKENS,
    Bench,
    as_text,
    captions,
    digest,
    for_languages,
    golden,
    lines,
    normal,
    picture,
    rows_of,
    short,
    visible,
)
from tests.golden.builds import drawn


@for_languages("card", *BYTES)
def card(bench: Bench, lang: str) -> Any:
    """The card of a dataset, and its statistics as they are printed."""
    dataset = bench.dataset(lang)
    text = lines((dataset / "README.md").read_text("utf-8"))
    if lang != "en":  # the rest is the same in all languages
        return {"card": text[: text.index("")] + text[text.index("## Statistics") : text.index("## Columns")]}
    # One mode of one split: the table has the others.
    printed = json.loads("\n".join(bench.run("inspect", dataset, "--json")))
    printed = {**printed, "signature": normal(printed["signature"]), "statistics": printed["statistics"][1]}
    return {"card": text, "inspect": bench.run("inspect", dataset), "inspect --json": printed}


def of_image(data: bytes) -> str:
    """Digests of an image's bytes and of its pixels: so that it shows which of them changed."""
    image = Image.open(io.BytesIO(data))
    pixels = digest(image.convert("RGB").tobytes())
    return f"{digest(data)} of {len(data)} bytes, pixels {pixels} {image.width}x{image.height} {image.format}"


def of_files(folder: Path, *, without: Sequence[str] = ()) -> dict[str, str]:
    """The SHA-256 of every file of a folder."""
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and (name := path.relative_to(folder).as_posix()) not in without
    }


@for_languages("bytes", *BYTES)
def files(bench: Bench, lang: str) -> Any:
    """Every file of a small build of built-in pairs, and every image in it."""
    dataset = bench.build(f"samples-{lang}", "samples:6", lang=lang, splits="train=...,validation=1,test=1", seed=3)
    images: dict[str, str] = {}
    for _, row in rows_of(dataset):
        for column in ("image", "stacked_image", "only_it_image", "only_it_image_small"):
            images[row[column]["path"]] = of_image(row[column]["bytes"])
    schema = pq.read_schema(next(dataset.rglob("*.parquet")))
    manifest = json.loads((dataset / "manifest.json").read_text("utf-8"))
    return {"files": of_files(dataset), "images": images, "schema": columns(schema), "manifest": short(manifest)}


def columns(schema: pa.Schema) -> list[str]:
    """Names and types of a Parquet file's columns, and the digest of what it says to other tools."""
    notes = [f"{key.decode()}: {digest(value)}" for key, value in sorted((schema.metadata or {}).items())]
    return [f"{field.name}: {field.type}" for field in schema] + notes


@golden("bytes-of-other-builds", *BYTES)
def other_files(bench: Bench) -> Any:
    """WebP, several shards, a recipe's options: the files."""
    source = bench.pairs("en")
    builds = {
        "webp": bench.build("webp", source, image_format="webp", limit=3, mode="hard"),
        "shards": bench.build("shards", source, shard_size=4, splits="train=...,test=3", mode="easy", width=200),
        "two workers": bench.build("workers", bench.pairs("zh"), lang="zh", shard_size=7, limit=9, workers=1),
    }
    found = {name: of_files(folder) for name, folder in builds.items()}
    webp = {row["stacked_image"]["path"]: of_image(row["stacked_image"]["bytes"]) for _, row in rows_of(builds["webp"])}
    return {"files": found, "webp": webp}


@golden("cover-patterns", *BYTES)
def cover_patterns(bench: Bench) -> Any:
    """Covers that are not rows: their sizes, their pixels, and a build with all that can be done to images."""
    from vcrgen.text.languages import LANGUAGES
    from vcrgen.typeset.cover import with_seed
    from vcrgen.typeset.cover_kinds import PATTERN_KINDS
    from vcrgen.typeset.fonts import default_chain
    from vcrgen.typeset.records import Box, Cell
    from vcrgen.typeset.style import make_style

    found: dict[str, Any] = {}
    for kind in PATTERN_KINDS:
        for lang in ("en", "zh"):
            row = LANGUAGES[lang]
            style = make_style(row, default_chain(row.fonts, size=20), width=300, max_height=900, cover=kind)
            for mode, calibration in style.calibrations.items():
                place = Box(31, 44, 170, 66)
                cover = with_seed(calibration.rule, 7).cover(Cell(place, place))
                shade = cover.shade if isinstance(cover.shade, int) else digest(cover.shade.tobytes())
                assert cover.mask is not None
                found[f"{calibration.rule.name} {lang} {mode}"] = (
                    f"leaves {calibration.visible:.3f} ({calibration.low:.3f}-{calibration.high:.3f}), "
                    f"pixels {digest(cover.mask.tobytes())}, shade {shade}"
                )
    degrade = "jpeg=40,blur=1,lowres=0.5,camera=0.3"
    built = bench.build("stained", "samples:3", mode="hard", cover="stain", distractors=2, degrade=degrade)
    images = ("stacked_image", "only_it_image", "only_it_image_small", "cover_mask")
    found["images"] = {row[name]["path"]: of_image(row[name]["bytes"]) for _, row in rows_of(built) for name in images}
    found["distractors"] = [row["distractors"] for _, row in rows_of(built)]
    for name, warp in (("skewed", "skew=3"), ("perspective", "perspective=0.2")):
        warped = bench.build(name, "samples:3", mode="hard", degrade=warp)
        found[name] = [{column: of_image(row[column]["bytes"]) for column in images} for _, row in rows_of(warped)]
        found["no boxes"] = [[span["boxes"] for span in row["spans"]] for _, row in rows_of(warped)]
    for paper, ink in (("cream", "1f3a6e"), ("newsprint", "000000"), ("laid", "5a2a12")):
        printed = bench.build(f"on-{paper}", "samples:2", mode="hard", paper=paper, ink_colour=ink, glyph_boxes=True)
        found[f"on {paper}"] = [of_image(row["stacked_image"]["bytes"]) for _, row in rows_of(printed)]
        found["glyph boxes"] = [digest(json.dumps(row["glyph_boxes"])) for _, row in rows_of(printed)]
    return found | {"files": of_files(built, without=("manifest.json",))}


@golden("cover-bits", *BYTES)
def cover_bits(bench: Bench) -> Any:
    """Covers that go by bits: spans, bits and pixels."""
    found: dict[str, Any] = {}
    for lang, cover in (("en", "bars"), ("zh", "blots")):
        built = bench.build(f"bits-{lang}", "samples:4", lang=lang, mode="bits=4,8", cover=cover, seed=5)
        for file, row in rows_of(built):
            ink = [span["visible_ink"] for span in row["spans"]]
            found[f"{file.partition('/')[0]} {lang} {row['source_id']}"] = {
                "spans": row["crossed_text"],
                "bits": row["pixel_bits"],
                "ink": ink,
                "mask": of_image(row["cover_mask"]["bytes"]),
            }
        manifest = json.loads((built / "manifest.json").read_text("utf-8"))
        found[f"signature {lang}"] = manifest["signature"]
    return found


@golden("config")
def config(bench: Bench) -> Any:
    """Every option of a build with its default, and the hash that a configuration goes by."""
    from vcrgen.builder.options import BuildConfig, load_build_config

    recipes = {}
    for file in sorted((HERE.parents[1] / "configs").glob("vcr-*.yaml")):
        loaded = load_build_config(file, {})
        changed = {k: v for k, v in loaded.model_dump(mode="json").items() if v != getattr(BuildConfig(), k)}
        recipes[file.stem] = changed
    return {
        "defaults": BuildConfig().model_dump(mode="json"),
        "published": sorted(BuildConfig().public_fields()),
        "hash": BuildConfig().content_hash(),
        "hash of another": BuildConfig(seed=1, lang="zh", where=("a=b",), splits="train=...,test=3").content_hash(),
        "recipes": recipes,
    }


@golden("samples")
def samples(bench: Bench) -> Any:
    """Captions of built-in pairs."""
    from vcrgen.samples.pairs import BUILTIN_COUNT, caption

    return {
        lang: {
            "first": [caption(lang, place) for place in range(5)],
            "all": f"{BUILTIN_COUNT} captions, {digest(chr(10).join(caption(lang, n) for n in range(BUILTIN_COUNT)))}",
        }
        for lang in LANGUAGES
    }


def golden_of_other_languages() -> None:
    """Put a small golden file into the table for each language that has none of the larger ones."""
    from vcrgen.text.languages import LANGUAGES as KNOWN

    for lang in sorted(KNOWN.keys() - set(LANGUAGES)):
        needs = (*INK, *MORPHEMES) if KNOWN[lang].extra else INK
        golden(f"language-{lang}", *needs)(lambda bench, lang=lang: language(lang))  # type: ignore[misc]


def language(lang: str) -> Any:
    """Pairs of a language: lines, spans, boxes, and of every token whether it may be covered.

    Their captions are the built-in ones, or texts of the calibration sample of a language without.
    """
    from vcrgen.builder.options import BuildConfig
    from vcrgen.builder.pipeline import Pipeline
    from vcrgen.core.records import Item
    from vcrgen.samples.pairs import caption, has_captions
    from vcrgen.text.sample import calibration_sample

    config = {"lang": lang, "seed": 11}
    texts = [caption(lang, at) for at in range(8)] if has_captions(lang) else calibration_sample(lang)[:8]
    items = [Item(source_id=f"pair-{at}", image=picture(at), caption=text) for at, text in enumerate(texts)]
    return {
        "signature": normal(str(Pipeline(BuildConfig(**config)).signature)),
        "pairs": drawn(config, items),
        "tokens": [shown_tokens(lang, item.caption) for item in items],
    }


golden_of_other_languages()


@for_languages("eligibility", *TOKENS)
def eligibility(bench: Bench, lang: str) -> Any:
    """Of every token of the captions whether a mask may cover it, and if not, why."""
    more = (INPUTS / f"names-{lang}.txt").read_text("utf-8").splitlines()
    return [line for text in [*captions(lang), *more] for line in shown_tokens(lang, text)]


def shown_tokens(lang: str, text: str) -> list[str]:
    """Each sentence on one line, its tokens apart, with the reason why one may not be covered."""
    from vcrgen.text.eligibility import ineligible_reason
    from vcrgen.text.pipelines import load_pipeline

    return [
        " ".join(f"{t.text}<{why}>" if (why := ineligible_reason(t)) else t.text for t in sentence)
        for sentence in load_pipeline(lang).nlp(text).sents
    ]


@for_languages("calibration", "pillow", "freetype", "machine")
def calibration(bench: Bench, lang: str) -> Any:
    """Rows, visible ink with its spread, and both targets, for every shipped font of a language."""
    from vcrgen.text.languages import LANGUAGES as KNOWN
    from vcrgen.typeset.fonts import default_chain, resolve_font, text_faces
    from vcrgen.typeset.style import make_style

    row = KNOWN[lang]
    found: dict[str, Any] = {}
    for font in text_faces(lang):
        for size in (20, 25, 34) if lang == "en" else (20, 25):
            chain = default_chain(row.fonts, size=size, first=resolve_font(font))
            covers = make_style(row, chain, width=300, max_height=900).calibrations
            found[f"{font} {size}"] = [
                f"{mode} {cover.rule.name} {cover.visible:.3f} {cover.low:.2f}-{cover.high:.2f} {cover.target:.2f} "
                f"{cover.above:.2f}"
                for mode, cover in covers.items()
            ]
    return found


@golden("fonts")
def fonts(bench: Bench) -> Any:
    """The list of fonts, and which of them draws what."""
    shown = {"list": bench.run("fonts"), "en": bench.run("fonts", "check", "Ωmega ﷽ 汉字 ½")}
    return shown | {"zh": bench.run("fonts", "check", "龘 oracle ½ \u0378", "--lang", "zh")}


@golden("transform", *BYTES)
def transform(bench: Bench) -> Any:
    """One example at a time."""
    from vcrgen import VCRTransform

    found = {}
    for lang, mode in (("en", "easy"), ("zh", "hard")):
        make = VCRTransform(lang=lang, mode=mode, seed=4, width=240)
        row = make({"image": Image.open(io.BytesIO(picture(4))), "caption": captions(lang)[0], "mine": 1})
        images = {name: value for name, value in row.items() if isinstance(value, Image.Image)}
        found[lang] = {name: value for name, value in row.items() if name not in images} | {
            name: f"{image.format} {image.size} {digest(image.tobytes())}" for name, image in images.items()
        }
    return found


# Streams


STREAMS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "schedule of modes": {"schedule": [(0, "easy"), (12, {"easy": 1, "hard": 3})], "seed": 1},
    "ink": {"ink": (0.2, 0.7), "views": ("stacked", "tei", "strip"), "shard_size": 4},
    "schedule of ink": {"schedule": [(2, 0.8), (10, (0.1, 0.3))], "shuffle": False, "epochs": 1},
    "the second of two ranks": {"rank": 1, "world_size": 2, "shard_size": 3, "seed": 9},
    "zh": {"lang": "zh", "mode": "hard", "views": "strip", "shard_size": 5},
}


def examples(bench: Bench, options: Mapping[str, Any], count: int) -> tuple[Any, list[dict[str, Any]]]:
    """A stream after its first examples, and these."""
    from vcrgen.builder.stream import VCRStream

    stream = VCRStream(bench.pairs(options.get("lang", "en")), id_column="id", **options)
    return stream, list(islice(stream, count))


@golden("stream", *INK)
def stream(bench: Bench) -> Any:
    """The first examples of streams, over more than an epoch, and the place after them."""
    found = {}
    for name, options in STREAMS.items():
        source, made = examples(bench, options, 24)
        state = dict(source.state_dict())
        found[name] = {
            "examples": [
                f"{at['step']} {at['epoch']} {at['source_id']} {at['mode']} {at['ink']:.4g} {at['view']} "
                f"{at['image'].shape[0]}x{at['image'].shape[1]}: {' | '.join(at['answers'])} "
                f"({' '.join(f'{ink:.4f}' for ink in at['visible_ink'])})"
                for at in made
            ],
            "skipped": dict(source.skipped),
            "state": state,
        }
    return found


@golden("stream-pixels", *INK, "numpy")
def stream_pixels(bench: Bench) -> Any:
    """Digests of what a stream's examples show, and one as a chat."""
    from vcrgen.builder.stream import messages

    _, made = examples(bench, STREAMS["ink"], 6)
    said = messages(made[0])
    said[0]["content"][0]["image"] = digest(said[0]["content"][0]["image"].tobytes())
    return {"pixels": [digest(at["image"].tobytes()) for at in made], "keys": sorted(made[0]), "messages": said}


# What is made of datasets


EXPORTS = ("vlmevalkit", "lmms-eval")


@golden("exports", *BYTES)
def exports(bench: Bench) -> Any:
    """Every file of every export, and what is readable of them."""
    dataset = bench.dataset("zh")
    found: dict[str, Any] = {}
    for form in EXPORTS:
        out = bench.folder / f"exports/{form}"
        printed = bench.run("export", dataset, "--to", form, "--out", out, "--split", "test")
        digests = of_files(out)
        images = {name: value for name, value in digests.items() if name.endswith((".png", ".webp"))}
        texts = {name: value for name, value in digests.items() if name not in images}
        found[form] = {
            "printed": printed,
            "files": texts,
            "images": f"{len(images)}, {digest(as_text(images))}",
            "README.md": lines((out / "README.md").read_text("utf-8")),
        }
    return found


@golden("view", *BYTES)
def view(bench: Bench) -> Any:
    """The folder to look at a dataset: digests of its files, and what a reader sees of its page."""
    target = bench.folder / "view"
    printed = bench.run("view", bench.dataset("en"), "--filter", "sort=length&direction=down", "--out", target)
    return {
        "printed": printed,
        "files": of_files(target),
        "visible": visible((target / "index.html").read_text("utf-8")),
    }
