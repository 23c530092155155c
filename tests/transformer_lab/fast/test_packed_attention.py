"""Test the values and gradients of attention on packed rows against torch's attention on each sentence."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lab.fast import packed_attention
from transformer_lab.fast.packed_attention import attend_rows
from transformer_lab.fast.packed_rows import PackedRows

N_HEADS, D_K = 2, 3
QUERIES, KEYS = (4, 1, 6), (3, 5, 2)


def rows_of(lengths: tuple[int, ...], multiple: int = 1) -> PackedRows:
    return PackedRows(torch.arange(max(lengths)) < torch.tensor(lengths)[:, None], multiple)


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def attend_sentence_by_sentence(q: Tensor, k: Tensor, v: Tensor, n_queries, n_keys, is_causal: bool) -> Tensor:
    """Compute torch's attention for each sentence, and concatenate the rows of all sentences."""

    def heads(x, lengths):
        return [part.view(-1, N_HEADS, D_K).transpose(0, 1) for part in x[: sum(lengths)].split(lengths)]

    mixed = [
        F.scaled_dot_product_attention(*qkv, is_causal=is_causal)
        for qkv in zip(heads(q, n_queries), heads(k, n_keys), heads(v, n_keys), strict=True)
    ]
    return torch.cat([x.transpose(0, 1).flatten(1) for x in mixed])


def assert_same(ours: Tensor, theirs: Tensor, inputs: list[Tensor]) -> None:
    ours = ours[: len(theirs)]
    assert_close(ours, theirs)
    weights = torch.randn_like(ours)
    assert_close(
        torch.autograd.grad((ours * weights).sum(), inputs), torch.autograd.grad((theirs * weights).sum(), inputs)
    )


@pytest.mark.parametrize("max_padded", [0, 48], ids=["sentence by sentence", "padded"])
@pytest.mark.parametrize("multiple", [1, 4])
@pytest.mark.parametrize("lengths", [QUERIES, (5, 5, 5)], ids=["padding", "no padding"])
def test_self_attention_matches_torch(monkeypatch, max_padded, multiple, lengths):
    monkeypatch.setattr(packed_attention, "MAX_PADDED_LENGTH", max_padded)
    rows = rows_of(lengths, multiple)
    x = draw(len(rows.index), 3 * N_HEADS * D_K)
    for is_causal in (False, True):
        ours = attend_rows(x, rows, None, rows, N_HEADS, is_causal)
        assert len(ours) == len(rows.index)
        assert_same(ours, attend_sentence_by_sentence(*x.chunk(3, dim=1), lengths, lengths, is_causal), [x])


@pytest.mark.parametrize("max_padded", [0, 48], ids=["sentence by sentence", "padded"])
@pytest.mark.parametrize("multiple", [1, 4])
def test_cross_attention_matches_torch(monkeypatch, max_padded, multiple):
    monkeypatch.setattr(packed_attention, "MAX_PADDED_LENGTH", max_padded)
    rows, key_rows = rows_of(QUERIES, multiple), rows_of(KEYS, multiple)
    q, kv = draw(len(rows.index), N_HEADS * D_K), draw(len(key_rows.index), 2 * N_HEADS * D_K)
    ours = attend_rows(q, rows, kv, key_rows, N_HEADS, is_causal=False)
    assert_same(ours, attend_sentence_by_sentence(q, *kv.chunk(2, dim=1), QUERIES, KEYS, is_causal=False), [q, kv])


@pytest.mark.parametrize("max_padded", [0, 48], ids=["sentence by sentence", "padded"])
def test_padding_rows_stay_finite_without_affecting_other_rows(monkeypatch, max_padded):
    monkeypatch.setattr(packed_attention, "MAX_PADDED_LENGTH", max_padded)
    rows = rows_of(QUERIES, 4)
    x = draw(len(rows.index), 3 * N_HEADS * D_K)
    assert len(x) > rows.n_real
    y = attend_rows(x, rows, None, rows, N_HEADS, is_causal=False)
    assert y.isfinite().all()
    (gradient,) = torch.autograd.grad(y[: rows.n_real].sum(), x)
    assert not gradient[rows.n_real :].any()
