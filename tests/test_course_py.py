"""The set-up: each test runs course.py as a user would, in a small repository where only the packages are fakes."""

import ast
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COURSE = Path(__file__).parents[1] / "course.py"

WITHOUT = "import sys; sys.modules[{!r}] = None"
"""How a Python looks that lacks a module."""

TELL = "import sys; print('{}', *sys.argv[1:]); sys.exit({})"

QUICK_ENVIRONMENT = """
import pathlib, sys
folder = pathlib.Path(sys.argv[-1], "bin")
folder.mkdir(parents=True, exist_ok=True)
(folder / "python").unlink(missing_ok=True)
(folder / "python").symlink_to(sys.executable)
"""

if os.name == "nt":
    pytest.skip("the fake programs are scripts that Windows does not start", allow_module_level=True)


class Repository:
    """A clone in which every package is a script that tells how it was called."""

    def __init__(self, path: Path) -> None:
        self.path, self.programs = path / "clone", path / "programs"
        self.installs = path / "installs"
        (self.path / "transformer_lab").mkdir(parents=True)
        self.programs.mkdir()
        shutil.copy(COURSE, self.path)
        for name in ("pyproject.toml", "constraints.txt"):
            (self.path / name).touch()
        for name in ("pytest", "ruff", "mypy", "transformer_lab/cli"):
            self.fake(name, TELL.format(name, 0))

    def fake(self, name: str, code: str) -> None:
        """Let ``python -m name`` run this code: the repository's own folder is searched first."""
        (self.path / f"{name}.py").write_text(code)

    def pip(self, code: str) -> None:
        """Let pip run this code, in an environment that is made in no time."""
        self.fake("venv", QUICK_ENVIRONMENT)
        self.fake("pip", code)

    def uv(self, code: str = "") -> None:
        """Put a uv on the path that notes each call and runs this code."""
        program = self.programs / "uv"
        note = f"import os, signal, sys; print(*sys.argv[1:], file=open({str(self.installs)!r}, 'a'))"
        program.write_text(f"#!{sys.executable}\n{note}\n{code}\n")
        program.chmod(0o755)

    def run(self, *arguments: str, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run course.py, in a Python that something was done to before."""
        script = (
            f"import runpy, sys; {before}\nsys.argv[0] = 'course.py'; runpy.run_path('course.py', run_name='__main__')"
        )
        env = {**os.environ, "PATH": str(self.programs), **environment}
        command = [sys.executable, "-c", script] if before else [sys.executable, "course.py"]
        return subprocess.run([*command, *arguments], cwd=self.path, env=env, capture_output=True, text=True)

    @property
    def installed(self) -> list[str]:
        """What uv was called with, call by call."""
        return self.installs.read_text().splitlines() if self.installs.exists() else []

    @property
    def stamp(self) -> Path:
        return self.path / ".venv" / "installed.sha256"


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path)


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """Give the one line that course.py ends with."""
    assert done.returncode == 1, done
    assert "Traceback" not in done.stderr
    line = done.stderr.splitlines()[-1]
    assert line.startswith("course.py: ")
    return line.removeprefix("course.py: ")


def test_an_old_python_is_told_its_version(repository):
    said = complaint(repository.run("lab", before="sys.version_info = (3, 6, 15, 'final', 0)"))
    assert said == f"Transformer Lab needs Python 3.11 or newer, and this is 3.6.15 ({sys.executable})"


def test_an_old_python_can_read_that_far():
    ast.parse(COURSE.read_text(), feature_version=(3, 7))  # Python 3.6 differs in nothing that is used here


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_python_without_venv_is_told_how_to_get_it(repository, module):
    said = complaint(repository.run("lab", before=WITHOUT.format(module)))
    assert said == "this Python comes without venv; on Debian and Ubuntu: sudo apt install python3-venv"
    assert not (repository.path / ".venv").exists()


def test_uv_needs_no_ensurepip(repository):
    repository.uv()
    assert repository.run("lab", before=WITHOUT.format("ensurepip")).returncode == 0


def test_too_little_disk_is_told_before_anything_is_made(repository):
    little = "import shutil, types; shutil.disk_usage = lambda path: types.SimpleNamespace(free=123_000_000)"
    said = complaint(repository.run("test", before=little))
    assert said == f"the environment needs 2 GB of disk, and {repository.path} has 0.1 GB left"
    assert not (repository.path / ".venv").exists()


def test_a_disk_that_fills_up_is_named(repository):
    repository.pip("import sys; sys.exit('ERROR: Could not install: [Errno 28] No space left on device')")
    assert complaint(repository.run("test", TMPDIR="/some/tmp")) == (
        "the install failed: the disk is full (.venv, or /some/tmp)"
    )
    assert not repository.stamp.exists()


def test_a_missing_network_is_named(repository):
    (repository.path / "pyproject.toml").write_text("[build-system]\nrequires = ['setuptools']\n")
    nowhere = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": "",
        "PIP_RETRIES": "1",
        "PIP_PROXY": "http://localhost:9",
    }
    done = repository.run("test", **nowhere)  # the real pip, which only does not get out
    assert complaint(done) == "the install failed: the packages cannot be reached; is there a network?"
    assert not repository.stamp.exists()


def test_any_other_failure_gives_the_last_of_pips_own_words(repository):
    repository.pip(
        "import sys; sys.exit('WARNING: one\\nERROR: No matching distribution found for torch\\nnote: a note')"
    )
    assert complaint(repository.run("lab")) == "the install failed: No matching distribution found for torch"


def test_pip_installs_where_uv_cannot(repository):
    repository.uv("sys.exit(2)")
    repository.pip(TELL.format("pip", 0))
    done = repository.run("lab")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == [
        "uv could not install the course, so pip tries.",
        "pip install --disable-pip-version-check -c constraints.txt -e .[test]",
        "transformer_lab/cli lab",
    ]


def test_an_environment_that_cannot_be_made_is_named(repository):
    repository.fake("venv", "import sys; sys.exit('Error: Permission denied')")
    said = complaint(repository.run("lab"))
    assert said == f"no environment could be made in {repository.path / '.venv'}: Error: Permission denied"


@pytest.mark.parametrize("end", ["sys.exit(1)", "os.kill(os.getppid(), signal.SIGKILL)"], ids=["failed", "killed"])
def test_a_half_made_environment_is_not_trusted(repository, end):
    half = repository.path / ".venv" / "half"
    repository.uv(f"open({str(half)!r}, 'w'); {end}")
    assert repository.run("lab", before=WITHOUT.format("ensurepip")).returncode != 0
    assert half.exists()
    repository.uv()
    assert repository.run("lab").stdout.splitlines()[-1] == "transformer_lab/cli lab"
    assert not half.exists()
    assert len(repository.installed) == 2


def test_an_environment_once_trusted_is_no_longer_while_it_is_made_anew(repository):
    repository.uv()
    repository.run("lab")
    (repository.path / "constraints.txt").write_text("torch==1.0")
    repository.uv("os.kill(os.getppid(), signal.SIGKILL)")
    repository.run("lab")
    (repository.path / "constraints.txt").write_text("")  # what the first environment was made for
    repository.uv()
    repository.run("lab")
    assert len(repository.installed) == 3


def test_the_second_run_installs_nothing(repository):
    repository.uv()
    first, second = repository.run("lab"), repository.run("test", "-k", "masks")
    assert "Making the environment" in first.stdout
    assert second.stdout == "pytest -k masks\n"
    python = repository.path / ".venv" / "bin" / "python"
    assert repository.installed == [f"pip install --python {python} -c constraints.txt -e .[test]"]


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_new_versions_are_installed(repository, name):
    repository.uv()
    repository.run("lab")
    (repository.path / name).write_text("# new")
    repository.run("lab")
    assert len(repository.installed) == 2


def test_a_clone_that_moved_is_set_up_anew(repository):
    repository.uv()
    repository.run("lab")
    repository.path = repository.path.rename(repository.path.with_name("moved"))
    repository.run("lab")
    assert len(repository.installed) == 2


def test_arguments_pass_through(repository):
    repository.uv()
    opened = repository.run("lab", "--no-browser", "--port", "8890")
    assert opened.stdout.splitlines()[-1] == "transformer_lab/cli lab --no-browser --port 8890"
    assert repository.run("test", "-k", "a or b", "-x").stdout == "pytest -k a or b -x\n"


def test_all_checks_run_with_one_thread_each(repository):
    repository.uv()
    repository.fake("pytest", "import os; print('pytest', os.environ['OMP_NUM_THREADS'])")
    done = repository.run("test", OMP_NUM_THREADS="8")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == ["ruff check", "ruff format --check", "mypy", "pytest 1"]


def test_every_failure_is_told_not_only_the_first(repository):
    repository.uv()
    repository.fake("ruff", TELL.format("ruff", "'check' in sys.argv"))
    repository.fake("pytest", TELL.format("pytest", 1))
    done = repository.run("test")
    assert complaint(done) == "failed: ruff check, pytest -n 2 --dist loadfile"
    assert "mypy" in done.stdout.splitlines()


def test_the_exit_code_of_pytest_is_kept(repository):
    repository.uv()
    repository.fake("pytest", TELL.format("pytest", 5))
    assert repository.run("test", "-k", "nothing").returncode == 5


def test_an_unknown_command_is_answered_with_the_known_ones(repository):
    assert complaint(repository.run("lba")) == "there is no command 'lba'; there are lab and test"


def test_help_sets_nothing_up(repository):
    assert "python3 course.py lab" in repository.run("--help").stdout
    assert repository.run().returncode == 2
    assert not (repository.path / ".venv").exists()


def test_an_interrupt_is_left_to_the_lab_and_waited_for(repository):
    repository.uv()
    repository.run("lab")
    repository.fake(
        "transformer_lab/cli",
        "import signal, sys, time\n"
        "def farewell(*_): time.sleep(0.2); print('shut down', flush=True); sys.exit()\n"
        "signal.signal(signal.SIGINT, farewell); print('open', flush=True); time.sleep(60)",
    )
    with subprocess.Popen(
        [sys.executable, "course.py", "lab"],
        cwd=repository.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as lab:
        assert lab.stdout is not None
        assert lab.stdout.readline() == "open\n"
        time.sleep(0.1)
        os.killpg(lab.pid, signal.SIGINT)  # as a terminal does on Ctrl-C
        said, complained = lab.communicate(timeout=30)
    assert (said, complained, lab.returncode) == ("shut down\n", "course.py: stopped\n", 130)
