"""Tests that the stored findings match new measurements, and tests for the instruments' criteria."""

import pandas as pd
import pytest

from transformer_course.clinic import instruments
from transformer_course.clinic.findings import CRITERIA, MEASURED, findings, last_above, ratio, spread_above, zeros


def names_found(seed: int) -> dict[int, set[str]]:
    return {number: {name for name, finds in row.items() if finds} for number, row in findings(seed=seed).iterrows()}


@pytest.mark.thorough
def test_short_training_reveals_exactly_the_known_bugs(train_for):
    train_for(40)
    found = names_found(seed=0)
    # An undertrained model is as poor with teacher forcing as when it generates.
    expected = {number: set(names) - {"forced_against_generated"} for number, names in MEASURED.items()}
    assert {number: names - {"forced_against_generated"} for number, names in found.items()} == expected
    assert [number for number in found if not found[number]] == [9]


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_stored_findings_match_new_measurements(seed):
    assert names_found(seed) == {number: set(names) for number, names in MEASURED.items()}


def test_every_instrument_has_a_criterion():
    assert [*CRITERIA] == [*instruments.ALL_INSTRUMENTS]


def table(*numbers: float) -> pd.DataFrame:
    return pd.DataFrame({"x": numbers})


@pytest.mark.parametrize(
    "criterion, measured, normal, expected",
    [
        (zeros(1e-5, 1e-3), table(0.0, 1.0), table(0.0, 2.0), False),
        (zeros(1e-5, 1e-3), table(0.1, 1.0), table(0.0, 1.0), True),
        (zeros(1e-5, 1e-3), table(0.0, 0.0), table(0.0, 1.0), True),
        (zeros(1e-5, 1e-3), table(1e-4, 1.0), table(0.0, 1.0), False),
        (ratio(3.0), table(1.0, 2.9), table(1.0, 1.0), False),
        (ratio(3.0), table(1.0, 3.1), table(1.0, 1.0), True),
        (ratio(3.0), table(0.3, 1.0), table(1.0, 1.0), True),
        (last_above(0.5), table(2.0, 0.6), table(2.0, 0.4), True),
        (last_above(0.5), table(2.0, 0.4), table(2.0, 0.4), False),
        (spread_above(0.1), table(1.0, 0.8), table(1.0, 1.0), True),
        (spread_above(0.1), table(1.0, 0.8), table(1.0, 0.8), False),
    ],
)
def test_criteria_compare_with_healthy_twin(criterion, measured, normal, expected):
    assert criterion(measured, normal) is expected
