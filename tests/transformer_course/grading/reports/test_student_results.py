"""Tests for a student's results and remarks."""

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from tests.transformer_course.grading.sample_results import notebook
from transformer_course.grading.incoming.people import Roster
from transformer_course.grading.incoming.roster import Person
from transformer_course.grading.reports.class_results import class_results
from transformer_course.grading.rules.class_rules import ClassRules
from transformer_course.grading.rules.late_policy import Extension, LatePolicy

PEOPLE = [Person("1", "Ada Lovelace", "ada@uni.edu"), Person("2", "Li Na"), Person("3", "Li Na")]
LATE = LatePolicy({"": datetime(2026, 10, 12, tzinfo=UTC)}, penalty=10)


def test_extension_applies_to_one_student():
    late = notebook(2, handed_in="2026-10-13T09:00:00+00:00", time_source="time of the file")
    extension = Extension("Ada Lovelace", "01_lookup", datetime(2026, 10, 14, 18, tzinfo=ZoneInfo("Asia/Tokyo")))
    rules = ClassRules(Roster(PEOPLE), late_policy=LATE, extensions=[extension, replace(extension, student="bob")])
    results = class_results({"1": [late], "2": [late]}, rules)
    ada, li_na, _ = results.students
    assert ada.points_after == ada.points > li_na.points_after
    assert "Extension for 01_lookup until 2026-10-14 18:00." in ada.remarks  # in the due date's time zone
    assert results.unknown == ["extensions.csv: there is no student 'bob'."]
