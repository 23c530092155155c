"""Where to compute."""

import os

import torch


def pick_device(name: str | None = None) -> torch.device:
    """Choose a device: as asked, or else the best there is; each process of ``torchrun`` gets a GPU of its own.

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
