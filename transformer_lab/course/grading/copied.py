"""Copy for the jail what a job needs of the package, and nothing else."""

import shutil
from pathlib import Path

COURSE = Path(__file__).parents[1]
JAILED = (
    *("__init__", "call", "crash", "inside", "parts", "plain", "stand_ins", "surroundings", "time_limit"),
    *(f"grading/{name}" for name in ("__init__", "cells", "endings", "frames", "keeper", "nursery", "tidy", "worker")),
    *(f"grading/{name}" for name in ("confine", "landlock", "seccomp")),
)
"""All of the course that the jail gets to see: no reference, no mistake, no judge. The model library comes with it."""


def copy_course(to: Path) -> None:
    """Make a package of the model library and the few modules of the course that a job needs, readable by anybody."""
    package = to / "transformer_lab"
    shutil.copytree(COURSE.parent, package, ignore=shutil.ignore_patterns("course", "cli.py", "__pycache__"))
    for name in JAILED:
        module = Path("course", name).with_suffix(".py")
        (package / module).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(COURSE.parent / module, package / module)
    for path in (to, *to.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
