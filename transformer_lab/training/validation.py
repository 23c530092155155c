"""Validation: the loss and the score of a model on pairs that it is not trained on."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from transformer_lab.data.batches import Batches, InMemory
from transformer_lab.data.tokenizers import PAD_ID
from transformer_lab.text.translator import Translator
from transformer_lab.training.loss import count_tokens, smoothed_cross_entropy

Score = Callable[[Sequence[str], Sequence[str]], float]
"""Scores translations by their references; higher is better."""


EXTRA_TOKENS = 10
"""Number of tokens by which a translation may be longer than the longest reference."""


class ValidationResult(NamedTuple):
    """The result of a validation.

    Args:
        loss: Mean cross-entropy per real token with teacher forcing, in nats.
        score: Score of the translations that the model generates. It decides which parameters are the best, since a
            model may reach a low loss and generate nothing right.
    """

    loss: float
    score: float


class Validation:
    """Evaluates a translator on held-out pairs when it is called.

    Args:
        translator: The translator.
        pairs: Sources and their reference translations.
        score: Scores the translations that it generates.
        batch_tokens: Largest number of tokens in a batch, as in training.

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
        # A translation longer than every reference is wrong anyway, and an untrained model never ends one.
        self._max_length = min(int(max(targets.lengths, default=0)) + EXTRA_TOKENS, translator.model.config.max_length)
        self._batches = Batches(sources, targets, max(batch_tokens, int(longest)), PAD_ID, seed=0)

    def __call__(self) -> ValidationResult:
        """Return the loss and the score of the translator as it is now."""
        self.translator.model.eval()
        loss = self._loss()
        translations = list(self.translator.translate(self.sources, self._max_length))
        return ValidationResult(loss, self.score(translations, self.references))

    @torch.no_grad()
    def _loss(self) -> float:
        total, n_tokens = 0.0, 0
        for indices in self._batches.plan(0):
            batch = self._batches.collate(indices.tolist()).to(self.translator.device)
            logits = self.translator.model(batch.source, batch.target[:, :-1])
            total += smoothed_cross_entropy(logits, batch.target[:, 1:], PAD_ID).item()
            n_tokens += int(count_tokens(batch.target[:, 1:], PAD_ID))
        return total / n_tokens
