"""Copy the code that a job needs into the sandbox."""

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The folder that contains ``transformer_course`` and ``transformer_lab``."""
LIBRARY = "transformer_lab"
COURSE = "transformer_course"
COPIED_PACKAGES = ("running", "sandbox")
"""The course's packages to copy, which contain no references, mistakes or judge; the model library is also copied."""


def copy_course(to: Path) -> None:
    """Copy the Python files of the model library and of the ``COPIED_PACKAGES`` packages, readable by every user.

    Args:
        to: The target folder, which must be on the sandbox's ``sys.path``.
    """
    sources = [*(ROOT / LIBRARY).rglob("*.py"), ROOT / COURSE / "__init__.py"]
    for package in COPIED_PACKAGES:
        sources += (ROOT / COURSE / package).rglob("*.py")
    for source in sources:
        target = to / source.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    for path in (to, *to.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
