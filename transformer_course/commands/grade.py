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
        description="Run the exercises in submitted notebooks in a sandbox, and write the points and the feedback. "
        "docs/grading.md explains how to grade a class throughout a term with Canvas, Moodle or folders.",
        allow_abbrev=False,
    )
    paths = "a notebook; a folder that contains a folder of notebooks for each student; a download from Canvas, Moodle "
    paths += "or GitHub Classroom; an nbgrader course; or a zip that contains any of these"
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=paths)
    parser.add_argument("-o", "--out", required=True, type=Path, help="the folder for the gradebook and the feedback")
    lesson = "count this lesson, such as 01, lookup or 01_lookup, in addition to the lessons that already count; all "
    lesson += "counts every submitted lesson; you can pass this option several times (default: the lessons from the "
    lesson += "last run; in the first run, every lesson that many students submitted)"
    parser.add_argument("--lesson", action="append", default=[], metavar="NAME", help=lesson)
    _add_tables(parser)
    partial = "give partial credit: an answer that passes some of the hidden cases earns the same fraction of the "
    partial += "points; note that an answer that ignores its input may pass some cases by chance"
    parser.add_argument("--partial-credit", action="store_true", help=partial)
    calls = "points for an answer that calls torch's or the library's version of the function it should implement: "
    calls += "full points, full points with a remark, or no points (default: the choice from the last run, or remark)"
    parser.add_argument("--library-calls", choices=("full", "remark", "none"), default="", help=calls)
    late = parser.add_argument_group(
        "late submissions (deductions are in separate columns; omitted options keep their values from the last run)"
    )
    due = "the due date of a lesson, such as 01=2026-10-12T18:00, or, without NAME=, of every lesson without a "
    due += "separate due date; you can pass this option several times"
    late.add_argument("--due", action="append", default=[], metavar="[NAME=]DATE", help=due)
    late.add_argument(
        "--late-penalty",
        type=float,
        metavar="PERCENT",
        help="percentage of the points to deduct for each day late; part of a day counts as a day (default: 0)",
    )
    late.add_argument("--grace", type=float, metavar="MINUTES", help="grace period after the due date, in minutes")
    zone = "the time zone of the course, such as Europe/Berlin (default: the local time zone)"
    late.add_argument("--timezone", default="", metavar="ZONE", help=zone)
    parser.add_argument(
        "--seed", type=int, metavar="N", help="random seed for the hidden cases (default: a new, secret seed)"
    )
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="number of students to grade at once (default: 1)"
    )
    scheduler = (
        "grade on the workers of this Dask scheduler, such as tcp://10.0.0.1:8786 (requires transformer-course[dask])"
    )
    parser.add_argument("--scheduler", default="", metavar="ADDRESS", help=scheduler)
    own = "a Python file with your own exercises; students never see this file (default: the file from the last run)"
    parser.add_argument("--exercises", type=Path, metavar="FILE", help=own)
    fresh = "delete the results in the folder first (default: keep them, and grade only new or changed submissions)"
    parser.add_argument("--fresh", action="store_true", help=fresh)
    layout = "a pattern for paths below PATH, if the grader finds the wrong names: STUDENT stands for the student's "
    layout += "name and * for any other text, as in '*/STUDENT' or '01_lookup_STUDENT.ipynb'; a zip counts as a folder"
    parser.add_argument("--layout", default="", metavar="PATTERN", help=layout)
    latest = "count the new results even if a student loses points (default: a better earlier result counts and is "
    latest += "listed in the summary)"
    parser.add_argument("--replace", action="store_true", help=latest)
    unconfined = "grade even if the code in the notebooks can read and change your files; use this only in a container"
    parser.add_argument("--unconfined", action="store_true", help=unconfined)
    container = "run the students' code in containers with this tool, for systems without the safeguards of Linux"
    parser.add_argument("--container", choices=("podman", "docker"), default="", help=container)
    _add_limits(parser)
    parser.set_defaults(run=run)


def _add_tables(parser: argparse.ArgumentParser) -> None:
    roster = "a table of all students: a CSV file with columns such as id, name, email and login (default: the roster "
    roster += "from the last run)"
    parser.add_argument("--roster", type=Path, metavar="CSV", help=roster)
    columns = "choose a column of the roster by its title or its number, counting from 1, such as name=TITLE; KEY "
    columns += "is id, name, 'first name', 'last name', email or login, or for --worksheet, id or submitted (default: "
    columns += "recognize titles in eight languages)"
    parser.add_argument("--columns", action="extend", nargs="+", default=[], metavar="KEY=TITLE", help=columns)
    worksheet = "read the submission times, which Moodle's downloads lack, from Moodle's grading worksheet for the "
    worksheet += "assignment, in addition to a worksheet passed as --roster; you can pass this option several times"
    parser.add_argument("--worksheet", action="append", default=[], type=Path, metavar="CSV", help=worksheet)
    groups = "a table of groups and their members, with the names from the roster; a group's submission counts for all "
    groups += "its members (default: the groups from the last run)"
    parser.add_argument("--groups", type=Path, metavar="CSV", help=groups)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    limits = parser.add_argument_group("limits of one exercise")
    limits.add_argument(
        "--seconds", type=float, default=10.0, metavar="S", help="CPU time limit in seconds (default: 10)"
    )
    limits.add_argument("--memory", type=int, default=2048, metavar="MB", help="memory limit in MB (default: 2048)")


def run(args: argparse.Namespace) -> int:
    """Grade the submissions, print a summary, and return the exit code 0.

    Raises:
        ValueError: A limit is not positive, a date is invalid, or there is nothing to grade.
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
            sandbox.start()  # imports torch while the code below runs
        print(_grade(args, limits, sandbox))
    return 0


def _grade(args: argparse.Namespace, limits: "Limits", sandbox: "Sandbox") -> str:
    gc.disable()  # garbage collection would take a tenth of the import time
    from transformer_course.exercises import every_lesson
    from transformer_course.grading.grade import grade
    from transformer_course.grading.incoming.column_titles import parse_columns
    from transformer_course.grading.rules.class_rules import ALL_LESSONS, RuleChanges
    from transformer_course.grading.rules.own_exercises import read_own_exercises
    from transformer_course.grading.rules.settings import RunOptions
    from transformer_course.workspace.working_copies import find_lesson

    raise_if_interrupted()
    gc.freeze()  # imported objects never become garbage, in this process or in forked workers
    gc.enable()
    own = read_own_exercises(args.out, args.exercises)  # read first, because --due may name a lesson from this file
    columns = parse_columns(args.columns)
    changes = RuleChanges(
        lessons=[find_lesson(lesson, [*every_lesson(), ALL_LESSONS]) for lesson in args.lesson],
        roster=args.roster,
        roster_columns={} if args.worksheet and not args.roster else _without(columns, "submitted"),
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
        worksheet_columns=_without(columns, "id") if args.roster else columns,
        unconfined=args.unconfined,
        container=args.container,
        scheduler=args.scheduler,
        sandbox=sandbox,
    )
    return grade(args.paths, args.out, changes, run_options)


def _without(columns: dict[str, str], key: str) -> dict[str, str]:
    """Return the chosen columns without one key, which applies only to the roster or only to the worksheet."""
    return {name: title for name, title in columns.items() if name != key}


def _late_policy(args: argparse.Namespace) -> "LatePolicy":
    from transformer_course.grading.rules.class_rules import read_late_policy
    from transformer_course.grading.rules.late_policy import parse_due, parse_zone

    kept = read_late_policy(args.out)
    zone = parse_zone(args.timezone) if args.timezone else kept.zone
    return kept.changed(parse_due(args.due, zone), args.late_penalty, args.grace, zone)
