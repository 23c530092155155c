"""LoRA: fine-tune a model by small matrices beside its own, which stay as they are."""

from collections import Counter
from collections.abc import Callable, Collection
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lab.checks import check_positive

Layer = TypeVar("Layer", bound=nn.Module)


class LoRALinear(nn.Module):
    """A linear layer that stays as it is, and a product of two small matrices that is trained in its place.

    ``linear(x) + (alpha / rank) b a x``: section 4.1 of Hu et al. (2021), arXiv:2106.09685. ``b`` starts at 0, so that
    training starts from the model as it is. There are rank (d_in + d_out) parameters to train instead of d_in d_out.

    Args:
        linear: The layer; its parameters are frozen.
        rank: Rank of the product: the width between the two matrices.
        alpha: Scale of the product, divided by the rank.

    Raises:
        ValueError: The rank is not positive.

    >>> LoRALinear(nn.Linear(8, 12), rank=2, alpha=4.0)(torch.zeros(3, 5, 8)).shape
    torch.Size([3, 5, 12])
    """

    def __init__(self, linear: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        check_positive(rank=rank)
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.linear = linear.requires_grad_(False)
        self.a = nn.Parameter(linear.weight.new_empty(rank, linear.in_features).normal_(std=linear.in_features**-0.5))
        self.b = nn.Parameter(linear.weight.new_zeros(linear.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        """Return the layer's output, changed by the product."""
        return self.linear(x) + self.scale * (x @ self.a.mT @ self.b.mT)


def add_lora(model: nn.Module, names: Collection[str], rank: int, alpha: float) -> None:
    """Freeze a model, and put a ``LoRALinear`` in the place of its linear layers of these names.

    Args:
        model: The model; it is changed.
        names: Last parts of the names of linear layers: the paper's choice is ``("w_q", "w_v")``.
        rank: As in ``LoRALinear``.
        alpha: As in ``LoRALinear``.

    Raises:
        ValueError: The rank is not positive, or the model has no linear layer of one of these names with weights of its
            own, or is one itself.

    >>> model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
    >>> add_lora(model, ["1"], rank=2, alpha=4.0)
    >>> [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    ['1.a', '1.b']
    """
    check_positive(rank=rank)
    replace_layers(model, nn.Linear, lambda linear: LoRALinear(linear, rank, alpha), names)
    model.requires_grad_(False)
    for layer in model.modules():
        if isinstance(layer, LoRALinear):
            layer.a.requires_grad_(True)
            layer.b.requires_grad_(True)


def merge_lora(model: nn.Module) -> None:
    """Merge what ``add_lora`` put into a model: every layer is linear again, and every parameter can be trained.

    The outputs stay the same, and decoding costs what it cost before.

    Raises:
        ValueError: The model is itself a ``LoRALinear``, of which ``merged`` returns a linear layer.
    """
    replace_layers(model, LoRALinear, merged)
    model.requires_grad_(True)


@torch.no_grad()
def merged(layer: LoRALinear) -> nn.Linear:
    """Return one linear layer that computes the same."""
    linear = nn.Linear(layer.in_features, layer.out_features, layer.linear.bias is not None)
    linear.weight = nn.Parameter(layer.linear.weight + layer.scale * layer.b @ layer.a)
    if layer.linear.bias is not None:
        linear.bias = nn.Parameter(layer.linear.bias.clone())
    return linear.train(layer.training)


def replace_layers(
    model: nn.Module, kind: type[Layer], make: Callable[[Layer], nn.Module], names: Collection[str] | None = None
) -> None:
    """Replace the layers of a kind inside a model, in place.

    Args:
        model: The model.
        kind: Class of the layers to replace.
        make: Returns what stands in for a layer.
        names: Last parts of the names of the layers to replace, such as ``w_q``; None: all. Layers that share
            parameters with another part of the model, as a last layer with the embeddings, are never replaced.

    Raises:
        ValueError: The model is itself of this kind, or has no layer of one of these names that can be replaced;
            nothing is replaced.
    """
    if isinstance(model, kind):
        raise ValueError(f"layers are replaced inside a model; got a single {type(model).__name__}")
    owners = Counter(id(parameter) for _, parameter in model.named_parameters(remove_duplicate=False))
    layers = [
        (name, layer)
        for name, layer in model.named_modules()
        if isinstance(layer, kind) and (names is None or name.rpartition(".")[2] in names)
        and all(owners[id(parameter)] == 1 for parameter in layer.parameters())
    ]  # fmt: skip
    if missing := set(names or ()) - {name.rpartition(".")[2] for name, _ in layers}:
        given = ", ".join(sorted(missing))
        raise ValueError(f"this model has no {kind.__name__} with parameters of its own named {given}")
    for name, layer in layers:
        parent, _, last = name.rpartition(".")
        setattr(model.get_submodule(parent), last, make(layer))
