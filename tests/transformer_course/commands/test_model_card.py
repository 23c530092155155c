"""The card of a model is a card that the hub reads, whatever the names in it."""

from dataclasses import dataclass

import pytest
from huggingface_hub import ModelCard
from torch import nn

from transformer_course.commands.model_card import model_card


@dataclass
class Config:
    width: int = 3
    note: str = "a | b"


@pytest.mark.parametrize("license", [None, "mit", "no: such\n- thing"])
def test_the_hub_reads_the_card(license):
    text = model_card(nn.Linear(3, 5), Config(), "ada/x", "A layer", "other", "pass", {"a\nb": "1"}, license)
    card = ModelCard(text)
    assert card.data.license == license
    assert card.data.tags == ["transformer-course", "safetensors"]
    assert "A layer of 20 parameters" in card.text
    assert "| `note` | `'a \\| b'` |" in card.text
    assert "| a b | 1 |" in card.text
