"""Test that the real nbgrader, in a separate environment, can generate, validate and grade lessons."""

import os
import site
import subprocess
import sys
import venv
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from notebooks.build import FOLDER, build, lessons, nbgrader_metadata, read_source
from transformer_course.exercises import LESSONS, exercises_of

ROOT = Path(__file__).parents[2]
LESSON = "01_lookup"
PYTHON = "TRANSFORMER_LAB_NBGRADER"
"""Environment variable with the path of a Python that has nbgrader. By default, the test creates an environment."""


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_is_one_test_with_its_points(lesson: str):
    for book in (read_source(FOLDER / "source" / f"{lesson}.py"), nbformat.read(FOLDER / f"{lesson}.ipynb", 4)):
        metadata = {cell.id: cell.metadata.get("nbgrader", {}) for cell in book.cells}
        assert metadata == {cell.id: nbgrader_metadata(lesson, cell.id).get("nbgrader", {}) for cell in book.cells}
        points = {name: entry["points"] for name, entry in metadata.items() if entry}
        assert points == {f"check-{e.name}": 0 if e.stretch else e.points for e in exercises_of(lesson)}
        assert all(entry["grade_id"] == name and entry["locked"] for name, entry in metadata.items() if entry)


def test_lessons_without_exercises_have_no_points():
    others = set(lessons()) - {*LESSONS}
    assert others and not any(nbgrader_metadata(name, "check-softmax") for name in others)


def test_build_updates_metadata_without_running_cells(tmp_path: Path):
    (tmp_path / "source").symlink_to(FOLDER / "source")
    stored = (FOLDER / f"{LESSON}.ipynb").read_text("utf-8")
    book = nbformat.reads(stored, 4)
    for cell in book.cells:
        cell.metadata.pop("nbgrader", None)
    nbformat.write(book, tmp_path / f"{LESSON}.ipynb")
    assert build(LESSON, folder=tmp_path, run=False)
    assert (tmp_path / f"{LESSON}.ipynb").read_text("utf-8") == stored


@pytest.fixture(scope="module")
def nbgrader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of a Python with nbgrader and all packages of the current environment."""
    if PYTHON in os.environ:
        return Path(os.environ[PYTHON])
    folder = tmp_path_factory.mktemp("nbgrader")
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    installed = subprocess.run([python, "-m", "pip", "install", "-q", "nbgrader"], capture_output=True, text=True)
    if installed.returncode:
        pytest.skip(f"nbgrader cannot be installed: {installed.stderr.strip().splitlines()[-1]}")
    find = "import site; print(site.getsitepackages()[0])"
    packages = subprocess.run([python, "-c", find], capture_output=True, text=True, check=True).stdout.strip()
    # Packages installed in the new environment take precedence over the linked packages.
    Path(packages, "zz_others.pth").write_text("\n".join(site.getsitepackages()))
    return python


def run(python: Path, folder: Path, *arguments: str) -> str:
    """Run an nbgrader command in an instructor's folder, and return its output."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("TRANSFORMER_LAB")}
    environment = {**variables, "PYTHONPATH": str(ROOT), "HOME": str(folder), "JUPYTER_PLATFORM_DIRS": "0"}
    # nbgrader calls other programs in its environment.
    environment["PATH"] = os.pathsep.join([str(python.parent), variables["PATH"]])
    environment |= {"OMP_NUM_THREADS": "1", "TRANSFORMER_LAB_PARTS": ""}
    command = [python, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def solved(book: nbformat.NotebookNode, **replaced: str) -> nbformat.NotebookNode:
    """Fill in a released lesson with right answers, except the given answers."""
    answers = {exercise.name: exercise.solution for exercise in exercises_of(LESSON)} | replaced
    for cell in book.cells:
        cell.source = answers.get(cell.id, cell.source)
    return book


@pytest.mark.thorough
def test_lesson_passes_through_nbgrader(nbgrader: Path, tmp_path: Path):
    (tmp_path / "nbgrader_config.py").write_text(
        'c = get_config()\nc.CourseDirectory.course_id = "lab"\nc.ExecutePreprocessor.timeout = 600\n'
    )
    file = f"{LESSON}.ipynb"
    for folder in ("source/lookup", "submitted/ada/lookup", "submitted/ben/lookup"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "source" / "lookup" / file).write_bytes((FOLDER / file).read_bytes())
    run(nbgrader, tmp_path, "generate_assignment", "lookup")
    released = tmp_path / "release" / "lookup" / file
    stored = {cell.id: cell.source for cell in nbformat.read(FOLDER / file, 4).cells}
    assert {cell.id: cell.source for cell in nbformat.read(released, 4).cells} == stored
    wrong = "def softmax(scores):\n    return torch.softmax(scores, dim=0)"
    for student, replaced in {"ada": {}, "ben": {"softmax": wrong}}.items():
        book = solved(nbformat.read(released, 4), **replaced)
        nbformat.write(book, tmp_path / "submitted" / student / "lookup" / file)
    assert "Success" in run(nbgrader, tmp_path, "validate", f"submitted/ada/lookup/{file}")
    assert "failed" in run(nbgrader, tmp_path, "validate", f"submitted/ben/lookup/{file}")
    run(nbgrader, tmp_path, "autograde", "lookup", "--create")
    run(nbgrader, tmp_path, "generate_feedback", "lookup")
    run(nbgrader, tmp_path, "export")
    scores = pd.read_csv(tmp_path / "grades.csv").set_index("student_id")
    full = sum(exercise.points for exercise in exercises_of(LESSON) if not exercise.stretch)
    softmax = next(exercise.points for exercise in exercises_of(LESSON) if exercise.name == "softmax")
    assert list(scores["max_score"]) == [full, full]
    assert dict(scores["score"]) == {"ada": full, "ben": full - softmax}
    page = (tmp_path / "feedback" / "ben" / "lookup" / f"{LESSON}.html").read_text("utf-8")
    assert "NotPassed" in page
