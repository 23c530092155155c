"""Metrics for generated translations and for the probabilities that a model assigns to a text."""

import math
from collections.abc import Sequence


def exact_match(translations: Sequence[str], references: Sequence[str]) -> float:
    """Return the percentage of translations that equal their references.

    Raises:
        ValueError: There are no translations, or the numbers of translations and references differ.

    >>> exact_match(["2021-03-03", "2021-03-04"], ["2021-03-03", "2021-04-03"])
    50.0
    """
    _check(translations, references)
    hits = [translation == reference for translation, reference in zip(translations, references, strict=True)]
    return 100 * sum(hits) / len(hits)


def bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    """Return the BLEU of a corpus (Papineni et al., 2002), with sacrebleu's default signature.

    Raises:
        ValueError: There are no translations, or the numbers of translations and references differ.
    """
    from sacrebleu.metrics.bleu import BLEU

    _check(translations, references)
    return float(BLEU().corpus_score(list(translations), [list(references)]).score)


def chrf(translations: Sequence[str], references: Sequence[str]) -> float:
    """Return the chrF of a corpus (Popović, 2015), with sacrebleu's default signature.

    Raises:
        ValueError: There are no translations, or the numbers of translations and references differ.
    """
    from sacrebleu.metrics.chrf import CHRF

    _check(translations, references)
    return float(CHRF().corpus_score(list(translations), [list(references)]).score)


def perplexity(loss: float) -> float:
    """Return the perplexity of a loss: the number of equally probable tokens with the same uncertainty.

    ``e^loss``. It depends on the vocabulary, so you cannot use it to compare models with different tokenizers.

    Args:
        loss: Mean cross-entropy per token, in nats.

    >>> round(perplexity(math.log(50)))
    50
    """
    return math.exp(loss)


def bits_per_byte(loss: float, n_tokens: int, n_bytes: int) -> float:
    """Return the number of bits per byte if the text were compressed with the model's probabilities.

    ``loss · n_tokens / (n_bytes · ln 2)``: section 3.1 of Gao et al. (2020), arXiv:2101.00027. You can use it to
    compare models with different tokenizers, because every byte of the text counts once.

    Args:
        loss: Mean cross-entropy per token, in nats.
        n_tokens: Number of tokens in the mean.
        n_bytes: Size of the text in UTF-8, in bytes.

    Raises:
        ValueError: The text is empty.

    >>> round(bits_per_byte(loss=math.log(256), n_tokens=30, n_bytes=30), 6)
    8.0
    """
    if n_bytes < 1:
        raise ValueError(f"the text must not be empty; got n_bytes={n_bytes}")
    return loss * n_tokens / (n_bytes * math.log(2))


def _check(translations: Sequence[str], references: Sequence[str]) -> None:
    if not translations or len(translations) != len(references):
        found = f"{len(translations)} translations and {len(references)} references"
        raise ValueError(f"metrics require at least one translation, and a reference for each translation; got {found}")
