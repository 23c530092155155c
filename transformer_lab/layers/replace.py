"""Replace layers of a finished model by others that compute nearly the same."""

from collections import Counter
from collections.abc import Callable, Collection
from typing import TypeVar

from torch import nn

Layer = TypeVar("Layer", bound=nn.Module)


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
        ValueError: The model has no layer of one of these names that can be replaced; nothing is replaced.
    """
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
