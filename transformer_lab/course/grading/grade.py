"""Grade what was handed in: find it, run it in the jail, judge it, write the results down."""

import logging
import secrets
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from transformer_lab.course.exercises import LESSONS
from transformer_lab.course.grading import feedback, gradebook, submissions
from transformer_lab.course.grading.assess import Work, assess
from transformer_lab.course.jail.jail import Jail
from transformer_lab.course.jail.limits import Limits

Class = dict[str, list[Work]]
"""What each student handed in."""


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
        lessons: The lessons to grade; by default, all that anybody handed in.
        seed: What the cases are drawn from. By default a new secret one; it is recorded in ``results.json``, and
            grading again with it gives the same points.
        seconds: How long the code of one exercise may run.
        memory_mb: How much memory it may take.

    Returns:
        A few lines that say what was graded.

    Raises:
        ValueError: A path, a lesson, the seed or a limit cannot be used.
        OSError: Something cannot be read or written.
    """
    seed = secrets.randbelow(2**31) if seed is None else seed
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed={seed} should be between 0 and 2**63 - 1")
    if unknown := set(lessons) - set(LESSONS):
        raise ValueError(f"there is no lesson {min(unknown)!r}; there are {', '.join(LESSONS)}")
    limits = Limits(seconds=seconds, memory_mb=memory_mb)
    gradebook.check_folder(out)
    handed_in = submissions.find(paths, ignore=out)
    students: Class = defaultdict(list)
    with Jail(limits) as jail:
        if warning := caution(jail.guards):
            logging.getLogger(__name__).warning(warning)  # before anything runs
        for submission in tqdm(
            handed_in, unit=" notebooks", leave=False, disable=None
        ):  # None: unless it is a terminal
            works = students[submission.student]  # so that nobody is forgotten
            if not lessons or submission.lesson in {*lessons, ""}:
                works.append(assess(submission, jail, seed))
    gradebook.write(out, students, seed, limits, jail.guards)
    feedback.write(out / "feedback", students)
    return gradebook.summary(out, students)


def caution(guards: Mapping[str, Any]) -> str:
    """Say what learners' code can do on this system that it should not; nothing, where it is well guarded."""
    open_doors = {
        "read what every user can": guards["own_user"] and not guards["landlock"],
        "read, change and delete your files": not guards["own_user"] and not guards["landlock"],
        "end your programs": not guards["own_user"] and guards["landlock"] < 6,
        "use the network": not guards["seccomp"],
        "take all memory": sys.platform != "linux",
    }
    can = [what for what, is_open in open_doors.items() if is_open]
    if not can:
        return ""
    listed = " and ".join([", ".join(can[:-1]), can[-1]] if len(can) > 1 else can)
    advice = "Grade only what you would run yourself, or grade in a container."
    return f"Caution: on this system the code in the notebooks can {listed}. {advice}"
