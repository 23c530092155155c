"""What counts, under what the instructor has set."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.transformer_course.grading.sample_results import notebook
from transformer_course.exercises import exercises_of
from transformer_course.grading.class_page import class_page
from transformer_course.grading.class_results import class_results
from transformer_course.grading.class_rules import ClassRules
from transformer_course.grading.feedback import feedback_page
from transformer_course.grading.gradebook import summary
from transformer_course.grading.late_policy import LatePolicy
from transformer_course.grading.overrides import Override
from transformer_course.grading.roster import Person, Roster

FIRST, SECOND, *_ = exercises_of("01_lookup")
PEOPLE = [Person("1", "Ada Lovelace", "ada@uni.edu"), Person("2", "Li Na"), Person("3", "Li Na")]
LISTED = ClassRules(Roster(PEOPLE))
LATE = ClassRules(late_policy=LatePolicy({"": datetime(2026, 10, 12, tzinfo=UTC)}, penalty=10))


def test_of_several_notebooks_of_a_lesson_the_best_counts():
    notebooks = [notebook(1), notebook(3), notebook(2), notebook(0, problem="It is damaged.")]
    [ada] = class_results({"ada": notebooks}).students
    assert ada.lessons["01_lookup"].notebook is notebooks[1] and ada.status == "graded in part"


def test_one_that_can_be_read_counts_before_one_that_cannot():
    notebooks = [notebook(0), notebook(0, problem="It is damaged.")]
    [ada] = class_results({"ada": notebooks[::-1]}).students
    assert ada.lessons["01_lookup"].notebook is notebooks[0]


def test_lateness_takes_nothing_off_the_points_and_has_a_sum_of_its_own():
    late = notebook(2, handed_in="2026-10-13T09:00:00+00:00", time_source="time of the file")
    [ada] = class_results({"ada": [late]}, LATE).students
    assert ada.points == FIRST.points + SECOND.points
    assert ada.points_after == pytest.approx(0.8 * ada.points)
    assert ada.lessons["01_lookup"].lateness.says == "2 days late (time of the file)"


def test_a_late_notebook_never_counts_to_a_students_harm():
    in_time = notebook(2, handed_in="2026-10-11T09:00:00+00:00")
    late = notebook(3, handed_in="2026-10-31T09:00:00+00:00")
    [ada] = class_results({"ada": [in_time, late]}, LATE).students
    assert ada.lessons["01_lookup"].notebook is in_time


def test_everybody_in_the_roster_has_a_row_and_others_are_told():
    results = class_results({"lovelaceada": [notebook(2)], "2": [notebook(1)], "eve": [notebook(0)]}, LISTED)
    rows = {student.name: (student.status, student.is_listed, student.points > 0) for student in results.students}
    assert rows == {
        "Ada Lovelace": ("graded", True, True),
        "Li Na (2)": ("graded", True, True),
        "Li Na (3)": ("nothing handed in", True, False),
        "eve": ("graded", False, False),
    }
    [eve] = [student for student in results.students if student.name == "eve"]
    assert list(eve.remarks) == ["Not in the roster."]


def test_what_two_systems_call_one_person_is_one_row():
    ada, *_ = class_results({"ada@uni.edu": [notebook(1)], "x": [notebook(2, lms_id="1")]}, LISTED).students
    assert len(ada.notebooks) == 2 and ada.points == FIRST.points + SECOND.points
    assert list(ada.remarks) == ["2 notebooks of 01_lookup: the best one counts."]


def test_a_name_that_looks_like_anothers_is_remarked_once_and_leaves_the_student_graded():
    alike = "This name differs from that of “Eve” only in case."
    twice = [notebook(2, remark=alike), notebook(1, file="01_lookup-1.ipynb", remark=alike)]
    results = class_results({"Eve": [notebook(1)], "eve (2)": twice})
    told = {student.name: (student.status, [*student.remarks]) for student in results.students}
    best = "2 notebooks of 01_lookup: the best one counts."
    assert told == {"Eve": ("graded", []), "eve (2)": ("graded", [alike, best])}
    assert summary(Path("out"), results).count(alike) == class_page(results).count(alike) == 1
    assert "could not" not in class_page(results).lower() and alike not in feedback_page(results.students[1])


def test_what_is_given_by_hand_stands_over_the_grader_and_is_marked():
    overrides = [
        Override("ada@uni.edu", SECOND.name, 0.5, "Half of it is there."),
        Override("1", "", None, "Come and see me."),
        Override("Li Na (3)", FIRST.name, 1.0),
        Override("bob", FIRST.name, 1.0),
    ]
    results = class_results({"ada": [notebook(1)]}, ClassRules(Roster(PEOPLE), overrides=overrides))
    ada, _, li_na = results.students
    assert ada.points == FIRST.points + 0.5 and ada.comment == "Come and see me."
    assert list(ada.remarks) == [f"Points given by hand: {SECOND.name}."]
    assert li_na.points == 1.0  # nothing was handed in
    assert results.unknown == ["overrides.csv: there is no student 'bob'."]


def test_the_weakest_isolation_counts():
    one, other = notebook(1), notebook(2)
    object.__setattr__(other, "isolation", "none")
    [ada] = class_results({"ada": [one, other]}).students
    assert ada.isolation == "none"


def test_with_partial_credit_right_cases_count_and_full_points_stay():
    book = notebook(1)
    wrong = replace(book.exercises[1], n_right=1, n_cases=4)
    book = replace(book, exercises=[book.exercises[0], wrong, *book.exercises[2:]])
    [strict], [kind] = (
        class_results({"ada": [book]}, ClassRules(partial_credit=partial)).students for partial in (False, True)
    )
    assert strict.points == FIRST.points and kind.points == FIRST.points + SECOND.points / 4
