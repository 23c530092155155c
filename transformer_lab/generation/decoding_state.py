"""A decoding state: a model that is generating, and its cache."""

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_lab.checks import check_room
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.recurrent import RecurrentTranslator, last_state
from transformer_lab.models.transformer import Transformer


@runtime_checkable
class Writer(Protocol):
    """A model in the middle of writing."""

    def __call__(self, tokens: Int[Tensor, "rows n"], /) -> Float[Tensor, "rows vocab_size"]:
        """Read the newest tokens; give the logits of the one after them."""

    def reorder(self, rows: Int[Tensor, " new_rows"], /) -> None:
        """Let row i go on from what row ``rows[i]`` has written."""


class TranslationWriter:
    """A Transformer that writes about a source.

    Args:
        model: It is used as it stands: call ``model.eval()`` first.
        source: The sentences to translate.
        max_length: How many tokens it will read at most, the first included.

    Raises:
        ValueError: The model cannot take so many, or cannot read the source.
    """

    def __init__(self, model: Transformer, source: Int[Tensor, "batch n_source"], max_length: int) -> None:
        check_room(max_length, model.config.max_length)
        self.model, self.cache = model, model.new_cache(max_length)
        self.memory, self.source = model.encode(source), source

    def __call__(self, tokens: Int[Tensor, "rows n"]) -> Float[Tensor, "rows vocab_size"]:
        """Read the newest tokens; give the logits of the one after them."""
        return self.model.decode(tokens, self.memory, self.source, self.cache)[:, -1]

    def reorder(self, rows: Int[Tensor, " new_rows"]) -> None:
        """Let row i go on from what row ``rows[i]`` has written.

        There may be more rows than before, or fewer, as ``Cache.reorder`` has it; those about one sentence share the
        keys and values of their source.
        """
        self.cache.reorder(rows)
        if len(rows) != len(self.source):
            self.memory, self.source = self.memory[rows], self.source[rows]


class TextWriter:
    """A language model that goes on with a text.

    Args:
        model: It is used as it stands: call ``model.eval()`` first.
        max_length: How many tokens it will read at most, those it is given included.

    Raises:
        ValueError: The model cannot take so many.
    """

    def __init__(self, model: LanguageModel, max_length: int) -> None:
        check_room(max_length, model.config.max_length)
        self.model, self.cache = model, model.new_cache(max_length)

    def __call__(self, tokens: Int[Tensor, "rows n"]) -> Float[Tensor, "rows vocab_size"]:
        """Read the newest tokens; give the logits of the one after the last that is not padding."""
        logits = self.model(tokens, self.cache)
        if self.model.config.pad_id is None or tokens.shape[1] == 1:
            return logits[:, -1]
        real = torch.arange(tokens.shape[1], device=tokens.device) * (tokens != self.model.config.pad_id)
        return logits[torch.arange(len(tokens), device=tokens.device), real.argmax(dim=1)]

    def reorder(self, rows: Int[Tensor, " new_rows"]) -> None:
        """Let row i go on from what row ``rows[i]`` has written."""
        self.cache.reorder(rows)


class RecurrentWriter:
    """A recurrent translator in the middle of writing, as ``decoding.write`` and ``beam_search.search`` want it.

    It needs no cache: the state is all that it keeps of what was written, and no longer for a longer text.

    Args:
        model: It is used as it stands: call ``model.eval()`` first.
        source: The sentences to translate.
    """

    def __init__(self, model: RecurrentTranslator, source: Int[Tensor, "batch n_source"]) -> None:
        self.model = model
        self.states, self.mask = model.encode(source)
        self.state = last_state(self.states, self.mask)

    def __call__(self, tokens: Int[Tensor, "rows n"]) -> Float[Tensor, "rows vocab_size"]:
        """Read the newest tokens; give the logits of the one after them."""
        logits, self.state = self.model.decode(tokens, self.state, self.states, self.mask)
        return logits[:, -1]

    def reorder(self, rows: Int[Tensor, " new_rows"]) -> None:
        """Let row i go on from what row ``rows[i]`` has written; there may be more or fewer rows than before."""
        self.state, self.states, self.mask = self.state[rows], self.states[rows], self.mask[rows]
