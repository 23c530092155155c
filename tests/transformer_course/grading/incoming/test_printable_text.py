import hashlib

import pytest

from transformer_course.grading.incoming.printable_text import clean_name, printable, record_name, without_control_codes


@pytest.mark.parametrize(
    ("name", "written"),
    [("\udcff", "?"), ("a\nb", "a_b"), ("  ", "_"), ("../a\\b", ".._a_b"), ("\x1b[2J", "_[2J"), ("e\u0301", "é")],
)
def test_replaces_unsafe_characters_in_names(name: str, written: str):
    assert clean_name(name) == written


def test_printable_preserves_path_separators():
    assert printable("folder/a\x1b[31m\udcff.ipynb") == "folder/a_[31m?.ipynb"


def test_removing_control_codes_preserves_lines():
    assert without_control_codes("one\n\x1b[2Jtwo\r") == "one\n\N{REPLACEMENT CHARACTER}[2Jtwo"
    assert without_control_codes("one\rtwo\u2028three\r\n\tfour\xa0\ud800") == (
        "one\ntwo\nthree\n    four \N{REPLACEMENT CHARACTER}"
    )


def test_record_name_fits_every_file_system():
    letters = "\N{MATHEMATICAL SCRIPT CAPITAL A}" * 60
    names = [f"{letters}a", f"{letters}b", "\udcff", "e\u0301" * 200, "..", ""]
    records = [record_name(name, "01_lookup") for name in names]
    assert len(set(records)) == len(names) and max(len(name.encode()) for name in records) < 150


def test_record_names_are_unique():
    names = ["ada$%{#", "ada],("]  # the SHA-256 hashes of these names begin with the same 32 bits
    assert len({hashlib.sha256(name.encode()).hexdigest()[:8] for name in names}) == 1
    assert len({record_name(name, lesson) for name in names for lesson in ("", "01_lookup")}) == 4
