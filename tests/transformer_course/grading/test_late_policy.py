from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from transformer_course.grading.late_policy import Lateness, LatePolicy, parse_due, read_late_policy
from transformer_course.grading.submissions import Submission

DUE = datetime(2026, 10, 12, 18, tzinfo=UTC)
POLICY = LatePolicy({"01_lookup": DUE}, penalty=10, grace=15)
SUBMISSION = Submission("ada", Path("x.ipynb"), "01_lookup", time_source="time of the file")
UNKNOWN = Lateness(None, "marked as late, by how much is not known")


@pytest.mark.parametrize(
    ("time", "lateness"),
    [
        ("2026-10-12T17:59:59+00:00", Lateness()),
        ("2026-10-12T18:15:00+00:00", Lateness()),
        ("2026-10-12T18:15:01+00:00", Lateness(1, "1 day late (time of the file)")),
        ("2026-10-12T19:15:00+01:00", Lateness()),
        ("2026-10-13T18:00:00+00:00", Lateness(1, "1 day late (time of the file)")),
        ("2026-10-13T18:00:01+00:00", Lateness(2, "2 days late (time of the file)")),
        ("", Lateness(0, "when it was handed in is not known")),
    ],
)
def test_days_that_have_begun_count(time: str, lateness: Lateness):
    assert POLICY.lateness(replace(SUBMISSION, handed_in=time)) == lateness


def test_a_mark_without_a_time_is_said_and_costs_nothing():
    marked = replace(SUBMISSION, is_marked_late=True)
    early = replace(marked, handed_in="2026-10-10T00:00:00+00:00")
    assert POLICY.lateness(marked) == POLICY.lateness(early) == LatePolicy().lateness(marked) == UNKNOWN
    assert POLICY.points_after(8, UNKNOWN) == 8


def test_lessons_without_a_date_of_their_own_have_that_of_all_others():
    late = replace(SUBMISSION, handed_in="2026-10-20T00:00:00+00:00")
    other = replace(late, lesson="02_scaling")
    assert POLICY.lateness(other) == Lateness()
    assert LatePolicy({"": DUE}).lateness(other).days == LatePolicy({"": DUE}).lateness(late).days == 8


@pytest.mark.parametrize(("days", "points"), [(0, 7), (1, 6.3), (10, 0), (20, 0)])
def test_each_day_takes_its_part_off_and_no_more_than_all(days: int, points: float):
    assert POLICY.points_after(7, Lateness(days)) == points


def test_a_policy_is_read_as_it_was_written(tmp_path: Path):
    assert read_late_policy(tmp_path / "none") == LatePolicy()
    POLICY.write(tmp_path / "policy.json")
    assert read_late_policy(tmp_path / "policy.json") == POLICY
    (tmp_path / "policy.json").write_text("[]")
    with pytest.raises(ValueError, match="holds no due dates"):
        read_late_policy(tmp_path / "policy.json")


def test_a_time_without_a_zone_is_that_of_this_machine():
    assert parse_due(["2026-10-12T18:00"])[""] == datetime(2026, 10, 12, 18).astimezone()
