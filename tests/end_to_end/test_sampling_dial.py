"""Tests for the sampling dial in JupyterLab, operated with keys, the mouse and Python."""

import pytest
from playwright.sync_api import expect

from tests.end_to_end.open_view import Lab, open_view

CELLS = (
    "import torch\n"
    "from transformer_course import views\n"
    "logits = torch.tensor([0.5, 0.25, 0.15, 0.1]).log()\n"
    "view = views.SamplingDial(logits, [' a', 'b', 'c', 'd'], n_shown=3)\n"
    "def shown(): return [round(p, 2) for p in view.probabilities.tolist()]",
    "view",
)


@pytest.mark.slow
@pytest.mark.thorough
def test_bars_and_samples_follow_the_sliders_and_python(lab: Lab) -> None:
    with open_view(lab, *CELLS) as dial:
        dial.expect_description("4 of 4 tokens can be drawn; the most probable is ␣a with 50.0 %.")
        rows = dial.root.locator("tbody tr")
        expect(rows).to_have_count(4)
        expect(rows.last).to_contain_text("all others")

        dial.root.get_by_label("top-k").focus()
        dial.press("ArrowLeft")
        dial.press("ArrowLeft")
        dial.expect_value("(view.top_k, view.n_kept, shown())", (2, 2, [0.67, 0.33, 0.0, 0.0]))
        dial.expect_description("2 of 4 tokens can be drawn; the most probable is ␣a with 66.7 %.")
        expect(rows.nth(2)).to_have_class("tl-cut")
        expect(rows.nth(2)).to_contain_text("cut")
        widths = [row.locator(".tl-now").bounding_box() for row in rows.all()[:2]]
        assert widths[0] is not None and widths[1] is not None
        assert widths[0]["width"] / widths[1]["width"] == pytest.approx(2, abs=0.05)

        dial.change_theme("JupyterLab Dark")
        assert dial.contrast(rows.first.locator("td").nth(1)) > 7
        assert dial.contrast(rows.nth(2).locator("td").nth(1)) > 4.5
        before = dial.root.locator(".tl-drawn").inner_text()
        dial.root.get_by_role("button", name="Draw again").click()
        dial.expect_value("view.seed", 1)
        dial.expect_description(
            f"It was drawn {dial.notebook.python('view.drawn.count(chr(32) + chr(97))')} of 100 times."
        )
        expect(dial.root.locator(".tl-drawn")).not_to_have_text(before)
        dial.execute("view.top_k, view.temperature = 4, 0.05")
        dial.expect_description("the most probable is ␣a with 100.0 %.")
        expect(dial.root.get_by_label("temperature")).to_have_value("0.05")
