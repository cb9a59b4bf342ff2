"""Captions in one JSON document: COCO's captions files, and Karpathy's splits of COCO and Flickr."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vcrgen.builder.sources.base import PROBLEM, ColumnPath, FileSource, Row, paths_of
from vcrgen.builder.sources.compressed import open_text
from vcrgen.builder.sources.tabular import parse_object, unique_keys
from vcrgen.core.errors import SourceError
from vcrgen.core.storage import Folder

MAX_DOCUMENT_BYTES = 512 << 20  # Karpathy's file of COCO has 144 MB
_HEAD_BYTES = 1 << 20
_LISTS = re.compile(rb'"(?:images|annotations)"\s*:\s*\[\s*\{')
_SAMPLE_ROWS = 100


def is_caption_document(folder: Folder, name: str) -> bool:
    """Return True for a JSON file that begins as a document with a list of pictures, and not as JSON Lines."""
    with open_text(folder, name) as handle:
        head = handle.read(_HEAD_BYTES)
    if not _LISTS.search(head):
        return False
    line, _, rest = head.partition(b"\n")
    first = parse_object(line)
    return isinstance(first, str) or not rest.strip()


class DocumentSource(FileSource):
    """JSON documents with a row for each picture: its fields, and ``image``, ``caption`` (all of them) and ``id``.

    - COCO: ``{"images": [{"id", "file_name"}], "annotations": [{"image_id", "caption"}]}``;
    - Karpathy: ``{"images": [{"filepath", "filename", "sentences": [{"raw"}], "split", "imgid", "cocoid"}]}``.

    An annotation of a picture that is not listed is a row of its own that cannot be read.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._documents: dict[str, list[Row]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_documents": {}}

    def _failures(self) -> tuple[type[Exception], ...]:
        return (OSError, EOFError, ValueError, RecursionError)

    def _count(self, name: str) -> int:
        return len(self._rows_of(name))

    def _read(self, name: str, numbers: Sequence[int], columns: frozenset[str]) -> Iterator[Row]:
        rows = self._rows_of(name)
        yield from (rows[number] for number in numbers if number < len(rows))

    def _read_names(self, index: int) -> list[ColumnPath]:
        rows = [row for row in self._rows_of(self.files[index])[:_SAMPLE_ROWS] if PROBLEM not in row]
        return sorted(dict.fromkeys(path for row in rows for path in paths_of(row)), key=len)

    def _rows_of(self, name: str) -> list[Row]:
        if name not in self._documents:
            with open_text(self.folder, name) as handle:
                data = handle.read(MAX_DOCUMENT_BYTES + 1)
            if len(data) > MAX_DOCUMENT_BYTES:
                raise SourceError(
                    f"{self._full_name(name)} is one JSON document of more than {MAX_DOCUMENT_BYTES >> 20} MiB; write "
                    "one object a line."
                )
            document = json.loads(data.decode("utf-8-sig"), object_pairs_hook=unique_keys)
            rows = _rows_of_document(document)
            if rows is None:
                raise SourceError(
                    f"{self._full_name(name)} is one JSON document, but neither a captions file of COCO nor Karpathy's"
                    "; write one object a line."
                )
            self._documents[name] = rows
        return self._documents[name]


def _rows_of_document(document: Any) -> list[Row] | None:
    """One row a picture with the list of its captions; None for a document that is neither COCO's nor Karpathy's."""
    images = document.get("images") if isinstance(document, dict) else None
    if not isinstance(images, list):
        return None
    annotations = document.get("annotations")
    if isinstance(annotations, list) and any("caption" in entry for entry in annotations if isinstance(entry, dict)):
        return _coco_rows(images, annotations)
    if any("sentences" in image for image in images if isinstance(image, dict)):
        return [_karpathy_row(image) for image in images]
    return None


def _coco_rows(images: list[Any], annotations: list[Any]) -> list[Row]:
    rows: list[Row] = []
    captions_of: dict[int | str, list[Any]] = {}
    for number, image in enumerate(images):
        own_id = image.get("id") if isinstance(image, dict) else None
        if not isinstance(own_id, int | str):
            rows.append({PROBLEM: f"picture {number} of the document has no id"})
            continue
        if own_id in captions_of:
            raise ValueError(f"two pictures have the id {own_id!r}")
        captions: list[Any] = []
        captions_of[own_id] = captions
        rows.append(_fields_of(image) | {"image": image.get("file_name"), "caption": captions})
    for number, annotation in enumerate(annotations):
        image_id = annotation.get("image_id") if isinstance(annotation, dict) else None
        if isinstance(image_id, int | str) and image_id in captions_of:
            captions_of[image_id].append(annotation.get("caption"))
        else:
            rows.append({PROBLEM: f"annotation {number} is of the picture {image_id!r:.80}, which is not listed"})
    return rows


def _karpathy_row(image: Any) -> Row:
    if not isinstance(image, dict) or not isinstance(sentences := image.get("sentences"), list):
        return {PROBLEM: "the picture has no sentences"}
    folder, name = image.get("filepath"), image.get("filename")
    captions = [sentence.get("raw") if isinstance(sentence, dict) else None for sentence in sentences]
    row = _fields_of(image) | {"image": f"{folder}/{name}" if folder else name, "caption": captions}
    return row | {"id": image["cocoid"] if "cocoid" in image else image.get("imgid")}


def _fields_of(image: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in image.items() if isinstance(value, str | int | float)}
