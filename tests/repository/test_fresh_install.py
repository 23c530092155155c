"""Build the distributions, check them as PyPI does, and use the wheel in a new environment.

The new environment contains only the wheel and its dependencies. The dependencies are linked from the current
environment, so nothing is downloaded.
"""

import csv
import json
import os
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from tests.end_to_end.browser import free_port
from tests.repository.test_install import with_dependencies

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="creating symbolic links needs a special privilege on Windows"),
]

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SMALL = ["--steps", "2", "--warmup", "1", "--d-model", "8", "--n-heads", "2", "--n-layers", "1", "--d-ff", "8"]
USE = """
import importlib.metadata, torch, transformer_lab as lab
torch.manual_seed(0)  # with other seeds, the text may end immediately
model = lab.Transformer(lab.TransformerConfig(11, d_model=8, n_heads=2, d_ff=16, n_layers=1, max_length=20)).eval()
shape = lab.greedy_decode(model, torch.tensor([[3, 4, 5]]), bos_id=1, eos_id=2, max_length=4).shape
print(importlib.metadata.version("transformer-course"), lab.__file__, *shape)
"""


@pytest.fixture(scope="module")
def distributions(tmp_path_factory) -> Path:
    """A folder with the sdist, built from the repository, and the wheel, built from the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT], folder)
    return folder


@pytest.fixture(scope="module")
def wheel(distributions) -> Path:
    [path] = distributions.glob("*.whl")
    return path


class Environment:
    """A new environment with the wheel and its dependencies.

    Args:
        folder: A new folder for the environment and for files written by tests.
        wheel: The path of the wheel.
    """

    def __init__(self, folder: Path, wheel: Path) -> None:
        run([sys.executable, "-m", "venv", folder / "env"], folder)
        self.work, self.bin = folder / "work", folder / "env" / "bin"
        self.work.mkdir()
        [site] = (folder / "env" / "lib").glob("python*/site-packages")
        for name in with_dependencies(PROJECT["name"]) - {PROJECT["name"]}:
            for file in metadata.files(name) or []:
                link = Path(os.path.normpath(site / file))
                if link.parent != self.bin and not link.exists():
                    link.parent.mkdir(parents=True, exist_ok=True)
                    link.symlink_to(file.locate())
        run([self.bin / "pip", "install", "--quiet", "--no-index", "--no-deps", wheel], self.work)

    def __call__(self, *command: str | Path, code: int = 0) -> str:
        """Run a program from the environment in a folder outside the repository, and return the program's output."""
        return run([self.bin / command[0], *command[1:]], self.work, code)


def variables() -> dict[str, str]:
    """Return the environment variables, except those that refer to the current environment or this clone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TRANSFORMER_LAB"))}
    return kept | {"OMP_NUM_THREADS": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run(command: list[str | Path], where: Path, code: int = 0) -> str:
    """Run a command, and return its output, or its error output if the command is expected to fail."""
    done = subprocess.run([*map(str, command)], cwd=where, env=variables(), capture_output=True, text=True)
    assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stderr if code else done.stdout


@pytest.fixture(scope="module")
def fresh(wheel, tmp_path_factory) -> Environment:
    return Environment(tmp_path_factory.mktemp("fresh"), wheel)


def test_twine_accepts_both_distributions(distributions):
    printed = run([sys.executable, "-m", "twine", "check", "--strict", *distributions.iterdir()], distributions)
    assert printed.count("PASSED") == 2


def test_wheel_contains_lessons_without_outputs(wheel):
    with zipfile.ZipFile(wheel) as packed:
        names = [name for name in packed.namelist() if name.endswith(".ipynb")]
        books = [json.loads(packed.read(name)) for name in names]
        models = sum(file.compress_size for file in packed.infolist() if "/stored_models/" in file.filename)
    assert {Path(name).name for name in names} == {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert [cell["outputs"] for book in books for cell in book["cells"] if cell.get("outputs")] == []
    assert wheel.stat().st_size - models < 3_000_000
    assert 0 < models < 9_000_000


def test_wheel_contains_every_template(wheel):
    templates = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("transformer_course/*/templates/*.html")}
    with zipfile.ZipFile(wheel) as packed:
        assert templates and templates <= {*packed.namelist()}


def test_installed_wheel_opens_a_lesson(fresh):
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = ["lab", "--lesson", "03", "--no-browser", f"--port={port}", "--IdentityProvider.token="]
    log = fresh.work / "lab.log"
    with log.open("w") as output:
        lab = subprocess.Popen(
            [fresh.bin / "transformer-course", *command], cwd=fresh.work, env=variables(), stdout=output, stderr=output
        )
    try:
        lesson = json.loads(fetch(f"{address}/api/contents/03_heads.ipynb", lab, log))
        page = fetch(f"{address}/lab/tree/03_heads.ipynb", lab, log)
    finally:
        lab.terminate()
        lab.wait(60)
    assert lesson["content"]["cells"][0]["source"].startswith("# 03 ")
    assert "<title>" in page


def fetch(address: str, server: subprocess.Popen[bytes], log: Path) -> str:
    """Return the page at an address, waiting for the server to start if necessary."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=60) as page:
                return page.read().decode()
        except urllib.error.HTTPError:
            raise
        except OSError:
            time.sleep(0.3)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")


@pytest.mark.thorough
def test_installed_library_decodes_without_missing_dependencies(fresh):
    assert fresh("pip", "check") == "No broken requirements found.\n"
    version, path, *shape = fresh("python", "-c", USE).split()
    assert (version, shape) == (PROJECT["version"], ["1", "4"]) and "site-packages" in path


@pytest.mark.thorough
def test_installed_command_trains_translates_and_evaluates(fresh):
    assert "2 steps in" in fresh("transformer-course", "train", "dates", "-o", "model", *SMALL)
    assert len(fresh("transformer-course", "translate", "-m", "model", "3 mars 2021", "").split("\n")) == 3
    assert "exact" in fresh("transformer-course", "evaluate", "dates", "-m", "model")


@pytest.mark.thorough
def test_installed_command_releases_and_grades_a_lesson(fresh):
    fresh("transformer-course", "release", "01_lookup", "-o", "released")
    fresh("transformer-course", "grade", "released/01_lookup.ipynb", "-o", "graded")
    with (fresh.work / "graded" / "gradebook.csv").open(encoding="utf-8") as file:
        [row] = csv.DictReader(file)
    assert (row["points"], row["of"], row["status"]) == ("0", "10", "graded")


@pytest.mark.thorough
def test_installed_course_executes_a_lesson(fresh):
    fresh("transformer-course", "lab", "--lesson", "03", "--version")
    lesson = fresh.work / "my-lessons" / "01_lookup.ipynb"
    fresh("python", "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", lesson)
    assert "Not started yet." in lesson.read_text(encoding="utf-8")
