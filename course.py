#!/usr/bin/env python3
"""Set up and run Transformer Course. You need only Python 3.11 or newer.

    python3 course.py lab     open the lessons; you can add options of JupyterLab, such as --no-browser --port 8890
    python3 course.py test    run all tests; with arguments of pytest, such as -k masks, run only pytest
    python3 course.py test --thorough    run all tests with more seeds, examples and lessons; takes hours
    python3 course.py site    build the web edition in build/site; to use a different folder, add -o FOLDER

The first run installs the course into .venv, next to this file. "test" and "site" install extra tools.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - an older Python gets this message, so Python 3.6 must parse this file
    sys.exit(
        "course.py: Transformer Course requires Python 3.11 or newer, "
        f"but this is {'.'.join(map(str, sys.version_info[:3]))} ({sys.executable}).\n"
        "Install a newer Python from https://www.python.org/downloads/, or with uv (https://docs.astral.sh/uv/):\n"
        "    uv run --no-project --python 3.12 course.py " + (" ".join(sys.argv[1:]) or "lab")
    )

import ast
import hashlib
import importlib.util
import io
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PROGRAMS = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = PROGRAMS / ("python.exe" if os.name == "nt" else "python")
LOG = VENV / "install.log"
STAMP = VENV / "installed.json"
"""Written at the end of an install, so an environment without this file is incomplete and is created again."""

EXTRAS = {"lab": (), "test": ("test",), "site": ("test", "site")}
"""The extras in pyproject.toml that each command needs."""
CONSTRAINTS = ("-c", "constraints.txt")
UV = "uv>=0.8,<1"
"""The installer, downloaded if it is not on the PATH. It is faster than pip and finds PyTorch without CUDA."""
PYTORCH = "2.13.0"
"""The PyTorch version in constraints.txt. ``platform_problem`` checks whether PyTorch supports this machine."""
NEWEST_PYTHON = (3, 14)
"""The newest Python for which this version of PyTorch has a build."""
COURSE = "course"
DISK_SPACE_GB = {COURSE: 1.5, "test": 0.5, "site": 0.3}
"""Disk space in GB for the course (with PyTorch, but without CUDA) and for each extra."""
CUDA_SPACE_GB = 5
"""Additional disk space in GB for CUDA, which is part of PyPI's build of PyTorch for Linux."""
LONGEST_PATH = 191
"""Length of the longest path that an install creates in the clone on Windows (a license file in PyTorch's wheel)."""
WINDOWS_PATH_LIMIT = 259
"""Maximum length of a path on Windows unless long paths are enabled."""
WARM_UP_IMPORTS = (
    "torch, torch._dynamo",
    "ipykernel.kernelapp, jupyterlab.labapp, matplotlib.pyplot, pandas",
)
"""The imports of every lesson, in two groups that take about the same time."""

UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "proxy": "ALL_PROXY",
    "keyring-provider": "UV_KEYRING_PROVIDER",
}
"""The uv environment variable for each pip setting that concerns package sources."""

CHECKS = (
    ("ruff", "check"),
    ("ruff", "format", "--check"),
    # Three workers for two cores, because tests that wait for a browser or a sandbox use no CPU time.
    ("pytest", "-n", "3", "--dist", "loadfile"),
)
PYTEST_DEFAULTS = ("-n", "auto", "--maxprocesses", "2", "--dist", "loadfile")
"""Options for pytest, which the user's arguments may override."""
THOROUGH = "--thorough"


class Problem(Exception):
    """An error that stops a command, with a message of one line."""


def set_up(command: str = "test") -> None:
    """Install the dependencies of a command in the environment, unless they are up to date.

    Raises:
        Problem: The installation failed. The next run creates a new environment.
    """
    current = fingerprint()
    stored, installed = read_stamp()
    extras = installed.union(EXTRAS[command])
    is_current = stored == current
    missing = extras - installed if is_current else {COURSE, *extras}
    if not missing:
        return
    problem = platform_problem() or path_problem(str(ROOT), long_paths_enabled())
    if problem:
        raise Problem(problem)
    check_disk_space(missing)
    started = time.monotonic()
    if is_current:
        print(f"Installing the tools for {command!r} in .venv. This happens only once.", flush=True)
        install(extras, missing)
    else:
        print("Installing the course in .venv. This happens only once and takes a minute or more.", flush=True)
        STAMP.unlink(missing_ok=True)
        with removed_on_failure(VENV):
            make_environment()
            install(extras, missing)
            compile_imports()
    STAMP.write_text(json.dumps({"fingerprint": current, "extras": sorted(extras)}))
    print(f"Installed in {time.monotonic() - started:.0f} s. Details: {LOG.relative_to(ROOT)}", flush=True)


def read_stamp() -> tuple[str | None, set[str]]:
    """Return the fingerprint of the environment, or None if the environment is incomplete, and the installed extras."""
    try:
        stamp = json.loads(STAMP.read_text()) if PYTHON.exists() else {}
        return stamp.get("fingerprint"), set(stamp.get("extras", []))
    except (FileNotFoundError, ValueError):
        return None, set()


def fingerprint() -> str:
    """Return a hash of everything that affects the environment, including its path, which its scripts contain."""
    parts = [sys.version, str(ROOT)]
    parts += [(ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "constraints.txt")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def platform_problem() -> str | None:
    """Return the reason why PyTorch cannot be installed on this machine, or None if it can be installed."""
    system, machine = platform.system(), platform.machine().lower()
    version = ".".join(map(str, sys.version_info[:2]))
    if sys.version_info[:2] > NEWEST_PYTHON:
        newest = ".".join(map(str, NEWEST_PYTHON))
        advice = f"use Python 3.11 to {newest}, such as: uv run --no-project --python {newest} course.py"
        return f"PyTorch {PYTORCH} has no build for Python {version}; {advice}"
    if sys.maxsize < 2**32:
        return f"PyTorch has no build for a 32-bit Python; install the 64-bit build of Python {version}"
    if system == "Darwin" and machine == "x86_64":
        return "PyTorch has no build for Intel Macs; on a Mac with an M chip, use a Python for arm64, not for Intel"
    if system == "Darwin" and int(platform.mac_ver()[0].partition(".")[0] or 0) < 14:
        return f"PyTorch {PYTORCH} requires macOS 14 or newer, but this is macOS {platform.mac_ver()[0]}"
    if system == "Windows" and machine == "arm64":
        return f"PyTorch {PYTORCH} has no build for Windows on ARM; use WSL, which runs Linux on Windows"
    if system == "Linux" and machine not in ("x86_64", "aarch64"):
        return f"PyTorch has no build for Linux on {machine}, only on x86_64 and aarch64"
    if system == "Linux" and "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or ""):
        return "PyTorch has no build for Linux with musl, such as Alpine; use a distribution with glibc, such as Debian"
    return None


def path_problem(folder: str, long_paths: bool) -> str | None:
    """Return an error message if the environment's paths would be too long for Windows, or None if they fit.

    Args:
        folder: The folder of the clone.
        long_paths: Whether the system allows paths of any length.
    """
    max_length = WINDOWS_PATH_LIMIT - 1 - LONGEST_PATH
    if long_paths or len(folder) <= max_length:
        return None
    return (
        f"the path of this folder has {len(folder)} characters, but Windows allows at most {max_length}: {folder}\n"
        "Move the folder to a shorter path, such as C:\\course, or enable long paths: "
        "https://docs.python.org/3/using/windows.html#removing-the-max-path-limitation"
    )


def long_paths_enabled() -> bool:
    """Return whether this system allows paths of more than 259 characters. All systems except Windows allow them."""
    if sys.platform != "win32":
        return True
    import winreg

    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"SYSTEM\CurrentControlSet\Control\FileSystem") as key:
            return winreg.QueryValueEx(key, "LongPathsEnabled")[0] == 1
    except OSError:
        return False


def check_disk_space(missing: set[str], cuda: bool = False) -> None:
    """Raise an error if the disk does not have enough space for the installation.

    Raises:
        Problem: The disk does not have enough space.
    """
    needed = sum(DISK_SPACE_GB[part] for part in missing) + (CUDA_SPACE_GB if cuda else 0)
    free = shutil.disk_usage(ROOT).free / 1e9
    if free < needed:
        subject = "the install, with CUDA," if cuda else "the install"
        advice = "; set UV_TORCH_BACKEND=cpu to install PyTorch without CUDA, from PyTorch's own index" if cuda else ""
        raise Problem(f"{subject} needs {needed:.1f} GB of disk space, but {ROOT} has {free:.1f} GB left{advice}")


@contextmanager
def removed_on_failure(folder: Path) -> Iterator[None]:
    """Delete the files of a failed install, which can be several gigabytes, but keep the log."""
    try:
        yield
    except BaseException:
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path != LOG:
                path.unlink(missing_ok=True)
        raise


def make_environment() -> None:
    """Replace the environment with an empty one, including pip if this Python provides it.

    Raises:
        Problem: The environment cannot be created.
    """
    has_pip = importlib.util.find_spec("ensurepip") is not None
    if importlib.util.find_spec("venv") is None or not (has_pip or shutil.which("uv")):
        raise Problem("this Python has no venv module; on Debian and Ubuntu, run: sudo apt install python3-venv")
    python = getattr(sys, "_base_executable", sys.executable)  # not the Python in .venv, which is deleted
    command = [python, "-m", "venv", "--clear", *([] if has_pip else ["--without-pip"]), str(VENV)]
    made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode:
        raise Problem(f"could not create an environment in {VENV}: {last_line(made.stdout)}")


def install(extras: set[str], missing: set[str]) -> None:
    """Install the course with uv, or with pip if uv is not available or fails.

    Args:
        extras: The extras to install.
        missing: The extras that are not installed yet, and ``COURSE`` if the environment is empty.

    Raises:
        Problem: Both uv and pip failed, or the disk does not have enough space.
    """
    course = [*CONSTRAINTS, "-e", f".[{','.join(sorted(extras))}]" if extras else "."]
    variables, constraints = uv_settings()
    uv = find_uv()
    if uv and install_with_uv([*uv, *constraints, *course], variables, missing):
        return
    if importlib.util.find_spec("ensurepip") is None:
        raise Problem(f"uv could not install the course, and this Python has no pip; see {LOG} for details")
    has_own_source = not variables.keys().isdisjoint({"UV_DEFAULT_INDEX", "UV_INDEX", "UV_FIND_LINKS"})
    if COURSE in missing and platform.system() == "Linux" and not has_own_source:
        check_disk_space(missing, cuda=True)
    install_with_pip(course)


def uv_settings() -> tuple[dict[str, str], list[str]]:
    """Return the package sources configured for pip, such as a company's mirror, as variables and arguments for uv.

    uv does not read pip's configuration. Environment variables that the user has set for uv take precedence.
    """
    listed = subprocess.run(
        [PYTHON, "-m", "pip", "config", "list"], cwd=ROOT, capture_output=True, text=True, errors="replace"
    ).stdout
    settings: dict[str, str] = {}
    for section in ("global", "install", ":env:"):  # from the lowest to the highest precedence
        for name, value in re.findall(rf"^{section}\.(\S+?)=(.+)$", listed, re.MULTILINE):
            settings[name] = " ".join(ast.literal_eval(value).split())
    if "find-links" in settings:
        settings["find-links"] = settings["find-links"].replace(" ", ",")  # uv uses commas as separators
    variables = {UV_NAMES[name]: value for name, value in settings.items() if name in UV_NAMES}
    if "UV_INDEX" in variables:
        variables["UV_INDEX_STRATEGY"] = "unsafe-best-match"  # like pip, use the best version from any index
    constraints = [word for file in settings.get("constraint", "").split() for word in ("-c", file)]
    no_index = ["--no-index"] if settings.get("no-index", "").lower() in ("1", "true", "yes", "on") else []
    return variables | {name: os.environ[name] for name in variables if name in os.environ}, [*constraints, *no_index]


def find_uv() -> list[str]:
    """Return the command that installs packages in the environment with uv, or an empty list if uv is not available.

    If uv is not on the PATH, pip installs it from PyPI. Without a network connection, pip fails within seconds.
    """
    uv = shutil.which("uv") or shutil.which("uv", path=PROGRAMS)
    if uv is None:
        get = ["install", "--disable-pip-version-check", "--retries", "0", "--timeout", "5", "--only-binary", ":all:"]
        if step("getting uv, a fast installer", str(PYTHON), "-m", "pip", *get, UV).returncode:
            return []
        uv = shutil.which("uv", path=PROGRAMS)
    return [uv, "pip", "install", "--python", str(PYTHON)] if uv else []


def install_with_uv(command: list[str], variables: dict[str, str], missing: set[str]) -> bool:
    """Resolve the packages, check that they fit on the disk, and install them.

    Returns:
        True if the installation succeeded. It fails if uv cannot reach an index or find a package.

    Raises:
        Problem: The disk does not have enough space.
    """
    for backend in torch_backends():
        chosen = variables | ({"UV_TORCH_BACKEND": backend} if backend else {})
        title = "choosing packages" + (", with PyTorch's own index" if backend else "")
        plan = step(title, *command, "--dry-run", **chosen, UV_HTTP_RETRIES="0", UV_HTTP_CONNECT_TIMEOUT="5")
        if plan.returncode == 0:
            break
    else:
        return False
    if COURSE in missing and re.search(r"^ \+ nvidia-", plan.output, re.MULTILINE):
        check_disk_space(missing, cuda=True)
    with uv_cache(command[0]) as cache:
        done = step(f"installing {plan.output.count(chr(10) + ' + ')} packages", *command, **chosen, **cache)
    if done.returncode and is_disk_full(done.output):
        raise Problem(f"the install failed: the disk is full; see {LOG} for details")
    return done.returncode == 0


def torch_backends() -> tuple[str, ...]:
    """Return uv's names for the PyTorch builds to try, in order. An empty name means the build in the default index.

    On Linux, PyPI's build contains gigabytes of CUDA. With ``auto``, uv uses PyTorch's own index and installs the build
    for this machine's graphics driver, or the build without CUDA if there is no driver.
    """
    if "UV_TORCH_BACKEND" in os.environ or platform.system() != "Linux":
        return ("",)
    return ("auto", "")


@contextmanager
def uv_cache(uv: str) -> Iterator[dict[str, str]]:
    """Yield environment variables for a temporary cache if this program downloaded uv, or none if uv is on the PATH.

    The temporary cache is on the same disk as the environment, so that uv can link files instead of copying them.
    """
    if Path(uv).parent != PROGRAMS:
        yield {}
        return
    parent = None if os.name == "nt" else VENV  # Windows limits the length of paths
    with tempfile.TemporaryDirectory(prefix="uv-cache-", dir=parent, ignore_cleanup_errors=True) as folder:
        yield {"UV_CACHE_DIR": folder}


def install_with_pip(course: list[str]) -> None:
    """Install the course with pip.

    Raises:
        Problem: The installation failed. The message contains the reason in one line.
    """
    pip = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check"]
    # The pip in Python 3.11 takes three times as long, so use it only if the upgrade fails.
    step("upgrading pip", *pip, "--retries", "0", "--timeout", "5", "--upgrade", "pip")
    # Compiling all modules, including unused modules, would take longer than unpacking them.
    done = step("installing with pip", *pip, "--no-compile", *course)
    if done.returncode == 0:
        return
    if is_disk_full(done.output):
        raise Problem(f"the install failed: the disk is full (.venv, or {os.environ.get('TMPDIR', 'temporary files')})")
    if re.search(r"connection|connect to|name resolution|timed out", done.output, re.IGNORECASE):
        raise Problem("the install failed: cannot reach the package index; check your network connection")
    errors = re.findall("ERROR: (.+)", done.output)
    reason = errors[-1] if errors else last_line(done.output)
    raise Problem(f"the install failed: {reason}")


def is_disk_full(output: str) -> bool:
    """Return whether an installer failed because a disk is full."""
    return re.search(r"Errno 28|os error 28|os error 112|No space left|not enough space", output) is not None


@dataclass(frozen=True)
class Step:
    """The result of one step of the install."""

    returncode: int
    output: str


def step(title: str, *command: str, **variables: str) -> Step:
    """Run one command of the install, write its output to the log, and show its title and progress on the screen."""
    output: list[str] = []
    started = time.monotonic()
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", **variables}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8"}
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"$ {shlex.join(command)}\n")
        process = subprocess.Popen(command, cwd=ROOT, env=environment, errors="replace", **pipes)
        reader = threading.Thread(target=copy_lines, args=(process.stdout, log, output))
        reader.start()
        try:
            while reader.is_alive():
                reader.join(0.5 if sys.stdout.isatty() else 30)
                if reader.is_alive():
                    show(f"  {title}: {time.monotonic() - started:.0f} s  {''.join(output[-1:]).strip()}", end="")
        finally:  # Ctrl-C also reaches the command, which then exits
            process.wait()
            reader.join()
    seconds = f"{time.monotonic() - started:.0f} s"
    show(f"  {title}: {seconds if process.returncode == 0 else 'failed after ' + seconds}")
    return Step(process.returncode, "".join(output))


def copy_lines(source: Iterable[str], log: TextIO, lines: list[str]) -> None:
    """Copy lines to the log and to a list as they arrive."""
    for line in source:
        log.write(line)
        lines.append(line)


def show(line: str, end: str = "\n") -> None:
    """Print a line. In a terminal, overwrite the previous line if it did not end with a newline."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - 1
        print("\r" + line[:width].ljust(width), end=end, flush=True)
    else:
        print(line.rstrip(), flush=True)


def compile_imports() -> None:
    """Import the packages that every lesson uses, so that Python compiles them now and learners do not have to wait."""
    begun = time.monotonic()
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    started = [
        subprocess.Popen([PYTHON, "-c", f"import {names}"], cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
        for names in WARM_UP_IMPORTS
    ]
    for process in started:
        process.wait()
    show(f"  compiling the packages that the lessons import: {time.monotonic() - begun:.0f} s")


def last_line(text: str) -> str:
    """Return the last line of a text that is not blank."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no error message")


def run(*command: str) -> int:
    """Run a command in the root of the repository, and return its exit code.

    The command handles Ctrl-C and SIGTERM. After Ctrl-C, this program waits for the command to end and then stops.
    """
    interrupted = False
    process = subprocess.Popen(command, cwd=ROOT)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    while process.poll() is None:
        try:
            process.wait()
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        raise KeyboardInterrupt
    return process.returncode


def lab(arguments: list[str]) -> int:
    """Open the lessons in JupyterLab."""
    return run(str(PYTHON), "-m", "transformer_course.commands", "lab", *arguments)


def test(arguments: list[str]) -> int:
    """Run all checks, even if one of them fails. With arguments other than ``--thorough``, run only pytest."""
    os.environ["OMP_NUM_THREADS"] = "1"  # more threads than cores make small models many times slower
    # Tests start a hundred Python processes. Without stored bytecode, each process would compile all modules again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if arguments not in ([], [THOROUGH]):
        return run(str(PYTHON), "-m", "pytest", *PYTEST_DEFAULTS, *arguments)
    checks = (*CHECKS[:-1], (*CHECKS[-1], *arguments))
    failed = [" ".join(check) for check in checks if run(str(PYTHON), "-m", *check)]
    if failed:
        raise Problem(f"failed: {', '.join(failed)}")
    return 0


def site(arguments: list[str]) -> int:
    """Build the web edition."""
    return run(str(PYTHON), "-m", "docs.site", *arguments)


def main(arguments: list[str]) -> int:
    """Run the command that the arguments specify, and return the exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a Windows console may not support every character of a path
    commands = {"lab": lab, "test": test, "site": site}
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 2
    try:
        if arguments[0] not in commands:
            raise Problem(f"unknown command {arguments[0]!r}; the commands are {', '.join(commands)}")
        set_up(arguments[0])
        return commands[arguments[0]](arguments[1:])
    except KeyboardInterrupt:
        print("course.py: stopped", file=sys.stderr)
        return 130
    except (Problem, OSError) as problem:
        print(f"course.py: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
