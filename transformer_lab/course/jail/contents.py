"""Copy for the jail what a job needs of the package, and nothing else."""

import shutil
from pathlib import Path

COURSE = Path(__file__).parents[1]
JAILED = ("running", "jail")
"""The rooms of the course that the jail gets to see: no reference, mistake or judge. The model library comes too."""


def copy_course(to: Path) -> None:
    """Make a package of the model library and the few modules of the course that a job needs, readable by anybody."""
    package = to / "transformer_lab"
    shutil.copytree(COURSE.parent, package, ignore=shutil.ignore_patterns("course", "cli", "__pycache__"))
    (package / "course").mkdir()
    shutil.copyfile(COURSE / "__init__.py", package / "course" / "__init__.py")
    for room in JAILED:
        shutil.copytree(COURSE / room, package / "course" / room, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (to, *to.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
