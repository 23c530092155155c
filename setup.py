"""Put the published lessons into the package. All else is in pyproject.toml."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithLessons(build_py):
    """Copies the notebooks to where the course looks for them; an editable install has them in the clone."""

    def run(self) -> None:
        """Copy the package, and then the notebooks."""
        super().run()
        if self.editable_mode:
            return
        folder = Path(self.build_lib, "transformer_course", "notebooks")
        folder.mkdir(parents=True, exist_ok=True)
        for lesson in sorted(Path("notebooks").glob("*.ipynb")):
            self.copy_file(str(lesson), str(folder / lesson.name))


setup(cmdclass={"build_py": WithLessons})
