"""``transformer-course reset``: start a lesson over."""

import argparse

from transformer_course.commands.common import add_folder


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "reset",
        help="start a lesson over and keep your old copy",
        description="Replace your copy of a lesson with the published lesson. Your old copy gets a new name and stays "
        "in the same folder. Exercises that you have passed stay passed, and your saved parts do not change. Close the "
        "lesson in JupyterLab first.",
    )
    parser.add_argument("lesson", metavar="LESSON", help="the lesson, such as 03, heads or 03_heads")
    add_folder(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Reset the lesson, print the new location of the learner's copy, and return the exit code 0.

    Raises:
        ValueError: The lesson does not exist.
        OSError: The folder does not exist or cannot be written to.
    """
    from transformer_course.lesson_folder import published_lessons
    from transformer_course.workspace.working_copies import choose_folder, find_lesson, reset_lesson, working_copy

    choose_folder(args.folder)
    lesson, folder = find_lesson(args.lesson), working_copy()
    if not folder.is_dir():
        raise FileNotFoundError(f"folder {folder} does not exist; run `transformer-course lab` first")
    kept = reset_lesson(published_lessons(), folder, lesson)
    print(f"{folder / lesson}.ipynb is the published lesson again.")
    if kept is not None:
        print(f"Your old copy is {kept.name}.")
    return 0
