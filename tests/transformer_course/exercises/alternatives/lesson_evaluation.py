"""Unusual right answers to the exercises on evaluation."""

from collections import Counter

import torch


def option_by_option(log_p, is_option, per_token):
    scores = torch.stack(
        [
            torch.stack(
                [row[mask].mean() if per_token else row[mask].sum() for row, mask in zip(rows, masks, strict=True)]
            )
            for rows, masks in zip(log_p, is_option, strict=True)
        ]
    )
    return scores


def by_the_sum_of_squares(first, second):
    differences = first - second
    n, mean = first.numel(), differences.mean()
    return mean, (((differences - mean) ** 2).sum() / (n - 1) / n).sqrt()


def by_the_covariance(first, second):
    variances = torch.cov(torch.stack([first, second]))
    variance = variances[0, 0] + variances[1, 1] - 2 * variances[0, 1]
    return first.mean() - second.mean(), (variance / len(first)) ** 0.5


def by_shifted_lists(words, others, n):
    known = set(zip(*(others[i:] for i in range(n)), strict=False))
    found = [ngram in known for ngram in zip(*(words[i:] for i in range(n)), strict=False)]
    return found.count(True) / len(found) if found else 0.0


def by_counting(words, others, n):
    counts = Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
    known = {tuple(others[i : i + n]) for i in range(len(others) - n + 1)}
    total = sum(counts.values())
    return sum(count for ngram, count in counts.items() if ngram in known) / total if total else 0.0


UNUSUAL = {
    "option_scores": {
        "option by option": option_by_option,
        "by an einsum": lambda log_p, is_option, per_token: (
            torch.einsum("qot,qot->qo", log_p, is_option.to(log_p.dtype)) / (is_option.sum(-1) if per_token else 1)
        ),
        "the mask as numbers": lambda log_p, is_option, per_token: (
            (log_p * is_option).sum(2) / is_option.sum(2).pow(int(per_token))
        ),
    },
    "paired_error_bar": {
        "by the sum of squares": by_the_sum_of_squares,
        "by the covariance": by_the_covariance,
        "the variance over n": lambda first, second: (
            (first - second).mean(),
            torch.sqrt((first - second).var() / first.shape[0]),
        ),
    },
    "ngram_overlap": {
        "by shifted lists": by_shifted_lists,
        "by counting": by_counting,
        "by slices of lists": lambda words, others, n: (
            sum(
                any(others[j : j + n] == words[i : i + n] for j in range(len(others) - n + 1))
                for i in range(len(words) - n + 1)
            )
            / max(1, len(words) - n + 1)
        ),
    },
}
