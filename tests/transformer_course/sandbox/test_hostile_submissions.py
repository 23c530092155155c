"""Test that hostile and unlucky submissions get the expected points, change no files, and leave no processes. Each test
grades the submissions as a different user. Most instructors grade as an unprivileged user. In this case, sandboxed code
has the user ID that owns the grader's process and files.
"""

import hashlib
import json
import os
import re
import shutil
import site
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.thoroughness import Thoroughness
from tests.transformer_course.sandbox.hostile import files, notebooks, run
from tests.transformer_course.sandbox.hostile.submission import Answer
from tests.transformer_course.sandbox.sample_submissions import linux

ROOT = Path(__file__).parents[3]
NOBODY = 65534
N_QUICK = 2


@pytest.fixture(scope="module")
def python() -> Iterator[Path]:
    """The path of a Python with torch that an unprivileged user can run, even if only root can access the current
    Python.
    """
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


@contextmanager
def folder_of(user: int) -> Iterator[Path]:
    """Create a folder that belongs to a user, with a subfolder of files that must not change."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        victim = folder / "victim"
        victim.mkdir(mode=0o700)
        (victim / "grades.csv").write_text("ada,1")
        (victim / "grades.csv").chmod(0o600)
        (victim / "notes").symlink_to("grades.csv")
        with suppress(OSError):  # the file system may not support attributes
            os.setxattr(victim / "grades.csv", "user.own", b"1")
        for path in (folder, *victim.rglob("*"), victim):
            os.chown(path, user, user, follow_symlinks=False)
        yield folder


def state_of(folder: Path) -> list[object]:
    """Return the contents and metadata of all files in a folder."""
    return [
        (
            str(path), state.st_mode, state.st_uid, state.st_nlink, state.st_size, state.st_mtime_ns, state.st_ino,
            [(name, os.getxattr(path, name)) for name in os.listxattr(path)] if path.is_file() else [],
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted([folder, *folder.rglob("*")])
        for state in [path.lstat()]
    ]  # fmt: skip


@contextmanager
def listener(family: int, address: Any) -> Iterator[tuple[Any, list[int]]]:
    """Listen on a socket, and yield its address and a list that receives an item for each connection."""
    connected: list[int] = []
    with socket.socket(family) as server:
        server.bind(address)
        server.listen()

        def accept() -> None:
            with suppress(OSError):
                while True:
                    server.accept()[0].close()
                    connected.append(1)

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname(), connected
        server.shutdown(socket.SHUT_RDWR)


def processes_with(text: str) -> list[str]:
    """Return the environment and arguments of all processes whose environment or arguments contain a text."""
    matches = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            content = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
            matches += [str(content)] if text.encode() in content else []
    return matches


def grade_all(python: Path, user: int, n: int | None, **environment: str) -> dict[str, Any]:
    """Grade all submissions as a user, and assert that no files changed and no processes or folders remain."""
    as_user = {"user": user, "group": user, "extra_groups": []} if user != os.geteuid() else {}
    with (
        folder_of(user) as folder,
        listener(socket.AF_INET, ("127.0.0.1", 0)) as (address, by_network),
        listener(socket.AF_UNIX, str(folder / "victim" / "service")) as (_, by_name),
    ):
        os.chmod(folder / "victim" / "service", 0o777)
        before = state_of(folder / "victim")
        placeholders = {"VICTIM": str(folder / "victim"), "LISTENER": str(address[1]), "MARK": str(folder)}
        environment |= {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
        environment |= {"HOME": str(folder), "TMPDIR": str(folder), "TMP": str(folder)}
        environment["PLACEHOLDERS"] = json.dumps(placeholders)
        command = [python, "-m", "tests.transformer_course.sandbox.hostile.run", *([] if n is None else [str(n)])]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, **as_user)
        if "PermissionError" in done.stderr or "No module named" in done.stderr:
            pytest.skip(f"an unprivileged user cannot read the course: {done.stderr.strip().splitlines()[-1]}")
        assert done.returncode == 0, done.stderr
        assert state_of(folder / "victim") == before
        assert not by_network and not by_name
        assert not processes_with(str(folder))
        assert not [path for path in folder.iterdir() if path.name not in ("victim", *_notebook_folders(n))]
    return dict(json.loads(done.stdout))


def _notebook_folders(n: int | None) -> list[str]:
    return [f"notebook-{i}" for i in range(len(notebooks.NOTEBOOKS[:n]))]


def assert_expected_results(results: dict[str, dict[str, Any]], n: int | None, excluded: Sequence[Answer] = ()) -> None:
    for kind, answers in run.CLASSES.items():
        for answer in [answer for answer in answers[:n] if answer not in excluded]:
            result = results[f"{kind}: {answer.name}"]
            assert result["points"] == answer.points, (kind, answer.name, result)
            assert re.search(answer.message, result["message"]), (kind, answer.name, result)
        assert results[f"{kind}: a right answer at the end"]["points"] == 2
    for notebook in notebooks.NOTEBOOKS[:n]:
        result = results[f"notebooks: {notebook.name}"]
        assert result["points"] == notebook.passes, (notebook.name, result)
        assert not result["message"].startswith("only some"), (notebook.name, result)


@linux
@pytest.mark.slow
def test_grades_as_unprivileged_user(python: Path, thoroughness: Thoroughness):
    n = None if thoroughness.enabled else N_QUICK
    graded = grade_all(python, os.geteuid() or NOBODY, n)
    assert_expected_results(graded["results"], n)
    if not graded["guards"]["namespaces"]:
        pytest.skip("this system does not permit namespaces for unprivileged users")


@linux
@pytest.mark.thorough
def test_grades_as_unprivileged_user_without_namespaces(python: Path):
    graded = grade_all(python, os.geteuid() or NOBODY, None, NO_NAMESPACES="1")
    assert not graded["guards"]["namespaces"] and not graded["guards"]["own_disk"]
    if graded["guards"]["landlock"] < 6 or not graded["guards"]["seccomp"]:
        pytest.skip("without seccomp and Landlock's restriction of signals, the sandbox does not prevent these attacks")
    assert_expected_results(graded["results"], None, files.REQUIRE_PRIVATE_ROOT)


@linux
@pytest.mark.thorough
def test_grades_as_root():
    if os.geteuid() != 0:
        pytest.skip("only root can run this")
    graded = grade_all(Path(sys.executable), 0, None)
    assert graded["guards"]["own_user"]
    assert_expected_results(graded["results"], None)


def test_submissions_have_unique_names():
    assert sum(map(len, run.CLASSES.values())) + len(notebooks.NOTEBOOKS) >= 80
    for answers in run.CLASSES.values():
        assert len({answer.name for answer in answers}) == len(answers)
