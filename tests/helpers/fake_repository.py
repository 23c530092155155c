"""Create a small fake clone of the repository for tests of ``course.py``."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

COURSE = Path(__file__).parents[2] / "course.py"

PRINT_ARGUMENTS = "import sys; print('{}', *sys.argv[1:]); sys.exit({})"

QUICK_ENVIRONMENT = """
import pathlib, shutil, sys
shutil.rmtree(sys.argv[-1], ignore_errors=True)
folder = pathlib.Path(sys.argv[-1], "bin")
folder.mkdir(parents=True)
(folder / "python").symlink_to(sys.executable)
"""


class Repository:
    """A clone of the repository in which a short script replaces each package."""

    def __init__(self, path: Path) -> None:
        self.path, self.programs = path / "clone", path / "programs"
        self.installs = path / "installs"
        self.path.mkdir(parents=True)
        self.programs.mkdir()
        shutil.copy(COURSE, self.path)
        for name in ("pyproject.toml", "constraints.txt"):
            (self.path / name).touch()
        for name in ("pytest", "ruff", "transformer_course/commands"):
            self.fake(name, PRINT_ARGUMENTS.format(name, 0))
        self.fake("venv", QUICK_ENVIRONMENT)
        self.pip("sys.exit('ERROR: No matching distribution found')")

    def fake(self, name: str, code: str) -> None:
        """Make ``python -m name`` run this code. Python finds it first, because it is in the working directory."""
        path = self.path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
        # If an earlier script has the same timestamp and size, Python would reuse its bytecode.
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)

    def pip(self, code: str) -> None:
        """Replace pip with a script that records each installation and runs this code."""
        self.fake("pip", f"import os, sys\nif 'install' in sys.argv:\n    {self._note('pip')}\n{code}")

    def uv(self, code: str = "", program: Path | None = None) -> None:
        """Create a fake uv that records each installation and runs this code. By default, it is on the PATH."""
        program = program or self.programs / "uv"
        note = f"import os, signal, sys\nif '--dry-run' not in sys.argv:\n    {self._note('uv')}"
        program.write_text(f"#!{sys.executable}\n{note}\n{code}\n")
        program.chmod(0o755)

    def _note(self, name: str) -> str:
        return f"print('{name}', *sys.argv[1:], file=open({str(self.installs)!r}, 'a'))"

    def run(self, *arguments: str, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run ``course.py``, after the code ``before`` in the same process."""
        script = (
            f"import runpy, sys; {before}\nsys.argv[0] = 'course.py'; runpy.run_path('course.py', run_name='__main__')"
        )
        env = {**os.environ, "PATH": str(self.programs), **environment}
        command = [sys.executable, "-c", script] if before else [sys.executable, "course.py"]
        return subprocess.run([*command, *arguments], cwd=self.path, env=env, capture_output=True, text=True)

    @property
    def installed(self) -> list[str]:
        """The command line of each installation with uv or pip, except dry runs."""
        return self.installs.read_text().splitlines() if self.installs.exists() else []

    @property
    def stamp(self) -> Path:
        return self.path / ".venv" / "installed.json"


def error_message(done: subprocess.CompletedProcess[str]) -> str:
    """Return the error message with which ``course.py`` exited."""
    assert done.returncode == 1, done
    assert "Traceback" not in done.stderr
    line = done.stderr.splitlines()[-1]
    assert line.startswith("course.py: ")
    return line.removeprefix("course.py: ")
