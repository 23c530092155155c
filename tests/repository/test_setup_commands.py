"""Tests for the commands of ``course.py``: the programs that they run, their output and their exit codes."""

import os
import signal
import subprocess
import sys

import pytest

from tests.helpers.fake_repository import PRINT_ARGUMENTS, Repository, error_message

if os.name == "nt":
    pytest.skip("Windows cannot run the fake programs, which are scripts", allow_module_level=True)

LAB_WITH_SLOW_SHUTDOWN = """
import signal, sys, time
def shut_down(*_):
    time.sleep(0.2)
    print("shut down", flush=True)
    sys.exit()
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, shut_down)
time.sleep(0.1)  # until course.py is waiting
print("open", flush=True)
time.sleep(60)
"""


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)  # Python would search it before the clone with the fake packages
    repository = Repository(tmp_path)
    repository.uv()
    repository.run("test", "--version")
    return repository


def test_passes_arguments_to_commands(repository):
    opened = repository.run("lab", "--no-browser", "--port", "8890")
    assert opened.stdout == "transformer_course/commands lab --no-browser --port 8890\n"
    assert (
        repository.run("test", "-k", "a or b", "-x").stdout
        == "pytest -n auto --maxprocesses 2 --dist loadfile -k a or b -x\n"
    )


def test_runs_all_checks_with_one_thread(repository):
    repository.fake("pytest", "import os; print('pytest', os.environ['OMP_NUM_THREADS'])")
    done = repository.run("test", OMP_NUM_THREADS="8")
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["ruff check", "ruff format --check", "pytest 1"]


def test_thorough_run_includes_all_checks(repository):
    done = repository.run("test", "--thorough")
    assert done.stdout.splitlines()[:2] == ["ruff check", "ruff format --check"]
    assert done.stdout.splitlines()[2] == "pytest -n 3 --dist loadfile --thorough"
    assert (
        repository.run("test", "--thorough", "-k", "softmax").stdout
        == "pytest -n auto --maxprocesses 2 --dist loadfile --thorough -k softmax\n"
    )


def test_site_installs_its_tools_once(repository):
    repository.fake("docs/site/__main__", PRINT_ARGUMENTS.format("site", 0))
    first, second = repository.run("site", "-o", "there"), repository.run("site")
    assert first.stdout.splitlines()[-1] == "site -o there"
    assert second.stdout == "site\n"
    assert [call.split()[-1] for call in repository.installed] == [".[test]", ".[site,test]"]
    assert repository.run("lab").stdout == "transformer_course/commands lab\n", (
        "the environment must still contain the site's packages"
    )


def test_pip_installs_site_tools_if_uv_is_missing(repository):
    (repository.programs / "uv").unlink()
    repository.pip("")
    repository.fake("docs/site/__main__", PRINT_ARGUMENTS.format("site", 0))
    assert repository.run("site").returncode == 0
    command = "pip install --disable-pip-version-check --no-compile -c constraints.txt -e .[site,test]"
    assert repository.installed[-1] == command
    repository.pip("sys.exit('ERROR: No matching distribution found for sphinx')")
    (repository.path / "pyproject.toml").write_text("# new")
    assert error_message(repository.run("site")) == "the install failed: No matching distribution found for sphinx"


def test_reports_every_failed_check(repository):
    repository.fake("ruff", PRINT_ARGUMENTS.format("ruff", "'check' in sys.argv"))
    repository.fake("pytest", PRINT_ARGUMENTS.format("pytest", 1))
    done = repository.run("test")
    assert error_message(done) == "failed: ruff check, pytest -n 3 --dist loadfile"
    assert "ruff format --check" in done.stdout.splitlines()


def test_preserves_the_pytest_exit_code(repository):
    repository.fake("pytest", PRINT_ARGUMENTS.format("pytest", 5))
    assert repository.run("test", "-k", "nothing").returncode == 5


@pytest.mark.parametrize(
    ("sent", "error", "code"), [(signal.SIGINT, "course.py: stopped\n", 130), (signal.SIGTERM, "", 0)]
)
def test_waits_for_the_lab_to_stop(repository, sent, error, code):
    repository.fake("transformer_course/commands", LAB_WITH_SLOW_SHUTDOWN)
    with subprocess.Popen(
        [sys.executable, "course.py", "lab"],
        cwd=repository.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # background processes in tests inherit an ignored SIGINT
    ) as lab:
        assert lab.stdout is not None
        assert lab.stdout.readline() == "open\n"
        if sent == signal.SIGINT:
            os.killpg(lab.pid, sent)  # on Ctrl-C, a terminal sends the signal to the whole process group
        else:
            lab.terminate()
        stdout, stderr = lab.communicate(timeout=30)
    assert (stdout, stderr, lab.returncode) == ("shut down\n", error, code)
