"""A stand-in for IPython's shell, for running a learner's code without IPython.

Commands and magics are not executed. Each returns an empty result of the type that IPython returns: ``files = !ls``
returns an empty list of lines, and ``t = %timeit -o f(x)`` returns a result in which every time is 0.
"""

from typing import Any


class StandInShell:
    """The return value of ``get_ipython()``."""

    def system(self, command: str) -> None:
        """Ignore a shell command, as in ``!pip install einops``."""

    def getoutput(self, command: str) -> Any:
        """Return an empty list of lines for a shell command such as ``files = !ls``."""
        from IPython.utils.text import SList

        return SList([])

    def run_line_magic(self, name: str, line: str, *_: Any) -> Any:
        """Return the empty result of a line magic, which is None for most magics."""
        if name in ("sx", "system"):
            return self.getoutput(line)
        if name == "timeit" and "-o" in line.split():
            return NoTimes()
        return "" if name == "pwd" else None

    def run_cell_magic(self, name: str, line: str, cell: str, *_: Any) -> Any:
        """Return the empty result of a cell magic, which is None for most magics."""
        if name == "capture":
            return NoOutput()
        return self.getoutput(cell) if name in ("sx", "system", "!") else None

    magic = run_line_magic

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: Any, **__: Any) -> "StandInShell":
        """Do nothing, in place of any other method, such as ``get_ipython().events.register``."""
        return self


class NoTimes:
    """The result of ``%timeit -o`` for code that did not run."""

    average = best = worst = stdev = compile_time = 0.0
    loops = repeat = 0
    all_runs: tuple[float, ...] = ()
    timings: tuple[float, ...] = ()


class NoOutput:
    """The output of a ``%%capture`` that captured nothing."""

    stdout = stderr = ""
    outputs: tuple[Any, ...] = ()

    def show(self) -> None:
        """Do nothing, because there is no output."""

    __call__ = show
