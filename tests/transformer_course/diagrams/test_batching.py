"""Tests that every request in the timeline of batches gets all its steps, and that slots are reused immediately."""

import pytest

from transformer_course.diagrams.batching import timeline

LENGTHS = [3, 8, 2, 5, 4, 2]


@pytest.mark.parametrize("n_slots", [1, 2, 3, 7])
def test_each_request_keeps_one_slot_for_all_steps(n_slots):
    for table in timeline(LENGTHS, n_slots).tables:
        rows = ["".join(text or "." for text in row) for row in table.texts]
        for i, n in enumerate(LENGTHS):
            assert sum(chr(ord("A") + i) * n in row for row in rows) == 1
            assert sum(row.count(chr(ord("A") + i)) for row in rows) == n


def test_continuous_batching_fills_slots_while_requests_wait():
    fixed, continuous = (table.texts for table in timeline(LENGTHS, 3).tables)
    assert [len(texts[0]) for texts in (fixed, continuous)] == [8 + 5, 9]
    for row in continuous:
        assert "" not in row[: len([text for text in row if text])]  # empty cells occur only at the end
    assert min(len([text for text in row if text]) for row in continuous) >= len(continuous[0]) - LENGTHS[-1]
