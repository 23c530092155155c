"""Tests for the mask painter in JupyterLab, operated with the mouse, keys, presets and Python."""

import pytest
from playwright.sync_api import expect

from tests.end_to_end.open_view import Lab, open_view

CELLS = (
    "import torch\n"
    "from transformer_course.views import MaskPainter\n"
    "scores = torch.tensor([[0.0, 1, 2, 3], [1, 0, 1, 0], [2, 2, 0, 0], [0, 0, 0, 9]])\n"
    "view = MaskPainter(['<bos>', 'I', 'like', 'you'], scores=scores)",
    "view",
)


@pytest.mark.slow
@pytest.mark.thorough
def test_weights_and_leak_follow_the_painted_mask(lab: Lab) -> None:
    with open_view(lab, *CELLS) as painter:
        cells = painter.root.locator(".mp-cell")

        def assert_same_weights() -> None:
            in_python = "[f'{w:.2f}' if may else '×' for w, may in zip(view.weights.flatten(), view.mask.flatten())]"
            expect(cells).to_have_text(painter.notebook.python(in_python))

        painter.expect_description("16 of 16 pairs allowed.")
        assert_same_weights()
        painter.root.get_by_role("button", name="causal", exact=True).click()
        painter.expect_description("10 of 16 pairs allowed.")
        painter.expect_value("view.mask.equal(torch.ones(4, 4, dtype=torch.bool).tril())", True)
        assert_same_weights()

        painter.root.get_by_role("button", name="like", exact=True).click()
        painter.expect_description("Input “like” reaches the outputs at “like” and “you”.")
        cells.nth(1 * 4 + 2).click()
        painter.expect_description(
            "Input “like” reaches the outputs at “I”, “like” and “you”. Leak: “I” comes before it."
        )
        painter.expect_value("(view.source, view.reached.tolist())", (2, [False, True, True, True]))
        expect(painter.root.locator("[data-state=leak]")).to_have_text(["I · leak"])

        painter.change_theme("JupyterLab Dark")
        assert painter.contrast(painter.root.locator(".mp-query").first) > 7
        cells.nth(0).focus()
        painter.press("Space")
        painter.expect_description("“<bos>” may attend to no key, so the output is zeros.")
        painter.press("ArrowDown")
        painter.press("Enter")
        painter.expect_value("view.allowed[1]", [False, True, True, False])
        assert_same_weights()

        cells.nth(4 * 3).hover()
        painter.page.mouse.down()
        for j in (1, 2, 3):
            cells.nth(4 * 3 + j).hover()
        painter.page.mouse.up()
        painter.expect_value("view.allowed[3]", [False] * 4)
        cells.nth(4 * 2).hover()  # must not paint, because the mouse button is up
        assert_same_weights()

        painter.execute("view.mask = torch.ones(4, 4, dtype=torch.bool).tril(1).bool(); view.source = 3")
        painter.expect_description("Input “you” reaches the outputs at “like” and “you”. Leak: “like” comes before it.")
        painter.root.get_by_role("slider", name="layers").focus()
        painter.press("ArrowRight")
        painter.expect_description("Leak: “I” and “like” come before it.")
        painter.expect_value("view.layers", 2)
