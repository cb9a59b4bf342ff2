"""A generated set: scenes and pictures for each category, concurrent items, deduplication, and the files.

A build is a function of source, configuration and ledger. An item does not depend on when others finish: the items of a
category choose their pictures by their scenes alone, once these are there. Items beyond the limit of a picture are
removed when all items are there.
"""

import hashlib
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any

from vcrgen.bloom.filtering import read_ids
from vcrgen.bloom.generation.deduplication import longest_keys, near_duplicates, repeated_facts, surplus_of_pictures
from vcrgen.bloom.generation.generated_pictures import GeneratedPictures, PictureFolder
from vcrgen.bloom.generation.item_pipeline import generate_item
from vcrgen.bloom.generation.item_records import (
    GeneratedItem,
    ItemSlot,
    LocalWork,
    PictureOffers,
    Scenario,
    StageCoroutine,
    item_facts,
)
from vcrgen.bloom.generation.item_slots import assign_slots, read_themes
from vcrgen.bloom.generation.prompts import PICTURE, prompt_hashes
from vcrgen.bloom.generation.scenario_files import ScenarioFiles, read_scenarios
from vcrgen.bloom.generation.scheduler import MissingReplies, MissingReply, RequestScheduler, UsageMeter
from vcrgen.bloom.generation.set_card import card_notes
from vcrgen.bloom.generation.source_pictures import PictureSource
from vcrgen.bloom.generation.stages import PROMPTS, plan_scenarios
from vcrgen.bloom.options import BloomGenerationOptions
from vcrgen.bloom.rejects import ItemRejected, ItemRejectReason, RejectLog
from vcrgen.bloom.shortcuts import ShortcutGate
from vcrgen.bloom.taxonomy import Taxonomy, load_taxonomy
from vcrgen.bloom.write import write_set
from vcrgen.core.errors import ConfigError, NoPairsError
from vcrgen.core.files import output_errors
from vcrgen.core.folder import check_free
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import ProgressListener
from vcrgen.data.manifest import Manifest
from vcrgen.data.tasks.bloom import LETTERS
from vcrgen.models.endpoint import EndpointModel
from vcrgen.models.run import open_replies
from vcrgen.report.escape import escape_markdown, one_line

GENERATOR = "models-4"  # another number when the same replies give other items
Pictures = PictureSource | GeneratedPictures
Pipeline = StageCoroutine[GeneratedItem]
_SOURCE_CHARS = 250  # of the column `source`
_KEPT_IN_MEMORY = 64 << 20  # bytes of pictures; further ones are kept in a file beside the set


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationResult:
    """Outcome of a run.

    Attributes:
        manifest: Of the finished set; None if replies are missing, in which case nothing was written.
        missing: Items without a reply.
        usage: Usage of all replies in the ledger.
    """

    manifest: Manifest | None
    missing: MissingReplies
    usage: UsageMeter
    ledger: Path


def generate_set(
    options: BloomGenerationOptions,
    out: Path,
    models: Mapping[str, EndpointModel],
    *,
    listener: ProgressListener | None = None,
) -> GenerationResult:
    """Generate an MCQ benchmark by models. An interrupted run resumes with the replies in its ledger.

    Raises:
        ConfigError: Taxonomy, themes, scenes or the list of excluded items cannot be read, or do not fit; the ledger is
            to be inside of the new folder.
        EndpointError: The server cannot be reached, or refuses one request after another.
        OutputError: The folder holds something, or the ledger is in use or damaged.
        ShortcutError: Readers without the pictures are right too often.
        SourceError: The pairs cannot be read.
    """
    assert options.model is not None
    taxonomy, themes = load_taxonomy(options.taxonomy), read_themes(options.themes)
    excluded = read_ids(options.without) if options.without else frozenset()
    check_free(out)
    names = [options.model, *options.judge_names, *([options.image_model] if options.image_model else [])]
    scenes = read_scenarios(options.scenarios, taxonomy)
    run = _SetRun(options, assign_slots(taxonomy, themes, options.per_category), scenes)
    if unknown := sorted(excluded - {slot.name for slot in run.slots}):
        raise ConfigError(f"{options.without} names items that the set cannot have, first {unknown[0][:80]!r}.")
    named = out if out.name not in ("", "..") else out.resolve()  # `--out .` has no name
    file = options.ledger or named.with_name(f"{named.name}.ledger")
    if file.resolve().is_relative_to(out.resolve()):
        raise ConfigError(f"--ledger {file} is inside of the new folder {out}; name a file that is not.")
    folder, listener = PictureFolder(file), listener or ProgressListener()
    with SpooledTemporaryFile(_KEPT_IN_MEMORY, dir=str(out.parent)) as spool:
        pictures: Pictures = (
            GeneratedPictures(options, folder)
            if options.image_model
            else PictureSource(options, spool, categories=len(run.categories), slots=len(run.slots))
        )
        with output_errors(file), open_replies(file, listener, offline=options.offline) as ledger:
            if not options.offline:
                folder.clean()
            out.parent.mkdir(parents=True, exist_ok=True)
            scheduler = RequestScheduler(ledger, names, models, options, folder)
            run.fill_slots(scheduler, pictures, listener)
            manifest = None
            if not run.missing.counts or options.allow_failed:
                manifest = _write(run, out, pictures, scheduler, taxonomy, themes, excluded)
    return GenerationResult(manifest=manifest, missing=run.missing, usage=scheduler.ledger_usage, ledger=file)


class _SetRun:
    """The items of a set, and the outcome of each.

    Attributes:
        items: By the name of the slot, in the set's order.
        rejected: Likewise.
        missing: Slots without a reply.
    """

    def __init__(
        self, options: BloomGenerationOptions, categories: Sequence[Sequence[ItemSlot]], scenes: ScenarioFiles
    ) -> None:
        self.options, self.categories, self.scenes = options, categories, scenes
        self.slots = [slot for category in categories for slot in category]  # in the set's order
        self.items: dict[str, GeneratedItem] = {}
        self.rejected: dict[str, ItemRejected] = {}
        self.missing = MissingReplies.of([])
        self._missing: dict[str, MissingReply] = {}  # by the name of the slot

    def fill_slots(self, scheduler: RequestScheduler, pictures: Pictures, listener: ProgressListener) -> None:
        """Bring every slot to an item, a rejection, or a missing reply."""
        listener.begin(len(self.slots), 0)
        listener.note(scheduler.ledger_usage.note)
        waiting: deque[tuple[int | ItemSlot, StageCoroutine[Any]]] = deque(
            (number, self._plan_category(number, pictures)) for number in range(len(self.categories))
        )
        for key, outcome in scheduler.run(lambda: waiting.popleft() if waiting else None, listener):
            listener.note(scheduler.ledger_usage.note)
            if isinstance(key, ItemSlot):
                self._record(key, outcome, listener)
            elif isinstance(outcome, ItemRejected | MissingReply):
                for slot in self.categories[key]:
                    self._record(slot, outcome, listener)
            else:
                for slot, pipeline in outcome:
                    if isinstance(pipeline, ItemRejected):
                        self._record(slot, pipeline, listener)
                    else:
                        waiting.append((slot, pipeline))
                listener.advance(0, 0, Counter())  # scenes for many categories may take minutes
        # Slots finish in another order in each run; what is written must not depend on it.
        names = [slot.name for slot in self.slots]
        self.items = {name: self.items[name] for name in names if name in self.items}
        self.rejected = {name: self.rejected[name] for name in names if name in self.rejected}
        self.missing = MissingReplies.of([(name, self._missing[name]) for name in names if name in self._missing])

    def _plan_category(
        self, number: int, pictures: Pictures
    ) -> StageCoroutine[list[tuple[ItemSlot, Pipeline | ItemRejected]]]:
        """Find scenes and pictures for the slots of a category; return the pipeline of each item, or its rejection."""
        slots, options = self.categories[number], self.options
        scenes: dict[str, Iterator[Scenario]] = {}
        pipelines: list[tuple[ItemSlot, Pipeline | ItemRejected]] = []
        for theme in dict.fromkeys(slot.theme for slot in slots):
            if given := self.scenes.scenes.get(slots[0].path):
                scenes[theme] = cycle(given)
                continue
            try:
                scenes[theme] = cycle((yield from plan_scenarios(slots[0].path, theme, options.languages[0])))
            except ItemRejected as rejected:
                pipelines.extend((slot, rejected) for slot in slots if slot.theme == theme)
        if not scenes:
            return pipelines
        planned = [(slot, next(scenes[slot.theme])) for slot in slots if slot.theme in scenes]
        offers: list[PictureOffers] = yield LocalWork(lambda: pictures.offer(number, planned))
        how = {"options": options.options, "judges": len(options.judge_names), "seed": options.seed}
        pipelines.extend(
            (slot, generate_item(slot, scene, few, languages=options.languages, **how))
            for (slot, scene), few in zip(planned, offers, strict=True)
        )
        return pipelines

    def _record(
        self, slot: ItemSlot, outcome: GeneratedItem | ItemRejected | MissingReply, listener: ProgressListener
    ) -> None:
        if isinstance(outcome, ItemRejected):
            self.rejected[slot.name] = outcome
            listener.advance(1, 0, Counter({outcome.reason.value: 1}))
        elif isinstance(outcome, MissingReply):
            self._missing[slot.name] = outcome
            # Without the cause: offline, where the set has to be the same, it is not known.
            self.rejected[slot.name] = ItemRejected(ItemRejectReason.MISSING_REPLY, "a reply is missing", "asking")
            listener.advance(1, 0, Counter({outcome.reason: 1}))
        else:
            self.items[slot.name] = outcome
            listener.advance(1, 1, Counter())

    def deduplicate(self, excluded: Set[str]) -> list[GeneratedItem]:
        """Reject what does not fit into the set as a whole, and return the other items."""
        options, items = self.options, list(self.items.values())

        def reject(reason: ItemRejectReason, details: Mapping[str, str]) -> None:
            self.rejected |= {name: ItemRejected(reason, detail, "set") for name, detail in details.items()}
            items[:] = [item for item in items if item.slot.name not in self.rejected]

        # Before the limit of a picture, so that no repetition takes the place of another item.
        repeats = repeated_facts(items).items()
        reject(ItemRejectReason.REPEATED_FACT, {a: f"asks of its picture what {b} asks" for a, b in repeats})
        for reason, details in surplus_of_pictures(items, options.per_picture, options.seed).items():
            reject(reason, details)
        first = options.languages[0]
        texts = [" ".join((item.questions[first].text, *item.questions[first].options)) for item in items]
        names = [item.slot.name for item in items]
        duplicates = near_duplicates(texts).items()
        reject(ItemRejectReason.NEAR_DUPLICATE, {names[a]: f"nearly the same as {names[b]}" for a, b in duplicates})
        long = sorted(longest_keys(items, options.seed))
        reject(ItemRejectReason.LONGEST_IS_RIGHT, dict.fromkeys(long, "drawn at random among items with a long key"))
        left_out = sorted({item.slot.name for item in items} & excluded)
        reject(ItemRejectReason.EXCLUDED, dict.fromkeys(left_out, "excluded by a list"))
        return items

    def reject_log(self) -> RejectLog:
        """The rejected items with all that is known of them but the key."""
        log = RejectLog()
        for slot in self.slots:
            if (rejected := self.rejected.get(slot.name)) is None:
                continue
            facts = rejected.about
            if item := self.items.get(slot.name):  # rejected when the set was whole
                first = next(iter(item.questions.values()))
                facts = item_facts(item.picture, first.text, first.options)
            votes = zip(self.options.judge_names, rejected.votes, strict=False)
            against = ", ".join(name for name, accepts in votes if not accepts)
            detail = f"{rejected.stage}: {rejected.detail}" + f": {against}" * bool(against)
            log.add(slot.name, rejected.reason, detail, {"path": slot.path, **facts})
        return log

    def no_item_message(self) -> str:
        """Return why no item is left: the most frequent reasons, and an example of the first."""
        reasons = Counter(rejected.reason for rejected in self.rejected.values())
        (most, _), *_ = reasons.most_common(1)
        name, first = next((name, rejected) for name, rejected in self.rejected.items() if rejected.reason is most)
        missing = most is ItemRejectReason.MISSING_REPLY
        example = self.missing.example if missing else f"{name}, {first.stage}: {first.detail}"
        counts = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common(3))
        hint = "" if self.missing.counts else " Replies are kept: name another --ledger to request them again."
        slots = pluralize(len(self.slots), "slot")
        return f"None of {slots} came to an item (rejected: {counts}; such as {example}).{hint}"


def _write(
    run: _SetRun,
    out: Path,
    pictures: Pictures,
    scheduler: RequestScheduler,
    taxonomy: Taxonomy,
    themes: Mapping[str, int],
    excluded: Set[str],
) -> Manifest:
    """Deduplicate the items and write the others."""
    options, items = run.options, run.deduplicate(excluded)
    if not items:
        raise NoPairsError(run.no_item_message())
    votes = [item.votes for item in run.items.values()]
    votes += [rejected.votes for rejected in run.rejected.values() if rejected.votes]
    hashes = prompt_hashes([PICTURE, *PROMPTS] if options.image_model else PROMPTS)
    counts = Counter((rejected.stage, rejected.reason.value) for rejected in run.rejected.values())
    licenses = [options.license] * len(items)
    if isinstance(pictures, PictureSource):
        licenses = pictures.licenses([item.picture for item in items])
    return write_set(
        out,
        _rows(items, licenses, pictures),
        languages=options.languages,
        taxonomy=taxonomy,
        source=f"pictures {'' if options.image_model else 'of '}{pictures.description}, questions of models",
        config=_config(options, hashes, themes, excluded, run.scenes),
        rejects=run.reject_log(),
        license_note=_license_note(options),
        facts=_facts(options, hashes),
        gate=ShortcutGate(allowed=options.allow_shortcuts),
        notes=card_notes(items, taxonomy, counts, scheduler, votes, pictures.unusable, Counter(licenses), options)
        + _scene_notes(run.scenes),
    )


def _config(
    options: BloomGenerationOptions,
    hashes: Mapping[str, str],
    themes: Mapping[str, int],
    excluded: Set[str],
    scenes: ScenarioFiles,
) -> dict[str, Any]:
    """Return what decides the rows, without names of local files; conditions only where they are given."""
    config = {
        "maker": GENERATOR,
        "model": options.model,
        "judges": list(options.judge_names),
        "prompts": hashes,
        "themes": dict(themes),
        "licence": options.license,
        "licence_column": options.license_column,
        "lang": options.lang,
        "per_leaf": options.per_category,
        "per_picture": options.per_picture,
        "pictures": options.pictures,
        "seed": options.seed,
        "limit": options.limit,
        **({"options": options.options} if options.options != 4 else {}),
    }
    for name in ("where", "source_split"):
        if (value := getattr(options, name)) != BloomGenerationOptions.model_fields[name].default:
            config[name] = value
    if excluded:
        config["without"] = sorted(excluded)
    if scenes.scenes:
        config["scenarios"] = scenes.digest
    if options.image_model:
        config |= {"image_model": options.image_model, "image_parameters": options.image_parameters}
    return config


def _facts(options: BloomGenerationOptions, hashes: Mapping[str, str]) -> dict[str, str]:
    """The parts of the signature that tell how the items were generated."""
    models = {"model": options.model or "", "judges": "+".join(options.judge_names)}
    if options.image_model:
        models["images"] = options.image_model
    prompts = hashlib.sha256("".join(hashes.values()).encode()).hexdigest()[:12]
    names = {kind: name.replace("|", "_") for kind, name in models.items()}
    return {"maker": GENERATOR, **names, "prompts": prompts}


def _scene_notes(scenes: ScenarioFiles) -> str:
    """Return a section of the card on scenes of files; "" without any."""
    if not scenes.scenes:
        return ""
    count = sum(map(len, scenes.scenes.values()))
    unknown = ", ".join(map(escape_markdown, scenes.unknown))
    return (
        f"\n## Scenes\n\n{pluralize(count, 'scene')} of {pluralize(len(scenes.scenes), 'category', 'categories')} are "
        f"from files; the author wrote those of the others. Files of no category: {unknown or 'none'}.\n"
    )


def _license_note(options: BloomGenerationOptions) -> str:
    if options.license_column:
        return "The license of each picture stands at the end of `source`; they are counted below."
    return f"License of the pictures, as their user says: {escape_markdown(options.license)}." * bool(options.license)


def _rows(items: Sequence[GeneratedItem], licenses: Sequence[str], pictures: Pictures) -> Iterator[dict[str, Any]]:
    for item, license_ in zip(items, licenses, strict=True):
        origin = one_line(f"{pictures.description}: {item.picture.source_id}")
        end = f" ({license_})" if license_ else ""
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
