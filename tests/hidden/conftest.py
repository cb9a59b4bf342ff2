"""Small hidden sets of the built-in pairs, made once and copied for each test, and what may be done to them."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vcrgen.builder.options import load_build_config
from vcrgen.core.progress import ProgressListener
from vcrgen.hidden import HiddenOptions, HiddenResult, make_hidden
from vcrgen.hidden.forms import FormBuilder
from vcrgen.samples import sample_pair
from vcrgen.typeset.style import Style

Make = Callable[..., HiddenResult]
Tree = Callable[[Path], dict[str, bytes]]
Run = Callable[..., tuple[int, str, str]]
SECRET = "5eed" * 16
FONTS = ("open-sans", "liberation-serif", "caladea")


@pytest.fixture(scope="session", autouse=True)
def _styles() -> Iterator[None]:
    """A font in a size is calibrated once for all tests, not once a set."""
    styles: dict[tuple[str, str, str, int], Style] = {}
    real = FormBuilder._make_style

    def cached(self: FormBuilder, font: str, size: int) -> Style:
        key = self.pipeline.language.code, self.pipeline.config.cover, font, size
        if key not in styles:
            styles[key] = real(self, font, size)
        return styles[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FormBuilder, "_make_style", cached)
        yield


@pytest.fixture(scope="session")
def secret_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A maintainer's secret."""
    return write_secret(tmp_path_factory.mktemp("secret") / "secret.key", SECRET)


@pytest.fixture(scope="session")
def other_secret_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The secret of somebody else."""
    return write_secret(tmp_path_factory.mktemp("secret") / "other.key", "0ddba11" * 8)


def samples_of(numbers: Iterable[int], lang: str = "en") -> list[tuple[bytes, str]]:
    """Picture and caption of built-in pairs."""
    return [(pair.image, pair.caption) for pair in (sample_pair(lang, number) for number in numbers)]


def table_of(pairs: Iterable[tuple[bytes, str | None]]) -> pa.Table:
    images, captions = zip(*pairs, strict=True)
    return pa.table({"image": pa.array(images, pa.binary()), "caption": captions})


def write_pairs(file: Path, pairs: Iterable[tuple[bytes, str | None]], **options: Any) -> Path:
    """Write a Parquet file of pairs."""
    pq.write_table(table_of(pairs), file, **options)
    return file


def write_secret(file: Path, text: str) -> Path:
    file.touch(0o600)
    file.write_text(text)
    return file


@pytest.fixture(scope="session")
def make(secret_file: Path) -> Make:
    """Makes a set: six items of forty built-in pairs in three fonts under rows, if nothing else is asked for."""

    def call(
        out: Path,
        *,
        source: Path | str = "samples:40",
        lang: str = "en",
        secret: Path = secret_file,
        workers: int = 1,
        listener: ProgressListener | None = None,
        config: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> HiddenResult:
        build_config = load_build_config(None, {"source": str(source), "lang": lang, **(config or {})})
        # One secret makes the sets of all tests.
        values = {"items": 6, "fonts": FONTS, "reuse_secret": True, "cover": "rows"} | options
        values["private_source"] = str(source).startswith("samples")
        values.setdefault("public_pictures", not values["private_source"])
        settings = HiddenOptions(config=build_config, **values)
        return make_hidden(settings, out=out, secret_file=secret, workers=workers, listener=listener)

    return call


@pytest.fixture(scope="session")
def finished(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One form; not to be changed."""
    out = tmp_path_factory.mktemp("hidden") / "one"
    make(out)
    return out


@pytest.fixture(scope="session")
def finished_forms(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three forms of four pairs; not to be changed."""
    out = tmp_path_factory.mktemp("hidden") / "three"
    make(out, items=4, same_pairs=3)
    return out


@pytest.fixture(scope="session")
def finished_other_pairs(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three forms of four pairs each; not to be changed."""
    out = tmp_path_factory.mktemp("hidden") / "disjoint"
    make(out, items=4, forms=3)
    return out


@pytest.fixture(scope="session")
def finished_chinese(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One form of Chinese pairs; not to be changed."""
    out = tmp_path_factory.mktemp("hidden") / "chinese"
    make(out, lang="zh", items=4, fonts=("ar-pl-sungti-gb",))
    return out


@pytest.fixture(scope="session")
def small(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One form of three items in one font; not to be changed."""
    out = tmp_path_factory.mktemp("hidden") / "small"
    make(out, items=3, fonts=("open-sans",))
    return out


@pytest.fixture
def hidden_set(small: Path, tmp_path: Path) -> Path:
    """A copy of the small set, with its times and permissions, to do anything to."""
    copy = tmp_path / "set"
    shutil.copytree(small, copy)
    return copy


@pytest.fixture(scope="session")
def tree() -> Tree:
    """The bytes of every file of a folder."""
    return lambda folder: {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


@pytest.fixture(scope="session")
def answers() -> Callable[[Path], list[dict[str, Any]]]:
    """The lines of a set's key."""
    return lambda folder: [json.loads(line) for line in (folder / "key" / "answers.jsonl").read_bytes().splitlines()]
