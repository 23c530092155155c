"""Tests for the task of reversing words."""

import torch
from torch.nn.utils.rnn import pad_sequence

from transformer_course.clinic.task import (
    EOS_ID,
    LETTERS,
    MAX_LETTERS,
    MIN_LETTERS,
    PAD_ID,
    VOCAB_SIZE,
    decode,
    draw_pairs,
    encode,
    pad,
)  # fmt: skip


def test_seed_determines_tasks_for_all_lengths():
    pairs = draw_pairs(50, seed=3)
    assert all(answer == "".join(reversed(question)) for question, answer in pairs)
    assert {len(question) for question, _ in pairs} == set(range(MIN_LETTERS, MAX_LETTERS + 1))
    assert pairs == draw_pairs(50, seed=3) != draw_pairs(50, seed=4)
    assert {len(question) for question, _ in draw_pairs(50, seed=3, n_letters=4)} == {4}


def test_decode_reverses_encode_up_to_end_token():
    assert sorted(encode(LETTERS)) == list(range(3, VOCAB_SIZE))
    assert decode([*encode(LETTERS), EOS_ID, *encode("ab")]) == LETTERS


def test_padding_matches_torch_on_both_sides():
    rows = [[3, 4, 5], [6], [7, 8]]
    tensors = [torch.tensor(row) for row in rows]
    assert pad(rows).equal(pad_sequence(tensors, batch_first=True, padding_value=PAD_ID))
    left = pad_sequence([row.flip(0) for row in tensors], batch_first=True, padding_value=PAD_ID).flip(1)
    assert pad(rows, left=True).equal(left)
