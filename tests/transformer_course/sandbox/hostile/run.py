"""Grade hostile and unlucky submissions in one sandbox, and print what each got; ``test_hostile_submissions`` starts
it.

Run as ``python -m tests.transformer_course.sandbox.hostile.run [first N of each class]``. With ``NO_NAMESPACES`` in its
environment, the sandbox does without them.
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
    """Copy the course into the sandbox as for a system that gives ordinary users no namespaces."""
    copy_course(to)
    with (to / "transformer_course" / "sandbox" / "linux" / "namespaces.py").open("a") as file:
        file.write("\n\ndef are_possible(): return False\n")


if "NO_NAMESPACES" in os.environ:  # the worker imports this module, too
    sandbox.copy_course = copy_without_namespaces


def grade_answer(worker: Worker, source: str, seconds: float, name: str = "softmax") -> tuple[int, str]:
    """Return the points of an answer, and what is said about it."""
    cells = [{"id": name, "source": source}]
    limits = Limits(seconds=seconds, memory_mb=LIMITS.memory_mb)
    graded = worker.assess(Task(Submission("eve", Path("x.ipynb"), "01_lookup", cells), name, SEED, limits))
    return graded.points, graded.verdict.message


def grade_notebook(worker: Worker, notebook: notebooks.Notebook, folder: Path) -> tuple[bool, str]:
    """Return whether a notebook got all points; if it got only some, say so."""
    folder.mkdir()
    (folder / notebook.file).write_bytes(notebook.data)
    [submission] = find_submissions([folder])

    def assess_one(one: Submission, exercise: Exercise, limits: Limits, choice: AnswerChoice) -> GradedExercise:
        return worker.assess(Task(one, exercise.name, SEED, limits, choice))

    graded = assess(submission, Allowance(LIMITS), assess_one)
    passed = [one.verdict.passed for one in graded.exercises]
    all_or_none = "" if len({*passed}) < 2 else "only some exercises passed: "
    text = submission.problem or " | ".join(one.verdict.message[:200] for one in graded.exercises)
    return bool(passed) and all(passed), f"{all_or_none}{text}"


def main() -> None:
    """Grade the first submissions of each class; print the guards, and by class and name what each got."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else None
    places = json.loads(os.environ["PLACES"])
    text: dict[str, dict[str, Any]] = {}
    mistake_recognition.MAX_PAIRS = (
        0  # nothing here makes two mistakes at once, and looking for them takes longest of all
    )
    with Worker(LIMITS) as worker:
        guards = worker.guards
        for kind, answers in CLASSES.items():
            for answer in answers[:n]:
                source = answer.source
                for word, place in places.items():
                    source = source.replace(word, place)
                started = time.monotonic()
                points, message = grade_answer(worker, source, answer.seconds, answer.exercise)
                seconds = time.monotonic() - started
                text[f"{kind}: {answer.name}"] = {"points": points, "message": message, "seconds": seconds}
            text[f"{kind}: a right answer after all these"] = dict(
                zip(("points", "message"), grade_answer(worker, RIGHT["softmax"], LIMITS.seconds), strict=True)
            )
        for i, notebook in enumerate(notebooks.NOTEBOOKS[:n]):
            passed, message = grade_notebook(worker, notebook, Path(f"notebook-{i}"))
            text[f"notebooks: {notebook.name}"] = {"points": passed, "message": message}
    print(json.dumps({"guards": guards, "told": text}))


if __name__ == "__main__":
    main()
