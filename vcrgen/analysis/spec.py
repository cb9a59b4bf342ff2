"""The design of a benchmark: abilities with their tasks, how they are related, and limits. A YAML file.

Example:
    abilities:
      Perception: [Color, Count, OCR]
      Reasoning: ["MMMU *"]
    anchor: Arena
    limits: {loading: 0.75, vif: 5}
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import Field, PrivateAttr, field_validator, model_validator

from vcrgen.analysis.options import FactorOptions, PruneOptions
from vcrgen.analysis.pls import Mode, Scheme, Structure
from vcrgen.analysis.published_table import fits
from vcrgen.analysis.score_table import MAX_TASKS, ScoreTable
from vcrgen.core.errors import AnalysisError
from vcrgen.core.options import Options, drop_none, read_yaml, validate_options
from vcrgen.report.escape import MAX_NAME, check_name

MAX_ABILITIES = 50


class FactorLimits(Options):
    """Beyond which a figure is said to be bad; those of the GOLD paper, and the usual ones where it has none."""

    loading: float = Field(default=0.75, ge=0, le=1)  # at least
    vif: float = Field(default=5.0, ge=1)  # at most
    alpha: float = Field(default=0.70, ge=0, le=1)  # at least, and so rho_A and CR
    ave: float = Field(default=0.50, ge=0, le=1)  # at least
    htmt: float = Field(default=0.90, ge=0)  # at most
    srmr: float = Field(default=0.08, ge=0)  # at most


class FactorSpec(Options):
    """Abilities with their tasks, and how they are analysed."""

    abilities: dict[str, tuple[str, ...]]  # names of tasks; * stands for any characters
    anchor: str | None = Field(default=None, max_length=MAX_NAME)  # a task: an outside score, such as a human one
    layout: Literal["anchor", "chain", "two-stage"] | None = None  # anchor if there is one, else chain
    mode: Mode = "A"
    scheme: Scheme = "path"
    limits: FactorLimits = FactorLimits()
    floor: int = Field(default=2, ge=1, le=MAX_TASKS)  # tasks of an ability that pruning leaves at least
    _inputs: tuple[str, ...] = PrivateAttr(())

    @property
    def inputs(self) -> tuple[str, ...]:
        """Words of a command line that read the same; none for one made in Python."""
        return self._inputs

    def read_by(self, *inputs: str) -> Self:
        """The same, with the words of a command line that read it."""
        copy = self.model_copy()
        copy._inputs = inputs
        return copy

    @field_validator("abilities", mode="before")
    @classmethod
    def _sizes_fit(cls, value: Any) -> Any:
        """Before anything is copied: a small file can name a long list many times over."""
        if not isinstance(value, dict) or not 1 <= len(value) <= MAX_ABILITIES:
            raise ValueError(
                f"they are 1 to {MAX_ABILITIES} names, each with its tasks, as in `Reasoning: [Math, Logic]`"
            )
        for name, tasks in value.items():
            if not isinstance(tasks, list | tuple) or not 1 <= len(tasks) <= MAX_TASKS:
                raise ValueError(f"{str(name)[:MAX_NAME]!r} has a list of 1 to {MAX_TASKS} tasks")
            if not all(isinstance(text, str) and len(text) <= MAX_NAME for text in (name, *tasks)):
                raise ValueError(f"{str(name)[:MAX_NAME]!r}: names are texts of at most {MAX_NAME} characters")
            check_name(name, "ability")
        return value

    @model_validator(mode="after")
    def _layoutfits(self) -> Self:
        if self.anchor is None and self.layout in ("anchor", "two-stage"):
            raise ValueError(f"the layout {self.layout!r} needs an anchor: a task with an outside score of the models")
        if self.anchor is None and len(self.abilities) == 1:
            raise ValueError(
                "one ability without an anchor has nothing that it could go with; add another, or an anchor"
            )
        if self.anchor is not None and self.layout == "chain":
            raise ValueError("the layout 'chain' is for abilities without an anchor; take out one of them")
        if self.anchor is not None and self.anchor in self.abilities:
            raise ValueError(f"{self.anchor!r} is the anchor and an ability; rename the ability")
        return self

    @property
    def task_names(self) -> list[str]:
        """The tasks as the specification names them, and the anchor."""
        names = [name for tasks in self.abilities.values() for name in tasks]
        return names if self.anchor is None else [*names, self.anchor]

    def without(self, names: Sequence[str]) -> Self:
        """The same without tasks of these names.

        Raises:
            AnalysisError: An ability has no other task.
        """
        abilities = {
            ability: tuple(task for task in tasks if task not in names) for ability, tasks in self.abilities.items()
        }
        if empty := [ability for ability, tasks in abilities.items() if not tasks]:
            raise AnalysisError(
                f"--ignore leaves the ability {empty[0]!r} without a task; take the ability out of the specification."
            )
        return self.model_copy(update={"abilities": abilities})

    def as_yaml(self) -> str:
        """The specification as a file that reads back as the same."""
        values = self.model_dump(mode="json", exclude_defaults=True)
        text: str = yaml.safe_dump(values, allow_unicode=True, sort_keys=False, width=120)
        return text


@dataclass(frozen=True, slots=True)
class BoundSpec:
    """A specification with the tasks of one table."""

    spec: FactorSpec
    tasks: tuple[str, ...]  # in the order of the structure: ability by ability, the anchor last
    constructs: tuple[str, ...]  # names of the abilities, and of the anchor
    structure: Structure

    @property
    def abilities(self) -> dict[str, tuple[str, ...]]:
        """The tasks of each ability."""
        blocks = self.structure.blocks
        numbers = self.structure.abilities
        return {self.constructs[number]: tuple(self.tasks[task] for task in blocks[number]) for number in numbers}

    def keep(self, names: Sequence[str]) -> BoundSpec:
        """The same with some of the tasks; the anchor stays, and every ability has to keep one."""
        abilities = {name: tuple(task for task in tasks if task in names) for name, tasks in self.abilities.items()}
        return _bound(self.spec, abilities)


def read_spec(file: str | Path, *, anchor: str | None = None) -> FactorSpec:
    """Read a specification; ``anchor`` takes the place of the one in the file.

    Raises:
        ConfigError: The file cannot be read, a key is unknown, or a value is wrong.
    """
    file = Path(file)
    values: dict[str, Any] = read_yaml(file)
    given = {} if anchor is None else {"anchor": anchor}
    spec = validate_options(FactorSpec, values | given, f"{file}: ")
    return spec.read_by("--spec", str(file), *_as_words(given))


def apply_options(spec: FactorSpec, options: FactorOptions) -> FactorSpec:
    """The specification with the anchor, the limits and the floor of options, and without tasks that are ignored."""
    values = spec.without(options.ignore).model_dump(exclude_defaults=True)
    given: dict[str, Any] = {}
    if options.anchor not in (None, spec.anchor):
        given["anchor"] = values["anchor"] = options.anchor
    if isinstance(options, PruneOptions):
        limits = {"vif": options.vif_max, "loading": options.loading_min}
        values["limits"] = {**values.get("limits", {}), **drop_none(limits)}
        values |= drop_none({"floor": options.floor})
        given |= options.model_dump(include={"vif_max", "loading_min", "floor"}, exclude_none=True)
    changed = validate_options(FactorSpec, values)
    return changed.read_by(*spec.inputs, *_as_words(given)) if spec.inputs else changed


def _as_words(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        yield from (f"--{name.replace('_', '-')}", str(value))


def inputs_of(table: ScoreTable, spec: FactorSpec) -> tuple[str, ...]:
    """Words of a command line that read both; none where one was made in Python, or an example has another spec."""
    if table.inputs and table.inputs == spec.inputs[: len(table.inputs)]:  # an example has both
        return spec.inputs
    examples = [inputs for inputs in (table.inputs, spec.inputs) if "--example" in inputs]
    return () if examples or not table.inputs or not spec.inputs else (*table.inputs, *spec.inputs)


def bind(spec: FactorSpec, tasks: Sequence[str]) -> BoundSpec:
    """Find the tasks of a specification among those of a table.

    Raises:
        AnalysisError: A name fits no task, or a task stands under two abilities.
    """
    if spec.anchor is not None and spec.anchor not in tasks:
        raise AnalysisError(f"The anchor {spec.anchor!r} is no task of the table{_nearest(spec.anchor, tasks)}.")
    owner: dict[str, str] = {}
    abilities: dict[str, tuple[str, ...]] = {}
    for ability, patterns in spec.abilities.items():
        members: dict[str, None] = {}
        for pattern in patterns:
            fitting = [task for task in tasks if fits(pattern, task) and task != spec.anchor]
            if pattern == spec.anchor:
                raise AnalysisError(
                    f"The anchor {pattern!r} stands under the ability {ability!r} as well; take it out."
                )
            if not fitting:
                raise AnalysisError(f"{pattern!r} of the ability {ability!r} fits no task{_nearest(pattern, tasks)}.")
            members |= dict.fromkeys(fitting)
        for task in members:
            if owner.setdefault(task, ability) != ability:
                raise AnalysisError(f"The task {task!r} stands under {owner[task]!r} and {ability!r}; take one.")
        abilities[ability] = tuple(members)
    return _bound(spec, abilities)


def _bound(spec: FactorSpec, abilities: dict[str, tuple[str, ...]]) -> BoundSpec:
    tasks = [task for members in abilities.values() for task in members]
    blocks, start = [], 0
    for members in abilities.values():
        blocks.append(tuple(range(start, start + len(members))))
        start += len(members)
    numbers = tuple(range(len(blocks)))
    if spec.anchor is None:
        causes = tuple(numbers[:number] for number in numbers)
        structure = Structure(tuple(blocks), causes, (spec.mode,) * len(blocks))
        return BoundSpec(spec, tuple(tasks), tuple(abilities), structure)
    structure = Structure(
        (*blocks, (start,)), (*(() for _ in blocks), numbers), (spec.mode,) * len(blocks) + ("A",), len(blocks)
    )
    return BoundSpec(spec, (*tasks, spec.anchor), (*abilities, spec.anchor), structure)


def _nearest(name: str, tasks: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, tasks, n=1)
    return f"; the nearest is {near[0]!r}" if near else ""
