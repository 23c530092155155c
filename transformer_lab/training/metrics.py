"""Metrics of the translations that a model generates."""

from collections.abc import Sequence


def exact_match(translations: Sequence[str], references: Sequence[str]) -> float:
    """Return the percentage of translations that equal their references.

    Raises:
        ValueError: There are no translations, or their number differs from that of the references.

    >>> exact_match(["2021-03-03", "2021-03-04"], ["2021-03-03", "2021-04-03"])
    50.0
    """
    _check(translations, references)
    hits = [translation == reference for translation, reference in zip(translations, references, strict=True)]
    return 100 * sum(hits) / len(hits)


def bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    """Return the BLEU of a corpus (Papineni et al., 2002), with sacrebleu's default signature.

    Raises:
        ValueError: There are no translations, or their number differs from that of the references.
    """
    from sacrebleu.metrics.bleu import BLEU

    _check(translations, references)
    return float(BLEU().corpus_score(list(translations), [list(references)]).score)


def chrf(translations: Sequence[str], references: Sequence[str]) -> float:
    """Return the chrF of a corpus (Popović, 2015), with sacrebleu's default signature.

    Raises:
        ValueError: There are no translations, or their number differs from that of the references.
    """
    from sacrebleu.metrics.chrf import CHRF

    _check(translations, references)
    return float(CHRF().corpus_score(list(translations), [list(references)]).score)


def _check(translations: Sequence[str], references: Sequence[str]) -> None:
    if not translations or len(translations) != len(references):
        found = f"{len(translations)} translations and {len(references)} references"
        raise ValueError(f"metrics need at least one translation, and a reference for each; got {found}")
