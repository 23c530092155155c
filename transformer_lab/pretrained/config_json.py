"""What a published model's ``config.json`` says, asked for one option at a time."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from transformer_lab.layers.feed_forward import Activation

T = TypeVar("T", int, float, bool, str)
V = TypeVar("V")
FEED_FORWARDS: dict[str, Activation] = {
    "gelu_new": "gelu",
    "gelu_pytorch_tanh": "gelu",
    "gelu_fast": "gelu",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}
"""Activations as ``transformers`` names them, and our feed-forward networks; theirs called gelu is none of these."""
ACTIVATIONS: dict[str, str] = {"gelu": "gelu_new", "relu": "relu", "silu": "swish"}
"""The other way round."""


class Options:
    """The options of a configuration; one that is left out, or null, has the default that ``transformers`` gives it.

    Args:
        values: The configuration, read from JSON.
        where: What errors call it.

    >>> options = Options({"n_layer": 2, "scale": False}, "config.json")
    >>> options.get("n_layer", 12), options.get("n_head", 12)
    (2, 12)
    >>> options.refuse_but(scale=True)
    Traceback (most recent call last):
    ValueError: config.json: this library has no models with scale=False; only scale=True
    """

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self.values, self.where = values, where

    def get(self, name: str, default: T) -> T:
        """Give the value of an option.

        Raises:
            ValueError: It is of another type than the default.
        """
        value, kind = self.values.get(name), type(default)
        if value is None:
            return default
        if type(value) is not kind and (kind, type(value)) != (float, int):
            raise ValueError(f"{self.where}: {name} must be {kind.__name__}; got {value!r}")
        return value

    def one_of(self, name: str, default: str, known: Mapping[str, V]) -> V:
        """Give what the value of an option stands for.

        Raises:
            ValueError: This library has nothing that it stands for.
        """
        value = self.get(name, default)
        if value not in known:
            self._refuse([f"{name}={value!r}"], [f"{name}={' or '.join(map(repr, known))}"])
        return known[value]

    def refuse_but(self, **only: object) -> None:
        """Refuse what this library cannot represent: every option here must have this value, or be left out.

        Raises:
            ValueError: It names all the others.
        """
        wrong = [name for name, value in only.items() if self.values.get(name, value) not in (value, None)]
        if wrong:
            self._refuse([f"{n}={self.values[n]!r}" for n in wrong], [f"{n}={only[n]!r}" for n in wrong])

    def refuse_unless_equal(self, **pairs: object) -> None:
        """Refuse sizes that may differ there and not here.

        Raises:
            ValueError: They differ; it names all of them.
        """
        if len(set(pairs.values())) > 1:
            self._refuse([f"{name}={value!r}" for name, value in pairs.items()], [f"{' = '.join(pairs)}"])

    def _refuse(self, found: Iterable[str], only: Iterable[str]) -> None:
        what = f"{self.where}: this library has no models with {', '.join(found)}"
        raise ValueError(f"{what}; only {', '.join(only)}")
