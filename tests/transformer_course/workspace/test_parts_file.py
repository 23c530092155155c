"""Tests for reading and writing the sections of a parts file and preserving all other text."""

from transformer_course.workspace.parts_file import read_sections, write_sections


def test_reads_back_written_sections(tmp_path):
    path = tmp_path / "parts" / "01_lookup.py"
    head, sections = read_sections(path)
    assert "lesson 01_lookup" in head and sections == {}
    write_sections(path, head + "# mine\n", {"softmax": "\nx = 1\n\n\n", "similarity": "\ny = 2\n"})
    assert read_sections(path) == (head + "# mine\n", {"softmax": "\nx = 1\n\n\n", "similarity": "\ny = 2\n"})


def test_preserves_bytes_that_are_not_utf8(tmp_path):
    path = tmp_path / "01_lookup.py"
    path.write_bytes(b"# \xff\n# %% softmax\nx = '\xfe'\n")
    write_sections(path, *read_sections(path))
    assert path.read_bytes() == b"# \xff\n# %% softmax\nx = '\xfe'\n"
