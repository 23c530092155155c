"""``transformer-course practice``: solve exercises again from memory and answer interview questions."""

import argparse
import random
from datetime import UTC, datetime

from transformer_course.commands.common import add_folder


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "practice",
        help="solve exercises again from memory and answer interview questions",
        usage="transformer-course practice [--lesson LESSONS] [-n N] [--questions N] [--minutes M] [--interview] "
        "[--folder FOLDER] [JUPYTERLAB'S ARGUMENTS ...]",
        description="Write a practice notebook and open it in JupyterLab. When you are about to forget an exercise "
        "that you have passed, it comes back as a blank stub. Interview questions from the lessons you have started "
        "come back in the same way. Your saved parts do not change.",
        allow_abbrev=False,
    )
    lessons = (
        "practice these lessons even if nothing is due: a lesson such as 03, a list such as 01,04-06, or bank "
        "for exercises that are not part of any lesson"
    )
    parser.add_argument("--lesson", metavar="LESSONS", help=lessons)
    parser.add_argument("-n", type=_count, metavar="N", help="maximum number of exercises (default: 4)")
    questions = "maximum number of interview questions (default: 6)"
    parser.add_argument("--questions", type=_count, metavar="N", help=questions)
    parser.add_argument("--minutes", type=_count, metavar="M", help="length of the session in minutes")
    interview = (
        "start a mock interview of 45 minutes (or --minutes) with a random mix of exercises you have passed and a "
        "score at the end"
    )
    parser.add_argument("--interview", action="store_true", help=interview)
    add_folder(parser)
    parser.set_defaults(run=run, passes_arguments_on=True)


def run(args: argparse.Namespace) -> int:
    """Write the notebook, open it, and return the exit code 0 after JupyterLab exits.

    Raises:
        ValueError: A lesson does not exist, there is nothing to practice, or the folder cannot be written to.
        OSError: The published lessons do not exist.
    """
    from transformer_course.home.lab import open_lab
    from transformer_course.lesson_folder import published_lessons
    from transformer_course.practice.material import read_material
    from transformer_course.practice.practice_notebook import write_practice
    from transformer_course.practice.selection import (
        INTERVIEW_MINUTES,
        N_EXERCISES,
        N_QUESTIONS,
        select_due,
        select_interview,
        select_lessons,
    )
    from transformer_course.workspace.progress import read_progress
    from transformer_course.workspace.working_copies import choose_folder, working_copy

    choose_folder(args.folder)
    folder, now = working_copy(), datetime.now(UTC)
    material, progress = read_material(published_lessons()), read_progress(folder)
    lessons = lessons_in(args.lesson, material.lessons) if args.lesson else []
    numbers = {
        "n_exercises": N_EXERCISES if args.n is None else args.n,
        "n_questions": N_QUESTIONS if args.questions is None else args.questions,
    }
    if args.interview:
        selection = select_interview(material, progress, random.Random(), lessons, **numbers)
    elif lessons:
        selection = select_lessons(material, progress, now, lessons, **numbers)
    else:
        selection = select_due(material, progress, now, **numbers)
    if not selection:
        raise ValueError(
            "nothing is due today; choose lessons with --lesson, such as --lesson 01-04"
            if progress.passed
            else "there is nothing to practice yet: an exercise comes back a few days after you pass it. "
            "To practice a lesson now, pass --lesson 01"
        )
    minutes = args.minutes or (INTERVIEW_MINUTES if args.interview else None)
    path = write_practice(selection, folder, now, minutes, args.interview)
    print(f"{selection}: {path}", flush=True)
    open_lab([*args.unrecognized, f"--LabApp.default_url=/lab/tree/{path.relative_to(folder).as_posix()}"])
    return 0


def lessons_in(text: str, lessons: list[str]) -> list[str]:
    """Return the lessons in a list such as ``01-04,07``, in course order.

    Args:
        text: Lessons or ranges of lessons, separated by commas. The names are the same as for ``lab --lesson``.
        lessons: All lessons that can be practiced, in course order.

    Raises:
        ValueError: A lesson does not exist, or a range ends before it begins.
    """
    from transformer_course.workspace.working_copies import find_lesson

    chosen = set[str]()
    for part in text.split(","):
        ends = [find_lesson(name.strip()) for name in part.split("-")]
        if unknown := [name for name in ends if name not in lessons]:
            raise ValueError(f"lesson {unknown[0]} has neither exercises nor questions")
        first, last = lessons.index(ends[0]), lessons.index(ends[-1])
        if len(ends) > 2 or last < first:
            raise ValueError(f"{part!r} is not a range of lessons; pass a range such as 01-04")
        chosen.update(lessons[first : last + 1])
    return [name for name in lessons if name in chosen]


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, such as 5")
    return int(text)
