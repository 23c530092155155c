"""Isolation of a call: the same global state for every attempt, and restored when the call is over."""

import contextlib
import ctypes
import io
import os
import sys
import warnings
from collections.abc import Iterator

import torch

MAX_WARNING_LENGTH = 1000
"""Number of characters of a warning that are kept: some quote all that they are about."""


@contextlib.contextmanager
def default_torch_state() -> Iterator[None]:
    """Give torch its default settings and a fixed seed inside the block, and restore its settings afterwards."""
    dtype, deterministic = torch.get_default_dtype(), torch.are_deterministic_algorithms_enabled()
    warn_always = torch.is_warn_always_enabled()
    has_other_device = torch.get_default_device().type != "cpu"
    with (
        torch.random.fork_rng(devices=[]),
        torch.inference_mode(False),
        torch.enable_grad(),
        torch.device("cpu") if has_other_device else contextlib.nullcontext(),
    ):
        torch.default_generator.manual_seed(0)  # torch.manual_seed also queues work for every absent accelerator
        torch.set_default_dtype(torch.float32)
        torch.set_warn_always(True)  # otherwise a second check would not repeat the warnings of the first
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)
            torch.set_warn_always(warn_always)
            if torch.are_deterministic_algorithms_enabled() != deterministic:
                torch.use_deterministic_algorithms(deterministic)


def end_other_processes(own: int) -> None:
    """End this process unless it is the one of that number: what an answer has forked must not go on with the job."""
    if os.getpid() != own:
        os._exit(0)


@contextlib.contextmanager
def restored_globals() -> Iterator[None]:
    """Restore torch, the streams and the warnings afterwards, wherever inside the block code is stopped."""
    out, err = sys.stdout, sys.stderr
    with default_torch_state(), warnings.catch_warnings():
        try:
            yield
        finally:
            sys.stdout, sys.stderr = out, err


@contextlib.contextmanager
def suppressed_output() -> Iterator[None]:
    """Discard what is printed: a call that the learner does not know of should not show."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


@contextlib.contextmanager
def suppressed_native_output() -> Iterator[None]:
    """Discard what libraries in C and Fortran write to the process's standard output, such as LAPACK about nan.

    It affects the whole process, so it is only for blocks in which nothing else writes there.
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
    """Write out what C has buffered for standard output."""
    with contextlib.suppress(Exception):  # there may be none, or a closed one
        sys.__stdout__.flush()  # type: ignore[union-attr]
    with contextlib.suppress(Exception):  # Windows has no library of that name
        ctypes.CDLL(None).fflush(None)


@contextlib.contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect warnings instead of showing or raising them; afterwards, the list holds the first line of each."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            yield messages
        finally:
            first_lines = (str(one.message).partition("\n")[0][:MAX_WARNING_LENGTH] for one in caught)
            messages += dict.fromkeys(line.partition(" (Triggered internally")[0] for line in first_lines)
