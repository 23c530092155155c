"""``transformer-course grade``: grade the exercises in notebooks."""

import argparse
import contextlib
import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_course.interrupts import raise_if_interrupted

if TYPE_CHECKING:
    from transformer_course.grading.rules.late_policy import LatePolicy
    from transformer_course.sandbox.resource_limits import Limits
    from transformer_course.sandbox.sandbox import Sandbox


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "grade",
        help="grade notebooks",
        description="Run the exercises in the notebooks apart from everything else, and give points and feedback. "
        "The guide Grading a class, in the course's repository, describes what goes in and what comes out.",
        allow_abbrev=False,
    )
    paths = "a notebook; a folder with a folder of notebooks for each student; a download of Canvas, Moodle or GitHub "
    paths += "Classroom, or a course of nbgrader; or a zip of one of these"
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=paths)
    parser.add_argument("-o", "--out", required=True, type=Path, help="the folder that gradebook and feedback go to")
    lesson = "count this lesson, such as 01, lookup or 01_lookup, and those that counted before; may be given again; "
    lesson += "all for every lesson that any student submitted (default: those of last time, or else all that many did)"
    parser.add_argument("--lesson", action="append", default=[], metavar="NAME", help=lesson)
    _add_tables(parser)
    partial = (
        "give an answer that is right in some of the hidden cases that part of the points; what ignores its input "
    )
    partial += "may be right in some by chance"
    parser.add_argument("--partial-credit", action="store_true", help=partial)
    calls = "what an answer has that calls the library's function, or torch's, which was to be written: full points, "
    calls += "full points with a remark, or none (default: that of last time, or remark)"
    parser.add_argument("--library-calls", choices=("full", "remark", "none"), default="", help=calls)
    late = parser.add_argument_group(
        "lateness, which has columns of its own and never changes the points; what you do not give again still holds"
    )
    due = "when a lesson is due, such as 01=2026-10-12T18:00, or, without NAME=, all others; may be given again"
    late.add_argument("--due", action="append", default=[], metavar="[NAME=]DATE", help=due)
    late.add_argument(
        "--late-penalty",
        type=float,
        metavar="PERCENT",
        help="percent of the points that each day, once begun, costs (default: 0)",
    )
    late.add_argument("--grace", type=float, metavar="MINUTES", help="minutes after the due date that are not late")
    zone = "the time zone of the course, such as Europe/Berlin (default: that of this machine)"
    late.add_argument("--timezone", default="", metavar="ZONE", help=zone)
    parser.add_argument("--seed", type=int, metavar="N", help="draw the cases from it (default: a new, secret one)")
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="how many notebooks to grade at once (default: 1)"
    )
    scheduler = (
        "grade on the workers of this Dask scheduler, such as tcp://10.0.0.1:8786 (needs transformer-course[dask])"
    )
    parser.add_argument("--scheduler", default="", metavar="ADDRESS", help=scheduler)
    own = "a Python file with exercises of your own, which nobody else gets to see (default: those of last time)"
    parser.add_argument("--exercises", type=Path, metavar="FILE", help=own)
    fresh = (
        "forget what was graded into the folder before (default: keep it, and grade only what is new or has changed)"
    )
    parser.add_argument("--fresh", action="store_true", help=fresh)
    layout = "where the students' names are, if the grader finds others: a path below PATH with STUDENT for the name "
    layout += "and * for anything else, such as '*/STUDENT' or '01_lookup_STUDENT.ipynb'; a zip counts as a folder"
    parser.add_argument("--layout", default="", metavar="PATTERN", help=layout)
    latest = "count what is graded now even if points fall (default: the better, earlier result counts, and is listed)"
    parser.add_argument("--replace", action="store_true", help=latest)
    unconfined = "grade even where the code in the notebooks can read and change your files; use it in a container only"
    parser.add_argument("--unconfined", action="store_true", help=unconfined)
    container = "run the code in containers of this tool, which has to be installed: for systems without Linux's guards"
    parser.add_argument("--container", choices=("podman", "docker"), default="", help=container)
    _add_limits(parser)
    parser.set_defaults(run=run)


def _add_tables(parser: argparse.ArgumentParser) -> None:
    roster = "a table of all students, CSV with columns such as id, name, email, login (default: that of last time)"
    parser.add_argument("--roster", type=Path, metavar="CSV", help=roster)
    columns = "a column of the roster by its title, or by its number from 1, such as name=TITLE; KEY is id, name, "
    columns += "'first name', 'last name', email or login, and for --worksheet id or submitted (default: found by "
    columns += "known titles in eight languages)"
    parser.add_argument("--columns", action="extend", nargs="+", default=[], metavar="KEY=TITLE", help=columns)
    worksheet = "Moodle's grading worksheet of the same assignment, to read submission times from it, because Moodle's "
    worksheet += "download has none; a worksheet that is given as --roster is read, too; may be given again"
    parser.add_argument("--worksheet", action="append", default=[], type=Path, metavar="CSV", help=worksheet)
    groups = "a table with a row for each member of each group, with the group's name and what the roster calls the "
    groups += "student: what a group submits counts for all its members (default: that of last time)"
    parser.add_argument("--groups", type=Path, metavar="CSV", help=groups)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    limits = parser.add_argument_group("limits of one exercise")
    limits.add_argument("--seconds", type=float, default=10.0, metavar="S", help="how long it may run (default: 10)")
    limits.add_argument("--memory", type=int, default=2048, metavar="MB", help="what it may allocate (default: 2048)")


def run(args: argparse.Namespace) -> int:
    """Grade, print a summary, and return the exit code 0.

    Raises:
        ValueError: A limit is not positive, a date is none, or there is nothing to grade.
    """
    from transformer_course.sandbox.container import Container
    from transformer_course.sandbox.resource_limits import Limits
    from transformer_course.sandbox.sandbox import Sandbox

    if not args.seconds > 0 or not args.memory > 0:
        raise ValueError(f"limits must be positive; got --seconds {args.seconds:g} --memory {args.memory}")
    limits = Limits(seconds=args.seconds, memory_mb=args.memory)
    sandbox = Sandbox(limits, container=Container(args.container) if args.container else None)
    with contextlib.closing(sandbox):
        if sys.platform == "linux" and not args.scheduler:
            sandbox.start()  # it imports torch while the next lines do
        print(_grade(args, limits, sandbox))
    return 0


def _grade(args: argparse.Namespace, limits: "Limits", sandbox: "Sandbox") -> str:
    gc.disable()  # to look for garbage takes a tenth of the time of all that is imported
    from transformer_course.exercises import every_exercise, every_lesson
    from transformer_course.grading.grade import grade
    from transformer_course.grading.incoming.column_titles import parse_columns
    from transformer_course.grading.rules.class_rules import ALL_LESSONS, RuleChanges
    from transformer_course.grading.rules.own_exercises import read_own_exercises
    from transformer_course.grading.rules.settings import RunOptions
    from transformer_course.workspace.working_copies import find_lesson

    every_exercise()
    raise_if_interrupted()
    gc.freeze()  # none of this is garbage, now or in the workers that are forked
    gc.enable()
    own = read_own_exercises(args.out, args.exercises)  # their lesson may be due
    columns = parse_columns(args.columns)
    changes = RuleChanges(
        lessons=[find_lesson(lesson, [*every_lesson(), ALL_LESSONS]) for lesson in args.lesson],
        roster=args.roster,
        roster_columns=columns if args.roster or not args.worksheet else {},
        groups=args.groups,
        late_policy=_late_policy(args),
        partial_credit=args.partial_credit,
        library_calls=args.library_calls,
        own=own,
    )
    run_options = RunOptions(
        limits=limits,
        seed=args.seed,
        jobs=args.jobs,
        fresh=args.fresh,
        count_latest=args.replace,
        layout=args.layout,
        worksheets=tuple(args.worksheet),
        worksheet_columns=columns,
        unconfined=args.unconfined,
        container=args.container,
        scheduler=args.scheduler,
        sandbox=sandbox,
    )
    return grade(args.paths, args.out, changes, run_options)


def _late_policy(args: argparse.Namespace) -> "LatePolicy":
    from transformer_course.grading.rules.class_rules import read_late_policy
    from transformer_course.grading.rules.late_policy import parse_due, parse_zone

    kept = read_late_policy(args.out)
    zone = parse_zone(args.timezone) if args.timezone else kept.zone
    return kept.changed(parse_due(args.due, zone), args.late_penalty, args.grace, zone)
