"""Validation: how a model does on pairs that it is not trained on."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from transformer_lab.data.batches import Batches, InMemory
from transformer_lab.data.tokenizers import PAD_ID
from transformer_lab.text.translator import Translator
from transformer_lab.training.loss import count_tokens, smoothed_cross_entropy

Score = Callable[[Sequence[str], Sequence[str]], float]
"""Judges translations by references: the higher, the better."""


EXTRA_TOKENS = 10
"""By so many tokens a translation may be longer than the longest reference."""


class ValidationResult(NamedTuple):
    """What validation found.

    Args:
        loss: The mean cross-entropy of the real tokens when the model is shown what came before, in nats.
        score: How good the translations are that it writes freely. A model may reach a low loss and write nothing
            right, so this is what decides.
    """

    loss: float
    score: float


class Validation:
    """Judges a translator by held-out pairs, whenever it is called.

    Args:
        translator: Who is judged.
        pairs: Sources and their translations.
        score: Judges what it writes by itself.
        batch_tokens: How many tokens a batch has at most, as in training.

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
        # What is longer than every reference is wrong anyway, and a model that has learned little never stops.
        self._max_length = min(int(max(targets.lengths, default=0)) + EXTRA_TOKENS, translator.model.config.max_length)
        self._batches = Batches(sources, targets, max(batch_tokens, int(longest)), PAD_ID, seed=0)

    def __call__(self) -> ValidationResult:
        """Judge."""
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
