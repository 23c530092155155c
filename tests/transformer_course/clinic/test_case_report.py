"""The list of diagnoses."""

from string import ascii_uppercase

from transformer_course.clinic.case_report import DIAGNOSES


def test_diagnoses_have_a_letter_each_and_none_occurs_twice():
    assert "".join(DIAGNOSES) == ascii_uppercase[: len(DIAGNOSES)]
    assert len(set(DIAGNOSES.values())) == len(DIAGNOSES) >= 18
