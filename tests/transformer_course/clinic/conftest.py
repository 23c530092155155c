"""A fixture that shortens the patients' training."""

from collections.abc import Callable, Iterator

import pytest

from transformer_course.clinic import findings, patient


@pytest.fixture
def train_for(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Return a function that sets the number of training steps for all patients and twins."""

    def clear_caches() -> None:
        for cached in (findings.patient, findings._normal, patient._healthy):
            cached.cache_clear()

    def limit(n_steps: int) -> None:
        for kind in (patient.Patient, patient.EncoderDecoder):
            monkeypatch.setattr(kind, "n_steps", n_steps)

    clear_caches()
    yield limit
    clear_caches()
