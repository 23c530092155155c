"""Tests for applying the instructor's rules to a class's results."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.transformer_course.grading.sample_results import notebook
from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import every_lesson, exercises_of
from transformer_course.grading.incoming.people import Roster
from transformer_course.grading.incoming.roster import Person
from transformer_course.grading.judging.graded_results import Attempt, GradedSubmission
from transformer_course.grading.reports.class_page import class_page
from transformer_course.grading.reports.class_results import class_results
from transformer_course.grading.reports.feedback import feedback_page
from transformer_course.grading.reports.gradebook import summary, write_gradebook
from transformer_course.grading.reports.point_changes import point_changes, recorded_points
from transformer_course.grading.rules.class_rules import ClassRules
from transformer_course.grading.rules.late_policy import Extension, LatePolicy
from transformer_course.grading.rules.overrides import Override

FIRST, SECOND, *_ = exercises_of("01_lookup")
PEOPLE = [Person("1", "Ada Lovelace", "ada@uni.edu"), Person("2", "Li Na"), Person("3", "Li Na")]
LISTED = ClassRules(Roster(PEOPLE))
LATE = ClassRules(late_policy=LatePolicy({"": datetime(2026, 10, 12, tzinfo=UTC)}, penalty=10))


def answered(n: int, book: GradedSubmission) -> GradedSubmission:
    """Return a notebook with right or wrong answers to the first n exercises and stubs for all later exercises."""
    texts = {
        e.name: f"def {e.name}(*x): {'return x' if i < n else 'raise NotImplementedError'}"
        for i, e in enumerate(exercises_of("01_lookup"))
    }
    return replace(book, answers=texts)


def counted_notebook(notebooks: Sequence[GradedSubmission], rules: ClassRules | None = None) -> GradedSubmission | None:
    """Return the notebook that determines the points, and check that the order of the notebooks does not matter."""
    [[ada], [same]] = (class_results({"ada": own}, rules).students for own in (notebooks, notebooks[::-1]))
    assert ada.lessons["01_lookup"].notebook is same.lessons["01_lookup"].notebook
    return ada.lessons["01_lookup"].notebook


def test_notebook_with_most_answers_counts():
    notebooks = [answered(1, notebook(1)), answered(3, notebook(3)), answered(2, notebook(2))]
    notebooks.append(notebook(0, problem="It is damaged."))
    assert counted_notebook(notebooks) is notebooks[1]
    [ada] = class_results({"ada": notebooks}).students
    assert ada.status == "graded in part"


def test_untouched_copy_does_not_count():
    work = answered(5, notebook(5, handed_in="2026-10-10T09:00:00+00:00"))
    for name in ("01_lookup-Copy1.ipynb", "01_lookup (1).ipynb", "02.ipynb", "a.ipynb"):
        copy = answered(0, notebook(0, file=name, handed_in="2026-10-11T09:00:00+00:00"))
        assert counted_notebook([work, copy]) is counted_notebook([copy, work], LATE) is work
        renamed = answered(5, notebook(5, file=name))
        untouched = answered(0, notebook(0))
        assert counted_notebook([renamed, untouched]) is renamed


def test_does_not_prefer_notebook_with_lucky_guess():
    """The newest of fifty complete notebooks counts, or, without times, the notebook with the lesson's name."""
    times = [f"2026-10-10T09:{i:02}:00+00:00" for i in range(50)]
    guesses = [
        answered(6, notebook(6 if i == 7 else 0, file=f"01_lookup-{i}.ipynb", handed_in=time))
        for i, time in enumerate(times)
    ]
    assert counted_notebook(guesses) is guesses[49]
    unknown = [answered(6, notebook(6 if i == 7 else 0, file=f"01_lookup-{i}.ipynb")) for i in range(50)]
    own = answered(6, notebook(0))
    assert counted_notebook([*unknown, own]) is own
    [eve] = class_results({"eve": [*unknown, own]}).students
    line = "51 notebooks for 01_lookup were submitted; 01_lookup.ipynb counts."
    assert eve.points == 0 and list(eve.remarks) == [line] and line in feedback_page(eve)


def test_readable_notebook_counts_before_unreadable_notebook():
    notebooks = [answered(1, notebook(0)), notebook(0, problem="It is damaged.")]
    [ada] = class_results({"ada": notebooks[::-1]}).students
    assert ada.lessons["01_lookup"].notebook is notebooks[0]


def test_lateness_has_a_separate_total():
    late = notebook(2, handed_in="2026-10-13T09:00:00+00:00", time_source="time of the file")
    [ada] = class_results({"ada": [late]}, LATE).students
    assert ada.points == FIRST.points + SECOND.points
    assert ada.points_after == pytest.approx(0.8 * ada.points)
    assert ada.lessons["01_lookup"].lateness.message == "2 days late (time of the file)"


def test_late_notebook_never_lowers_points():
    in_time = answered(2, notebook(2, handed_in="2026-10-11T09:00:00+00:00"))
    late = answered(3, notebook(3, handed_in="2026-10-31T09:00:00+00:00"))
    [ada] = class_results({"ada": [in_time, late]}, LATE).students
    assert ada.lessons["01_lookup"].notebook is in_time


def test_includes_roster_students_and_reports_unlisted_students():
    results = class_results({"lovelaceada": [notebook(2)], "2": [notebook(1)], "eve": [notebook(0)]}, LISTED)
    rows = {student.name: (student.status, student.is_listed, student.points > 0) for student in results.students}
    assert rows == {
        "Ada Lovelace": ("graded", True, True),
        "Li Na (2)": ("graded", True, True),
        "Li Na (3)": ("nothing submitted", True, False),
        "eve": ("graded", False, False),
    }
    [eve] = [student for student in results.students if student.name == "eve"]
    assert list(eve.remarks) == ["Not in the roster."]


def test_person_from_two_systems_has_one_row():
    second = answered(2, notebook(2, lms_id="1", platform="Canvas"))
    ada, *_ = class_results({"ada@uni.edu": [notebook(1)], "x": [second]}, LISTED).students
    assert len(ada.notebooks) == 2 and ada.points == FIRST.points + SECOND.points
    assert list(ada.remarks) == ["2 notebooks for 01_lookup were submitted; 01_lookup.ipynb counts."]


def test_similar_name_adds_one_remark():
    remark = "This name differs from “Eve” only in case, spaces or encoding."
    twice = [notebook(2, remark=remark), notebook(1, file="01_lookup-1.ipynb", remark=remark)]
    results = class_results({"Eve": [notebook(1)], "eve (2)": twice})
    statuses = {student.name: (student.status, [*student.remarks]) for student in results.students}
    best = "2 notebooks for 01_lookup were submitted; 01_lookup.ipynb counts."
    assert statuses == {"Eve": ("graded", []), "eve (2)": ("graded", [remark, best])}
    assert summary(Path("out"), results).count(remark) == class_page(results).count(remark) == 1
    assert "could not" not in class_page(results).lower() and remark not in feedback_page(results.students[1])


def test_override_replaces_points_from_grader():
    overrides = [
        Override("ada@uni.edu", SECOND.name, 0.5, "Half of it is there."),
        Override("1", "", None, "Come and see me."),
        Override("Li Na (3)", FIRST.name, 1.0),
        Override("bob", FIRST.name, 1.0),
    ]
    results = class_results({"ada": [notebook(1)]}, ClassRules(Roster(PEOPLE), overrides=overrides))
    ada, _, li_na = results.students
    assert ada.points == FIRST.points + 0.5 and ada.comment == "Come and see me."
    assert list(ada.remarks) == [f"Points entered by hand: {SECOND.name}."]
    assert li_na.points == 1.0  # Li Na has submitted nothing
    assert results.unknown == ["overrides.csv: there is no student 'bob'."]


def test_reports_weakest_isolation_of_all_notebooks():
    one, other = notebook(1), notebook(2)
    object.__setattr__(other, "isolation", "none")
    [ada] = class_results({"ada": [one, other]}).students
    assert ada.isolation == "none"


def test_partial_credit_counts_passed_cases():
    book = notebook(1)
    wrong = replace(book.exercises[1], n_right=1, n_cases=4)
    book = replace(book, exercises=[book.exercises[0], wrong, *book.exercises[2:]])
    [strict], [kind] = (
        class_results({"ada": [book]}, ClassRules(partial_credit=partial)).students for partial in (False, True)
    )
    assert strict.points == FIRST.points and kind.points == FIRST.points + SECOND.points / 4


def test_reports_rare_lesson_and_does_not_count_it():
    graded = {f"student {n}": [notebook(2)] for n in range(9)}
    graded["euler"] = [notebook(1, file="02_scaling.ipynb", lesson="02_scaling")]
    results = class_results(graded)
    assert results.lessons == ["01_lookup"]
    line = "02_scaling does not count, because only 1 of 10 students submitted it; to count it, add --lesson."
    assert list(results.remarks) == [line] and line in summary(Path("out"), results) and line in class_page(results)
    [euler] = [student for student in results.students if student.name == "euler"]
    message = "02_scaling.ipynb: This is a notebook for 02_scaling, which is not graded here."
    assert (euler.status, list(euler.remarks)) == ("could not be graded", [message])
    assert message.partition(": ")[2] in feedback_page(euler)
    selected = class_results(graded, ClassRules(lessons=["01_lookup", "02_scaling"]))
    due = class_results(graded, ClassRules(late_policy=LatePolicy({"02_scaling": datetime(2026, 10, 12, tzinfo=UTC)})))
    assert selected.lessons == due.lessons == ["01_lookup", "02_scaling"] and not list(selected.remarks)
    graded["student 0"].append(notebook(1, file="02_scaling.ipynb", lesson="02_scaling"))
    assert class_results(graded).lessons == selected.lessons  # two of ten students are enough for a lesson to count


@pytest.mark.parametrize(
    ("handed_in", "counts"),
    [
        ([("01",)], ["01"]),
        ([("01",), ("02",)], ["01", "02"]),  # with two students, either lesson may be the wrong one
        ([("01",), ("01", "02")], ["01"]),
        ([("01",), ("01",), ("02",)], ["01"]),
        ([("01", "02"), ("01", "02"), ("03",)], ["01", "02"]),
    ],
)
def test_single_student_does_not_add_a_lesson(handed_in: list[tuple[str, ...]], counts: list[str]):
    names = {lesson[:2]: lesson for lesson in every_lesson()}
    graded = {f"student {i}": [notebook(1, lesson=names[lesson]) for lesson in own] for i, own in enumerate(handed_in)}
    results = class_results(graded)
    assert [lesson[:2] for lesson in results.lessons] == counts
    assert len(results.left_out) == len({*sum(handed_in, ())}) - len(counts) == len(list(results.remarks))


def test_exported_points_determine_counted_notebook():
    exercises = exercises_of("01_lookup")
    core = [result for result in notebook(99).exercises if not result.exercise.stretch]
    in_time = replace(notebook(0, handed_in="2026-10-11T09:00:00+00:00"), exercises=core)
    in_time = replace(in_time, answers={result.exercise.name: "x = 1" for result in core})
    late = answered(99, notebook(99, file="01_lookup-1.ipynb", handed_in="2026-10-12T09:00:00+00:00"))
    full = sum(e.points for e in exercises if not e.stretch)
    for bonus, best in ((False, in_time), (True, late)):
        [ada] = class_results({"ada": [late, in_time]}, replace(LATE, bonus=bonus)).students
        assert ada.lessons["01_lookup"].notebook is best
        assert ada.points_after == (full if best is in_time else 0.9 * full)


def test_reports_extension_that_changes_points(tmp_path: Path):
    late = notebook(2, handed_in="2026-10-13T09:00:00+00:00", time_source="time of the file")
    write_gradebook(tmp_path, class_results({"ada": [late]}, LATE), {})
    before = recorded_points(tmp_path)
    assert point_changes(before, class_results({"ada": [late]}, LATE)) == []
    extension = Extension("ada", "", datetime(2026, 10, 14, tzinfo=UTC))
    extended = class_results({"ada": [late]}, replace(LATE, extensions=[extension]))
    off = (
        sum(e.points for e in exercises_of("01_lookup")[:2]) * 2 / 10
    )  # two days late, because a day that has begun counts in full
    assert point_changes(before, extended) == [f"ada: 01_lookup late penalty {off:g} → 0"]


def test_ambiguous_name_error_lists_candidates():
    people = [Person("1", "Anna Müller"), Person("2", "Anna Müller")]
    rules = ClassRules(roster=Roster(people), overrides=[Override("Müller, Anna", FIRST.name, 1.0)])
    [message] = class_results({}, rules).unknown
    assert (
        message
        == "overrides.csv: 'Müller, Anna' may be Anna Müller (1) or Anna Müller (2). Write the full name or the id."
    )


def test_reports_ungraded_answers_and_open_regrade_requests():
    request = Override("ada", FIRST.name, request="My line 3 is right.")
    graded = {"ada": [notebook(1, written={"why": "so", "what": "that"})]}
    message = "\n".join(class_results(graded, ClassRules(overrides=[request])).remarks)
    assert "2 written answers have no points yet." in message
    assert "1 regrade request has not been answered yet." in message
    [ada] = class_results(graded).students
    marks = {answer.key: replace(answer, points=1.0) for answer in ada.written}
    done = ClassRules(overrides=[replace(request, comment="No.")], marks=marks)
    assert list(class_results(graded, done).remarks) == []


def test_override_that_lowers_points_gets_a_remark():
    overrides = [Override("ada", FIRST.name, 0.5), Override("ben", FIRST.name, 0.5)]
    ada, ben = class_results({"ada": [notebook(1)], "ben": [notebook(0)]}, ClassRules(overrides=overrides)).students
    assert f"{FIRST.name}: you entered 0.5 by hand, but the grader gives {FIRST.points}." in ada.remarks
    assert list(ben.remarks) == [f"Points entered by hand: {FIRST.name}."]


def test_request_is_open_until_answered():
    request = Override("ada", FIRST.name, request="My line 3 is right.")
    [ada] = class_results({"ada": [notebook(0)]}, ClassRules(overrides=[request])).students
    assert f"Regrade request for {FIRST.name}: My line 3 is right." in ada.remarks
    assert "Your request" in feedback_page(ada)
    assert "Requested a regrade (1)" in class_page(class_results({"ada": []}, ClassRules(overrides=[request])))
    for answer in (replace(request, points=1.0), replace(request, comment="No: look at 4.")):
        [ada] = class_results({"ada": [notebook(0)]}, ClassRules(overrides=[answer])).students
        assert not ada.requests and "Your request" in feedback_page(ada)


def test_reports_copies_by_group_and_row():
    own, other = frozenset(range(100)), frozenset(range(500, 600))
    prints = (
        {f"a{n}": own - {n} for n in range(4)} | {f"b{n}": other - {500 + n} for n in range(2)} | {"c": frozenset()}
    )
    results = class_results({name: [replace(notebook(1), fingerprint=runs)] for name, runs in prints.items()})
    assert len(results.similar) == 7
    groups = {tuple(students): (lesson, round(lowest, 2)) for lesson, students, lowest in results.copies}
    assert groups == {("a0", "a1", "a2", "a3"): ("01_lookup", 0.98), ("b0", "b1"): ("01_lookup", 0.98)}
    assert "01_lookup: nearly identical to b1." in results.students[4].remarks
    assert "Nearly identical submissions (2)" in class_page(results)


def test_rounds_totals():
    book = notebook(0)
    third = [replace(result, n_right=1, n_cases=3) for result in book.exercises]
    [ada] = class_results({"ada": [replace(book, exercises=third)]}, ClassRules(partial_credit=True)).students
    assert ada.points == round(ada.points, 2) and len(str(ada.points)) < 6 and len(str(ada.bonus)) < 6


def attempts(*notebooks: GradedSubmission) -> list[GradedSubmission]:
    """Return the notebooks as attempts from separate runs, in this order."""
    return [replace(notebook, attempt=Attempt("01_lookup", str(n))) for n, notebook in enumerate(notebooks)]


@pytest.mark.parametrize(
    ("passed", "counts", "lowered"),
    [
        ((1, 3), 3, ""),
        ((2, 2), 2, ""),
        ((3, 1, 4), 4, ""),
        ((3, 1), 3, "attention_weights 2 → 0"),
        ((3, None), 3, "attention_weights 2 → 0"),
        ((None, 1), 1, ""),
    ],
)
def test_later_attempt_counts_unless_points_fall(passed: tuple[int | None, ...], counts: int, lowered: str):
    books = [notebook(n) if n is not None else notebook(0, lesson="", problem="Damaged.") for n in passed]
    results = class_results({"ada": attempts(*books)})
    [ada] = results.students
    assert sum(result.points > 0 for result in ada.lessons["01_lookup"].exercises) == counts
    assert results.held_back == [f"ada: {line}" for line in ada.held_back if line in [*ada.remarks]]
    assert [lowered in line and "--replace" in line for line in results.held_back] == [True] * bool(lowered)
    assert all(line in summary(Path("out"), results) for line in results.held_back)


def test_late_notebook_counts_despite_override():
    """If the notebook were ignored, the points that the instructor entered would have no late penalty."""
    late = notebook(1, handed_in="2026-11-20T09:00:00+00:00", time_source="time of the file")
    broken = notebook(0, lesson="", problem="Damaged.")
    rules = replace(LATE, overrides=[Override("ada", SECOND.name, 1.0)])
    for own in ([late], [broken, late]):
        [ada] = class_results({"ada": attempts(*own)}, rules).students
        assert ada.lessons["01_lookup"].notebook is not None and not ada.held_back
        assert ada.points == FIRST.points + 1 and ada.points_after == 0


def test_attempt_does_not_count_if_one_exercise_worsens():
    better_except_first = notebook(4)
    first = replace(better_except_first.exercises[0], verdict=Verdict("similarity", "wrong", ""))
    better_except_first = replace(better_except_first, exercises=[first, *better_except_first.exercises[1:]])
    results = class_results({"ada": attempts(notebook(1), better_except_first)})
    assert results.students[0].points == FIRST.points
    assert f"{FIRST.name} {FIRST.points} → 0" in results.held_back[0]


def test_attempts_count_in_order_of_submission():
    early = notebook(2, handed_in="2026-10-12T09:00:00+00:00")
    late = notebook(2, file="01_lookup-1.ipynb", handed_in="2026-10-13T09:00:00+00:00")
    for first, other in ((early, late), (late, early)):
        [ada] = class_results({"ada": attempts(first, other)}).students
        assert ada.lessons["01_lookup"].notebook is not None
        assert ada.lessons["01_lookup"].notebook.submission.file == "01_lookup-1.ipynb"


def test_late_copy_with_equal_points_does_not_count():
    early = notebook(2, handed_in="2026-10-11T09:00:00+00:00")
    late = notebook(2, handed_in="2026-10-13T09:00:00+00:00", time_source="time of the file")
    [ada] = class_results({"ada": attempts(early, late)}, LATE).students
    assert ada.points_after == ada.points > 0
    assert "the points after lateness" in ada.held_back[0]


def test_later_due_date_applies_to_every_attempt():
    early = notebook(1, handed_in="2026-10-11T09:00:00+00:00")
    late = notebook(2, handed_in="2026-10-25T09:00:00+00:00")
    moved = replace(LATE, late_policy=LatePolicy({"": datetime(2026, 11, 1, tzinfo=UTC)}, penalty=10))
    [strict], [kind] = (class_results({"ada": attempts(early, late)}, rules).students for rules in (LATE, moved))
    assert strict.points == FIRST.points and kind.points == FIRST.points + SECOND.points


def test_rare_lesson_counts_in_its_own_download():
    graded = {f"student {n}": [notebook(2)] for n in range(12)}
    for n in range(2):
        new = replace(notebook(1, lesson="02_scaling", batch="week 2"), attempt=Attempt("02_scaling", "k"))
        graded[f"student {n}"].append(new)
    assert class_results(graded).lessons == ["01_lookup", "02_scaling"]


def test_copies_under_several_names_are_one_attempt():
    named = {
        name: [replace(answered(n, notebook(n, batch="w1", known_as=name)), attempt=Attempt("01_lookup", name, name))]
        for n, name in ((4, "Ada Lovelace"), (2, "Ada Lovelace (1)"))
    }
    [ada, *_] = class_results(named, LISTED).students
    assert len(ada.notebooks) == 2 and not ada.held_back
    assert "2 notebooks for 01_lookup were submitted" in " ".join(ada.remarks)


def test_group_submission_counts_for_all_members():
    people = [Person("1", "Ada Lovelace"), Person("2", "Ben Shaw"), Person("3", "Eve Hart")]
    rules = ClassRules(Roster(people, {"Team 1": people[:2]}))
    book = replace(notebook(2), fingerprint=frozenset(range(100)))
    results = class_results({"team 1": [book]}, rules)
    assert [student.points for student in results.students] == [FIRST.points + SECOND.points] * 2 + [0]
    assert not results.similar and len(results.students) == 3


def test_reports_separate_submission_from_group_member():
    ada, ben, cleo = PEOPLE[0], Person("4", "Ben Shaw"), Person("5", "Cleo Hart")
    rules = ClassRules(Roster([ada, ben, cleo], {"Team 1": [ada, ben, cleo]}))
    together, alone = attempts(notebook(1, known_as="Team 1"), notebook(2, known_as="Ada Lovelace"))
    results = class_results({"Team 1": [together], "Ada Lovelace": [alone]}, rules)
    line = (
        "01_lookup: this student's own submission counts instead of the group submission with Ben Shaw and Cleo Hart."
    )
    assert [line in student.remarks for student in results.students] == [True, False, False]
    assert f"Ada Lovelace: {line}" in summary(Path("out"), results) and f"Ada Lovelace: {line}" in list(results.remarks)
    lower = replace(alone, exercises=notebook(0).exercises)  # the group's result is better, so it counts
    assert not list(class_results({"Team 1": [together], "Ada Lovelace": [lower]}, rules).remarks)
    assert not list(class_results({"Team 1": [together]}, rules).remarks)


def test_override_for_several_students_applies_to_each():
    people = [Person("1", "Ada Lovelace"), Person("2", "Chloé Müller-Lang"), Person("3", "Ben Shaw")]
    rules = ClassRules(Roster(people), overrides=[Override("Lovelace, Ada, Müller-Lang, Chloé", FIRST.name, 0.5)])
    results = class_results({"1": [notebook(0)]}, rules)
    assert {student.name: student.points for student in results.students} == {
        "Ada Lovelace": 0.5,
        "Ben Shaw": 0,
        "Chloé Müller-Lang": 0.5,
    }
    unclear = ClassRules(Roster(people), overrides=[Override("Lovelace, Ada, Nobody", FIRST.name, 0.5)])
    assert class_results({"1": [notebook(0)]}, unclear).unknown


def test_tolerates_spreadsheet_changes_to_ids():
    people = [Person("00123", "Ada Lovelace"), Person("202611000000123", "Ben Shaw")]
    books = {name: [notebook(1, written={"why": "so"})] for name in ("Ada Lovelace", "Ben Shaw")}
    plain = class_results(books, ClassRules(Roster(people))).students
    saved = [
        replace(student.written[0], student=short, points=2.0)
        for student, short in zip(plain, ("123", "2.02611E+14"), strict=True)
    ]
    overrides = [Override("123", FIRST.name, 0.5), Override("2,02611E+14", FIRST.name, 0.25)]
    rules = ClassRules(Roster(people), marks={answer.key: answer for answer in saved}, overrides=overrides)
    results = class_results(books, rules)
    assert [student.written[0].points for student in results.students] == [2.0, 2.0] and not results.unknown
    assert [student.lessons["01_lookup"].points for student in results.students] == [0.5, 0.25]
    assert {key[2] for key in results.rules.marks} == {"Ada Lovelace", "Ben Shaw"}


def test_reports_unlisted_student_with_candidates():
    people = [Person("1", "Ada Lovelace"), Person("2", "Ada Byron")]
    results = class_results({"Ada": [notebook(1)]}, ClassRules(Roster(people)))
    [ada] = [student for student in results.students if not student.is_listed]
    assert "Possible matches: Ada Lovelace or Ada Byron." in ada.remarks
    assert "Ada is not in the roster. Possible matches: Ada Lovelace or Ada Byron." in summary(Path("out"), results)


def test_same_name_in_two_downloads_means_one_student():
    first = notebook(1, lms_id="611", platform="Moodle", batch="1", known_as="Ada Lovelace")
    second = notebook(1, lesson="02_scaling", lms_id="702", platform="Moodle", batch="2", known_as="Ada Lovelace")
    [ada] = class_results({"Ada Lovelace": [first, second]}).students
    assert len(ada.notebooks) == 2
