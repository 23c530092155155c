"""Write the gradebook (a row per student) and the results (everything there is to know, for programs)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import platform, python_version
from typing import Any

import pandas as pd
import torch

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises import LESSONS, exercises_of
from transformer_lab.course.grading.assess import Work
from transformer_lab.course.grading.submissions import printable
from transformer_lab.course.jail.limits import Limits

KIND = "transformer-lab grading"
"""By this a folder of results is recognised."""
FEW = 20
"""So many students are listed one by one."""


def check_folder(out: Path) -> None:
    """Make sure that nothing but an earlier grading would be overwritten.

    Raises:
        ValueError: Something else is there.
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


def counting(works: Sequence[Work]) -> dict[str, Work]:
    """Of several notebooks of one lesson, the one with the most points counts: by lesson, in their order."""
    ranked = sorted((w for w in works if w.submission.lesson), key=lambda w: (w.points + w.bonus, bool(w.graded)))
    best = {work.submission.lesson: work for work in ranked}
    return {lesson: best[lesson] for lesson in LESSONS if lesson in best}


def lessons_of(students: Mapping[str, Sequence[Work]]) -> list[str]:
    """List the lessons that anybody handed in."""
    seen = {work.submission.lesson for works in students.values() for work in works}
    return [lesson for lesson in LESSONS if lesson in seen]


def reachable(lessons: Sequence[str]) -> int:
    """Add up the points of the core exercises."""
    return sum(e.points for lesson in lessons for e in exercises_of(lesson) if not e.stretch)


def table(students: Mapping[str, Sequence[Work]]) -> pd.DataFrame:
    """Make the gradebook: the points for each exercise, then points out of how many, bonus and remarks."""
    lessons = lessons_of(students)
    rows = []
    for student, works in sorted(students.items()):
        counts = counting(works)
        points = {_column(lesson, one.exercise): one.points for lesson, w in counts.items() for one in w.graded}
        columns = [_column(lesson, exercise) for lesson in lessons for exercise in exercises_of(lesson)]
        rows.append(
            {
                "student": _no_formula(student),
                **{column: points.get(column, 0) for column in columns},
                "points": sum(w.points for w in counts.values()),
                "of": reachable(lessons),
                "bonus": sum(w.bonus for w in counts.values()),
                "remarks": _no_formula(" ".join(_remark(work) for work in works if work.submission.problem)),
            }
        )
    return pd.DataFrame(rows)


def _column(lesson: str, exercise: Exercise) -> str:
    return f"{lesson}: {exercise.name}{' (bonus)' if exercise.stretch else ''}"


def _no_formula(text: str) -> str:
    """Keep a spreadsheet from executing what a student has called a file."""
    return f"'{text}" if text[:1] in tuple("=+-@") else text


def _remark(work: Work) -> str:
    return f"{work.submission.file}: {work.submission.problem}"


def write(out: Path, students: Mapping[str, Sequence[Work]], seed: int, limits: Limits, guards: dict[str, Any]) -> None:
    """Write ``gradebook.csv`` and ``results.json``."""
    results = {
        "kind": KIND,
        "seed": seed,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"transformer-lab": _version(), "torch": torch.__version__, "python": python_version()},
        "platform": platform(),
        "limits": asdict(limits),
        "guards": guards,
        "students": {student: [_told(work) for work in works] for student, works in sorted(students.items())},
    }
    out.mkdir(parents=True, exist_ok=True)
    # First what makes the folder ours: were it interrupted, it could be written again.
    (out / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
    table(students).to_csv(out / "gradebook.csv", index=False, encoding="utf-8")


def _version() -> str:
    try:
        return version("transformer-lab")
    except PackageNotFoundError:  # used from its folder, without being installed
        return "unknown"


def _told(work: Work) -> dict[str, Any]:
    return {
        "notebook": printable(str(work.submission.path)),
        "lesson": work.submission.lesson,
        "problem": work.submission.problem,
        "exercises": [
            {
                "exercise": one.exercise.name,
                "status": one.verdict.status,
                "mistake": one.verdict.mistake,
                "message": one.verdict.message,
                "points": one.points,
                "of": one.exercise.points,
                "stretch": one.exercise.stretch,
                "seconds": round(one.seconds, 3),
            }
            for one in work.graded
        ],
    }


def summary(out: Path, students: Mapping[str, Sequence[Work]]) -> str:
    """Say in a few lines what was graded, and what could not be."""
    works = [work for everything in students.values() for work in everything]
    counts = [f"{lesson} ({sum(w.submission.lesson == lesson for w in works)})" for lesson in lessons_of(students)]
    told = f"Graded {_count(len(works), 'notebook')} of {_count(len(students), 'student')}"
    lines = [f"{told}: {', '.join(counts)}." if counts else f"{told}."]
    for row in table(students).to_dict("records") if len(students) <= FEW else []:
        bonus = f" and {row['bonus']} bonus" if row["bonus"] else ""
        lines.append(f"  {row['student']}: {row['points']} of {row['of']} points{bonus}")
    lines += [f"  {printable(str(w.submission.path))}: {w.submission.problem}" for w in works if w.submission.problem]
    return "\n".join([*lines, f"The gradebook, the results with their seed and the feedback are in {out}."])


def _count(number: int, of_what: str) -> str:
    return f"{number} {of_what}{'' if number == 1 else 's'}"
