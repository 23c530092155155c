"""Tests for the arguments and settings that several commands share."""

from argparse import Namespace

import pytest
import torch

from transformer_course.commands.common import is_dates, set_threads


def test_only_bare_name_dates_selects_the_dates_task():
    assert is_dates(Namespace(corpus=["dates"], text=False))
    for corpus in (["./dates"], ["dates", "dates"], ["dates.tsv"]):
        assert not is_dates(Namespace(corpus=corpus, text=False))
    assert not is_dates(Namespace(corpus=["dates"], text=True))  # with --text, dates is a file name


def test_thread_count_prefers_option_then_default_then_torch(monkeypatch):
    set_to = []
    monkeypatch.setattr(torch, "set_num_threads", set_to.append)
    set_threads(3, default=1)
    set_threads(None, default=1)
    set_threads(None)
    assert set_to == [3, 1]


@pytest.mark.parametrize("number", [0, 100_000])
def test_rejects_out_of_range_thread_count(number):
    with pytest.raises(ValueError, match=f"--threads must be between 1 and 1024; got --threads {number}"):
        set_threads(number)
