"""Grade what was handed in: find it, run it in the jail, judge it, write the results down."""

import secrets
from collections import defaultdict
from pathlib import Path

from transformer_lab.course.grading import feedback, gradebook, submissions
from transformer_lab.course.grading.assess import Work, assess
from transformer_lab.course.grading.confine import Limits
from transformer_lab.course.grading.jail import Jail

Class = dict[str, list[Work]]
"""What each student handed in."""


def grade(
    paths: list[Path], out: Path, *, seed: int | None = None, seconds: float = 10.0, memory_mb: int = 2048
) -> str:
    """Grade notebooks, and write ``gradebook.csv``, ``results.json`` and a page of feedback per student.

    Args:
        paths: Notebooks, students' folders, or folders of students' folders.
        out: Where to write: a new folder, or that of an earlier grading, which is replaced.
        seed: What the cases are drawn from. By default a new secret one; it is recorded in ``results.json``, and
            grading again with it gives the same points.
        seconds: How long the code of one exercise may run.
        memory_mb: How much memory it may take.

    Returns:
        A few lines that say what was graded.

    Raises:
        ValueError: A path, the seed or a limit cannot be used.
        OSError: Something cannot be read or written.
    """
    seed = secrets.randbelow(2**31) if seed is None else seed
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed={seed} should be between 0 and 2**63 - 1")
    limits = Limits(seconds=seconds, memory_mb=memory_mb)
    gradebook.check_folder(out)
    handed_in = submissions.find(paths, ignore=out)
    students: Class = defaultdict(list)
    with Jail(limits) as jail:
        for submission in handed_in:
            students[submission.student].append(assess(submission, jail, seed))
        protection = jail.protection
    gradebook.write(out, students, seed, limits, protection)
    feedback.write(out / "feedback", students)
    return gradebook.summary(out, students)
