"""Tests that each patient differs from its twin only in behavior, and that no visible name reveals the bug."""

import pytest

from transformer_course.clinic.case_report import DIAGNOSES
from transformer_course.clinic.patients import N_PATIENTS, patient_class, report, source

NUMBERS = range(1, N_PATIENTS + 1)


@pytest.mark.parametrize("number", NUMBERS)
def test_patient_looks_like_healthy_twin(number):
    kind = patient_class(number)
    [healthy] = [base for base in kind.__mro__[1:3] if base.__module__ == "transformer_course.clinic.patient"][:1]
    patient, twin = kind(trained=False), healthy(trained=False)
    assert repr(patient) == f"Patient {number}"
    assert kind.__name__ == "Patient"
    assert dir(patient) == dir(twin)
    assert dir(patient.model) == dir(twin.model)
    assert repr(patient.model) == repr(twin.model)
    assert [*patient.model.state_dict()] == [*twin.model.state_dict()]
    assert [type(module).__name__ for module in patient.model.modules()] == [
        type(module).__name__ for module in twin.model.modules()
    ]


@pytest.mark.parametrize("number", [n for n in NUMBERS if patient_class(n).trains_as_twin])
def test_patient_with_copied_parameters_would_train_like_twin(number):
    kind = patient_class(number)
    patient = type("Patient", (kind,), {"n_steps": 3, "trains_as_twin": False})()
    twin = type("Twin", (kind.__base__,), {"n_steps": 3})()
    assert patient.losses == pytest.approx(twin.losses, rel=1e-4)


def test_diagnoses_are_distinct_and_exactly_one_is_healthy():
    letters = [report(number).diagnosis for number in NUMBERS]
    assert len(set(letters)) == len(letters)
    assert set(letters) < set(DIAGNOSES)
    assert letters.count("A") == 1
    for number in NUMBERS:
        assert all(vars(report(number)).values())
        assert patient_class(number).number == number


def test_displayed_source_omits_bug_report():
    assert "REPORT" not in source(1)
    assert "return self.model(batch.targets, batch.inputs)" in source(1)


@pytest.mark.parametrize("number", [0, 17])
def test_rejects_unknown_patient_number(number):
    with pytest.raises(ValueError, match=f"must be from 1 to 16; got {number}"):
        patient_class(number)
