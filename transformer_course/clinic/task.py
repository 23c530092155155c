"""The task of every patient: read a word and write it backwards.

A model learns the task within seconds. The task requires attention and positions, and its answers are easy to check by
eye.
"""

import random
from collections.abc import Iterable

import torch
from jaxtyping import Int
from torch import Tensor

PAD_ID, BOS_ID, EOS_ID = 0, 1, 2
"""The padding token, the token between question and answer, and the token after the answer."""
LETTERS = "abcdefgh"
VOCAB_SIZE = 3 + len(LETTERS)
MIN_LETTERS, MAX_LETTERS = 3, 5
MAX_LENGTH = 24
"""Context length of every model: long enough for a question, its answer, special tokens and padding."""

Pair = tuple[str, str]


def draw_pairs(n: int, seed: int | str, n_letters: int | None = None) -> list[Pair]:
    """Draw words and their reversals.

    Args:
        n: Number of pairs.
        seed: Random seed.
        n_letters: Length of the words, or None to draw lengths from 3 to 5.

    >>> draw_pairs(2, seed=0, n_letters=4)
    [('bhaf', 'fahb'), ('chha', 'ahhc')]
    """
    rng = random.Random(f"pairs {seed}")
    lengths = [rng.randint(MIN_LETTERS, MAX_LETTERS) if n_letters is None else n_letters for _ in range(n)]
    words = ["".join(rng.choices(LETTERS, k=length)) for length in lengths]
    return [(word, word[::-1]) for word in words]


def encode(word: str) -> list[int]:
    """Return the token ids of a word."""
    return [3 + LETTERS.index(letter) for letter in word]


def decode(tokens: Iterable[int]) -> str:
    """Return the word up to the end token, with a dot for every other special token.

    >>> decode([3, 0, 4, 2, 5])
    'a·b'
    """
    word = ""
    for token in tokens:
        if token == EOS_ID:
            break
        word += LETTERS[token - 3] if token >= 3 else "·"
    return word


def pad(rows: list[list[int]], left: bool = False) -> Int[Tensor, "batch n"]:
    """Return rows of token ids as a tensor, padded to the same length on the right or the left.

    >>> pad([[3, 4], [5]], left=True)
    tensor([[3, 4],
            [0, 5]])
    """
    n = max(map(len, rows))
    padding = [[PAD_ID] * (n - len(row)) for row in rows]
    return torch.tensor([gap + row if left else row + gap for row, gap in zip(rows, padding, strict=True)])
