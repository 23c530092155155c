"""The command ``transformer-course``: read what was typed, and run the command."""

import argparse
import sys
import warnings
from collections.abc import Sequence
from importlib.util import find_spec

from transformer_lab import __version__
from transformer_lab.extras import MissingExtra, needs_extra

EXTRAS = {
    "lab": "course",
    "release": "grade",
    "grade": "grade",
    "feedback": "grade",
    "export": "grade",
    "train": "train",
    "evaluate": "train",
}
"""The extra of the package that a command needs, if it needs one."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: What follows ``transformer-course``. None: what was typed.

    Returns:
        The exit code: that of the command, 2 with one line on standard error if it raised an error, or 130 if it was
        interrupted.
    """
    parser = _parser()
    args, unrecognized = parser.parse_known_args(arguments)
    if unrecognized and not args.passes_arguments_on:
        parser.error(f"unrecognized arguments: {' '.join(unrecognized)}")
    args.unrecognized = unrecognized
    try:
        with warnings.catch_warnings(), needs_extra(f"transformer-course {args.command}", EXTRAS.get(args.command)):
            warnings.showwarning = lambda message, *_: print(f"transformer-course: {message}", file=sys.stderr)
            if EXTRAS.get(args.command) == "grade" and find_spec("pandas") is None:  # answers use it, not the grader
                raise ModuleNotFoundError("No module named 'pandas'", name="pandas")
            exit_code: int = args.run(args)
    except (OSError, ValueError, MissingExtra) as error:
        print(f"transformer-course: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("transformer-course: interrupted", file=sys.stderr)
        return 130
    return exit_code


def _parser() -> argparse.ArgumentParser:
    from transformer_course.commands import export, feedback, grade, lab, release
    from transformer_lab.cli import evaluate, generate, push, train, translate

    parser = argparse.ArgumentParser("transformer-course", description="Build the Transformer, cell by cell.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.set_defaults(passes_arguments_on=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (lab, release, grade, feedback, export, train, evaluate, translate, generate, push):
        command.add_parser(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
