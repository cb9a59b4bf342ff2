"""``vcrgen doctor``: checks of the installation, with a remedy for each fault. Nothing here raises."""

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
from vcrgen.extras import EXTRAS, install_command

PILLOW = "pip install --force-reinstall pillow"
REINSTALL = "install vcrgen again: pip install --force-reinstall vcrgen"
# Feature of Pillow to what it is for.
CODECS = {
    "jpg": "JPEG",
    "libjpeg_turbo": "JPEG: libjpeg-turbo",
    "webp": "WebP",
    "avif": "AVIF",
    "libtiff": "TIFF",
    "jpg_2000": "JPEG 2000",
    "zlib": "PNG: zlib",
    "zlib_ng": "PNG: zlib-ng",
}
NEEDED_CODECS = frozenset({"jpg", "webp", "zlib"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of a check."""

    group: str
    name: str
    value: str  # a version, a number, or an error
    ok: bool | None  # None: optional and missing, or only informative
    hint: str = ""  # the remedy


def diagnose() -> list[Finding]:
    """Run all checks; one that fails becomes a finding, too."""
    findings: list[Finding] = []
    for group, check in _CHECKS.items():
        try:
            findings += check(group)
        except Exception as error:
            findings.append(Finding(group=group, name="check", value=_first_line(error), ok=False, hint=REINSTALL))
    return findings


def _probe(group: str, name: str, look: Callable[[], object], *, hint: str, optional: bool = False) -> Finding:
    """Return a finding with the value of ``look``, or with its error and the hint."""
    try:
        return Finding(group=group, name=name, value=str(look()), ok=True)
    except Exception as error:
        return Finding(group=group, name=name, value=_first_line(error), ok=None if optional else False, hint=hint)


def _first_line(error: Exception) -> str:
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
    from vcrgen.typeset.fonts import font_registry

    for entry in font_registry().values():
        name = entry.family if entry.weight == "regular" else f"{entry.family} {entry.weight}"
        identity = f"{entry.version}, sha256 {entry.sha256[:12]}"
        if entry.fetched and not entry.is_installed:
            yield Finding(group=group, name=name, value=f"{identity}, not here", ok=None, hint=entry.remedy)
        else:
            finding = _probe(group, name, entry.verified_path, hint="")
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
        hint = PILLOW if needed else "images that need it are read otherwise or rejected"
        yield _probe(group, name, partial(_feature, feature), hint=hint, optional=not needed)
    hint = "pip install --force-reinstall deflate zlib-ng"
    yield _probe(group, "PNG: what vcrgen writes with", _deflate, hint=hint)


def _feature(name: str) -> str:
    """Version of a part of Pillow."""
    from PIL import features

    if not features.check(name):
        raise LookupError("not in this Pillow")
    return features.version(name) or "unknown version"


def _deflate() -> str:
    from deflate import zlib_compress
    from zlib_ng import zlib_ng

    for compress in (zlib_ng.compress, zlib_compress):
        if zlib_ng.decompress(compress(b"vcrgen")) != b"vcrgen":
            raise RuntimeError("gives other bytes back than it was given")
    return f"zlib-ng {version('zlib-ng')}, deflate {version('deflate')}"


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


def _extras(group: str) -> Iterator[Finding]:
    for name, extra in EXTRAS.items():
        hint = f"only for {extra.use}: {install_command(name)}"
        for package in extra.packages:
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
    """Check the installation: segmenters, pipelines, fonts, layout engines, image codecs; exit code 1 on a fault."""
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
