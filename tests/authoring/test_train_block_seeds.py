"""The losses that lesson 11 reads are those of its own models."""

import json

import pytest

from authoring.train_block_seeds import COMMAND, FILE, NEEDED, RATES, SEEDS, defined


def test_every_model_is_stored_at_every_rate_with_a_loss_for_each_seed():
    card = json.loads(FILE.read_text(encoding="utf-8"))
    assert card["command"] == COMMAND
    assert list(card["losses"]) == [str(rate) for rate in RATES]
    for by_model in card["losses"].values():
        assert list(by_model) == list(defined({"RMSNorm", "CHANGES"})["CHANGES"])
        assert {len(by_seed) for by_seed in by_model.values()} == {len(SEEDS)}


@pytest.mark.parametrize("row", [*(pytest.param(i, marks=pytest.mark.thorough) for i in range(4)), 4])
def test_the_command_still_gives_what_is_stored(row: int):
    stored = json.loads(FILE.read_text(encoding="utf-8"))["losses"]["0.03"]
    lesson = defined(NEEDED)
    name, config = list(lesson["configs"].items())[row]  # the last has all changes
    _, loss = lesson["trained"](config, SEEDS[0])
    assert loss == pytest.approx(stored[name][0], abs=0.06)
