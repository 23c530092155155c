"""Tests that the stand-in for IPython runs no commands and returns results with IPython's attributes."""

from pathlib import Path

from IPython.core.magics.execution import TimeitResult
from IPython.utils.capture import CapturedIO

from transformer_course.running.stand_in_ipython import StandInShell


def test_stand_in_does_not_run_commands(tmp_path: Path):
    file = tmp_path / "made"
    stand_in = StandInShell()
    assert stand_in.system(f"touch {file}") is None
    assert stand_in.getoutput(f"touch {file}") == stand_in.run_line_magic("sx", f"touch {file}") == []
    assert stand_in.run_cell_magic("sx", "", f"touch {file}").n == "" and not file.exists()


def test_results_have_the_same_attributes_as_in_ipython():
    times = StandInShell().run_line_magic("timeit", "-n1 -o f(1)")
    expected = TimeitResult(1, 1, 1.0, 1.0, [1.0], 1.0, 3)
    assert {name for name in [*vars(expected), "average", "stdev", "timings"] if name[0] != "_"} <= {*dir(times)}
    captured = StandInShell().run_cell_magic("capture", "out", "print(1)")
    assert {name for name in dir(CapturedIO) if name[0] != "_"} <= {*dir(captured)}


def test_unsupported_methods_do_nothing():
    shell = StandInShell()
    assert shell.run_line_magic("timeit", "1") is None
    assert shell.events.register("post_run_cell", print) is shell
