"""Files are written whole or not at all."""

import pytest

from transformer_lab.atomic_write import write_whole


def test_a_file_is_replaced_and_nothing_lies_beside_it(tmp_path):
    path = tmp_path / "mine.py"
    for text in ("a longer text", "é\udcff"):
        write_whole(path, text)
        assert path.read_bytes() == text.encode(errors="surrogateescape")
    assert list(tmp_path.iterdir()) == [path]


def test_a_text_that_cannot_be_written_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "mine.py"
    write_whole(path, "before")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "after \ud800")
    assert path.read_text() == "before"
