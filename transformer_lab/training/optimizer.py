"""The optimizer: AdamW, with weight decay of matrices only."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """Split a model's parameters for AdamW: matrices decay; biases, norms and other vectors do not.

    Decay would pull the scales of norms, and biases, toward 0, without a benefit. A parameter that two modules share
    occurs once.
    """
    parameters = [p for p in model.parameters() if p.requires_grad]  # a shared one comes once
    return [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]


def groups_without(groups: Iterable[dict[str, Any]], others: Iterable[Tensor]) -> list[dict[str, Any]]:
    """Return groups of parameters without those that another optimizer trains."""
    left = set(map(id, others))
    return [{**group, "params": [p for p in group["params"] if id(p) not in left]} for group in groups]


def make_optimizer(model: nn.Module, weight_decay: float = 0.01, without: Iterable[Tensor] = ()) -> torch.optim.AdamW:
    """Make AdamW for a model's parameters, save those in ``without``; a schedule sets its learning rate at each step.

    Betas and eps are the paper's (section 5.3); the decoupled decay is that of Loshchilov and Hutter (2019),
    arXiv:1711.05101. The fused implementation is used where torch has one for the device.
    """
    fused = all(p.device.type in ("cpu", "cuda", "mps") for p in model.parameters())
    groups = groups_without(parameter_groups(model, weight_decay), without)
    return torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=fused)
