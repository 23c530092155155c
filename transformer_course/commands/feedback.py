"""``transformer-course feedback``: regenerate the tables and pages of a class."""

import argparse
from pathlib import Path


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "feedback",
        help="regenerate gradebook and feedback after manual changes",
        description="Regenerate gradebook, class page and feedback after changes to overrides.csv, extensions.csv, "
        "written_answers.csv, roster.csv or class_rules.json in the results folder. Nothing is graded again.",
        allow_abbrev=False,
    )
    parser.add_argument("results", type=Path, metavar="FOLDER", help="the output folder of transformer-course grade")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Regenerate the tables and pages, print a summary, and return the exit code 0.

    Raises:
        ValueError: There are no results, or one of these tables cannot be read.
        OSError: A file cannot be read or written.
    """
    from transformer_course.grading.reports.class_report import rewrite_report

    print(rewrite_report(args.results))
    return 0
