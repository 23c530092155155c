"""Tests for running the sandbox in a container, with a fake container program that records its calls.

The fake program runs the command on this machine, so these tests do not test the isolation of a real container.
"""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from tests.transformer_course.sandbox.sample_submissions import grade_answer, linux, softmax_after, still_works
from transformer_course.sandbox import sandbox as sandbox_module
from transformer_course.sandbox.container import Container, containerfile
from transformer_course.sandbox.interpreter import SandboxError
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Sandbox

FAKE = """#!{python}
import json, os, sys
with open({calls!r}, "a") as file:
    text = sys.stdin.read() if sys.argv[1] == "build" else os.environ.get("DOCKER_HOST", "")
    file.write(json.dumps([sys.argv[1:], text]) + "\\n")
if sys.argv[1] == "run":
    python = len(sys.argv) - sys.argv[::-1].index("python")
    os.execv({python!r}, [{python!r}, *sys.argv[python:]])
sys.exit({codes}.get(sys.argv[1], 0))
"""


class Fake:
    """A folder with fake container programs."""

    def __init__(self, folder: Path, **codes: int) -> None:
        self._calls = folder / "calls"
        for tool in ("podman", "docker"):
            program = folder / tool
            program.write_text(FAKE.format(python=sys.executable, calls=str(self._calls), codes=codes))
            program.chmod(0o755)

    @property
    def calls(self) -> list[tuple[list[str], str]]:
        return [json.loads(line) for line in self._calls.read_text().splitlines()]


@linux
@pytest.mark.thorough
def test_container_sandbox_grades_like_normal_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake = Fake(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/user/7/docker.sock")
    with Sandbox(Limits(seconds=60.0, memory_mb=256), container=Container("podman", "an-image")) as sandbox:
        assert sandbox.guards["container"] == "podman"
        assert still_works(sandbox) and "exit 3" in grade_answer(sandbox, softmax_after("os._exit(3)")).verdict.message
        folder = sandbox.folder
    assert folder is not None and not folder.exists()
    (inspected, _), (run, host), (removed, _) = fake.calls
    assert host == "unix:///run/user/7/docker.sock" and "DOCKER_HOST" not in " ".join(run)
    assert inspected == ["image", "inspect", "an-image"]
    assert removed == ["rm", "--force", folder.name]
    command = " ".join(run)
    for option in ("--network none", "--read-only", "--cap-drop all", "--security-opt no-new-privileges", "--rm"):
        assert option in command
    assert re.search(r"--pids-limit \d+ --memory \d+m --user", command)
    assert [run[i + 1] for i, part in enumerate(run) if part == "--volume"] == [f"{folder}:{folder}:Z"]
    assert run[run.index("an-image") + 1] == "python" and "--privileged" not in command


def test_podman_keeps_user_id_except_for_root(tmp_path: Path, monkeypatch):
    for uid, option in ((1000, "--userns keep-id"), (0, f"--user 0:{os.getgid()}")):
        monkeypatch.setattr(os, "getuid", lambda uid=uid: uid)
        monkeypatch.setattr(os, "geteuid", lambda uid=uid: uid)
        assert f" {option} --volume" in " ".join(Container("podman").command(tmp_path, Limits(), {}))


def test_docker_runs_as_the_current_user(tmp_path: Path):
    command = Container("docker").command(tmp_path, Limits(), {"A": "b"})
    assert command[command.index("--user") + 1] == f"{os.getuid()}:{os.getgid()}" and "--userns" not in command
    assert command[command.index("--env") + 1] == "A=b"


def test_builds_missing_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake = Fake(tmp_path, image=1)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    Container("podman", "an-image").prepare()
    [_, (built, recipe)] = fake.calls
    assert built == ["build", "--tag", "an-image", "-"] and recipe == containerfile()
    assert re.search(r"^FROM \S*python:3\.\d+-slim\nRUN pip install .* torch==[\d.]+ tqdm==[\d.]+$", recipe, re.M)


def test_reports_and_cleans_up_failed_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    Fake(tmp_path, image=1, build=1)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with (
        pytest.raises(SandboxError, match="podman cannot build the image"),
        Sandbox(Limits(), container=Container("podman")),
    ):
        pass
    assert not list(tmp_path.glob(f"{sandbox_module.FOLDER_PREFIX}*"))


def test_reports_missing_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="podman"), Sandbox(Limits(), container=Container("podman")):
        pass
    with pytest.raises(ValueError, match="one of podman, docker; got 'lxc'"):
        Container("lxc")
