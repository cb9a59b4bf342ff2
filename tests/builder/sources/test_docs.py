"""Every command of docs/sources.md runs; the first one prints what the page shows, the others such a sum."""

import gzip
import json
import re
from pathlib import Path

from tests.pages import Page, Run, squeeze, succeed
from vcrgen.samples import sample_pair

PAGE = Page("docs/sources.md")


def write_photos() -> None:
    """Pictures beside text files, half of them with the mistakes that the page shows."""
    folder = Path("photos/1_cat")
    folder.mkdir(parents=True)
    for number in range(12):
        pair = sample_pair("en", number)
        (folder / f"{number:04}.jpg").write_bytes(pair.image)
        (folder / f"{number:04}.txt").write_text(pair.caption)
    (folder / "0003.jpg").write_bytes(b"no picture")
    (folder / "0005.txt").write_text("")
    (folder / "0006.jpg").unlink()
    (folder / "0008.txt").write_bytes("Ein Café am Ufer des kleinen Sees".encode("latin-1"))
    (folder / "0009.txt").write_text("Кошка сидит на тёплой крыше старого дома", "utf-8")
    (folder / "0010.txt").write_bytes((folder / "0001.txt").read_bytes())
    (folder / "0010.jpg").write_bytes((folder / "0001.jpg").read_bytes())


def test_the_commands(run: Run) -> None:
    Path("images/val2014").mkdir(parents=True)
    write_photos()
    pairs = [sample_pair("en", number) for number in range(3)]
    for number, pair in enumerate(pairs):
        for name in (f"images/{number}", f"images/val2014/{number}"):
            Path(f"{name}.jpg").write_bytes(pair.image)
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
    first, *others = PAGE.commands
    printed = map(squeeze, succeed(run, first).splitlines())
    block, _ = (text for kind, text in PAGE.blocks if kind == "text")
    assert set(map(squeeze, block.splitlines())) <= set(printed)
    (example,) = (text for kind, text in PAGE.blocks if kind == "json")
    assert example in Path("data/vcr-photos-en-both/rejects.jsonl").read_text("utf-8")
    assert [re.findall("^Sum: (.*)$", succeed(run, line), re.MULTILINE) for line in others] == [
        ["3 rows with 6 captions = 6 pairs"],
        ["3 rows without the 1 that --where leaves out with 4 captions = 2 pairs + 2 captions left out"],
        ["3 rows = 3 pairs"],
    ]
