"""Test the files and commands that images, dev containers and workflows use, because tests cannot run these."""

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import course
import transformer_lab

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def instructions(name: str) -> list[str]:
    """Return the arguments of each Dockerfile instruction with this name, with continuation lines joined."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return [" ".join(line.removeprefix(name).split()) for line in joined.splitlines() if line.startswith(f"{name} ")]


def test_image_starts_the_lab():
    [start] = map(json.loads, instructions("CMD"))
    assert start == ["transformer-course", "lab", "--no-browser", "--ip=0.0.0.0"]
    assert instructions("ENTRYPOINT") == []
    assert instructions("FROM") == ["python:3.12-slim"]
    assert "Programming Language :: Python :: 3.12" in PROJECT["classifiers"]


def test_image_installs_the_course_without_cuda():
    [install] = [line for line in instructions("RUN") if "uv pip install" in line]
    assert install.endswith(f"--torch-backend cpu {' '.join(course.CONSTRAINTS)} .")
    assert f'"{course.UV}"' in instructions("RUN")[0]


@pytest.mark.skipif(os.name == "nt", reason="the image runs Linux")
def test_binder_commands_start_the_lab(tmp_path):
    """Write the launchers to a temporary folder with the Dockerfile's command, and call them as Binder does."""
    [line] = [line for line in instructions("RUN") if "printf" in line]
    subprocess.run(["sh", "-c", line.replace("/usr/local/bin", str(tmp_path))], check=True)
    (tmp_path / "transformer-course").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "transformer-course").chmod(0o755)
    assert {path.name for path in tmp_path.iterdir()} == {"jupyter-lab", "jupyter-notebook", "transformer-course"}
    for name in ("jupyter-lab", "jupyter-notebook"):
        command = [tmp_path / name, "--ip=0.0.0.0", "--NotebookApp.token=a b"]
        env = {"PATH": f"{tmp_path}:/bin:/usr/bin"}
        called = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        assert called.stdout == "lab --no-browser --ip=0.0.0.0 --NotebookApp.token=a b\n"


def test_image_excludes_what_git_ignores():
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {".git", ".venv", "my-lessons", "build"} <= {*ignored}


def test_image_has_the_user_that_binder_expects():
    assert instructions("USER") == ["learner"]
    assert "useradd --create-home --home-dir /learner --uid 1000 learner" in instructions("RUN")[0]
    assert instructions("WORKDIR") == ["/learner"]


def test_dev_container_uses_the_image():
    folder = ROOT / ".devcontainer"
    container = json.loads((folder / "devcontainer.json").read_text(encoding="utf-8"))
    assert (folder / container["build"]["dockerfile"]).resolve() == ROOT / "Dockerfile"
    assert (folder / container["build"]["context"]).resolve() == ROOT
    assert [container["remoteUser"]] == instructions("USER")
    assert container["postAttachCommand"].split() == json.loads(instructions("CMD")[0])
    assert [str(port) for port in container["forwardPorts"]] == instructions("EXPOSE")


def test_workflow_tests_each_system_and_the_newest_python():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["systems"]
    matrix = job["strategy"]["matrix"]["include"]
    assert {entry["os"].partition("-")[0] for entry in matrix} == {"ubuntu", "windows", "macos"}
    assert "3.13" in {entry["python"] for entry in matrix}
    assert job["steps"][-1]["run"] == 'python course.py test -m "not slow"'


def test_shards_of_the_weekly_run_cover_everything():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["thorough"]
    shards = job["strategy"]["matrix"]["shard"]
    assert shards == [*range(1, len(shards) + 1)]
    assert job["steps"][-1]["run"] == f".ci/run --thorough --shard ${{{{ matrix.shard }}}}/{len(shards)}"


def test_workflow_tests_oldest_and_newest_supported_versions():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "install.yml").read_text(encoding="utf-8"))
    matrix = workflow["jobs"]["install"]["strategy"]["matrix"]["include"]
    supported = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line]
    assert sorted({job["python"] for job in matrix}) == supported
    assert PROJECT["requires-python"] == f">={supported[0]}"
    [torch] = [requirement for requirement in PROJECT["dependencies"] if requirement.startswith("torch>=")]
    [oldest] = {job["torch"] for job in matrix} - {"torch"}
    assert oldest == f"{torch.replace('>=', '==')}.*"


def test_version_is_the_same_in_all_files():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[0]
    assert citation["version"] == newest == PROJECT["version"] == transformer_lab.__version__
