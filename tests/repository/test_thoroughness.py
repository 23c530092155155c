"""Test that runs are deterministic, and that shards cover every test and keep units together."""

from pathlib import Path

import pytest

from tests.helpers.scheduling import BY_PARAMETER, MANY_UNITS_FILE, SLOWEST_FILES, Shard, unit
from tests.helpers.thoroughness import Thoroughness, one_in

ROOT = Path(__file__).parents[2]


def test_thorough_run_uses_several_seeds():
    assert Thoroughness().seeds(5) == [0]
    assert Thoroughness(seed=7).seeds(5) == [7]
    assert Thoroughness(enabled=True).seeds(5) == [0, 1, 2, 3, 4]
    assert Thoroughness(enabled=True, seed=7).seeds(5) == [7, 0, 1, 2, 3, 4]


def test_marks_all_but_every_nth_case_thorough():
    named = pytest.param("c", 3, id="see", marks=pytest.mark.slow)
    first, second, third = one_in(2, ["a", ("b", 2), "b"])
    assert (first, third) == ("a", "b")
    assert second.values == (("b", 2),) and [mark.name for mark in second.marks] == ["thorough"]
    _, again = one_in(2, ["a", named])
    assert again.values == ("c", 3) and again.id == "see"
    assert [mark.name for mark in again.marks] == ["slow", "thorough"]
    assert one_in(2, [named]) == [named]


def test_every_test_is_in_one_shard():
    tests = [f"tests/a/test_{number}.py::test_{name}" for number in range(60) for name in "ab"]
    shards = [{test for test in tests if test in Shard(number, 3)} for number in (1, 2, 3)]
    assert sorted(test for shard in shards for test in shard) == sorted(tests)
    assert all(12 <= len(shard) <= 72 for shard in shards)
    assert sum(len({unit(test) for test in shard}) for shard in shards) == 60
    assert tests[0] in Shard(1, 1)
    assert "tests/a/test_1.py" in Shard.parse("1/2"), "a test's shard must depend only on its name"


@pytest.mark.parametrize("wrong", ["0/3", "4/3", "2", "a/b", "2/3/4"])
def test_rejects_an_invalid_shard(wrong):
    with pytest.raises(ValueError, match=r"shard|invalid literal"):
        Shard.parse(wrong)


def test_only_slow_files_are_split():
    assert (
        unit("tests/transformer_lab/attention/test_masks.py::test_a[3]")
        == "tests/transformer_lab/attention/test_masks.py"
    )
    assert unit("notebooks/01_lookup.ipynb::Cell 3") == "notebooks/01_lookup.ipynb"
    solved = "tests/notebooks/test_attempts.py"
    assert unit(f"{solved}::test_a[01_lookup]") == unit(f"{solved}::test_b[01_lookup]") == f"{solved}[01_lookup]"
    assert unit(f"{solved}::test_c") == solved


def test_scheduled_files_exist():
    assert [path for path in (*BY_PARAMETER, *SLOWEST_FILES, MANY_UNITS_FILE) if not (ROOT / path).exists()] == []
