"""Measure the time it takes to grade a class.

Run ``python -m benchmarks.grading``; README.md explains the table.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import pandas as pd
from nbformat.v4 import new_code_cell, new_notebook

from transformer_course.exercises import exercises_of

ROOT = Path(__file__).parents[1]
LESSON = "01_lookup"
IMPORTS = """\
import os, time, math, torch
from torch import Tensor
from jaxtyping import Float
from transformer_course import check"""
HOSTILE = (
    "while True: pass",
    "time.sleep(600)",
    "while True: os.fork()",
    "for i in range(400_000): open(str(i), 'w').close()",
    "x = []\n    while True: x.append(bytearray(1 << 24))",
)
"""The bodies of hostile functions; each hostile notebook uses one body in all exercises."""
COLUMN_WIDTH = 9


def write_class(folder: Path, n: int, hostile_fraction: float) -> None:
    """Write notebooks for n students. A fraction contains hostile code; all others contain correct answers."""
    n_hostile = round(n * hostile_fraction)
    for i in range(n):
        bodies = {e.name: e.solution for e in exercises_of(LESSON)}
        if i < n_hostile:
            bodies = {name: f"def {name}(*inputs):\n    {HOSTILE[i % len(HOSTILE)]}" for name in bodies}
        (folder / f"student-{i}").mkdir()
        nbformat.write(notebook(bodies), folder / f"student-{i}" / f"{LESSON}.ipynb")


def notebook(bodies: Mapping[str, str]) -> nbformat.NotebookNode:
    """Return a notebook with answers and their checks, with nbgrader's metadata for tests."""
    stored = nbformat.read(ROOT / "notebooks" / f"{LESSON}.ipynb", as_version=4)
    metadata_of = {cell.id: cell.metadata for cell in stored.cells}
    cells = [new_code_cell(IMPORTS, id="imports")]
    for name, body in bodies.items():
        metadata = metadata_of[f"check-{name}"]
        cells.append(new_code_cell(body, id=name))
        cells.append(new_code_cell(f"check({name})", id=f"check-{name}", metadata=metadata))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def timed(command: Sequence[str | Path], folder: Path, **environment: str) -> tuple[float, float]:
    """Run a command; return its wall-clock seconds and the CPU seconds of the command and its child processes.

    Raises:
        RuntimeError: The command failed; the error contains the end of its standard error.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **environment}
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise RuntimeError(f"{command} failed: {done.stderr[-2000:]}")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(n: int, jobs: int, hostile_fraction: float, seconds: float) -> dict[str, object]:
    """Grade a class with the command that an instructor runs, and return the class's row of the table."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "class").mkdir()
        write_class(folder / "class", n, hostile_fraction)
        command = [
            sys.executable,
            "-m",
            "transformer_course.commands",
            "grade",
            "class",
            "-o",
            "out",
            "--lesson",
            LESSON,
        ]
        wall_s, cpu_s = timed([*command, "--seed", "7", "--seconds", str(seconds), "--jobs", str(jobs)], folder)
        results = json.loads((folder / "out" / "results.json").read_text("utf-8"))
        points = [student["points"] for student in results["students"].values()]
    all_points = sum(own == results["of"] for own in points)
    return table_row("ours", n, jobs, round(n * hostile_fraction), all_points, wall_s, cpu_s)


def row_of_nbgrader(n: int, python: Path) -> dict[str, object]:
    """Grade the same notebooks with nbgrader, and time only the work that it repeats for each class."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "class").mkdir()
        write_class(folder / "class", n, 0.0)
        (folder / "nbgrader_config.py").write_text("c = get_config()\nc.ExecutePreprocessor.timeout = 600\n")
        (folder / "source" / "lookup").mkdir(parents=True)
        given = notebook(
            {e.name: f"def {e.name}(*inputs):\n    raise NotImplementedError" for e in exercises_of(LESSON)}
        )
        nbformat.write(given, folder / "source" / "lookup" / f"{LESSON}.ipynb")
        for student in (folder / "class").iterdir():
            shutil.copytree(student, folder / "submitted" / student.name / "lookup")
        # nbgrader starts other programs in its environment by name
        path = os.pathsep.join([str(python.parent), os.environ["PATH"]])

        def nbgrader(*arguments: str) -> tuple[float, float]:
            return timed([python, "-m", "nbgrader", *arguments], folder, PATH=path)

        nbgrader("generate_assignment", "lookup")
        wall_s, cpu_s = nbgrader("autograde", "lookup", "--create")
        nbgrader("export")
        scores = pd.read_csv(folder / "grades.csv")
    all_points = int((scores["score"] == scores["max_score"]).sum())
    return table_row("nbgrader", n, 1, 0, all_points, wall_s, cpu_s)


def table_row(
    by: str, n: int, jobs: int, n_hostile: int, all_points: int, wall_s: float, cpu_s: float
) -> dict[str, object]:
    """Return a row of the table."""
    return {
        "by": by,
        "students": n,
        "jobs": jobs,
        "hostile": n_hostile,
        "all points": all_points,
        "s": wall_s,
        "CPU s": cpu_s,
        "s / student": wall_s / n,
        "CPU s / student": cpu_s / n,
        "students / min": 60 * n / wall_s,
    }


def rows(
    sizes: list[int], jobs: list[int], seconds: float, hostile_fractions: list[float], nbgrader: Path | None, n: int
) -> Iterator[dict[str, object]]:
    """Grade a single submission, then classes of all sizes, then classes with hostile notebooks.

    If nbgrader is given, it grades one submission and a class of n students.
    """
    peers = [1, n] if nbgrader else []
    for hostile_fraction in hostile_fractions:
        for size in sizes if hostile_fraction else [1, *sizes]:
            for n_jobs in jobs if size > 1 else [1]:
                yield row(size, n_jobs, hostile_fraction, seconds)
            if nbgrader and peers:
                yield row_of_nbgrader(peers.pop(0), nbgrader)


def main() -> None:
    """Print the table row by row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[10, 100], help="class sizes to measure (default 10 100)"
    )
    parser.add_argument(
        "--jobs", type=int, nargs="+", default=[1, 2], help="numbers of parallel jobs to measure (default 1 2)"
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit per exercise in seconds (default 10)")
    parser.add_argument(
        "--hostile",
        type=float,
        nargs="+",
        default=[0.0, 0.1],
        help="fractions of hostile notebooks to measure (default 0 0.1)",
    )
    nbgrader = "also grade with nbgrader; PYTHON is the interpreter of an environment with nbgrader and our packages"
    parser.add_argument("--nbgrader", type=Path, metavar="PYTHON", help=nbgrader)
    parser.add_argument(
        "--nbgrader-students",
        type=int,
        default=5,
        metavar="N",
        help="number of students in the class graded with nbgrader (default 5)",
    )
    options = parser.parse_args()
    n_exercises = len(exercises_of(LESSON))
    print(f"{LESSON}: {n_exercises} exercises each, with a time limit of {options.seconds:g} s per exercise")
    peer = (options.nbgrader, options.nbgrader_students)
    for index, line in enumerate(rows(options.sizes, options.jobs, options.seconds, options.hostile, *peer)):
        if index == 0:
            print("  ".join(f"{name:>{COLUMN_WIDTH}}" for name in line))
        cells = (f"{value:.2f}" if isinstance(value, float) else str(value) for value in line.values())
        print(
            "  ".join(f"{cell:>{max(COLUMN_WIDTH, len(name))}}" for name, cell in zip(line, cells, strict=True)),
            flush=True,
        )


if __name__ == "__main__":
    main()
