"""A whole build: plan, shards, assembly. The only place that knows the order of things and the output folder."""

import platform
import re
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from vcrgen.builder.assemble import REJECTS_FILE, join_rejects, make_file, plan_assembly, read_assembly, save_assembly
from vcrgen.builder.card import dataset_card
from vcrgen.builder.engines import CrashedTasksError, Engine, EngineChoice, Worker, open_engine
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.shards import (
    BYTE_PACKAGES,
    SIGNED_PACKAGES,
    Plan,
    ShardResult,
    environment,
    make_plan,
    process_shard,
    read_results,
)
from vcrgen.builder.sources import Source, check_columns, cut_at_limit, open_source
from vcrgen.config import BuildConfig, load_build_config
from vcrgen.dataset.manifest import Manifest, read_manifest, write_manifest
from vcrgen.dataset.reader import built_dataset
from vcrgen.errors import DatasetError, EngineError, NoPairsError, OutputError, SourceError, WorkerError
from vcrgen.files import output_errors
from vcrgen.signature import Signature
from vcrgen.storage import Folder, open_folder
from vcrgen.tasks.vcr import VCR, vcr_statistics
from vcrgen.work.folder import PLAN, WorkFolder
from vcrgen.work.watcher import Watcher

WORK = ".vcrgen-build"
SUCCESS = "_SUCCESS"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """A finished dataset."""

    path: Path | str  # its folder; in an object store, its URL
    manifest: Manifest  # what is in it
    was_complete: bool  # whether it was there already, so that nothing was done


def build(
    source: str | Path = "samples",
    *,
    out: str | Path,
    workers: int = 1,
    engine: str = "local",
    address: str | None = None,
    master: str | None = None,
    config: str | Path | BuildConfig | None = None,
    watcher: Watcher | None = None,
    **options: Any,
) -> BuildResult:
    """Build a VCR dataset from image-caption pairs.

    The same source, configuration and seed give the same bytes for any number of workers and any engine. Interrupted
    or killed, the same call goes on where it was. With ``workers`` above 1, the calling script needs the usual
    ``if __name__ == "__main__":``.

    Args:
        source: A file, folder, quoted glob, dataset of the Hub, or ``samples``.
        out: Folder of the dataset, on a disk or as ``s3://...`` or ``gs://...``; new, empty, or of the same build.
        workers: Number of processes of the engine ``local``.
        engine: ``local``, ``ray`` or ``spark``.
        address: Of a running Ray cluster.
        master: Of Spark.
        config: A YAML recipe or a configuration; options given here win.
        watcher: Told of the progress.
        **options: Fields of :class:`vcrgen.config.BuildConfig`.

    Raises:
        VcrgenError: The user can mend it; the message says how.
    """
    base = config.model_dump() if isinstance(config, BuildConfig) else {}
    recipe = Path(config) if isinstance(config, str | Path) else None
    merged = load_build_config(recipe, base | options | {"source": str(source)})
    choice = EngineChoice(name=engine, workers=workers, address=address, master=master)
    return Build(merged, out=out, engine=choice, watcher=watcher or Watcher()).run()


def default_out(config: BuildConfig) -> Path:
    """Where a dataset goes if nobody says: ``data/vcr-SOURCE-LANG-MODE``."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", Path(config.source).stem).strip("-") or "pairs"
    return Path("data") / f"vcr-{stem}-{config.lang}-{config.mode}"


def plan_build(config: BuildConfig, watcher: Watcher) -> tuple[Plan, Source, Pipeline]:
    """What a build begins with: its plan, its source, and its stages; nothing is written.

    Raises:
        VcrgenError: The source, a font or the text pipeline cannot be used.
    """
    watcher.stage("reading the source's layout")
    source = open_source(config)
    check_columns(source, config)
    partitions = cut_at_limit(source, config)
    if not sum(partition.rows for partition in partitions):
        raise SourceError(f"The source {source.description} has no pair to read.")
    watcher.stage("loading fonts and text pipeline")
    pipeline = Pipeline(config)
    return make_plan(config, partitions, signature=pipeline.signature), source, pipeline


class Build:
    """One build of one configuration into one folder.

    Raises:
        OutputError: The folder is a file, or of a kind that builds cannot write to.
    """

    def __init__(self, config: BuildConfig, *, out: str | Path, engine: EngineChoice, watcher: Watcher) -> None:
        self._config = config
        self._out = open_folder(out)
        if str(self._out).startswith("hf://"):
            raise OutputError(
                f"{self._out} cannot be built in: every file would be a commit; build into a folder and push that, as "
                "`hf upload ORG/NAME FOLDER --repo-type dataset` does."
            )
        self._place = WorkFolder(self._out, WORK, making="build")
        self._work = self._place.folder
        # A store has no folder that could be moved as one.
        self._final = self._work.below("final") if self._out.disk else self._out
        self._engine = engine
        self._watcher = watcher

    def run(self) -> BuildResult:
        """Do what is not done yet, and give the dataset.

        Raises:
            VcrgenError: The user can mend it.
        """
        with output_errors(self._out):
            plan, source, pipeline = plan_build(self._config, self._watcher)
            manifest = self._finished(plan)
            was_complete = manifest is not None
            if manifest is None:
                self._place.check_out()
                manifest = self._make(plan, source, pipeline.signature)
            self._work.remove()
        path = Path(str(self._out)) if self._out.disk else str(self._out)
        return BuildResult(path=path, manifest=manifest, was_complete=was_complete)

    def _make(self, plan: Plan, source: Source, signature: Signature) -> Manifest:
        """Make the dataset; where another build of the same plan is quicker, take what that has made."""
        if self._engine.name != "local":
            self._watcher.stage(f"starting {self._engine.name}")
        try:
            make_worker = self._worker_maker(plan, source, signature)
            packages = (*BYTE_PACKAGES, *SIGNED_PACKAGES)
            with open_engine(self._engine, make_worker, packages) as engine, self._place.locked():
                for folder in ("parts", "keys", "rejects", "manifests"):
                    self._work.below(folder).make()
                self._place.freeze(asdict(plan))
                return self._finished(plan) or self._finish(plan, source, signature, engine)
        except NoPairsError:
            self._place.clear()  # all was read and nothing is worth keeping
            raise
        except (OSError, EngineError):
            if finished := self._finished(plan):
                return finished
            raise

    def _finished(self, plan: Plan) -> Manifest | None:
        """The manifest of a finished build of the same plan; a finished dataset of another one is an error."""
        if self._out.size(SUCCESS) is None:
            return None
        with suppress(DatasetError):
            manifest = read_manifest(self._out)
            if manifest.fingerprint == plan.dataset_fingerprint:
                return manifest
        raise OutputError(
            f"{self._out} holds another finished dataset (other source, options or versions); choose another --out."
        )

    def _worker_maker(self, plan: Plan, source: Source, signature: Signature) -> partial[Worker]:
        """What every process of the engine calls once; it may have another working folder."""
        files = {name: _absolute(getattr(self._config, name)) for name in ("font", "censor_list", "spacy_model")}
        config = self._config.model_copy(update=files)
        expected = environment() | {"signature": str(signature)}
        without_tasks = replace(plan, tasks=())  # of a large source they are many, and a process is given its own
        return partial(_shard_worker, without_tasks, config, source, self._work, expected)

    def _finish(self, plan: Plan, source: Source, signature: Signature, engine: Engine) -> Manifest:
        """Everything after the plan; each step knows what an interrupted run has done of it."""
        assembly = read_assembly(plan.dataset_fingerprint, self._work)
        if assembly is None:
            results = self._run_shards(plan, source, engine)
            self._watcher.stage("looking for duplicates")
            assembly = plan_assembly(results, self._config, work=self._work, shard_size=plan.shard_size)
            save_assembly(assembly, plan.dataset_fingerprint, self._work)
        self._watcher.stage("writing the dataset")
        self._final.make()
        make = partial(make_file, config=self._config, work=self._work, final=self._final, out=self._out)
        files = tuple(self._work.each(make, assembly.files))
        manifest = Manifest(
            fingerprint=plan.dataset_fingerprint,
            signature=signature,
            source=source.description,
            config=self._config.published(),
            read=sum(file.rows for file in files if file.mode == files[0].mode) + sum(assembly.drops.values()),
            drops=assembly.drops,
            files=files,
        )
        join_rejects(len(plan.tasks), work=self._work, final=self._final)
        if self._final is not self._out:  # the data first
            for entry in sorted(self._final.entries(), key=lambda entry: entry == REJECTS_FILE):
                self._final.bring(entry, self._out, entry)
        write_manifest(self._out, manifest)
        statistics = vcr_statistics(built_dataset(self._out, manifest, VCR))
        self._out.write_text("README.md", dataset_card(manifest, statistics))
        self._out.write_text(SUCCESS, "")
        return manifest

    def _run_shards(self, plan: Plan, source: Source, engine: Engine) -> list[ShardResult]:
        """Results of all tasks, in order; those of an earlier run are taken as they are."""
        results = read_results(plan, self._work)
        todo = [task for task in plan.tasks if task.index not in results]
        done = plan.rows - sum(task.stop - task.start for task in todo)
        self._watcher.stage("")
        self._watcher.begin(plan.rows, done)
        for result in results.values():
            self._watcher.advance(0, result.rows, Counter(result.drops))
        try:
            for result in engine(todo, self._watcher.advance):
                results[result.index] = result
        except CrashedTasksError as error:
            names = [partition.name for partition in source.partitions()]
            shown = [
                f"{names[task.partition]} rows {task.start} to {task.stop - 1} (shard {task.index})"
                for task in error.tasks[:3]
            ]
            more = f" and {len(error.tasks) - len(shown)} more" if len(error.tasks) > len(shown) else ""
            raise WorkerError(
                f"A worker process died {error.attempts} times on each of: {', '.join(shown)}{more}. All other shards "
                "are finished and kept; an image there may be hostile, or memory short: run the same command to try "
                "these again, or build without these rows."
            ) from None
        return [result for _, result in sorted(results.items())]


def _shard_worker(plan: Plan, config: BuildConfig, source: Source, work: Folder, expected: dict[str, Any]) -> Worker:
    """Load the stages in a process of an engine, and see that it would give the bytes of the driver's."""
    if work.size(PLAN) is None:
        raise EngineError(f"The machine {platform.node()} does not see {work}; give an --out that all machines share.")
    pipeline = Pipeline(config)
    here = environment() | {"signature": str(pipeline.signature)}
    for name, value in expected.items():
        if here[name] != value:
            raise EngineError(
                f"The machine {platform.node()} has {name} {here[name]}, the driver {value}; install the same versions "
                "and fonts on all machines, or the bytes would differ."
            )
    return partial(process_shard, plan=plan, pipeline=pipeline, source=source, work=work)


def _absolute(value: Any) -> Any:
    """A file's absolute name; what is no file stays as it is."""
    with suppress(OSError):
        if value and Path(value).exists():
            return type(value)(Path(value).absolute())
    return value
