"""The package as it is built, in fresh environments that hold what it asks for and nothing else.

The packages it needs are linked from this environment, so that nothing is downloaded.
"""

import csv
import os
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from transformer_lab.cli.main import EXTRAS

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform == "win32", reason="links need a right of their own there"),
]

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SMALL = ["--steps", "2", "--warmup", "1", "--d-model", "8", "--n-heads", "2", "--n-layers", "1", "--d-ff", "8"]
USE = """
import torch, transformer_lab as lab
torch.manual_seed(0)  # with other parameters the text may end at once
model = lab.Transformer(lab.TransformerConfig(11, d_model=8, n_heads=2, d_ff=16, n_layers=1, max_length=20)).eval()
shape = lab.greedy_decode(model, torch.tensor([[3, 4, 5]]), bos_id=1, eos_id=2, max_length=4).shape
print(lab.__version__, lab.__file__, *shape)
"""


def packages(wanted: Iterable[Requirement]) -> set[str]:
    """Collect what pip would install for these requirements, by name; this package is none of it."""
    found, left, seen = set(), [(one, "") for one in wanted], set()
    while left:
        requirement, extra = left.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for asked in ("", *requirement.extras):
            if (name, asked) in seen:
                continue
            seen.add((name, asked))
            if name == PROJECT["name"]:
                listed = PROJECT["optional-dependencies"][asked] if asked else PROJECT["dependencies"]
            else:
                found.add(name)
                listed = metadata.requires(name) or []
            left += [(Requirement(one), asked) for one in listed]
    return found


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
    """A fresh environment with the wheel, and with what one of its extras asks for.

    Args:
        folder: A new folder for it and for what is made with it.
        wheel: The wheel.
        extra: The extra; empty for none.
    """

    def __init__(self, folder: Path, wheel: Path, extra: str) -> None:
        run([sys.executable, "-m", "venv", folder / "env"], folder)
        self.work, self.bin = folder / "work", folder / "env" / "bin"
        self.work.mkdir()
        [site] = (folder / "env" / "lib").glob("python*/site-packages")
        for name in packages([Requirement(f"{PROJECT['name']}[{extra}]" if extra else PROJECT["name"])]):
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


@pytest.fixture
def fresh(request, wheel, tmp_path) -> Environment:
    return Environment(tmp_path, wheel, request.param)


@pytest.mark.parametrize("fresh", [""], indirect=True)
def test_the_library_alone_is_complete_and_its_commands_name_their_extras(fresh):
    assert fresh("pip", "check") == "No broken requirements found.\n"
    version, place, *shape = fresh("python", "-c", USE).split()
    assert (version, shape) == (PROJECT["version"], ["1", "4"]) and "site-packages" in place
    arguments = {"grade": ["a", "-o", "b"], "release": ["-o", "b"], "export": ["b", "--canvas", "c"], "feedback": ["b"]}
    for command, extra in EXTRAS.items():
        said = fresh("transformer-course", command, *arguments.get(command, ["dates"] * (extra == "train")), code=2)
        assert said.endswith(f"pip install 'transformer-course[{extra}]'\n")
    assert list(fresh.work.iterdir()) == []


@pytest.mark.parametrize("fresh", ["train"], indirect=True)
def test_the_extra_for_training_is_enough_to_train_translate_and_evaluate(fresh):
    fresh("pip", "check")
    assert "2 steps in" in fresh("transformer-course", "train", "dates", "-o", "model", *SMALL)
    assert len(fresh("transformer-course", "translate", "-m", "model", "3 mars 2021", "").split("\n")) == 3
    assert "exact" in fresh("transformer-course", "evaluate", "dates", "-m", "model")


@pytest.mark.parametrize("fresh", ["grade"], indirect=True)
def test_the_extra_for_grading_is_enough_to_hand_out_and_to_grade(fresh):
    fresh("pip", "check")
    fresh("transformer-course", "release", "01_lookup", "-o", "handed-out")
    fresh("transformer-course", "grade", "handed-out/01_lookup.ipynb", "-o", "graded")
    with (fresh.work / "graded" / "gradebook.csv").open(encoding="utf-8") as file:
        [row] = csv.DictReader(file)
    assert (row["points"], row["of"], row["status"]) == ("0", "10", "graded")


@pytest.mark.parametrize("fresh", ["course"], indirect=True)
def test_the_extra_for_the_course_is_enough_to_execute_a_lesson(fresh):
    fresh("pip", "check")
    fresh("transformer-course", "lab", "--lesson", "03", "--version")
    lesson = fresh.work / "my-lessons" / "01_lookup.ipynb"
    fresh("python", "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", lesson)
    assert "Not started yet." in lesson.read_text(encoding="utf-8")
