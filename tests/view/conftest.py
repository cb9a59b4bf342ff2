"""Small datasets of the built-in pairs, and outputs."""

import json
from pathlib import Path

import pytest

from vcrgen.builder.run import build
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR


@pytest.fixture(scope="session")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Chinese pairs, hard only."""
    out = tmp_path_factory.mktemp("publish") / "vcr-zh"
    build("samples", out=out, limit=6, lang="zh", mode="hard")
    return out


@pytest.fixture(scope="session")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """English pairs at three levels of ink."""
    out = tmp_path_factory.mktemp("publish") / "ladder"
    build("samples:3", out=out, mode="ink=0.05,0.3,0.7")
    return out


@pytest.fixture(scope="session")
def outputs(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Outputs of two models to the six pairs: the second is right once, and lacks a pair in the easy mode."""
    folder = tmp_path_factory.mktemp("outputs")
    good, poor = folder / "good.jsonl", folder / "poor.jsonl"
    lines: dict[Path, list[str]] = {good: [], poor: []}
    for mode in ("easy", "hard"):
        for number, (_, row) in enumerate(open_dataset(dataset, VCR).select(mode=mode).rows()):
            answers = row["crossed_text"]
            near = [" ".join([*answer.split()[:-1], "xyz"]) for answer in answers]
            said = [
                "nothing of this can be seen here",
                "I cannot read it",
                "; ".join(near),
                "; ".join(answers),
                "",
                "it is a picture",
            ]
            texts = {good: "; ".join(answers) if number != 3 else "; ".join(near), poor: said[number]}
            for file, text in texts.items():
                if file is good or (number, mode) != (5, "easy"):
                    line = {"question_id": row["question_id"], "mode": mode, "view": "stacked", "output": text}
                    lines[file].append(json.dumps({"model": file.stem, **line}))
    for file, text_lines in lines.items():
        file.write_text("\n".join(text_lines), "utf-8")
    return [good, poor]
