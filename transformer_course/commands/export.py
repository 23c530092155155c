"""``transformer-course export``: put points and feedback into the tables of a university's system."""

import argparse
from pathlib import Path


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "export",
        help="put the points of a class into a table that Canvas or Moodle has exported",
        description="Put the points of a class, less what being late costs, into a table that Canvas or Moodle has "
        "exported. All else in it stays as it is. The new table is canvas.csv or moodle.csv in the folder of results.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "results", type=Path, metavar="FOLDER", help="the folder that transformer-course grade has written"
    )
    system = parser.add_mutually_exclusive_group(required=True)
    system.add_argument("--canvas", type=Path, metavar="CSV", help="the gradebook that Canvas has exported")
    system.add_argument("--moodle", type=Path, metavar="CSV", help="the grading worksheet that Moodle has exported")
    lesson = "the points of this lesson, such as 01_lookup (default: the sum of all)"
    parser.add_argument("--lesson", default="", metavar="NAME", help=lesson)
    column = "the assignment in Canvas; if there is none of this name, one is added (default: Transformer Course)"
    parser.add_argument("--column", default="Transformer Course", metavar="NAME", help=column)
    parser.add_argument("--bonus", action="store_true", help="add the points of stretch exercises")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the table, print who has points now, and return the exit code 0.

    Raises:
        ValueError: There are no results, or the table is of another kind.
        OSError: A file cannot be read or written.
    """
    from transformer_course.grading.class_report import read_results
    from transformer_course.grading.exports import merge_into_canvas, merge_into_moodle

    results, how = read_results(args.results), {"lesson": args.lesson, "bonus": args.bonus}
    if args.canvas:
        to = args.results / "canvas.csv"
        told = merge_into_canvas(args.canvas, results, to, column=args.column, **how)
    else:
        to = args.results / "moodle.csv"
        told = merge_into_moodle(args.moodle, results, to, **how)
    print(f"{told}\nThe table is {to}.")
    return 0
