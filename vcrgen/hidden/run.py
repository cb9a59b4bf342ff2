"""Making a hidden set: pairs in a secret order, each decided once and kept, then both parts put in place at once.

While it is made, everything lies in ``OUT/.vcrgen-hidden``, which only its owner may enter:

    plan.json           the fingerprint of source, options, versions and secret
    decisions.jsonl     what became of the pairs of the source, in the secret order: a line for each item of a form
    form-1/public, form-1/key
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

from vcrgen.builder.shards import BYTE_PACKAGES
from vcrgen.builder.sources import check_columns, open_source
from vcrgen.config import HiddenOptions, load_build_config
from vcrgen.dataset.key import ANSWERS, KEY_FILE, REPORT, VERSION, KeyManifest, is_key, read_key
from vcrgen.dataset.manifest import MANIFEST
from vcrgen.dataset.tables import METADATA
from vcrgen.errors import HiddenSetError, NoPairsError, OutputError, SourceError
from vcrgen.files import atomic_path, canonical_json, output_errors, sha256_file, write_json, write_text
from vcrgen.hidden.alike import alike_report
from vcrgen.hidden.earlier import add_part, earlier_parts, part_digest
from vcrgen.hidden.forms import Form, FormMaker
from vcrgen.hidden.parts import draw_feedback
from vcrgen.hidden.public import (
    IMAGE_FOLDERS,
    README,
    content_digest,
    public_manifest,
    public_readme,
    questions_text,
    stamp,
)
from vcrgen.hidden.reference import Reference
from vcrgen.hidden.report import mix_report, overlap_report
from vcrgen.hidden.rounds import Rounds
from vcrgen.hidden.secret import check_unused, load_secret, remember_set
from vcrgen.signature import Signature
from vcrgen.storage import DiskFolder
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.normalise import NORMALISATION
from vcrgen.typeset.cover import ROWS
from vcrgen.typeset.fonts import Face, font_register, resolve_font, text_faces
from vcrgen.work.folder import WorkFolder
from vcrgen.work.ledger import Ledger
from vcrgen.work.watcher import Watcher

WORK = ".vcrgen-hidden"
DECISIONS = "decisions.jsonl"
_MIXED = ("items", "forms", "same_pairs", "feedback")  # options that say how a set is mixed


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenResult:
    """A finished hidden set."""

    public: tuple[Path, ...]  # the public part of every form
    keys: tuple[Path, ...]  # the key of every form
    report: dict[str, Any]  # of the first form, with the overlap of all
    was_complete: bool  # whether the set was there already
    made_secret: bool  # whether a secret was made


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
    with output_errors(out):
        return _Run(options, out, secret_file, watcher or Watcher()).finish()


def default_fonts(lang: str) -> tuple[str, ...]:
    """All shipped text faces of a language: not those that may have been fetched, so every machine has the same."""
    return tuple(name for name in text_faces(lang) if not font_register()[name].fetched)


class _Run:
    """One set on its way."""

    def __init__(self, options: HiddenOptions, out: Path, secret_file: Path, watcher: Watcher) -> None:
        self._options, self._config = options, options.config
        self._out, self._work, self._watcher = out, out / WORK, watcher
        self._secret_file = secret_file
        self._place = WorkFolder(DiskFolder(out), WORK, making="hidden set", private=True)
        if secret_file.resolve().is_relative_to(out.resolve()):
            raise HiddenSetError(
                f"The secret file {secret_file} lies inside {out}; keep it away from what is published."
            )
        self._source = open_source(self._config)
        check_columns(self._source, self._config)
        faces = [(font, *resolve_font(font)) for font in options.fonts or default_fonts(self._config.lang)]
        self._fonts = [(font, f"{Face(path, 20, index).sha256}#{index}") for font, path, index in faces]
        earlier = {name: earlier_parts(name) for name in options.not_in}
        self._earlier = [part for parts in earlier.values() for part in parts]
        others = [name for name, parts in earlier.items() if not parts]
        known = [load_build_config(None, {"source": name, "lang": self._config.lang}) for name in others]
        self._references = [(open_source(config), config) for config in known]
        self._secret, self._made_secret = load_secret(secret_file, create=not (out.is_dir() and any(out.iterdir())))
        self._partitions = self._source.partitions()
        self._forms = range(max(options.forms, options.same_pairs))
        self._targets = [out] if len(self._forms) == 1 else [out / f"form-{form + 1}" for form in self._forms]
        watcher.stage("loading fonts and text pipeline")
        self._maker = FormMaker(self._config, self._secret, [font for font, _ in self._fonts])
        self._signature = self._make_signature()
        self._facts = self._make_facts()
        self._fingerprint = self._seal(self._facts)

    def finish(self) -> HiddenResult:
        """Do what is not done yet, and give the set."""
        was_complete = self._is_complete()
        if not was_complete:
            self._place.check_out()
            if not self._options.reuse_secret:
                check_unused(self._secret_file, self._fingerprint)
            try:
                with self._place.locked():
                    self._place.freeze(self._plan())
                    for form, view in product(self._unmoved, IMAGE_FOLDERS):
                        (self._part(form, "public") / view).mkdir(parents=True, exist_ok=True)
                    with Ledger(self._work / DECISIONS) as ledger:
                        rounds = self._decide(ledger)
                    self._write_parts([decided.answers for decided in rounds.done], rounds.drops)
                    if not self._options.reuse_secret:
                        remember_set(self._secret_file, self._fingerprint)
                    self._move_out()
            except SourceError as error:
                if isinstance(error, NoPairsError) or not (self._work / DECISIONS).exists():
                    self._place.clear()
                raise
        self._place.folder.remove()
        if self._work.exists():
            raise OutputError(f"{self._work} holds answers and cannot be removed; remove it before you go on.")
        keys = tuple(target / "key" for target in self._targets)
        return HiddenResult(
            public=tuple(target / "public" for target in self._targets), keys=keys,
            report=json.loads((keys[0] / REPORT).read_text("utf-8")),
            was_complete=was_complete, made_secret=self._made_secret,
        )  # fmt: skip

    def _is_complete(self) -> bool:
        """Whether the set is there already; an OutputError if another finished set is."""
        if not all(is_key(target / "key") and (target / "public").is_dir() for target in self._targets):
            return False
        if any(read_key(target / "key").fingerprint != self._fingerprint for target in self._targets):
            what = "another hidden set (other source, options, versions or secret)"
            raise OutputError(f"{self._out} holds {what}; choose another --out.")
        return True

    def _decide(self, ledger: Ledger) -> Rounds:
        """Take pairs until there are enough; what an earlier run has decided is in the ledger."""
        known = Reference(self._config.max_pixels)
        for source, config in self._references:
            self._watcher.stage(f"reading {config.source}")
            known.add_source(source, config)
        for part in self._earlier:
            self._watcher.stage(f"reading {part}")
            add_part(known, part)
        self._watcher.stage("")
        rounds = Rounds(
            self._options, source=self._source, secret=self._secret, maker=self._maker, known=known,
            store=self._store, watcher=self._watcher,
        )  # fmt: skip
        rounds.finish(ledger)
        return rounds

    def _store(self, number: int, form: Form) -> None:
        """Put the images of an item on the disk, each whole."""
        for view, data in zip(IMAGE_FOLDERS, (form.stacked, form.only_it), strict=True):
            with atomic_path(self._part(number, "public") / view / f"{form.question_id}.png") as temporary:
                temporary.write_bytes(data)

    @property
    def _unmoved(self) -> list[int]:
        """The forms that no earlier run has begun to move out: a key is moved when all parts are finished."""
        return [form for form in self._forms if not (self._targets[form] / "key").exists()]

    def _part(self, form: int, part: str) -> Path:
        return self._work / f"form-{form + 1}" / part

    def _write_parts(self, rounds: Sequence[Sequence[dict[str, Any]]], drops: Counter[str]) -> None:
        """Everything but the images, which are there; a round has the answers of one item of every form."""
        language = self._config.lang
        forms = [[answers[form] for answers in rounds] for form in self._forms]
        overlap = overlap_report(forms) if self._options.same_pairs > 1 else []
        alike = alike_report(forms) if self._options.forms > 1 else {}
        for form in self._unmoved:
            public, key = self._part(form, "public"), self._part(form, "key")
            key.mkdir(exist_ok=True)
            answers = sorted(forms[form], key=lambda answer: str(answer["question_id"]))
            count = round(self._options.feedback * len(answers))
            parts = draw_feedback(self._secret, form, answers, count)
            answers = [answer | {"part": part} for answer, part in zip(answers, parts, strict=True)]
            canary = self._maker.canary(form)
            ids = [answer["question_id"] for answer in answers]
            write_text(public / METADATA, questions_text(ids, language=language, canary=canary))
            write_text(key / ANSWERS, "".join(canonical_json(answer) + "\n" for answer in answers))
            report = mix_report(answers, language=language, drops=dict(sorted(drops.items())))
            write_json(key / REPORT, report | {"form": form + 1, "overlap": overlap, "alike": alike})
            both: dict[str, Any] = {"language": language, "items": len(answers), "canary": canary}
            manifest = KeyManifest(
                **both, version=VERSION, nonce=self._secret.token("nonce", str(form)), fingerprint=self._fingerprint,
                signature=str(self._signature), public=content_digest(public),
                files={name: sha256_file(key / name) for name in (ANSWERS, REPORT)},
            )  # fmt: skip
            write_json(key / KEY_FILE, manifest.values | {"seal": self._secret.seal(manifest.sealed)})
            described = public_manifest(**both, commitment=manifest.commitment)
            write_json(public / MANIFEST, described)
            write_text(public / README, public_readme(described))

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

    def _make_signature(self) -> Signature:
        """What scores against the key can be compared with; the secret is no part of it."""
        config, text = self._config, self._maker.pipeline.text
        kind = "" if config.cover == ROWS else f"{config.cover}-"
        covers = (f"{mode}={kind}{cover.visible:g}" for mode, cover in LANGUAGES[config.lang].covers.items())
        fonts = canonical_json([digest for _, digest in self._fonts])
        facts = {
            "vcrgen": version("vcrgen"), "set": VERSION, "lang": config.lang, "mask": f"ngram-{config.n}",
            "share": f"{config.max_share:g}", "norm": NORMALISATION, "seg": text.segmenter, "elig": text.eligibility,
            "cover": ",".join(covers), "fonts": hashlib.sha256(fonts.encode()).hexdigest()[:12],
            "lines": str(config.max_lines),
        }  # fmt: skip
        return Signature(facts)

    def _make_facts(self) -> dict[str, Any]:
        """All that decides the bytes, by name, but for the secret."""
        built = self._maker.pipeline.signature.facts
        return {
            "config": self._config.published(), "signature": str(self._signature),
            "censor": built["censor"], "layout": built["layout"],
            "partitions": [asdict(partition) for partition in self._partitions],
            **self._options.model_dump(include=set(_MIXED)), "fonts": self._fonts,
            "not_in": [[asdict(partition) for partition in source.partitions()] for source, _ in self._references],
            "earlier": [part_digest(part) for part in self._earlier],
            "versions": {name: version(name) for name in BYTE_PACKAGES},
        }  # fmt: skip

    def _plan(self) -> dict[str, Any]:
        """What another run's plan is compared with; of the source it says nothing that can be read."""
        facts = {name: self._facts[name] for name in (*_MIXED, "fonts", "censor", "layout")}
        facts["source or secret"] = self._seal([self._facts[name] for name in ("partitions", "not_in", "earlier")])
        facts |= self._facts["config"] | self._facts["versions"] | dict(self._signature.facts)
        return {"fingerprint": self._fingerprint, "facts": facts}

    def _seal(self, value: Any) -> str:
        """Stands for a value, and tells nothing of it to whoever lacks the secret."""
        return self._secret.seal(canonical_json(value).encode())[:32]
