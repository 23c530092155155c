"""Options from the ``config.json`` of a published model, with the defaults of ``transformers``."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from transformer_lab.layers.feed_forward import Activation

T = TypeVar("T", int, float, bool, str)
V = TypeVar("V")
FEED_FORWARD_OF_ACTIVATION: dict[str, Activation] = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}
"""This library's feed-forward network for each activation of ``transformers``."""
ACTIVATION_OF_FEED_FORWARD: dict[str, str] = {"gelu": "gelu", "gelu_tanh": "gelu_new", "relu": "relu", "silu": "swish"}
"""The activation of ``transformers`` for each feed-forward network of this library."""

MAX_VALUE_LENGTH = 200


def shortened(value: object) -> str:
    """Return the ``repr`` of a value, truncated if it is long."""
    displayed = repr(value)
    return displayed if len(displayed) <= MAX_VALUE_LENGTH else f"{displayed[:MAX_VALUE_LENGTH]}…"


class Options:
    """The options of a configuration; a missing or null option takes its default value.

    Args:
        values: The configuration as read from JSON.
        where: Name of the configuration in error messages.

    >>> options = Options({"n_layer": 2, "scale": False}, "config.json")
    >>> options.get("n_layer", 12), options.get("n_head", 12)
    (2, 12)
    >>> options.require(scale=True)
    Traceback (most recent call last):
    ValueError: config.json: this library has no models with scale=False; only scale=True
    """

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self.values, self.where = values, where

    def get(self, name: str, default: T) -> T:
        """Return the value of an option.

        Raises:
            ValueError: The value has a different type than the default.
        """
        value, kind = self.values.get(name), type(default)
        if value is None:
            return default
        if type(value) is not kind and (kind, type(value)) != (float, int):
            raise ValueError(f"{self.where}: {name} must be {kind.__name__}; got {shortened(value)}")
        return kind(value)

    def nested(self, name: str) -> dict[str, Any]:
        """Return the value of an option that contains other options, or an empty dict if it is missing.

        Raises:
            ValueError: The value is not an object.
        """
        value = self.values.get(name) or {}
        if not isinstance(value, dict):
            raise ValueError(f"{self.where}: {name} must be an object; got {value!r}")
        return value

    def one_of(self, name: str, default: str, known: Mapping[str, V]) -> V:
        """Return ``known[value]`` for the value of an option.

        Raises:
            ValueError: The value is not in ``known``.
        """
        value = self.get(name, default)
        if value not in known:
            self._reject([f"{name}={value!r}"], [f"{name}={' or '.join(map(repr, known))}"])
        return known[value]

    def require(self, **only: object) -> None:
        """Require that each of these options is missing or has this value.

        Raises:
            ValueError: Some options have different values; the message lists these options.
        """
        wrong = [name for name, value in only.items() if self.values.get(name, value) not in (value, None)]
        if wrong:
            self._reject([f"{n}={self.values[n]!r}" for n in wrong], [f"{n}={only[n]!r}" for n in wrong])

    def require_equal(self, **pairs: object) -> None:
        """Require that the values of these options are equal.

        Raises:
            ValueError: The values differ; the message lists all values.
        """
        if len(set(pairs.values())) > 1:
            self._reject([f"{name}={value!r}" for name, value in pairs.items()], [f"{' = '.join(pairs)}"])

    def _reject(self, found: Iterable[str], supported: Iterable[str]) -> None:
        problem = f"{self.where}: this library has no models with {', '.join(found)}"
        raise ValueError(f"{problem}; only {', '.join(supported)}")
