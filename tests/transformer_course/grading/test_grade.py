import contextlib
import csv
import io
import json
import os
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from tests.transformer_course.sandbox.sample_submissions import RIGHT, cells, write_notebook
from transformer_course.checking import mistake_recognition
from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Exercise
from transformer_course.exercises import every_exercise, exercises_of
from transformer_course.grading.grade import caution, grade, only_watched
from transformer_course.grading.incoming.submissions import Submission
from transformer_course.grading.judging.assess import Allowance, assess, assess_exercise
from transformer_course.grading.judging.graded_results import GradedExercise
from transformer_course.grading.judging.run_answer import AnswerChoice
from transformer_course.grading.judging.worker import Task
from transformer_course.grading.reports.class_report import read_results, rewrite_report
from transformer_course.grading.reports.exports import merge_into_moodle
from transformer_course.grading.reports.feedback_zips import moodle_feedback
from transformer_course.grading.rules.class_rules import RuleChanges
from transformer_course.grading.rules.late_policy import LatePolicy, parse_due
from transformer_course.grading.rules.own_exercises import read_own_exercises
from transformer_course.grading.rules.settings import RunOptions
from transformer_course.sandbox.interpreter import SandboxError
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Sandbox

CORE = {lesson: sum(e.points for e in exercises_of(lesson) if not e.stretch) for lesson in ("01_lookup", "02_scaling")}
STRETCH = {lesson: sum(e.points for e in exercises_of(lesson) if e.stretch) for lesson in CORE}
MISTAKEN = {**RIGHT, "softmax": "def softmax(scores): return torch.softmax(scores, dim=0)"}
EXITS = {"similarity": "import os\ndef similarity(query, keys): os._exit(3)"}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a class in which all sorts of things were handed in."""
    folder = tmp_path_factory.mktemp("class")
    for lesson in CORE:
        write_notebook(folder / "ada" / f"{lesson}.ipynb", cells(RIGHT, lesson))
    write_notebook(folder / "ben" / "01_lookup.ipynb", cells(MISTAKEN))
    write_notebook(folder / "ben" / "01_lookup-1.ipynb", cells({}))
    write_notebook(folder / "<b>eve" / "01_lookup.ipynb", cells(EXITS))
    (folder / "=cmd").mkdir()
    (folder / "=cmd" / "01_lookup.ipynb").write_bytes(b"\x00garbage")
    grade([folder], folder / "results", RuleChanges(lessons=[*CORE]), RunOptions(limits=Limits(seconds=60.0)))
    return folder / "results"


class InThisProcess:
    """Stands in for a worker, since starting a process and a sandbox takes seconds."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox, self.guards = sandbox, sandbox.guards

    def assess(self, task: Task) -> GradedExercise:
        return assess_exercise(task.submission, every_exercise()[task.name], self.sandbox, task.seed, task.choice)

    def kill(self) -> None: ...


GUARDED = {"own_user": True, "namespaces": False, "landlock": 7, "seccomp": True, "own_disk": True, "cgroup": True}


class Canned:
    """Stands in for a worker where it does not matter how the answers do: what has the word ``right`` passes.

    What has ``torch.softmax`` is remarked on.

    Attributes:
        guards: Those that its sandbox would have.
        graded: The student and the exercise of each task so far.
    """

    def __init__(self) -> None:
        self.guards: dict[str, Any] = dict(GUARDED)
        self.graded: list[tuple[str, str]] = []

    def assess(self, task: Task) -> GradedExercise:
        self.graded.append((task.submission.student, task.name))
        is_right = any("right" in cell["source"] for cell in task.submission.cells)
        verdict = Verdict(task.name, "passed" if is_right else "wrong", "")
        calls = any(f"def {task.name}" in c["source"] and "torch.softmax" in c["source"] for c in task.submission.cells)
        return GradedExercise(every_exercise()[task.name], verdict, 0.1, remarks=["calls torch.softmax"] * calls)

    def kill(self) -> None: ...


@pytest.fixture
def canned(monkeypatch: pytest.MonkeyPatch) -> Canned:
    """The worker that grades in all gradings of a test, without a sandbox."""
    worker = Canned()
    monkeypatch.setattr("transformer_course.grading.grade.Worker", lambda *_: contextlib.nullcontext(worker))
    return worker


def results(out: Path) -> dict[str, Any]:
    text: dict[str, Any] = json.loads((out / "results.json").read_text("utf-8"))
    return text


def statuses(out: Path, student: str, notebook: int = 0) -> dict[str, str]:
    return {
        one["exercise"]: one["status"] for one in results(out)["students"][student]["notebooks"][notebook]["exercises"]
    }


@pytest.mark.slow
def test_the_gradebook_has_a_row_per_student_and_a_column_per_exercise(graded: Path):
    book = pd.read_csv(graded / "gradebook.csv", index_col="student")
    assert list(book.index) == ["<b>eve", "'=cmd", "ada", "ben"]
    assert book.loc["ada", "points"] == sum(CORE.values()) and book.loc["ada", "bonus"] == sum(STRETCH.values())
    assert (book["of"] == sum(CORE.values())).all()
    softmax = next(e.points for e in exercises_of("01_lookup") if e.name == "softmax")
    assert book.loc["ben", "points"] == CORE["01_lookup"] - softmax
    assert book.loc["ben", "01_lookup: softmax"] == 0 and book.loc["ben", "02_scaling: score_variance"] == 0
    assert book.loc["<b>eve", "points"] == 0
    assert "damaged" in str(book.loc["'=cmd", "remarks"])


def test_every_status_is_told_with_its_reason(graded: Path):
    assert set(statuses(graded, "ada", 0).values()) == set(statuses(graded, "ada", 1).values()) == {"passed"}
    assert statuses(graded, "ben", 1)["softmax"] == "mistake"
    assert set(statuses(graded, "ben", 0).values()) == {"not_started"}
    eve = statuses(graded, "<b>eve")
    assert eve.pop("similarity") == "crashed" and set(eve.values()) == {"not_started"}


def test_every_student_gets_a_page_with_hints_and_nothing_unescaped(graded: Path):
    pages = {path.name: path.read_text("utf-8") for path in (graded / "feedback").iterdir()}
    assert set(pages) == {"ada.html", "ben.html", "b_eve.html", "cmd.html"}
    mistake = next(m for e in exercises_of("01_lookup") for m in e.mistakes if m.name == "first_axis")
    assert "A hint" in pages["ben.html"] and mistake.hints[0].split("`")[0] in pages["ben.html"]
    assert "A hint" not in pages["ada.html"]
    assert "&lt;b&gt;eve" in pages["b_eve.html"] and "<b>eve" not in pages["b_eve.html"]
    assert "ended the process with exit 3" in pages["b_eve.html"]
    assert "The file is damaged" in pages["cmd.html"] and "Not submitted." in pages["cmd.html"]


def verdicts(out: Path) -> list[Any]:
    return [
        [(one["status"], one["mistakes"], one["message"], one["points"]) for one in notebook["exercises"]]
        for student in results(out)["students"].values()
        for notebook in student["notebooks"]
    ]


def test_two_graders_agree_given_the_same_seed(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    in_this_process = InThisProcess(sandbox)
    monkeypatch.setattr("transformer_course.grading.grade.Worker", lambda *_: contextlib.nullcontext(in_this_process))
    monkeypatch.setattr(mistake_recognition, "MAX_PAIRS", 0)  # to look for two mistakes at once takes seconds
    wrong = {
        "softmax": RIGHT["softmax"],
        "similarity": "def similarity(query, keys): return keys @ query + (len(query) > 4)",
    }
    path = write_notebook(tmp_path / "ada" / "01_lookup.ipynb", cells(wrong))
    for seed, out in ((7, "one"), (7, "two"), (8, "three")):
        grade([path], tmp_path / out, run=RunOptions(seed=seed))
    one, two, three = (verdicts(tmp_path / out) for out in ("one", "two", "three"))
    assert one == two != three  # the message shows the numbers of the first case that differs
    assert results(tmp_path / "one")["seed"] == 7


@pytest.mark.usefixtures("canned")
def test_a_seed_of_its_own_is_drawn_for_every_folder_of_results(graded: Path, tmp_path: Path):
    path = tmp_path / "01_lookup.ipynb"
    path.touch()
    grade([path], tmp_path / "out")
    assert results(tmp_path / "out")["seed"] != results(graded)["seed"]


def rows(out: Path) -> dict[str, int]:
    return {str(name): int(points) for name, points in pd.read_csv(out / "gradebook.csv")[["student", "points"]].values}


def test_grading_one_student_changes_one_row(canned: Canned, tmp_path: Path):
    out = tmp_path / "out"
    for student in ("ada", "ben"):
        write_notebook(tmp_path / "class" / student / "01_lookup.ipynb", [])
    grade([tmp_path / "class"], out)
    seed = results(out)["seed"]
    path = write_notebook(tmp_path / "class" / "ben" / "01_lookup.ipynb", cells({}, others=["right"]))
    canned.graded.clear()
    text = grade([path.parent], out)
    assert {student for student, _ in canned.graded} == {"ben"}
    assert "The results of 1 student are from an earlier run." in text
    assert rows(out) == {"ada": 0, "ben": CORE["01_lookup"]}
    assert {path.name for path in (out / "feedback").iterdir()} == {"ada.html", "ben.html"}
    assert results(out)["seed"] == seed


def test_what_has_not_changed_is_not_graded_again(canned: Canned, tmp_path: Path):
    write_notebook(tmp_path / "class" / "ada" / "01_lookup.ipynb", cells({}, others=["right"]))
    grade([tmp_path / "class"], tmp_path / "out")
    before = results(tmp_path / "out")["students"]
    canned.graded.clear()
    grade([tmp_path / "class"], tmp_path / "out")
    assert not canned.graded and results(tmp_path / "out")["students"] == before
    grade([tmp_path / "class"], tmp_path / "out", run=RunOptions(limits=Limits(seconds=5.0)))
    assert len(canned.graded) == len(exercises_of("01_lookup"))


@pytest.mark.parametrize("order", [("w1", "w2"), ("w2", "w1"), ("w1", "w2", "w1")])
@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.usefixtures("canned")
def test_a_second_lesson_keeps_the_first(tmp_path: Path, order: tuple[str, ...], asks: bool):
    lessons, out = {"w1": "01_lookup", "w2": "02_scaling"}, tmp_path / "out"
    for week, students in {"w1": ["ada", "ben", "cleo"], "w2": ["ada", "ben"]}.items():
        for student in students:
            right = cells({}, lessons[week], others=["right"])
            write_notebook(tmp_path / week / student / f"{lessons[week]}.ipynb", right)
    for week in order:
        grade([tmp_path / week], out, RuleChanges(lessons=[lessons[week]] if asks else []))
    both = sum(CORE.values())
    assert rows(out) == {"ada": both, "ben": both, "cleo": CORE["01_lookup"]}


def test_a_lower_resubmission_counts_only_when_it_is_asked_for(canned: Canned, tmp_path: Path):
    path = write_notebook(tmp_path / "class" / "ada" / "01_lookup.ipynb", cells({}, others=["right"]))
    grade([tmp_path / "class"], tmp_path / "out")
    write_notebook(path, cells({}, others=["a mistake"]))
    text = grade([tmp_path / "class"], tmp_path / "out")
    assert rows(tmp_path / "out") == {"ada": CORE["01_lookup"]}
    assert "ada: 01_lookup: an earlier result counts, because the latest one would lower similarity 1 → 0" in text
    canned.graded.clear()
    assert "would lower" in grade([tmp_path / "class"], tmp_path / "out") and not canned.graded
    text = grade([tmp_path / "class"], tmp_path / "out", run=RunOptions(count_latest=True))
    assert rows(tmp_path / "out") == {"ada": 0} and "similarity 1 → 0" in text and not canned.graded


@pytest.mark.usefixtures("canned")
def test_a_file_that_cannot_be_read_leaves_the_earlier_result(tmp_path: Path):
    for student in ("ada", "ben"):
        write_notebook(tmp_path / "class" / student / "01_lookup.ipynb", cells({}, others=["right"]))
    grade([tmp_path / "class"], tmp_path / "out")
    (tmp_path / "class" / "ada" / "01_lookup.ipynb").rename(tmp_path / "class" / "ada" / "01_lookup.pdf")
    assert "ada: 01_lookup: an earlier result counts" in grade([tmp_path / "class"], tmp_path / "out")
    assert rows(tmp_path / "out") == {"ada": CORE["01_lookup"], "ben": CORE["01_lookup"]}


@pytest.mark.usefixtures("canned")
def test_a_class_whose_folder_has_a_row_is_graded_again(tmp_path: Path):
    for path, text in {"01_lookup.ipynb": "right", "ada/01_lookup.ipynb": "no", "ben/01_lookup.ipynb": "right"}.items():
        write_notebook(tmp_path / "class" / path, cells({}, others=[text]))
    grade([tmp_path / "class"], tmp_path / "out")
    write_notebook(tmp_path / "class" / "ada" / "01_lookup.ipynb", cells({}, others=["right"]))
    grade([tmp_path / "class"], tmp_path / "out")
    assert rows(tmp_path / "out") == dict.fromkeys(["ada", "ben", "class"], CORE["01_lookup"])


@pytest.mark.usefixtures("canned")
def test_a_fresh_start_forgets_what_was_graded(tmp_path: Path):
    for student in ("ada", "ben"):
        write_notebook(tmp_path / "class" / student / "01_lookup.ipynb", [])
    grade([tmp_path / "class"], tmp_path / "out", run=RunOptions(seed=7))
    with pytest.raises(
        ValueError, match="was graded with seed 7; to grade with seed 8, choose another folder or give --fresh"
    ):
        grade([tmp_path / "class"], tmp_path / "out", run=RunOptions(seed=8))
    grade([tmp_path / "class" / "ada"], tmp_path / "out", run=RunOptions(seed=8, fresh=True))
    assert rows(tmp_path / "out") == {"ada": 0} and results(tmp_path / "out")["seed"] == 8


@pytest.mark.parametrize("end", [KeyboardInterrupt, SandboxError])
def test_what_is_finished_when_grading_ends_early_is_kept(
    canned: Canned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: type[BaseException]
):
    for student in ("ada", "ben", "cleo"):
        write_notebook(tmp_path / "class" / student / "01_lookup.ipynb", cells({}, others=["right"]))
    honest = canned.assess

    def ends_at_ben(task: Task) -> GradedExercise:
        if task.submission.student == "ben":
            raise end
        return honest(task)

    monkeypatch.setattr(canned, "assess", ends_at_ben)
    with pytest.raises(end):
        grade([tmp_path / "class"], tmp_path / "out")
    kept = set(rows(tmp_path / "out"))
    assert "ada" in kept and "ben" not in kept
    monkeypatch.setattr(canned, "assess", honest)
    canned.graded.clear()
    grade([tmp_path / "class"], tmp_path / "out")
    assert {student for student, _ in canned.graded} == {"ada", "ben", "cleo"} - kept
    assert len(set(rows(tmp_path / "out").values())) == 1


def test_a_folder_that_cannot_be_written_is_noticed_before_anything_is_graded(canned: Canned, tmp_path: Path):
    path = write_notebook(tmp_path / "ada" / "01_lookup.ipynb", [])
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        grade([path], tmp_path / "file" / "out")
    assert not canned.graded


@pytest.mark.usefixtures("canned")
def test_writes_every_file_atomically(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_file: Path):
    """Each file is written under another name first: a full disk leaves no empty table behind."""
    opened: list[Path] = []

    def noted(path: object, mode: str = "r", *rest: Any, **options: Any) -> Any:
        if isinstance(path, str | Path) and tmp_path in Path(path).parents and mode.strip("bt") != "r":
            opened.append(Path(path))
        return original(path, mode, *rest, **options)

    original = io.open
    write_notebook(tmp_path / "class" / "ada" / "01_lookup.ipynb", cells(RIGHT))
    (tmp_path / "people.csv").write_text("id,name\nada,Ada\n")
    monkeypatch.setattr("io.open", noted)
    monkeypatch.setattr("builtins.open", noted)
    out = tmp_path / "out"
    changes = RuleChanges(roster=tmp_path / "people.csv", own=read_own_exercises(out, own_file))
    grade([tmp_path / "class"], out, changes)
    rewrite_report(out)
    names = {path.name.removesuffix(".unfinished") for path in opened}
    assert names >= {"overrides.csv", "extensions.csv", "roster.csv", "gradebook.csv", "class.html", "week_3.py"}
    assert [path for path in opened if path.suffix != ".unfinished"] == []
    assert {path.name for path in out.rglob("*") if path.is_file()} == names


def test_answers_that_never_end_share_the_time_of_their_notebook():
    """One endless loop costs no other exercise its points, and many cost little time."""
    lesson = exercises_of("01_lookup")
    limits: list[float] = []

    def sleeps(_: Submission, exercise: Exercise, given: Limits, __: AnswerChoice) -> GradedExercise:
        limits.append(given.seconds)
        return GradedExercise(exercise, Verdict(exercise.name, "crashed", ""), given.kill_after, cost=given.kill_after)

    assess(
        Submission("ada", Path("x"), "01_lookup", [{"id": "", "source": ""}]), Allowance(Limits(seconds=10.0)), sleeps
    )
    assert limits == [10.0, 7.0, *[1.0] * (len(lesson) - 2)]


@pytest.mark.parametrize("n_answers", [1, 4])
@pytest.mark.parametrize("names_others", [False, True])
def test_hostile_notebook_takes_at_most_its_allowance(names_others: bool, n_answers: int):
    """It takes twice the limit of one exercise, and a second for each: also if each answer asks to run again."""
    lesson = exercises_of("01_lookup")
    took: list[float] = []

    def sleeps(_: Submission, exercise: Exercise, given: Limits, choice: AnswerChoice) -> GradedExercise:
        took.append(given.kill_after)
        verdict = Verdict(exercise.name, "crashed", "")
        cost = given.kill_after
        return GradedExercise(exercise, verdict, cost, cost=cost, answer=choice.number, n_answers=n_answers)

    comment = " ".join(one.name for one in lesson) * names_others
    cells = [{"id": one.name, "source": f"def {one.name}(): ...  # {comment}"} for one in lesson]
    graded = assess(Submission("eve", Path("x"), "01_lookup", cells), Allowance(Limits(seconds=10.0)), sleeps)
    assert len(graded.exercises) == len(lesson) and sum(took) <= 2 * 10.0 + len(lesson)


def test_what_it_takes_to_judge_and_to_trace_is_of_the_same_allowance_in_all_notebooks_of_a_lesson():
    observed: list[float] = []

    def is_long_to_judge(_: Submission, exercise: Exercise, given: Limits, __: AnswerChoice) -> GradedExercise:
        observed.append(given.seconds)
        return GradedExercise(exercise, Verdict(exercise.name, "crashed", ""), 0.1, cost=12.0)

    allowance = Allowance(Limits(seconds=10.0))
    graded = [assess(Submission("eve", Path("x"), "01_lookup"), allowance, is_long_to_judge) for _ in range(50)]
    assert observed == [10.0, 6.0, 1.0, 1.0, 1.0, 1.0]  # it has had three times its time, so no more is run
    last = graded[-1].exercises[-1]
    assert last.points == 0 and "was not run: by then, your notebooks of this lesson" in last.verdict.message


@pytest.mark.skipif(sys.platform != "linux", reason="no other system is guarded")
def test_without_a_guard_nothing_is_graded_unless_asked_for(canned: Canned, tmp_path: Path):
    path = write_notebook(tmp_path / "ada" / "01_lookup.ipynb", [])
    canned.guards = {"own_user": False, "namespaces": False, "landlock": 0, "seccomp": True}
    with pytest.raises(ValueError, match=r"can read, change and delete your files .* give --unconfined"):
        grade([path], tmp_path / "out")
    assert not canned.graded
    grade([path], tmp_path / "out", run=RunOptions(unconfined=True))
    assert results(tmp_path / "out")["students"]["ada"]["isolation"] == "none"


@pytest.mark.usefixtures("canned")
def test_only_the_lessons_asked_for_are_graded_and_every_student_is_listed(tmp_path: Path):
    write_notebook(tmp_path / "ada" / "01_lookup.ipynb", cells({"softmax": RIGHT["softmax"]}))
    write_notebook(tmp_path / "eve" / "02_scaling.ipynb", [])
    text = grade([tmp_path], tmp_path / "out", RuleChanges(lessons=["01_lookup"]), RunOptions(seed=7))
    assert f"eve: 0 of {CORE['01_lookup']} points" in text and "Rules: only 01_lookup." in text
    other = "02_scaling.ipynb: This is a notebook of 02_scaling, which is not graded here."
    assert other in text and "Not submitted." in (tmp_path / "out" / "feedback" / "eve.html").read_text("utf-8")
    book = pd.read_csv(tmp_path / "out" / "gradebook.csv", index_col="student")
    assert book.loc["eve", "status"] == "could not be graded" and other in str(book.loc["eve", "remarks"])
    assert "Rules: only 01_lookup." in grade([tmp_path / "ada"], tmp_path / "out")
    text = grade([tmp_path / "ada", tmp_path / "eve"], tmp_path / "out", RuleChanges(lessons=["all"]))
    assert f"eve: 0 of {sum(CORE.values())} points" in text and "Rules: all lessons." in text


@pytest.mark.usefixtures("canned")
def test_all_lessons_count_those_of_a_single_student(tmp_path: Path):
    for student in ("ada", "ben", "eve"):
        write_notebook(tmp_path / "class" / student / "01_lookup.ipynb", cells({}, others=["right"]))
    write_notebook(tmp_path / "class" / "eve" / "04_masks.ipynb", cells({}, "04_masks", others=["right"]))
    assert "does not count unless --lesson asks for it" in grade([tmp_path / "class"], tmp_path / "out")
    text = grade([tmp_path / "class"], tmp_path / "out", RuleChanges(lessons=["all"]))
    masks = sum(one.points for one in exercises_of("04_masks") if not one.stretch)
    assert rows(tmp_path / "out") == {
        **dict.fromkeys(("ada", "ben"), CORE["01_lookup"]),
        "eve": CORE["01_lookup"] + masks,
    }
    assert "does not count" not in text and "not graded here" not in text
    assert "Rules: all lessons." in grade([tmp_path / "class" / "ada"], tmp_path / "out")


@pytest.mark.skipif(sys.platform != "linux", reason="no other system is guarded")
@pytest.mark.parametrize(
    ("guards", "message"),
    [
        ({}, ""),
        ({"own_user": False}, ""),
        ({"landlock": 0}, "can read what every user can."),
        ({"own_user": False, "landlock": 5}, "can end your programs."),
        ({"own_user": False, "namespaces": True, "landlock": 5}, ""),
        ({"own_user": False, "landlock": 0}, "can read, change and delete your files and end your programs."),
        (
            {"own_user": False, "landlock": 0, "seccomp": False},
            "can read, change and delete your files, end your programs, use the network and change the permissions of "
            "your files, and the limits of your programs.",
        ),
    ],
)
def test_what_guards_the_machine_decides_what_the_caution_says(guards: dict[str, Any], message: str):
    assert message in caution(GUARDED | guards) and bool(message) == bool(caution(GUARDED | guards))


def test_other_systems_do_not_limit_memory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "of your programs and use up all memory." in caution(
        {"own_user": False, "namespaces": False, "landlock": 0, "seccomp": False}
    )


def test_the_caution_comes_before_anything_runs(
    canned: Canned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    canned.guards = GUARDED | {"landlock": 0}
    monkeypatch.setattr(canned, "assess", lambda _: pytest.fail(caplog.text))
    with pytest.raises(pytest.fail.Exception, match="Caution: on this system"):
        grade([write_notebook(tmp_path / "ada" / "01_lookup.ipynb", [])], tmp_path / "out")


@pytest.mark.skipif(sys.platform != "linux", reason="no other system is guarded")
def test_what_is_not_bounded_is_said_before_anything_runs(
    canned: Canned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    unbounded = GUARDED | {"own_disk": False, "cgroup": False}
    assert not only_watched(GUARDED) and not only_watched(unbounded | {"container": "podman"})
    assert "the total disk space of an answer" in only_watched(unbounded | {"cgroup": True})
    canned.guards = unbounded
    monkeypatch.setattr(canned, "assess", lambda _: pytest.fail(caplog.text))
    with pytest.raises(pytest.fail.Exception, match="cannot limit the total memory and disk space of an answer"):
        grade([write_notebook(tmp_path / "ada" / "01_lookup.ipynb", [])], tmp_path / "out")


def test_nothing_else_is_ever_overwritten(tmp_path: Path):
    path = write_notebook(tmp_path / "ada" / "01_lookup.ipynb", [])
    with pytest.raises(ValueError, match="ada contains something other than the results of an earlier run"):
        grade([path], path.parent)
    with pytest.raises(ValueError, match=r"01_lookup\.ipynb is a file"):
        grade([path], path)
    assert [p.name for p in path.parent.iterdir()] == ["01_lookup.ipynb"]


def says_that_no_sandbox_starts(connection: Connection, *_: object) -> None:
    connection.send("the sandbox does not start: it says nothing")


def test_a_sandbox_that_does_not_start_leaves_no_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("transformer_course.grading.judging.worker.serve", says_that_no_sandbox_starts)
    with pytest.raises(SandboxError, match="says nothing"):
        grade([write_notebook(tmp_path / "ada" / "01_lookup.ipynb", [])], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def handed_in_at(path: Path, time: datetime, source: str = "right") -> None:
    write_notebook(path, cells({}, others=[source]))
    os.utime(path, (time.timestamp(), time.timestamp()))


def test_what_the_instructor_sets_holds_for_later_gradings(canned: Canned, tmp_path: Path):
    late, due = datetime(2026, 10, 13, 9, tzinfo=UTC), datetime(2026, 10, 12, tzinfo=UTC)
    names = {"ada": "lovelaceada_12345_111_01_lookup.ipynb", "eve": "eve_99999_222_01_lookup.ipynb"}
    for i, file in enumerate(names.values()):  # times close together would be those of the download
        handed_in_at(tmp_path / "class" / file, late + timedelta(hours=i))
    (tmp_path / "roster.csv").write_text("id,name\n12345,Ada Lovelace\n12346,Ben\n")
    out, policy = tmp_path / "out", LatePolicy({"": due}, penalty=10)
    text = grade([tmp_path / "class"], out, RuleChanges(roster=tmp_path / "roster.csv", late_policy=policy))
    assert "1 student in the roster submitted nothing" in text and "eve is not in the roster." in text
    n_graded = len(canned.graded)
    (out / "overrides.csv").write_text("student,exercise,points,comment\n12345,softmax,0,Seen in class.\n")
    os.utime(tmp_path / "class" / names["eve"], (due.timestamp(), due.timestamp()))  # it was in time
    grade([tmp_path / "class" / names["eve"]], out)
    book = pd.read_csv(out / "gradebook.csv", index_col="student")
    assert len(canned.graded) == n_graded and list(book.index) == ["Ada Lovelace", "Ben", "eve"]
    softmax = next(e.points for e in exercises_of("01_lookup") if e.name == "softmax")
    assert list(book["points"]) == [CORE["01_lookup"] - softmax, 0, CORE["01_lookup"]]
    assert list(book["points after lateness"]) == pytest.approx([0.8 * book["points"].iloc[0], 0, CORE["01_lookup"]])
    assert list(book["status"]) == ["graded", "nothing submitted", "graded"]
    grade([tmp_path / "class"], out, run=RunOptions(fresh=True))
    assert pd.read_csv(out / "gradebook.csv", index_col="student").loc["Ada Lovelace", "01_lookup: softmax"] == 0


def test_settings_that_are_not_given_again_hold_and_a_cut_file_is_no_loss(canned: Canned, tmp_path: Path):
    write_notebook(tmp_path / "class" / "ada" / "01_lookup.ipynb", cells({}, others=["right"]))
    out, due = tmp_path / "out", datetime(2026, 10, 12, 18, tzinfo=UTC)
    policy = LatePolicy({"": due, "01_lookup": due}, 10, 15)
    grade([tmp_path / "class"], out, RuleChanges(lessons=["01_lookup"], late_policy=policy, partial_credit=True))
    n = len(canned.graded)
    (out / "results.json").write_text('{"kind": "transf')
    text = grade([tmp_path / "class"], out, RuleChanges(late_policy=policy.changed({"": due}, None, None)))
    at = f"{due.astimezone():%Y-%m-%d %H:%M}"
    rules = f"only 01_lookup; lessons due {at}; 01_lookup due {at}; 10 % off for each day late; 15 minutes of grace"
    assert f"Rules: {rules}; partial credit." in text and len(canned.graded) == n
    assert results(out)["students"]["ada"]["points"] == CORE["01_lookup"]


@pytest.mark.usefixtures("canned")
def test_a_zip_of_somebody_in_the_roster_is_theirs_whatever_is_in_it(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "eve.zip", "w") as archive:
        archive.write(write_notebook(tmp_path / "x.ipynb", cells({}, others=["right"])), "alice/01_lookup.ipynb")
    (tmp_path / "roster.csv").write_text("id\nalice\neve\n")
    grade([tmp_path / "eve.zip"], tmp_path / "out", RuleChanges(roster=tmp_path / "roster.csv"))
    assert rows(tmp_path / "out") == {"alice": 0, "eve": CORE["01_lookup"]}


def again(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [line for line in caplog.messages if line.startswith("Grading ")]


@pytest.mark.usefixtures("canned")
def test_who_is_graded_again_because_of_other_limits_is_told_which_hold(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    out = tmp_path / "out"
    for student in ("ada", "ben"):
        write_notebook(tmp_path / "class" / student / "01_lookup.ipynb", cells({}))
    grade([tmp_path / "class"], out, run=RunOptions(limits=Limits(seconds=60.0)))
    grade([tmp_path / "class"], out, run=RunOptions(limits=Limits(seconds=60.0)))
    assert not again(caplog)
    grade([tmp_path / "class" / "ada"], out)
    limits = "limits: 10 s and 2048 MB now, 60 s and 2048 MB last time"
    one = f"Grading 1 student again, because settings have changed ({limits})."
    assert again(caplog) == [one]
    grade([tmp_path / "class"], out)  # whose limits differ is only ben, whatever was graded last
    assert again(caplog) == [one, one] and results(out)["limits"]["seconds"] == 10.0
    grade([tmp_path / "class"], out, run=RunOptions(limits=Limits(seconds=60.0), fresh=True))
    assert again(caplog) == [one, one]


@pytest.mark.usefixtures("canned")
def test_what_calls_cost_is_told_in_words_there_and_back(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    write_notebook(tmp_path / "class" / "ada" / "01_lookup.ipynb", cells({}))
    grade([tmp_path / "class"], tmp_path / "out")
    text = grade([tmp_path / "class"], tmp_path / "out", RuleChanges(library_calls="none"))
    assert "Rules: no points for answers that call the function to implement." in text
    grade([tmp_path / "class"], tmp_path / "out", RuleChanges(library_calls="remark"))
    one = "Grading 1 student again, because settings have changed (library calls: {} now, {} last time)."
    assert again(caplog) == [one.format("none", "remark"), one.format("remark", "none")]


@pytest.mark.usefixtures("canned")
def test_what_an_answer_calls_is_kept_with_the_results_and_told_on_every_page(tmp_path: Path):
    calls = "def softmax(scores): return torch.softmax(scores, -1)"
    write_notebook(tmp_path / "ada" / "01_lookup.ipynb", cells({"softmax": calls}))
    grade([tmp_path], tmp_path / "out")
    assert results(tmp_path / "out")["students"]["ada"]["notebooks"][0]["notes"] == ["softmax calls torch.softmax."]
    assert "softmax calls torch.softmax." in (tmp_path / "out" / "class.html").read_text("utf-8")
    assert "it calls torch.softmax." in (tmp_path / "out" / "feedback" / "ada.html").read_text("utf-8")


@pytest.mark.usefixtures("canned")
def test_two_people_of_one_name_in_moodle_are_two_rows_and_both_get_their_marks(tmp_path: Path):
    folder = "Anna Müller_{}_assignsubmission_file_"
    for number, source in (("900001", "right"), ("900002", "other")):
        path = tmp_path / "class" / folder.format(number) / "01_lookup.ipynb"
        write_notebook(path, cells({}, others=[source]))
    worksheet = tmp_path / "worksheet.csv"
    rows_of = [f"Participant 90000{n},Anna Müller,anna{n}@uni.edu,,\n" for n in (1, 2)]
    worksheet.write_text("Identifier,Full name,Email address,Grade,Feedback comments\n" + "".join(rows_of), "utf-8")
    text = grade([tmp_path / "class"], tmp_path / "out", RuleChanges(roster=worksheet))
    assert "submitted nothing" not in text and "not in the roster" not in text
    assert rows(tmp_path / "out") == {"Anna Müller (900001)": CORE["01_lookup"], "Anna Müller (900002)": 0}
    filled = merge_into_moodle(worksheet, read_results(tmp_path / "out"))
    grades = [row["Grade"] for row in csv.DictReader(io.StringIO(filled.content.decode(), newline=""))]
    assert grades == [str(CORE["01_lookup"]), "0"]


@pytest.mark.usefixtures("canned")
def test_the_gradebook_of_canvas_is_a_roster_and_everybody_in_it_has_one_row(tmp_path: Path):
    write_notebook(tmp_path / "class" / "lovelaceada_12345_678_01_lookup.ipynb", cells({}, others=["right"]))
    (tmp_path / "class" / "neilben_12346_679_01_lookup.html").write_text("<html>")
    write_notebook(tmp_path / "class" / "euler_12347_680_02_scaling.ipynb", cells({}, "02_scaling"))
    book = tmp_path / "canvas.csv"
    people = [("Lovelace, Ada", 12345), ("Neil, Ben", 12346), ("Euler, Leo", 12347), ("Gauss, Carl", 12348)]
    listed = [f'"{name}",{number},,,1,\n' for name, number in [*people, ("Student, Test", 99)]]
    titles = "Student,ID,SIS User ID,SIS Login ID,Section,Lab (1)\n    Points Possible,,,,,10\n"
    book.write_text(titles + "".join(listed))
    text = grade([tmp_path / "class"], tmp_path / "out", RuleChanges(roster=book, lessons=["01_lookup"]))
    table = pd.read_csv(tmp_path / "out" / "gradebook.csv", index_col="student", keep_default_na=False)
    assert dict(table["status"]) == {
        "Euler, Leo": "could not be graded",
        "Gauss, Carl": "nothing submitted",
        "Lovelace, Ada": "graded",
        "Neil, Ben": "could not be graded",
    }
    assert "1 student in the roster submitted nothing: Gauss, Carl." in text and set(table["of"]) == {CORE["01_lookup"]}
    assert "neilben_12346_679_01_lookup.html: This is not a notebook (.html)" in str(table.loc["Neil, Ben", "remarks"])


@pytest.mark.usefixtures("canned")
def test_lateness_in_moodle_follows_its_worksheet(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """As the roster in the first week, and as --worksheet in any other; no notebook is graded again for that."""
    for name, number in (("Ada", 11), ("Ben", 12), ("Cleo", 13)):
        path = tmp_path / "class" / f"{name}_{number}_assignsubmission_file_" / "01_lookup.ipynb"
        write_notebook(path, cells({}, others=[f"right {name}"]))
    worksheet, other = tmp_path / "Grades-Week 1.csv", tmp_path / "Grades-Week 2.csv"
    titles = "Identifier,Full name,Grade,Maximum Grade,Last modified (submission)\n"
    times = ["Monday, 12 October 2026, 5:00 PM", "Tuesday, 13 October 2026, 7:00 PM", "-"]
    lines = [f'Participant {11 + n},{["Ada", "Ben", "Cleo"][n]},,10,"{time}"\n' for n, time in enumerate(times)]
    worksheet.write_text(titles + "".join(lines))
    other.write_text((titles + "".join(lines)).replace("Participant 1", "Participant 7"))
    zone = ZoneInfo("Europe/Berlin")
    policy = LatePolicy(parse_due(["2026-10-12T18:00"], zone), penalty=10, zone=zone)
    text = grade([tmp_path / "class"], tmp_path / "out", RuleChanges(late_policy=policy))
    assert "Ada, Ben and Cleo (all files have the time of the download). Grade again with --worksheet" in text
    grade([tmp_path / "class"], tmp_path / "out", run=RunOptions(worksheets=[other]))
    assert "Grades-Week 2.csv is the worksheet of another assignment" in caplog.text
    text = grade([tmp_path / "class"], tmp_path / "out", run=RunOptions(worksheets=[worksheet]))
    assert "Grades-Week 1.csv: submission times of 2 of 3 students from Moodle." in caplog.text
    assert "  Ben: 10 of 10 points and 2 bonus, 8 after lateness" in text.splitlines()
    assert "lateness: Cleo (Moodle's grading worksheet has no time for it)." in text
    table = pd.read_csv(tmp_path / "out" / "gradebook.csv", index_col="student")
    assert table.loc["Ben", "submitted"] == "01_lookup: 2026-10-13 19:00 (Moodle's grading worksheet)."
    assert list(table["points after lateness"]) == [10, 8, 10]
    as_roster = RuleChanges(late_policy=policy, roster=worksheet)
    assert "  Ben: 10 of 10 points and 2 bonus, 8 after lateness" in grade(
        [tmp_path / "class"], tmp_path / "second", as_roster
    )


@pytest.mark.usefixtures("canned")
def test_message_about_a_pdf_reaches_the_feedback_of_its_week(tmp_path: Path):
    folder = "{}_{}_assignsubmission_file_"
    titles, weeks = "Identifier,Full name,Grade,Feedback comments\n", {}
    for week, lesson in enumerate(CORE, 1):
        weeks[week] = tmp_path / f"week {week}.csv"
        weeks[week].write_text(titles + "".join(f"Participant {week}{n},{name},,\n" for n, name in enumerate("ABC")))
        for n, name in enumerate("ABC" if week == 1 else "AB"):
            path = tmp_path / f"week {week}" / folder.format(name, f"{week}{n}") / f"{lesson}.ipynb"
            write_notebook(path, cells({}, lesson, others=[f"right {name}"]))
    pdf = tmp_path / "week 2" / folder.format("C", "22") / "homework.pdf"
    pdf.parent.mkdir()
    pdf.write_bytes(b"%PDF")
    grade([tmp_path / "week 1", tmp_path / "week 2"], tmp_path / "out", RuleChanges(roster=weeks[1]))
    results = read_results(tmp_path / "out")
    pages = {}
    for week, lesson in enumerate(CORE, 1):
        table = merge_into_moodle(weeks[week], results, lesson=lesson)
        content, n = moodle_feedback({**table.found, **table.not_graded}, lesson)
        assert n == 3 and len(table.found) == 4 - week
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            pages[week] = archive.read(f"C_{week}2_assignsubmission_file_/feedback.html").decode()
    assert "homework.pdf could not be graded" in pages[2] and "Not submitted" not in pages[2]
    assert "homework.pdf" not in pages[1]
    assert results.without_submission == {}
