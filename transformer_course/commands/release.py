"""``transformer-course release``: copy lessons for distribution to students."""

import argparse
from pathlib import Path


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "release",
        help="copy lessons without outputs, ready to distribute",
        description="Copy lessons to a folder that you can distribute to students. The copies contain no outputs, "
        "because outputs would reveal the answers to predictions. If the folder contains a different copy of a lesson, "
        "this command keeps the copy and writes the new edition next to it.",
        allow_abbrev=False,
    )
    lessons = "a lesson to copy, such as 01, lookup, 01_lookup or primer (default: all)"
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help=lessons)
    parser.add_argument("-o", "--out", required=True, type=Path, help="the folder for the copies")
    own = "write a notebook with your own exercises, without the answers; lessons are copied only if you list them"
    parser.add_argument("--exercises", type=Path, metavar="FILE", help=own)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Copy the lessons, print a summary, and return the exit code 0.

    Raises:
        ValueError: A lesson does not exist, or the file contains no exercises.
        OSError: The published lessons do not exist, or the folder cannot be written to.
    """
    from transformer_course.lesson_folder import published_lessons
    from transformer_course.workspace.working_copies import copy_lessons, find_lesson

    lessons = [find_lesson(lesson) for lesson in args.lessons]
    if args.exercises:
        from transformer_course.grading.reports.handout import write_handout
        from transformer_course.grading.rules.own_exercises import OwnExercises

        print(write_handout(OwnExercises.read(args.exercises), args.out))
    if lessons or not args.exercises:
        for line in copy_lessons(published_lessons(), args.out, lessons):
            print(line)
    print(f"The lessons are in {args.out}.")
    return 0
