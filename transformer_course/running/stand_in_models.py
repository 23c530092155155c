"""Small models defined by tables, for exercises whose attempts take a model as an argument.

A case must be plain data, so it contains a description of the model: a name and tables. The model is built just before
the call. The model's outputs can be computed by hand.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional


def describe_model(model: str, **tables: Tensor) -> dict[str, Any]:
    """Return the description of a stand-in model as plain data.

    Raises:
        ValueError: No stand-in model has that name.
    """
    if model not in STAND_INS:
        raise ValueError(f"unknown stand-in model {model!r}; choose one of {sorted(STAND_INS)}")
    return {"stand_in": model, "tables": tables}


def is_description(value: object) -> bool:
    """Return whether plain data is the description of a stand-in model."""
    return isinstance(value, Mapping) and value.keys() == {"stand_in", "tables"}


def is_only_called(description: Mapping[str, Any]) -> bool:
    """Return whether attempts may only call a model and never read its tables."""
    kind = STAND_INS[description["stand_in"]]
    return isinstance(kind, type) and issubclass(kind, _Tables)


def is_trained(description: Mapping[str, Any]) -> bool:
    """Return whether attempts train a model, so that they should change its parameters."""
    return getattr(STAND_INS[description["stand_in"]], "is_trained", False)


def build_model(description: Mapping[str, Any]) -> nn.Module:
    """Build the model from its description."""
    return STAND_INS[description["stand_in"]](**{name: t.clone() for name, t in description["tables"].items()})


def state_of(model: nn.Module) -> dict[str, Any]:
    """Return the state that a call should not change: tables, gradients and training mode."""
    tables = {name: table.detach().clone() for name, table in model.state_dict().items()}
    gradients = {f"{name}.grad": None if p.grad is None else p.grad.clone() for name, p in model.named_parameters()}
    return {**tables, **gradients, "training": model.training}


class _Tables(nn.Module):
    """A model that registers its tables as buffers."""

    def __init__(self, **tables: Tensor) -> None:
        super().__init__()
        for name, table in tables.items():
            self.register_buffer(name, table)


class TokenMixer(_Tables):
    """A model that outputs ``Σ_s mixing[t, s] embedding[token_s]`` at position t.

    The model is causal if ``mixing`` is lower triangular. In training mode, it uses a different mixing table and adds
    noise, like dropout.

    Args:
        hears_later: For each token, a factor for the contributions from later positions to its position; None means 1.
        evaluates: Whether the model starts in eval mode.
        tables: The other tables.
    """

    embedding: Tensor
    mixing: Tensor
    mixing_in_training: Tensor
    noise: Tensor
    hears_later: Tensor | None

    def __init__(self, hears_later: Tensor | None = None, evaluates: Tensor | None = None, **tables: Tensor) -> None:
        super().__init__(**tables)
        self.register_buffer("hears_later", hears_later)
        if evaluates is not None:
            self.train(not bool(evaluates))

    def forward(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n d"]:
        """Return the mixed embeddings.

        Raises:
            ValueError: There are more tokens than rows of ``mixing``.
        """
        n = tokens.shape[1]
        if n > len(self.mixing):
            raise ValueError(f"the model accepts at most {len(self.mixing)} tokens; got {n}")
        mixing = (self.mixing_in_training if self.training else self.mixing)[:n, :n]
        embedded = functional.embedding(tokens, self.embedding)  # unlike indexing, rejects token -1
        if self.hears_later is None:
            mixed = mixing @ embedded
        else:
            mixed = mixing.tril() @ embedded + self.hears_later[tokens][..., None] * (mixing.triu(1) @ embedded)
        return mixed + self.noise * torch.randn(mixed.shape) if self.training else mixed


class NextTokenTable(_Tables):
    """A language model that uses only the last token: ``logits[t] = transition[token_t]``."""

    transition: Tensor

    def forward(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n vocab_size"]:
        """Return the next-token logits at every position."""
        return self.transition[tokens]


class FixedNoiseSampler(_Tables):
    """A sampler with constant noise: ``argmax(logits + noise)``."""

    noise: Tensor

    def forward(self, logits: Float[Tensor, "batch vocab_size"]) -> Int[Tensor, " batch"]:
        """Return the next token of each row.

        Raises:
            ValueError: The logits do not have two dimensions.
        """
        if logits.dim() != 2:
            raise ValueError(f"logits must have shape (batch, vocab_size); got {tuple(logits.shape)}")
        return (logits + self.noise).argmax(dim=-1)


class TableTranslator(_Tables):
    """A translator: ``logits[t] = transition[target_t] + places[t] + Σ_s reading[source_s]``."""

    transition: Tensor
    reading: Tensor
    places: Tensor

    def forward(
        self, source: Int[Tensor, "batch n_source"], target: Int[Tensor, "batch n_target"]
    ) -> Float[Tensor, "batch n_target vocab_size"]:
        """Return the next-token logits at every position of the target.

        Raises:
            ValueError: The target has more tokens than rows of ``places``.
        """
        n = target.shape[1]
        if n > len(self.places):
            raise ValueError(f"the model accepts at most {len(self.places)} target tokens; got {n}")
        return self.transition[target] + self.places[:n] + self.reading[source].sum(dim=1, keepdim=True)


class _Linear(nn.Linear):
    """A linear layer without random initialization, which would take most of the time."""

    def reset_parameters(self) -> None:
        """Keep the weights uninitialized."""


class LinearLayer(nn.Linear):
    """A linear layer with the given matrix and an optional bias."""

    def __init__(self, weight: Float[Tensor, "d_out d"], bias: Float[Tensor, " d_out"] | None = None) -> None:
        super().__init__(weight.shape[1], weight.shape[0], bias=bias is not None)
        self.weight = nn.Parameter(weight)
        self.bias = None if bias is None else nn.Parameter(bias)  # type: ignore[assignment]


class MonthReader(nn.Module):
    """The primer's model, which attempts train: the mean of a name's embeddings, followed by a linear layer."""

    is_trained = True

    def __init__(
        self,
        embedding: Float[Tensor, "n_characters d"],
        weight: Float[Tensor, "n_months d"],
        bias: Float[Tensor, " n_months"],
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(*embedding.shape, _weight=embedding)
        self.output = LinearLayer(weight, bias)

    def forward(self, names: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n_months"]:
        """Return a logit for each month."""
        logits: Tensor = self.output(self.embedding(names).mean(dim=1))
        return logits


class Affine(nn.Module):
    """A matrix and a bias, without a forward pass."""

    def __init__(self, weight: Float[Tensor, "d_out d"], bias: Float[Tensor, " d_out"]) -> None:
        super().__init__()
        self.linear = _Linear(1, 1)
        self.linear.weight, self.linear.bias = nn.Parameter(weight), nn.Parameter(bias)


class TiedParameters(nn.Module):
    """Parameters of several kinds, without a forward pass. Two embeddings and an output layer share a weight."""

    def __init__(
        self,
        embedding: Float[Tensor, "vocab_size d"],
        weight: Float[Tensor, "d_out d"],
        bias: Float[Tensor, " d_out"],
        norm_weight: Float[Tensor, " d"],
        norm_bias: Float[Tensor, " d"],
        places: Float[Tensor, "n_places d"],
        filters: Float[Tensor, "n d d"],
        table: Float[Tensor, "n_rows d"],
        gate: Float[Tensor, " d"],
        scale: Float[Tensor, ""],
        positions: Float[Tensor, "length d"],
    ) -> None:
        super().__init__()
        self.source_embedding = nn.Embedding(*embedding.shape, _weight=embedding)
        self.target_embedding = nn.Embedding(*embedding.shape, _weight=embedding)
        self.place_embedding = nn.Embedding(*places.shape, _weight=places)
        self.linear, self.norm, self.output = _Linear(1, 1), nn.LayerNorm(1), _Linear(1, 1, bias=False)
        self.target_embedding.weight = self.output.weight = self.source_embedding.weight
        self.linear.weight, self.linear.bias = nn.Parameter(weight), nn.Parameter(bias)
        self.norm.weight, self.norm.bias = nn.Parameter(norm_weight), nn.Parameter(norm_bias)
        self.filters, self.table = nn.Parameter(filters), nn.Parameter(table)
        self.gate, self.scale = nn.Parameter(gate), nn.Parameter(scale)
        self.register_buffer("positions", positions)


class AfterBackward(nn.Module):
    """Parameters with gradients, as after a backward pass. The model has no forward pass.

    Args:
        tables: The value of each parameter under its name, such as ``layers.0.weight``, and its gradient, if it has
            one, under this name followed by ``.grad``.
        frozen: The value of an additional parameter called ``frozen``, which requires no gradient.
        tied: Whether ``head.weight`` is the same parameter as ``embedding.weight``.
    """

    def __init__(self, frozen: Tensor | None = None, tied: Tensor | None = None, **tables: Tensor) -> None:
        super().__init__()
        for path, table in tables.items():
            if not path.endswith(".grad"):
                holder, name = self._holder(path)
                holder.register_parameter(name, nn.Parameter(table))
                holder.get_parameter(name).grad = tables.get(f"{path}.grad")
        if frozen is not None:
            self.frozen = nn.Parameter(frozen, requires_grad=False)
        if tied is not None and tied:
            holder, name = self._holder("head.weight")
            holder.register_parameter(name, self.get_parameter("embedding.weight"))

    def _holder(self, path: str) -> tuple[nn.Module, str]:
        """Return the submodule that contains a parameter, creating it if necessary, and the parameter's name in it."""
        *modules, name = path.split(".")
        holder: nn.Module = self
        for module in modules:
            if module not in dict(holder.named_children()):
                holder.add_module(module, nn.Module())
            holder = holder.get_submodule(module)
        return holder, name


class _ScaledInTraining(_Tables):
    """A model whose outputs are larger in training mode, like activations that dropout rescales.

    Args:
        gain_in_training: The factor that multiplies the outputs in training mode; None means 1.
        evaluates: Whether the model starts in eval mode.
        tables: The other tables.
    """

    gain_in_training: Tensor | None

    def __init__(
        self, gain_in_training: Tensor | None = None, evaluates: Tensor | None = None, **tables: Tensor
    ) -> None:
        super().__init__(**tables)
        self.register_buffer("gain_in_training", gain_in_training)
        if evaluates is not None:
            self.train(not bool(evaluates))

    def scaled(self, output: Tensor) -> Tensor:
        """Multiply an output by the factor for the current mode."""
        return output * self.gain_in_training if self.training and self.gain_in_training is not None else output


class TokenCache:
    """The tokens that a ``CachingMixer`` has read."""

    def __init__(self) -> None:
        self.tokens: Tensor | None = None

    def with_new(self, tokens: Int[Tensor, "batch n"]) -> Int[Tensor, "batch n_all"]:
        """Append new tokens and return all of them.

        Raises:
            ValueError: The batch size differs from the batch size of the cached tokens.
        """
        if self.tokens is not None and len(self.tokens) != len(tokens):
            raise ValueError(
                f"the cache has batch size {len(self.tokens)} but the tokens have batch size {len(tokens)}"
            )
        self.tokens = tokens if self.tokens is None else torch.cat([self.tokens, tokens], dim=1)
        return self.tokens


class CachingMixer(_ScaledInTraining):
    """A model like ``TokenMixer`` that uses a different mixing table for a single token with a cache."""

    embedding: Tensor
    mixing: Tensor
    cached_mixing: Tensor

    def new_cache(self) -> TokenCache:
        """Return an empty cache."""
        return TokenCache()

    def forward(
        self, tokens: Int[Tensor, "batch n"], cache: TokenCache | None = None
    ) -> Float[Tensor, "batch n vocab_size"]:
        """Return the logits at every position of these tokens, which follow the cached tokens.

        Raises:
            ValueError: There are more tokens than rows of ``mixing``.
        """
        text = tokens if cache is None else cache.with_new(tokens)
        n = text.shape[1]
        if n > len(self.mixing):
            raise ValueError(f"the model accepts at most {len(self.mixing)} tokens; got {n}")
        mixing = self.mixing if cache is None or tokens.shape[1] > 1 else self.cached_mixing
        return self.scaled(mixing[n - tokens.shape[1] : n, :n] @ functional.embedding(text, self.embedding))


class PaddedReader(_ScaledInTraining):
    """A model that outputs the mean of a text's embeddings, multiplied at each position by a row of ``places``.

    Args:
        hears_padding: The weight of padding in the mean. Other tokens have weight 1.
        counts_padding: Whether padding counts as a position.
        at_padding: A number that is multiplied by the column, counted from 1, and added to the outputs at padding.
    """

    embedding: Tensor
    places: Tensor
    pad_id: Tensor
    hears_padding: Tensor
    counts_padding: Tensor
    at_padding: Tensor

    def forward(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n vocab_size"]:
        """Return the logits at every position.

        Raises:
            ValueError: There are more tokens than rows of ``places``.
        """
        n = tokens.shape[1]
        if n > len(self.places):
            raise ValueError(f"the model accepts at most {len(self.places)} tokens; got {n}")
        real, columns = tokens != self.pad_id, torch.arange(n).expand_as(tokens)
        weights = torch.where(real, 1.0, self.hears_padding)[..., None]
        total = (weights * functional.embedding(tokens, self.embedding)).sum(dim=1, keepdim=True)
        mean = total / weights.sum(dim=1, keepdim=True).clamp(min=1e-9)
        positions = columns if self.counts_padding else (real.cumsum(dim=1) - 1).clamp(min=0)
        added = torch.where(real, 0.0, self.at_padding * (1 + columns))
        return self.scaled(mean * self.places[positions] + added[..., None])


class PositionMixer(_Tables):
    """A model whose output at position i is ``Σ_j mixing[i, j] x_j projection``."""

    mixing: Tensor
    projection: Tensor

    def forward(self, x: Float[Tensor, "n_in d"]) -> Float[Tensor, "n_out d_out"]:
        """Return the mixed and projected vectors."""
        return self.mixing @ x @ self.projection


class NormedLayer(_Tables):
    """Two sublayers with normalized inputs and residual connections, which may be wrong.

    Args:
        mixing: For each sublayer, the table that mixes the positions.
        projections: For each sublayer, the matrix that multiplies the mixed vectors.
        sums: For each sublayer, the factors with which x and the normalized x are added to its output.
        ends_in_norm: Whether the output is normalized.
    """

    mixing: Tensor
    projections: Tensor
    sums: Tensor
    ends_in_norm: Tensor

    def forward(self, x: Float[Tensor, "batch n d"]) -> Float[Tensor, "batch n d"]:
        """Return the vectors after both sublayers."""
        for mixing, projection, (x_factor, normed_factor) in zip(self.mixing, self.projections, self.sums, strict=True):
            normed = functional.layer_norm(x, x.shape[-1:])
            x = x_factor * x + normed_factor * normed + mixing @ normed @ projection
        return functional.layer_norm(x, x.shape[-1:]) if self.ends_in_norm else x


STAND_INS: dict[str, Callable[..., nn.Module]] = {
    "token_mixer": TokenMixer,
    "next_token_table": NextTokenTable,
    "fixed_noise_sampler": FixedNoiseSampler,
    "table_translator": TableTranslator,
    "linear_layer": LinearLayer,
    "month_reader": MonthReader,
    "affine": Affine,
    "tied_parameters": TiedParameters,
    "after_backward": AfterBackward,
    "caching_mixer": CachingMixer,
    "padded_reader": PaddedReader,
    "position_mixer": PositionMixer,
    "normed_layer": NormedLayer,
}
