"""Test data of each language: ``languages/CODE.yaml``, and captions with annotated names in ``languages/CODE.jsonl``.

Fields of a file, of which a new language needs those that apply to it:

- ``sample_digest``: start of the SHA-256 of its calibration sample, which never changes.
- ``line``: a text with its punctuation, to be set in its font.
- ``eligible``: from a text to its eligible tokens, with a bar in the place of ineligible ones.
- ``entities``: from a text to entities that are found in it, as ``TEXT/LABEL``.
- ``frequent_names``: those of its 2,000 most frequent words that are names all the same, as people read them.
- ``annotated``: for ``CODE.jsonl``, the maximal share of n-grams that overlap a name, and the minimal share of texts
  with an n-gram.

With built-in captions also:

- ``captions_digest``: start of the SHA-256 of the built-in captions (20 of each scene).
- ``caption_lengths``: least and most characters of a caption; range of three quarters of them.
- ``captions``: from a name of ``tests/samples/test_captions_by_language.py`` to phrases that its captions have.
- ``tents``: one tent and two tents in each colour, in the order of ``TINTS``.
- ``clock``: from the time on a dial to its phrases.
- ``never``: a pattern that no caption matches.
"""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).with_name("languages")


@cache
def language_data(code: str) -> dict[str, Any]:
    """Return the test data of a language; none without a file, so that only the tests of that language fail."""
    file = FOLDER / f"{code}.yaml"
    data: dict[str, Any] = yaml.safe_load(file.read_text("utf-8")) if file.is_file() else {}
    return data
