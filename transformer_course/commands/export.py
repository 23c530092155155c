"""``transformer-course export``: export points and feedback to Canvas or Moodle."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformer_course.grading.reports.exports import FilledTable


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "export",
        help="enter a class's points in a gradebook exported from Canvas or Moodle",
        description="Enter a class's points, minus late penalties, in a table exported from Canvas or Moodle. All "
        "other cells of the table stay the same. The new table is canvas.csv or moodle.csv in the results folder, next "
        "to a zip of the feedback pages: canvas_feedback.zip for “Upload Submissions” in Canvas, or "
        "moodle_feedback.zip for “Upload multiple feedback files in a zip” in Moodle.",
        allow_abbrev=False,
    )
    parser.add_argument("results", type=Path, metavar="FOLDER", help="the output folder of transformer-course grade")
    system = parser.add_mutually_exclusive_group(required=True)
    system.add_argument("--canvas", type=Path, metavar="CSV", help="the gradebook exported from Canvas")
    system.add_argument("--moodle", type=Path, metavar="CSV", help="the grading worksheet exported from Moodle")
    lesson = "export the points for this lesson, such as 01, lookup or 01_lookup (default: the sum of all lessons)"
    parser.add_argument("--lesson", default="", metavar="NAME", help=lesson)
    column = "the name of the assignment in Canvas; a new column is added if there is no such assignment (default: "
    column += "Transformer Course)"
    parser.add_argument("--column", default="Transformer Course", metavar="NAME", help=column)
    columns = "for Moodle: choose a column by its title or by its number, counting from 1, such as grade=Bewertung; "
    columns += "KEY is id, name, email, grade, maximum or feedback (default: recognize columns by title and content)"
    parser.add_argument("--columns", action="extend", nargs="+", default=[], metavar="KEY=TITLE", help=columns)
    parser.add_argument("--bonus", action="store_true", help="include points for stretch exercises")
    force = "export even if the table seems to be for a different lesson"
    parser.add_argument("--force", action="store_true", help=force)
    parser.add_argument("--look", action="store_true", help="print the changes without writing anything")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the table, print a summary, and return the exit code 0.

    Raises:
        ValueError: There are no results, or the table has the wrong format or seems to be for a different lesson.
        OSError: A file cannot be read or written.
    """
    from transformer_course.checking.formatting import join_words
    from transformer_course.exercises import every_lesson
    from transformer_course.grading.incoming.column_titles import parse_columns
    from transformer_course.grading.reports.class_report import read_results
    from transformer_course.grading.reports.exports import merge_into_canvas, merge_into_moodle
    from transformer_course.workspace.working_copies import find_lesson
    from transformer_lab.atomic_write import atomic_write

    if args.columns and args.canvas:
        raise ValueError("--columns works only with --moodle; Canvas uses the same column titles in every language")
    results = read_results(args.results, bonus=args.bonus)
    args.lesson = find_lesson(args.lesson, every_lesson()) if args.lesson else ""
    if args.canvas:
        to = args.results / "canvas.csv"
        table = merge_into_canvas(args.canvas, results, lesson=args.lesson, column=args.column)
    else:
        to = args.results / "moodle.csv"
        table = merge_into_moodle(args.moodle, results, lesson=args.lesson, columns=parse_columns(args.columns))
    if table.doubts and not args.force:
        doubt = f"{args.canvas or args.moodle} may be for a different lesson than {args.lesson}: "
        doubt += f"{join_words(table.doubts)}. If it is the right table, add --force"
        if not args.look:
            raise ValueError(doubt)
        print(f"Caution: {doubt}.")
    print("\n".join([table.messages, *results.unknown_times(args.lesson), *results.unfinished]))
    if args.look:
        print("Nothing was written.")
        return 0
    with atomic_write(to) as temporary:
        temporary.write_bytes(table.content)
    print(f"The table is {to}.")
    _write_feedback(args, table)
    return 0


def _write_feedback(args: argparse.Namespace, table: "FilledTable") -> None:
    from transformer_course.checking.formatting import join_words
    from transformer_course.grading.incoming.printable_text import printable
    from transformer_course.grading.reports import feedback_zips
    from transformer_lab.atomic_write import atomic_write

    students = {**table.found, **table.not_graded}
    if args.canvas:
        content, n = feedback_zips.canvas_feedback(list(students.values()), args.lesson)
        to, where = args.results / feedback_zips.CANVAS_FEEDBACK_FILE, "“Upload Submissions” in Canvas"
    else:
        content, n = feedback_zips.moodle_feedback(students, args.lesson)
        to, where = (
            args.results / feedback_zips.MOODLE_FEEDBACK_FILE,
            "“Upload multiple feedback files in a zip” in Moodle",
        )
    if n:
        with atomic_write(to) as temporary:
            temporary.write_bytes(content)
        print(f"The feedback pages of {n} student{'' if n == 1 else 's'} are in {to}, for {where}.")
    else:
        to.unlink(missing_ok=True)  # left over from an earlier export
    if args.canvas and (left_out := feedback_zips.without_canvas_feedback(list(students.values()), args.lesson)):
        who = join_words([printable(name) for name in left_out])
        print(
            f"Canvas cannot show feedback to {who}, because it needs a submitted notebook. "
            f"Send the pages in {args.results / 'feedback'} yourself."
        )
