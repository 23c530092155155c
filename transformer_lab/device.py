"""Devices: which to compute on, how exactly they can, and none at all."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode


def pick_device(name: str | None = None) -> torch.device:
    """Return the device of this name, or else the best there is.

    Raises:
        ValueError: There is no such device here.

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
        raise ValueError(f"cannot compute on the device {name!r}: {str(error).splitlines()[0]}") from error
    return device


def widest_float(device: torch.device) -> torch.dtype:
    """Return the widest floating-point type that a device has: float32 on Apple's MPS, else float64.

    >>> widest_float(torch.device("mps"))
    torch.float32
    """
    return torch.float32 if device.type == "mps" else torch.float64


@contextmanager
def without_memory() -> Iterator[None]:
    """Make the tensors of the block on torch's meta device: they have shapes, and no numbers.

    Nor are any drawn, which would import torch's compiler: 1.2 s of CPU time for nothing, in every program that loads a
    language model. (Sinusoids are computed, and still import it.)

    >>> with without_memory():
    ...     layer = nn.Linear(10**6, 10**6)
    >>> layer.weight.shape, layer.weight.device
    (torch.Size([1000000, 1000000]), device(type='meta'))
    """
    with torch.device("meta"), _WithoutDrawing():
        yield


class _WithoutDrawing(TorchFunctionMode):
    """Leaves tensors as they are where random numbers would be drawn into them."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Call a function of torch, unless it draws."""
        kwargs = kwargs or {}
        if func in (Tensor.normal_, Tensor.uniform_) or getattr(func, "__module__", "") == nn.init.__name__:
            return kwargs["tensor"] if "tensor" in kwargs else args[0]
        return func(*args, **kwargs)
