"""``transformer-course feedback``: write the tables and pages of a class again."""

import argparse
from pathlib import Path


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "feedback",
        help="write gradebook and feedback again, after a change by hand",
        description="Write gradebook, class page and feedback again, after overrides.csv, extensions.csv, "
        "written_answers.csv, roster.csv or class_rules.json in the folder of results has changed. Nothing is graded.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "results", type=Path, metavar="FOLDER", help="the folder that transformer-course grade has written"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write them, print a summary, and return the exit code 0.

    Raises:
        ValueError: There are no results, or one of these tables cannot be read.
        OSError: A file cannot be read or written.
    """
    from transformer_course.grading.reports.class_report import rewrite_report

    print(rewrite_report(args.results))
    return 0
