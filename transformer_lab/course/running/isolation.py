"""The surroundings of a call: the same for every attempt, and as they were when it is over."""

import contextlib
import io
import sys
import warnings
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def default_torch_state() -> Iterator[None]:
    """Have torch as it starts out, whatever a lesson or an attempt has set, and put its settings back afterwards."""
    dtype, deterministic = torch.get_default_dtype(), torch.are_deterministic_algorithms_enabled()
    every_time = torch.is_warn_always_enabled()
    elsewhere = torch.get_default_device().type != "cpu"
    with (
        torch.random.fork_rng(devices=[]),
        torch.inference_mode(False),
        torch.enable_grad(),
        torch.device("cpu") if elsewhere else contextlib.nullcontext(),
    ):
        torch.default_generator.manual_seed(0)  # torch.manual_seed also queues work for every absent accelerator
        torch.set_default_dtype(torch.float32)
        torch.set_warn_always(True)  # else a second check would not say what the first one did
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)
            torch.set_warn_always(every_time)
            if torch.are_deterministic_algorithms_enabled() != deterministic:
                torch.use_deterministic_algorithms(deterministic)


@contextlib.contextmanager
def restored_globals() -> Iterator[None]:
    """Put torch, the streams and the warnings back afterwards, wherever inside of what follows code is stopped."""
    out, err = sys.stdout, sys.stderr
    with default_torch_state(), warnings.catch_warnings():
        try:
            yield
        finally:
            sys.stdout, sys.stderr = out, err


@contextlib.contextmanager
def suppressed_output() -> Iterator[None]:
    """Swallow what is printed: a call that the learner does not know of should not show."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


@contextlib.contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Keep warnings from being shown, or raised; in the end the list that it gives has the first line of each."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            yield said
        finally:
            first_lines = (str(one.message).partition("\n")[0] for one in caught)
            said += dict.fromkeys(line.partition(" (Triggered internally")[0] for line in first_lines)
