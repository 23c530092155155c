"""Isolate a call: every attempt starts with the same global state, and the previous state is restored afterwards."""

import contextlib
import ctypes
import io
import os
import sys
import warnings
from collections.abc import Iterator

import torch

MAX_WARNING_LENGTH = 1000
"""Longer warnings are truncated to this number of characters. Some warnings quote all of their input."""


@contextlib.contextmanager
def default_torch_state() -> Iterator[None]:
    """Use torch's default settings and a fixed seed inside the block, and restore the previous settings afterwards."""
    dtype, deterministic = torch.get_default_dtype(), torch.are_deterministic_algorithms_enabled()
    warn_always = torch.is_warn_always_enabled()
    has_other_device = torch.get_default_device().type != "cpu"
    with (
        torch.random.fork_rng(devices=[]),
        torch.inference_mode(False),
        torch.enable_grad(),
        torch.device("cpu") if has_other_device else contextlib.nullcontext(),
    ):
        torch.default_generator.manual_seed(0)  # torch.manual_seed would also queue work for accelerators
        torch.set_default_dtype(torch.float32)
        torch.set_warn_always(True)  # otherwise, torch would not repeat a warning in a second check
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)
            torch.set_warn_always(warn_always)
            if torch.are_deterministic_algorithms_enabled() != deterministic:
                torch.use_deterministic_algorithms(deterministic)


def end_other_processes(own_pid: int) -> None:
    """Exit unless this process has the given ID, so that a process forked by an answer does not continue the job."""
    if os.getpid() != own_pid:
        os._exit(0)


@contextlib.contextmanager
def restored_globals() -> Iterator[None]:
    """Restore torch's settings, the standard streams and the warning filters, even if the block is interrupted."""
    out, err = sys.stdout, sys.stderr
    with default_torch_state(), warnings.catch_warnings():
        try:
            yield
        finally:
            sys.stdout, sys.stderr = out, err


@contextlib.contextmanager
def suppressed_output() -> Iterator[None]:
    """Discard the output of calls that the learner did not request."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


@contextlib.contextmanager
def suppressed_native_output() -> Iterator[None]:
    """Discard the standard output of C and Fortran libraries, such as LAPACK's messages about nan.

    This affects the whole process, so nothing else may write to standard output during the block.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # standard output may be closed
            kept, discarded = os.dup(1), os.open(os.devnull, os.O_WRONLY)
            stack.callback(os.close, kept)
            _flush_native_output()
            stack.callback(os.dup2, kept, 1)
            os.dup2(discarded, 1)
            os.close(discarded)
            stack.callback(_flush_native_output)
        yield


def _flush_native_output() -> None:
    """Flush C's buffer for standard output."""
    with contextlib.suppress(Exception):  # standard output may be missing or closed
        sys.__stdout__.flush()  # type: ignore[union-attr]
    with contextlib.suppress(Exception):  # Windows has no C library of this name
        ctypes.CDLL(None).fflush(None)


@contextlib.contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect warnings, instead of showing or raising them, in a list of each warning's first line."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            yield messages
        finally:
            first_lines = [str(warning.message).partition("\n")[0][:MAX_WARNING_LENGTH] for warning in caught]
            messages += dict.fromkeys(line.partition(" (Triggered internally")[0] for line in first_lines)
