"""The public part of a hidden set: images, ids and questions, and nothing else from which an answer could be had.

    public/metadata.jsonl       a row an item, sorted by its random id
    public/stacked_image/ID.png VI+TEI
    public/only_it_image/ID.png TEI only
    public/manifest.json        version, language, number of items, kind of pictures, canary, commitment to the key
    public/croissant.json       the same facts for tools
    public/README.md

VI is the image, TEI the text embedded in it. Every file carries the canary, and every file has the same time stamp.
"""

import hashlib
import io
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from vcrgen.core.errors import HiddenSetError, OutputError
from vcrgen.core.files import canonical_json, indented_json, sha256_file, write_json, write_text
from vcrgen.core.plurals import pluralize
from vcrgen.core.signature import Signature
from vcrgen.data.key import ANSWERS, KEY_FILE, REPORT, VERSION, KeyManifest, Pictures, is_key, read_key
from vcrgen.data.manifest import MANIFEST
from vcrgen.data.schema import STRING
from vcrgen.data.tables import METADATA
from vcrgen.data.tasks.croissant import CROISSANT, croissant_of_public
from vcrgen.data.views import View
from vcrgen.hidden.secret import Secret
from vcrgen.text.languages import LANGUAGES

# The image folders of a public part: of pairs, and of MCQ benchmarks.
IMAGE_FOLDERS = (View.STACKED.column, View.TEI.column)
MCQ_FOLDERS = (View.IMAGE.value,)
README = "README.md"
# 1 January 2000: valid in every file system and archive.
TIME_STAMP = 946_684_800
MAX_FILE_BYTES = 64 << 20
MAX_PIXELS = 64_000_000

Pixels = npt.NDArray[np.uint8]


def image_name(view: str, question_id: str) -> str:
    """Path of an image inside the public part, as COLUMN/ID.png."""
    return f"{view}/{question_id}.png"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicFormat:
    """The public part of one kind of hidden sets: of pairs, or of MCQ benchmarks."""

    folders: tuple[str, ...]  # image folders, named after views
    facts: tuple[str, ...]  # fields of the manifest that only this kind has
    question_row: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]  # of an item of the key or a row
    title: Callable[[Mapping[str, Any]], str]  # first paragraphs of the README, of a manifest

    def manifest(self, *, items: int, canary: str, commitment: str, pictures: str, **facts: Any) -> dict[str, Any]:
        """Content of ``manifest.json``; ``commitment`` is that of the key."""
        return {
            "version": VERSION,
            "items": items,
            "views": list(self.folders),
            "pictures": str(pictures),
            "canary": canary,
            "commitment": commitment,
            **facts,
        }

    def questions_text(self, items: Iterable[Mapping[str, Any]], manifest: Mapping[str, Any]) -> str:
        """Text of ``metadata.jsonl``, sorted by random ids, so that the source's order is lost."""
        ordered = sorted(items, key=lambda item: str(item["question_id"]))
        return "".join(canonical_json(self.question_row(item, manifest)) + "\n" for item in ordered)

    def croissant(self, manifest: Mapping[str, Any], sha256: str) -> str:
        """Text of ``croissant.json``, which follows from the manifest and the digest of the questions."""
        row = self.question_row({"question_id": ""}, manifest)
        columns = {name: ([STRING] if isinstance(value, list) else STRING, name) for name, value in row.items()}
        return indented_json(croissant_of_public(manifest, columns, sha256))

    def readme(self, manifest: Mapping[str, Any]) -> str:
        """Text of ``README.md``, the same for every set."""
        note = Pictures(manifest["pictures"]).note(mcq=self.folders == MCQ_FOLDERS)
        return f"""{self.title(manifest)}{note and f"{chr(10)}{note}{chr(10)}"}
```python
from datasets import load_dataset

dataset = load_dataset("imagefolder", data_dir="PATH")
```

Commitment to the answers (SHA-256): `{manifest["commitment"]}`

Please keep these files out of training data. {manifest["canary"]}
"""


def pair_question_row(item: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Row of ``metadata.jsonl`` for a pair; ``datasets`` reads its file names as images."""
    question_id, language = item["question_id"], manifest["language"]
    row = {"question_id": question_id, "question": LANGUAGES[language].question, "language": language}
    files = {f"{view}_file_name": image_name(view, question_id) for view in IMAGE_FOLDERS}
    return row | files | {"canary": manifest["canary"]}


def _pair_title(manifest: Mapping[str, Any]) -> str:
    language = LANGUAGES[manifest["language"]]
    images = pluralize(manifest["items"], "image with a caption", "images with captions")
    return f"""# Hidden VCR test set ({language.name})

{images} of which some texts are covered, so that only parts of them are left.
`stacked_image` is picture and caption (VI+TEI), `only_it_image` the caption alone (TEI). The answers are kept
secret; send outputs as JSON Lines with `question_id`, `view` (`stacked` or `tei`) and `output`.

The question for every image: {language.question}
"""


PAIR_FORMAT = PublicFormat(
    folders=IMAGE_FOLDERS, facts=("language",), question_row=pair_question_row, title=_pair_title
)


def content_digest(public: Path, views: Sequence[str] = IMAGE_FOLDERS) -> str:
    """SHA-256 over names and hashes of questions and images, which the key holds."""
    names = [METADATA, *sorted(f"{view}/{file.name}" for view in views for file in (public / view).iterdir())]
    lines = (f"{sha256_file(public / name)}  {name}\n" for name in names)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def write_set(
    public: Path,
    key: Path,
    form: PublicFormat,
    answers: Sequence[Mapping[str, Any]],
    report: Mapping[str, Any],
    *,
    secret: Secret,
    number: int,
    fingerprint: str,
    signature: Signature,
    canary: str,
    pictures: Pictures,
    **facts: Any,
) -> None:
    """Write the key, and the public part except for the images, which exist."""
    manifest = form.manifest(items=len(answers), canary=canary, commitment="", pictures=pictures, **facts)
    write_text(public / METADATA, form.questions_text(answers, manifest))
    write_text(key / ANSWERS, "".join(canonical_json(answer) + "\n" for answer in answers))
    write_json(key / REPORT, report)
    described = KeyManifest(
        version=VERSION,
        language="+".join(facts.get("languages") or [facts["language"]]),
        task=facts.get("task"),
        items=len(answers),
        canary=canary,
        nonce=secret.token("nonce", str(number)),
        fingerprint=fingerprint,
        signature=str(signature),
        public=content_digest(public, form.folders),
        files={name: sha256_file(key / name) for name in (ANSWERS, REPORT)},
    )
    write_json(key / KEY_FILE, described.values | {"seal": secret.seal(described.sealed)})
    manifest["commitment"] = described.commitment
    write_json(public / MANIFEST, manifest)
    write_text(public / CROISSANT, form.croissant(manifest, sha256_file(public / METADATA)))
    write_text(public / README, form.readme(manifest))


def is_complete(out: Path, targets: Sequence[Path], fingerprint: str) -> bool:
    """Return True if all forms of a set exist; an OutputError for another finished set."""
    if not all(is_key(target / "key") and (target / "public").is_dir() for target in targets):
        return False
    if any(read_key(target / "key").fingerprint != fingerprint for target in targets):
        raise OutputError(
            f"{out} holds another hidden set (other source, options, versions or secret); choose another --out."
        )
    return True


def stamp(folder: Path) -> None:
    """Set the same time on every file and folder, the folders last."""
    for path in [*sorted(folder.rglob("*"), reverse=True), folder]:
        os.utime(path, (TIME_STAMP, TIME_STAMP))


def public_files(public: Path) -> Iterator[Path]:
    """Yield all files of a public part, in order."""
    return (path for path in sorted(public.rglob("*")) if not path.is_dir())


def read_file(file: Path) -> bytes:
    """Read a file of a set; a HiddenSetError, which does not name it, if it is too large."""
    if file.stat().st_size > MAX_FILE_BYTES:
        raise HiddenSetError(f"a file is larger than {MAX_FILE_BYTES >> 20} MiB")
    return file.read_bytes()


def read_pixels(file: Path) -> Pixels:
    """Read the pixels of a PNG of a set, shape (height, width, 3); a HiddenSetError for too many."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        image = Image.open(io.BytesIO(read_file(file)), formats=("PNG",))
        if image.width * image.height > MAX_PIXELS:
            raise HiddenSetError(f"an image has more than {MAX_PIXELS} pixels")
        return np.asarray(image)
