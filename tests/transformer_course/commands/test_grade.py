"""Tests that ``transformer-course grade`` passes its options to the grader."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.transformer_course.commands.conftest import as_options
from tests.transformer_course.sandbox.sample_submissions import linux
from transformer_course.commands.main import main
from transformer_course.grading.rules.class_rules import RuleChanges
from transformer_course.grading.rules.late_policy import LatePolicy
from transformer_course.grading.rules.settings import RunOptions
from transformer_course.sandbox.resource_limits import Limits


def test_grader_uses_default_limits(graded, capsys):
    assert main(["grade", "handed-in", "-o", "graded"]) == 0
    [(paths, out, changes, run)] = graded.observed
    assert (paths, out) == ([Path("handed-in")], Path("graded"))
    assert changes == RuleChanges(lessons=[], late_policy=LatePolicy(), own=[])
    assert replace(run, sandbox=None) == RunOptions() and run.limits == Limits(seconds=10.0, memory_mb=2048)
    assert capsys.readouterr().out == "2 students, 1 lesson.\n"


def test_options_reach_the_grader(graded):
    lessons = ["--lesson", "lookup", "--lesson", "02", "--lesson", "all"]
    expected: dict[str, Any] = {"seed": 7, "jobs": 3, "container": "podman", "scheduler": "tcp://x:1"}
    others = as_options(seconds=2.5, memory=512, library_calls="none")
    main(
        [
            "grade",
            "a.ipynb",
            "b",
            "--out",
            "graded",
            *lessons,
            *as_options(**expected),
            *others,
            "--fresh",
            "--unconfined",
        ]
    )
    [(paths, out, changes, run)] = graded.observed
    assert (paths, out) == ([Path("a.ipynb"), Path("b")], Path("graded"))
    assert changes.lessons == ["01_lookup", "02_scaling", "all"] and changes.library_calls == "none"
    expected |= {"limits": Limits(2.5, 512), "fresh": True, "unconfined": True}
    assert replace(run, sandbox=None) == RunOptions(**expected)


def test_own_exercises_may_have_a_due_date(graded, own_file):
    due = ["--due", "week_3=2026-10-19"]
    assert main(["grade", "b", "-o", "graded", "--exercises", str(own_file), *due]) == 0
    [(*_, changes, _)] = graded.observed
    [own] = changes.own
    assert (own.lesson, own.source) == ("week_3", own_file.read_text())
    assert changes.late_policy.due.keys() == {"week_3"}


@linux
def test_sandbox_starts_before_grading_and_always_stops(graded, monkeypatch):
    main(["grade", "handed-in", "-o", "graded", "--seconds", "2.5", "--memory", "512", "--container", "docker"])
    assert graded.events == ["started", "graded", "closed"]
    sandbox = graded.observed[0][-1].sandbox
    assert (sandbox.limits, sandbox.container.tool) == (Limits(2.5, 512), "docker")
    monkeypatch.delattr(graded, "grade")
    with pytest.raises(ImportError):
        main(["grade", "handed-in", "-o", "graded", "--scheduler", "tcp://x:1"])
    assert graded.events[3:] == ["closed"]  # with a scheduler, no local sandbox starts


@pytest.mark.parametrize("error", [FileNotFoundError("no notebook at x.ipynb"), ValueError("no notebook at x.ipynb")])
def test_reports_errors_on_one_line(graded, monkeypatch, capsys, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(graded, "grade", fail)
    assert main(["grade", "x.ipynb", "-o", "graded"]) == 2
    assert capsys.readouterr() == ("", "transformer-course: no notebook at x.ipynb\n")


def test_roster_and_due_dates_reach_the_grader(graded):
    due = ["--due", "2026-10-12", "--due", "01=2026-10-19T18:00+02:00", "--late-penalty", "10", "--grace", "15"]
    main(["grade", "b", "-o", "graded", "--roster", "class.csv", *due, "--partial-credit"])
    [(*_, changes, _)] = graded.observed
    policy = changes.late_policy
    assert changes.partial_credit and changes.roster == Path("class.csv")
    assert (policy.penalty, policy.grace) == (10.0, 15.0)
    assert policy.due["01_lookup"].isoformat() == "2026-10-19T18:00:00+02:00" and policy.due[""].day == 12


def test_reads_dates_and_columns_in_documented_formats(graded):
    zone = ["--timezone", "america/new_york", "--due", "2026-10-12T18:00"]
    main(["grade", "b", "-o", "graded", "--roster", "class.csv", "--columns", "name=Öğrenci", "id=2", *zone])
    [(*_, changes, _)] = graded.observed
    assert changes.roster_columns == {"name": "Öğrenci", "id": "2"}
    assert changes.late_policy.due[""].isoformat() == "2026-10-12T18:00:00-04:00"
    assert changes.late_policy.zone == ZoneInfo("America/New_York")


def test_columns_option_applies_to_roster_and_worksheet(graded):
    main(["grade", "b", "-o", "graded", "--worksheet", "w.csv", "--columns", "submitted=6", "--worksheet", "v.csv"])
    both = ["--roster", "r.csv", "--worksheet", "w.csv", "--columns", "id=2", "submitted=6"]
    main(["grade", "b", "-o", "graded", *both])
    (*_, first, run), (*_, second, second_run) = graded.observed
    assert run.worksheets == (Path("w.csv"), Path("v.csv")) and run.worksheet_columns == {"submitted": "6"}
    assert first.roster_columns == {} and second.roster_columns == {"id": "2"}
    assert second_run.worksheet_columns == {"submitted": "6"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--columns", "name=X"], "--columns requires --roster CSV or --worksheet CSV"),
        (["--due", "tomorrow"], "--due takes a date such as 2026-10-12 or 2026-10-12T18:00; got 'tomorrow'"),
        (["--due", "77=2026-10-12"], "there is no lesson '77'; the lessons are 00_bottleneck, 01_lookup,"),
        (["--due", "2026-10-12", "--late-penalty", "101"], "must be between 0 and 100 percent; got 101"),
        (["--due", "2026-10-12", "--grace", "-1"], "the grace period must be at least 0 minutes; got -1"),
        (["--late-penalty", "10"], "--late-penalty and --grace require a due date"),
        *(
            ([o], "limits must be positive; got")
            for o in ("--seconds=0", "--seconds=-1", "--seconds=nan", "--memory=0")
        ),
    ],
)
def test_rejects_invalid_limits_and_late_policies(graded, capsys, options, message):
    assert main(["grade", "x.ipynb", "-o", "graded", *options]) == 2
    assert message in capsys.readouterr().err and graded.observed == []
