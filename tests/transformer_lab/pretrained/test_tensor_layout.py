"""Tests that conversions in tensor layouts are invertible, and that errors list all mismatched tensors."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from transformer_lab.attention.positions import Rotation, rotary_frequencies
from transformer_lab.pretrained.tensor_layout import (
    AddOne,
    Chain,
    Conversion,
    Entry,
    InterleaveHalves,
    Layout,
    SplitQKV,
    SqueezeRow,
    Transpose,
)


@pytest.mark.parametrize(
    "change, shape",
    [
        (Conversion(), (3, 5)),
        (Transpose(), (3, 5)),
        (Transpose(), (5,)),
        (SplitQKV(), (5, 9)),
        (SplitQKV(), (9,)),
        (SqueezeRow(), (1, 7)),
        (InterleaveHalves(axis=0), (6, 5)),
        (InterleaveHalves(axis=0), (6,)),
        (InterleaveHalves(axis=1), (5, 6)),
        (InterleaveHalves(axis=0, n_groups=3), (12, 5)),
        (Chain(Transpose(), InterleaveHalves(axis=0)), (5, 6)),
    ],
)
def test_conversions_are_invertible(change, shape):
    theirs = torch.randn(shape)
    assert torch.equal(change.to_theirs(change.to_ours(theirs)), theirs)


def test_add_one_conversion_does_not_round():
    theirs = torch.tensor([2.0**-9, -1.0], dtype=torch.bfloat16)
    [ours] = AddOne().to_ours(theirs)
    assert ours.tolist() == [1 + 2.0**-9, 0.0]
    assert AddOne().to_theirs([ours]).tolist() == theirs.tolist()


def test_transpose_changes_only_matrices():
    matrix = torch.randn(3, 5)
    assert torch.equal(Transpose().to_ours(matrix)[0], matrix.mT)
    assert torch.equal(Transpose().to_ours(matrix[0])[0], matrix[0])


@given(n_heads=st.integers(1, 3), half=st.integers(1, 4), seed=st.integers(0, 99))
def test_interleaved_pairs_match_rotated_halves(n_heads, half, seed):
    d_k = 2 * half
    theirs = torch.randn(1, n_heads, 5, d_k, generator=torch.Generator().manual_seed(seed))
    where = torch.arange(5)
    angles = torch.outer(where, rotary_frequencies(d_k).float()).repeat(1, 2)[None]
    rotated, _ = apply_rotary_pos_emb(theirs, theirs, angles.cos(), angles.sin())
    flat = theirs[0].transpose(0, 1).flatten(start_dim=1)  # shape (5, n_heads · d_k), like the output of a projection
    ours = InterleaveHalves(1, n_heads).to_ours(flat)[0].unflatten(1, (n_heads, d_k)).transpose(0, 1)[None]
    converted_back = InterleaveHalves(3).to_theirs([Rotation(where, d_k).rotate(ours)])
    assert_close(converted_back, rotated, atol=1e-5, rtol=1e-5)


@pytest.fixture
def model():
    return nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 7, bias=False))


LAYOUT = Layout(
    [
        Entry("net.a", ("0.weight",), Transpose()),
        Entry("net.b", ("0.bias",)),
        Entry("net.c", ("1.weight",), others=("last.c",)),
    ],
    prefix="net.",
    constants={"net.k": torch.arange(4.0)},
    ignored=r"net\.unused\.\d+",
)


def valid_tensors():
    return {"net.a": torch.randn(3, 5), "net.b": torch.randn(5), "net.c": torch.randn(7, 5)}


def test_loading_and_saving_round_trips(model):
    stored = valid_tensors()
    LAYOUT.load(model, stored, "here")
    assert torch.equal(model[0].weight, stored["net.a"].mT)
    saved = LAYOUT.tensors(model)
    assert saved.keys() == stored.keys()
    assert all(torch.equal(saved[name], stored[name]) for name in stored)


def test_accepts_constants_and_ignored_tensors(model):
    others = {"net.k": torch.arange(4.0), "net.unused.12": torch.ones(2)}
    LAYOUT.load(model, valid_tensors() | others, "here")


def test_prefix_is_optional(model):
    stored = valid_tensors()
    LAYOUT.load(model, {"a": stored["net.a"], "b": stored["net.b"], "last.c": stored["net.c"]}, "here")
    assert torch.equal(model[1].weight, stored["net.c"])


WRONG = {
    "missing": ({"net.b": None}, "net.b is missing"),
    "unknown": ({"net.d": torch.ones(2), "net.unused.x": torch.ones(1)}, "net.d is unknown; net.unused.x is unknown"),
    "wrong shape": ({"net.a": torch.ones(5, 3)}, r"net.a has the shape \(5, 3\), not \(3, 5\)"),
    "untied": ({"last.c": torch.ones(7, 5)}, "last.c and net.c differ but must be equal"),
    "NaN": ({"net.b": torch.tensor([0.0, torch.nan, 0, 0, 0])}, "net.b contains NaN or infinity"),
    "infinity": ({"net.b": torch.tensor([0.0, 0, torch.inf, 0, 0])}, "net.b contains NaN or infinity"),
    "wrong constant": ({"net.k": torch.arange(4.0) + 1}, "net.k differs from the constant of this library's models"),
    "wrong shape of a constant": ({"net.k": torch.arange(5.0)}, r"net.k has the shape \(5,\), not \(4,\)"),
    "all at once": (
        {"net.a": torch.ones(1), "net.b": None, "net.z": torch.ones(1)},
        r"net.a has the shape \(1,\), not \(3, 5\); net.b is missing; net.z is unknown",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_lists_mismatches_and_loads_nothing(model, case):
    changes, message = WRONG[case]
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    stored = {name: tensor for name, tensor in (valid_tensors() | changes).items() if tensor is not None}
    with pytest.raises(ValueError, match=f"^here does not match its configuration: {message}$"):
        LAYOUT.load(model, stored, "here")
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
