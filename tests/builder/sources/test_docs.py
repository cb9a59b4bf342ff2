"""Every command of docs/sources.md runs, and the sums that it prints are those of the page's form."""

import gzip
import json
import re
from pathlib import Path

from tests.pages import Page, Run, succeed
from vcrgen.samples import sample_pair


def test_the_commands(run: Run) -> None:
    for name in ("images/val2014", "photos/1_cat"):
        Path(name).mkdir(parents=True)
    pairs = [sample_pair("en", number) for number in range(3)]
    for number, pair in enumerate(pairs):
        for name in (f"images/{number}", f"images/val2014/{number}", f"photos/1_cat/{number}"):
            Path(f"{name}.jpg").write_bytes(pair.image)
        Path(f"photos/1_cat/{number}.txt").write_text(pair.caption)
    captions = [pair.caption for pair in pairs]
    coco = {
        "images": [{"id": number, "file_name": f"{number}.jpg"} for number in range(3)],
        "annotations": [{"image_id": number, "caption": text} for text in captions[:2] for number in range(3)],
    }
    karpathy = {
        "images": [
            {
                "filepath": "val2014",
                "filename": f"{number}.jpg",
                "split": "test" if number else "train",
                "imgid": number,
                "sentences": [{"raw": text} for text in captions[:2]],
            }
            for number in range(3)
        ]
    }
    Path("captions.json").write_text(json.dumps(coco))
    Path("karpathy.json").write_text(json.dumps(karpathy))
    rows = "".join(f"images/{number}.jpg\t{text}\n" for number, text in enumerate(captions))
    Path("pairs.tsv.gz").write_bytes(gzip.compress(f"path\ttitle\n{rows}".encode()))
    sums = [re.findall("^Sum: (.*)$", succeed(run, line), re.MULTILINE) for line in Page("docs/sources.md").commands]
    assert sums == [
        ["3 rows = 3 pairs"],
        ["3 rows with 6 captions = 6 pairs"],
        ["3 rows without the 1 that --where leaves out with 4 captions = 2 pairs + 2 captions left out"],
        ["3 rows = 3 pairs"],
    ]
