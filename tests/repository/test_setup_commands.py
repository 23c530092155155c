"""The two commands after the set-up: what they run, what they print, and their exit codes."""

import os
import signal
import subprocess
import sys

import pytest

from tests.helpers.fake_repository import PRINT_ARGUMENTS, Repository, complaint

if os.name == "nt":
    pytest.skip("Windows cannot run the fake programs, which are scripts", allow_module_level=True)

LAB_THAT_SAYS_FAREWELL = """
import signal, sys, time
def farewell(*_):
    time.sleep(0.2)
    print("shut down", flush=True)
    sys.exit()
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, farewell)
time.sleep(0.1)  # until course.py waits too
print("open", flush=True)
time.sleep(60)
"""


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)  # Python would search it before the clone's fakes
    made = Repository(tmp_path)
    made.uv()
    made.run("test", "--version")
    return made


def test_arguments_pass_through(repository):
    opened = repository.run("lab", "--no-browser", "--port", "8890")
    assert opened.stdout == "transformer_course/commands lab --no-browser --port 8890\n"
    assert (
        repository.run("test", "-k", "a or b", "-x").stdout
        == "pytest -n auto --maxprocesses 2 --dist loadfile -k a or b -x\n"
    )


def test_all_checks_run_with_one_thread_each(repository):
    repository.fake("pytest", "import os; print('pytest', os.environ['OMP_NUM_THREADS'])")
    done = repository.run("test", OMP_NUM_THREADS="8")
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["ruff check", "ruff format --check", "pytest 1"]


def test_thorough_run_makes_all_checks_and_repeats_tests(repository):
    done = repository.run("test", "--thorough")
    assert done.stdout.splitlines()[:2] == ["ruff check", "ruff format --check"]
    assert done.stdout.splitlines()[2] == "pytest -n 3 --dist loadfile --thorough"
    assert (
        repository.run("test", "--thorough", "-k", "softmax").stdout
        == "pytest -n auto --maxprocesses 2 --dist loadfile --thorough -k softmax\n"
    )


def test_site_adds_its_tools_once(repository):
    repository.fake("docs/site/__main__", PRINT_ARGUMENTS.format("site", 0))
    first, second = repository.run("site", "-o", "there"), repository.run("site")
    assert first.stdout.splitlines()[-1] == "site -o there"
    assert second.stdout == "site\n"
    assert [call.split()[-1] for call in repository.installed] == [".[test]", ".[site,test]"]
    assert repository.run("lab").stdout == "transformer_course/commands lab\n", (
        "the environment with the site's packages must be kept"
    )


def test_pip_adds_the_site_if_uv_is_missing(repository):
    (repository.programs / "uv").unlink()
    repository.pip("")
    repository.fake("docs/site/__main__", PRINT_ARGUMENTS.format("site", 0))
    assert repository.run("site").returncode == 0
    command = "pip install --disable-pip-version-check --no-compile -c constraints.txt -e .[site,test]"
    assert repository.installed[-1] == command
    repository.pip("sys.exit('ERROR: No matching distribution found for sphinx')")
    (repository.path / "pyproject.toml").write_text("# new")
    assert complaint(repository.run("site")) == "the install failed: No matching distribution found for sphinx"


def test_reports_every_failure(repository):
    repository.fake("ruff", PRINT_ARGUMENTS.format("ruff", "'check' in sys.argv"))
    repository.fake("pytest", PRINT_ARGUMENTS.format("pytest", 1))
    done = repository.run("test")
    assert complaint(done) == "failed: ruff check, pytest -n 3 --dist loadfile"
    assert "ruff format --check" in done.stdout.splitlines()


def test_preserves_the_exit_code_of_pytest(repository):
    repository.fake("pytest", PRINT_ARGUMENTS.format("pytest", 5))
    assert repository.run("test", "-k", "nothing").returncode == 5


@pytest.mark.parametrize(
    ("sent", "complaint", "code"), [(signal.SIGINT, "course.py: stopped\n", 130), (signal.SIGTERM, "", 0)]
)
def test_waits_for_the_lab_to_stop(repository, sent, complaint, code):
    repository.fake("transformer_course/commands", LAB_THAT_SAYS_FAREWELL)
    with subprocess.Popen(
        [sys.executable, "course.py", "lab"],
        cwd=repository.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # background processes ignore SIGINT in tests
    ) as lab:
        assert lab.stdout is not None
        assert lab.stdout.readline() == "open\n"
        if sent == signal.SIGINT:
            os.killpg(lab.pid, sent)  # a terminal sends Ctrl-C to all
        else:
            lab.terminate()
        said, complained = lab.communicate(timeout=30)
    assert (said, complained, lab.returncode) == ("shut down\n", complaint, code)
