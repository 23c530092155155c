"""Tests that plain data round-trips, that other values are replaced, and that malformed bytes are rejected."""

import json
import pickle
from collections import OrderedDict, namedtuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load, save
from torch import nn

from transformer_course.running.plain_data import (
    MAX_NUMBERS,
    NotPlainData,
    check_size,
    count_numbers,
    pack,
    same,
    to_plain_data,
    unpack,
)

SCALARS = st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats() | st.text(st.characters(codec="utf-8"))
TENSORS = st.sampled_from(
    [
        torch.ones(2, 3),
        torch.tensor(torch.nan),
        torch.empty(0, 4),
        torch.arange(5),
        torch.ones(2) > 0,
        torch.ones(1).half(),
    ]
)
PLAIN = st.recursive(
    SCALARS | TENSORS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(PLAIN)
def test_round_trip_preserves_plain_data(data):
    assert same(unpack(pack(data)), data)


def test_packs_views_as_contiguous_tensors():
    x = torch.arange(12.0).view(3, 4)
    for view in (x.mT, x[::2, 1], x.expand(2, 3, 4), x.to_sparse(), torch.ones(2, dtype=torch.complex64).conj()):
        received = unpack(pack(view))
        assert torch.equal(received, view.to_dense() if view.is_sparse else view)
        assert received.is_contiguous()


def test_copy_is_independent_of_original():
    x = torch.ones(2, requires_grad=True)
    copy = to_plain_data({"x": [x]})["x"][0]
    with torch.no_grad():
        x.zero_()
    assert torch.equal(copy, torch.ones(2))
    assert not copy.requires_grad
    assert type(to_plain_data(nn.Parameter(torch.ones(2)))) is torch.Tensor


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (namedtuple("Pair", "a b")(1, 2), (1, 2)),
        (OrderedDict(a=1), {"a": 1}),
        (torch.nn.Linear, {"not_plain": "type"}),
        (np.ones(2), {"not_plain": "numpy.ndarray"}),
        ({1: 2}, {"not_plain": "dict"}),
        (range(3), {"not_plain": "range"}),
        (2**64, {"not_plain": "int of more than 64 bits"}),
        (torch.empty(2, device="meta"), {"not_plain": "tensor that does not hold its numbers one by one"}),
        (torch.zeros(1).expand(MAX_NUMBERS + 1), {"not_plain": "tensor that does not hold its numbers one by one"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_converts_or_replaces_values_that_are_not_plain(value, plain):
    assert to_plain_data(value) == plain
    assert type(to_plain_data(value)) is type(plain)


def test_never_runs_methods_on_tensor_subclasses():
    class Hostile(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *_, **__):
            raise AssertionError("an overridden method ran")

    assert type(to_plain_data(torch.ones(2).as_subclass(Hostile))) is torch.Tensor


def bytes_of(tree, **tensors):
    return save({**tensors, "tree": torch.frombuffer(bytearray(json.dumps(tree).encode()), dtype=torch.uint8)})


class RunsCode:
    def __reduce__(self):
        return print, ("code ran",)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"garbage",
        pickle.dumps(RunsCode()),
        pack([1])[:-3],
        save({}),
        save({"tree": torch.ones(3)}),
        bytes_of([1]),
        bytes_of({"tensor": "0"}),
        bytes_of({"set": [1]}),
        bytes_of({"list": [1], "tuple": [2]}),
        bytes_of({}),
        bytes_of({"list": 3}),
        bytes_of({"dict": [1]}),
        bytes_of(2**70),
        bytes_of(json.loads("[" * 500 + "]" * 500)),
    ],
    ids=lambda data: f"{len(data)}_bytes",
)
def test_rejects_malformed_bytes_without_running_code(data, capsys):
    with pytest.raises(NotPlainData, match="the bytes do not contain plain data"):
        unpack(data)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1.0, 1),
        (True, 1),
        ("1", 1),
        (None, 0),
        ([1], [1, 1]),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 2}),
        (torch.ones(2), torch.ones(2, 1)),
        (torch.ones(2), torch.ones(2).double()),
        (torch.ones(2), torch.ones(2) + 1e-6),
        (torch.ones(2).bool(), torch.zeros(2).bool()),
    ],
)
def test_comparison_distinguishes_different_data(a, b):
    assert not same(a, b)
    assert same(a, a) and same(b, b)


def test_comparison_accepts_rounding_errors_and_matching_nan():
    assert same([torch.ones(2), 1.0], [torch.ones(2) + 1e-5, 1.00001], tolerance=1e-4)
    assert same([torch.tensor([torch.nan]), float("nan")], [torch.tensor([torch.nan]), float("nan")])
    assert same((1, 2), [1, 2])  # the type of a sequence is ignored


def test_size_check_accepts_small_data():
    check_size(pack({"x": [torch.ones(2, 3), torch.ones(6) > 0], "y": "text"}), 2, 6, 200)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no valid header"),
        (b"garbage!" * 99, "header"),
        (pack([torch.ones(1)] * 3), "at most 2 tensors"),
        (pack(torch.ones(7)), "shape"),
        (pack(torch.ones(3, 3)), "at most 6 elements"),
        (pack(torch.ones(0, 2**40)), "shape"),
        (pack(torch.ones([1] * 20)), "shape"),
        (pack(torch.ones(1, dtype=torch.complex64)), "supported dtypes"),
        (pack("x" * 300), "at most 200 bytes"),
        (save({}), "no valid header"),
        ((1 << 62).to_bytes(8, "little") + b"{}", "header must have"),
        ((500).to_bytes(8, "little") + b"[" * 500, "no valid header"),
    ],
)
def test_size_check_rejects_large_or_malformed_data(data, message):
    with pytest.raises(NotPlainData, match=message):
        check_size(data, max_tensors=2, max_numbers=6, max_tree_bytes=200)


def test_counts_numbers_at_any_depth():
    assert count_numbers({"a": [torch.zeros(2, 3), 1.5], "b": (), "c": None}) == 8


def test_packs_every_dtype():
    dtypes = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16]
    dtypes += [torch.int8, torch.uint8, torch.bool, torch.complex64]
    for values in (torch.randn(3, 5), torch.tensor(2.5), torch.zeros(0, 4)):
        tensors = load(pack([values.to(dtype) for dtype in dtypes]))
        saved_again = load(save(tensors))
        for number, dtype in enumerate(dtypes):
            assert torch.equal(tensors[str(number)], values.to(dtype)) and tensors[str(number)].dtype == dtype
            assert torch.equal(saved_again[str(number)], tensors[str(number)])


def test_copies_dense_tensors_and_views():
    table = torch.arange(12.0).view(3, 4)
    views = (table.T, table[::2], table.expand(2, 3, 4), torch.tensor([1 + 2j]).conj(), torch.tensor([1j]).conj().imag)
    for view in (table, *views, table.clone().requires_grad_()):
        copied = to_plain_data(view)
        assert torch.equal(copied, view) and copied.is_contiguous() and not copied.requires_grad
        assert not copied.is_conj() and not copied.is_neg() and copied.data_ptr() != view.data_ptr()


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.int8, torch.bool, torch.complex64, torch.bfloat16]
)
def test_packed_bytes_match_safetensors(dtype):
    for values in (torch.ones(3, 5), torch.tensor(0.0), torch.zeros(0, 4)):
        expected = bytes_of({"list": [{"tensor": "0"}, {"tensor": "1"}]}, **{"0": values.to(dtype), "1": torch.ones(2)})
        assert pack([values.to(dtype), torch.ones(2)]) == expected
