"""Repeated less often, nothing is left out; divided among workers, what belongs together stays together."""

from pathlib import Path

from tests.helpers.repetition import Repetition, seed_of_the_day
from tests.helpers.scheduling import BY_PARAMETER, LAST, LONGEST, expected_order, unit

ROOT = Path(__file__).parents[2]


def test_the_seed_of_the_day_is_tried_beside_some_of_all_or_all():
    assert Repetition(False, 20261122).seeds(100) == [0, 20261122]
    assert Repetition(True, 20261122).seeds(100) == [*range(100), 20261122]
    assert Repetition(True, 3).seeds(5) == [0, 1, 2, 3, 4]
    assert Repetition(False, 3).seeds(1) == [0, 3]
    assert 20260101 <= seed_of_the_day() <= 99991231


def test_a_run_says_in_one_line_which_seeds_it_takes_and_what_would_repeat_more():
    said = str(Repetition(False, 20261122))
    assert "\n" not in said
    assert "seeds 0 and 20261122" in said
    assert "course.py test --thorough" in said


def test_a_seed_can_be_chosen_and_is_the_same_for_all_of_a_run(repetition, pytestconfig):
    assert repetition.seed == pytestconfig.option.seed
    assert repetition.thorough == pytestconfig.option.thorough


def test_files_stay_whole_but_for_those_that_take_minutes():
    assert (
        unit("tests/transformer_lab/attention/test_masks.py::test_a[3]")
        == "tests/transformer_lab/attention/test_masks.py"
    )
    assert unit("notebooks/01_lookup.ipynb::Cell 3") == "notebooks/01_lookup.ipynb"
    solved = "tests/notebooks/test_attempts.py"
    assert unit(f"{solved}::test_a[01_lookup]") == unit(f"{solved}::test_b[01_lookup]") == f"{solved}[01_lookup]"
    assert unit(f"{solved}::test_c") == solved


def test_lessons_are_executed_first_and_later_ones_before_earlier_ones_and_short_units_come_last():
    tests = [
        f"{LAST}::test_a[softmax]",
        "tests/transformer_lab/attention/test_masks.py::test_a",
        "notebooks/primer.ipynb::Cell 0",
        "notebooks/01_lookup.ipynb::Cell 0",
        "notebooks/08_training.ipynb::Cell 0",
        "notebooks/08_training.ipynb::Cell 1",
        "tests/notebooks/test_attempts.py::test_a[01_lookup]",
        "tests/transformer_lab/attention/test_masks.py::test_b[12_x]",
    ]
    assert sorted(tests, key=expected_order) == [tests[i] for i in (6, 4, 5, 3, 2, 1, 7, 0)]


def test_what_is_scheduled_by_name_is_there():
    assert [path for path in (*BY_PARAMETER, *LONGEST, LAST) if not (ROOT / path).exists()] == []


def test_of_what_takes_long_a_thorough_run_has_all_and_others_each_in_turn():
    assert Repetition(True, 5).of_today([*"abcd"]) == [*"abcd"]
    assert [Repetition(False, day).of_today([*"abcd"]) for day in (4, 5, 6, 7, 8)] == [
        ["a"],
        ["b"],
        ["c"],
        ["d"],
        ["a"],
    ]
    assert Repetition(False, 5).of_today(["a", "b", "c"]) == ["a", "b", "c"]
    assert Repetition(False, 5).of_today([]) == []
