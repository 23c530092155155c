"""Decoding states: a model during generation, with its cache for the tokens so far."""

from typing import Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor

from transformer_lab.attention.kv_cache import ModelCache
from transformer_lab.checks import check_has_data, check_length
from transformer_lab.fast.language_model_decoding_step import LanguageModelStep
from transformer_lab.fast.transformer_decoding_step import TransformerStep
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.transformer import Transformer


@runtime_checkable
class DecodingState(Protocol):
    """The interface through which ``generate_steps`` and beam search use a model."""

    def next_logits(self, tokens: Int[Tensor, "rows n"], /) -> Float[Tensor, "rows vocab_size"]:
        """Read the newest tokens of every row; return the logits of the next token."""

    def reorder(self, rows: Int[Tensor, " new_rows"], /) -> None:
        """Replace row i with row ``rows[i]``; the number of rows may change."""


class TranslationState:
    """A Transformer with a source and the target so far.

    Args:
        model: The model, whose mode is not changed: call ``model.eval()`` first.
        source: The sentences to translate.
        max_length: Maximum number of target tokens that the model will read, including the first.

    Raises:
        ValueError: ``max_length`` is not between 1 and the model's maximum, or the source is invalid.
        TypeError: The model has no encoder.
    """

    def __init__(self, model: Transformer, source: Int[Tensor, "batch n_source"], max_length: int) -> None:
        if not hasattr(model, "encode"):
            raise TypeError(f"translation requires a model with an encoder, such as a Transformer; got {type(model)}")
        check_length(max_length, model.config.max_length)
        self.model, self.source, self.memory = model, source, model.encode(source)
        check_has_data(self.memory)
        self._cache = model.new_cache(self.memory, max_length)
        self._step = TransformerStep(model, self._cache, source) if TransformerStep.supports(model) else None

    @property
    def cache(self) -> ModelCache:
        """The model's cache, up to date."""
        if self._step is not None:
            self._step.write_back()
        return self._cache

    def next_logits(self, tokens: Int[Tensor, "rows n"]) -> Float[Tensor, "rows vocab_size"]:
        """Read the newest tokens of every row; return the logits of the next token.

        A single token is read by ``TransformerStep``, in fewer operations, if that computes the same result.
        """
        if self._step is not None and tokens.shape == (len(self.source), 1) and self._step.accepts(tokens):
            return self._step(tokens)
        return self.model.decode(tokens, self.memory, self.source, self.cache)[:, -1]

    def reorder(self, rows: Int[Tensor, " new_rows"]) -> None:
        """Replace row i with row ``rows[i]``.

        The number of rows may change, within the limits of ``ModelCache.reorder``; rows for the same sentence share the
        keys and values of their source.
        """
        (self._cache if self._step is None else self._step).reorder(rows)
        if len(rows) != len(self.source):
            self.memory, self.source = self.memory[rows], self.source[rows]
            if self._step is not None:
                self._step.set_source(self.source)


class TextState:
    """A language model with the texts so far.

    Args:
        model: The model, whose mode is not changed: call ``model.eval()`` first.
        max_length: Maximum number of tokens that the model will read, including the prompt.

    Raises:
        ValueError: ``max_length`` is not between 1 and the model's maximum.
    """

    def __init__(self, model: LanguageModel, max_length: int) -> None:
        check_length(max_length, model.config.max_length)
        self.model, self.cache = model, model.new_cache(max_length)
        self._step = LanguageModelStep(model) if LanguageModelStep.supports(model) else None

    def next_logits(self, tokens: Int[Tensor, "rows n"]) -> Float[Tensor, "rows vocab_size"]:
        """Read the newest tokens of every row; return the logits of the next token.

        Padding at the end of a prompt is ignored. A single token is read by ``LanguageModelStep``, in fewer operations,
        if that computes the same result.
        """
        if tokens.shape[1] == 1 and self._step is not None and self._step.accepts(tokens, self.cache):
            return self._step(tokens, self.cache)
        return self.model.next_logits(tokens, self.cache)

    def reorder(self, rows: Int[Tensor, " new_rows"]) -> None:
        """Replace row i with row ``rows[i]``; the number of rows may change."""
        self.cache.reorder(rows)
