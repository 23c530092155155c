"""The generated mistakes of each exercise as they are stored: those that behave like nothing else.

Beside each stands what it gives on two cases, in brief, so that of hundreds only the few are compiled and run that can
be what an attempt showed. A file has a generated mistake in each line, in the order of the answer's steps, so that a
diff shows which generated mistakes have changed; when it is read, the likely come first.
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
"""The form of what is not looked at."""
MAX_FORM_LENGTH = 40
"""Number of characters of a form; what is longer, as of a list of lists, ends in a digest of the whole."""
RELATIVE, ABSOLUTE = 2e-3, 1e-4
"""How far outlines may be apart for results within a few tolerances; what is near is then compared number by number."""


class Outline(NamedTuple):
    """What an observation shows, in brief: its form, a sum of its numbers with weights, and how large their sum is."""

    form: str
    number: float = 0.0
    size: float = 0.0

    def may_be(self, other: "Outline") -> bool:
        """Return whether two observations with these outlines may show the same."""
        if self.form.startswith("error"):  # of which type it is depends on whether shapes are checked
            return other.form.startswith("error")
        return self.form == other.form and abs(self.number - other.number) <= ABSOLUTE + RELATIVE * max(
            self.size, other.size
        )


def outline(observation: Observation) -> Outline:
    """Return what an observation shows, in brief. Of an error that is its type, of samples that they are samples."""
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
    """Add the form of plain data, and its finite numbers, in order."""
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
    """The generated mistakes of an exercise.

    Args:
        names: The arguments and steps of the answer that they are made from.
        cases: The numbers of the cases whose outlines are stored.
        right: The outlines of the right results in these cases.
        edits: The generated mistakes, the likely first.
    """

    names: Sequence[str] = ()
    cases: Sequence[int] = ()
    right: Sequence[Outline] = ()
    edits: Sequence[AnswerEdit] = field(default=(), repr=False)

    def candidates(
        self, cases: Sequence[Case], expected: Sequence[Observation], observed: Sequence[Observation]
    ) -> Sequence[AnswerEdit]:
        """List the generated mistakes that may be what was observed: all, where the cases are those of another seed."""
        if not self._is_of(cases, expected, observed):
            return self.edits
        observation = [(outline(observed[index]), bool(cases[index].later)) for index in self.cases]
        return [edit for edit in self.edits if all(map(_may_show, edit.shows, observation))]

    def candidates_in_some(
        self, cases: Sequence[Case], expected: Sequence[Observation], observed: Sequence[Observation]
    ) -> Sequence[AnswerEdit]:
        """List the generated mistakes that may be what was observed in one of the cases, and that or right in the
        other.
        """
        if not self._is_of(cases, expected, observed):
            return []
        observation = [outline(observed[index]) for index in self.cases]

        def may_be(edit: AnswerEdit) -> bool:
            now = [stored.may_be(one) for stored, one in zip(edit.shows, observation, strict=True)]
            as_right = [stored.may_be(one) for stored, one in zip(edit.shows, self.right, strict=True)]
            return any(now) and all(one or other for one, other in zip(now, as_right, strict=True))

        return [edit for edit in self.edits if may_be(edit)]

    def _is_of(self, cases: Sequence[Case], expected: Sequence[Observation], observed: Sequence[Observation]) -> bool:
        """Return whether these are the cases whose outlines are stored."""
        return (
            len(observed) == len(cases) == len(expected)
            and all(index < len(cases) for index in self.cases)
            and all(right.may_be(outline(expected[index])) for index, right in zip(self.cases, self.right, strict=True))
        )

    def as_text(self) -> str:
        """Return it as it is stored: JSON, with a generated mistake in each line, in the order of the steps."""
        head = {"names": self.names, "cases": self.cases, "right": [_brief(one) for one in self.right]}
        place = {name: index for index, name in enumerate(self.names)}
        in_order = sorted(self.edits, key=lambda edit: (place.get(edit.step, -1), edit.rank))
        rows = [head, *(_row(edit, self.right) for edit in in_order)]
        lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows]
        return "[" + ",\n".join(lines) + "]\n"


def path_of(name: str) -> Path:
    """Return where the catalog of an exercise is stored."""
    return FOLDER / f"{name}.json"


def read(name: str) -> Catalog:
    """Return the catalog of an exercise; an empty one where none is stored."""
    path = path_of(name)
    if not path.exists():
        return Catalog()
    head, *rows = json.loads(path.read_text(encoding="utf-8"))
    right = [Outline(*one) for one in head["right"]]
    edits = sorted((_edit(row, right) for row in rows), key=lambda edit: edit.rank)
    return Catalog(head["names"], head["cases"], right, edits)


@cache
def catalog_of(exercise: Exercise) -> Catalog:
    """Return the generated mistakes of an exercise; none if they were made from other steps, as of another exercise of
    that name.
    """
    found = read(exercise.name) if exercise.steps else Catalog()
    return found if list(found.names) == names_of(exercise) else Catalog()


def names_of(exercise: Exercise) -> list[str]:
    """List the arguments and steps of an exercise's answer."""
    return [*exercise.steps.arguments.parameters, *exercise.steps.steps] if exercise.steps else []


def _may_show(displayed: Outline, observation: tuple[Outline, bool]) -> bool:
    """Return whether what showed this at its first call may have shown that, perhaps by a crash at a later one."""
    now, has_later_calls = observation
    return now.form == UNKNOWN or displayed.may_be(now) or (has_later_calls and now.form.startswith("error"))


def _brief(one: Outline) -> list[Any]:
    return [one.form, float(f"{one.number:.5g}"), float(f"{one.size:.2g}")] if one.size else [one.form]


def _row(edit: AnswerEdit, right: Sequence[Outline] = ()) -> list[Any]:
    """Return a generated mistake as it is stored: what is empty at the end is left out, and so is a form that is the
    right one.
    """
    code: Any = {name: one_line(body) for name, body in edit.code.items()}
    if list(code) == [edit.step]:
        code = "" if code[edit.step] == edit.new else code[edit.step]
    shows = [_brief(one) for one in edit.shows]
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
