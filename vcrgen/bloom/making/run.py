"""A whole set: scenes and pictures for each leaf, items side by side, what is wrong with all of them, and the files.

A build is a function of source, configuration and ledger. What one item is does not depend on when others are done:
the items of a leaf choose their pictures by their scenes alone, when these are there. Where too many items come to be
about one picture, it is settled when all of them are there.
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any

from vcrgen.bloom.making.asking import Desk, NotAsked, Spent
from vcrgen.bloom.making.card import card_notes
from vcrgen.bloom.making.chain import make_item
from vcrgen.bloom.making.generated import GeneratedPictures, PictureFolder
from vcrgen.bloom.making.pictures import PictureSource
from vcrgen.bloom.making.places import slots_of, themes_of
from vcrgen.bloom.making.prompts import prompt_hashes
from vcrgen.bloom.making.records import (
    Drop,
    ItemDropped,
    ItemPlace,
    LocalWork,
    MadeItem,
    Offers,
    Scenario,
    Steps,
    about_item,
)
from vcrgen.bloom.making.replies import open_replies
from vcrgen.bloom.making.sieve import longest_keys, near_duplicates, shared_pictures
from vcrgen.bloom.making.stages import scenarios
from vcrgen.bloom.taxonomy import Taxonomy, load_taxonomy
from vcrgen.bloom.without import read_ids
from vcrgen.bloom.write import Aside, write_set
from vcrgen.config import BloomMakeOptions
from vcrgen.dataset.manifest import Manifest
from vcrgen.errors import ConfigError, NoPairsError
from vcrgen.files import output_errors
from vcrgen.models.endpoint import EndpointModel
from vcrgen.plurals import counted
from vcrgen.report.escape import escape_markdown, one_line
from vcrgen.tasks.bloom import LETTERS
from vcrgen.work.folder import check_free
from vcrgen.work.watcher import Watcher

MAKER = "models-3"  # another number when the same replies make other items
Pictures = PictureSource | GeneratedPictures
_SOURCE_CHARS = 250  # of the column `source`
_KEPT_IN_MEMORY = 64 << 20  # bytes of pictures; more of them are kept in a file beside the set


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeSet:
    """What became of a run.

    Attributes:
        manifest: Of the finished set; None where replies are missing, and so nothing was written.
        missing: Places without a reply, by the reason.
        example: The first of them, for people.
        spent: What all replies in the ledger took.
    """

    manifest: Manifest | None
    missing: Counter[str]
    example: str
    spent: Spent
    ledger: Path


def make_set(
    options: BloomMakeOptions, out: Path, models: Mapping[str, EndpointModel], *, watcher: Watcher | None = None
) -> MadeSet:
    """Make a question set with models. A run that was interrupted goes on with the replies in its ledger.

    Args:
        options: What is made, and of what.
        out: A new or empty folder; it appears whole, when no reply is missing.
        models: By name: the one that writes, the judges, the one that generates pictures; none where nobody is to be
            asked.
        watcher: Told of the progress.

    Raises:
        ConfigError: Taxonomy, themes or the list of what is left out cannot be read, or do not fit; the ledger is to be
            inside of the new folder.
        EndpointError: The server cannot be reached, or refuses one request after another.
        OutputError: The folder holds something, or the ledger is in use or damaged.
        SourceError: The pairs cannot be read.
    """
    assert options.model is not None
    taxonomy, themes = load_taxonomy(options.taxonomy), themes_of(options.themes)
    without = read_ids(options.without) if options.without else frozenset()
    check_free(out)
    names = [options.model, *options.judge_names, *([options.image_model] if options.image_model else [])]
    run = _Run(options, slots_of(taxonomy, themes, options.per_leaf))
    if unknown := sorted(without - {slot.name for slot in run.slots}):
        raise ConfigError(f"{options.without} names items that the set cannot have, first {unknown[0][:80]!r}.")
    named = out if out.name not in ("", "..") else out.resolve()  # `--out .` has no name
    file = options.ledger or named.with_name(f"{named.name}.ledger")
    if file.resolve().is_relative_to(out.resolve()):
        raise ConfigError(f"--ledger {file} is inside of the new folder {out}; name a file that is not.")
    folder = PictureFolder(file)
    with SpooledTemporaryFile(_KEPT_IN_MEMORY, dir=str(out.parent)) as kept:
        pictures: Pictures = (
            GeneratedPictures(options, folder)
            if options.image_model
            else PictureSource(options, kept, leaves=len(run.leaves), places=len(run.slots))
        )
        with output_errors(file), open_replies(file, offline=options.offline) as ledger:
            if not options.offline:
                folder.clean()
            out.parent.mkdir(parents=True, exist_ok=True)
            desk = Desk(ledger, names, models, options, folder)
            run.ask(desk, pictures, watcher or Watcher())
            manifest = None
            if not run.missing or options.allow_failed:
                manifest = _write(options, out, run, pictures, desk, taxonomy, themes, without)
    return MadeSet(manifest=manifest, missing=run.missing, example=run.example, spent=desk.spent, ledger=file)


class _Run:
    """The items of a set, and what became of each.

    Attributes:
        dropped: What was set aside, by the name of the place.
        missing: Places without a reply, by the reason.
        example: The first of them, for people.
    """

    def __init__(self, options: BloomMakeOptions, leaves: Sequence[Sequence[ItemPlace]]) -> None:
        self.options, self.leaves = options, leaves
        self.slots = [slot for leaf in leaves for slot in leaf]  # all places, in the set's order
        self.made: dict[str, MadeItem] = {}
        self.dropped: dict[str, ItemDropped] = {}
        self.missing: Counter[str] = Counter()
        self.example = ""
        self._not_asked: dict[str, NotAsked] = {}  # by the name of the place

    def ask(self, desk: Desk, pictures: Pictures, watcher: Watcher) -> None:
        """Bring every place to an item, a reason, or a reply that is missing."""
        watcher.begin(len(self.slots), 0)
        watcher.note(desk.spent.so_far)
        waiting: deque[tuple[int | ItemPlace, Steps[Any]]] = deque(
            (number, self._planned(number, pictures)) for number in range(len(self.leaves))
        )
        for what, outcome in desk.work(lambda: waiting.popleft() if waiting else None):
            watcher.note(desk.spent.so_far)
            if isinstance(what, ItemPlace):
                self._take(what, outcome, watcher)
            elif isinstance(outcome, ItemDropped | NotAsked):
                for slot in self.leaves[what]:
                    self._take(slot, outcome, watcher)
            else:
                for slot, steps in outcome:
                    if isinstance(steps, ItemDropped):
                        self._take(slot, steps, watcher)
                    else:
                        waiting.append((slot, steps))
                watcher.advance(0, 0, Counter())  # scenes for many leaves may take minutes
        # Which place comes to its end first differs from run to run; what is written and said of them must not.
        self.made = {slot.name: self.made[slot.name] for slot in self.slots if slot.name in self.made}
        self.dropped = {slot.name: self.dropped[slot.name] for slot in self.slots if slot.name in self.dropped}
        unanswered = [(slot.name, self._not_asked[slot.name]) for slot in self.slots if slot.name in self._not_asked]
        self.missing = Counter(outcome.reason for _, outcome in unanswered)
        self.example = next((f"{name}: {outcome.detail}" for name, outcome in unanswered), "")

    def _planned(self, number: int, pictures: Pictures) -> Steps[list[tuple[ItemPlace, Steps[MadeItem] | ItemDropped]]]:
        """Find scenes and pictures for the places of a leaf; gives the stages of their items, or why there are none."""
        leaf, options = self.leaves[number], self.options
        scenes: dict[str, Iterator[Scenario]] = {}
        found: list[tuple[ItemPlace, Steps[MadeItem] | ItemDropped]] = []
        for theme in dict.fromkeys(slot.theme for slot in leaf):
            try:
                scenes[theme] = cycle((yield from scenarios(leaf[0].path, theme, options.languages[0])))
            except ItemDropped as dropped:
                found.extend((slot, dropped) for slot in leaf if slot.theme == theme)
        if not scenes:
            return found
        planned = [(slot, next(scenes[slot.theme])) for slot in leaf if slot.theme in scenes]
        offers: list[Offers] = yield LocalWork(lambda: pictures.deal(number, planned))
        judges = len(options.judge_names)
        found.extend(
            (slot, make_item(slot, scene, few, languages=options.languages, judges=judges, seed=options.seed))
            for (slot, scene), few in zip(planned, offers, strict=True)
        )
        return found

    def _take(self, slot: ItemPlace, outcome: MadeItem | ItemDropped | NotAsked, watcher: Watcher) -> None:
        if isinstance(outcome, ItemDropped):
            self.dropped[slot.name] = outcome
            watcher.advance(1, 0, Counter({outcome.reason.value: 1}))
        elif isinstance(outcome, NotAsked):
            self._not_asked[slot.name] = outcome
            # Not why: offline, where the set has to be the same, nothing of it is known.
            self.dropped[slot.name] = ItemDropped("asking", Drop.NOT_ASKED, "a reply is missing")
            watcher.advance(1, 0, Counter({outcome.reason: 1}))
        else:
            self.made[slot.name] = outcome
            watcher.advance(1, 1, Counter())


def _write(
    options: BloomMakeOptions, out: Path, run: _Run, pictures: Pictures, desk: Desk, taxonomy: Taxonomy,
    themes: Mapping[str, int], without: Set[str],
) -> Manifest:  # fmt: skip
    """Take away what does not fit into the set as a whole, and write the rest."""
    items = _sieved(run, options, without)
    if not items:
        raise NoPairsError(_no_item(run))
    votes = [item.votes for item in run.made.values()]
    votes += [dropped.votes for dropped in run.dropped.values() if dropped.votes]
    hashes = prompt_hashes(generated=bool(options.image_model))
    source = f"pictures {'' if options.image_model else 'of '}{pictures.description}, questions of models"
    decided = {
        "maker": MAKER, "model": options.model, "judges": list(options.judge_names), "prompts": hashes,
        "themes": dict(themes), "licence": options.licence,
        "licence_column": options.licence_column,
        **{name: getattr(options, name) for name in ("lang", "per_leaf", "per_picture", "pictures", "seed", "limit")},
    }  # fmt: skip
    for name in ("where", "source_split"):  # named only where they say something
        if (value := getattr(options, name)) != BloomMakeOptions.model_fields[name].default:
            decided[name] = value
    if without:
        decided["without"] = sorted(without)
    by = {"model": options.model or "", "judges": "+".join(options.judge_names)}
    if options.image_model:
        decided |= {"image_model": options.image_model, "image_parameters": options.image_parameters}
        by["images"] = options.image_model
    made = {
        "maker": MAKER, **{name: value.replace("|", "_") for name, value in by.items()},
        "prompts": _short(hashes),
    }  # fmt: skip
    dropped_by = Counter((dropped.stage, dropped.reason.value) for dropped in run.dropped.values())
    licences = [options.licence] * len(items)
    if isinstance(pictures, PictureSource):
        licences = pictures.licences([item.picture for item in items])
    licence = (
        f"Licence of the pictures, as their user says: {escape_markdown(options.licence)}." if options.licence else ""
    )
    if options.licence_column:
        licence = "The licence of each picture stands at the end of `source`; they are counted below."
    return write_set(
        out, _rows(items, licences, pictures), languages=options.languages, taxonomy=taxonomy, source=source,
        config=decided, aside=_aside(run, options.judge_names), licence=licence, made=made,
        notes=card_notes(items, taxonomy, dropped_by, desk, votes, pictures.unusable, Counter(licences), options),
    )  # fmt: skip


def _sieved(run: _Run, options: BloomMakeOptions, without: Set[str]) -> list[MadeItem]:
    """The items that stay; why the others do not is added to what was dropped."""
    items = [run.made[slot.name] for slot in run.slots if slot.name in run.made]

    def drop(dropped: Mapping[str, ItemDropped]) -> None:
        run.dropped |= dropped
        items[:] = [item for item in items if item.slot.name not in run.dropped]

    drop(shared_pictures(items, options.per_picture, options.seed))
    first = options.languages[0]
    texts = [" ".join((item.questions[first].text, *item.questions[first].options)) for item in items]
    nearly = "nearly the same as "
    drop({
        items[number].slot.name: ItemDropped("set", Drop.NEAR_DUPLICATE, nearly + items[other].slot.name)
        for number, other in near_duplicates(texts).items()
    })  # fmt: skip
    long = "drawn by lot of those with a long key"
    drop({name: ItemDropped("set", Drop.LONGEST_IS_RIGHT, long) for name in sorted(longest_keys(items, options.seed))})
    left_out = {item.slot.name for item in items} & without
    drop({name: ItemDropped("set", Drop.WITHOUT, "left out by a list") for name in sorted(left_out)})
    return items


def _no_item(run: _Run) -> str:
    """Why no item is left, by the commonest reason and an example of it."""
    reasons = Counter(dropped.reason for dropped in run.dropped.values())
    (most, _), *_ = reasons.most_common(1)
    name, first = next((name, dropped) for name, dropped in run.dropped.items() if dropped.reason is most)
    example = run.example if most is Drop.NOT_ASKED else f"{name}, {first.stage}: {first.detail}"
    told = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common(3))
    anew = "" if run.missing else " Replies are kept: to have them asked for anew, name another --ledger."
    return f"None of {counted(len(run.slots), 'place')} came to an item (set aside: {told}; such as {example}).{anew}"


def _aside(run: _Run, judges: Sequence[str]) -> Aside:
    """What was dropped, with all that is known of it but the key: leaf, picture, question, options, who was against."""
    aside = Aside()
    for slot in run.slots:
        if (dropped := run.dropped.get(slot.name)) is None:
            continue
        about = dropped.about
        if made := run.made.get(slot.name):  # dropped when the set was whole
            first = next(iter(made.questions.values()))
            about = about_item(made.picture, first.text, first.options)
        against = ", ".join(name for name, passes in zip(judges, dropped.votes, strict=False) if not passes)
        detail = f"{dropped.stage}: {dropped.detail}" + f": {against}" * bool(against)
        aside.add(slot.name, dropped.reason.value, detail, {"path": slot.path, **about})
    return aside


def _short(hashes: Mapping[str, str]) -> str:
    return hashlib.sha256("".join(hashes.values()).encode()).hexdigest()[:12]


def _rows(items: Sequence[MadeItem], licences: Sequence[str], pictures: Pictures) -> Iterator[dict[str, Any]]:
    for item, licence in zip(items, licences, strict=True):
        origin = one_line(f"{pictures.description}: {item.picture.source_id}")
        end = f" ({licence})" if licence else ""
        row: dict[str, Any] = {
            "question_id": item.slot.name,
            "image": {"bytes": pictures.picture(item.picture), "path": None},
            "path": item.slot.path,
            "source": origin[: _SOURCE_CHARS - len(end)] + end,
            "answer": LETTERS[item.answer],
            "trap": LETTERS[item.trap],
        }
        for lang, question in item.questions.items():
            row |= {f"question_{lang}": question.text, f"options_{lang}": list(question.options)}
        yield row
