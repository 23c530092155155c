"""What the commands share."""

from argparse import Namespace

import pytest
import torch

from transformer_lab.cli.common import is_dates, set_threads


def test_dates_are_the_task_and_a_path_is_a_file():
    assert is_dates(Namespace(corpus=["dates"], text=False))
    for corpus in (["./dates"], ["dates", "dates"], ["dates.tsv"]):
        assert not is_dates(Namespace(corpus=corpus, text=False))
    assert not is_dates(Namespace(corpus=["dates"], text=True))  # a file of text


def test_threads_are_what_is_wanted_or_else_what_is_best_or_else_as_they_are(monkeypatch):
    set_to = []
    monkeypatch.setattr(torch, "set_num_threads", set_to.append)
    set_threads(3, otherwise=1)
    set_threads(None, otherwise=1)
    set_threads(None)
    assert set_to == [3, 1]


def test_no_threads_at_all_are_refused():
    with pytest.raises(ValueError, match="--threads must be at least 1; got --threads 0"):
        set_threads(0)
