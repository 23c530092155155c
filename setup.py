"""Add the published lessons to the wheel, without their outputs. All other settings are in pyproject.toml."""

import json
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithLessons(build_py):
    """A build step that copies the notebooks into the package, except for an editable install.

    An editable install uses the notebooks in the clone. The copies contain no outputs, because outputs take up most of
    a notebook's size and learners never see them.
    """

    def run(self) -> None:
        """Copy the package, then the notebooks."""
        super().run()
        if self.editable_mode:
            return
        folder = Path(self.build_lib, "transformer_course", "notebooks")
        folder.mkdir(parents=True, exist_ok=True)
        for lesson in sorted(Path("notebooks").glob("*.ipynb")):
            book = json.loads(lesson.read_text(encoding="utf-8"))
            for cell in book["cells"]:
                if cell["cell_type"] == "code":
                    cell |= {"outputs": [], "execution_count": None}
            text = json.dumps(book, indent=1, sort_keys=True, ensure_ascii=False)
            (folder / lesson.name).write_text(text, encoding="utf-8")


setup(cmdclass={"build_py": WithLessons})
