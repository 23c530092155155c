"""The gradebook (a table with a row per student) and the results (everything, as JSON for programs)."""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import platform, python_version
from typing import Any

import pandas as pd
import torch

from transformer_lab.atomic_write import atomic_write_text
from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises import LESSONS, exercises_of
from transformer_lab.course.grading.assess import GradedSubmission
from transformer_lab.course.grading.records import as_dict
from transformer_lab.course.grading.submissions import printable
from transformer_lab.course.jail.limits import Limits

KIND = "transformer-lab grading"
"""Value of ``kind`` in ``results.json``, which identifies a folder of results."""
MAX_LISTED_STUDENTS = 20
"""Size of a class up to which the summary lists every student."""


def check_output_folder(out: Path) -> None:
    """Check that writing the results would overwrite nothing but those of an earlier grading.

    Raises:
        ValueError: ``out`` is a file, or a folder that contains something else.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file; the results need a folder")
    if out.exists() and any(out.iterdir()) and not _holds_results(out):
        raise ValueError(f"{out} holds something else than an earlier grading; choose a new folder")


def _holds_results(out: Path) -> bool:
    try:
        return bool(json.loads((out / "results.json").read_text("utf-8"))["kind"] == KIND)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def recorded_seed(out: Path) -> int | None:
    """Return the seed that the results in a folder were graded with; None if there are none."""
    try:
        results = json.loads((out / "results.json").read_text("utf-8"))
        return int(results["seed"]) if results["kind"] == KIND else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def versions() -> dict[str, str]:
    """Return the versions of all that decides how an answer is judged."""
    return {"transformer-lab": _version(), "torch": torch.__version__, "python": python_version()}


def best_per_lesson(notebooks: Sequence[GradedSubmission]) -> dict[str, GradedSubmission]:
    """Return a student's notebook that counts for each lesson, in the lessons' order: the one with the most points."""
    known = [notebook for notebook in notebooks if notebook.submission.lesson]
    ranked = sorted(known, key=lambda notebook: (notebook.points + notebook.bonus, bool(notebook.exercises)))
    best = {notebook.submission.lesson: notebook for notebook in ranked}
    return {lesson: best[lesson] for lesson in LESSONS if lesson in best}


def lessons_of(students: Mapping[str, Sequence[GradedSubmission]]) -> list[str]:
    """List the lessons that at least one student handed in."""
    seen = {notebook.submission.lesson for notebooks in students.values() for notebook in notebooks}
    return [lesson for lesson in LESSONS if lesson in seen]


def max_points(lessons: Sequence[str]) -> int:
    """Return the sum of the points of these lessons' core exercises."""
    return sum(e.points for lesson in lessons for e in exercises_of(lesson) if not e.stretch)


def gradebook_table(students: Mapping[str, Sequence[GradedSubmission]]) -> pd.DataFrame:
    """Return the gradebook: points for each exercise, then their sum, its maximum, bonus and remarks."""
    lessons = lessons_of(students)
    rows = []
    for student, notebooks in sorted(students.items()):
        best = best_per_lesson(notebooks)
        points = {_column(lesson, one.exercise): one.points for lesson, nb in best.items() for one in nb.exercises}
        columns = [_column(lesson, exercise) for lesson in lessons for exercise in exercises_of(lesson)]
        rows.append(
            {
                "student": _escape_formula(student),
                **{column: points.get(column, 0) for column in columns},
                "points": sum(notebook.points for notebook in best.values()),
                "of": max_points(lessons),
                "bonus": sum(notebook.bonus for notebook in best.values()),
                "status": _status(notebooks),
                "notebooks": " ".join(f"{lesson}:{nb.submission.digest[:12]}" for lesson, nb in best.items()),
                "remarks": _escape_formula(" ".join(_remarks(notebooks))),
            }
        )
    return pd.DataFrame(rows)


def _column(lesson: str, exercise: Exercise) -> str:
    return f"{lesson}: {exercise.name}{' (bonus)' if exercise.stretch else ''}"


FORMULA = re.compile(r"""(^|[;,|])(["'\s]*[=+@＝＋－＠-])""")
"""What a spreadsheet takes for the start of a formula, also where it splits cells at other signs than a comma."""


def _escape_formula(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would execute; students choose the names of their files."""
    return FORMULA.sub(r"\1'\2", text)


def _status(notebooks: Sequence[GradedSubmission]) -> str:
    if any(notebook.exercises for notebook in notebooks):
        return "graded in part" if any(notebook.submission.problem for notebook in notebooks) else "graded"
    return "could not be graded" if any(notebook.submission.problem for notebook in notebooks) else "nothing handed in"


def _remarks(notebooks: Sequence[GradedSubmission]) -> Iterator[str]:
    yield from (f"{nb.submission.file}: {nb.submission.problem}" for nb in notebooks if nb.submission.problem)
    counts = Counter(nb.submission.lesson for nb in notebooks if nb.submission.lesson)
    yield from (f"{n} notebooks of {lesson}: the best one counts." for lesson, n in counts.items() if n > 1)


def write_gradebook(
    out: Path, students: Mapping[str, Sequence[GradedSubmission]], seed: int, limits: Limits, guards: dict[str, Any]
) -> None:
    """Write ``gradebook.csv`` and ``results.json``.

    Args:
        out: Folder to write to.
        students: The graded notebooks of each student.
        seed: Seed of the cases.
        limits: Limits that the answers ran under.
        guards: The guards that the jail had, as ``confine.confine`` returns them.
    """
    results = {
        "kind": KIND,
        "seed": seed,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "platform": platform(),
        "limits": asdict(limits),
        "guards": guards,
        "students": {student: [as_dict(nb) for nb in notebooks] for student, notebooks in sorted(students.items())},
    }
    out.mkdir(parents=True, exist_ok=True)
    # First the file that identifies the folder: after an interruption it may be written again.
    atomic_write_text(out / "results.json", json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    table = gradebook_table(students).to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)
    atomic_write_text(out / "gradebook.csv", table)


def _version() -> str:
    try:
        return version("transformer-lab")
    except PackageNotFoundError:  # used from a clone without installation
        return "unknown"


def summary(out: Path, students: Mapping[str, Sequence[GradedSubmission]], n_kept: int = 0) -> str:
    """Return a few lines that say what was graded, what could not be, and how much is of an earlier grading."""
    notebooks = [notebook for everything in students.values() for notebook in everything]
    graded_lessons = [notebook.submission.lesson for notebook in notebooks]
    counts = [f"{lesson} ({graded_lessons.count(lesson)})" for lesson in lessons_of(students)]
    total = f"Graded {_pluralise(len(notebooks), 'notebook')} of {_pluralise(len(students), 'student')}"
    lines = [f"{total}: {', '.join(counts)}." if counts else f"{total}."]
    if n_kept:
        lines.append(f"  The results of {_pluralise(n_kept, 'student')} are those of an earlier grading.")
    for row in gradebook_table(students).to_dict("records") if len(students) <= MAX_LISTED_STUDENTS else []:
        bonus = f" and {row['bonus']} bonus" if row["bonus"] else ""
        lines.append(f"  {row['student']}: {row['points']} of {row['of']} points{bonus}")
    for submission in [notebook.submission for notebook in notebooks if notebook.submission.problem]:
        lines.append(f"  {printable(str(submission.path))}: {submission.problem}")
    return "\n".join([*lines, f"The gradebook, the results with their seed and the feedback are in {out}."])


def _pluralise(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
