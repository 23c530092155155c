#!/usr/bin/env python3
"""Set Transformer Course up, and run it. Only Python 3.11 or newer has to be there.

    python3 course.py lab     open the lessons in JupyterLab; arguments go on to it, such as --no-browser --port 8890
    python3 course.py test    run all tests; with arguments only pytest, which gets them, such as -k masks
    python3 course.py test --thorough    run all tests, with more seeds, examples and lessons; takes hours
    python3 course.py site    build the web edition into build/site; -o FOLDER builds it elsewhere

All begin by making the environment .venv beside this file, unless there is one that is up to date. The first time, site
adds to it what only it needs.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - an older Python gets this message, so Python 3.6 must parse this file
    sys.exit(
        "course.py: Transformer Course needs Python 3.11 or newer, "
        f"and this is {'.'.join(map(str, sys.version_info[:3]))} ({sys.executable})"
    )

import hashlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "installed.sha256"
"""Written last: an environment without it is unfinished, and is made anew."""

INSTALL = ("-c", "constraints.txt", "-e", ".[test]")
"""The arguments of pip; environment.yml has the same for conda."""
INSTALL_SITE = ("-c", "constraints.txt", "-e", ".[test,site]")
"""The same with what builds the web edition, which the other commands do without."""
SITE_STAMP = VENV / "site.sha256"
WARM_UP_IMPORTS = (
    "torch, torch._dynamo",
    "ipykernel.kernelapp, jupyterlab.labapp, matplotlib.pyplot, pandas",
)
"""What every lesson imports, in two halves that take about as long."""
DISK_SPACE_GB = 2
"""The disk space of the environment, where torch comes without CUDA."""

CHECKS = (
    ("ruff", "check"),
    ("ruff", "format", "--check"),
    (
        "pytest",
        "-n",
        "3",
        "--dist",
        "loadfile",
    ),  # for two cores: a test that waits for a browser or a sandbox needs none
)
PYTEST_DEFAULTS = ("-n", "auto", "--maxprocesses", "2", "--dist", "loadfile")
"""What pytest is told before the arguments of the user, who may say otherwise."""
THOROUGH = "--thorough"


class Problem(Exception):
    """The reason why a command stops, in one line."""


def set_up() -> None:
    """Make the environment, unless it stands and is up to date.

    Raises:
        Problem: It cannot be made. What is there then is not trusted by the next run.
    """
    wanted = fingerprint()
    if PYTHON.exists() and STAMP.exists() and STAMP.read_text() == wanted:
        return
    free = shutil.disk_usage(ROOT).free / 1e9
    if free < DISK_SPACE_GB:
        raise Problem(f"the environment needs {DISK_SPACE_GB} GB of disk, and {ROOT} has {free:.1f} GB left")
    print("Making the environment .venv; this is done once and takes some minutes.", flush=True)
    STAMP.unlink(missing_ok=True)
    install()
    compile_imports()
    STAMP.write_text(wanted)


def fingerprint() -> str:
    """Return a hash of what decides whether an environment is up to date; its folder too, which is written into it."""
    parts = [sys.version, str(ROOT), *INSTALL]
    parts += [(ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "constraints.txt")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def install() -> None:
    """Install the course into a new environment: with uv if it is there, which is faster, or else with pip.

    Raises:
        Problem: Neither could.
    """
    uv = shutil.which("uv")
    can_have_pip = importlib.util.find_spec("ensurepip") is not None
    if importlib.util.find_spec("venv") is None or not (uv or can_have_pip):
        raise Problem("this Python comes without venv; on Debian and Ubuntu: sudo apt install python3-venv")
    if uv:
        make_environment("--without-pip")
        if run(uv, "pip", "install", "--python", str(PYTHON), *INSTALL) == 0:
            return
        if not can_have_pip:
            raise Problem("uv could not install the course; why stands above")
        print("uv could not install the course, so pip tries.", flush=True)  # uv does not read pip's settings
    make_environment()
    install_with_pip()


def make_environment(*options: str) -> None:
    """Put an empty environment where the old one was."""
    python = getattr(sys, "_base_executable", sys.executable)  # not the one in .venv, which goes now
    command = [python, "-m", "venv", "--clear", *options, str(VENV)]
    made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode:
        raise Problem(f"no environment could be made in {VENV}: {last_line(made.stdout)}")


def install_with_pip(what: tuple[str, ...] = INSTALL) -> None:
    """Let pip install the course, and sum up its complaints if it cannot."""
    pip = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check"]
    # The pip that comes with Python 3.11 takes three times as long. Where no newer one can be had, it has to do.
    subprocess.run([*pip, "--quiet", "--retries", "0", "--upgrade", "pip"], cwd=ROOT, capture_output=True)
    # To compile all of it, used or not, would take longer than to unpack it.
    command = [*pip, "--no-compile", *what]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, errors="replace") as installing:
        assert installing.stderr is not None
        complaints = ""
        for line in installing.stderr:
            sys.stderr.write(line)
            complaints += line
    if installing.returncode == 0:
        return
    if re.search(r"Errno 28|No space left|not enough space", complaints):
        raise Problem(f"the install failed: the disk is full (.venv, or {os.environ.get('TMPDIR', 'temporary files')})")
    if re.search(r"connection|connect to|name resolution|timed out", complaints, re.IGNORECASE):
        raise Problem("the install failed: the packages cannot be reached; is there a network?")
    errors = re.findall("ERROR: (.+)", complaints)
    raise Problem(f"the install failed: {errors[-1] if errors else last_line(complaints)}")


def compile_imports() -> None:
    """Import what every lesson imports: Python compiles it now, and not while somebody waits for a first cell."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    started = [
        subprocess.Popen([PYTHON, "-c", f"import {names}"], cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
        for names in WARM_UP_IMPORTS
    ]
    for process in started:
        process.wait()


def last_line(text: str) -> str:
    """Return the last line that is not empty."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no reason was given")


def add_site() -> None:
    """Install what builds the web edition into the environment, unless it is there.

    Raises:
        Problem: It cannot be installed.
    """
    wanted = fingerprint()
    if SITE_STAMP.exists() and SITE_STAMP.read_text() == wanted:
        return
    uv = shutil.which("uv")
    if not (uv and run(uv, "pip", "install", "--python", str(PYTHON), *INSTALL_SITE) == 0):
        run(str(PYTHON), "-m", "ensurepip")  # an environment that uv has made is without pip
        install_with_pip(INSTALL_SITE)
    SITE_STAMP.write_text(wanted)


def run(*command: str) -> int:
    """Run a command in the repository, and return its exit code.

    Ctrl-C and a kill are for the command to answer; once it has ended, Ctrl-C stops us too.
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
    """Open the lessons."""
    return run(str(PYTHON), "-m", "transformer_course.commands", "lab", *arguments)


def test(arguments: list[str]) -> int:
    """Run every check to its end, whatever the others say; with other arguments than ``--thorough``, only pytest."""
    os.environ["OMP_NUM_THREADS"] = "1"  # more threads than cores make small models many times slower
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # tests start a hundred Pythons, each of which would compile it all
    if arguments not in ([], [THOROUGH]):
        return run(str(PYTHON), "-m", "pytest", *PYTEST_DEFAULTS, *arguments)
    checks = (*CHECKS[:-1], (*CHECKS[-1], *arguments))
    failed = [" ".join(check) for check in checks if run(str(PYTHON), "-m", *check)]
    if failed:
        raise Problem(f"failed: {', '.join(failed)}")
    return 0


def site(arguments: list[str]) -> int:
    """Build the web edition."""
    add_site()
    return run(str(PYTHON), "-m", "docs.site", *arguments)


def main(arguments: list[str]) -> int:
    """Run the command that was typed, and return the exit code."""
    commands = {"lab": lab, "test": test, "site": site}
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 2
    try:
        if arguments[0] not in commands:
            raise Problem(f"there is no command {arguments[0]!r}; there are {', '.join(commands)}")
        set_up()
        return commands[arguments[0]](arguments[1:])
    except KeyboardInterrupt:
        print("course.py: stopped", file=sys.stderr)
        return 130
    except (Problem, OSError) as problem:
        print(f"course.py: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
