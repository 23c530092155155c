"""Copy the code that a job needs into the jail."""

import shutil
from pathlib import Path

COURSE = Path(__file__).parents[1]
JAILED = ("running", "jail")
"""Rooms of the course that the jail contains: no reference, mistake or judge. The model library comes too."""


def copy_course(to: Path) -> None:
    """Copy the Python files of the model library and of the ``JAILED`` rooms, readable by every user.

    Args:
        to: Folder that will contain the package; it has to go on the jail's ``sys.path``.
    """
    library = COURSE.parent
    packages = {path.parent for path in library.glob("*/__init__.py")} - {COURSE, library / "cli"}
    sources = [*library.glob("*.py"), COURSE / "__init__.py"]
    for package in (*packages, *(COURSE / room for room in JAILED)):
        sources += package.rglob("*.py")
    for source in sources:
        target = to / source.relative_to(library.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    for path in (to, *to.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
