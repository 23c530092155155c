"""Store the distinct generated mistakes for each exercise.

Each mistake is stored with outlines of its results in two cases, so that only the few mistakes whose outlines match an
attempt have to be compiled and run. A file has one mistake per line, in step order, which keeps diffs readable.
``read`` sorts the mistakes by likelihood.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from transformer_course.exercise import Exercise
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit, one_line
from transformer_course.running.case import Case
from transformer_course.running.observation import Observation

FOLDER = Path(__file__).parent / "catalogs"
UNKNOWN = "unknown"
"""Form of a result that is not compared."""
MAX_FORM_LENGTH = 40
"""Maximum number of characters in a form. Longer forms, such as nested lists, are truncated and end in a hash."""
RTOL, ATOL = 2e-3, 1e-4
"""Tolerances for comparing outlines. Results with similar outlines are then compared in full."""


class Outline(NamedTuple):
    """Summary of an observation: its form, a weighted sum of its numbers, and the sum of their absolute values."""

    form: str
    number: float = 0.0
    size: float = 0.0

    def may_match(self, other: "Outline") -> bool:
        """Return whether observations with these two outlines may agree."""
        if self.form.startswith("error"):  # the type of error depends on whether shapes are checked
            return other.form.startswith("error")
        return self.form == other.form and abs(self.number - other.number) <= ATOL + RTOL * max(self.size, other.size)


def outline(observation: Observation) -> Outline:
    """Summarize an observation. For an error, keep only its type; for sampled outputs, omit the numbers."""
    error: object = observation.get("error")
    if isinstance(error, Mapping):
        return Outline(f"error {error.get('type')}")
    if "output" not in observation:
        return Outline("frequencies" if "frequencies" in observation else "other" if observation else UNKNOWN)
    form: list[str] = []
    numbers: list[Tensor] = []
    _collect(observation["output"], form, numbers)
    joined = torch.cat(numbers) if numbers else torch.zeros(0, dtype=torch.float64)
    weighted = joined * torch.arange(1, len(joined) + 1).double().cos()
    return Outline(_shortened(" ".join(form)), float(weighted.sum()), float(weighted.abs().sum()))


def _shortened(form: str) -> str:
    if len(form) <= MAX_FORM_LENGTH:
        return form
    digest = hashlib.sha256(form.encode()).hexdigest()[:8]
    return f"{form[: MAX_FORM_LENGTH - 9]}…{digest}"


def _collect(value: object, form: list[str], numbers: list[Tensor]) -> None:
    """Append the form of a value and its numbers, in order, with nan and infinity replaced by 0."""
    if isinstance(value, Tensor):
        form.append(f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}")
        numbers.append(value.detach().flatten().double().nan_to_num(0.0, 0.0, 0.0))
    elif isinstance(value, Mapping):
        form.append(f"dict {list(map(str, value))}")
        for one in value.values():
            _collect(one, form, numbers)
    elif isinstance(value, tuple | list):
        form.append(f"{type(value).__name__} {len(value)}")
        for one in value:
            _collect(one, form, numbers)
    elif isinstance(value, int | float):
        form.append(type(value).__name__)
        numbers.append(torch.tensor([value], dtype=torch.float64).nan_to_num(0.0, 0.0, 0.0))
    else:
        form.append(repr(value)[:40])


@dataclass(frozen=True)
class Catalog:
    """The generated mistakes for an exercise.

    Args:
        names: Names of the arguments and steps of the answer from which the mistakes were generated.
        cases: Indices of the cases whose outlines are stored.
        right: Outlines of the correct results in these cases.
        edits: The generated mistakes, likeliest first.
    """

    names: Sequence[str] = ()
    cases: Sequence[int] = ()
    right: Sequence[Outline] = ()
    edits: Sequence[AnswerEdit] = field(default=(), repr=False)

    def candidates(
        self, cases: Sequence[Case], expected: Sequence[Observation], observed: Sequence[Observation]
    ) -> Sequence[AnswerEdit]:
        """List the mistakes whose outlines match the observations, or all mistakes if no outlines are stored."""
        if not self._matches(cases, expected, observed):
            return self.edits
        observation = [(outline(observed[index]), bool(cases[index].later)) for index in self.cases]
        return [edit for edit in self.edits if all(map(_may_match, edit.outlines, observation))]

    def candidates_in_some(
        self, cases: Sequence[Case], expected: Sequence[Observation], observed: Sequence[Observation]
    ) -> Sequence[AnswerEdit]:
        """List the mistakes that match the observations in some stored cases and give correct results in the others."""
        if not self._matches(cases, expected, observed):
            return []
        observation = [outline(observed[index]) for index in self.cases]

        def may_match(edit: AnswerEdit) -> bool:
            now = [stored.may_match(one) for stored, one in zip(edit.outlines, observation, strict=True)]
            as_right = [stored.may_match(one) for stored, one in zip(edit.outlines, self.right, strict=True)]
            return any(now) and all(one or other for one, other in zip(now, as_right, strict=True))

        return [edit for edit in self.edits if may_match(edit)]

    def _matches(self, cases: Sequence[Case], expected: Sequence[Observation], observed: Sequence[Observation]) -> bool:
        """Return whether the stored outlines belong to these cases."""
        return (
            len(observed) == len(cases) == len(expected)
            and all(index < len(cases) for index in self.cases)
            and all(
                right.may_match(outline(expected[index])) for index, right in zip(self.cases, self.right, strict=True)
            )
        )

    def as_text(self) -> str:
        """Format the catalog as JSON with one mistake per line, in the order of the steps."""
        head = {"names": self.names, "cases": self.cases, "right": [_brief(one) for one in self.right]}
        place = {name: index for index, name in enumerate(self.names)}
        in_order = sorted(self.edits, key=lambda edit: (place.get(edit.step, -1), edit.rank))
        rows = [head, *(_row(edit, self.right) for edit in in_order)]
        lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows]
        return "[" + ",\n".join(lines) + "]\n"


def path_of(name: str) -> Path:
    """Return the path of an exercise's catalog."""
    return FOLDER / f"{name}.json"


def read(name: str) -> Catalog:
    """Read the catalog of an exercise, or return an empty catalog if the file does not exist."""
    path = path_of(name)
    if not path.exists():
        return Catalog()
    head, *rows = json.loads(path.read_text(encoding="utf-8"))
    right = [Outline(*one) for one in head["right"]]
    edits = sorted((_edit(row, right) for row in rows), key=lambda edit: edit.rank)
    return Catalog(head["names"], head["cases"], right, edits)


@cache
def catalog_of(exercise: Exercise) -> Catalog:
    """Return the catalog of an exercise, or an empty catalog if the file was built from different steps."""
    found = read(exercise.name) if exercise.steps else Catalog()
    return found if list(found.names) == names_of(exercise) else Catalog()


def names_of(exercise: Exercise) -> list[str]:
    """List the arguments and steps of an exercise's answer."""
    return [*exercise.steps.arguments.parameters, *exercise.steps.steps] if exercise.steps else []


def _may_match(stored: Outline, observation: tuple[Outline, bool]) -> bool:
    """Return whether a mistake's stored outline matches an observation in which a later call may have crashed."""
    now, has_later_calls = observation
    return now.form == UNKNOWN or stored.may_match(now) or (has_later_calls and now.form.startswith("error"))


def _brief(one: Outline) -> list[Any]:
    return [one.form, float(f"{one.number:.5g}"), float(f"{one.size:.2g}")] if one.size else [one.form]


def _row(edit: AnswerEdit, right: Sequence[Outline] = ()) -> list[Any]:
    """Format a generated mistake as a catalog row, without trailing empty values or the correct result's form."""
    code: Any = {name: one_line(body) for name, body in edit.code.items()}
    if list(code) == [edit.step]:
        code = "" if code[edit.step] == edit.new else code[edit.step]
    shows = [_brief(one) for one in edit.outlines]
    for outline_row, as_right in zip(shows, right, strict=False):
        if len(outline_row) > 1 and outline_row[0] == as_right.form:
            del outline_row[0]
    row = [edit.step, edit.kind, edit.old, edit.new, edit.other, round(edit.weight, 2), code, shows]
    row.append([_row(one) for one in edit.readings])
    while row[-1] in ([], "", {}):
        row.pop()
    return row


def _edit(row: Sequence[Any], right: Sequence[Outline] = ()) -> AnswerEdit:
    step, kind, old, new, other, weight, code, shows, readings = [*row, *_EMPTY[len(row) :]]
    outlines = [
        Outline(*one) if len(one) != 2 else Outline(as_right.form, *one)
        for one, as_right in zip(shows, right, strict=False)
    ]
    by_step = code if isinstance(code, dict) else {step: code or new}
    return AnswerEdit(step, kind, old, new, other, weight, by_step, outlines, [_edit(one) for one in readings])


_EMPTY: Sequence[Any] = ("", "", "", "", "", 1.0, "", (), ())
