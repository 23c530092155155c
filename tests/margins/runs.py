"""Execute the runs of a lesson, and store their results."""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.margins.code import book, fingerprints

ROOT = Path(__file__).parents[2]
INSTRUCTIONS = {
    "as it is": {},
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
    "default": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_CBWR": "COMPATIBLE"},
}
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": str(ROOT),
    "TRANSFORMER_LAB_CHECK_SHAPES": "0",
    "TRANSFORMER_LAB_STRICT": "0",
    "TRANSFORMER_LAB_PARTS": "",
}


@dataclass(frozen=True)
class Run:
    """One execution of a lesson with a specific instruction set and seed."""

    instructions: str
    seed: int
    noise: bool = False

    @property
    def name(self) -> str:
        """The name of the run's file."""
        return f"{self.instructions.replace(' ', '-')}-{self.seed}{'-noise' if self.noise else ''}"

    def execute(self, lesson: str, file: Path) -> None:
        """Run the lesson in a separate process."""
        command = [sys.executable, "-m", "tests.margins.run", lesson, str(file), "--seed", str(self.seed)]
        environment = {**os.environ, **ENVIRONMENT, **INSTRUCTIONS[self.instructions]}
        subprocess.run([*command, *(["--noise"] * self.noise)], env=environment, cwd=ROOT, check=True)


PUBLISHED, NOISY = Run("as it is", 0), Run("as it is", 0, noise=True)
"""Two runs that differ only in results that depend on training or on the clock."""
SAME_SEED = [PUBLISHED, Run("avx2", 0), Run("default", 0)]
PLAN = [
    *SAME_SEED[:2],
    NOISY,
    *(Run("avx2" if seed == 6 else "as it is", seed) for seed in range(1, 7)),
    SAME_SEED[2],  # last, because this run takes three times as long
]


def folder(lesson: str) -> Path:
    """Return the folder that stores a lesson's runs."""
    return ROOT / "build" / "margins" / lesson


def stored(lesson: str, run: Run) -> dict[str, Any] | None:
    """Return the stored result of a run, or None if there is none or the lesson's code has changed."""
    try:
        result = pickle.loads((folder(lesson) / f"{run.name}.pickle").read_bytes())
    except FileNotFoundError:
        return None
    code = fingerprints(book(lesson))
    return result if {name: cell["code"] for name, cell in result["cells"].items()} == code else None


def make(lesson: str) -> Iterator[tuple[Run, dict[str, Any]]]:
    """Yield the planned runs of a lesson, executing runs that are not stored. Lessons that train nothing run only with
    seed 0.
    """
    folder(lesson).mkdir(parents=True, exist_ok=True)
    trains = False
    for run in PLAN:
        if run not in SAME_SEED and not trains:
            continue
        if (result := stored(lesson, run)) is None:
            run.execute(lesson, folder(lesson) / f"{run.name}.pickle")
            result = stored(lesson, run)
            assert result is not None
            print(f"{lesson}, {run.name}: {result['seconds']:.0f} CPU-seconds", flush=True)
        trains |= result["trains"]
        yield run, result
