"""Put the published lessons into the package, without their outputs. All else is in pyproject.toml."""

import json
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithLessons(build_py):
    """Copies the notebooks to where the course looks for them; an editable install has them in the clone.

    A learner's copy drops their outputs, which are most of their size.
    """

    def run(self) -> None:
        """Copy the package, and then the notebooks."""
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
