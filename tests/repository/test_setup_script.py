"""Tests for the setup. Most of them run ``course.py`` as a user would and provoke one problem."""

import ast
import json
import os
import platform
import sys
import sysconfig

import pytest

import course
from tests.helpers.fake_repository import COURSE, QUICK_ENVIRONMENT, Repository, error_message

if os.name == "nt":
    pytest.skip("Windows cannot run the fake programs, which are scripts", allow_module_level=True)

HIDE_MODULE = "import sys; sys.modules[{!r}] = None"
FREE_SPACE = "import shutil, types; shutil.disk_usage = lambda path: types.SimpleNamespace(free={})"
ON_LINUX = "import platform; platform.system = lambda: 'Linux'"
INSTALL_UV = """
if 'uv>=0.8,<1' in sys.argv:
    import shutil
    shutil.copy({!r}, '.venv/bin/uv')
elif 'install' in sys.argv:
    sys.exit('ERROR: pip should install only uv')
"""
CUDA_PLAN = "print('Would install 2 packages\\n + nvidia-nccl-cu13==2.29\\n + torch==2.13.0')"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)  # Python would search it before the clone with the fake packages
    for name in [name for name in os.environ if name.startswith(("UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    return Repository(tmp_path)


def test_old_python_prints_required_version_and_advice(repository):
    done = repository.run("lab", "--no-browser", before="sys.version_info = (3, 6, 15, 'final', 0)")
    assert done.returncode == 1
    first, advice, command = done.stderr.splitlines()
    assert (
        first == f"course.py: Transformer Course requires Python 3.11 or newer, but this is 3.6.15 ({sys.executable})."
    )
    assert "https://www.python.org/downloads/" in advice
    assert command.strip() == "uv run --no-project --python 3.12 course.py lab --no-browser"


def test_old_python_can_parse_the_script():
    ast.parse(COURSE.read_text(), feature_version=(3, 7))  # the oldest grammar that ast supports


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_install_without_venv_names_debian_package(repository, module):
    message = error_message(repository.run("lab", before=HIDE_MODULE.format(module)))
    assert message == "this Python has no venv module; on Debian and Ubuntu, run: sudo apt install python3-venv"
    assert not (repository.path / ".venv").exists()


def test_uv_does_not_need_ensurepip(repository):
    repository.uv()
    repository.fake("venv", f"{QUICK_ENVIRONMENT}\nsys.exit('--without-pip' not in sys.argv)")
    assert repository.run("lab", before=HIDE_MODULE.format("ensurepip")).returncode == 0


@pytest.mark.parametrize(
    ("system", "machine", "mac", "message"),
    [
        ("Darwin", "x86_64", "15.1", "no build for Intel Macs"),
        ("Darwin", "arm64", "13.7.2", "requires macOS 14 or newer, but this is macOS 13.7.2"),
        ("Windows", "ARM64", "", "no build for Windows on ARM"),
        ("Linux", "riscv64", "", "no build for Linux on riscv64"),
        ("Linux", "armv7l", "", "no build for Linux on armv7l"),
        ("Darwin", "arm64", "14.0", None),
        ("Darwin", "arm64", "26.1", None),
        ("Windows", "AMD64", "", None),
        ("Linux", "x86_64", "", None),
        ("Linux", "aarch64", "", None),
    ],
)
def test_unsupported_platform_prints_one_line(monkeypatch, system, machine, mac, message):
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(platform, "mac_ver", lambda: (mac, ("", "", ""), machine))
    problem = course.platform_problem()
    if message is None:
        assert problem is None
    else:
        assert problem is not None
        assert message in problem
        assert "\n" not in problem


def test_install_on_unsupported_python_lists_supported_versions(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 15, 0, "final", 0))
    problem = course.platform_problem()
    assert problem is not None
    assert "no build for Python 3.15; use Python 3.11 to 3.14" in problem


def test_musl_and_32_bit_python_are_unsupported(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(platform, "system", lambda: "Linux")
        patch.setattr(platform, "machine", lambda: "x86_64")
        patch.setattr(sysconfig, "get_config_var", lambda name: "x86_64-pc-linux-musl")
        assert "musl" in str(course.platform_problem())
    monkeypatch.setattr(sys, "maxsize", 2**31 - 1)
    assert "32-bit" in str(course.platform_problem())


def test_unsupported_platform_stops_before_install(repository):
    repository.uv()
    intel = "import platform; platform.system, platform.machine = lambda: 'Darwin', lambda: 'x86_64'"
    assert "Intel Macs" in error_message(repository.run("lab", before=intel))
    assert not (repository.path / ".venv").exists()


def test_pytorch_version_matches_constraints():
    assert f"torch=={course.PYTORCH}\n" in (COURSE.parent / "constraints.txt").read_text()


@pytest.mark.parametrize(
    ("folder", "long_paths", "fits"),
    [
        (r"C:\course", False, True),
        ("C:\\" + 64 * "a", False, True),  # 67 characters + a separator + 191 characters for PyTorch's license = 259
        ("C:\\" + 65 * "a", False, False),
        (r"D:\students\anna.schmidt\OneDrive - University of Somewhere\Documents\transformer-course", False, False),
        (r"D:\students\anna.schmidt\OneDrive - University of Somewhere\Documents\transformer-course", True, True),
    ],
)
def test_rejects_too_long_windows_path(folder, long_paths, fits):
    problem = course.path_problem(folder, long_paths)
    assert (problem is None) == fits
    if problem is not None:
        assert f"has {len(folder)} characters" in problem
        assert r"C:\course" in problem


def test_long_paths_are_enabled_outside_windows():
    assert course.long_paths_enabled()


@pytest.mark.parametrize(("command", "size"), [("lab", "1.5"), ("test", "2.0"), ("site", "2.3")])
def test_small_disk_stops_before_install(repository, command, size):
    message = error_message(repository.run(command, before=FREE_SPACE.format(123_000_000)))
    assert message == f"the install needs {size} GB of disk space, but {repository.path} has 0.1 GB left"
    assert not (repository.path / ".venv").exists()


def test_cuda_install_with_uv_requires_more_disk_space(repository):
    repository.uv(CUDA_PLAN)
    message = error_message(repository.run("lab", before=FREE_SPACE.format(2.9e9)))
    needs = f"the install, with CUDA, needs 6.5 GB of disk space, but {repository.path} has 2.9 GB left; "
    assert message == needs + "set UV_TORCH_BACKEND=cpu to install PyTorch without CUDA, from PyTorch's own index"
    assert repository.installed == []


def test_cuda_install_with_pip_requires_more_disk_space(repository):
    repository.pip("")
    before = f"{FREE_SPACE.format(2.9e9)}; {ON_LINUX}"
    assert "with CUDA, needs 6.5 GB" in error_message(repository.run("lab", before=before))
    # A package source that the user configures may have a PyTorch build without CUDA.
    repository.pip("print('global.find-links=\\'/wheels\\'')")
    assert repository.run("lab", before=before).returncode == 0


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_reports_full_disk_and_cleans_up(repository, installer):
    half = "import os; os.makedirs('.venv/lib/half', exist_ok=True); "
    if installer == "uv":
        repository.uv(half + "sys.exit('--dry-run' not in sys.argv and 'error: No space left on device (os error 28)')")
    else:
        repository.pip(half + "sys.exit('ERROR: Could not install: [Errno 28] No space left on device')")
    assert error_message(repository.run("test", TMPDIR="/some/tmp")).startswith("the install failed: the disk is full")
    assert [path.name for path in (repository.path / ".venv").iterdir()] == ["install.log"]
    assert "No space left" in (repository.path / ".venv" / "install.log").read_text()


@pytest.mark.slow
def test_reports_missing_network(repository):
    for name in ("venv", "pip"):
        (repository.path / f"{name}.py").unlink()
    (repository.path / "pyproject.toml").write_text("[build-system]\nrequires = ['setuptools']\n")
    no_network = {"PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "1", "PIP_PROXY": "http://localhost:9"}
    done = repository.run("test", **no_network)  # the real pip
    assert error_message(done) == "the install failed: cannot reach the package index; check your network connection"
    assert not repository.stamp.exists()


def test_failure_prints_last_pip_error(repository):
    repository.pip(
        "import sys; sys.exit('WARNING: one\\nERROR: No matching distribution found for torch\\nnote: a note')"
    )
    assert error_message(repository.run("lab")) == "the install failed: No matching distribution found for torch"


def test_pip_installs_uv_and_uv_installs_packages(repository, tmp_path):
    repository.uv(program=tmp_path / "wheel")
    repository.pip(INSTALL_UV.format(str(tmp_path / "wheel")))
    assert repository.run("lab").returncode == 0
    getting, installing = repository.installed
    assert getting.startswith("pip install") and getting.endswith("--only-binary :all: uv>=0.8,<1")
    python = repository.path / ".venv" / "bin" / "python"
    assert installing == f"uv pip install --python {python} -c constraints.txt -e ."


def test_deletes_cache_created_by_downloaded_uv(repository, tmp_path):
    fill_cache = "cache = os.environ.get('UV_CACHE_DIR')\nif cache: open(cache + '/wheel', 'w')"
    repository.uv(fill_cache + "; print(cache)", program=tmp_path / "wheel")
    repository.pip(INSTALL_UV.format(str(tmp_path / "wheel")))
    assert repository.run("lab").returncode == 0
    assert f"{repository.path}/.venv/uv-cache-" in (repository.path / ".venv" / "install.log").read_text()
    assert not [*(repository.path / ".venv").glob("uv-cache-*")]


@pytest.mark.parametrize("when", ["'--dry-run' in sys.argv", "'--dry-run' not in sys.argv"], ids=["resolve", "install"])
def test_pip_installs_if_uv_fails(repository, when):
    repository.uv(f"sys.exit(2 if {when} else 0)")
    repository.pip("")
    assert repository.run("lab").returncode == 0
    assert repository.installed[-1] == "pip install --disable-pip-version-check --no-compile -c constraints.txt -e ."


def test_uv_uses_package_sources_configured_for_pip(repository):
    names = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_STRATEGY", "UV_FIND_LINKS", "SSL_CERT_FILE", "ALL_PROXY")
    repository.uv(f"print({{name: os.environ.get(name) for name in {names}}})")
    listed = [
        "global.index-url='https://mirror.example/simple'",
        "global.find-links='/old'",
        r"global.extra-index-url='\nhttps://one.example\nhttps://two.example'",
        "install.constraint='/etc/pip/constraints.txt'",
        "global.no-index='yes'",
        "global.timeout='60'",
        ":env:.find-links='/wheels /more'",
        ":env:.cert='/etc/certificates.pem'",
    ]
    repository.pip(f"if sys.argv[1:] == ['config', 'list']: print({chr(10).join(listed)!r})")
    assert repository.run("lab", SSL_CERT_FILE="/of/uv.pem").returncode == 0
    used = ast.literal_eval((repository.path / ".venv" / "install.log").read_text().splitlines()[-1])
    assert used == {
        "UV_DEFAULT_INDEX": "https://mirror.example/simple",
        "UV_INDEX": "https://one.example https://two.example",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/wheels,/more",
        "SSL_CERT_FILE": "/of/uv.pem",
        "ALL_PROXY": None,
    }
    assert repository.installed[0].endswith("-c /etc/pip/constraints.txt --no-index -c constraints.txt -e .")


@pytest.mark.parametrize(
    ("system", "variables", "reachable", "tried"),
    [
        ("Linux", {}, True, ["auto", "auto"]),
        ("Linux", {}, False, ["auto", None, None]),
        ("Linux", {"UV_TORCH_BACKEND": "cu130"}, True, ["cu130", "cu130"]),
        ("Darwin", {}, True, [None, None]),
    ],
)
def test_linux_installs_cpu_only_pytorch_by_default(repository, system, variables, reachable, tried):
    backend = "os.environ.get('UV_TORCH_BACKEND')"
    repository.uv(f"print({backend}); sys.exit({backend} == 'auto' and not {reachable})")
    before = f"import platform; platform.system, platform.machine = lambda: {system!r}, lambda: 'arm64'"
    before += "; platform.machine = lambda: 'aarch64' if platform.system() == 'Linux' else 'arm64'"
    before += "; platform.mac_ver = lambda: ('15.0', (), '')"
    assert repository.run("lab", before=before, **variables).returncode == 0
    lines = (repository.path / ".venv" / "install.log").read_text().splitlines()
    assert [line for line in lines if not line.startswith("$")] == [str(backend) for backend in tried]


def test_install_prints_at_most_ten_lines(repository):
    repository.uv("print('noise\\n' * 500)")
    done = repository.run("lab")
    assert 3 <= len(done.stdout.splitlines()) <= 10
    assert "noise" not in done.stdout + done.stderr
    assert (repository.path / ".venv" / "install.log").read_text().count("noise") >= 1000


def test_ignores_failed_pip_upgrade(repository):
    repository.pip("sys.exit('ERROR: no newer pip' if '--upgrade' in sys.argv or 'uv>=0.8,<1' in sys.argv else 0)")
    done = repository.run("lab")
    assert done.returncode == 0
    assert "no newer pip" not in done.stdout + done.stderr
    _, upgrading, installing = repository.installed
    assert upgrading.endswith("--upgrade pip")
    assert installing.endswith("-e .")


def test_compiles_lesson_imports_once(repository):
    repository.uv()
    imported = repository.path / "imported"
    repository.fake("torch/_dynamo", f"import sys; print(sys.dont_write_bytecode, file=open({str(imported)!r}, 'a'))")
    for _ in range(2):
        assert repository.run("lab", PYTHONDONTWRITEBYTECODE="1").returncode == 0
    assert imported.read_text() == "False\n"


def test_reports_failing_venv(repository):
    repository.fake("venv", "import sys; sys.exit('Error: Permission denied')")
    message = error_message(repository.run("lab"))
    assert message == f"could not create an environment in {repository.path / '.venv'}: Error: Permission denied"


def test_restarts_install_that_was_killed(repository):
    half = repository.path / ".venv" / "half"
    repository.uv(f"open({str(half)!r}, 'w'); os.kill(os.getppid(), signal.SIGKILL)")
    assert repository.run("lab").returncode != 0
    assert half.exists()
    repository.uv()
    assert repository.run("lab").stdout.splitlines()[-1] == "transformer_course/commands lab"
    assert not half.exists()


def test_interrupted_install_leaves_only_the_log(repository):
    repository.uv("os.makedirs('.venv/lib/half', exist_ok=True); os.kill(os.getppid(), signal.SIGINT)")
    done = repository.run("lab", before="import signal; signal.signal(signal.SIGINT, signal.default_int_handler)")
    assert done.returncode == 130
    assert done.stderr == "course.py: stopped\n"
    assert [path.name for path in (repository.path / ".venv").iterdir()] == ["install.log"]


def test_ignores_corrupted_stamp_file(repository):
    repository.uv()
    repository.run("lab")
    repository.stamp.write_text("")
    assert repository.run("lab").returncode == 0
    assert len(repository.installed) == 2


def test_recreates_partly_replaced_environment(repository):
    repository.uv()
    repository.run("lab")
    (repository.path / "constraints.txt").write_text("torch==1.0")
    # Kill the process while it deletes the old environment.
    repository.fake("venv", "import os, signal; os.kill(os.getppid(), signal.SIGKILL)")
    repository.run("lab")
    (repository.path / "venv.py").unlink()
    (repository.path / "constraints.txt").write_text("")  # the old environment was created for empty constraints
    repository.run("lab")
    assert len(repository.installed) == 2


def test_second_run_installs_nothing(repository):
    repository.uv()
    first, second = repository.run("test", "-x"), repository.run("test", "-k", "masks")
    assert "Installing the course" in first.stdout
    assert second.stdout == "pytest -n auto --maxprocesses 2 --dist loadfile -k masks\n"
    python = repository.path / ".venv" / "bin" / "python"
    assert repository.installed == [f"uv pip install --python {python} -c constraints.txt -e .[test]"]


def test_adds_test_tools_to_existing_environment(repository):
    repository.uv()
    repository.run("lab")
    kept = repository.path / ".venv" / "kept"
    kept.touch()
    assert "Installing the tools for 'test'" in repository.run("test").stdout
    repository.run("lab")
    assert [call.split()[-1] for call in repository.installed] == [".", ".[test]"]
    assert kept.exists()


def test_failed_install_of_test_tools_preserves_environment(repository):
    repository.uv()
    repository.run("lab")
    repository.uv("sys.exit(1)")
    assert error_message(repository.run("test"))
    assert repository.run("lab").stdout == "transformer_course/commands lab\n"


def test_update_preserves_test_tools(repository):
    repository.uv()
    repository.run("test")
    (repository.path / "constraints.txt").write_text("# new")
    repository.run("lab")
    assert [call.split()[-1] for call in repository.installed] == [".[test]", ".[test]"]
    assert json.loads(repository.stamp.read_text())["extras"] == ["test"]


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_installs_changed_requirements(repository, name):
    repository.uv()
    repository.run("lab")
    (repository.path / name).write_text("# new")
    repository.run("lab")
    assert len(repository.installed) == 2


def test_creates_new_environment_for_moved_clone(repository):
    repository.uv()
    repository.run("lab")
    repository.path = repository.path.rename(repository.path.with_name("moved"))
    repository.run("lab")
    assert len(repository.installed) == 2


def test_unknown_command_lists_all_commands(repository):
    assert error_message(repository.run("lba")) == "unknown command 'lba'; the commands are lab, test, site"


def test_help_installs_nothing(repository):
    assert "python3 course.py lab" in repository.run("--help").stdout
    assert repository.run().returncode == 2
    assert not (repository.path / ".venv").exists()
