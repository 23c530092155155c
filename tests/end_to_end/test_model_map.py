"""Tests for the model map in JupyterLab: type a text, open a block, and step through the tokens."""

import pytest
from playwright.sync_api import expect

from tests.end_to_end.open_view import Lab, open_view

CELLS = (
    "import torch\n"
    "from transformer_course.views import ModelMap\n"
    "from transformer_lab.models.language_model import LanguageModel\n"
    "from transformer_lab.models.language_model_config import LanguageModelConfig\n"
    "torch.manual_seed(0)\n"
    "model = LanguageModel(LanguageModelConfig(vocab_size=128, d_model=16, n_heads=2, d_ff=32, n_layers=2)).eval()\n"
    "view = ModelMap(model, lambda text: [torch.tensor([[ord(letter) for letter in text]])], chr, ['cat'])",
    "view",
)


@pytest.mark.slow
@pytest.mark.thorough
def test_map_runs_typed_text_and_shows_blocks(lab: Lab) -> None:
    with open_view(lab, *CELLS) as displayed:
        displayed.expect_description("blocks.1.self_attention, GroupedQueryAttention: 3 tokens × 16")
        field = displayed.root.get_by_role("textbox", name="text")
        field.fill("horse")
        field.press("Enter")
        displayed.expect_description("5 tokens × 16")
        displayed.expect_value("view.text", "horse")

        displayed.root.get_by_role("button", name="feed_forward").first.click()
        displayed.expect_description("blocks.0.feed_forward")
        expect(displayed.root.locator(".mm-bar")).to_have_count(5)
        displayed.press("ArrowDown")
        displayed.expect_description("blocks.0, Block")

        displayed.root.get_by_role("slider", name="token").focus()
        displayed.press("End")
        displayed.expect_description("After e₄, the model predicts")
        displayed.expect_value("view.step", 4)
        displayed.change_theme("JupyterLab Dark")
        assert displayed.contrast(displayed.root.locator("h5").first) > 7
        displayed.execute("view.text = 'cat'")
        displayed.expect_description("3 tokens × 16")
