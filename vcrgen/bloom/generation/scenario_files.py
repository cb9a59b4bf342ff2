"""Scenes of files, as BloomBench's repository has them, in place of those that the author would write.

A file is named after its category: ``Create -_ Creative Generation - Poem.json`` or ``Create -> ... - Poem.json``. It
holds ``scenarios``, a list of texts, and ``keywords``, a list with the search words of each.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vcrgen.bloom.generation.item_records import Scenario
from vcrgen.bloom.generation.stages import MAX_SCENE
from vcrgen.bloom.taxonomy import Taxonomy
from vcrgen.core.errors import ConfigError
from vcrgen.core.files import canonical_json
from vcrgen.core.reading import check_file_size, encodable, read_json

_MAX_FILES, _MAX_BYTES, _MAX_SCENES = 10_000, 1 << 20, 1_000
_STEP = re.compile(r" -[_>]? ")


@dataclass(frozen=True, slots=True)
class ScenarioFiles:
    """Scenes by category.

    Attributes:
        scenes: By the path of the category, in the order of the files' names.
        unknown: Names of files whose category the taxonomy does not have.
    """

    scenes: Mapping[str, Sequence[Scenario]] = field(default_factory=dict)
    unknown: Sequence[str] = ()

    @property
    def digest(self) -> str:
        """A hash of all scenes, twelve hex digits."""
        listed = {path: [[scene.text, *scene.keywords] for scene in few] for path, few in self.scenes.items()}
        return hashlib.sha256(canonical_json(listed).encode()).hexdigest()[:12]


def read_scenarios(folder: Path | None, taxonomy: Taxonomy) -> ScenarioFiles:
    """Read the files of a folder; no scenes without one.

    Raises:
        ConfigError: It is no folder, a file is not of this form, or no file is named after a category.
    """
    if folder is None:
        return ScenarioFiles()
    files = sorted(folder.glob("*.json"))
    if not 0 < len(files) <= _MAX_FILES:
        raise ConfigError(f"--scenarios {folder} is no folder with 1 to {_MAX_FILES:,} JSON files of scenes.")
    scenes: dict[str, list[Scenario]] = {}
    unknown = []
    for file in files:
        if (path := taxonomy.resolve(_STEP.split(file.stem))) is None:
            unknown.append(file.name)
        else:
            scenes.setdefault(path, []).extend(_scenes(file))
    if not scenes:
        raise ConfigError(
            f"No file of --scenarios {folder} is named after a category of the taxonomy, as in 'Create -_ Creative "
            f"Generation - Poem.json'; the first is {unknown[0][:80]!r}."
        )
    return ScenarioFiles(scenes, unknown)


def _scenes(file: Path) -> list[Scenario]:
    check_file_size(file, _MAX_BYTES, "it holds no scenes", ConfigError)
    value = read_json(file, ConfigError)
    texts, keywords = (_texts(value.get(name)) if isinstance(value, dict) else [] for name in ("scenarios", "keywords"))
    if not texts or len(texts) != len(keywords):
        raise ConfigError(
            f"{file} needs `scenarios` and `keywords`, two lists of as many texts of 1 to {MAX_SCENE} characters."
        )
    return [Scenario(text=text, keywords=(words,)) for text, words in zip(texts, keywords, strict=True)]


def _texts(values: Any) -> list[str]:
    """Return texts, each as one line; none if one is no text, or too long."""
    if not isinstance(values, list) or len(values) > _MAX_SCENES:
        return []
    lines = [" ".join(encodable(value).split()) if isinstance(value, str) else "" for value in values]
    return lines if all(0 < len(line) <= MAX_SCENE for line in lines) else []
