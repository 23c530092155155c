"""Diagrams of data parallelism: the ring is the one that adds up."""

import pytest

from transformer_course.diagrams.data_parallel import ring, step
from transformer_course.diagrams.elements import GREEN, light


@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_process_has_a_model_and_all_meet_in_the_all_reduce(n):
    d = step(n)
    expected = {("batch", f"model {i}") for i in range(n)} | {(f"model {i}", f"gradients {i}") for i in range(n)}
    expected |= {(f"gradients {i}", "all-reduce") for i in range(n)} | {("all-reduce", f"update {i}") for i in range(n)}
    assert d.links() == expected
    assert len(d.frames) == n
    assert d.flaws() == []


@pytest.mark.parametrize("n", [2, 3, 4])
def test_in_a_ring_everyone_has_every_total_after_twice_n_minus_one_steps(n):
    d = ring(n)
    everyone = "+".join(map(str, range(n)))
    assert len(d.tables) == 1 + 2 * (n - 1)
    totals = [sum(text == everyone for row in table.texts for text in row) for table in d.tables]
    assert totals == [0] * (n - 1) + [n * k for k in range(1, n + 1)]
    for before, after in zip(d.tables, d.tables[1:], strict=False):
        for i in range(n):
            changed = [j for j in range(n) if before.texts[i][j] != after.texts[i][j]]
            assert len(changed) == 1  # every process receives one chunk in each step
            (j,) = changed
            union = set(before.texts[i][j].split("+")) | set(before.texts[i - 1][j].split("+"))
            assert set(after.texts[i][j].split("+")) == union  # from its neighbour, what that had before
    assert set(d.tables[-1].colours) == {(light(GREEN),) * n}
    assert d.flaws() == []


@pytest.mark.parametrize("draw", [step, ring])
def test_there_are_at_least_two_processes(draw):
    with pytest.raises(ValueError, match="at least 2 processes; got n_processes=1"):
        draw(1)
