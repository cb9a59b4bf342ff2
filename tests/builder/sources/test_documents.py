"""COCO's captions files and Karpathy's splits: every caption goes to its own picture, and each is counted."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builder.sources.conftest import items_of
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.sources import RowCounts, documents, iter_items, open_source
from vcrgen.core.errors import SourceError


def write(folder: Path, document: Any, *, name: str = "captions.json", indent: int | None = None) -> str:
    (folder / name).write_text(json.dumps(document, indent=indent))
    return str(folder / name)


def coco(captions: dict[int, list[str]], order: list[tuple[int, int]]) -> dict[str, Any]:
    """A captions file as COCO's, its annotations in some order."""
    return {
        "info": {"description": "COCO 2014 Dataset", "url": "http://cocodataset.org"},
        "images": [
            {"license": 5, "file_name": f"COCO_{own_id:012d}.jpg", "coco_url": "http://x", "height": 360, "id": own_id}
            for own_id in captions
        ],
        "licenses": [{"url": "http://creativecommons.org", "id": 1, "name": "BY"}],
        "annotations": [
            {"image_id": own_id, "id": 1000 + place, "caption": captions[own_id][place]} for own_id, place in order
        ],
    }


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_coco(tmp_path: Path, data: st.DataObject) -> None:
    counts_of = data.draw(st.dictionaries(st.integers(1, 99), st.integers(0, 4), min_size=1, max_size=6))
    captions = {own_id: [f"{own_id} is shown {n}" for n in range(count)] for own_id, count in counts_of.items()}
    order = data.draw(st.permutations([(own_id, n) for own_id, count in counts_of.items() for n in range(count)]))
    if not order:
        return
    file = write(tmp_path, coco(captions, order), indent=data.draw(st.sampled_from([None, 1])))
    for own_id in captions:
        (tmp_path / f"COCO_{own_id:012d}.jpg").write_bytes(b"%d" % own_id)
    in_order = {own_id: [captions[i][n] for i, n in order if i == own_id] for own_id in captions}
    items = items_of(BuildConfig(source=file, captions="each"))
    found = [(item.image, item.caption) for item in items if item.caption is not None]
    assert found == [(b"%d" % own_id, text) for own_id, texts in in_order.items() for text in texts]
    assert len(items) == len(order) + list(counts_of.values()).count(0)
    first = [(item.source_id, item.caption) for item in items_of(BuildConfig(source=file))]
    assert first == [(str(own_id), texts[0] if texts else None) for own_id, texts in in_order.items()]


def test_the_example_of_a_report(tmp_path: Path) -> None:
    """The picture of the second entry was given the caption of the first annotation, whosever it was."""
    document = {
        "images": [{"id": 1, "file_name": "0.jpg"}, {"id": 2, "file_name": "1.jpg"}],
        "annotations": [{"image_id": 2, "caption": "a boat"}, {"image_id": 7, "caption": "lost"}, {"image_id": [2]}],
    }
    for name in "01":
        (tmp_path / f"{name}.jpg").write_text(name)
    for file in (
        write(tmp_path, document),
        write(tmp_path, document, indent=2),
        write(tmp_path, {**document, "images": document["images"][::-1]}),
    ):
        found = {
            item.source_id: (item.image, item.caption, item.problem) for item in items_of(BuildConfig(source=file))
        }
        assert found == {
            "1": (b"0", None, ""),
            "2": (b"1", "a boat", ""),
            "captions.json#2": (None, None, "annotation 1 is of the picture 7, which is not listed"),
            "captions.json#3": (None, None, "annotation 2 is of the picture [2], which is not listed"),
        }


KARPATHY = {
    "images": [
        {
            "filepath": "val2014",
            "sentids": [2 * n, 2 * n + 1],
            "filename": f"COCO_{n}.jpg",
            "imgid": n,
            "split": "test" if n % 2 else "train",
            "sentences": [
                {"tokens": ["a", "man"], "raw": f"A man, {n}.", "imgid": n, "sentid": 2 * n},
                {"tokens": ["the", "tall", "man"], "raw": f"The tall man, {n}.", "imgid": n, "sentid": 2 * n + 1},
            ],
            "cocoid": 400 + n,
        }
        for n in range(4)
    ],
    "dataset": "coco",
}


@pytest.mark.parametrize("name", ["dataset_coco.json", "dataset_coco.json.gz"])
def test_karpathy(tmp_path: Path, name: str) -> None:
    (tmp_path / "val2014").mkdir()
    for n in range(4):
        (tmp_path / f"val2014/COCO_{n}.jpg").write_text(str(n))
    text = json.dumps(KARPATHY).encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)

    def found(**options: Any) -> list[tuple[str, bytes | None, str | None]]:
        items = items_of(BuildConfig(source=str(tmp_path / name), **options))
        return [(item.source_id, item.image, item.caption) for item in items]

    assert found() == [(str(400 + n), b"%d" % n, f"A man, {n}.") for n in range(4)]
    assert found(captions="longest", where=("split=test",)) == [
        ("401", b"1", "The tall man, 1."),
        ("403", b"3", "The tall man, 3."),
    ]
    each = found(captions="each")
    assert len(each) == 8 and each[3] == ("401#1", b"1", "The tall man, 1.")
    config = BuildConfig(source=str(tmp_path / name), where=("split=test",))
    counts = RowCounts()
    assert len(list(iter_items(open_source(config), config, 0, 0, 4, counts=counts))) == 2
    assert counts == RowCounts(rows=4, unmatched=2, captions=4, left_out=2)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"images": [{"id": 1}, {"id": 1}], "annotations": [{"caption": "a"}]}, "two pictures have the id 1"),
        ({"images": [{"id": 1}], "annotations": [{"image_id": 1, "bbox": [1]}]}, "neither a captions file of COCO nor"),
        ({"images": [{"id": 1}]}, "neither a captions file of COCO nor Karpathy's; write one object a line"),
    ],
)
def test_documents_that_are_refused(tmp_path: Path, document: Any, message: str) -> None:
    for indent in (None, 1):
        with pytest.raises(SourceError, match=message):
            items_of(BuildConfig(source=write(tmp_path, document, indent=indent)))


def test_hostile_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = '{"images": [{"id": 1, "file_name": "0.jpg"}], "annotations": [{"image_id": 1, "caption": "a"}'
    for text, message in (
        (f"{start}, {'[' * 100_000}", "cannot be read"),
        (f'{start}], "annotations": []}}', "the key 'annotations' comes twice"),
        (start, "cannot be read"),
        (f"{start}]}} trailing", "cannot be read: Extra data"),
    ):
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(SourceError, match=message) as error:
            items_of(BuildConfig(source=str(tmp_path / "x.json")))
        assert "\n" not in str(error.value)
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 100)
    with pytest.raises(SourceError, match="of more than 0 MiB; write one object a line"):
        items_of(BuildConfig(source=write(tmp_path, KARPATHY)))


def test_json_lines_with_lists_are_no_document(tmp_path: Path) -> None:
    rows = [{"images": [{"a": 1}], "image": "", "caption": f"c{n}"} for n in range(2)]
    (tmp_path / "x.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [item.caption for item in items_of(BuildConfig(source=str(tmp_path / "x.json")))] == ["c0", "c1"]
