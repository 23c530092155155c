"""``transformer-course lab``: open the lessons in JupyterLab."""

import argparse
from pathlib import Path


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "lab",
        help="open the lessons in JupyterLab",
        usage="transformer-course lab [--lesson LESSON] [--folder FOLDER] [JUPYTERLAB'S ARGUMENTS ...]",
        description="Open your copy of the lessons in JupyterLab. The home page shows the exercises you have passed "
        "and the next step. All other arguments, such as --no-browser, are passed to JupyterLab. If you do not have a "
        "copy yet, this command creates it. It never overwrites an existing copy.",
        allow_abbrev=False,
    )
    lesson = "open this lesson, such as 03, heads or 03_heads"
    parser.add_argument("--lesson", metavar="LESSON", help=lesson)
    folder = "the folder with your copy of the lessons (default: $TRANSFORMER_LAB_LESSONS, or my-lessons in the clone "
    folder += "of the repository or, without a clone, in the current folder)"
    parser.add_argument("--folder", type=Path, metavar="FOLDER", help=folder)
    parser.set_defaults(run=run, passes_arguments_on=True)


def run(args: argparse.Namespace) -> int:
    """Open the lessons, and return the exit code 0 after JupyterLab exits.

    Raises:
        ValueError: The lesson does not exist, or the folder cannot be written to.
        OSError: The published lessons do not exist.
    """
    from transformer_course.home.lab import open_lab
    from transformer_course.workspace.working_copies import choose_folder, find_lesson

    choose_folder(args.folder)
    url = [f"--LabApp.default_url=/lab/tree/{find_lesson(args.lesson)}.ipynb"] if args.lesson is not None else []
    open_lab([*args.unrecognized, *url])
    return 0
