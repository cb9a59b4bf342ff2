"""The trained path, with a small pipeline that is trained here; the built-in path and what signatures say."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.training import Example
from spacy.util import fix_random_seed

from vcrgen.core.errors import PipelineError
from vcrgen.text.eligibility import ineligible_reason, selectable_ngrams
from vcrgen.text.pipelines import load_pipeline

NAMES = ["Ada Lindqvist", "Otto Brandt", "Mira Kovacs", "Paul Okoro"]
PATTERNS = [
    "{} was reading a long book there",
    "the picture shows {} near an old wall",
    "a walk with {} in the evening",
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline that has learnt to see four persons."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("ner")
    examples = []
    for name in NAMES:
        for pattern in PATTERNS:
            start = pattern.index("{}")
            doc = nlp.make_doc(pattern.format(name))
            examples.append(Example.from_dict(doc, {"entities": [(start, start + len(name), "PERSON")]}))
    nlp.initialize(lambda: examples)
    for _ in range(20):
        nlp.update(examples)
    nlp.meta.update({"name": "tiny", "version": "1.2.3"})
    folder = tmp_path_factory.mktemp("models") / "tiny"
    nlp.to_disk(folder)
    return folder


def test_a_trained_pipeline_decides_what_a_name_is(trained: Path) -> None:
    pipeline = load_pipeline("en", str(trained))
    doc = pipeline.nlp("Ada Lindqvist was reading a long book there")
    assert [ineligible_reason(token) for token in doc[:3]] == ["entity:PERSON", "entity:PERSON", None]
    assert [span.text for span in selectable_ngrams(doc, 5)] == ["was reading a long book", "reading a long book there"]
    assert pipeline.eligibility == "en_tiny-1.2.3"
    assert not pipeline.tags_nouns


@pytest.mark.parametrize(("attrs", "finds"), [({"POS": "NOUN"}, True), ({"LEMMA": "page"}, False)])
def test_rules_may_set_parts_of_speech(trained: Path, tmp_path: Path, attrs: dict[str, str], finds: bool) -> None:
    nlp = spacy.load(trained)
    nlp.add_pipe("attribute_ruler", name="rules").add([[{"LOWER": "page"}]], attrs)  # type: ignore[attr-defined]
    nlp.to_disk(tmp_path / "ruled")
    pipeline = load_pipeline("en", str(tmp_path / "ruled"))
    assert pipeline.tags_nouns is finds
    assert (pipeline.nlp("a long page")[2].pos_ == "NOUN") is finds


def test_a_build_with_a_trained_pipeline_says_so(trained: Path, tmp_path: Path) -> None:
    from vcrgen.builder.run import build

    result = build("samples:6", out=tmp_path / "out", spacy_model=str(trained))
    assert result.manifest.signature.facts["elig"] == "en_tiny-1.2.3+told-1+markup-1"


@pytest.mark.parametrize(
    ("lang", "model", "message"),
    [
        ("en", "en_core_web_sm", "python -m spacy download en_core_web_sm"),
        ("en", "/nowhere/model", "is not installed"),
        ("zh", "TRAINED", "is for 'en', not for 'zh'"),
        ("en", "BLANK", "finds no entities"),
        ("en", "RUBBISH", "cannot be loaded|is not installed"),
    ],
)
def test_pipelines_that_cannot_be_used(trained: Path, tmp_path: Path, lang: str, model: str, message: str) -> None:
    spacy.blank("en").to_disk(tmp_path / "blank")
    (tmp_path / "rubbish").mkdir()
    (tmp_path / "rubbish" / "meta.json").write_text("{}")
    (tmp_path / "rubbish" / "config.cfg").write_text("nonsense")
    paths = {"TRAINED": trained, "BLANK": tmp_path / "blank", "RUBBISH": tmp_path / "rubbish"}
    with pytest.raises(PipelineError, match=message) as error:
        load_pipeline(lang, str(paths.get(model, model)))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("lang", "segmenter"), [("en", "spacy-"), ("zh", "jieba-0.42.1")])
def test_built_in_pipelines_are_named(lang: str, segmenter: str) -> None:
    pipeline = load_pipeline(lang)
    assert segmenter in pipeline.segmenter
    assert pipeline.eligibility.startswith(f"builtin-{lang}-")


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("12 boats", ["number", None]),
        ("boats , 3rd and £5", [None, "punct", "number", None, "punct", "number"]),
        ("boats   there", [None, "space", None]),
    ],
)
def test_one_rule_for_all_pipelines(text: str, reasons: list[str | None]) -> None:
    assert [ineligible_reason(token) for token in spacy.blank("en")(text)] == reasons


BUILD = """
import os, sys
from vcrgen.cli import app
log, out = sys.argv[1:]
sys.argv[1:] = ["build", "--limit", "2", "--shard-size", "1", "--workers", "2", "--out", out]
try:
    app()
except SystemExit as end:
    print(end.code, os.path.exists(log))
import torch
"""


@pytest.mark.process
def test_torch_stays_out(tmp_path: Path) -> None:
    """SpaCy is loaded without an installed torch, in workers, too; afterwards torch can be imported."""
    (tmp_path / "path").mkdir()
    log = tmp_path / "log"
    (tmp_path / "path/torch.py").write_text(f"open({str(log)!r}, 'a').write('x')\nraise ImportError('a false torch')\n")
    path = os.pathsep.join((str(tmp_path / "path"), str(Path(__file__).parents[2])))
    command = [sys.executable, "-c", BUILD, str(log), str(tmp_path / "data")]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path})
    assert done.stdout.splitlines()[-1] == "0 False", done.stderr
    assert "a false torch" in done.stderr and log.exists()
