"""Devices: choose a device, find its widest float type, and create tensors without allocating memory."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode


def pick_device(name: str | None = None) -> torch.device:
    """Return the device with this name, or the best available device if the name is None.

    Raises:
        ValueError: The device is not available.

    >>> pick_device("cpu")
    device(type='cpu')
    """
    if name is None:
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.ones(1, device=device) + 1
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ValueError(f"device {name!r} is not available: {str(error).splitlines()[0]}") from error
    return device


def widest_float(device: torch.device) -> torch.dtype:
    """Return the widest floating-point type of a device: float32 on Apple's MPS, otherwise float64.

    >>> widest_float(torch.device("mps"))
    torch.float32
    """
    return torch.float32 if device.type == "mps" else torch.float64


@contextmanager
def without_memory() -> Iterator[None]:
    """Create all tensors inside the block on torch's meta device, with shapes but without data.

    Random initialization is skipped, because on the meta device it imports torch's compiler, which would cost every
    program that loads a language model 1.2 s of CPU time. (Computing sinusoids still imports the compiler.)

    >>> with without_memory():
    ...     layer = nn.Linear(10**6, 10**6)
    >>> layer.weight.shape, layer.weight.device
    (torch.Size([1000000, 1000000]), device(type='meta'))
    """
    with torch.device("meta"), _WithoutDrawing():
        yield


class _WithoutDrawing(TorchFunctionMode):
    """Skips random initialization of tensors."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Call a torch function unless it draws random numbers."""
        kwargs = kwargs or {}
        if func in (Tensor.normal_, Tensor.uniform_) or getattr(func, "__module__", "") == nn.init.__name__:
            return kwargs["tensor"] if "tensor" in kwargs else args[0]
        return func(*args, **kwargs)
