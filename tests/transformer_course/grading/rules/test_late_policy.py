from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.rules.late_policy import (
    Extension,
    Lateness,
    LatePolicy,
    parse_date,
    parse_due,
    parse_zone,
    read_extensions,
)

DUE = datetime(2026, 10, 12, 18, tzinfo=UTC)
POLICY = LatePolicy({"01_lookup": DUE}, penalty=10, grace=15)
SUBMISSION = Submission("ada", Path("x.ipynb"), "01_lookup", time_source="time of the file")
UNKNOWN = Lateness(None, "marked late by an unknown amount")


@pytest.mark.parametrize(
    ("time", "lateness"),
    [
        ("2026-10-12T17:59:59+00:00", Lateness()),
        ("2026-10-12T18:15:00+00:00", Lateness()),
        ("2026-10-12T18:15:01+00:00", Lateness(1, "1 day late (time of the file)")),
        ("2026-10-12T19:15:00+01:00", Lateness()),
        ("2026-10-13T18:00:00+00:00", Lateness(1, "1 day late (time of the file)")),
        ("2026-10-13T18:00:01+00:00", Lateness(2, "2 days late (time of the file)")),
        ("", Lateness(0, "submission time unknown: time of the file", is_unknown=True)),
    ],
)
def test_partial_late_days_count_in_full(time: str, lateness: Lateness):
    assert POLICY.lateness(replace(SUBMISSION, handed_in=time)) == lateness


BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("due", "submitted", "days"),
    [
        ("2026-10-24T18:00", "2026-10-25T18:00", 1),  # a day of 25 hours
        ("2026-10-24T18:00", "2026-10-25T18:01", 2),
        ("2026-10-25T02:30:00+02:00", "2026-10-25T02:10:00+01:00", 1),  # 40 minutes later; the hour occurs twice
        ("2027-03-27T18:00", "2027-03-28T18:00", 1),  # a day of 23 hours
        ("2027-03-27T18:00", "2027-03-28T18:01", 2),
        ("2026-10-10T18:00", "2026-10-31T18:00", 21),
    ],
)
def test_days_late_follow_course_calendar(due: str, submitted: str, days: int):
    policy = LatePolicy(parse_due([due], BERLIN), penalty=10, zone=BERLIN)
    moment = parse_date(submitted, BERLIN).astimezone(UTC).isoformat()
    assert policy.lateness(replace(SUBMISSION, handed_in=moment)).days == days


def test_preserves_time_zone():
    policy = LatePolicy({"": DUE}, 10, zone=BERLIN)
    assert LatePolicy.from_dict(policy.as_dict()) == policy == policy.changed({}, None, None)
    assert list(policy.describe()) == [
        "lessons due 2026-10-12 20:00",
        "times in Europe/Berlin",
        "10 % off for each day late",
    ]
    assert policy.changed({}, None, None, ZoneInfo("Asia/Tokyo")).zone == ZoneInfo("Asia/Tokyo")
    with pytest.raises(
        ValueError, match="expected a time zone such as Europe/Berlin or America/New_York; got 'Berlin'"
    ):
        parse_zone("Berlin")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-10-12", "2026-10-12T23:59:59+02:00"),
        ("12.10.2026", "2026-10-12T23:59:59+02:00"),
        ("2026-12-10 18:00", "2026-12-10T18:00:00+01:00"),
        ("10/25/2026 6:00 PM", "2026-10-25T18:00:00+01:00"),
        ("2026-10-12 18:00 EDT", "2026-10-12T18:00:00-04:00"),
        ("2026-10-12T18:00Z", "2026-10-12T18:00:00+00:00"),
    ],
)
def test_dates_use_course_time_zone(text: str, moment: str):
    assert parse_date(text, BERLIN) == datetime.fromisoformat(moment)


@pytest.mark.parametrize("name", ["01", "1", "lookup", "01_lookup", "01_lookup.ipynb"])
def test_due_date_accepts_lesson_abbreviations(name: str):
    assert parse_due([f"{name}=2026-10-12"], BERLIN) == parse_due(["01_lookup=2026-10-12"], BERLIN)


def test_rejects_ambiguous_date():
    with pytest.raises(
        ValueError, match="got '10/12/2026': '10/12/2026' is ambiguous: it may mean 2026-10-12 or 2026-12-10"
    ):
        parse_due(["10/12/2026"])


def test_late_marker_without_time_adds_no_penalty():
    marked = replace(SUBMISSION, is_marked_late=True)
    early = replace(marked, handed_in="2026-10-10T00:00:00+00:00")
    assert POLICY.lateness(marked) == POLICY.lateness(early) == LatePolicy().lateness(marked) == UNKNOWN
    assert POLICY.points_after(8, UNKNOWN) == 8


def test_general_due_date_applies_to_remaining_lessons():
    late = replace(SUBMISSION, handed_in="2026-10-20T00:00:00+00:00")
    other = replace(late, lesson="02_scaling")
    assert POLICY.lateness(other) == Lateness()
    assert LatePolicy({"": DUE}).lateness(other).days == LatePolicy({"": DUE}).lateness(late).days == 8


@pytest.mark.parametrize(("days", "points"), [(0, 7), (1, 6.3), (10, 0), (20, 0)])
def test_penalty_grows_daily_up_to_all_points(days: int, points: float):
    assert POLICY.points_after(7, Lateness(days)) == points


def test_policy_round_trips():
    assert LatePolicy.from_dict(POLICY.as_dict()) == POLICY and LatePolicy.from_dict({}) == LatePolicy()


def test_omitted_options_keep_their_values():
    other = DUE + timedelta(days=7)
    assert POLICY.changed({}, None, None) == POLICY
    assert POLICY.changed({"": other}, None, None) == LatePolicy({"01_lookup": DUE, "": other}, 10, 15)
    assert POLICY.changed({"01_lookup": other}, 20, None) == LatePolicy({"01_lookup": other}, 20, 15)
    assert list(POLICY.changed({"": other}, None, 0).describe())[1:] == [
        f"01_lookup due {DUE.astimezone():%Y-%m-%d %H:%M}",
        "10 % off for each day late",
    ]
    with pytest.raises(ValueError, match="require a due date; add --due"):
        LatePolicy().changed({}, 10, None)


def test_extension_never_shortens_the_deadline():
    late = replace(SUBMISSION, handed_in="2026-10-14T00:00:00+00:00")
    longer, shorter = DUE + timedelta(days=1), DUE - timedelta(days=9)
    assert POLICY.lateness(late, {"01_lookup": longer}).days == 1 and POLICY.lateness(late).days == 2
    assert POLICY.lateness(late, {"": longer}).days == 1 and POLICY.lateness(late, {"": shorter}).days == 2
    marked = replace(late, is_marked_late=True)
    assert POLICY.lateness(marked, {"": DUE + timedelta(days=5)}) == Lateness()  # Canvas ignores the extension
    assert LatePolicy().lateness(late, {"": longer}).days == 1


def test_reports_invalid_extension_by_line(tmp_path: Path):
    assert read_extensions(tmp_path) == []
    path = tmp_path / "extensions.csv"
    path.write_text("student,lesson,due\nAda,,2026-10-12T18:00+00:00\nBen,1,2026-10-12T18:00+00:00\n")
    assert read_extensions(tmp_path) == [Extension("Ada", "", DUE), Extension("Ben", "01_lookup", DUE)]
    for row, message in {
        "Ada,77,2026-10-12": "lesson '77'",
        ",,2026-10-12": "no student",
        "Ada,,soon": "a date",
    }.items():
        path.write_text(f"student,lesson,due\n{row}\n")
        with pytest.raises(ValueError, match=rf"extensions\.csv, line 2: .*{message}"):
            read_extensions(tmp_path)


def test_default_time_zone_is_local():
    assert parse_due(["2026-10-12T18:00"])[""] == datetime(2026, 10, 12, 18).astimezone()
