"""Tests for the model card."""

from dataclasses import dataclass

from huggingface_hub import ModelCard
from torch import nn

from transformer_course.commands.model_card import model_card


@dataclass
class Config:
    width: int = 3
    note: str = "a | b"


def test_hub_library_can_parse_the_card():
    card = ModelCard(model_card(nn.Linear(3, 5), Config(), "ada/x", "A layer", "other", "pass", {"a\nb": "1"}))
    assert card.data.tags == ["transformer-course", "safetensors"]
    assert "A layer with 20 parameters" in card.text
    assert "| `note` | `'a \\| b'` |" in card.text
    assert "| a b | 1 |" in card.text
