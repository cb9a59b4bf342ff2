"""Forms of other pairs: no picture and no caption in two of them, and alike; and how the source is read."""

import io
import itertools
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from tests.hidden.conftest import samples_of, write_pairs
from vcrgen.core.errors import NoPairsError
from vcrgen.hidden import HiddenResult, verify
from vcrgen.hidden.near import MAX_DISTANCE
from vcrgen.hidden.reference import caption_start
from vcrgen.samples import sample_pair

Make = Callable[..., HiddenResult]
Answers = Callable[[Path], list[dict[str, Any]]]


def test_forms_share_no_picture_and_no_caption(finished_other_pairs: Path, answers: Answers) -> None:
    forms = [answers(finished_other_pairs / f"form-{form}") for form in (1, 2, 3)]
    assert [len(lines) for lines in forms] == [4, 4, 4]
    for one, other in itertools.combinations(forms, 2):
        for a, b in itertools.product(one, other):
            assert caption_start(a["caption"]) != caption_start(b["caption"])
            assert not set(a["crossed_text"]) & set(b["crossed_text"])
            hashes = [np.frombuffer(bytes.fromhex(answer["picture"]), np.uint8) for answer in (a, b)]
            assert np.unpackbits(hashes[0] ^ hashes[1]).sum() > MAX_DISTANCE
            assert a["source_id"] != b["source_id"] and a["question_id"] != b["question_id"]
    keys = [json.loads((finished_other_pairs / f"form-{form}/key/key.json").read_bytes()) for form in (1, 2, 3)]
    for name in ("canary", "nonce", "seal", "public"):
        assert len({key[name] for key in keys}) == 3
    assert not [c for form in (1, 2, 3) for c in verify(finished_other_pairs / f"form-{form}") if c.ok is False]


def test_forms_are_alike(make: Make, answers: Answers, tmp_path: Path) -> None:
    """The same fonts, places and widths, nearly as many spans, and a report that says so."""
    report = make(tmp_path / "out", source="samples:60", items=12, forms=2).report
    forms = [answers(tmp_path / f"out/form-{form}") for form in (1, 2)]
    for name in ("font", "strip", "width", "part"):
        assert Counter(a[name] for a in forms[0]) == Counter(a[name] for a in forms[1])
    spans = [sum(len(answer["spans"]) for answer in lines) for lines in forms]
    assert abs(spans[0] - spans[1]) <= 2
    assert report["alike"]["spans"]["means"] == [round(count / 12, 3) for count in spans]
    assert report["alike"]["letters"]["apart"] < 0.5 and report["overlap"] == []


def test_near_copies_are_in_one_form_only(make: Make, answers: Answers, tmp_path: Path) -> None:
    """A small JPEG of a picture that is there, with words of its own, and a caption with another end."""
    pairs = samples_of(range(6))
    picture, buffer = Image.open(io.BytesIO(pairs[0][0])).convert("RGB"), io.BytesIO()
    picture.resize((picture.width // 2, picture.height // 2)).save(buffer, "JPEG", quality=60)
    copies = [(buffer.getvalue(), sample_pair("en", 20).caption)]
    copies.append((sample_pair("en", 21).image, pairs[1][1].rstrip(".") + ", in the afternoon."))
    source = write_pairs(tmp_path / "pairs.parquet", pairs + copies)
    with pytest.raises(NoPairsError, match=r"6 usable pairs, and 8 .*--items 4 in each of --forms 2 .*duplicate 2"):
        make(tmp_path / "out", source=source, items=4, forms=2)
    make(tmp_path / "out", source=source, items=3, forms=2)
    captions = [
        answer["caption"].casefold()[:30] for form in (1, 2) for answer in answers(tmp_path / f"out/form-{form}")
    ]
    assert len(set(captions)) == 6


def test_each_group_of_rows_is_read_once_for_many_candidates(
    make: Make, answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = samples_of(range(24))
    source = write_pairs(tmp_path / "pairs.parquet", pairs, row_group_size=8)
    read = Counter[int]()
    real = pq.ParquetFile.iter_batches

    def counting(self: Any, *args: Any, row_groups: list[int], **options: Any) -> Any:
        read.update(row_groups)
        return real(self, *args, row_groups=row_groups, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", counting)
    make(tmp_path / "out", source=source, items=12)
    assert set(read) == {0, 1, 2} and max(read.values()) <= 3  # it was once for each of 12 pairs or more
    monkeypatch.setattr("vcrgen.hidden.rounds.READ_AHEAD", 1)
    make(tmp_path / "one-by-one", source=source, items=12)
    assert answers(tmp_path / "out") == answers(tmp_path / "one-by-one")
