from pathlib import Path

from transformer_course.checking.verdict import Status, Verdict
from transformer_course.exercises import every_exercise
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.judging.graded_results import GradedExercise, GradedSubmission


def test_sums_points_and_bonus_separately():
    exercises = every_exercise()
    done: dict[str, Status] = {"softmax": "passed", "distance_attention": "passed", "similarity": "wrong"}
    graded = [GradedExercise(exercises[name], Verdict(name, status, ""), 0.1) for name, status in done.items()]
    notebook = GradedSubmission(Submission("ada", Path("01_lookup.ipynb"), "01_lookup"), graded)
    assert exercises["distance_attention"].stretch and not exercises["softmax"].stretch
    assert (notebook.points, notebook.bonus) == (exercises["softmax"].points, exercises["distance_attention"].points)
