"""The set-up: each test runs course.py as a user would, and provokes what can go wrong."""

import ast
import os
import sys

import pytest

from tests.helpers.fake_repository import COURSE, PRINT_ARGUMENTS, Repository, complaint

if os.name == "nt":
    pytest.skip("the fake programs are scripts that Windows does not start", allow_module_level=True)

WITHOUT = "import sys; sys.modules[{!r}] = None"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)  # it would be searched before the clone's fakes
    return Repository(tmp_path)


def test_an_old_python_is_told_its_version(repository):
    said = complaint(repository.run("lab", before="sys.version_info = (3, 6, 15, 'final', 0)"))
    assert said == f"Transformer Course needs Python 3.11 or newer, and this is 3.6.15 ({sys.executable})"


def test_an_old_python_can_read_that_far():
    ast.parse(COURSE.read_text(), feature_version=(3, 7))  # Python 3.6 differs in nothing that is used here


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_python_without_venv_is_told_how_to_get_it(repository, module):
    said = complaint(repository.run("lab", before=WITHOUT.format(module)))
    assert said == "this Python comes without venv; on Debian and Ubuntu: sudo apt install python3-venv"
    assert not (repository.path / ".venv").exists()


def test_uv_needs_no_ensurepip(repository):
    repository.uv()
    assert repository.run("lab", before=WITHOUT.format("ensurepip")).returncode == 0


def test_too_little_disk_is_told_before_anything_is_made(repository):
    little = "import shutil, types; shutil.disk_usage = lambda path: types.SimpleNamespace(free=123_000_000)"
    said = complaint(repository.run("test", before=little))
    assert said == f"the environment needs 2 GB of disk, and {repository.path} has 0.1 GB left"
    assert not (repository.path / ".venv").exists()


def test_a_disk_that_fills_up_is_named(repository):
    repository.pip("import sys; sys.exit('ERROR: Could not install: [Errno 28] No space left on device')")
    assert complaint(repository.run("test", TMPDIR="/some/tmp")) == (
        "the install failed: the disk is full (.venv, or /some/tmp)"
    )
    assert not repository.stamp.exists()


@pytest.mark.slow
def test_a_missing_network_is_named(repository):
    (repository.path / "pyproject.toml").write_text("[build-system]\nrequires = ['setuptools']\n")
    nowhere = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": "",
        "PIP_RETRIES": "1",
        "PIP_PROXY": "http://localhost:9",
    }
    done = repository.run("test", **nowhere)  # the real pip, which only does not get out
    assert complaint(done) == "the install failed: the packages cannot be reached; is there a network?"
    assert not repository.stamp.exists()


def test_any_other_failure_gives_the_last_of_pips_own_words(repository):
    repository.pip(
        "import sys; sys.exit('WARNING: one\\nERROR: No matching distribution found for torch\\nnote: a note')"
    )
    assert complaint(repository.run("lab")) == "the install failed: No matching distribution found for torch"


def test_pip_installs_where_uv_cannot(repository):
    repository.uv("sys.exit(2)")
    repository.pip(PRINT_ARGUMENTS.format("pip", 0))
    done = repository.run("lab")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == [
        "uv could not install the course, so pip tries.",
        "pip install --disable-pip-version-check --no-compile -c constraints.txt -e .[test]",
        "transformer_course/commands lab",
    ]


def test_a_newer_pip_is_asked_for_and_done_without(repository):
    note = f"import sys; print(*sys.argv[1:], file=open({str(repository.installs)!r}, 'a'))\n"
    repository.pip(note + "sys.exit('ERROR: no newer one' if '--upgrade' in sys.argv else 0)")
    done = repository.run("lab")
    assert done.returncode == 0
    assert "no newer one" not in done.stdout + done.stderr
    newer, course = repository.installed
    assert newer.endswith("--upgrade pip")
    assert course.endswith("-e .[test]")


def test_what_every_lesson_imports_is_compiled_when_it_has_been_installed_and_not_again(repository):
    repository.uv()
    imported = repository.path / "imported"
    repository.fake("torch/_dynamo", f"import sys; print(sys.dont_write_bytecode, file=open({str(imported)!r}, 'a'))")
    for _ in range(2):
        assert repository.run("lab", PYTHONDONTWRITEBYTECODE="1").returncode == 0
    assert imported.read_text() == "False\n"


def test_an_environment_that_cannot_be_made_is_named(repository):
    repository.fake("venv", "import sys; sys.exit('Error: Permission denied')")
    said = complaint(repository.run("lab"))
    assert said == f"no environment could be made in {repository.path / '.venv'}: Error: Permission denied"


@pytest.mark.parametrize("end", ["sys.exit(1)", "os.kill(os.getppid(), signal.SIGKILL)"], ids=["failed", "killed"])
def test_a_half_made_environment_is_not_trusted(repository, end):
    half = repository.path / ".venv" / "half"
    repository.uv(f"open({str(half)!r}, 'w'); {end}")
    assert repository.run("lab", before=WITHOUT.format("ensurepip")).returncode != 0
    assert half.exists()
    repository.uv()
    assert repository.run("lab").stdout.splitlines()[-1] == "transformer_course/commands lab"
    assert not half.exists()
    assert len(repository.installed) == 2


def test_an_environment_once_trusted_is_no_longer_while_it_is_made_anew(repository):
    repository.uv()
    repository.run("lab")
    (repository.path / "constraints.txt").write_text("torch==1.0")
    repository.fake("venv", "import os, signal; os.kill(os.getppid(), signal.SIGKILL)")  # half of the old one is gone
    repository.run("lab")
    (repository.path / "venv.py").unlink()
    (repository.path / "constraints.txt").write_text("")  # what the old one was made for
    repository.run("lab")
    assert len(repository.installed) == 2


def test_the_second_run_installs_nothing(repository):
    repository.uv()
    first, second = repository.run("lab"), repository.run("test", "-k", "masks")
    assert "Making the environment" in first.stdout
    assert second.stdout == "pytest -n auto --maxprocesses 2 --dist loadfile -k masks\n"
    python = repository.path / ".venv" / "bin" / "python"
    assert repository.installed == [f"pip install --python {python} -c constraints.txt -e .[test]"]


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_new_versions_are_installed(repository, name):
    repository.uv()
    repository.run("lab")
    (repository.path / name).write_text("# new")
    repository.run("lab")
    assert len(repository.installed) == 2


def test_a_clone_that_moved_is_set_up_anew(repository):
    repository.uv()
    repository.run("lab")
    repository.path = repository.path.rename(repository.path.with_name("moved"))
    repository.run("lab")
    assert len(repository.installed) == 2


def test_an_unknown_command_is_answered_with_the_known_ones(repository):
    assert complaint(repository.run("lba")) == "there is no command 'lba'; there are lab, test, site"


def test_help_sets_nothing_up(repository):
    assert "python3 course.py lab" in repository.run("--help").stdout
    assert repository.run().returncode == 2
    assert not (repository.path / ".venv").exists()
