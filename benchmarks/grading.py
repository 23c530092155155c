"""How long does it take to grade a class?

Run ``python -m benchmarks.grading``; README.md says how to read the table.
"""

import argparse
import json
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import pandas as pd
from nbformat.v4 import new_code_cell, new_notebook

from transformer_lab.course.exercises import exercises_of
from transformer_lab.course.grading.grade import grade

LESSON = "01_lookup"
IMPORTS = "import os, time, math, torch\nfrom torch import Tensor\nfrom jaxtyping import Float"
HOSTILE = (
    "while True: pass",
    "time.sleep(600)",
    "while True: os.fork()",
    "for i in range(400_000): open(str(i), 'w').close()",
    "x = []\n    while True: x.append(bytearray(1 << 24))",
)
"""What is done in every exercise of a hostile notebook, in turn."""


def write_class(folder: Path, n: int, hostile_fraction: float) -> None:
    """Write the notebooks of n students, who differ in nothing but what some of them do to the grader."""
    n_hostile = round(n * hostile_fraction)
    for i in range(n):
        bodies = {e.name: e.solution for e in exercises_of(LESSON)}
        if i < n_hostile:
            bodies = {name: f"def {name}(*inputs):\n    {HOSTILE[i % len(HOSTILE)]}" for name in bodies}
        cells = [new_code_cell(IMPORTS), *map(new_code_cell, bodies.values())]
        (folder / f"student-{i}").mkdir()
        nbformat.write(new_notebook(cells=cells), folder / f"student-{i}" / f"{LESSON}.ipynb")


def cpu_seconds() -> float:
    """Return the time that all processes have computed which this one has waited for, and itself."""
    both = (resource.getrusage(resource.RUSAGE_CHILDREN), resource.getrusage(resource.RUSAGE_SELF))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def row(n: int, jobs: int, hostile_fraction: float, seconds: float) -> dict[str, object]:
    """Grade a class, and time it."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "class").mkdir()
        write_class(folder / "class", n, hostile_fraction)
        started, computed = time.perf_counter(), cpu_seconds()
        grade([folder / "class"], folder / "out", lessons=[LESSON], seed=7, seconds=seconds, jobs=jobs)
        took, computed = time.perf_counter() - started, cpu_seconds() - computed
        told = json.loads((folder / "out" / "results.json").read_text("utf-8"))
        points = [student["points"] for student in told["students"].values()]
    return {
        "students": n,
        "jobs": jobs,
        "hostile": round(n * hostile_fraction),
        "all points": sum(own == told["of"] for own in points),
        "s": took,
        "CPU s": computed,
        "s / student": took / n,
        "students / min": 60 * n / took,
    }


def rows(sizes: list[int], jobs: list[int], seconds: float) -> Iterator[dict[str, object]]:
    """Grade one submission alone, then classes of all sizes; and these again with a hostile tenth."""
    yield row(1, 1, 0.0, seconds)
    for hostile_fraction in (0.0, 0.1):
        for n in sizes:
            for n_jobs in jobs:
                yield row(n, n_jobs, hostile_fraction, seconds)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100], help="students in a class (default 10 100)")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2], help="notebooks graded at once (default 1 2)")
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit of one exercise (default 10)")
    options = parser.parse_args()
    n_exercises = len(exercises_of(LESSON))
    print(f"{LESSON}: {n_exercises} exercises each, {options.seconds:g} s for one of them")
    table = pd.DataFrame(rows(options.sizes, options.jobs, options.seconds))
    print(table.to_string(index=False, float_format="{:.2f}".format))


if __name__ == "__main__":
    main()
