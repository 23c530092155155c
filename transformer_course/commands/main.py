"""The entry point of ``transformer-course``, which parses the arguments and runs a command."""

import sys
from collections.abc import Sequence

from transformer_course.interrupts import raise_if_interrupted, remembered_interrupts

TYPE_CHECKING = False  # not imported from typing, because Ctrl-C during a top-level import would print a traceback
if TYPE_CHECKING:
    import argparse


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: The arguments after ``transformer-course``. None means the arguments in ``sys.argv``.

    Returns:
        The exit code of the command, or 130 if the command was interrupted. If the command raised an error, the error
        message is printed as one line on standard error, and the exit code is 2.
    """
    try:
        with remembered_interrupts():
            return _run(arguments)
    except KeyboardInterrupt:
        print("transformer-course: interrupted", file=sys.stderr)
        return 130


def _run(arguments: Sequence[str] | None) -> int:
    import io
    import warnings

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a Windows console or a pipe may not support every character
    parser = _parser()
    args, unrecognized = parser.parse_known_args(arguments)
    if unrecognized and not args.passes_arguments_on:
        parser.error(f"unrecognized arguments: {' '.join(unrecognized)}")
    args.unrecognized = unrecognized
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: print(f"transformer-course: {message}", file=sys.stderr)
            exit_code: int = args.run(args)
    except (OSError, ValueError) as error:
        raise_if_interrupted()  # an interrupt may have caused the error
        print(f"transformer-course: {error}", file=sys.stderr)
        return 2
    return exit_code


def _parser() -> "argparse.ArgumentParser":
    import argparse
    from importlib.metadata import version

    from transformer_course.commands import (
        evaluate,
        export,
        feedback,
        generate,
        grade,
        lab,
        practice,
        push,
        release,
        reset,
        train,
        translate,
    )

    parser = argparse.ArgumentParser("transformer-course", description="Build the Transformer, cell by cell.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('transformer-course')}")
    parser.set_defaults(passes_arguments_on=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (lab, practice, reset, release, grade, feedback, export, train, evaluate, translate, generate, push):
        command.add_parser(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
