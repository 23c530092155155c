"""Grade hostile and unlucky submissions in one sandbox, and print each submission's points and feedback.

``test_hostile_submissions`` runs ``python -m tests.transformer_course.sandbox.hostile.run [N]``, which grades the first
N submissions in each class, by default all submissions. If the environment contains ``NO_NAMESPACES``, the sandbox does
not use namespaces.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from tests.transformer_course.sandbox.hostile import (
    border,
    files,
    forgeries,
    memory,
    notebooks,
    observations,
    processes,
    system_calls,
    unlucky,
)
from tests.transformer_course.sandbox.sample_submissions import RIGHT
from transformer_course.checking import mistake_recognition
from transformer_course.exercise import Exercise
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.incoming.submissions import find_submissions
from transformer_course.grading.judging.assess import Allowance, assess
from transformer_course.grading.judging.graded_results import GradedExercise
from transformer_course.grading.judging.run_answer import AnswerChoice
from transformer_course.grading.judging.worker import Task, Worker
from transformer_course.sandbox import sandbox
from transformer_course.sandbox.copied_code import copy_course
from transformer_course.sandbox.resource_limits import Limits

CLASSES = {
    module.__name__.rpartition(".")[2]: module.ANSWERS
    for module in (files, processes, memory, border, observations, forgeries, system_calls, unlucky)
}
LIMITS = Limits(seconds=20.0, memory_mb=512)
SEED = 20_170_612


def copy_without_namespaces(to: Path) -> None:
    """Copy the course into the sandbox, modified as if the system did not support namespaces."""
    copy_course(to)
    with (to / "transformer_course" / "sandbox" / "linux" / "namespaces.py").open("a") as file:
        file.write("\n\ndef are_possible(): return False\n")


if "NO_NAMESPACES" in os.environ:  # set at import time, because the worker also imports this module
    sandbox.copy_course = copy_without_namespaces


def grade_answer(worker: Worker, source: str, seconds: float, name: str = "softmax") -> tuple[int, str]:
    """Return an answer's points and feedback."""
    cells = [{"id": name, "source": source}]
    limits = Limits(seconds=seconds, memory_mb=LIMITS.memory_mb)
    graded = worker.assess(Task(Submission("eve", Path("x.ipynb"), "01_lookup", cells), name, SEED, limits))
    return graded.points, graded.verdict.message


def grade_notebook(worker: Worker, notebook: notebooks.Notebook, folder: Path) -> tuple[bool, str]:
    """Return whether a notebook got all points, and its feedback, which starts with a note for partial points."""
    folder.mkdir()
    (folder / notebook.file).write_bytes(notebook.data)
    [submission] = find_submissions([folder])

    def assess_one(submission: Submission, exercise: Exercise, limits: Limits, choice: AnswerChoice) -> GradedExercise:
        return worker.assess(Task(submission, exercise.name, SEED, limits, choice))

    graded = assess(submission, Allowance(LIMITS), assess_one)
    passed = [exercise.verdict.passed for exercise in graded.exercises]
    prefix = "" if len({*passed}) < 2 else "only some exercises passed: "
    text = submission.problem or " | ".join(exercise.verdict.message[:200] for exercise in graded.exercises)
    return bool(passed) and all(passed), f"{prefix}{text}"


def main() -> None:
    """Grade the submissions in each class, and print the guards and each submission's result as JSON."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else None
    placeholders = json.loads(os.environ["PLACEHOLDERS"])
    results: dict[str, dict[str, Any]] = {}
    # Skip the slow search for pairs of mistakes, because no submission contains two mistakes.
    mistake_recognition.MAX_PAIRS = 0
    with Worker(LIMITS) as worker:
        guards = worker.guards
        for kind, answers in CLASSES.items():
            for answer in answers[:n]:
                source = answer.source
                for word, value in placeholders.items():
                    source = source.replace(word, value)
                started = time.monotonic()
                points, message = grade_answer(worker, source, answer.seconds, answer.exercise)
                seconds = time.monotonic() - started
                results[f"{kind}: {answer.name}"] = {"points": points, "message": message, "seconds": seconds}
            results[f"{kind}: a right answer at the end"] = dict(
                zip(("points", "message"), grade_answer(worker, RIGHT["softmax"], LIMITS.seconds), strict=True)
            )
        for i, notebook in enumerate(notebooks.NOTEBOOKS[:n]):
            passed, message = grade_notebook(worker, notebook, Path(f"notebook-{i}"))
            results[f"notebooks: {notebook.name}"] = {"points": passed, "message": message}
    print(json.dumps({"guards": guards, "results": results}))


if __name__ == "__main__":
    main()
