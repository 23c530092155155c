"""Tests for the residual-stream view in JupyterLab, operated with the mouse, keys and Python."""

import pytest
from playwright.sync_api import expect

from tests.end_to_end.open_view import Lab, open_view

CELLS = ("from transformer_course.views import ResidualStream\nview = ResidualStream(depth=12, step=150)", "view")


@pytest.mark.slow
@pytest.mark.thorough
def test_charts_and_numbers_follow_depth_step_and_layer(lab: Lab) -> None:
    with open_view(lab, *CELLS) as stream:
        stream.expect_description("12 layers after 150 steps, layer 1.")
        chart = stream.root.get_by_role("img", name="cosine of two positions").bounding_box()
        assert chart is not None
        stream.page.mouse.move(chart["x"] + 0.3 * chart["width"], chart["y"] + 0.5 * chart["height"])
        stream.page.mouse.down()
        stream.page.mouse.move(chart["x"] + 1.1 * chart["width"], chart["y"] + 0.5 * chart["height"], steps=4)
        stream.page.mouse.up()
        stream.expect_description("layer 12.")
        stream.expect_value("view.layer", 12)
        row = stream.root.locator("tbody tr", has_text="pre-norm, no warm-up").locator("td")
        numbers = stream.notebook.python("view.numbers['pre-norm, no warm-up']")
        assert float(row.nth(1).inner_text()) == pytest.approx(numbers["size"], rel=0.05)
        assert float(row.nth(4).inner_text()) == pytest.approx(numbers["turn"], rel=0.05)

        stream.root.get_by_role("button", name="train").click()
        stream.expect_description("12 layers after 200 steps")
        stream.expect_value("view.step", 200)
        expect(stream.root.get_by_role("button", name="train")).to_have_attribute("aria-pressed", "false")

        stream.change_theme("JupyterLab Dark")
        assert stream.contrast(row.first) > 7
        stream.root.get_by_role("slider", name="layers in the stack").focus()
        stream.press("Home")
        stream.expect_description("2 layers after 200 steps, layer 2.")
        stream.expect_value("(view.depth, view.layer)", (2, 2))
        stream.root.get_by_role("slider", name="training step").focus()
        stream.press("Home")
        stream.expect_value("view.step", 0)
        stream.execute("view.depth = 24; view.layer = 20")
        stream.expect_description("24 layers after 0 steps, layer 20.")
        expect(stream.root.get_by_role("slider", name="layer", exact=True)).to_have_attribute("max", "24")
