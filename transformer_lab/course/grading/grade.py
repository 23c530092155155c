"""Grade a class: find the submissions, run them in the jail, judge them, and write the results."""

import logging
import secrets
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from transformer_lab.course.exercises import LESSONS
from transformer_lab.course.grading import gradebook
from transformer_lab.course.grading.assess import GradedSubmission, assess
from transformer_lab.course.grading.feedback import write_feedback
from transformer_lab.course.grading.submissions import find_submissions
from transformer_lab.course.jail.jail import Jail
from transformer_lab.course.jail.limits import Limits


def grade(
    paths: list[Path],
    out: Path,
    *,
    lessons: Sequence[str] = (),
    seed: int | None = None,
    seconds: float = 10.0,
    memory_mb: int = 2048,
) -> str:
    """Grade notebooks, and write ``gradebook.csv``, ``results.json`` and a page of feedback per student.

    Args:
        paths: Notebooks, students' folders, or folders of students' folders.
        out: Where to write: a new folder, or that of an earlier grading, which is replaced.
        lessons: The lessons to grade; by default, all that at least one student handed in.
        seed: Seed of the cases. By default a new secret one; it is recorded in ``results.json``, and grading again
            with it gives the same points.
        seconds: Time limit of one exercise.
        memory_mb: Memory limit of one exercise.

    Returns:
        A few lines that say what was graded.

    Raises:
        ValueError: A path does not exist or holds no notebook, ``out`` holds something else than results, a lesson is
            unknown, or the seed or a limit is out of bounds.
        OSError: A file cannot be read or written, or the jail does not start.
    """
    seed = secrets.randbelow(2**31) if seed is None else seed
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed must be between 0 and 2**63 - 1; got seed={seed}")
    if unknown := set(lessons) - set(LESSONS):
        raise ValueError(f"there is no lesson {min(unknown)!r}; there are {', '.join(LESSONS)}")
    limits = Limits(seconds=seconds, memory_mb=memory_mb)
    gradebook.check_output_folder(out)
    submissions = find_submissions(paths, ignore=out)
    students: dict[str, list[GradedSubmission]] = defaultdict(list)
    with Jail(limits) as jail:
        if warning := caution(jail.guards):
            logging.getLogger(__name__).warning(warning)  # before anything runs
        for submission in tqdm(submissions, unit=" notebooks", leave=False, disable=None):  # None: in a terminal only
            notebooks = students[submission.student]  # also without a notebook to grade, a student is listed
            if not lessons or submission.lesson in {*lessons, ""}:
                notebooks.append(assess(submission, jail, seed))
    gradebook.write_gradebook(out, students, seed, limits, jail.guards)
    write_feedback(out / "feedback", students)
    return gradebook.summary(out, students)


def caution(guards: Mapping[str, Any]) -> str:
    """Return a warning about what learners' code can do on this system but should not; empty where all guards hold."""
    risks = {
        "read what every user can": guards["own_user"] and not guards["landlock"],
        "read, change and delete your files": not guards["own_user"] and not guards["landlock"],
        "end your programs": not guards["own_user"] and guards["landlock"] < 6,
        "use the network": not guards["seccomp"],
        "take all memory": sys.platform != "linux",
    }
    can = [risk for risk, is_open in risks.items() if is_open]
    if not can:
        return ""
    listed = " and ".join([", ".join(can[:-1]), can[-1]] if len(can) > 1 else can)
    advice = "Grade only what you would run yourself, or grade in a container."
    return f"Caution: on this system the code in the notebooks can {listed}. {advice}"
