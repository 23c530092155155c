"""The answer to ``count_pairs``, plainly and in steps."""

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_course.steps import InSteps


def count_pairs(tokens: list[int], vocab_size: int) -> Int[Tensor, "vocab_size vocab_size"]:
    """Return how often each token is followed by each: a row for the first of a pair, a column for the second."""
    ids = torch.tensor(tokens)
    numbers = ids[:-1] * vocab_size + ids[1:]  # each pair has a number of its own
    return torch.bincount(numbers, minlength=vocab_size**2).view(vocab_size, vocab_size)


def ids(tokens):
    """make a tensor of the tokens

    the tokens as a tensor
    """
    return torch.tensor(tokens)


def firsts(ids):
    """take all tokens but the last as the first of a pair

    the first token of each pair
    """
    return ids[:-1]


def seconds(ids):
    """take all tokens but the first as the second of a pair

    the second token of each pair
    """
    return ids[1:]


def numbers(firsts, seconds, vocab_size):
    """give each pair a number: its place in a table that is read row by row

    the numbers of the pairs: first · vocab_size + second
    """
    return firsts * vocab_size + seconds


def counts(numbers, vocab_size):
    """count how often each number occurs

    the counts of all possible pairs, (vocab_size²,)
    """
    return torch.bincount(numbers, minlength=vocab_size**2)


def table(counts, vocab_size):
    """make a table of the counts

    the table of counts, (vocab_size, vocab_size)
    """
    return counts.view(vocab_size, vocab_size)


STEPS = InSteps(ids, firsts, seconds, numbers, counts, table, reference=count_pairs)
