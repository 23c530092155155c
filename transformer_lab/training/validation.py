"""Validation: the loss and the score of a model on held-out pairs or texts."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import nn

from transformer_lab.data.batches import AnyBatch, Batches, EpochBatches, InMemory, WindowBatches, split_into_windows
from transformer_lab.data.tokenizers import PAD_ID
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.text.translator import Translator
from transformer_lab.training.loss import batch_loss, count_tokens
from transformer_lab.training.metrics import bits_per_byte

Score = Callable[[Sequence[str], Sequence[str]], float]
"""A function that scores translations against references; higher is better."""


MAX_EXTRA_TOKENS = 10


class ValidationResult(NamedTuple):
    """The result of a validation.

    Args:
        loss: Mean cross-entropy per real token with teacher forcing, in nats.
        score: Used to choose the best parameters; higher is better. For a translator, it is the score of the generated
            translations, because a model may reach a low loss and still generate wrong translations. For a language
            model, it is minus the bits per byte.
    """

    loss: float
    score: float


class Validation:
    """An evaluation of a translator on held-out pairs.

    Args:
        translator: The translator.
        pairs: Sources and their reference translations.
        score: Scores the generated translations.
        batch_tokens: Maximum number of tokens in a batch, as in training.

    Raises:
        ValueError: There are no pairs.
    """

    def __init__(
        self, translator: Translator, pairs: Sequence[tuple[str, str]], score: Score, batch_tokens: int
    ) -> None:
        self.translator, self.score = translator, score
        self.sources = [source for source, _ in pairs]
        self.references = [target for _, target in pairs]
        sources = InMemory(map(translator.encode_source, self.sources))
        targets = InMemory(map(translator.encode_target, self.references))
        longest = max([*sources.lengths, *targets.lengths], default=0)
        # A translation longer than every reference is wrong anyway, and an untrained model would never stop.
        self._max_length = min(
            int(max(targets.lengths, default=0)) + MAX_EXTRA_TOKENS, translator.model.config.max_length
        )
        self._batches = Batches(sources, targets, max(batch_tokens, int(longest)), PAD_ID, seed=0)

    def __call__(self) -> ValidationResult:
        """Return the current loss and score of the translator."""
        loss = mean_loss(self.translator.model, self._batches)
        translations = list(self.translator.translate(self.sources, self._max_length))
        return ValidationResult(loss, self.score(translations, self.references))


class TextValidation:
    """An evaluation of a language model on held-out texts.

    Each text begins with a token that is not predicted, and is split into windows. The model predicts each token from
    the earlier tokens of its window. The end of a text is not predicted, because it is not part of the text's bytes.

    Args:
        model: The model.
        tokenizer: The model's tokenizer.
        texts: The held-out texts.
        begin_id: The token that begins a text.
        batch_tokens: Maximum number of tokens in a batch, and in a window.

    Raises:
        ValueError: There are no texts.
    """

    def __init__(
        self, model: LanguageModel, tokenizer: Tokenizer, texts: Sequence[str], begin_id: int, batch_tokens: int
    ) -> None:
        self.model, self.window = model, min(model.config.max_length, batch_tokens)
        encoded = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
        windows = (window for ids in encoded for window in split_into_windows([begin_id, *ids], self.window))
        self._batches = WindowBatches(InMemory(map(np.asarray, windows)), batch_tokens, seed=0)
        self.n_tokens = sum(map(len, encoded))
        self.n_bytes = sum(len(text.encode()) for text in texts)

    def __call__(self) -> ValidationResult:
        """Return the model's current loss and, as its score, the negative bits per byte."""
        loss = mean_loss(self.model, self._batches)
        return ValidationResult(loss, -bits_per_byte(loss, self.n_tokens, self.n_bytes))


@torch.no_grad()
def mean_loss(model: nn.Module, batches: EpochBatches[AnyBatch]) -> float:
    """Return the mean cross-entropy per real token of an epoch, in nats; the model stays in evaluation mode."""
    model.eval()
    device = next(model.parameters()).device
    total, n_tokens = 0.0, 0
    for indices in batches.plan(0):
        batch = batches.collate(indices.tolist()).to(device)
        total += batch_loss(model, batch.inputs, batch.labels, batches.pad_id).item()
        n_tokens += int(count_tokens(batch.labels, batches.pad_id))
    return total / n_tokens
