"""The surroundings of a call: the same for every attempt, and as they were when it is over."""

import contextlib
import io
from collections.abc import Iterator
from typing import Any

import torch


@contextlib.contextmanager
def usual_torch() -> Iterator[None]:
    """Have torch as it starts out, whatever a lesson or an attempt has set, and put its settings back afterwards."""
    dtype, deterministic = torch.get_default_dtype(), torch.are_deterministic_algorithms_enabled()
    elsewhere = torch.get_default_device().type != "cpu"
    with (
        torch.random.fork_rng(devices=[]),
        torch.inference_mode(False),
        torch.enable_grad(),
        torch.device("cpu") if elsewhere else contextlib.nullcontext(),
    ):
        torch.default_generator.manual_seed(0)  # torch.manual_seed also queues work for every absent accelerator
        torch.set_default_dtype(torch.float32)
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)
            if torch.are_deterministic_algorithms_enabled() != deterministic:
                torch.use_deterministic_algorithms(deterministic)


def silence() -> contextlib.AbstractContextManager[Any]:
    """Swallow what is printed: a call that the learner does not know of should not show."""
    return contextlib.redirect_stdout(io.StringIO())
