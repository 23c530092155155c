"""Correct but unusual answers to the exercises on tokenizers."""

import codecs
import re
from collections import Counter
from functools import reduce
from itertools import pairwise

import numpy as np
import torch

from transformer_course.exercises.shared.library_parts import parts


def counted_by_a_counter(tokens, vocab_size):
    counts = Counter(pairwise(tokens))
    return torch.tensor([[counts[first, second] for second in range(vocab_size)] for first in range(vocab_size)])


def counted_one_by_one(tokens, vocab_size):
    counts = torch.zeros(vocab_size, vocab_size, dtype=torch.int64)
    for first, second in pairwise(tokens):
        counts[first, second] += 1
    return counts


def counted_at_once(tokens, vocab_size):
    counts = torch.zeros(vocab_size, vocab_size, dtype=torch.long)
    ones = torch.ones(len(tokens) - 1, dtype=torch.long)
    return counts.index_put_((torch.tensor(tokens[:-1]), torch.tensor(tokens[1:])), ones, accumulate=True)


def counted_by_numpy(tokens, vocab_size):
    counts = np.zeros((vocab_size, vocab_size), dtype=np.int64)
    np.add.at(counts, (tokens[:-1], tokens[1:]), 1)
    return torch.from_numpy(counts)


def counted_by_one_hot_vectors(tokens, vocab_size):
    vectors = torch.nn.functional.one_hot(torch.tensor(tokens), vocab_size)
    return vectors[:-1].T @ vectors[1:]


def merged_with_a_flag(tokens, pair, new_id):
    """Emit the new token when reading the second half of the pair."""
    merged, can_merge = [], False
    for token in tokens:
        if can_merge and (merged[-1], token) == tuple(pair):
            merged[-1], can_merge = new_id, False
        else:
            merged.append(token)
            can_merge = True
    return merged


def merged_by_an_iterator(tokens, pair, new_id):
    def walk():
        skip = False
        for here, after in zip(tokens, [*tokens[1:], None], strict=True):
            if skip:
                skip = False
            elif (here, after) == (pair[0], pair[1]):
                skip = True
                yield new_id
            else:
                yield here

    return list(walk())


def merged_as_a_string(tokens, pair, new_id):
    """Convert tokens to characters and use string replacement, which does not overlap."""
    text = "".join(map(chr, tokens)).replace(chr(pair[0]) + chr(pair[1]), chr(new_id))
    return [ord(character) for character in text]


def merged_recursively_in_place(tokens, pair, new_id):
    tokens, i = list(tokens), 0
    while i < len(tokens) - 1:
        if (tokens[i], tokens[i + 1]) == (pair[0], pair[1]):
            tokens[i : i + 2] = [new_id]
        i += 1
    return tokens


def encoded_by_rank(text, merges):
    """Merge the pair that was learned first among those in the text, as minbpe does."""
    ranks = {tuple(pair): i for i, pair in enumerate(merges)}
    tokens = [*text.encode()]
    while len(tokens) > 1:
        best = min(pairwise(tokens), key=lambda pair: ranks.get(pair, len(ranks)))
        if best not in ranks:
            break
        tokens = parts.merge(tokens, best, 256 + ranks[best])
    return tokens


def decoded_recursively(tokens, merges):
    def piece(token):
        return bytes([token]) if token < 256 else b"".join(map(piece, merges[token - 256]))

    return str(b"".join(map(piece, tokens)), "utf-8", "replace")


def decoded_by_expanding(tokens, merges):
    """Undo the merges in reverse order."""
    for new_id in range(255 + len(merges), 255, -1):
        tokens = [part for token in tokens for part in (merges[new_id - 256] if token == new_id else [token])]
    return bytearray(tokens).decode(errors="replace")


def decoded_incrementally(tokens, merges):
    pieces = {i: bytes([i]) for i in range(256)}
    for i, (a, b) in enumerate(merges):
        pieces[256 + i] = pieces[a] + pieces[b]
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return "".join(decoder.decode(pieces[token]) for token in tokens) + decoder.decode(b"", final=True)


def grouped_backwards(text):
    """Reverse the text, so that groups start at the left."""
    return [piece[::-1] for piece in re.findall(r"[0-9]{1,3}|[^0-9]+", text[::-1])][::-1]


def grouped_by_a_lookahead(text):
    return re.findall(r"[0-9]{1,3}(?=(?:[0-9]{3})*(?![0-9]))|[^0-9]+", text)


def grouped_by_a_format(text):
    pieces = []
    for run in re.split("([0-9]+)", text):
        if run.isascii() and run.isdigit():
            padded = run.rjust(-(-len(run) // 3) * 3)
            pieces += [padded[i : i + 3].strip() for i in range(0, len(padded), 3)]
        elif run:
            pieces.append(run)
    return pieces


UNUSUAL = {
    "count_pairs": {
        "a Counter": counted_by_a_counter,
        "one by one": counted_one_by_one,
        "index_put_": counted_at_once,
        "numpy": counted_by_numpy,
        "one-hot vectors": counted_by_one_hot_vectors,
    },
    "merge": {
        "a flag": merged_with_a_flag,
        "an iterator": merged_by_an_iterator,
        "a string": merged_as_a_string,
        "in a copy": merged_recursively_in_place,
    },
    "encode": {
        "by rank": encoded_by_rank,
        "a fold": lambda text, merges: reduce(
            lambda tokens, numbered: parts.merge(tokens, numbered[1], 256 + numbered[0]),
            enumerate(merges),
            [*bytes(text, "utf-8")],
        ),
    },
    "decode": {
        "recursively": decoded_recursively,
        "by expanding": decoded_by_expanding,
        "incrementally": decoded_incrementally,
    },
    "group_digits": {
        "backwards": grouped_backwards,
        "a lookahead": grouped_by_a_lookahead,
        "padding": grouped_by_a_format,
    },
}
