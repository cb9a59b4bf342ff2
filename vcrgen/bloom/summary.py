"""Statistics of an MCQ benchmark, and the cues in its form."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from vcrgen.bloom.checks import RawItem, find_problems
from vcrgen.bloom.taxonomy import MAX_BYTES, Taxonomy, default_taxonomy
from vcrgen.core.errors import DatasetError
from vcrgen.data.reader import Dataset
from vcrgen.data.statistics import Summary
from vcrgen.data.tasks.bloom import LETTERS, TAXONOMY_FILE, ChoiceItem, languages_of, read_items


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageFigures:
    """The items of one language."""

    items: int  # complete in it
    longest_key: float  # share whose right option is the longest one; where several are, each counts in part
    stem: Summary  # characters of the question
    option: Summary  # characters of an option


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFigures:
    """Statistics of an MCQ benchmark."""

    items: int
    pictures: int  # different ones, by their bytes
    max_items_of_picture: int
    traps: int  # items with a marked trap
    positions: Mapping[str, int]  # items by the letter of their right option
    languages: Mapping[str, LanguageFigures]  # by language code
    levels: Mapping[str, tuple[int, int, int]]  # by level: items, categories with items, categories of the taxonomy
    empty_categories: tuple[str, ...]  # categories of the taxonomy without an item
    unknown_categories: tuple[str, ...]  # of items, missing in the taxonomy
    problems: Mapping[str, int]  # items by the problem of their texts; none is rejected any more


def set_figures(dataset: Dataset) -> SetFigures:
    """Read an MCQ benchmark once; pictures are hashed, not decoded.

    Raises:
        DatasetError: A file is damaged, or the set is the public part of a hidden one, which has no keys.
    """
    if dataset.is_hidden:
        raise DatasetError(f"{dataset} is the public part of a hidden MCQ benchmark, which has no keys.")
    taxonomy = set_taxonomy(dataset)
    paths = frozenset(taxonomy.paths)
    pictures, positions, categories, problems = (Counter[str]() for _ in range(4))
    traps, most, longest = 0, 0, defaultdict[str, float](float)
    lengths: dict[str, tuple[list[int], list[int]]] = {lang: ([], []) for lang in languages_of(dataset)}
    for item in read_items(dataset):
        pictures[item.picture] += 1
        categories[item.path] += 1
        traps += item.trap is not None
        most = max(most, item.options)
        if item.answer is not None:
            positions[LETTERS[item.answer]] += 1
        problems.update({reason for reason, _ in find_problems(_raw(item, paths))})
        for lang, question in item.questions.items():
            sizes = [len(option) for option in question.options]
            lengths[lang][0].append(len(question.text))
            lengths[lang][1].extend(sizes)
            if item.answer is not None:
                longest[lang] += right_by_length(sizes, item.answer)
    languages = {
        lang: LanguageFigures(
            items=len(stems),
            longest_key=longest[lang] / max(len(stems), 1),
            stem=Summary.of(stems),
            option=Summary.of(options),
        )
        for lang, (stems, options) in lengths.items()
    }
    levels = dict.fromkeys(taxonomy.levels, (0, 0, 0))
    for path in taxonomy.paths:
        items, filled, every = levels[level := path.partition("/")[0]]
        levels[level] = items + categories[path], filled + (categories[path] > 0), every + 1
    return SetFigures(
        items=categories.total(),
        pictures=len(pictures),
        max_items_of_picture=max(pictures.values(), default=0),
        traps=traps,
        positions={letter: positions[letter] for letter in LETTERS[:most]},
        languages=languages,
        levels=levels,
        empty_categories=tuple(path for path in taxonomy.paths if path not in categories),
        unknown_categories=tuple(sorted(set(categories) - paths)),
        problems=dict(sorted(problems.items())),
    )


def right_by_length(sizes: Sequence[int], answer: int) -> float:
    """The accuracy of the longest option as the answer, ties at random."""
    return (sizes[answer] == max(sizes)) / sizes.count(max(sizes))


def set_taxonomy(dataset: Dataset) -> Taxonomy:
    """The taxonomy beside an MCQ benchmark, or the default if there is none.

    Raises:
        ConfigError: The file there is no taxonomy.
        DatasetError: It cannot be read.
    """
    if not 0 < (dataset.folder.size(TAXONOMY_FILE) or 0) <= MAX_BYTES:
        return default_taxonomy()
    try:
        text = dataset.folder.read_text(TAXONOMY_FILE)
    except (OSError, ValueError):
        raise DatasetError(f"{dataset}/{TAXONOMY_FILE} cannot be read; build or import the set again.") from None
    return Taxonomy.parse(text, str(PurePosixPath(str(dataset.folder), TAXONOMY_FILE)))


def _raw(item: ChoiceItem, paths: frozenset[str]) -> RawItem:
    """Return an item as checks take it."""
    return RawItem(
        question_id=item.question_id,
        path=item.path if item.path in paths else None,
        questions=item.questions,
        answer="" if item.answer is None else LETTERS[item.answer],
        trap="" if item.trap is None else LETTERS[item.trap],
    )
