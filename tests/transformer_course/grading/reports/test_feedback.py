from pathlib import Path

import pytest

from transformer_course.checking.verdict import Status, Verdict
from transformer_course.exercises import every_exercise, exercises_of
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.judging.graded_results import GradedExercise, GradedSubmission
from transformer_course.grading.reports.class_results import class_results
from transformer_course.grading.reports.feedback import feedback_page, file_names


def page(student: str, notebooks: list[GradedSubmission]) -> str:
    [result] = class_results({student: notebooks}).students
    return feedback_page(result)


@pytest.mark.parametrize(
    "student", ["../../etc/passwd", "..", "a/b\\c", "CON", "nul.txt", "ada\n", "💥", "x" * 999, "-"]
)
def test_every_student_page_stays_in_feedback_folder(student: str):
    name = file_names([student])[student]
    assert Path(name).name == name and name.endswith(".html") and len(name) < 100
    assert name.partition(".")[0].lower() not in ("", "con", "nul")


def test_students_never_share_a_page():
    students = ["ada", "Ada", "ADA", "a da", "a_da", "a/da", "ada-2"]
    names = file_names(students)
    assert len({name.casefold() for name in names.values()}) == len(students)


def test_shows_points_and_bonus_separately():
    exercises = every_exercise()
    graded = [
        GradedExercise(exercises[name], Verdict(name, "passed", ""), 0.1) for name in ("softmax", "distance_attention")
    ]
    text = page("ada", [GradedSubmission(Submission("ada", Path("01_lookup.ipynb"), "01_lookup"), graded)])
    core, stretch = (exercises[name].points for name in ("softmax", "distance_attention"))
    most = sum(exercise.points for exercise in exercises_of("01_lookup") if not exercise.stretch)
    assert f"<p>{core} of {most} points, and {stretch} bonus.</p>" in text
    assert f"softmax: passed ({core} of {core})" in text
    assert f"distance_attention: passed (bonus: {stretch} of {stretch})" in text


def test_graded_notebook_comes_first_and_others_are_collapsed():
    softmax = every_exercise()["softmax"]

    def notebook(file: str, status: Status, answer: str) -> GradedSubmission:
        graded = [GradedExercise(softmax, Verdict("softmax", status, ""), 0.1)]
        return GradedSubmission(Submission("ada", Path(file), "01_lookup"), graded, answers={"softmax": answer})

    stub = notebook("worse.ipynb", "not_started", "def softmax(s): raise NotImplementedError")
    text = page("ada", [stub, notebook("better.ipynb", "passed", "def softmax(s): return s.softmax(-1)")])
    assert text.index("<h2>better.ipynb: 2 of") < text.index("<details><summary>worse.ipynb: 0 of")
    assert text.count("This notebook does not count.") == 1


def test_shows_learner_code_with_marked_line():
    softmax = every_exercise()["softmax"]
    code = "def softmax(scores):\n    return scores / scores.sum()"
    message = "It is here.\n    line 2:  return scores / scores.sum()\n                             ^^^^^^^^^^^^"
    cases: list[tuple[Status, str, str]] = [
        ("wrong", message, '<details class="code" open>'),
        ("passed", "", '<details class="code">'),
    ]
    for status, report, opening in cases:
        graded = GradedExercise(softmax, Verdict("softmax", status, report), 0.1)
        submission = Submission("ada", Path("01_lookup.ipynb"), "01_lookup")
        text = page("ada", [GradedSubmission(submission, [graded], answers={"softmax": code})])
        assert f"{opening}<summary>Your code</summary>" in text
        assert ("<mark>scores.sum()</mark>" in text) is (status == "wrong")
    untouched = GradedExercise(softmax, Verdict("softmax", "not_started", ""), 0.1)
    assert "Your code" not in page("ada", [GradedSubmission(submission, [untouched], answers={"softmax": code})])


def test_hint_adds_to_the_verdict():
    softmax = every_exercise()["softmax"]

    def hint(verdict: Verdict) -> str:
        graded = GradedExercise(softmax, verdict, 0.1)
        notebook = GradedSubmission(Submission("ada", Path("01_lookup.ipynb"), "01_lookup"), [graded])
        return page("ada", [notebook]).partition("A hint</strong>")[2].partition("</div>")[0]

    known = softmax.mistakes[0]
    assert known.hints[0][:9] in hint(Verdict("softmax", "mistake", "Words.", (known.name,)))
    assert "Hint one." in hint(Verdict("softmax", "mistake", "Words.", (known.name,), ("Hint one.", "Hint two.")))
    assert "Hint two." in hint(Verdict("softmax", "wrong", "A location.", (), ("Look there.", "Hint two.", "Three.")))
    assert hint(Verdict("softmax", "wrong", "No location.")) == ""
