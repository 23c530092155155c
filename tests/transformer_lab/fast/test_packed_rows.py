"""Tests that packing rows drops only padding, and that gradients reach the original positions."""

import pytest
import torch
from torch.autograd import gradcheck
from torch.testing import assert_close

from transformer_lab.fast.packed_rows import PackedRows, can_be_packed

REAL = torch.tensor([[True, True, True, False], [True, False, False, False], [True, True, True, True]])


def test_unpacking_inverts_packing_except_at_padding():
    x, rows = torch.randn(3, 4, 5), PackedRows(REAL)
    assert torch.equal(rows.pack(x), x[REAL])
    assert torch.equal(rows.unpack(rows.pack(x)), x * REAL[..., None])
    assert rows.positions.tolist() == [0, 1, 2, 0, 0, 1, 2, 3]
    assert torch.equal(rows.select(REAL.cumsum(1)), REAL.cumsum(1)[REAL])


@pytest.mark.parametrize(("multiple", "n_rows"), [(3, 9), (5, 10), (7, 8), (2, 8), (12, 8)])
def test_padding_fills_rows_up_to_a_multiple(multiple, n_rows):
    """8 of 12 positions contain real tokens. Padding to a multiple of 7 would take 14 rows, which do not exist, and
    padding to 12 rows would save nothing. In both cases, 8 rows remain.
    """
    x, rows = torch.randn(3, 4, 5), PackedRows(REAL, multiple)
    packed = REAL.clone()
    packed.view(-1)[rows.index] = True
    assert len(set(rows.index.tolist())) == n_rows and rows.n_real == 8
    assert torch.equal(rows.pack(x)[:8], x[REAL])
    assert torch.equal(rows.unpack(rows.pack(x)), x * packed[..., None])
    assert rows.positions.tolist() == [i % 4 for i in rows.index.tolist()]


@pytest.mark.parametrize(
    ("real", "multiple"),
    [(REAL, 1), (REAL, 5), (torch.ones_like(REAL), 1)],
    ids=["padding", "padding for rows", "no padding"],
)
def test_gradients_match_plain_operations(real, multiple):
    rows = PackedRows(real, multiple)
    assert gradcheck(rows.pack, torch.randn(3, 4, 2, dtype=torch.float64, requires_grad=True))
    assert gradcheck(rows.unpack, torch.randn(len(rows.index), 2, dtype=torch.float64, requires_grad=True))


def test_does_not_copy_batch_without_padding():
    x, rows = torch.randn(3, 4, 5), PackedRows(torch.ones_like(REAL))
    assert rows.is_full
    assert rows.pack(x).data_ptr() == rows.unpack(rows.pack(x)).data_ptr() == x.data_ptr()
    assert_close(rows.unpack(rows.pack(x)), x)


@pytest.mark.parametrize("row", [[False, True], [False, False]], ids=["padding first", "no token"])
def test_rejects_padding_before_real_tokens(row):
    real = torch.tensor([[True, True], row])
    assert not can_be_packed(real)
    with pytest.raises(ValueError, match="begin with a real token, with padding only at its end"):
        PackedRows(real)
