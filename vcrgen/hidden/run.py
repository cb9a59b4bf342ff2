"""Building a hidden set: pairs are selected in a secret order, then both parts are moved to their place.

Until then everything is in ``OUT/.vcrgen-hidden``, which only its owner may enter:

    plan.json           the fingerprint of source, options, versions and secret
    decisions.jsonl     the ledger of the rounds
    form-1/public, form-1/key
"""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

from vcrgen.builder.options import BuildConfig, load_build_config
from vcrgen.builder.shards import byte_versions
from vcrgen.builder.sources import SampleSource, Source, check_columns, open_every_split, open_source
from vcrgen.core.errors import ConfigError, NoPairsError, OutputError, SourceError
from vcrgen.core.files import atomic_path, canonical_json, output_errors
from vcrgen.core.folder import WorkFolder
from vcrgen.core.ledger import Ledger
from vcrgen.core.progress import ProgressListener
from vcrgen.core.signature import Signature
from vcrgen.core.storage import DiskFolder
from vcrgen.data.key import REPORT, VERSION, Pictures
from vcrgen.hidden.earlier import add_part, find_earlier_sets, part_digest
from vcrgen.hidden.forms import FormBuilder, FormItem
from vcrgen.hidden.options import HiddenOptions
from vcrgen.hidden.planning import open_planning
from vcrgen.hidden.public import IMAGE_FOLDERS, PAIR_FORMAT, is_complete, stamp, write_set
from vcrgen.hidden.reference import Reference
from vcrgen.hidden.report import overlap_report, summary_report
from vcrgen.hidden.rounds import RoundSelector
from vcrgen.hidden.secret import Secret, check_unused, open_secret, remember_set
from vcrgen.hidden.similarity import similarity_report
from vcrgen.hidden.splits import draw_splits
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.normalise import NORMALISATION
from vcrgen.typeset.cover_kinds import PATTERN_RULES, ROWS
from vcrgen.typeset.fonts import Face, resolve_font, text_faces

WORK = ".vcrgen-hidden"
DECISIONS = "decisions.jsonl"
DESIGN = "design-3"  # name and version of what is drawn from the secret
_SET_OPTIONS = ("items", "forms", "same_pairs", "feedback")  # options that decide the bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenResult:
    """A finished hidden set."""

    public: tuple[Path, ...]  # the public part of every form
    keys: tuple[Path, ...]  # the key of every form
    report: dict[str, Any]  # of the first form, with the overlap of all forms
    was_complete: bool  # the set existed already
    source: str  # what was read, in a line


def make_hidden(
    options: HiddenOptions,
    *,
    out: str | Path,
    secret_file: str | Path,
    workers: int = 1,
    listener: ProgressListener | None = None,
) -> HiddenResult:
    """Make a hidden test set.

    The same source, options and secret give the same bytes for any number of workers. Run again to resume. With
    ``workers`` above 1, the calling script needs the usual ``if __name__ == "__main__":``.

    Args:
        out: Folder of the set: with ``public`` and ``key``, or with such folders for every form.
        secret_file: The maintainer's secret; created if missing.
        workers: Number of processes that choose the spans and their covers.

    Raises:
        VcrgenError: The user can fix it; the message never quotes secret or answer.
    """
    out, secret_file = Path(out), Path(secret_file)
    with output_errors(out):
        place = WorkFolder(DiskFolder(out), WORK, making="hidden set", private=True)
        sources = _open_sources(options)
        secret = open_secret(secret_file, out)
        listener = listener or ProgressListener()
        run = _Run(options, sources, secret, out=out, place=place, workers=workers, listener=listener)
        was_complete = run.finish(None if options.reuse_secret else secret_file)
        return run.result(was_complete=was_complete)


def source_of_pictures(built_in: bool, options: HiddenOptions, *, what: str, give: str) -> Pictures:
    """Tell where the pictures of a set are from.

    Raises:
        ConfigError: A built-in source is public, another source is to be drawn from the secret, or nothing is said.
    """
    if built_in and not options.private_source:
        raise ConfigError(
            f"{what} are public: whoever has vcrgen can rebuild them, and every answer with them. Give {give} of your "
            "own, or --private-source to draw them from the secret."
        )
    if options.private_source and not built_in:
        raise ConfigError(
            f"--private-source draws the built-in pairs (`samples`) or questions (`scenes`) from the secret; "
            f"{options.config.source} is another source, so leave it out."
        )
    if built_in:
        return Pictures.DRAWN
    if not options.not_in and not options.public_pictures:
        raise ConfigError(
            "Whoever finds a picture of a hidden set finds what is written about it; name public data that the "
            "pictures could be from with --not-in, or give --public-pictures, which the set's card and boards show."
        )
    return Pictures.PUBLIC if options.public_pictures else Pictures.COMPARED


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """What a set is made of and compared with."""

    pairs: Source
    pictures: Pictures
    fonts: list[tuple[str, str]]  # names, each with the digest of its file and the number of its face
    earlier: list[Path]  # public parts and keys of earlier sets
    references: list[tuple[str, Source, BuildConfig]]  # public pairs: the split, its pairs, how they are read


def _open_sources(options: HiddenOptions) -> _Sources:
    """Open everything that a set is made of, so that a mistake is found before a secret is made."""
    config = options.config
    pairs = open_source(config)
    pictures = source_of_pictures(isinstance(pairs, SampleSource), options, what="Built-in pairs", give="pairs")
    check_columns(pairs, config)
    faces = [(font, *resolve_font(font)) for font in options.fonts or text_faces(config.lang)]
    parts_by_name = {name: find_earlier_sets(name) for name in options.not_in}
    public = [name for name, parts in parts_by_name.items() if not parts]
    public_configs = [load_build_config(None, {"source": name, "lang": config.lang}) for name in public]
    references = [
        (split, source, public_config)
        for public_config in public_configs
        for split, source in open_every_split(public_config).items()
    ]
    for _, source, public_config in references:
        _check_reference(source, public_config)
    return _Sources(
        pairs=pairs,
        pictures=pictures,
        fonts=[(font, f"{Face(path, 20, index).sha256}#{index}") for font, path, index in faces],
        earlier=[part for parts in parts_by_name.values() for part in parts],
        references=references,
    )


def _check_reference(source: Source, config: BuildConfig) -> None:
    """Refuse, with a SourceError, public pairs whose columns have other names, which no option of --not-in says."""
    source.names()  # a file that cannot be read has its own message
    try:
        check_columns(source, config)
    except SourceError:
        raise SourceError(
            f"{config.source} cannot be compared with: the columns of --not-in have to be `image` and `caption`, as "
            "those of a dataset of `vcrgen build --column`."
        ) from None


class _Run:
    """One set under construction; nothing is written before `finish`."""

    def __init__(
        self,
        options: HiddenOptions,
        sources: _Sources,
        secret: Secret,
        *,
        out: Path,
        place: WorkFolder,
        workers: int,
        listener: ProgressListener,
    ) -> None:
        self._options, self._config, self._secret = options, options.config, secret
        self._out, self._work, self._place = out, out / WORK, place
        self._workers, self._listener = workers, listener
        self._fonts, self._earlier, self._references = sources.fonts, sources.earlier, sources.references
        self._pictures = sources.pictures
        self._compared: list[dict[str, Any]] = []  # every reference with the number of its pairs
        self._partitions = sources.pairs.partitions()
        self._source = sources.pairs
        if isinstance(self._source, SampleSource):
            self._source = self._source.starting_at(secret.number("samples"))
        self._forms = range(max(options.forms, options.same_pairs))
        self._targets = [out] if len(self._forms) == 1 else [out / f"form-{form + 1}" for form in self._forms]
        listener.stage("loading fonts and text pipeline")
        self._builder = FormBuilder(self._config, self._secret, [font for font, _ in self._fonts])
        for font in options.fonts:  # so that an unusable one is found before anything is written
            self._builder.check_font(font)
        self._signature = self._make_signature()
        self._facts = self._make_facts()
        self._fingerprint = self._seal(self._facts)

    def finish(self, secret_file: Path | None) -> bool:
        """Build what is missing, and return whether the set was complete.

        Args:
            secret_file: The file that names the set which its secret made; None if it may make several sets.
        """
        was_complete = is_complete(self._out, self._targets, self._fingerprint)
        if not was_complete:
            self._place.check_out()
            if secret_file:
                check_unused(secret_file, self._fingerprint)
            try:
                with self._place.locked():
                    self._place.freeze(self._plan())
                    for form, view in product(self._unmoved, IMAGE_FOLDERS):
                        (self._part(form, "public") / view).mkdir(parents=True, exist_ok=True)
                    with Ledger(self._work / DECISIONS, self._listener.warn) as ledger:
                        rounds = self._decide(ledger)
                    self._write_parts([decided.answers for decided in rounds.done], rounds.rejected)
                    if secret_file:
                        remember_set(secret_file, self._fingerprint)
                    self._move_out()
            except SourceError as error:
                if isinstance(error, NoPairsError) or not (self._work / DECISIONS).exists():
                    self._place.clear()
                raise
        self._place.folder.remove()
        if self._work.exists():
            raise OutputError(f"{self._work} holds answers and cannot be removed; remove it before you go on.")
        return was_complete

    def result(self, *, was_complete: bool) -> HiddenResult:
        """The finished set."""
        keys = tuple(target / "key" for target in self._targets)
        return HiddenResult(
            public=tuple(target / "public" for target in self._targets),
            keys=keys,
            report=json.loads((keys[0] / REPORT).read_text("utf-8")),
            was_complete=was_complete,
            source=self._source.description,
        )

    def _decide(self, ledger: Ledger) -> RoundSelector:
        """Select the pairs; the ledger holds the rounds of earlier runs."""
        reference = Reference(self._config.max_pixels)
        for split, source, config in self._references:
            self._listener.stage(f"reading {config.source} {split}".strip())
            pairs = reference.add_source(source, config)
            self._compared.append({"source": config.source, "split": split, "pairs": pairs})
        for part in self._earlier:
            self._listener.stage(f"reading {part}")
            self._compared.append({"source": str(part), "split": "", "pairs": add_part(reference, part)})
        self._listener.stage("")
        forms, pairs = self._options.same_pairs, self._options.forms
        with open_planning(self._builder, forms=forms, pairs=pairs, workers=self._workers) as planning:
            rounds = RoundSelector(
                self._options,
                source=self._source,
                secret=self._secret,
                builder=self._builder,
                planning=planning,
                other_pairs=reference,
                store=self._store,
                listener=self._listener,
            )
            rounds.finish(ledger)
        return rounds

    def _store(self, number: int, form: FormItem) -> None:
        """Write the images of an item atomically."""
        for view, data in zip(IMAGE_FOLDERS, (form.stacked, form.only_it), strict=True):
            with atomic_path(self._part(number, "public") / view / f"{form.question_id}.png") as temporary:
                temporary.write_bytes(data)

    @property
    def _unmoved(self) -> list[int]:
        """The forms that no earlier run has begun to move to their place."""
        return [form for form in self._forms if not (self._targets[form] / "key").exists()]

    def _part(self, form: int, part: str) -> Path:
        return self._work / f"form-{form + 1}" / part

    def _write_parts(self, rounds: Sequence[Sequence[dict[str, Any]]], rejected: Counter[str]) -> None:
        """Write everything but the images; ``rounds`` has the answers of one item of every form."""
        language = self._config.lang
        forms = [[answers[form] for answers in rounds] for form in self._forms]
        overlap = overlap_report(forms) if self._options.same_pairs > 1 else []
        similarity = similarity_report(forms) if self._options.forms > 1 else {}
        for form in self._unmoved:
            answers = sorted(forms[form], key=lambda answer: str(answer["question_id"]))
            splits = draw_splits(self._secret, form, answers, round(self._options.feedback * len(answers)))
            answers = [answer | {"part": split} for answer, split in zip(answers, splits, strict=True)]
            report = summary_report(
                answers, language=language, modes=self._config.modes, rejected=dict(sorted(rejected.items()))
            )
            report |= {"form": form + 1, "overlap": overlap, "alike": similarity, "compared": self._compared}
            key = self._part(form, "key")
            key.mkdir(exist_ok=True)
            write_set(
                self._part(form, "public"),
                key,
                PAIR_FORMAT,
                answers,
                report,
                secret=self._secret,
                number=form,
                fingerprint=self._fingerprint,
                signature=self._signature,
                canary=self._builder.canary(form),
                pictures=self._pictures,
                language=language,
            )

    def _move_out(self) -> None:
        """Move the parts to their place, the key before the public part that commits to it."""
        for form, target in enumerate(self._targets):
            target.mkdir(exist_ok=True)
            key, public = self._part(form, "key"), self._part(form, "public")
            if not (target / "key").exists():
                for file in key.iterdir():
                    file.chmod(0o600)
                key.chmod(0o700)
                key.replace(target / "key")
            if not (target / "public").exists():
                stamp(public)
                public.replace(target / "public")

    def _make_signature(self) -> Signature:
        """The signature of scores against the key, without the secret."""
        config, text = self._config, self._builder.pipeline.text
        kind = "" if config.cover == ROWS else f"{config.cover}-"
        language, acceptance = LANGUAGES[config.lang], self._builder.pipeline.acceptance
        covers = (f"{mode}={kind}{language.cover_target(mode).visible:g}" for mode in config.modes)
        fonts = canonical_json([digest for _, digest in self._fonts])
        facts = {
            "vcrgen": version("vcrgen"),
            "set": VERSION,
            "lang": config.lang,
            "mask": f"ngram-{config.ngram_size}",
            "share": f"{config.max_share:g}",
            "norm": NORMALISATION,
            "seg": text.segmenter,
            "elig": text.rules,
            "cover": ",".join(covers),
            "fonts": hashlib.sha256(fonts.encode()).hexdigest()[:12],
            "lines": str(config.max_lines),
            "pictures": self._pictures.value,
        }
        facts |= {"bits": acceptance.name} if acceptance else {}
        return Signature(facts | ({"drawing": PATTERN_RULES} if config.cover != ROWS else {}))

    def _make_facts(self) -> dict[str, Any]:
        """Everything that decides the bytes, by name, except for the secret."""
        built = self._builder.pipeline.signature.facts
        return {
            "design": DESIGN,
            "config": self._config.public_fields(),
            "signature": str(self._signature),
            "censor": built["censor"],
            "layout": built["layout"],
            "partitions": [asdict(partition) for partition in self._partitions],
            **self._options.model_dump(include=set(_SET_OPTIONS)),
            "fonts": self._fonts,
            "not_in": [[asdict(partition) for partition in source.partitions()] for _, source, _ in self._references],
            "earlier": [part_digest(part) for part in self._earlier],
            "versions": byte_versions(),
        }

    def _plan(self) -> dict[str, Any]:
        """The plan for comparison with other runs, without readable facts of the source."""
        facts = {name: self._facts[name] for name in (*_SET_OPTIONS, "fonts", "censor", "layout")}
        facts["source or secret"] = self._seal([self._facts[name] for name in ("partitions", "not_in", "earlier")])
        facts |= self._facts["config"] | self._facts["versions"] | dict(self._signature.facts)
        return {"fingerprint": self._fingerprint, "facts": facts}

    def _seal(self, value: Any) -> str:
        return self._secret.seal(canonical_json(value).encode())[:32]
