"""The commands of docs/hidden.md run, one after another."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

from tests.hidden.conftest import samples_of, write_pairs
from tests.pages import Page, Run, squeeze, succeed
from vcrgen.builder.run import build
from vcrgen.hidden.reference import caption_start

PAGE = Page("docs/hidden.md")


def test_the_commands_of_the_page(run: Run, serve: Any) -> None:
    assert len(PAGE.commands) >= 4
    pairs = samples_of(range(40))
    write_pairs(Path("pairs.parquet"), pairs)
    write_pairs(Path("known.parquet"), pairs[:5])
    build("known.parquet", out=Path("data/my-vcr"))
    said, server = "", serve()
    for line in PAGE.commands:
        if "hidden-preds.jsonl" in line:
            ids = [
                json.loads(row)["question_id"]
                for row in Path("hidden-2026/public/metadata.jsonl").read_text().splitlines()
            ]
            rows = [{"question_id": one, "view": "stacked", "output": "nothing"} for one in ids]
            Path("hidden-preds.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        fewer = re.sub(r"--items \d+", "--items 3", line)  # each takes seconds, and each strip
        fewer = fewer.replace("http://127.0.0.1:8000/v1", server.url)
        said += succeed(run, fewer.replace("hidden verify", "hidden verify --strips 0"))
    outputs = [line for kind, text in PAGE.blocks if kind == "text" for line in text.splitlines()]
    assert len(outputs) == 6 and all(squeeze(line) in squeeze(said) for line in outputs)
    keys = [Path("hidden-2026/key"), Path("forms-2026/form-1/key"), Path("forms-2026/form-2/key")]
    captions = [
        {caption_start(json.loads(line)["caption"]) for line in (key / "answers.jsonl").read_text("utf-8").splitlines()}
        for key in keys
    ]
    assert not [a & b for a, b in itertools.combinations(captions, 2) if a & b]
