"""Tests for the parser, the help and the errors of the command line."""

import argparse
import io
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from transformer_course.commands import train
from transformer_course.commands.main import _parser, main

ROOT = Path(__file__).parents[3]
[COMMANDS] = [[*action.choices] for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: COMMAND"),
        (["lba"], "invalid choice: 'lba'"),
        (["push", "ada/dates"], "required: -m/--model"),
        (["train", "-o", "model"], "required: CORPUS"),
        (["train", "dates", "-o", "model", "--sed", "3"], "unrecognized arguments: --sed"),
        (["train", "dates", "-o", "model", "--seed", "three"], "invalid int value: 'three'"),
    ],
)
def test_reports_invalid_arguments_before_running(monkeypatch, capsys, arguments, message):
    monkeypatch.setattr(train, "run", lambda args: pytest.fail("the command runs in spite of the error"))
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert message in capsys.readouterr().err


def test_version_option_prints_the_package_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"transformer-course {version('transformer-course')}\n"


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
@pytest.mark.parametrize("command", COMMANDS)
def test_help_prints_in_any_encoding(monkeypatch, command, encoding):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    sys.stdout.flush()
    assert f"usage: transformer-course {command}".encode() in sys.stdout.buffer.getvalue()


def test_interrupted_command_exits_with_130(monkeypatch, capsys):
    def interrupt(args):
        raise KeyboardInterrupt

    monkeypatch.setattr(train, "run", interrupt)
    assert main(["train", "dates", "-o", "model"]) == 130
    assert capsys.readouterr() == ("", "transformer-course: interrupted\n")


def loaded_by(command: list[str]) -> set[str]:
    """Run a command in a new process, and return the modules that the command loads."""
    print_modules = "import atexit, sys; atexit.register(lambda: print(*sys.modules))"
    script = f"{print_modules}; from transformer_course.commands.main import _parser, main; sys.exit(main({command}))"
    env = {"PATH": "", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, check=True)
    assert "usage: transformer-course" in done.stdout
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "command",
    ["", "lab", "release", "grade", "feedback", "export", "train", "evaluate", "translate", "generate", "push"],
)
def test_help_does_not_import_heavy_packages(command):
    loaded = loaded_by([*command.split(), "--help"])
    assert f"transformer_course.commands.{command or 'main'}" in loaded
    assert not {"torch", "pandas", "jupyterlab", "nbformat", "tokenizers", "babel"} & loaded
