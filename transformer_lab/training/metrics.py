"""Scores: how good the translations are that a model writes by itself."""

from collections.abc import Sequence


def exact_match(translations: Sequence[str], references: Sequence[str]) -> float:
    """Give the percentage of translations that are right to the last character.

    Raises:
        ValueError: There are none, or not as many references.

    >>> exact_match(["2021-03-03", "2021-03-04"], ["2021-03-03", "2021-04-03"])
    50.0
    """
    _check(translations, references)
    hits = [translation == reference for translation, reference in zip(translations, references, strict=True)]
    return 100 * sum(hits) / len(hits)


def bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    """Give the BLEU of a corpus (Papineni et al., 2002), by sacrebleu's standard signature.

    Raises:
        ValueError: There are no translations, or not as many references.
    """
    from sacrebleu.metrics.bleu import BLEU

    _check(translations, references)
    return float(BLEU().corpus_score(list(translations), [list(references)]).score)


def chrf(translations: Sequence[str], references: Sequence[str]) -> float:
    """Give the chrF of a corpus (Popović, 2015), by sacrebleu's standard signature.

    Raises:
        ValueError: There are no translations, or not as many references.
    """
    from sacrebleu.metrics.chrf import CHRF

    _check(translations, references)
    return float(CHRF().corpus_score(list(translations), [list(references)]).score)


def _check(translations: Sequence[str], references: Sequence[str]) -> None:
    if not translations or len(translations) != len(references):
        raise ValueError(
            f"scores compare texts one by one; got {len(translations)} translations and {len(references)} references"
        )
