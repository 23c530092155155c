"""The jail as most instructors use it: not as root. Jailed code has the user id of the grader and of all its files."""

import json
import os
import shutil
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.course.jail.sample_submissions import linux

ROOT = Path(__file__).parents[3]
NOBODY = 65534
GRADES = """
import json, os, sys, time
from pathlib import Path
from tests.course.jail.sample_submissions import grade_answer, softmax_after, still_works
from transformer_lab.course.jail.jail import Jail
from transformer_lab.course.jail.limits import Limits

mine = Path("mine")
mine.write_text("x")
mine.chmod(0o600)
with Jail(Limits(seconds=3.0)) as jail:
    told = {"guards": jail.guards}
    attacks = json.loads(sys.stdin.read())
    told["points"] = {
        name: grade_answer(jail, softmax_after(f"try:\\n  {body}\\nexcept OSError: pass".replace(
            "MINE", str(mine.resolve())).replace("JAIL", str(jail.folder)))).points
        for name, body in attacks.items()
    }
    told["works"] = still_works(jail)
    told["mode"] = oct(mine.stat().st_mode & 0o777)
    told["alive"] = os.getpid()
print(json.dumps(told))
"""
ATTACKS = {
    "limits the grader": "__import__('resource').prlimit(os.getppid(), 0, (1, 1))",
    "opens a file to all": "os.chmod('MINE', 0o666)",
    "closes the jail to later students": "os.chmod('JAIL/work', 0)",
    "kills every process of the user": "os.kill(-1, signal.SIGKILL)",
    "leaves a process": "[time.sleep(100) for _ in range(os.fork() == 0)]",
    "forks faster than it is killed": "[os.fork() == 0 and time.sleep(100) for _ in range(4)]",
}
"""What fails with an error, or does not matter: the answer is right otherwise, and may have its points."""


@pytest.fixture(scope="module")
def python() -> Iterator[Path]:
    """A Python with torch that an ordinary user can run; that of the tests may lie in a folder of root's."""
    if os.geteuid() != 0:
        yield Path(sys.executable)
        return
    base = shutil.which(f"python3.{sys.version_info.minor}", path="/usr/bin:/usr/local/bin")
    if base is None:
        pytest.skip("no Python of this version can be run by other users")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        subprocess.run([base, "-m", "venv", "--without-pip", folder], check=True)
        [packages] = folder.glob("lib/python*/site-packages")
        (packages / "tests.pth").write_text("\n".join(site.getsitepackages()))
        yield folder / "bin" / "python"


@linux
def test_no_attack_reaches_what_belongs_to_the_same_user(python: Path, tmp_path: Path):
    as_user = {} if os.geteuid() != 0 else {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    folder = Path("/tmp") if as_user else tmp_path
    with tempfile.TemporaryDirectory(dir=folder) as own:
        if as_user:
            os.chown(own, NOBODY, NOBODY)
        environment = {"PYTHONPATH": str(ROOT), "HOME": own, "TMPDIR": own, "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run(
            [python, "-c", GRADES], input=json.dumps(ATTACKS), capture_output=True, text=True, cwd=own,
            env=environment, **as_user,
        )  # fmt: skip
        if "PermissionError" in run.stderr or "No module named" in run.stderr:
            pytest.skip(f"an ordinary user cannot read the course here: {run.stderr.strip().splitlines()[-1]}")
        assert run.returncode == 0, run.stderr
        told = json.loads(run.stdout)
        assert told["works"] and told["mode"] == "0o600"
        if not told["guards"]["namespaces"]:
            pytest.skip("this system gives ordinary users no namespaces")
        told["points"].pop("forks faster than it is killed")  # it may run out of time first
        assert set(told["points"].values()) == {2}, told["points"]
        left = [path for path in Path("/proc").glob("[0-9]*/environ") if _has(path, own)]
        assert not left


def _has(environment: Path, text: str) -> bool:
    try:
        return text.encode() in environment.read_bytes()
    except OSError:
        return False
