"""What a question set consists of, and what its form gives away."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from vcrgen.bloom.checks import RawItem, faults
from vcrgen.bloom.taxonomy import MAX_BYTES, Taxonomy, default_taxonomy
from vcrgen.dataset.reader import Dataset
from vcrgen.dataset.statistics import Summary
from vcrgen.errors import DatasetError
from vcrgen.tasks.bloom import LETTERS, TAXONOMY_FILE, ChoiceItem, languages_of, read_items


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageFigures:
    """The items of one language."""

    items: int  # complete in it
    longest_key: float  # share whose right option is the longest one; where several are, each counts in part
    stem: Summary  # characters of the question
    option: Summary  # characters of an option


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFigures:
    """A question set in numbers."""

    items: int
    pictures: int  # different ones, by their bytes
    most_of_a_picture: int  # items that share one picture, at most
    traps: int  # items with a marked trap
    positions: Mapping[str, int]  # items by the letter of their right option
    languages: Mapping[str, LanguageFigures]  # by language code
    levels: Mapping[str, tuple[int, int, int]]  # by level: items, leaves with items, leaves of the taxonomy
    empty_leaves: tuple[str, ...]  # leaves of the taxonomy without an item
    unknown_leaves: tuple[str, ...]  # leaves of items that the taxonomy does not have
    faults: Mapping[str, int]  # items by what is wrong with their texts; nothing is set aside any more


def set_figures(dataset: Dataset) -> SetFigures:
    """Read a question set once; pictures are hashed, not decoded.

    Raises:
        DatasetError: A file is damaged, or the set is the public part of a hidden one, which has no keys.
    """
    if dataset.is_hidden:
        raise DatasetError(f"{dataset} is the public part of a hidden question set, which has no keys.")
    taxonomy = set_taxonomy(dataset)
    known = frozenset(taxonomy.paths)
    pictures, positions, leaves, wrong = (Counter[str]() for _ in range(4))
    traps, longest = 0, defaultdict[str, float](float)
    lengths: dict[str, tuple[list[int], list[int]]] = {lang: ([], []) for lang in languages_of(dataset)}
    for item in read_items(dataset):
        pictures[item.picture] += 1
        leaves[item.path] += 1
        traps += item.trap is not None
        if item.answer is not None:
            positions[LETTERS[item.answer]] += 1
        wrong.update({fault for fault, _ in faults(_raw(item, known))})
        for lang, question in item.questions.items():
            sizes = [len(option) for option in question.options]
            lengths[lang][0].append(len(question.text))
            lengths[lang][1].extend(sizes)
            if item.answer is not None:
                longest[lang] += right_by_length(sizes, item.answer)
    languages = {
        lang: LanguageFigures(
            items=len(stems), longest_key=longest[lang] / max(len(stems), 1),
            stem=Summary.of(stems), option=Summary.of(options),
        )
        for lang, (stems, options) in lengths.items()
    }  # fmt: skip
    levels = dict.fromkeys(taxonomy.levels, (0, 0, 0))
    for path in taxonomy.paths:
        items, filled, every = levels[level := path.partition("/")[0]]
        levels[level] = items + leaves[path], filled + (leaves[path] > 0), every + 1
    return SetFigures(
        items=leaves.total(), pictures=len(pictures), most_of_a_picture=max(pictures.values(), default=0), traps=traps,
        positions={letter: positions[letter] for letter in LETTERS}, languages=languages, levels=levels,
        empty_leaves=tuple(path for path in taxonomy.paths if path not in leaves),
        unknown_leaves=tuple(sorted(set(leaves) - known)), faults=dict(sorted(wrong.items())),
    )  # fmt: skip


def right_by_length(sizes: Sequence[int], answer: int, pick: Callable[[Sequence[int]], int] = max) -> float:
    """How likely one is right who takes the longest option, or with ``min`` the shortest, by lot where several are."""
    taken = pick(sizes)
    return (sizes[answer] == taken) / sizes.count(taken)


def set_taxonomy(dataset: Dataset) -> Taxonomy:
    """The taxonomy beside a question set, or the default where there is none.

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


def _raw(item: ChoiceItem, known: frozenset[str]) -> RawItem:
    """An item as checks take it."""
    return RawItem(
        question_id=item.question_id,
        path=item.path if item.path in known else None,
        questions=item.questions,
        answer="" if item.answer is None else LETTERS[item.answer],
        trap="" if item.trap is None else LETTERS[item.trap],
    )
