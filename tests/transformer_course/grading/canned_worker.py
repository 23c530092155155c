"""A fake grading worker for tests that do not depend on the verdicts."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import every_exercise, exercises_of
from transformer_course.grading.judging.graded_results import GradedExercise
from transformer_course.grading.judging.worker import Task

CORE = {lesson: sum(e.points for e in exercises_of(lesson) if not e.stretch) for lesson in ("01_lookup", "02_scaling")}
GUARDED = {"own_user": True, "namespaces": False, "landlock": 7, "seccomp": True, "own_disk": True, "cgroup": True}


class Canned:
    """A fake worker without a sandbox. All answers in a notebook pass if the notebook contains the word ``right``. An
    answer that contains ``torch.softmax`` gets a remark.

    Attributes:
        guards: The guards that the worker claims for its sandbox.
        graded: The student and the exercise of each task that the worker has graded.
    """

    def __init__(self) -> None:
        self.guards: dict[str, Any] = dict(GUARDED)
        self.graded: list[tuple[str, str]] = []

    def assess(self, task: Task) -> GradedExercise:
        self.graded.append((task.submission.student, task.name))
        is_right = any("right" in cell["source"] for cell in task.submission.cells)
        verdict = Verdict(task.name, "passed" if is_right else "wrong", "")
        calls = any(f"def {task.name}" in c["source"] and "torch.softmax" in c["source"] for c in task.submission.cells)
        return GradedExercise(every_exercise()[task.name], verdict, 0.1, remarks=["calls torch.softmax"] * calls)

    def kill(self) -> None: ...


def results(out: Path) -> dict[str, Any]:
    text: dict[str, Any] = json.loads((out / "results.json").read_text("utf-8"))
    return text


def rows(out: Path) -> dict[str, int]:
    return {str(name): int(points) for name, points in pd.read_csv(out / "gradebook.csv")[["student", "points"]].values}
