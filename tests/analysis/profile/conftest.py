"""Profiles of the published scores, and an MCQ benchmark that two simulated models have answered."""

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from tests.bloom.conftest import PATHS, made_set, png, row
from vcrgen.analysis.profile.example import example_profiles
from vcrgen.analysis.profile.profiles import Profiles
from vcrgen.cli import app

ITEMS = 240
SKILLS = {"good": (0.9, 0.75), "weak": (0.6, 0.5)}  # in English and Arabic


class Scored(NamedTuple):
    """An MCQ benchmark with the saved scores of two models, and the true results."""

    folder: Path
    files: list[Path]
    right: dict[tuple[str, str, str, str], list[bool]]  # by model, language, view and metric: of each item


@pytest.fixture(scope="session")
def published() -> Profiles:
    return example_profiles()


def lines_of(model: str, rows: list[dict[str, Any]], right: dict[tuple[str, str, str, str], list[bool]]) -> list[str]:
    """Outputs of a model of known skill: an answer and log-probabilities with the picture, guesses without it."""
    rng, lines = random.Random(model), []
    for place, lang in enumerate(("en", "ar")):
        for view in ("image", "text-only"):
            skill = SKILLS[model][place] if view == "image" else 0.25
            for each in rows:
                key = "ABCD".index(each["answer"])
                said, likeliest = (
                    key if rng.random() < chance else (key + rng.randrange(1, 4)) % 4 for chance in (skill, skill - 0.1)
                )
                logprobs = [[-2.0 - 3 * rng.random(), -0.5] for _ in range(4)]
                logprobs[likeliest] = [-0.1, -1.2 * rng.random()]
                right.setdefault((model, lang, view, "rae"), []).append(said == key)
                right.setdefault((model, lang, view, "lbs"), []).append(likeliest == key)
                lines.append(
                    json.dumps(
                        {
                            "question_id": each["question_id"],
                            "lang": lang,
                            "view": view,
                            "model": model,
                            "output": f"Answer: {'ABCD'[said]}",
                            "logprobs": logprobs,
                        }
                    )
                )
    return lines


@pytest.fixture(scope="session")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Scored:
    """Two models on 240 items of which four share a picture, scored by ``vcrgen score``."""
    folder = tmp_path_factory.mktemp("scored")
    categories = [path for path in PATHS if path.partition("/")[2].partition("/")[2]][::9]
    rows = [row(number, path=categories[number % len(categories)]) for number in range(ITEMS)]
    for number, each in enumerate(rows):
        each["image"] = {"bytes": png(f"#{number // 4:06x}"), "path": None}
    data = made_set(folder / "set", rows)
    right: dict[tuple[str, str, str, str], list[bool]] = {}
    for model in SKILLS:
        (folder / f"{model}.jsonl").write_text("\n".join(lines_of(model, rows, right)) + "\n", "utf-8")
        result = CliRunner().invoke(app, ["score", str(folder / f"{model}.jsonl"), "--data", str(data)])
        assert result.exit_code == 0, result.output
    return Scored(folder, [folder / f"{model}.scores.json" for model in SKILLS], right)
