"""``transformer-course feedback``: regenerate a class's tables and pages."""

import argparse
from pathlib import Path


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "feedback",
        help="regenerate the gradebook and the feedback after manual changes",
        description="Regenerate the gradebook, the class page and the feedback after you change overrides.csv, "
        "extensions.csv, written_answers.csv, roster.csv or class_rules.json in the results folder. This command does "
        "not grade any notebook again.",
        allow_abbrev=False,
    )
    parser.add_argument("results", type=Path, metavar="FOLDER", help="the output folder of transformer-course grade")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Regenerate the tables and pages, print a summary, and return the exit code 0.

    Raises:
        ValueError: There are no results, or one of the edited files is invalid.
        OSError: A file cannot be read or written.
    """
    from transformer_course.grading.reports.class_report import rewrite_report

    print(rewrite_report(args.results))
    return 0
