"""The model map in a real JupyterLab: a text is typed, a block opened, and the tokens gone through."""

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
def test_a_typed_text_is_run_a_block_opened_and_the_tokens_gone_through(lab: Lab) -> None:
    with open_view(lab, *CELLS) as shown:
        shown.shows("blocks.1.self_attention, GroupedQueryAttention: 3 tokens × 16")
        field = shown.root.get_by_role("textbox", name="text")
        field.fill("horse")
        field.press("Enter")
        shown.shows("5 tokens × 16")
        shown.holds("view.text", "horse")

        shown.root.get_by_role("button", name="feed_forward").first.click()
        shown.shows("blocks.0.feed_forward")
        expect(shown.root.locator(".mm-bar")).to_have_count(5)
        shown.press("ArrowDown")
        shown.shows("blocks.0, Block")

        shown.root.get_by_role("slider", name="token").focus()
        shown.press("End")
        shown.shows("After e₄, the model says")
        shown.holds("view.step", 4)
        shown.change_theme("JupyterLab Dark")
        assert shown.contrast(shown.root.locator("h5").first) > 7
        shown.runs("view.text = 'cat'")
        shown.shows("3 tokens × 16")
