"""Tests for comparing two variants of an ablation across seeds."""

import itertools

import pandas as pd
import pytest

from authoring.ablation import compare, main


def results(n_seeds=10, worse=2):
    """Return losses of variants a and b; b is worse for the first ``worse`` seeds and better for all later seeds."""
    rows = [("a", seed, 2.0) for seed in range(n_seeds)]
    rows += [("b", seed, 2.1 if seed < worse else 1.8) for seed in range(n_seeds)]
    return pd.DataFrame(rows, columns=["variant", "seed", "loss"])


@pytest.mark.parametrize("worse", [0, 1, 2])
def test_p_value_matches_coin_flips(worse):
    found = compare(results(worse=worse).sample(frac=1, random_state=0))
    assert (found.better, found.n_pairs, found.n_better) == ("b", 10, 10 - worse)
    assert found.difference == pytest.approx((0.2 * (10 - worse) - 0.1 * worse) / 10)
    coins = [sum(signs) for signs in itertools.product((0, 1), repeat=10)]
    as_one_sided = [n for n in coins if abs(n - 5) >= abs(10 - worse - 5)]
    assert found.p_value == pytest.approx(len(as_one_sided) / len(coins))


REJECTED = {
    "at least 10 seeds are required; got 9": results(9),
    "a loss for every seed": results().iloc[:-1],
    "must contain two variants; got 1": results().query("variant == 'a'"),
    "two runs with the same seed": pd.concat([results(), results().tail(1)]),
    "is missing the column loss": results().drop(columns="loss"),
}


@pytest.mark.parametrize("message", REJECTED)
def test_rejects_results_that_violate_rubric(message, tmp_path, capsys):
    with pytest.raises(ValueError, match=message):
        compare(REJECTED[message])
    REJECTED[message].to_csv(tmp_path / "results.csv", index=False)
    assert main([str(tmp_path / "results.csv")]) == 1
    assert message in capsys.readouterr().out


def test_command_prints_comparison(tmp_path, capsys):
    results().to_csv(tmp_path / "results.csv", index=False)
    assert main([str(tmp_path / "results.csv")]) == 0
    assert "The loss of b is lower by 0.1400 on average" in capsys.readouterr().out
