"""Tests for reading, writing and holding out documents."""

import gzip

from hypothesis import given
from hypothesis import strategies as st

from transformer_lab.data.corpus import LineErrors
from transformer_lab.data.documents import HELD_OUT_FRACTION, n_held_out, read_documents, write_documents


def test_separators_split_files_into_documents(tmp_path):
    (tmp_path / "one.txt").write_bytes("\ufeffa\r\n\r\n  b€\n".encode())
    (tmp_path / "two.txt.gz").write_bytes(gzip.compress(b"c\n\n<|endoftext|>\nd <|endoftext|>\n<|endoftext|>\n \n"))
    documents = list(read_documents([tmp_path / "one.txt", tmp_path / "two.txt.gz"], LineErrors()))
    assert documents == ["a\n\n  b€", "c\n", "d <|endoftext|>"]


def test_written_documents_round_trip(tmp_path):
    documents = ["a\n\n b", "\n\nc\n", "d"]
    write_documents(tmp_path / "all.txt", documents)
    assert list(read_documents([tmp_path / "all.txt"], LineErrors())) == documents
    write_documents(tmp_path / "none.txt", [])
    assert list(read_documents([tmp_path / "none.txt"], LineErrors())) == []


def test_skips_and_reports_lines_that_are_not_utf8(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_bytes(b"a\n\xff\nb\n")
    errors = LineErrors()
    assert list(read_documents([path], errors)) == ["a\nb"]
    assert errors.examples == ["bad.txt, line 2: not UTF-8 (invalid start byte)"]


@given(st.lists(st.integers(1, 500), min_size=1, max_size=30))
def test_holds_out_the_minimum_number_of_documents(sizes):
    n, required_bytes = n_held_out(sizes), HELD_OUT_FRACTION * sum(sizes)
    assert 0 <= n < len(sizes)
    assert sum(sizes[len(sizes) - n :]) >= required_bytes or n == len(sizes) - 1
    assert n == 0 or sum(sizes[len(sizes) - n + 1 :]) < required_bytes
