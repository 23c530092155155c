"""The distribution as it is built, in a fresh environment that holds what it asks for and nothing else.

The packages it needs are linked from this environment, so that nothing is downloaded.
"""

import csv
import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from tests.repository.test_install import brought_by

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform == "win32", reason="links need a right of their own there"),
]

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SMALL = ["--steps", "2", "--warmup", "1", "--d-model", "8", "--n-heads", "2", "--n-layers", "1", "--d-ff", "8"]
USE = """
import importlib.metadata, torch, transformer_lab as lab
torch.manual_seed(0)  # with other parameters the text may end at once
model = lab.Transformer(lab.TransformerConfig(11, d_model=8, n_heads=2, d_ff=16, n_layers=1, max_length=20)).eval()
shape = lab.greedy_decode(model, torch.tensor([[3, 4, 5]]), bos_id=1, eos_id=2, max_length=4).shape
print(importlib.metadata.version("transformer-course"), lab.__file__, *shape)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Build the wheel from the sdist, and that from the repository."""
    folder = tmp_path_factory.mktemp("dist")
    build = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"
    sdist = run([sys.executable, "-c", build, "build_sdist", folder], ROOT).splitlines()[-1]
    with tarfile.open(folder / sdist) as packed:
        packed.extractall(folder, filter="data")
    unpacked = folder / sdist.removesuffix(".tar.gz")
    return folder / run([sys.executable, "-c", build, "build_wheel", folder], unpacked).splitlines()[-1]


class Environment:
    """A fresh environment with the wheel, and with what it asks for.

    Args:
        folder: A new folder for it and for what is made with it.
        wheel: The wheel.
    """

    def __init__(self, folder: Path, wheel: Path) -> None:
        run([sys.executable, "-m", "venv", folder / "env"], folder)
        self.work, self.bin = folder / "work", folder / "env" / "bin"
        self.work.mkdir()
        [site] = (folder / "env" / "lib").glob("python*/site-packages")
        for name in brought_by(PROJECT["name"]) - {PROJECT["name"]}:
            for file in metadata.files(name) or []:
                link = Path(os.path.normpath(site / file))
                if link.parent != self.bin and not link.exists():
                    link.parent.mkdir(parents=True, exist_ok=True)
                    link.symlink_to(file.locate())
        run([self.bin / "pip", "install", "--quiet", "--no-index", "--no-deps", wheel], self.work)

    def __call__(self, *command: str | Path, code: int = 0) -> str:
        """Run one of its programs in a folder outside the repository, and return what it prints."""
        return run([self.bin / command[0], *command[1:]], self.work, code)


def run(command: list[str | Path], where: Path, code: int = 0) -> str:
    """Run a command that knows nothing of this environment; return its output, or what it complains of."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TRANSFORMER_LAB"))}
    kept |= {"OMP_NUM_THREADS": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run([*map(str, command)], cwd=where, env=kept, capture_output=True, text=True)
    assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stderr if code else done.stdout


@pytest.fixture(scope="module")
def fresh(wheel, tmp_path_factory) -> Environment:
    return Environment(tmp_path_factory.mktemp("fresh"), wheel)


def test_the_wheel_has_the_lessons_without_outputs(wheel):
    with zipfile.ZipFile(wheel) as packed:
        names = [name for name in packed.namelist() if name.endswith(".ipynb")]
        books = [json.loads(packed.read(name)) for name in names]
        models = sum(file.compress_size for file in packed.infolist() if "/stored_models/" in file.filename)
    assert {Path(name).name for name in names} == {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert [cell["outputs"] for book in books for cell in book["cells"] if cell.get("outputs")] == []
    assert wheel.stat().st_size - models < 3_000_000
    assert 0 < models < 9_000_000


def test_the_wheel_has_every_template(wheel):
    templates = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("transformer_course/*/templates/*.html")}
    with zipfile.ZipFile(wheel) as packed:
        assert templates and templates <= {*packed.namelist()}


def test_the_library_can_be_used_where_the_course_is_installed(fresh):
    assert fresh("pip", "check") == "No broken requirements found.\n"
    version, place, *shape = fresh("python", "-c", USE).split()
    assert (version, shape) == (PROJECT["version"], ["1", "4"]) and "site-packages" in place


def test_a_model_is_trained_translates_and_is_evaluated(fresh):
    assert "2 steps in" in fresh("transformer-course", "train", "dates", "-o", "model", *SMALL)
    assert len(fresh("transformer-course", "translate", "-m", "model", "3 mars 2021", "").split("\n")) == 3
    assert "exact" in fresh("transformer-course", "evaluate", "dates", "-m", "model")


def test_a_lesson_is_handed_out_and_graded(fresh):
    fresh("transformer-course", "release", "01_lookup", "-o", "handed-out")
    fresh("transformer-course", "grade", "handed-out/01_lookup.ipynb", "-o", "graded")
    with (fresh.work / "graded" / "gradebook.csv").open(encoding="utf-8") as file:
        [row] = csv.DictReader(file)
    assert (row["points"], row["of"], row["status"]) == ("0", "10", "graded")


def test_a_lesson_is_laid_out_and_executed(fresh):
    fresh("transformer-course", "lab", "--lesson", "03", "--version")
    lesson = fresh.work / "my-lessons" / "01_lookup.ipynb"
    fresh("python", "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", lesson)
    assert "Not started yet." in lesson.read_text(encoding="utf-8")
