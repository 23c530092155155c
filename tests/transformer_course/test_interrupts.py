"""Tests that Ctrl-C ends a command at any time."""

import signal
import subprocess
import sys
import weakref

import pytest

from transformer_course.interrupts import raise_if_interrupted, remembered_interrupts


class Thing:
    """A class whose instances support weak references."""


def press_in_callback() -> None:
    """Simulate Ctrl-C in a callback, where Python drops the exception, as it does at the end of an import."""
    thing = Thing()
    reference = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
    del thing
    assert reference() is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_raises_an_interrupt_that_python_dropped():
    handler = signal.getsignal(signal.SIGINT)
    reached = []
    with pytest.raises(KeyboardInterrupt), remembered_interrupts():
        press_in_callback()
        reached.append("the end")
    assert reached and signal.getsignal(signal.SIGINT) == handler


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_interrupt_ends_block_early_and_replaces_errors():
    with pytest.raises(KeyboardInterrupt), remembered_interrupts():
        press_in_callback()
        raise_if_interrupted()
        pytest.fail("the command continued")
    with pytest.raises(KeyboardInterrupt), remembered_interrupts():
        press_in_callback()
        raise ImportError("initialization failed")


def test_changes_nothing_without_ctrl_c():
    with remembered_interrupts():
        raise_if_interrupted()
    with pytest.raises(ImportError), remembered_interrupts():
        raise ImportError("no such module")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_command_interrupted_while_importing_ends_with_130():
    script = """
import os, signal, sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
from transformer_course.commands.main import main
sys.meta_path.insert(0, Interrupts())
sys.exit(main(["grade", "nothing", "-o", "out"]))
"""
    for module in ("commands.export", "commands.grade", "sandbox.sandbox"):
        done = subprocess.run(
            [sys.executable, "-c", script, f"transformer_course.{module}"], capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (130, "transformer-course: interrupted\n"), module
