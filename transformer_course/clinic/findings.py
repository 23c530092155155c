"""Find the instruments that detect a patient's bug by comparing each measurement with the healthy twin's."""

from collections.abc import Callable, Sequence
from functools import cache

import pandas as pd

from transformer_course.clinic import instruments
from transformer_course.clinic.instruments import Instrument
from transformer_course.clinic.patient import Patient
from transformer_course.clinic.patients import N_PATIENTS, patient_class

Criterion = Callable[[pd.DataFrame, pd.DataFrame], bool]
"""Function that returns whether a measurement differs significantly from the healthy twin's measurement."""


def zeros(low: float, high: float) -> Criterion:
    """Return a criterion that is met if a number is below ``low`` and the twin's is above ``high``, or vice versa."""

    def differ(measured: pd.DataFrame, normal: pd.DataFrame) -> bool:
        vanished, appeared = (measured < low) & (normal > high), (measured > high) & (normal < low)
        return bool((vanished | appeared).any(axis=None))

    return differ


def ratio(factor: float) -> Criterion:
    """Return a criterion that is met if a number and the twin's number differ by more than a given factor."""

    def differ(measured: pd.DataFrame, normal: pd.DataFrame) -> bool:
        quotient = measured.abs() / normal.abs()
        return bool(((quotient > factor) | (quotient < 1 / factor)).any(axis=None))

    return differ


def last_above(limit: float) -> Criterion:
    """Return a criterion that is met if a curve ends above a limit and the twin's curve does not."""

    def differ(measured: pd.DataFrame, normal: pd.DataFrame) -> bool:
        return bool((measured.iloc[-1] > limit).any() and (normal.iloc[-1] <= limit).all())

    return differ


def spread_above(limit: float) -> Criterion:
    """Return a criterion that is met if the numbers spread over more than a limit and the twin's numbers do not."""

    def differ(measured: pd.DataFrame, normal: pd.DataFrame) -> bool:
        spread, usual = (float((table.max() - table.min()).max()) for table in (measured, normal))
        return spread > limit >= usual

    return differ


CRITERIA: dict[Instrument, Criterion] = {
    instruments.leak_test: zeros(1e-10, 1e-3),
    instruments.leak_test_with_cache: zeros(1e-10, 1e-3),
    instruments.gradient_norms: zeros(1e-7, 1e-5),
    instruments.overfit_one_batch: last_above(0.5),
    instruments.cached_against_uncached: zeros(1e-4, 1e-3),
    instruments.shuffle_question: zeros(1e-4, 1e-3),
    instruments.pad_and_compare: zeros(1e-4, 1e-3),
    instruments.compare_company: zeros(1e-4, 1e-3),
    instruments.repeat_question: zeros(1e-5, 1e-3),
    instruments.split_the_batch: zeros(1e-4, 1e-3),
    instruments.drift_without_gradient: zeros(1e-6, 1e-4),
    instruments.initial_loss: ratio(1.5),
    instruments.initial_logits: ratio(3.0),
    instruments.residual_stream: ratio(3.0),
    instruments.scale_stream: ratio(3.0),
    instruments.forced_against_generated: spread_above(0.1),
}
"""Criterion for each instrument."""


@cache
def patient(number: int, seed: int = 0) -> Patient:
    """Return a patient, trained on first use."""
    return patient_class(number)(seed)


@cache
def _normal(healthy: Patient, instrument: Instrument) -> pd.DataFrame:
    return instrument(healthy)


def finds(instrument: Instrument, number: int, seed: int = 0, measured: pd.DataFrame | None = None) -> bool:
    """Return whether an instrument detects a difference between a patient and its healthy twin.

    Args:
        instrument: One of the instruments in ``CRITERIA``.
        number: Number of the patient.
        seed: Random seed of the patient.
        measured: Result of the instrument, or None to measure the patient now.
    """
    measured = instrument(patient(number, seed)) if measured is None else measured
    return CRITERIA[instrument](measured, _normal(patient(number, seed).twin(), instrument))


def findings(numbers: Sequence[int] = range(1, N_PATIENTS + 1), seed: int = 0) -> pd.DataFrame:
    """Measure every patient with every instrument and return whether the instrument detects the patient's bug.

    The table has one row per patient and one column per instrument.
    """
    table = {n: {instrument.__name__: finds(instrument, n, seed) for instrument in CRITERIA} for n in numbers}
    return pd.DataFrame(table).T.rename_axis("patient")


MEASURED: dict[int, frozenset[str]] = {
    1: frozenset({"leak_test", "cached_against_uncached", "shuffle_question", "forced_against_generated"}),
    2: frozenset({"drift_without_gradient"}),
    3: frozenset({"cached_against_uncached", "forced_against_generated"}),
    4: frozenset({"gradient_norms"}),
    5: frozenset({"pad_and_compare", "compare_company"}),
    6: frozenset(
        {"overfit_one_batch", "initial_loss", "initial_logits", "residual_stream", "forced_against_generated"}
    ),
    7: frozenset({"scale_stream"}),
    8: frozenset({"leak_test_with_cache", "cached_against_uncached", "compare_company", "repeat_question"}),
    9: frozenset(),
    10: frozenset(
        {
            "leak_test",
            "leak_test_with_cache",
            "gradient_norms",
            "overfit_one_batch",
            "shuffle_question",
            "drift_without_gradient",
        }
    ),
    11: frozenset({"leak_test_with_cache", "cached_against_uncached", "forced_against_generated"}),
    12: frozenset({"scale_stream"}),
    13: frozenset({"split_the_batch"}),
    14: frozenset({"cached_against_uncached", "forced_against_generated"}),
    15: frozenset({"shuffle_question", "forced_against_generated"}),
    16: frozenset({"pad_and_compare", "compare_company", "split_the_batch"}),
}
"""Stored result of ``findings``: for each patient, the names of the instruments that detect its bug."""
