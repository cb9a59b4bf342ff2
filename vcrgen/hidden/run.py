"""Making a hidden set: pairs in a secret order, each decided once and kept, then both parts put in place at once.

While it is made, everything lies in ``OUT/.vcrgen-hidden``, which only its owner may enter:

    plan.json               the fingerprint of source, options, versions and secret
    decisions/000012.json   what became of one pair of the source
    form-1/public, form-1/key
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from vcrgen.builder.run import Watcher, readable_disk_errors
from vcrgen.builder.shards import BYTE_PACKAGES
from vcrgen.builder.sources import Source, check_columns, iter_items, open_source
from vcrgen.config import BuildConfig, load_build_config
from vcrgen.dataset.key import ANSWERS, KEY_FILE, REPORT, VERSION, KeyManifest, is_key, read_key
from vcrgen.errors import HiddenSetError, NoPairsError, OutputError, SourceError
from vcrgen.files import atomic_path, canonical_json, sha256_file, write_json, write_text
from vcrgen.hidden.forms import FormMaker
from vcrgen.hidden.public import VIEWS, content_digest, public_manifest, stamp, write_description, write_questions
from vcrgen.hidden.reference import Reference
from vcrgen.hidden.report import mix_report, overlap_report
from vcrgen.hidden.secret import Secret, load_secret
from vcrgen.records import Item, Reason, Reject
from vcrgen.signature import Signature
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.normalise import NORMALISATION
from vcrgen.typeset.fonts import Face, font_register, resolve_font, text_faces

WORK = ".vcrgen-hidden"
MAX_VARIANTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenOptions:
    """What a hidden set is made of.

    Attributes:
        config: Source, language, text and mask options; what it says of width, font and mode does not count here.
        items: Pairs in the set.
        variants: Forms: the same pairs with other spans, fonts and places.
        fonts: Names of faces or font files; empty for all shipped text faces of the language.
        not_in: Sources whose pairs must not be in the set.
    """

    config: BuildConfig
    items: int = 100
    variants: int = 1
    fonts: tuple[str, ...] = ()
    not_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenResult:
    """A finished hidden set.

    Attributes:
        public: The public part of every form.
        keys: The key of every form.
        report: Of the first form, with the overlap of all.
        was_complete: Whether it was there already.
        made_secret: Whether a secret was made.
    """

    public: tuple[Path, ...]
    keys: tuple[Path, ...]
    report: dict[str, Any]
    was_complete: bool
    made_secret: bool


@dataclass(frozen=True, slots=True)
class _Decision:
    """What became of one pair: the key's line for every form, or why it was set aside."""

    answers: list[dict[str, Any]]
    keys: dict[str, str]
    reason: str = ""


def make_hidden(
    options: HiddenOptions, *, out: Path, secret_file: Path, watcher: Watcher | None = None
) -> HiddenResult:
    """Make a hidden test set.

    The same source, options and secret give the same bytes; interrupted or killed, the same call goes on.

    Args:
        options: What to make.
        out: Folder of the set: with ``public`` and ``key``, or with such folders for every form.
        secret_file: The maintainer's secret; made if it is not there.
        watcher: Told of the progress.

    Raises:
        VcrgenError: The user can mend it; the message says how, and never quotes secret or answer.
    """
    if options.items < 1 or not 1 <= options.variants <= MAX_VARIANTS:
        raise HiddenSetError(f"A hidden set has at least 1 item and 1 to {MAX_VARIANTS} variants.")
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file; choose a folder for --out.")
    if secret_file.resolve().is_relative_to(out.resolve()):
        raise HiddenSetError(f"The secret file {secret_file} lies inside {out}; keep it away from what is published.")
    with readable_disk_errors(out):
        source = open_source(options.config)
        check_columns(source, options.config)
        fonts = options.fonts or default_fonts(options.config.lang)
        font_hashes = [_font_hash(font) for font in fonts]
        secret, made = load_secret(secret_file, create=not (out.is_dir() and any(out.iterdir())))
        run = _Run(options, source, secret, fonts, font_hashes, out, watcher or Watcher())
        return run.finish(made)


def default_fonts(lang: str) -> tuple[str, ...]:
    """All shipped text faces of a language: not those that may have been fetched, so every machine has the same."""
    return tuple(name for name in text_faces(lang) if not font_register()[name].fetched)


def _font_hash(font: str) -> str:
    path, index = resolve_font(font)
    return f"{Face(path, 20, index).sha256}#{index}"


def _open_reference(name: str, lang: str) -> tuple[Source, BuildConfig]:
    config = load_build_config(None, {"source": name, "lang": lang})
    source = open_source(config)
    check_columns(source, config)
    return source, config


class _Run:
    """One set on its way."""

    def __init__(
        self,
        options: HiddenOptions,
        source: Source,
        secret: Secret,
        fonts: Sequence[str],
        font_hashes: Sequence[str],
        out: Path,
        watcher: Watcher,
    ) -> None:
        self._options, self._config = options, options.config
        self._source, self._secret, self._fonts = source, secret, fonts
        self._out, self._work, self._watcher = out, out / WORK, watcher
        self._partitions = source.partitions()
        self._references = [_open_reference(name, options.config.lang) for name in options.not_in]
        self._targets = self._make_targets()
        watcher.stage("loading fonts and text pipeline")
        self._maker = FormMaker(options.config, secret, fonts, options.variants)
        self._signature = self._make_signature(font_hashes)
        self._fingerprint = self._make_fingerprint(font_hashes)

    def finish(self, made_secret: bool) -> HiddenResult:
        """Do what is not done yet, and give the set."""
        was_complete = self._check_out()
        if not was_complete:
            with self._locked():
                self._freeze()
                self._remove_halves()
                decisions, drops = self._decide()
                self._write_parts(decisions, drops)
                self._move_out()
        if self._work.exists():
            shutil.rmtree(self._work)
        report = json.loads((self._targets[0] / "key" / REPORT).read_text("utf-8"))
        return HiddenResult(
            public=tuple(target / "public" for target in self._targets),
            keys=tuple(target / "key" for target in self._targets),
            report=report,
            was_complete=was_complete,
            made_secret=made_secret,
        )

    def _make_targets(self) -> list[Path]:
        """The folder of each form."""
        count = self._options.variants
        return [self._out] if count == 1 else [self._out / f"form-{form + 1}" for form in range(count)]

    def _check_out(self) -> bool:
        """Whether the set is there already; a folder with anything else in it is refused."""
        there = all(is_key(target / "key") and (target / "public").is_dir() for target in self._targets)
        if there and all(read_key(target / "key").fingerprint == self._fingerprint for target in self._targets):
            return True
        if not self._work.is_dir() and self._out.exists() and any(self._out.iterdir()):
            raise OutputError(
                f"{self._out} is not empty: it holds another hidden set (other source, options, versions or secret) "
                "or other files; choose another --out."
            )
        return False

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._work.mkdir(parents=True, exist_ok=True)
        self._work.chmod(0o700)
        try:
            with FileLock(self._work / "lock").acquire(timeout=0):
                yield
        except Timeout:
            raise OutputError(f"Another process is writing to {self._out}; wait for it.") from None
        except SourceError as error:
            if isinstance(error, NoPairsError) or not any((self._work / "decisions").iterdir()):
                shutil.rmtree(self._work)
                if not any(self._out.iterdir()):
                    self._out.rmdir()
            raise

    def _freeze(self) -> None:
        file = self._work / "plan.json"
        if not file.exists():
            write_json(file, {"fingerprint": self._fingerprint})
        elif json.loads(file.read_text("utf-8")).get("fingerprint") != self._fingerprint:
            raise OutputError(
                f"{self._out} holds an unfinished set of another source, secret, other options or versions; finish "
                "that one with its own command, or remove the folder."
            )

    def _remove_halves(self) -> None:
        """Files that a killed run was writing; they must not come into the set."""
        for half in self._work.rglob("*.tmp"):
            half.unlink()

    def _decide(self) -> tuple[list[_Decision], Counter[str]]:
        """Take pairs in the secret order until there are enough; what an earlier run has decided is read."""
        (self._work / "decisions").mkdir(exist_ok=True)
        for form in self._unmoved:
            for view in VIEWS:
                (self._part(form, "public") / view).mkdir(parents=True, exist_ok=True)
        reference = self._read_reference()
        wanted, taken, drops = self._options.items, list[_Decision](), Counter[str]()
        self._watcher.stage("")
        self._watcher.begin(wanted, 0)
        for candidate in self._candidates():
            decision = self._read_decision(candidate)
            if decision is None:
                item = next(iter(iter_items(self._source, self._config, *candidate, candidate[1] + 1)), None)
                if item is None:
                    continue  # a row that does not meet the conditions
                decision = self._judge(item, taken, reference)
                write_json(self._decision_file(candidate), asdict(decision))
            if decision.answers:
                taken.append(decision)
                self._watcher.advance(1, 1, Counter())
            else:
                drops[decision.reason] += 1
                self._watcher.advance(0, 0, Counter([decision.reason]))
            if len(taken) == wanted:
                return taken, drops
        most = ", ".join(f"{reason} {count}" for reason, count in drops.most_common(3))
        raise NoPairsError(
            f"The source {self._source.description} has {len(taken)} usable pairs, and {wanted} are asked for with "
            f"--items (set aside: {most or 'none'})."
        )

    def _candidates(self) -> list[tuple[int, int]]:
        """Partition and row of every pair of the source, in an order that only the secret gives."""
        rows = [(number, row) for number, part in enumerate(self._partitions) for row in range(part.rows)]
        return sorted(rows, key=lambda row: self._secret.token("order", f"{row[0]}/{row[1]}"))

    def _judge(self, item: Item, taken: Sequence[_Decision], reference: Reference | None) -> _Decision:
        """Whether a pair comes into the set, and its images, if so, on the disk."""
        if reference and item.image is not None and reference.match(item.image, item.caption or ""):
            return _Decision([], {}, str(Reason.IN_REFERENCE))
        before = [sum(len(decision.answers[form]["spans"]) for decision in taken) for form in self._forms]
        forms = self._maker.forms(item, len(taken), before)
        if isinstance(forms, Reject):
            return _Decision([], {}, str(forms.reason))
        keys = forms[0].keys
        if any(known.keys[name] == keys[name] for known in taken for name in ("image", "caption")):
            return _Decision([], {}, str(Reason.DUPLICATE))
        for number, form in enumerate(forms):
            for view, data in zip(VIEWS, (form.stacked, form.only_it), strict=True):
                with atomic_path(self._part(number, "public") / view / f"{form.question_id}.png") as temporary:
                    temporary.write_bytes(data)
        return _Decision([form.answer for form in forms], keys)

    def _read_decision(self, candidate: tuple[int, int]) -> _Decision | None:
        file = self._decision_file(candidate)
        return _Decision(**json.loads(file.read_text("utf-8"))) if file.exists() else None

    def _decision_file(self, candidate: tuple[int, int]) -> Path:
        return self._work / "decisions" / f"{candidate[0]}-{candidate[1]}.json"

    def _read_reference(self) -> Reference | None:
        if not self._references:
            return None
        reference = Reference(self._config.max_pixels)
        for source, config in self._references:
            self._watcher.stage(f"reading {config.source}")
            reference.add_source(source, config)
        return reference

    @property
    def _forms(self) -> range:
        return range(self._options.variants)

    @property
    def _unmoved(self) -> list[int]:
        """The forms that no earlier run has begun to move out: a key is moved when all parts are finished."""
        return [form for form in self._forms if not (self._targets[form] / "key").exists()]

    def _part(self, form: int, part: str) -> Path:
        return self._work / f"form-{form + 1}" / part

    def _write_parts(self, decisions: Sequence[_Decision], drops: Counter[str]) -> None:
        """Everything but the images, which are there."""
        language = self._config.lang
        overlap = overlap_report([[decision.answers[form] for decision in decisions] for form in self._forms])
        for form in self._unmoved:
            public, key = self._part(form, "public"), self._part(form, "key")
            key.mkdir(exist_ok=True)
            answers = sorted((d.answers[form] for d in decisions), key=lambda answer: str(answer["question_id"]))
            canary = self._maker.canary(form)
            write_questions(public, [a["question_id"] for a in answers], language=language, canary=canary)
            write_text(key / ANSWERS, "".join(canonical_json(answer) + "\n" for answer in answers))
            report = mix_report(answers, language=language, drops=dict(sorted(drops.items())))
            write_json(key / REPORT, report | {"form": form + 1, "overlap": overlap})
            manifest = KeyManifest(
                version=VERSION,
                language=language,
                items=len(answers),
                canary=canary,
                nonce=self._secret.token("nonce", str(form)),
                fingerprint=self._fingerprint,
                signature=str(self._signature),
                files={name: sha256_file(key / name) for name in (ANSWERS, REPORT)},
                public=content_digest(public),
            )
            write_json(key / KEY_FILE, asdict(manifest) | {"seal": self._secret.seal(manifest.sealed)})
            described = public_manifest(
                language=language, items=len(answers), canary=canary, commitment=manifest.commitment
            )
            write_description(public, described)

    def _move_out(self) -> None:
        """Put the parts in place, each whole, the key before what commits to it."""
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

    def _make_signature(self, font_hashes: Sequence[str]) -> Signature:
        """What scores against the key can be compared with; the secret is no part of it."""
        config, text = self._config, self._maker.pipeline.text
        covers = (f"{mode}={cover.visible:g}" for mode, cover in LANGUAGES[config.lang].covers.items())
        return Signature(
            {
                "vcrgen": version("vcrgen"),
                "set": VERSION,
                "lang": config.lang,
                "mask": f"ngram-{config.n}",
                "share": f"{config.max_share:g}",
                "norm": NORMALISATION,
                "seg": text.segmenter,
                "elig": text.eligibility,
                "cover": ",".join(covers),
                "fonts": hashlib.sha256(canonical_json(list(font_hashes)).encode()).hexdigest()[:12],
                "lines": str(config.max_lines),
            }
        )

    def _make_fingerprint(self, font_hashes: Sequence[str]) -> str:
        """Stands for all that decides the bytes; sealed, so that it tells nothing of the source."""
        facts = {
            "config": self._config.published(),
            "signature": str(self._signature),
            "censor": self._maker.pipeline.censor.digest,
            "partitions": [asdict(partition) for partition in self._partitions],
            "items": self._options.items,
            "variants": self._options.variants,
            "fonts": list(zip(self._fonts, font_hashes, strict=True)),
            "not_in": [[asdict(partition) for partition in source.partitions()] for source, _ in self._references],
            "versions": {name: importlib.metadata.version(name) for name in BYTE_PACKAGES},
        }
        return self._secret.seal(canonical_json(facts).encode())[:32]
