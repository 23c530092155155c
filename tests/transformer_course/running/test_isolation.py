"""A call meets torch as it starts out, and leaves everything as it was."""

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


def test_a_lesson_that_changed_torch_is_as_it_was_and_the_call_did_not_see_it():
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad(), torch.device("meta"), default_torch_state():
            made = torch.ones(2)
            assert (made.dtype, made.device.type, torch.is_grad_enabled()) == (torch.float32, "cpu", True)
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_no_inference_tensors_are_made():
    with torch.inference_mode(), default_torch_state():
        assert not torch.ones(2).is_inference()


def test_what_the_call_changes_is_put_back_even_if_it_fails():
    with pytest.raises(ZeroDivisionError), default_torch_state():
        torch.set_default_dtype(torch.float64)
        torch.use_deterministic_algorithms(True)
        torch.set_grad_enabled(False)
        _ = 1 / 0
    assert torch.get_default_dtype() == torch.float32
    assert not torch.are_deterministic_algorithms_enabled()
    assert not torch.is_warn_always_enabled()
    assert torch.is_grad_enabled()


def test_random_numbers_inside_are_always_the_same_and_those_outside_go_on():
    torch.manual_seed(7)
    expected = torch.rand(2)
    torch.manual_seed(7)
    with default_torch_state():
        one = torch.rand(3)
    torch.rand(5)
    torch.manual_seed(7)
    with default_torch_state():
        other = torch.rand(3)
    assert torch.equal(one, other)
    assert torch.equal(torch.rand(2), expected)


def test_an_interruption_anywhere_inside_leaves_everything_as_it_was():
    streams, filters = (sys.stdout, sys.stderr), list(warnings.filters)
    with pytest.raises(ZeroDivisionError), restored_globals():
        sys.stdout = sys.stderr = None
        warnings.simplefilter("ignore")
        torch.set_default_dtype(torch.float64)
        _ = 1 / 0
    assert (sys.stdout, sys.stderr) == streams
    assert warnings.filters == filters
    assert torch.get_default_dtype() == torch.float32


def test_suppressed_output_discards_both_streams_and_ends(capsys):
    with suppressed_output():
        print("out")
        print("err", file=sys.stderr)
    print("after")
    assert capsys.readouterr() == ("after\n", "")


def test_warnings_are_collected_once_each_and_raised_nowhere():
    with collected_warnings() as said:
        for text in ("one\nmore", "two", "two"):
            warnings.warn(text, DeprecationWarning, stacklevel=1)
    assert said == ["one", "two"]


def test_warnings_are_collected_even_if_the_call_fails():
    with pytest.raises(ZeroDivisionError), collected_warnings() as said:
        warnings.warn("before", stacklevel=1)
        _ = 1 / 0
    assert said == ["before"]


def test_afterwards_warnings_are_what_they_were():
    with collected_warnings():
        pass
    with pytest.raises(UserWarning, match="aloud"):
        warnings.warn("aloud", stacklevel=1)


def test_of_a_warning_that_quotes_everything_the_beginning_is_kept():
    with collected_warnings() as said:
        warnings.warn("x" * 10**6, stacklevel=2)
    assert said == ["x" * MAX_WARNING_LENGTH]


def test_native_output_is_discarded_inside_the_block_only(capfd):
    with suppressed_native_output():
        os.write(1, b"from C")
        if os.name == "posix":
            ctypes.CDLL(None).puts(b"from a buffer of C")
    os.write(1, b"after it")
    assert capfd.readouterr().out == "after it"
