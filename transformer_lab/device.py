"""Devices: which to compute on, and how exactly they can."""

import os

import torch


def pick_device(name: str | None = None) -> torch.device:
    """Return the device of this name, or else the best there is; each process of ``torchrun`` gets a GPU of its own.

    Raises:
        ValueError: There is no such device here.

    >>> pick_device("cpu")
    device(type='cpu')
    """
    if name is None:
        if torch.cuda.is_available():
            return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
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
