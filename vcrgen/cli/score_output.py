"""Scores, examples and problems of outputs on a terminal. Text from files is escaped: no markup, no control codes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import RenderableType

from vcrgen.cli.terminal import SHORT, draw, plain, unbroken
from vcrgen.core.plurals import pluralize
from vcrgen.data.tasks.task import TASKS, VCR_TASK
from vcrgen.report.document import LONG_TABLES_OMITTED
from vcrgen.report.table import Table
from vcrgen.scorer.citation import citation
from vcrgen.scorer.comparison import MAX_CONCLUSIONS, Comparison, conclusions
from vcrgen.scorer.groups import PIXEL_BITS
from vcrgen.scorer.output_matcher import describe_problem
from vcrgen.scorer.results import RunResult, effective_range, few_clusters_sentences, require_one_signature
from vcrgen.scorer.score_report import remarks, score_document
from vcrgen.scorer.score_tables import SCORES, by_title, chance_level, comparison_table, group_tables, score_table
from vcrgen.scorer.session import Validation

_SHORT = SHORT | {task.contrast_label: "difference" for task in TASKS.values()}
_SHORT |= {f"sd {task.units}": "sd" for task in TASKS.values()}


def show_scores(
    results: Sequence[RunResult], comparisons: Sequence[Comparison], *, details: bool
) -> Iterator[RenderableType]:
    """Yield a line for each run, to be pasted, one table of scores, comparisons and notes.

    Args:
        results: One signature for all.
        comparisons: Of these results.
        details: Show all tables of each run, with two spreads of each score, and the signature again.

    Raises:
        ScoreError: The results have different signatures.
    """
    require_one_signature(results)
    task, signature = results[0].task, results[0].signature
    for result in results:
        yield unbroken(citation(result))
    if details:
        for result in results:
            yield from _all_tables(result)
    else:
        omitted = {f"sd {task.units}", f"sd {task.clusters}", "Chance", *(["Model"] if len(results) == 1 else [])}
        yield draw(_with_basis(score_table(task, results), results, ""), omitted, short=_SHORT)
        if any(result.from_pixels for result in results):
            bits = [table for table in group_tables(task, results) if table.title == by_title(PIXEL_BITS)]
            yield from (draw(table, (), short=_SHORT) for table in bits)
    pairs = dict.fromkeys((item.a, item.b) for item in comparisons)
    for a, b in pairs if len(pairs) == 1 else ():
        yield plain(f"A = {a}, B = {b}", "bold")
    if len(comparisons) > MAX_CONCLUSIONS:
        yield plain(f"\n{LONG_TABLES_OMITTED}", "dim")
    elif comparisons:
        left_out = {"A", "B"} if len(pairs) == 1 else set()
        yield draw(comparison_table(task, comparisons), left_out, short=_SHORT)
    for sentence in few_clusters_sentences(results):
        yield plain(f"Warning: {sentence}", "yellow")
    for sentence in remarks(results):
        yield plain(f"Note: {sentence}", "yellow")
    for sentence in conclusions(comparisons):
        yield plain(sentence, "bold")
    if details:
        yield show_signature(signature.short, str(signature))


def _all_tables(result: RunResult) -> Iterator[RenderableType]:
    """Yield every table of a run below its name."""
    task = result.task
    yield plain(f"\n{result.title}: {result.format}, language {result.lang}", "bold")
    sections = score_document([result]).sections
    for table in (table for section in sections for table in (*section.tables, *section.details)):
        if table.title == SCORES:
            note = ", as published" if task is VCR_TASK else ""
            table = _with_basis(table, [result], f"sd over {task.units}{note}; ")
        yield draw(table, {"Model", f"sd {task.clusters}", "Chance"}, short=_SHORT)


def _with_basis(table: Table, results: Sequence[RunResult], before: str) -> Table:
    """The table of scores with what intervals are over, and the chance level, in its title."""
    chance = f"; chance {level}" if (level := chance_level(results)) else ""
    basis = f"{before}intervals over {results[0].task.clusters}, {effective_range(results)} effective"
    return replace(table, title=f"{SCORES} ({basis}{chance})")


_STEP_WORDS = {
    "thinking": "hold thinking",
    "end_tokens": "hold tokens of a chat template",
    "wrappers": "wrap their answer (JSON, tags, boxes, fences, emphasis)",
    "characters": "hold invisible characters, curly quotes or no-break spaces",
}


def _steps_sentence(validation: Validation) -> RenderableType:
    """Say what the reader of outputs takes off, and which protocols do not."""
    words = _STEP_WORDS | ({"end_tokens": f"end in {validation.ending}"} if validation.ending else {})
    counts = [f"{count} of {validation.outputs} outputs {words[step]}" for step, count in validation.steps.items()]
    return plain(f"  {'; '.join(counts)}. The protocol {validation.protocol} takes that off; published ones do not.")


def show_validation(validation: Validation) -> Iterator[RenderableType]:
    """Yield the problems of a file."""
    models = f", model {', '.join(validation.models)}" if validation.models else ""
    yield plain(f"{validation.name}: {pluralize(validation.outputs, 'output')}, format {validation.format}{models}.")
    if validation.subset:
        yield plain(
            f"  Only the subset {validation.subset} is looked at: {pluralize(validation.questions, 'question')}."
        )
    for (variant, view), count in validation.cells.items():
        asked = validation.requested[variant, view]
        yield plain(f"  {view.label}, {variant}: outputs for {count} of {pluralize(asked, 'question')}.")
    if validation.steps:
        yield _steps_sentence(validation)
    for kind, (count, places) in validation.problems.items():
        first = f" First: {', '.join(places)}." if places else ""
        yield plain(f"  {describe_problem(kind, count)}.{first}", "yellow")
    yield plain("  Complete." if validation.fit else "  Not complete: --strict would refuse it.", "bold")


def show_signature(short: str, signature: str) -> RenderableType:
    """A signature as one line for any terminal.

    Args:
        short: Its short form, or an empty text.
        signature: All of it.
    """
    return unbroken(f"Signature{f' {short}' if short else ''}: {signature}", "dim")
