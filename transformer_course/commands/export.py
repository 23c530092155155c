"""``transformer-course export``: put points and feedback into the tables of a university's system."""

import argparse
from pathlib import Path


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "export",
        help="put the points of a class into a table that Canvas or Moodle has exported",
        description="Put the points of a class, less what being late costs, into a table that Canvas or Moodle has "
        "exported. All else in it stays as it is. The new table is canvas.csv or moodle.csv in the folder of results; "
        "for Canvas, canvas_feedback.zip is there, too, which its “Upload Submissions” takes.",
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
    parser.add_argument("--look", action="store_true", help="say what would change, and write nothing")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the table, print who gets points, and return the exit code 0.

    Raises:
        ValueError: There are no results, or the table is of another kind.
        OSError: A file cannot be read or written.
    """
    from transformer_course.grading.reports.canvas_feedback import CANVAS_FEEDBACK_FILE, canvas_feedback
    from transformer_course.grading.reports.class_report import read_results
    from transformer_course.grading.reports.exports import merge_into_canvas, merge_into_moodle
    from transformer_lab.atomic_write import atomic_write, atomic_write_text

    results = read_results(args.results, bonus=args.bonus)
    if args.canvas:
        to = args.results / "canvas.csv"
        table = merge_into_canvas(args.canvas, results, lesson=args.lesson, column=args.column)
    else:
        to = args.results / "moodle.csv"
        table = merge_into_moodle(args.moodle, results, lesson=args.lesson)
    print("\n".join([table.messages, *results.unfinished]))
    if args.look:
        print("Nothing was written.")
        return 0
    atomic_write_text(to, table.text)
    print(f"The table is {to}.")
    if args.canvas:
        content, n = canvas_feedback(table.found)
        if n:
            with atomic_write(args.results / CANVAS_FEEDBACK_FILE) as temporary:
                temporary.write_bytes(content)
            print(
                f"The feedback of {n} of them is {args.results / CANVAS_FEEDBACK_FILE}, for “Upload Submissions” in "
                f"Canvas."
            )
    return 0
