"""``transformer-lab grade``: grade the exercises in notebooks."""

import argparse
from pathlib import Path


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "grade",
        help="grade notebooks",
        description="Run the exercises in the notebooks apart from everything else, and give points and feedback.",
        allow_abbrev=False,
    )
    paths = "a notebook, or a folder with a folder of notebooks for each student"
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=paths)
    parser.add_argument("-o", "--out", required=True, type=Path, help="the folder that gradebook and feedback go to")
    lesson = "grade this lesson only, such as 01_lookup; may be given again (default: all that are there)"
    parser.add_argument("--lesson", action="append", default=[], metavar="NAME", help=lesson)
    parser.add_argument("--seed", type=int, metavar="N", help="draw the cases from it (default: a new, secret one)")
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="how many notebooks to grade at once (default: 1)"
    )
    fresh = (
        "forget what was graded into the folder before (default: keep it, and grade only what is new or has changed)"
    )
    parser.add_argument("--fresh", action="store_true", help=fresh)
    unconfined = "grade even where the code in the notebooks can read and change your files; use it in a container only"
    parser.add_argument("--unconfined", action="store_true", help=unconfined)
    container = "run the code in containers of this tool, which has to be installed: for systems without Linux's guards"
    parser.add_argument("--container", choices=("podman", "docker"), default="", help=container)
    limits = parser.add_argument_group("limits of one exercise")
    limits.add_argument("--seconds", type=float, default=10.0, metavar="S", help="how long it may run (default: 10)")
    limits.add_argument("--memory", type=int, default=2048, metavar="MB", help="what it may allocate (default: 2048)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Grade, print a summary, and return the exit code 0.

    Raises:
        ValueError: A limit is not positive, or there is nothing to grade.
    """
    from transformer_lab.course.grading.grade import grade

    if not args.seconds > 0 or not args.memory > 0:
        raise ValueError(f"limits must be positive; got --seconds {args.seconds:g} --memory {args.memory}")
    limits = {"seconds": args.seconds, "memory_mb": args.memory}
    how = {"jobs": args.jobs, "fresh": args.fresh, "unconfined": args.unconfined, "container": args.container}
    print(grade(args.paths, args.out, lessons=args.lesson, seed=args.seed, **limits, **how))
    return 0
