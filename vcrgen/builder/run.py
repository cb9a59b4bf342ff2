"""A whole build: plan, shards, assembly, card."""

import platform
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from vcrgen.builder.assemble import (
    REJECTS_FILE,
    Assembly,
    BuildFolders,
    DataFile,
    MadeFile,
    join_rejects,
    make_file,
    plan_assembly,
    read_assembly,
    save_assembly,
)
from vcrgen.builder.card import dataset_card
from vcrgen.builder.engines import CrashedTasksError, Engine, EngineChoice, Report, Worker, open_engine
from vcrgen.builder.options import BuildConfig, load_build_config
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.shards import (
    BYTE_PACKAGES,
    SIGNED_PACKAGES,
    Plan,
    ShardResult,
    Task,
    environment,
    make_plan,
    neighbours,
    process_shards,
    read_results,
)
from vcrgen.builder.sources import Source, open_pairs
from vcrgen.core.errors import DatasetError, EngineError, NoPairsError, OutputError, SourceError, WorkerError
from vcrgen.core.files import output_errors
from vcrgen.core.folder import PLAN, WorkFolder
from vcrgen.core.options import drop_none
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import ProgressListener, shown_bytes
from vcrgen.core.signature import Signature
from vcrgen.core.storage import open_folder
from vcrgen.data.manifest import DatasetFile, Manifest, SourceRows, read_manifest, write_manifest
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.croissant import CROISSANT, croissant_of
from vcrgen.data.tasks.vcr import VCR, Figures, summarise_figures
from vcrgen.report.notebook import LongRow, NotebookResult
from vcrgen.report.table import Table

WORK = ".vcrgen-build"
SUCCESS = "_SUCCESS"
MOST_NAMED = 3  # tasks that crashed, in a message


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BuildResult(NotebookResult):
    """A finished dataset.

    ``to_pandas()`` has a row for each count of pairs. Its columns are ``kind`` (``built``, ``rejected`` or
    ``cleaned``), ``mode`` and ``split`` of what was built, ``reason`` of what was rejected or cleaned, and ``pairs``.

    Attributes:
        path: Its folder; in an object store, its URL.
        manifest: Its content.
        was_complete: Whether it existed already.
    """

    path: Path | str
    manifest: Manifest
    was_complete: bool

    @property
    def pairs(self) -> int:
        """Pairs that were built."""
        return self.manifest.pairs

    @property
    def images(self) -> int:
        """Images in the files: one of each pair in every mode."""
        return sum(file.rows for file in self.manifest.files)

    @property
    def spans(self) -> int:
        """Masked spans in all images, counted in the files.

        Raises:
            DatasetError: A file is missing or damaged.
        """
        return sum(len(row[VCR.answers]) for _, row in open_dataset(self.path, VCR).rows((VCR.answers,)))

    @property
    def rejected(self) -> Mapping[str, int]:
        """Rejected pairs by reason."""
        return self.manifest.rejected

    @property
    def headline(self) -> str:
        """The folder, and how many pairs were built."""
        pairs = f"{self.pairs:,} of {pluralize(self.manifest.read, 'pair')}"
        return f"{self.path}: {pairs}, modes {', '.join(self.manifest.modes)}"

    @property
    def summary_table(self) -> Table:
        """Pairs by mode and split, and rejected ones by reason."""
        rows = [
            (row["kind"], row["mode"] or "", row["split"] or "", row["reason"] or "", row["pairs"])
            for row in self.long_rows()
        ]
        return Table(title="Pairs", heads=("", "Mode", "Split", "Reason", "Pairs"), labels=4, rows=rows)

    @property
    def next_command(self) -> Sequence[str]:
        """The command that shows the pairs."""
        return ("vcrgen", "view", str(self.path))

    @property
    def link(self) -> str:
        """The card of the dataset."""
        return f"{self.path.as_posix()}/README.md" if isinstance(self.path, Path) else ""

    def long_rows(self) -> Iterator[LongRow]:
        """Yield the counts of pairs."""
        built = Counter[tuple[str | None, str]]()
        for file in self.manifest.files:
            built[file.mode, file.split] += file.rows
        for (mode, split), pairs in built.items():
            yield {"kind": "built", "mode": mode, "split": split, "reason": None, "pairs": pairs}
        for kind, counts in (("rejected", self.rejected), ("cleaned", self.manifest.cleaned)):
            for reason, pairs in counts.items():
                yield {"kind": kind, "mode": None, "split": None, "reason": str(reason), "pairs": pairs}


def build(
    source: str | Path | None = None,
    *,
    out: str | Path,
    workers: int = 1,
    engine: str = "local",
    address: str | None = None,
    config: str | Path | BuildConfig | None = None,
    progress: bool | ProgressListener = True,
    **options: Any,
) -> BuildResult:
    """Build a VCR dataset from image-caption pairs.

    The same source, configuration and seed give the same bytes for any number of workers and any engine. Interrupted
    or killed, the same call goes on where it was. With ``workers`` above 1, the calling script needs the usual
    ``if __name__ == "__main__":``.

    Args:
        source: A file, folder, quoted glob, dataset of the Hub, or ``samples``; by default that of ``config``.
        out: Folder of the dataset, on a disk or as ``s3://...`` or ``gs://...``; new, empty, or of the same build.
        workers: Number of processes of the engine ``local``.
        engine: ``local`` or ``ray``.
        address: Of a running Ray cluster.
        config: A YAML recipe or a configuration; options given here win.
        progress: Show the progress on the standard error or in a notebook; or who is told of it.
        **options: Fields of [BuildConfig][vcrgen.BuildConfig].

    Raises:
        VcrgenError: The user can mend it; the message says how.

    Examples:
        >>> build("samples:10", out="data/my-vcr", progress=False)
        <BuildResult data/my-vcr: 10 of 10 pairs, modes easy, hard>
    """
    from vcrgen.core.console_progress import open_progress  # which imports rich

    base = config.model_dump() if isinstance(config, BuildConfig) else {}
    recipe = Path(config) if isinstance(config, str | Path) else None
    merged = load_build_config(recipe, base | options | drop_none({"source": source}))
    choice = EngineChoice(name=engine, workers=workers, address=address)
    with open_progress(progress) as listener:
        return Build(merged, out=out, engine=choice, listener=listener).run()


def default_out(config: BuildConfig) -> Path:
    """``data/vcr-SOURCE-LANG-MODE``, below the working folder."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", Path(config.source).stem).strip("-") or "pairs"
    return Path("data") / f"vcr-{stem}-{config.lang}-{config.mode}"


def plan_build(config: BuildConfig, listener: ProgressListener) -> tuple[Plan, Source, Pipeline]:
    """Open the source, load the pipeline and plan the tasks; nothing is written.

    Raises:
        VcrgenError: The source, a font or the text pipeline cannot be used.
    """
    listener.stage("reading the source's layout")
    source, partitions = open_pairs(config)
    if not sum(partition.rows for partition in partitions):
        raise SourceError(f"The source {source.description} has no pair to read.")
    listener.stage("loading fonts and text pipeline")
    pipeline = Pipeline(config)
    return make_plan(config, partitions, signature=pipeline.signature), source, pipeline


class Build:
    """One build of one configuration into one folder.

    Raises:
        OutputError: The folder is a file, or of a kind that builds cannot write to.
    """

    def __init__(
        self, config: BuildConfig, *, out: str | Path, engine: EngineChoice, listener: ProgressListener
    ) -> None:
        self._config = config
        self._out = open_folder(out)
        if str(self._out).startswith("hf://"):
            raise OutputError(
                f"{self._out} cannot be built in: every file would be a commit; build into a folder and push that, as "
                "`hf upload ORG/NAME FOLDER --repo-type dataset` does."
            )
        self._place = WorkFolder(self._out, WORK, making="build")
        self._folders = BuildFolders(work=self._place.folder, out=self._out)
        self._work, self._final = self._folders.work, self._folders.final
        self._engine = engine
        self._listener = listener

    def run(self) -> BuildResult:
        """Build what is missing and return the dataset."""
        plan, source, pipeline = plan_build(self._config, self._listener)
        with output_errors(self._out):
            manifest = self._finished(plan)
            was_complete = manifest is not None
            if manifest is None:
                self._place.check_out()
                manifest = self._make(plan, source, pipeline.signature)
            self._work.remove()
        path = Path(str(self._out)) if self._out.local_path else str(self._out)
        return BuildResult(path=path, manifest=manifest, was_complete=was_complete)

    def _make(self, plan: Plan, source: Source, signature: Signature) -> Manifest:
        """Build the dataset; if another build of the same plan was faster, use its result."""
        if self._engine.name != "local":
            self._listener.stage(f"starting {self._engine.name}")
        try:
            make_worker = self._worker_maker(plan, source, signature)
            packages = (*BYTE_PACKAGES, *SIGNED_PACKAGES)
            with open_engine(self._engine, make_worker, packages) as engine, self._place.locked():
                for folder in ("parts", "keys", "rejects", "manifests"):
                    self._work.subfolder(folder).make()
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
        """The manifest of a finished build of the same plan; None if there is no finished build.

        Raises:
            OutputError: The folder holds another finished dataset.
        """
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
        """The factory of workers; every process of the engine calls it once, in any working folder."""
        files = {
            name: _absolute(getattr(self._config, name))
            for name in ("font", "censor_list", "spacy_model", "image_root")
        }
        config = self._config.model_copy(update=files)
        expected = environment() | {"signature": str(signature)}
        without_tasks = replace(plan, tasks=())  # a process gets its tasks one by one
        return partial(_load_worker, without_tasks, config, source, self._folders, expected)

    def _finish(self, plan: Plan, source: Source, signature: Signature, engine: Engine) -> Manifest:
        """Run all steps after the plan; each one resumes."""
        assembly = read_assembly(plan.dataset_fingerprint, self._work)
        if assembly is None:
            results = self._run_shards(plan, source, engine)
            self._listener.stage("looking for duplicates")
            assembly = plan_assembly(results, self._config, source, work=self._work)
            save_assembly(assembly, plan.dataset_fingerprint, self._work)
        rejected = sum(assembly.rejected.values())
        pairs = sum(file.rows for file in assembly.files if file.mode == assembly.files[0].mode)
        assembly.source.check(plan.rows, outcomes=pairs + rejected, place=source.description)
        self._listener.stage("writing the dataset")
        files, figures = self._make_files(assembly, engine)
        manifest = Manifest(
            fingerprint=plan.dataset_fingerprint,
            signature=signature,
            source=source.description,
            config=self._config.public_fields(),
            read=pairs + rejected,
            rejected=assembly.rejected,
            files=files,
            source_rows=SourceRows(**asdict(assembly.source)),
            uncompared=assembly.refused,
            cleaned=assembly.cleaned,
        )
        join_rejects(len(plan.tasks), work=self._work, final=self._final)
        if self._final is not self._out:  # the data first
            for entry in sorted(self._final.entries(), key=lambda entry: entry == REJECTS_FILE):
                self._final.transfer(entry, self._out, entry)
        write_manifest(self._out, manifest)
        self._out.write_text("README.md", dataset_card(manifest, summarise_figures(figures, self._config.lang)))
        self._out.write_json(CROISSANT, croissant_of(manifest, columns=self._config.optional_columns))
        self._out.write_text(SUCCESS, "")
        return manifest

    def _make_files(
        self, assembly: Assembly, engine: Engine
    ) -> tuple[tuple[DatasetFile, ...], dict[tuple[str, str], Figures]]:
        """Make the files of the dataset, of which an earlier run may have made some; and count their figures.

        Returns:
            The files in their order, and the figures of each mode and split.
        """
        self._final.make()
        self._work.subfolder("files").make()
        published = set(self._out.entries())  # modes, whole
        for folder in {file.path.rpartition("/")[0] for file in assembly.files if file.mode not in published}:
            self._final.subfolder(folder).make()
        figures = {(file.mode, file.split): Figures() for file in assembly.files}
        files: dict[str, DatasetFile] = {}
        try:
            for made in engine(assembly.files, self._listener.advance):
                files[made.file.path] = made.file
                figures[made.file.mode, made.file.split].add(made.figures)
        except CrashedTasksError as error:
            raise WorkerError(
                f"{_died(error, [file.path for file in error.tasks[:MOST_NAMED]])} Nothing else is left to be done; "
                "memory may be short: run the same command to try these files of the dataset again."
            ) from None
        return tuple(files[file.path] for file in assembly.files), figures

    def _run_shards(self, plan: Plan, source: Source, engine: Engine) -> list[ShardResult]:
        """Run the missing tasks and return all results in order."""
        results = read_results(plan, self._work)
        todo = [task for task in plan.tasks if task.index not in results]
        done = plan.rows - sum(task.stop - task.start for task in todo)
        self._listener.stage("")
        self._listener.begin(plan.rows, done)
        for result in results.values():
            self._listener.advance(0, result.rows, Counter(result.rejected))
        size = sum(sum(result.bytes.values()) for result in results.values())
        if size:
            self._listener.note(shown_bytes(size))
        try:
            for finished in engine(neighbours(todo, source, self._engine.processes), self._listener.advance):
                results |= {result.index: result for result in finished}
                size += sum(sum(result.bytes.values()) for result in finished)
                self._listener.note(shown_bytes(size))
        except CrashedTasksError as error:
            names = [partition.name for partition in source.partitions()]
            runs = [
                f"{names[tasks[0].partition]} rows {tasks[0].start} to {tasks[-1].stop - 1} (shard {tasks[0].index}"
                f"{f' to {tasks[-1].index}' if len(tasks) > 1 else ''})"
                for tasks in error.tasks[:MOST_NAMED]
            ]
            raise WorkerError(
                f"{_died(error, runs)} All other shards are finished and kept; an image there may be hostile, or "
                "memory short: run the same command to try these again, or build without these rows."
            ) from None
        return [result for _, result in sorted(results.items())]


def _load_worker(
    plan: Plan, config: BuildConfig, source: Source, folders: BuildFolders, expected: dict[str, Any]
) -> Worker:
    """Load the pipeline in a process of an engine and check that its versions are the driver's."""
    work = folders.work
    if work.size(PLAN) is None:
        raise EngineError(f"The machine {platform.node()} does not see {work}; give an --out that all machines share.")
    pipeline = Pipeline(config)
    facts = environment() | {"signature": str(pipeline.signature)}
    for name, value in expected.items():
        if facts[name] != value:
            raise EngineError(
                f"The machine {platform.node()} has {name} {facts[name]}, the driver {value}; install the same "
                "versions and fonts on all machines, or the bytes would differ."
            )
    return partial(_run_task, plan=plan, pipeline=pipeline, source=source, folders=folders)


def _run_task(
    task: tuple[Task, ...] | DataFile,
    report: Report,
    *,
    plan: Plan,
    pipeline: Pipeline,
    source: Source,
    folders: BuildFolders,
) -> list[ShardResult] | MadeFile:
    """Run shards that go together, or make a file of the dataset."""
    if isinstance(task, DataFile):
        return make_file(task, config=pipeline.config, folders=folders)
    return process_shards(task, report, plan=plan, pipeline=pipeline, source=source, work=folders.work)


def _died(error: CrashedTasksError, names: list[str]) -> str:
    """The beginning of a message on tasks, of which the first have these names."""
    rest = f" and {len(error.tasks) - len(names)} more" if len(error.tasks) > len(names) else ""
    return f"A worker process died {error.attempts} times on each of: {', '.join(names)}{rest}."


def _absolute(value: Any) -> Any:
    """The absolute path of a file; other values are unchanged."""
    with suppress(OSError):
        if value and Path(value).exists():
            return type(value)(Path(value).absolute())
    return value
