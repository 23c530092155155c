"""Tests for the list of possible diagnoses."""

from string import ascii_uppercase

from transformer_course.clinic.case_report import DIAGNOSES


def test_diagnoses_have_unique_letters_and_texts():
    assert "".join(DIAGNOSES) == ascii_uppercase[: len(DIAGNOSES)]
    assert len(set(DIAGNOSES.values())) == len(DIAGNOSES) >= 18
