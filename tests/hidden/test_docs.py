"""The commands of docs/hidden.md run, one after another."""

import itertools
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from vcrgen.builder.run import build
from vcrgen.hidden.reference import caption_start
from vcrgen.samples import sample_pair

PAGE = Path(__file__).resolve().parents[2] / "docs" / "hidden.md"


def test_the_commands_of_the_page(run: Callable[..., tuple[int, str, str]]) -> None:
    blocks = re.findall(r"```bash\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)
    commands = [shlex.split(line) for line in "".join(blocks).splitlines()]
    assert len(commands) >= 4 and {words[0] for words in commands} == {"vcrgen"}
    pairs = [sample_pair("en", index) for index in range(40)]
    images = pa.array([pair.image for pair in pairs], pa.binary())
    pq.write_table(pa.table({"image": images, "caption": [pair.caption for pair in pairs]}), "pairs.parquet")
    pq.write_table(pa.table({"image": images[:5], "caption": [pair.caption for pair in pairs[:5]]}), "known.parquet")
    build("known.parquet", out=Path("data/my-vcr"))
    for words in commands:
        if "hidden-preds.jsonl" in words:
            ids = [
                json.loads(line)["question_id"]
                for line in Path("hidden-2026/public/metadata.jsonl").read_text().splitlines()
            ]
            rows = [{"question_id": one, "view": "stacked", "output": "nothing"} for one in ids]
            Path("hidden-preds.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        code, out, err = run(*words[1:])
        assert code == 0, out + err
    keys = [Path("hidden-2026/key"), Path("forms-2026/form-1/key"), Path("forms-2026/form-2/key")]
    captions = [
        {caption_start(json.loads(line)["caption"]) for line in (key / "answers.jsonl").read_text("utf-8").splitlines()}
        for key in keys
    ]
    assert not [a & b for a, b in itertools.combinations(captions, 2) if a & b]
