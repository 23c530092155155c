"""Muon: an optimizer that orthogonalizes each matrix update, so all directions change by about the same amount."""

from collections.abc import Callable, Iterable
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lab.checks import check_choice, check_not_negative
from transformer_lab.training.optimizer import groups_without, parameter_groups


def orthogonalize(matrix: Float[Tensor, "rows columns"], n_steps: int = 5) -> Float[Tensor, "rows columns"]:
    """Return approximately ``u vᵀ`` for a matrix ``u s vᵀ``: move all singular values close to 1.

    Newton–Schulz iteration: each step applies an odd polynomial ``a s + b s³ + c s⁵`` to all singular values, using
    only matrix products. Jordan et al. (2024), https://kellerjordan.github.io/posts/muon/, chose a, b and c so that
    small values grow quickly; large values end between about 0.7 and 1.2, not exactly at 1.

    Args:
        matrix: The matrix.
        n_steps: Number of steps.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    x = matrix / matrix.norm().clamp(min=1e-7)  # now all singular values are at most 1
    tall = matrix.shape[0] > matrix.shape[1]
    x = x.mT if tall else x  # x xᵀ is then the smaller of the two possible products
    for _ in range(n_steps):
        product = x @ x.mT
        polynomial = torch.addmm(product, product, product, beta=b, alpha=c)  # b product + c product²
        x = torch.addmm(x, polynomial, x, beta=a)
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Update the matrices of a model's layers along orthogonalized averages of the gradients.

    ``m ← μ m + (1 − μ) g`` and ``w ← (1 − rate · decay) w − rate √max(1, rows / columns) orthogonalize(g')`` with ``g'
    = (1 − μ) g + μ m``: Jordan et al. (2024), https://kellerjordan.github.io/posts/muon/, with the decay of Liu et al.
    (2025), arXiv:2502.16982. Use AdamW for embeddings, the last layer, norms and biases.

    All singular values of an update are about 1, so larger matrices get smaller entries, unlike with AdamW. With
    ``adjust="match_adamw"``, the factor is ``0.2 √max(rows, columns)`` instead of ``√max(1, rows / columns)``. The root
    mean square of the entries is then about 0.2, as with AdamW (Liu et al.), and the same learning rate works for both.

    Args:
        matrices: The parameters, each with two dimensions, as returned by ``layer_matrices``.
        lr: Learning rate.
        momentum: μ.
        weight_decay: Weight decay.
        adjust: How the learning rate depends on a matrix's shape.

    Raises:
        ValueError: A parameter is not a matrix, ``lr`` or ``weight_decay`` is negative, ``momentum`` is not at least 0
            and less than 1, or ``adjust`` is unknown.
    """

    def __init__(
        self,
        matrices: Iterable[Tensor],
        lr: float = 0.02,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
        adjust: Literal["original", "match_adamw"] = "original",
    ) -> None:
        check_not_negative(lr=lr, weight_decay=weight_decay)
        if not 0 <= momentum < 1:
            raise ValueError(f"momentum must be at least 0 and less than 1; got {momentum=}")
        check_choice("adjust", adjust, ("original", "match_adamw"))
        super().__init__(matrices, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay, "adjust": adjust})
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.dim() != 2:
                    raise ValueError(f"Muon supports only matrices; got a parameter of shape {tuple(parameter.shape)}")

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take a step; parameters without a gradient do not change.

        Args:
            closure: Computes the gradients and returns the loss. With None, the gradients must already be computed.
        """
        with torch.enable_grad():
            loss = None if closure is None else closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.mul_(1 - group["lr"] * group["weight_decay"])
                    direction = self._direction(parameter, parameter.grad, group["momentum"])
                    parameter.sub_(group["lr"] * _factor(parameter, group["adjust"]) * direction)
        return loss

    def _direction(self, parameter: Tensor, gradient: Tensor, momentum: float) -> Tensor:
        state = self.state[parameter]
        if not state:
            state["average"] = torch.zeros_like(gradient)
        average = state["average"].lerp_(gradient, 1 - momentum)
        return orthogonalize(gradient.lerp(average, momentum))


def _factor(parameter: Tensor, adjust: str) -> float:
    rows, columns = parameter.shape
    return 0.2 * max(rows, columns) ** 0.5 if adjust == "match_adamw" else max(1.0, rows / columns) ** 0.5


def layer_matrices(model: nn.Module) -> list[Tensor]:
    """Return the matrices of a model's stacked layers, without embeddings, the last layer and vectors."""
    stacks = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    found = {id(p): p for stack in stacks for p in stack.parameters() if p.dim() == 2 and p.requires_grad}
    return list(found.values())


def make_muon(
    model: nn.Module, lr: float, adamw_lr: float, weight_decay: float = 0.0
) -> tuple[Muon, torch.optim.AdamW]:
    """Create two optimizers for a model: Muon for the matrices of its layers, and AdamW for all other parameters.

    Args:
        model: The model.
        lr: Learning rate of Muon.
        adamw_lr: Learning rate of AdamW.
        weight_decay: Weight decay of all matrices, including the matrices that AdamW trains.

    >>> from transformer_lab.models.language_model import LanguageModel
    >>> from transformer_lab.models.language_model_config import LanguageModelConfig
    >>> model = LanguageModel(LanguageModelConfig(vocab_size=11, d_model=8, n_heads=2, d_ff=32, n_layers=1))
    >>> muon, adamw = make_muon(model, lr=0.02, adamw_lr=0.003)
    >>> sum(p.numel() for group in muon.param_groups for p in group["params"])
    768
    """
    matrices = layer_matrices(model)
    others = groups_without(parameter_groups(model, weight_decay), matrices)
    return Muon(matrices, lr, weight_decay=weight_decay), torch.optim.AdamW(others, lr=adamw_lr)
