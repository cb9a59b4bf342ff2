"""Sentences from templates: values stay within their sentence, and empty ones are left out."""

from pathlib import Path

import pytest

from vcrgen.report.templating import Sentences, named


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "made_reports" / "templates"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    blocks = {
        "one": "{% if few %}\nOnly {{ models }} models.\n{% endif %}\n\n{{ name }} is\nkept, at {{ share }}.",
        "two": "{{ 1 | pluralize('task') }}, {{ names | named }}",
    }
    texts = (f"{{% block {name} %}}\n{text}\n{{% endblock %}}\n" for name, text in blocks.items())
    (folder / "a.j2").write_text("".join(texts))
    monkeypatch.syspath_prepend(str(tmp_path))
    return "made_reports"


def test_paragraphs_of_a_block(package: str) -> None:
    values = {"models": 1200, "name": "<a>\n\n{% b %}\x1b", "share": 0.750}
    assert Sentences(package, "a.j2").paragraphs("one", few=True, **values) == [
        "Only 1,200 models.",
        "<a> {% b %} is kept, at 0.75.",
    ]
    assert Sentences(package, "a.j2").paragraphs("one", few=False, **values) == ["<a> {% b %} is kept, at 0.75."]
    assert Sentences(package, "a.j2").paragraphs("two", names=list("abcdefg")) == ["1 task, a, b, c, d, e and 2 more"]


def test_names_that_fit_are_all_there() -> None:
    assert named(list("abcde")) == "a, b, c, d, e"
