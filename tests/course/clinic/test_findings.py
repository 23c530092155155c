"""What finds what: the table is measured again."""

import pandas as pd
import pytest

from transformer_lab.course.clinic import instruments
from transformer_lab.course.clinic.findings import CRITERIA, MEASURED, findings, last_above, ratio, spread_above, zeros


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))])
def test_every_bug_is_found_and_nothing_is_found_where_there_is_none(seed):
    table = findings(seed=seed)
    found = {number: {name for name, finds in row.items() if finds} for number, row in table.iterrows()}
    # Noise may touch a reading, but what the table promises is found with every seed.
    assert {number: found[number] >= names for number, names in MEASURED.items()} == dict.fromkeys(MEASURED, True)
    assert [number for number in found if not found[number]] == [9]
    if seed == 0:
        assert found == {number: set(names) for number, names in MEASURED.items()}


def test_every_instrument_has_a_criterion():
    assert [*CRITERIA] == [*instruments.ALL]


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
def test_criteria_compare_with_the_healthy_twin(criterion, measured, normal, expected):
    assert criterion(measured, normal) is expected
