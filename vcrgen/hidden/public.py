"""The public part of a hidden set: images, ids and questions, and nothing else from which an answer could be had.

    public/metadata.jsonl       a row an item, sorted by its random id
    public/stacked_image/ID.png VI+TEI
    public/only_it_image/ID.png TEI only
    public/manifest.json        version, language, number of items, canary, commitment to the key
    public/README.md

Every file carries the canary, and every file has the same time stamp.
"""

from __future__ import annotations

import hashlib
import io
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from vcrgen.dataset.key import VERSION
from vcrgen.dataset.tables import METADATA
from vcrgen.dataset.views import View
from vcrgen.errors import HiddenSetError
from vcrgen.files import canonical_json, sha256_file
from vcrgen.text.languages import LANGUAGES

# The folders of a public part that have its images, each named after what is shown: of pairs, and of question sets.
IMAGE_FOLDERS = (View.STACKED.column, View.TEI.column)
QUESTION_FOLDERS = (View.IMAGE.value,)
README = "README.md"
# 1 January 2000: a time that every file system and archive can store, and that tells nothing.
TIME_STAMP = 946_684_800
# What is read of a set, which may be anybody's.
MAX_FILE_BYTES = 64 << 20
MAX_PIXELS = 64_000_000

Pixels = npt.NDArray[np.uint8]


def image_name(view: str, question_id: str) -> str:
    """The path of an image inside the public part."""
    return f"{view}/{question_id}.png"


def metadata_row(question_id: str, language: str, canary: str) -> dict[str, str]:
    """What participants are told of an item; ``datasets`` reads the file names as images."""
    row = {"question_id": question_id, "question": LANGUAGES[language].question, "language": language}
    return row | {f"{view}_file_name": image_name(view, question_id) for view in IMAGE_FOLDERS} | {"canary": canary}


def questions_text(ids: Iterable[str], *, language: str, canary: str) -> str:
    """The text of the questions' file: rows in the order of the random ids, so that the source's order is gone."""
    rows = (canonical_json(metadata_row(question_id, language, canary)) for question_id in sorted(ids))
    return "".join(row + "\n" for row in rows)


def content_digest(public: Path, views: Sequence[str] = IMAGE_FOLDERS) -> str:
    """SHA-256 over names and hashes of questions and images: what the key says of the public part."""
    names = [METADATA, *sorted(f"{view}/{file.name}" for view in views for file in (public / view).iterdir())]
    lines = (f"{sha256_file(public / name)}  {name}\n" for name in names)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def public_manifest(*, language: str, items: int, canary: str, commitment: str) -> dict[str, Any]:
    """What the public part says of itself."""
    facts = {"version": VERSION, "language": language, "items": items, "views": list(IMAGE_FOLDERS)}
    return facts | {"canary": canary, "commitment": commitment}


def public_readme(manifest: dict[str, Any]) -> str:
    """What participants have to know; the same words for every set."""
    name, question = LANGUAGES[manifest["language"]].name, LANGUAGES[manifest["language"]].question
    return f"""# Hidden VCR test set ({name})

{manifest["items"]} images with captions of which some texts are covered, so that only parts of them are left.
`stacked_image` is picture and caption (VI+TEI), `only_it_image` the caption alone (TEI). The answers are kept
secret; send outputs as JSON Lines with `question_id`, `view` (`stacked` or `tei`) and `output`.

The question for every image: {question}

```python
from datasets import load_dataset

dataset = load_dataset("imagefolder", data_dir="PATH")
```

Commitment to the answers (SHA-256): `{manifest["commitment"]}`

Please keep these files out of training data. {manifest["canary"]}
"""


def stamp(folder: Path) -> None:
    """Give every file and folder the same time, the folders after what is in them."""
    for path in [*sorted(folder.rglob("*"), reverse=True), folder]:
        os.utime(path, (TIME_STAMP, TIME_STAMP))


def public_files(public: Path) -> Iterator[Path]:
    """All files of a public part, in order."""
    return (path for path in sorted(public.rglob("*")) if not path.is_dir())


def read_file(file: Path) -> bytes:
    """The bytes of a file of a set; a HiddenSetError, which does not name it, if it is too large."""
    if file.stat().st_size > MAX_FILE_BYTES:
        raise HiddenSetError(f"a file is larger than {MAX_FILE_BYTES >> 20} MiB")
    return file.read_bytes()


def read_pixels(file: Path) -> Pixels:
    """The pixels of a PNG of a set, shape (height, width, 3); a HiddenSetError if it has too many."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        image = Image.open(io.BytesIO(read_file(file)), formats=("PNG",))
        if image.width * image.height > MAX_PIXELS:
            raise HiddenSetError(f"an image has more than {MAX_PIXELS} pixels")
        return np.asarray(image)
