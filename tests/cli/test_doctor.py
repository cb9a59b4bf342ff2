"""The doctor says what is wrong and never fails itself."""

import importlib.metadata
import tempfile
from typing import Any

import pytest
from PIL import features

from vcrgen.cli import doctor
from vcrgen.cli.doctor import Finding, diagnose
from vcrgen.errors import ConfigError, FontError


@pytest.fixture(scope="module")
def findings() -> list[Finding]:
    return diagnose()


def by_name(findings: list[Finding], group: str) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings if finding.group == group}


def test_nothing_is_wrong_where_the_tests_run(findings: list[Finding]) -> None:
    assert [finding for finding in findings if finding.ok is False] == []


def test_every_dependency_is_named_with_its_version(findings: list[Finding]) -> None:
    packages = by_name(findings, "packages")
    assert packages["spacy"].value == importlib.metadata.version("spacy")
    assert "pytest" not in packages


def test_how_to_install_a_dictionary_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(code: str) -> str:
        raise ConfigError("Japanese needs a dictionary: pip install 'vcrgen[japanese]'.")

    monkeypatch.setattr(doctor, "_segmenter", missing)
    found = by_name(list(doctor._segmenters("g")), "g")
    assert found["Japanese"].ok is None and not found["Japanese"].hint
    assert found["English"].ok is False and "again" in found["English"].hint


@pytest.mark.parametrize("name", ["en_core_web_sm", "zh_core_web_sm"])
def test_a_missing_trained_pipeline_is_optional(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spacy.util.get_installed_models", lambda: [])
    finding = by_name(list(doctor._trained_pipelines("g")), "g")[name]
    assert finding.ok is None and f"python -m spacy download {name}" in finding.hint


def test_an_installed_trained_pipeline_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spacy.util.get_installed_models", lambda: ["en_core_web_md"])
    monkeypatch.setattr(doctor, "version", lambda name: "3.8.0")
    found = by_name(list(doctor._trained_pipelines("g")), "g")
    assert found["en_core_web_md"].value == "3.8.0, language en" and "en_core_web_sm" not in found


def fail(error: Exception) -> Any:
    def raise_it(*args: Any, **kwargs: Any) -> Any:
        raise error

    return raise_it


@pytest.mark.parametrize(
    ("target", "error", "group", "name"),
    [
        ("vcrgen.typeset.fonts.font_registry", FontError("The shipped font x is missing."), "fonts", "check"),
        ("vcrgen.text.pipelines.load_pipeline", ImportError("jieba"), "segmenters", "Chinese"),
        ("vcrgen.cli.doctor.requires", importlib.metadata.PackageNotFoundError("vcrgen"), "packages", "check"),
        ("spacy.util.get_installed_models", RuntimeError(), "trained pipelines", "check"),
        ("zlib_ng.zlib_ng.decompress", ValueError("bad"), "images", "PNG: what vcrgen writes with"),
    ],
)
def test_what_fails_is_a_finding_with_a_hint(
    target: str, error: Exception, group: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target, fail(error))
    finding = by_name(diagnose(), group)[name]
    assert finding.ok is False and finding.value and finding.hint


def test_a_temporary_folder_that_cannot_be_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", fail(PermissionError(13, "Permission denied")))
    bad = [finding for finding in diagnose() if finding.ok is False]
    assert [finding.group for finding in bad] == ["machine"] and "TMPDIR" in bad[0].hint


def test_codecs_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "check", lambda name: False)
    found = by_name(list(doctor._images("g")), "g")
    assert found["JPEG"].ok is False and found["AVIF"].ok is None
    drawing = by_name(list(doctor._text_drawing("g")), "g")
    assert drawing["raqm layout"].ok is None and "harfbuzz" not in drawing


def test_a_package_of_the_wrong_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "requires", lambda name: ["numpy>=999", "pytest; extra == 'dev'"])
    (finding,) = doctor._dependencies("g")
    assert finding.ok is False and finding.hint == 'pip install "numpy>=999"'
