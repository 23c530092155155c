"""Small models made of tables, for exercises whose attempt takes a model.

A case has to stay plain data, so it carries a description, a name and its tables, and the model is
built from it right where it is called. Their answers can be worked out by hand.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


def describe(model: str, **tables: Tensor) -> dict[str, Any]:
    """Describe a stand-in as plain data: the name of a class below, and its tables.

    Raises:
        ValueError: No stand-in has that name.
    """
    if model not in STAND_INS:
        raise ValueError(f"no stand-in is called {model!r}; there are {sorted(STAND_INS)}")
    return {"stand_in": model, "tables": tables}


def is_description(value: object) -> bool:
    """Tell a description from other plain data."""
    return isinstance(value, Mapping) and value.keys() == {"stand_in", "tables"}


def build(description: Mapping[str, Any]) -> nn.Module:
    """Build the model that a description tells of."""
    return STAND_INS[description["stand_in"]](**{name: t.clone() for name, t in description["tables"].items()})


class _Tables(nn.Module):
    """A model whose buffers are its tables."""

    def __init__(self, **tables: Tensor) -> None:
        super().__init__()
        for name, table in tables.items():
            self.register_buffer(name, table)


class TokenMixer(_Tables):
    """Position t outputs ``Σ_s mixing[t, s] embedding[token_s]``: causal if ``mixing`` is lower triangular.

    While it trains, it mixes by another table and adds noise, as dropout does.
    """

    embedding: Tensor
    mixing: Tensor
    mixing_in_training: Tensor
    noise: Tensor

    def forward(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n d"]:
        """Mix the embedded tokens."""
        n = tokens.shape[1]
        mixing = self.mixing_in_training if self.training else self.mixing
        mixed = mixing[:n, :n] @ self.embedding[tokens]
        return mixed + self.noise * torch.randn(mixed.shape) if self.training else mixed


class NextTokenTable(_Tables):
    """A language model that looks only at the last token: ``logits[t] = transition[token_t]``."""

    transition: Tensor

    def forward(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n vocab_size"]:
        """Look the logits up."""
        return self.transition[tokens]


class TableTranslator(_Tables):
    """A translator: ``logits[t] = transition[target_t] + Σ_s reading[source_s]``."""

    transition: Tensor
    reading: Tensor

    def forward(
        self, source: Int[Tensor, "batch n_source"], target: Int[Tensor, "batch n_target"]
    ) -> Float[Tensor, "batch n_target vocab_size"]:
        """Look the logits up, pushed by what the source holds."""
        return self.transition[target] + self.reading[source].sum(dim=1, keepdim=True)


STAND_INS: dict[str, Callable[..., nn.Module]] = {
    "token_mixer": TokenMixer,
    "next_token_table": NextTokenTable,
    "table_translator": TableTranslator,
}
