"""The command ``transformer-lab``: open the lessons, grade what was handed in, train a model and use it."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what was typed.

    Returns:
        The exit code: 0, or 2 with one line on what stood in the way, or 130 if it was interrupted.
    """
    parser = _parser()
    args, others = parser.parse_known_args(arguments)
    if others and args.command != "lab":
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    try:
        if args.command == "lab":
            _lab(others)
        elif args.command == "grade":
            _grade(args)
        else:
            return args.run(args)
    except (OSError, ValueError) as error:
        print(f"transformer-lab: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("transformer-lab: interrupted", file=sys.stderr)
        return 130
    return 0


def _lab(arguments: Sequence[str]) -> None:
    from transformer_lab.course.workspace.lessons import open_lab

    open_lab(arguments)


def _grade(args: argparse.Namespace) -> None:
    from transformer_lab.course.grading.grade import grade

    if not args.seconds > 0 or not args.memory > 0:
        raise ValueError(f"limits are above 0; got --seconds {args.seconds:g} --memory {args.memory}")
    limits = {"seconds": args.seconds, "memory_mb": args.memory}
    print(grade(args.paths, args.out, lessons=args.lesson, seed=args.seed, **limits))


def _parser() -> argparse.ArgumentParser:
    from transformer_lab.cli import evaluate, generate, train, translate

    parser = argparse.ArgumentParser("transformer-lab", description="Build the Transformer, cell by cell.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser(
        "lab",
        help="open the lessons in JupyterLab",
        usage="transformer-lab lab [JUPYTERLAB'S ARGUMENTS ...]",
        description="Open your copy of the lessons in JupyterLab, which gets all arguments, such as --no-browser. "
        "The copy is the folder my-lessons, or what the environment variable TRANSFORMER_LAB_LESSONS says.",
        allow_abbrev=False,
    )
    grade = commands.add_parser(
        "grade",
        help="grade notebooks",
        description="Run the exercises in the notebooks apart from everything else, and give points and feedback.",
        allow_abbrev=False,
    )
    paths = "a notebook, or a folder with a folder of notebooks for each student"
    grade.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=paths)
    grade.add_argument("-o", "--out", required=True, type=Path, help="the folder that gradebook and feedback go to")
    lesson = "grade this lesson only, such as 01_lookup; may be given again (default: all that are there)"
    grade.add_argument("--lesson", action="append", default=[], metavar="NAME", help=lesson)
    grade.add_argument("--seed", type=int, metavar="N", help="draw the cases from it (default: a new, secret one)")
    limits = grade.add_argument_group("limits of one exercise")
    limits.add_argument("--seconds", type=float, default=10.0, metavar="S", help="how long it may run (default: 10)")
    limits.add_argument("--memory", type=int, default=2048, metavar="MB", help="what it may allocate (default: 2048)")
    for command in (train, evaluate, translate, generate):
        command.add_parser(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
