import contextlib
import io
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.transformer_course.grading.canned_worker import CORE, Canned, results, rows
from tests.transformer_course.sandbox.sample_submissions import RIGHT, cells, write_notebook
from transformer_course.checking import mistake_recognition
from transformer_course.exercises import every_exercise, exercises_of
from transformer_course.grading.grade import grade
from transformer_course.grading.judging.assess import assess_exercise
from transformer_course.grading.judging.graded_results import GradedExercise
from transformer_course.grading.judging.worker import Task
from transformer_course.grading.reports.class_report import rewrite_report
from transformer_course.grading.rules.class_rules import RuleChanges
from transformer_course.grading.rules.own_exercises import read_own_exercises
from transformer_course.grading.rules.settings import RunOptions
from transformer_course.sandbox.interpreter import SandboxError
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Sandbox

STRETCH = {lesson: sum(e.points for e in exercises_of(lesson) if e.stretch) for lesson in CORE}
MISTAKEN = {**RIGHT, "softmax": "def softmax(scores): return torch.softmax(scores, dim=0)"}
EXITS = {"similarity": "import os\ndef similarity(query, keys): os._exit(3)"}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of grading a class with right, wrong, hostile and damaged submissions."""
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
    """A worker that runs in this process, because starting a process and a sandbox takes seconds."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox, self.guards = sandbox, sandbox.guards

    def assess(self, task: Task) -> GradedExercise:
        return assess_exercise(task.submission, every_exercise()[task.name], self.sandbox, task.seed, task.choice)

    def kill(self) -> None: ...


def statuses(out: Path, student: str, notebook: int = 0) -> dict[str, str]:
    return {
        result["exercise"]: result["status"]
        for result in results(out)["students"][student]["notebooks"][notebook]["exercises"]
    }


@pytest.mark.slow
def test_gradebook_contains_one_row_per_student(graded: Path):
    book = pd.read_csv(graded / "gradebook.csv", index_col="student")
    assert list(book.index) == ["<b>eve", "'=cmd", "ada", "ben"]
    assert book.loc["ada", "points"] == sum(CORE.values()) and book.loc["ada", "bonus"] == sum(STRETCH.values())
    assert (book["of"] == sum(CORE.values())).all()
    softmax = next(e.points for e in exercises_of("01_lookup") if e.name == "softmax")
    assert book.loc["ben", "points"] == CORE["01_lookup"] - softmax
    assert book.loc["ben", "01_lookup: softmax"] == 0 and book.loc["ben", "02_scaling: score_variance"] == 0
    assert book.loc["<b>eve", "points"] == 0
    assert "damaged" in str(book.loc["'=cmd", "remarks"])


def test_every_status_has_a_reason(graded: Path):
    assert set(statuses(graded, "ada", 0).values()) == set(statuses(graded, "ada", 1).values()) == {"passed"}
    assert statuses(graded, "ben", 1)["softmax"] == "mistake"
    assert set(statuses(graded, "ben", 0).values()) == {"not_started"}
    eve = statuses(graded, "<b>eve")
    assert eve.pop("similarity") == "crashed" and set(eve.values()) == {"not_started"}


def test_every_student_gets_an_escaped_page_with_hints(graded: Path):
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
        [
            (exercise["status"], exercise["mistakes"], exercise["message"], exercise["points"])
            for exercise in notebook["exercises"]
        ]
        for student in results(out)["students"].values()
        for notebook in student["notebooks"]
    ]


def test_same_seed_produces_the_same_results(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    in_this_process = InThisProcess(sandbox)
    monkeypatch.setattr("transformer_course.grading.grade.Worker", lambda *_: contextlib.nullcontext(in_this_process))
    monkeypatch.setattr(mistake_recognition, "MAX_PAIRS", 0)  # the search for pairs of mistakes takes seconds
    wrong = {
        "softmax": RIGHT["softmax"],
        "similarity": "def similarity(query, keys): return keys @ query + (len(query) > 4)",
    }
    path = write_notebook(tmp_path / "ada" / "01_lookup.ipynb", cells(wrong))
    for seed, out in ((7, "one"), (7, "two"), (8, "three")):
        grade([path], tmp_path / out, run=RunOptions(seed=seed))
    first, second, third = (verdicts(tmp_path / out) for out in ("one", "two", "three"))
    assert first == second != third  # the messages contain numbers from the cases
    assert results(tmp_path / "one")["seed"] == 7


@pytest.mark.usefixtures("canned")
def test_every_results_folder_gets_a_new_seed(graded: Path, tmp_path: Path):
    path = tmp_path / "01_lookup.ipynb"
    path.touch()
    grade([path], tmp_path / "out")
    assert results(tmp_path / "out")["seed"] != results(graded)["seed"]


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


def test_does_not_regrade_unchanged_submissions(canned: Canned, tmp_path: Path):
    write_notebook(tmp_path / "class" / "ada" / "01_lookup.ipynb", cells({}, others=["right"]))
    grade([tmp_path / "class"], tmp_path / "out")
    before = results(tmp_path / "out")["students"]
    canned.graded.clear()
    grade([tmp_path / "class"], tmp_path / "out")
    assert not canned.graded and results(tmp_path / "out")["students"] == before
    grade([tmp_path / "class"], tmp_path / "out", run=RunOptions(limits=Limits(seconds=5.0)))
    assert len(canned.graded) == len(exercises_of("01_lookup"))


@pytest.mark.parametrize("order", [("w1", "w2"), ("w2", "w1"), ("w1", "w2", "w1")])
@pytest.mark.parametrize("selects_lesson", [False, True])
@pytest.mark.usefixtures("canned")
def test_grading_second_lesson_keeps_first_results(tmp_path: Path, order: tuple[str, ...], selects_lesson: bool):
    lessons, out = {"w1": "01_lookup", "w2": "02_scaling"}, tmp_path / "out"
    for week, students in {"w1": ["ada", "ben", "cleo"], "w2": ["ada", "ben"]}.items():
        for student in students:
            right = cells({}, lessons[week], others=["right"])
            write_notebook(tmp_path / week / student / f"{lessons[week]}.ipynb", right)
    for week in order:
        grade([tmp_path / week], out, RuleChanges(lessons=[lessons[week]] if selects_lesson else []))
    both = sum(CORE.values())
    assert rows(out) == {"ada": both, "ben": both, "cleo": CORE["01_lookup"]}


def test_resubmission_with_fewer_points_counts_only_on_request(canned: Canned, tmp_path: Path):
    path = write_notebook(tmp_path / "class" / "ada" / "01_lookup.ipynb", cells({}, others=["right"]))
    grade([tmp_path / "class"], tmp_path / "out")
    write_notebook(path, cells({}, others=["a mistake"]))
    text = grade([tmp_path / "class"], tmp_path / "out")
    assert rows(tmp_path / "out") == {"ada": CORE["01_lookup"]}
    assert "ada: 01_lookup: an earlier result counts, because the latest result would lower similarity 1 → 0" in text
    canned.graded.clear()
    assert "would lower" in grade([tmp_path / "class"], tmp_path / "out") and not canned.graded
    text = grade([tmp_path / "class"], tmp_path / "out", run=RunOptions(count_latest=True))
    assert rows(tmp_path / "out") == {"ada": 0} and "similarity 1 → 0" in text and not canned.graded


@pytest.mark.usefixtures("canned")
def test_unreadable_file_keeps_the_earlier_result(tmp_path: Path):
    for student in ("ada", "ben"):
        write_notebook(tmp_path / "class" / student / "01_lookup.ipynb", cells({}, others=["right"]))
    grade([tmp_path / "class"], tmp_path / "out")
    (tmp_path / "class" / "ada" / "01_lookup.ipynb").rename(tmp_path / "class" / "ada" / "01_lookup.pdf")
    assert "ada: 01_lookup: an earlier result counts" in grade([tmp_path / "class"], tmp_path / "out")
    assert rows(tmp_path / "out") == {"ada": CORE["01_lookup"], "ben": CORE["01_lookup"]}


@pytest.mark.usefixtures("canned")
def test_regrades_class_folder_mistaken_for_student(tmp_path: Path):
    for path, text in {"01_lookup.ipynb": "right", "ada/01_lookup.ipynb": "no", "ben/01_lookup.ipynb": "right"}.items():
        write_notebook(tmp_path / "class" / path, cells({}, others=[text]))
    grade([tmp_path / "class"], tmp_path / "out")
    write_notebook(tmp_path / "class" / "ada" / "01_lookup.ipynb", cells({}, others=["right"]))
    grade([tmp_path / "class"], tmp_path / "out")
    assert rows(tmp_path / "out") == dict.fromkeys(["ada", "ben", "class"], CORE["01_lookup"])


@pytest.mark.usefixtures("canned")
def test_fresh_option_deletes_earlier_results(tmp_path: Path):
    for student in ("ada", "ben"):
        write_notebook(tmp_path / "class" / student / "01_lookup.ipynb", [])
    grade([tmp_path / "class"], tmp_path / "out", run=RunOptions(seed=7))
    with pytest.raises(
        ValueError, match="was graded with seed 7; to grade with seed 8, choose a different folder or add --fresh"
    ):
        grade([tmp_path / "class"], tmp_path / "out", run=RunOptions(seed=8))
    grade([tmp_path / "class" / "ada"], tmp_path / "out", run=RunOptions(seed=8, fresh=True))
    assert rows(tmp_path / "out") == {"ada": 0} and results(tmp_path / "out")["seed"] == 8


@pytest.mark.parametrize("end", [KeyboardInterrupt, SandboxError])
def test_interrupted_grading_keeps_finished_results(
    canned: Canned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: type[BaseException]
):
    for student in ("ada", "ben", "cleo"):
        write_notebook(tmp_path / "class" / student / "01_lookup.ipynb", cells({}, others=["right"]))
    original = canned.assess

    def stop_at_ben(task: Task) -> GradedExercise:
        if task.submission.student == "ben":
            raise end
        return original(task)

    monkeypatch.setattr(canned, "assess", stop_at_ben)
    with pytest.raises(end):
        grade([tmp_path / "class"], tmp_path / "out")
    kept = set(rows(tmp_path / "out"))
    assert "ada" in kept and "ben" not in kept
    monkeypatch.setattr(canned, "assess", original)
    canned.graded.clear()
    grade([tmp_path / "class"], tmp_path / "out")
    assert {student for student, _ in canned.graded} == {"ada", "ben", "cleo"} - kept
    assert len(set(rows(tmp_path / "out").values())) == 1


def test_reports_unwritable_folder_before_grading(canned: Canned, tmp_path: Path):
    path = write_notebook(tmp_path / "ada" / "01_lookup.ipynb", [])
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        grade([path], tmp_path / "file" / "out")
    assert not canned.graded


@pytest.mark.usefixtures("canned")
def test_writes_every_file_atomically(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_file: Path):
    """Write each file under a temporary name first, so that a full disk does not result in an empty table."""
    opened: list[Path] = []

    def recording_open(path: object, mode: str = "r", *rest: Any, **options: Any) -> Any:
        if isinstance(path, str | Path) and tmp_path in Path(path).parents and mode.strip("bt") != "r":
            opened.append(Path(path))
        return original(path, mode, *rest, **options)

    original = io.open
    write_notebook(tmp_path / "class" / "ada" / "01_lookup.ipynb", cells(RIGHT))
    (tmp_path / "people.csv").write_text("id,name\nada,Ada\n")
    monkeypatch.setattr("io.open", recording_open)
    monkeypatch.setattr("builtins.open", recording_open)
    out = tmp_path / "out"
    changes = RuleChanges(roster=tmp_path / "people.csv", own=read_own_exercises(out, own_file))
    grade([tmp_path / "class"], out, changes)
    rewrite_report(out)
    names = {path.name.removesuffix(".unfinished") for path in opened}
    assert names >= {"overrides.csv", "extensions.csv", "roster.csv", "gradebook.csv", "class.html", "week_3.py"}
    assert [path for path in opened if path.suffix != ".unfinished"] == []
    assert {path.name for path in out.rglob("*") if path.is_file()} == names


@pytest.mark.usefixtures("canned")
def test_grades_only_requested_lessons_and_lists_everyone(tmp_path: Path):
    write_notebook(tmp_path / "ada" / "01_lookup.ipynb", cells({"softmax": RIGHT["softmax"]}))
    write_notebook(tmp_path / "eve" / "02_scaling.ipynb", [])
    text = grade([tmp_path], tmp_path / "out", RuleChanges(lessons=["01_lookup"]), RunOptions(seed=7))
    assert f"eve: 0 of {CORE['01_lookup']} points" in text and "Rules: only 01_lookup." in text
    other = "02_scaling.ipynb: This is a notebook for 02_scaling, which is not graded here."
    assert other in text and "Not submitted." in (tmp_path / "out" / "feedback" / "eve.html").read_text("utf-8")
    book = pd.read_csv(tmp_path / "out" / "gradebook.csv", index_col="student")
    assert book.loc["eve", "status"] == "could not be graded" and other in str(book.loc["eve", "remarks"])
    assert "Rules: only 01_lookup." in grade([tmp_path / "ada"], tmp_path / "out")
    text = grade([tmp_path / "ada", tmp_path / "eve"], tmp_path / "out", RuleChanges(lessons=["all"]))
    assert f"eve: 0 of {sum(CORE.values())} points" in text and "Rules: all lessons." in text


@pytest.mark.usefixtures("canned")
def test_lesson_all_counts_lesson_submitted_by_one_student(tmp_path: Path):
    for student in ("ada", "ben", "eve"):
        write_notebook(tmp_path / "class" / student / "01_lookup.ipynb", cells({}, others=["right"]))
    write_notebook(tmp_path / "class" / "eve" / "04_masks.ipynb", cells({}, "04_masks", others=["right"]))
    text = grade([tmp_path / "class"], tmp_path / "out")
    assert "04_masks does not count, because only 1 of 3 students submitted it" in text
    text = grade([tmp_path / "class"], tmp_path / "out", RuleChanges(lessons=["all"]))
    masks = sum(exercise.points for exercise in exercises_of("04_masks") if not exercise.stretch)
    assert rows(tmp_path / "out") == {
        **dict.fromkeys(("ada", "ben"), CORE["01_lookup"]),
        "eve": CORE["01_lookup"] + masks,
    }
    assert "does not count" not in text and "not graded here" not in text
    assert "Rules: all lessons." in grade([tmp_path / "class" / "ada"], tmp_path / "out")


def test_never_overwrites_unrelated_files(tmp_path: Path):
    path = write_notebook(tmp_path / "ada" / "01_lookup.ipynb", [])
    with pytest.raises(ValueError, match="ada contains files that are not results of an earlier run"):
        grade([path], path.parent)
    with pytest.raises(ValueError, match=r"01_lookup\.ipynb is a file"):
        grade([path], path)
    assert [p.name for p in path.parent.iterdir()] == ["01_lookup.ipynb"]


def serve_without_sandbox(connection: Connection, *_: object) -> None:
    connection.send("could not start the sandbox: no output")


def test_failing_sandbox_leaves_no_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("transformer_course.grading.judging.worker.serve", serve_without_sandbox)
    with pytest.raises(SandboxError, match="no output"):
        grade([write_notebook(tmp_path / "ada" / "01_lookup.ipynb", [])], tmp_path / "out")
    assert not (tmp_path / "out").exists()
