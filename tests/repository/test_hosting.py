"""What others run for us: Binder, dev containers and workflows cannot be run here, so what they name is looked up."""

import json
import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import course
import transformer_lab
from transformer_course.commands.main import main

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SCRIPTS = [ROOT / ".binder" / name for name in ("postBuild", "start")]


def commands(script: Path) -> list[list[str]]:
    lines = script.read_text(encoding="utf-8").splitlines()
    return [shlex.split(line) for line in lines if line and not line.startswith("#")]


@pytest.mark.skipif(os.name == "nt", reason="Binder runs Linux")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_of_binder_can_be_run(script):
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)


def test_binder_installs_the_course_and_lays_out_the_lessons(tmp_path, monkeypatch, capsys):
    _, install, release = commands(SCRIPTS[0])
    assert install[-2:] == ["--no-cache-dir", "."]
    environment = yaml.safe_load((ROOT / ".binder" / "environment.yml").read_text(encoding="utf-8"))
    assert "python=3.11" in environment["dependencies"]
    monkeypatch.chdir(tmp_path)
    assert release[0] == "transformer-course"
    assert main(release[1:]) == 0
    assert capsys.readouterr().out.endswith("The lessons are in my-lessons.\n")
    exported = dict(word.split("=", 1) for line in commands(SCRIPTS[1]) for word in line if "=" in word)
    assert exported["TRANSFORMER_LAB_LESSONS"] == "$PWD/my-lessons"
    assert (tmp_path / "my-lessons" / "01_lookup.ipynb").is_file()


def test_the_dev_container_sets_the_course_up():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert container["image"].endswith(":3.11")
    assert container["postCreateCommand"].endswith("python3 course.py lab --version")
    [python] = [container["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]]
    assert python.removeprefix("${containerWorkspaceFolder}/") == course.PYTHON.relative_to(ROOT).as_posix()


def test_the_shards_of_the_weekly_run_are_all_of_it():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["thorough"]
    shards = job["strategy"]["matrix"]["shard"]
    assert shards == [*range(1, len(shards) + 1)]
    assert job["steps"][-1]["run"] == f".ci/run --thorough --shard ${{{{ matrix.shard }}}}/{len(shards)}"


def test_a_workflow_tries_the_lowest_and_the_highest_versions_that_are_claimed():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "install.yml").read_text(encoding="utf-8"))
    tried = workflow["jobs"]["install"]["strategy"]["matrix"]["include"]
    claimed = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line]
    assert sorted({job["python"] for job in tried}) == claimed
    assert PROJECT["requires-python"] == f">={claimed[0]}"
    [torch] = [requirement for requirement in PROJECT["dependencies"] if requirement.startswith("torch>=")]
    [oldest] = {job["torch"] for job in tried} - {"torch"}
    assert oldest == f"{torch.replace('>=', '==')}.*"


def test_the_version_is_the_same_wherever_it_is_written():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[0]
    assert citation["version"] == newest == PROJECT["version"] == transformer_lab.__version__
