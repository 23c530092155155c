"""Tests for the lookup dial in JupyterLab, operated with the mouse, keys, sliders and Python."""

import re

import pytest
from playwright.sync_api import expect

from tests.end_to_end.open_view import Lab, open_view

CELLS = (
    "import torch\n"
    "from transformer_course.views import LookupDial\n"
    "keys, values = torch.tensor([[3.0, 0.0], [2.0, -1.0], [0.0, 3.0]]), torch.tensor([10.0, 5.0, 2.0])\n"
    "names = ['apple', 'banana', 'chair']\n"
    "view = LookupDial(torch.tensor([2.0, 0.0]), keys, values, names, 'fruit', ['edible', 'to sit on'], widths=True)\n"
    "weights = lambda: [round(weight, 2) for weight in view.found.weights.tolist()]",
    "view",
)


@pytest.mark.slow
@pytest.mark.thorough
def test_weights_output_and_entropy_follow_arrow_and_sliders(lab: Lab) -> None:
    with open_view(lab, *CELLS) as dial:
        dial.expect_description("Weights: apple 0.88, banana 0.12, chair 0.00. Output 9.39, entropy 0.35 of 1.")
        arrow = dial.root.get_by_role("slider", name="fruit (query)")
        plane = dial.root.locator(".tl-plane").bounding_box()
        assert plane is not None
        handle = arrow.bounding_box()
        assert handle is not None
        dial.page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
        dial.page.mouse.down()
        for fraction in (0.3, 0.25, 0.2):  # drag upward from the center of the plane, which is 8.7 units wide
            dial.page.mouse.move(plane["x"] + plane["width"] / 2, plane["y"] + fraction * plane["height"])
        dial.page.mouse.up()
        dial.expect_value("[round(number) for number in view.query]", [0, 3])
        dial.expect_description("chair 1.00. Output 2.00, entropy 0.00")
        dial.expect_value("weights()", [0.0, 0.0, 1.0])

        expect(arrow).to_have_attribute("aria-valuetext", re.compile("to sit on 2.6"))
        for _ in range(3):
            dial.press("Shift+ArrowDown")  # after dragging, the arrow is focused
        dial.expect_value("[round(number) for number in view.query]", [0, 0])
        dial.expect_description("entropy 1.00 of 1.")

        dial.change_theme("JupyterLab Dark")
        assert dial.contrast(dial.root.locator(".tl-output")) > 7
        dial.execute("view.query = [1.0, 0.5]")
        dial.root.get_by_role("slider", name="temperature").focus()
        dial.press("Home")
        dial.expect_value("view.temperature", 0.01)
        dial.expect_description("Weights: apple 1.00, banana 0.00, chair 0.00. Output 10.00, entropy 0.00 of 1.")
        dial.press("End")
        dial.expect_value("(view.temperature, weights())", (100, [0.34, 0.33, 0.33]))

        dial.execute("view.temperature = 1.0; before = weights()")
        dial.root.get_by_label("divide scores by").select_option("√d_k")
        dial.root.get_by_role("slider", name="width d_k").focus()
        dial.press("End")
        dial.expect_value("(view.d_k, view.divisor)", (1024, "√d_k"))
        displayed = dial.root.locator("tbody tr").first.locator("td").nth(2)
        expect(displayed).to_have_text("0.59")  # the scores are √(1/2) · (3, 1.5, 1.5) at every width
        dial.root.get_by_label("divide scores by").select_option("1")
        expect(displayed).to_have_text("1.00")
        dial.expect_value("weights()", [1.0, 0.0, 0.0])
