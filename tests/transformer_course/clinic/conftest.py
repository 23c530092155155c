"""Patients with only a few training steps."""

from collections.abc import Callable, Iterator

import pytest

from transformer_course.clinic import findings, patient


@pytest.fixture
def train_for(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """A function that sets the number of training steps of all patients and twins."""

    def forget() -> None:
        for remembered in (findings.patient, findings._normal, patient._healthy):
            remembered.cache_clear()

    def limit(n_steps: int) -> None:
        for kind in (patient.Patient, patient.EncoderDecoder):
            monkeypatch.setattr(kind, "n_steps", n_steps)

    forget()
    yield limit
    forget()
