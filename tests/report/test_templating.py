"""Resources that a page may load, and parts that all pages share."""

import base64
import hashlib
import re
import sys
from pathlib import Path

import pytest

import vcrgen
from vcrgen.report.table import Table
from vcrgen.report.templating import Templates

PACKAGE = Path(vcrgen.__file__).parent
SHEETS = sorted(PACKAGE.rglob("*.css"))
TEMPLATES = sorted(PACKAGE.rglob("templates/*.html"))
HOSTILE = "</script></style><script>alert(1)</script>\"'`<img src=x onerror=alert(2)>{{ 7*7 }}"


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with templates of its own."""
    folder = tmp_path / "aroom" / "templates"
    folder.mkdir(parents=True)
    (tmp_path / "aroom/__init__.py").touch()
    (folder / "own.css").write_text(".own { color: red; }\n", "utf-8")
    (folder / "own.js").write_text('"use strict";\n', "utf-8")
    body = '{% extends "base.html" %}{% block body %}<p>{{ text }}</p>{{ text | script_json }}{% endblock %}'
    (folder / "page.html").write_text(body, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "aroom", raising=False)  # that of another test
    return folder


def digest(page: str, tag: str) -> str:
    (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
    return base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()


def rules(page: str) -> dict[str, str]:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    return dict(rule.split(" ", 1) for rule in policy.replace("&#39;", "'").split("; "))


def test_a_page_may_load_its_own_style_and_script_and_nothing_else(room: Path) -> None:
    page = Templates("aroom", style="own.css", script="own.js").render("page.html", title="Title", text="text")
    assert rules(page) == {
        "default-src": "'none'",
        "img-src": "data:",
        "style-src": f"'sha256-{digest(page, 'style')}'",
        "script-src": f"'sha256-{digest(page, 'script')}'",
        "form-action": "'none'",
        "base-uri": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    assert ".own { color: red; }" in page and "--ground: #f6f4ef" in page


def test_a_page_without_a_script_may_run_none(room: Path) -> None:
    page = Templates("aroom", style="own.css").render("page.html", title="Title", text="text")
    assert "script-src" not in rules(page) and "<script" not in page


def test_forms_and_headers(room: Path) -> None:
    templates = Templates("aroom", style="own.css", forms=True)
    assert "form-action 'self'" in templates.policy()
    assert templates.policy(header=True) == f"{templates.policy()}; frame-ancestors 'none'"
    assert "unsafe" not in templates.policy()


def test_a_text_stays_a_text(room: Path) -> None:
    page = Templates("aroom", style="own.css").render("page.html", title=HOSTILE, text=HOSTILE)
    assert "<img" not in page and "<script" not in page and "49" not in page.split("</head>")[1]
    assert page.count("&lt;/script&gt;") == 4, "in the title and in the paragraph"


def test_labels_of_a_table_stand_in_their_own_direction(room: Path) -> None:
    """The name of a model may be read from right to left, and must not turn what is beside it."""
    body = '{% extends "base.html" %}{% import "shared.html" as s %}{% block body %}{{ s.table(each) }}{% endblock %}'
    (room / "table.html").write_text(body, "utf-8")
    each = Table(title="t", heads=["Model", "Spans"], labels=1, rows=[["قط (12)", 3]])
    page = Templates("aroom", style="own.css").render("table.html", title="t", each=each)
    assert "<td><bdi>قط (12)</bdi></td>" in page and '<td class="n">3</td>' in page


@pytest.mark.parametrize("file", SHEETS, ids=lambda file: file.name)
def test_a_style_loads_nothing(file: Path) -> None:
    assert not re.search(r"url\(|@import|@font-face|expression\(", file.read_text("utf-8"))


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_a_template_has_no_style_no_handler_and_nothing_unescaped(file: Path) -> None:
    text = file.read_text("utf-8")
    assert not re.search(r"\s(style|on\w+)=|\|\s*safe\b|autoescape", text)
    assert file.name == "base.html" or "<!doctype" not in text.lower(), "one skeleton"


def test_only_one_place_knows_policies_and_renders() -> None:
    for file in PACKAGE.rglob("*.py"):
        source = file.read_text("utf-8")
        if file != PACKAGE / "report/templating.py":
            assert not any(text in source for text in ("default-src", "import jinja2", "from jinja2")), file


def _luminance(colour: str) -> float:
    channels = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_can_be_read_on_their_grounds(scheme: int) -> None:
    style = (PACKAGE / "report/templates/base.css").read_text("utf-8")
    block = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[scheme]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
    pairs = [(ink, on) for ink in ("ink", "quiet", "accent", "other", "alarm") for on in ("ground", "card", "well")]
    for ink, on in [*pairs, ("on-accent", "accent"), ("ink", "mark")]:
        light, dark = sorted((_luminance(colours[ink]), _luminance(colours[on])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, on)
