"""Tests that the answers to the instructor's own exercises never reach the sandbox or the students."""

import json
from pathlib import Path

import pytest

from tests.transformer_course.sandbox.sample_submissions import linux, write_notebook
from transformer_course import exercises
from transformer_course.exercises import LESSONS, every_exercise, every_lesson, exercises_of, is_own
from transformer_course.grading.grade import grade
from transformer_course.grading.incoming.submissions import find_submissions
from transformer_course.grading.judging.assess import Allowance, assess, assess_exercise
from transformer_course.grading.reports.class_report import rewrite_report
from transformer_course.grading.rules.class_rules import RuleChanges
from transformer_course.grading.rules.own_exercises import OWN_EXERCISES_FOLDER, OwnExercises, read_own_exercises
from transformer_course.grading.rules.settings import RunOptions
from transformer_course.running.plain_data import unpack
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Outcome, Sandbox

RIGHT = "def centered(x):\n    return x - x.mean(-1, keepdim=True)"
MODULE = """
class Shift(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.secret_weight = nn.Parameter(torch.zeros(d))
    def forward(self, x):
        return {}centered(x) + self.secret_weight
"""


def submit(folder: Path, *sources: str) -> Path:
    cells = [{"id": name, "source": source} for name, source in zip(("centered", "Shift"), sources, strict=False)]
    return write_notebook(folder / "ada" / "week_3.ipynb", cells)


def test_own_exercises_form_a_lesson(own_file: Path):
    OwnExercises.read(own_file)
    assert every_lesson() == (*LESSONS, "week_3")
    assert [exercise.name for exercise in exercises_of("week_3")] == ["centered", "Shift"]
    assert is_own(every_exercise()["centered"]) and not is_own(every_exercise()["softmax"])
    assert "a secret remark" in every_exercise()["centered"].solution


@linux
def test_report_can_be_regenerated_without_exercise_file(own_file: Path, tmp_path: Path):
    folder, out = tmp_path / "class", tmp_path / "out"
    submit(folder, "def centered(x):\n    return x - x.mean()", MODULE.format(""))
    write_notebook(folder / "ben" / "mine.ipynb", [{"id": "centered", "source": RIGHT}])
    text = grade(
        [folder],
        out,
        RuleChanges(own=read_own_exercises(out, own_file)),
        RunOptions(limits=Limits(seconds=60.0), seed=7),
    )
    assert "week_3 (2)" in text and "ada: 0 of 5 points" in text and "ben: 3 of 5 points" in text
    page = (out / "feedback" / "ada.html").read_text("utf-8")
    assert "One mean is taken of all." in page and "secret remark" not in page
    exercises.remove_own_lessons()
    own_file.unlink()
    assert "ben: 3 of 5 points" in rewrite_report(out)
    assert json.loads((out / "results.json").read_text("utf-8"))["lessons"] == ["week_3"]
    kept = out / OWN_EXERCISES_FOLDER / "week_3.py"
    kept.write_text(kept.read_text().replace("points=3", "points=30"))
    assert "ben: 30 of 32 points" in rewrite_report(out)


def test_answers_never_enter_the_sandbox(own_file: Path, tmp_path: Path, sandbox: Sandbox, monkeypatch):
    OwnExercises.read(own_file)
    jobs, run = [], sandbox.run

    def record(job, packed, *rest, **options) -> Outcome:
        jobs.append({**job, **unpack(packed)})
        return run(job, packed, *rest, **options)

    monkeypatch.setattr(sandbox, "run", record)
    submit(tmp_path, "def centered(x):\n    return x", MODULE.format("parts."), RIGHT)
    [submission] = find_submissions([tmp_path / "ada"])
    graded = assess(
        submission,
        Allowance(sandbox.limits),
        lambda notebook, e, _, which: assess_exercise(notebook, e, sandbox, 7, which),
    )
    assert [result.verdict.status for result in graded.exercises] == ["wrong", "crashed"]
    assert len(jobs) == 2  # the second answer does not run again with the reference for the first exercise
    for job in jobs:
        assert "secret = " not in str(job) and not {"centered", "Shift"} & json.loads(job["library"]).keys()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("EXERCISES = [", "EXERCISES = [(", r"SyntaxError: "),
        ("points=3", "points=threee", r"week_3\.py: line \d+: NameError: name 'threee' is not defined"),
        ("EXERCISES =", "MINE =", r"week_3\.py: .*must define EXERCISES, a list of Exercise\(\.\.\.\); got None"),
        ("EXERCISES = [", "EXERCISES = [3, ", r"EXERCISES must contain only Exercise\(\.\.\.\); got 3"),
        ("points=3", "points=0", "the points of centered must be a whole number above 0; got 0"),
        ("centered", "softmax", "softmax is an exercise of the course; choose another name"),
        ("Shift", "centered", "two exercises have the name centered"),
        ("draw(seed, (2, 3), (5, 4)", "draw(3, (2, 3), (5, 4)", "the cases of centered must depend on the seed"),
        (
            "x - secret",
            "x - secrett",
            "the reference solution to centered fails: NameError: name 'secrett' is not defined",
        ),
    ],
)
def test_reports_invalid_file_before_running_any_answer(own_file: Path, old: str, new: str, message: str):
    own_file.write_text(own_file.read_text().replace(old, new))
    with pytest.raises(ValueError, match=message):
        OwnExercises.read(own_file)
    assert exercises.every_lesson() == exercises.LESSONS


@pytest.mark.parametrize("name", ["01_lookup.py", "week 3.py", "week_3.txt", "class.py", "primer.py"])
def test_rejects_unsuitable_file_name(own_file: Path, name: str):
    path = own_file.rename(own_file.with_name(name))
    with pytest.raises(
        ValueError, match=r"it must be a Python identifier, such as week_3\.py|is a lesson of the course"
    ):
        OwnExercises.read(path)
