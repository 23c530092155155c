"""The optimizer: AdamW with weight decay only for matrices."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """Split a model's parameters into groups for AdamW: weight decay for matrices, none for vectors.

    Weight decay would pull biases and the scales of norms toward 0 without a benefit. Shared parameters occur once.
    """
    parameters = [p for p in model.parameters() if p.requires_grad]  # yields shared parameters once
    return [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]


def groups_without(groups: Iterable[dict[str, Any]], others: Iterable[Tensor]) -> list[dict[str, Any]]:
    """Return parameter groups without the parameters that another optimizer trains."""
    excluded = set(map(id, others))
    return [{**group, "params": [p for p in group["params"] if id(p) not in excluded]} for group in groups]


def make_optimizer(model: nn.Module, weight_decay: float = 0.01, without: Iterable[Tensor] = ()) -> torch.optim.AdamW:
    """Create AdamW for all parameters of a model except ``without``; a schedule sets the learning rate.

    Betas and eps have the paper's values (section 5.3); weight decay is decoupled as in Loshchilov and Hutter (2019),
    arXiv:1711.05101. The fused implementation is used if torch has one for the device.
    """
    fused = all(p.device.type in ("cpu", "cuda", "mps") for p in model.parameters())
    groups = groups_without(parameter_groups(model, weight_decay), without)
    return torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=fused)
