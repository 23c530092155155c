"""Tests that torch has its default state in an isolated call, and that global state is restored afterwards."""

import ctypes
import os
import sys
import warnings

import pytest
import torch

from transformer_course.running.isolation import (
    MAX_WARNING_LENGTH,
    collected_warnings,
    default_torch_state,
    restored_globals,
    suppressed_native_output,
    suppressed_output,
)


def test_ignores_and_preserves_settings_from_lesson():
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad(), torch.device("meta"), default_torch_state():
            x = torch.ones(2)
            assert (x.dtype, x.device.type, torch.is_grad_enabled()) == (torch.float32, "cpu", True)
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_does_not_create_inference_tensors():
    with torch.inference_mode(), default_torch_state():
        assert not torch.ones(2).is_inference()


def test_restores_changed_state_even_after_error():
    with pytest.raises(ZeroDivisionError), default_torch_state():
        torch.set_default_dtype(torch.float64)
        torch.use_deterministic_algorithms(True)
        torch.set_grad_enabled(False)
        _ = 1 / 0
    assert torch.get_default_dtype() == torch.float32
    assert not torch.are_deterministic_algorithms_enabled()
    assert not torch.is_warn_always_enabled()
    assert torch.is_grad_enabled()


def test_random_numbers_repeat_inside_and_continue_outside():
    torch.manual_seed(7)
    expected = torch.rand(2)
    torch.manual_seed(7)
    with default_torch_state():
        first = torch.rand(3)
    torch.rand(5)
    torch.manual_seed(7)
    with default_torch_state():
        second = torch.rand(3)
    assert torch.equal(first, second)
    assert torch.equal(torch.rand(2), expected)


def test_restores_globals_after_error():
    streams, filters = (sys.stdout, sys.stderr), list(warnings.filters)
    with pytest.raises(ZeroDivisionError), restored_globals():
        sys.stdout = sys.stderr = None
        warnings.simplefilter("ignore")
        torch.set_default_dtype(torch.float64)
        _ = 1 / 0
    assert (sys.stdout, sys.stderr) == streams
    assert warnings.filters == filters
    assert torch.get_default_dtype() == torch.float32


def test_suppresses_both_streams_only_inside_block(capsys):
    with suppressed_output():
        print("out")
        print("err", file=sys.stderr)
    print("after")
    assert capsys.readouterr() == ("after\n", "")


def test_collects_each_warning_once_without_raising():
    with collected_warnings() as collected:
        for text in ("one\nmore", "two", "two"):
            warnings.warn(text, DeprecationWarning, stacklevel=1)
    assert collected == ["one", "two"]


def test_collects_warnings_before_an_error():
    with pytest.raises(ZeroDivisionError), collected_warnings() as collected:
        warnings.warn("before", stacklevel=1)
        _ = 1 / 0
    assert collected == ["before"]


def test_restores_warning_filters():
    with collected_warnings():
        pass
    with pytest.raises(UserWarning, match="aloud"):
        warnings.warn("aloud", stacklevel=1)


def test_truncates_long_warning():
    with collected_warnings() as collected:
        warnings.warn("x" * 10**6, stacklevel=2)
    assert collected == ["x" * MAX_WARNING_LENGTH]


def test_discards_native_output_only_inside_block(capfd):
    with suppressed_native_output():
        os.write(1, b"from C")
        if os.name == "posix":
            ctypes.CDLL(None).puts(b"from C's buffer")
    os.write(1, b"after")
    assert capfd.readouterr().out == "after"
