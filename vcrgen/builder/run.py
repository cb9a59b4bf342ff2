"""A whole build: plan, shards, assembly. The only place that knows the order of things and the output folder."""

from __future__ import annotations

import errno
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from vcrgen.builder.assemble import (
    join_rejects,
    make_file,
    plan_assembly,
    read_assembly,
    save_assembly,
)
from vcrgen.builder.card import dataset_card
from vcrgen.builder.engine import Engine, Report
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.shards import Plan, ShardResult, Task, freeze_plan, make_plan, process_shard, read_result
from vcrgen.builder.sources import Source, check_columns, cut_at_limit, open_source
from vcrgen.builder.statistics import dataset_statistics
from vcrgen.config import BuildConfig, load_build_config
from vcrgen.errors import DatasetError, NoPairsError, OutputError, SourceError
from vcrgen.files import fsync, write_text
from vcrgen.manifest import Manifest, read_manifest, write_manifest
from vcrgen.signature import Signature

WORK = ".vcrgen-build"
SUCCESS = "_SUCCESS"


class Watcher:
    """Told how a build goes on; this one keeps silent."""

    def begin(self, total: int, done: int) -> None:
        """Called once with pairs to read and pairs that an earlier run has read."""

    def advance(self, read: int, built: int, drops: Counter[str]) -> None:
        """Called every few pairs with what is new since the last call."""

    def stage(self, text: str) -> None:
        """Called when something else than pairs is worked on, or when that is over (an empty text)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """A finished dataset.

    Attributes:
        path: Its folder.
        manifest: What is in it.
        was_complete: Whether it was there already, so that nothing was done.
    """

    path: Path
    manifest: Manifest
    was_complete: bool


def build(
    source: str | Path = "samples",
    *,
    out: str | Path,
    workers: int = 1,
    config: str | Path | BuildConfig | None = None,
    watcher: Watcher | None = None,
    **options: Any,
) -> BuildResult:
    """Build a VCR dataset from image-caption pairs.

    The same source, configuration and seed give the same bytes for any number of workers. Interrupted or killed, the
    same call goes on where it was. With ``workers`` above 1, the calling script needs the usual
    ``if __name__ == "__main__":``.

    Args:
        source: A file, folder, quoted glob, dataset of the Hub, or ``samples``.
        out: Folder of the dataset; new, empty, or of the same build.
        workers: Number of processes.
        config: A YAML recipe or a configuration; options given here win.
        watcher: Told of the progress.
        **options: Fields of :class:`vcrgen.config.BuildConfig`.

    Raises:
        VcrgenError: The user can mend it; the message says how.
    """
    base = config.model_dump() if isinstance(config, BuildConfig) else {}
    recipe = Path(config) if isinstance(config, str | Path) else None
    merged = load_build_config(recipe, base | options | {"source": str(source)})
    return Build(merged, out=Path(out), workers=workers, watcher=watcher or Watcher()).run()


def default_out(config: BuildConfig) -> Path:
    """Where a dataset goes if nobody says: ``data/vcr-SOURCE-LANG-MODE``."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", Path(config.source).stem).strip("-") or "pairs"
    return Path("data") / f"vcr-{stem}-{config.lang}-{config.mode}"


class Build:
    """One build of one configuration into one folder.

    Args:
        config: What to build.
        out: Folder of the dataset.
        workers: Number of processes.
        watcher: Told of the progress.
    """

    def __init__(self, config: BuildConfig, *, out: Path, workers: int, watcher: Watcher) -> None:
        self._config = config
        self._out = out
        self._work = out / WORK
        self._workers = workers
        self._watcher = watcher

    def run(self) -> BuildResult:
        """Do what is not done yet, and give the dataset.

        Raises:
            VcrgenError: The user can mend it.
        """
        with readable_disk_errors(self._out):
            self._watcher.stage("reading the source's layout")
            source = open_source(self._config)
            check_columns(source, self._config)
            partitions = cut_at_limit(source, source.partitions(), self._config)
            if not sum(partition.rows for partition in partitions):
                raise SourceError(f"The source {source.description} has no pair to read.")
            self._watcher.stage("loading fonts and text pipeline")
            signature = Pipeline(self._config).signature
            plan = make_plan(self._config, partitions, signature=str(signature))
            if complete := self._complete(plan):
                return BuildResult(path=self._out, manifest=complete, was_complete=True)
            try:
                with self._locked():
                    freeze_plan(plan, self._work)
                    manifest = self._finish(plan, source, signature)
            except NoPairsError:
                self._clear()  # all was read and nothing is worth keeping
                raise
            shutil.rmtree(self._work)
        return BuildResult(path=self._out, manifest=manifest, was_complete=False)

    def _clear(self) -> None:
        """Leave the place as it was before the build."""
        shutil.rmtree(self._work)
        if not any(self._out.iterdir()):
            self._out.rmdir()

    def _complete(self, plan: Plan) -> Manifest | None:
        """The manifest of a finished build of the same plan; a folder with anything else in it is refused."""
        if (self._out / SUCCESS).exists():
            try:
                manifest = read_manifest(self._out)
            except DatasetError:
                manifest = None
            if manifest and manifest.fingerprint == plan.dataset_fingerprint:
                shutil.rmtree(self._work, ignore_errors=True)  # a run was killed between its last two steps
                return manifest
            raise OutputError(
                f"{self._out} holds another finished dataset (other source, options or versions); choose another --out."
            )
        if self._out.exists() and not self._work.exists():
            if not self._out.is_dir():
                raise OutputError(f"{self._out} is a file; choose a folder for --out.")
            if any(self._out.iterdir()):
                raise OutputError(f"{self._out} is not empty and not an unfinished build; choose another --out.")
        return None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Only one build at a time writes to a folder."""
        self._work.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._work / "lock")
        try:
            with lock.acquire(timeout=0):
                yield
        except Timeout:
            raise OutputError(
                f"Another build is writing to {self._out}; wait for it or choose another --out."
            ) from None

    def _finish(self, plan: Plan, source: Source, signature: Signature) -> Manifest:
        """Everything after the plan; each step knows what an interrupted run has done of it."""
        assembly = read_assembly(plan.dataset_fingerprint, self._work)
        if assembly is None:
            shutil.rmtree(self._work / "final", ignore_errors=True)  # of other splits
            results = self._run_shards(plan, source)
            self._watcher.stage("looking for duplicates")
            assembly = plan_assembly(results, self._config, work=self._work, shard_size=plan.shard_size)
            save_assembly(assembly, plan.dataset_fingerprint, self._work)
        self._watcher.stage("writing the dataset")
        (self._work / "final").mkdir(exist_ok=True)
        files = tuple(make_file(file, work=self._work) for file in assembly.files)
        manifest = Manifest(
            fingerprint=plan.dataset_fingerprint,
            signature=signature,
            source=source.description,
            config=self._config.published(),
            read=sum(file.rows for file in files if file.mode == files[0].mode) + sum(assembly.drops.values()),
            drops=assembly.drops,
            files=files,
        )
        join_rejects(len(plan.tasks), work=self._work)
        self._publish(manifest)
        return manifest

    def _run_shards(self, plan: Plan, source: Source) -> list[ShardResult]:
        """Results of all tasks, in order; those of an earlier run are taken as they are."""
        results = {task.index: read_result(self._work, task.index, plan.fingerprint) for task in plan.tasks}
        todo = [task for task in plan.tasks if results[task.index] is None]
        done = plan.rows - sum(task.stop - task.start for task in todo)
        self._remove_leftovers()
        self._watcher.stage("")
        self._watcher.begin(plan.rows, done)
        for result in results.values():
            if result:
                self._watcher.advance(0, result.rows, Counter(result.drops))
        arguments = (plan, self._config, source, self._work)
        engine: Engine[Task, ShardResult] = Engine(_shard_worker, arguments, workers=self._workers)
        for result in engine.run(todo, self._watcher.advance):
            results[result.index] = result
        return [result for _, result in sorted(results.items()) if result is not None]

    def _remove_leftovers(self) -> None:
        """Temporary files of a killed run."""
        for file in self._work.rglob(".*.tmp"):
            file.unlink(missing_ok=True)

    def _publish(self, manifest: Manifest) -> None:
        """Move everything out of the work folder, the data first; then describe it and mark it as whole."""
        final = self._work / "final"
        for entry in sorted(final.iterdir(), key=lambda entry: entry.is_file()):
            entry.replace(self._out / entry.name)
        fsync(self._out)
        write_manifest(self._out, manifest)
        write_text(self._out / "README.md", dataset_card(manifest, dataset_statistics(self._out, manifest)))
        write_text(self._out / SUCCESS, "")


def _shard_worker(plan: Plan, config: BuildConfig, source: Source, work: Path) -> Callable[[Task, Report], ShardResult]:
    """What a process of the engine does: loads the stages once, then task after task."""
    pipeline = Pipeline(config)

    def work_on(task: Task, report: Report) -> ShardResult:
        return process_shard(task, plan=plan, pipeline=pipeline, source=source, work=work, report=report)

    return work_on


@contextmanager
def readable_disk_errors(out: Path) -> Iterator[None]:
    """A full disk or a folder without permission is the user's to mend, and said in a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            why = "the disk is full; free some space and run the same command again to go on"
        else:
            why = f"{(error.strerror or str(error)).lower()} ({error.filename or 'no file named'})"
        raise OutputError(f"{out} cannot be written: {why}.") from None
