"""Scenes of files in place of the author's: the form of BloomBench's repository, and what is not of it."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bloom.author import good, stage_of
from tests.bloom.conftest import done
from tests.models.fault_server import FaultServer
from vcrgen.bloom.generation.scenario_files import read_scenarios
from vcrgen.bloom.taxonomy import default_taxonomy
from vcrgen.core.errors import ConfigError
from vcrgen.data.manifest import read_manifest

NAMES = {
    "Create -_ Creative Generation - Poem": "create/creative generation/poem",
    "Create - Visual Stroytelling": "create/creative generation/visual storytelling",
    "Remember -> Recognition -> Object Recognition -> Attribute Recognition - Color": (
        "remember/attribute recognition/color"
    ),
    "Evaluate -_ Harm & Safety Evaluation - Age-Appropriateness": (
        "evaluate/harm & safety evaluation/age-appropriateness"
    ),
    "Apply - Clock Reading": None,
}


def write(folder: Path, name: str, scenes: int = 3) -> None:
    folder.mkdir(exist_ok=True)
    texts = [f"Scene {number} of {name.lower()}" for number in range(scenes)]
    (folder / f"{name}.json").write_text(json.dumps({"scenarios": texts, "keywords": [f"boat {n}" for n in texts]}))


def test_files_are_filed_by_their_names(tmp_path: Path) -> None:
    for name in NAMES:
        write(tmp_path / "scenarios", name)
    found = read_scenarios(tmp_path / "scenarios", default_taxonomy())
    assert set(found.scenes) == {path for path in NAMES.values() if path}
    assert found.unknown == ["Apply - Clock Reading.json"]
    assert found.scenes["create/creative generation/poem"][1].keywords == (
        "boat Scene 1 of create -_ creative generation - poem",
    )
    digest = found.digest
    write(tmp_path / "scenarios", "Create -_ Creative Generation - Poem", 4)
    assert read_scenarios(tmp_path / "scenarios", default_taxonomy()).digest != digest
    assert read_scenarios(None, default_taxonomy()).scenes == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not JSON"),
        ('{"scenarios": ["a"], "keywords": []}', "two lists of as many texts"),
        ('{"scenarios": ["a", ""], "keywords": ["b", "c"]}', "two lists of as many texts"),
        ('["a"]', "two lists of as many texts"),
    ],
)
def test_what_is_not_of_the_form_is_told(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "Create - Poem.json").write_text(text)
    with pytest.raises(ConfigError, match=problem):
        read_scenarios(tmp_path, default_taxonomy())


def test_a_folder_without_scenes_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no folder with 1 to"):
        read_scenarios(tmp_path / "none", default_taxonomy())
    write(tmp_path / "s", "Apply - Clock Reading")
    with pytest.raises(ConfigError, match=r"named after a category .* 'Apply - Clock Reading\.json'"):
        read_scenarios(tmp_path / "s", default_taxonomy())


def test_a_set_takes_scenes_from_files_and_asks_for_the_others(run: Callable[..., tuple[int, str, str]]) -> None:
    write(Path("scenarios"), "Create -_ Creative Generation - Poem")
    write(Path("scenarios"), "Apply - Clock Reading")
    Path("few.csv").write_text(
        "level,subcategory,leaf\ncreate,creative generation,poem\nremember,core object recognition,animals\n"
    )
    words = (
        "bloom build samples:40 --model M --judge J --taxonomy few.csv --per-category 3 --scenarios scenarios "
        "--out made"
    )
    plan = "bloom build --plan samples:40 --taxonomy few.csv --per-category 3"
    calls = [
        next(line for line in run(*text.split())[1].splitlines() if "scenario" in line).split()[1:]
        for text in (plan, f"{plan} --scenarios scenarios")
    ]
    with FaultServer(good) as server:
        done(run, *words.split(), "--endpoint", server.url)
        assert Counter(map(stage_of, server.calls))["scenario"] == 1
        asked = [call for call in server.calls if stage_of(call) == "fitness"]
        assert any("Scene 0 of create" in str(call.body) for call in asked)
    assert (
        read_manifest(Path("made")).config["scenarios"] == read_scenarios(Path("scenarios"), default_taxonomy()).digest
    )
    card = Path("made/README.md").read_text()
    assert "3 scenes of 1 category are from files" in card and "Apply - Clock Reading" in card
    assert calls[0] != calls[1]
    code, _, err = run(*words.split(), "--themes", "themes.yaml", "--offline")
    assert code == 2 and "--scenarios has scenes of its own settings" in err
