"""Tests for the position clock in JupyterLab, operated with the mouse, keys, buttons and Python."""

import pytest
from playwright.sync_api import expect

from tests.end_to_end.open_view import Lab, open_view

CELLS = ("from transformer_course.views import PositionClock\nview = PositionClock(d=8, length=64)", "view")


@pytest.mark.slow
@pytest.mark.thorough
def test_hands_and_dot_product_follow_positions_and_base(lab: Lab) -> None:
    with open_view(lab, *CELLS) as clock:
        clock.expect_description("Query at 0, key at 10, 10 apart: dot product 1.70.")
        expect(clock.root.locator(".tl-part")).to_have_text(["−0.84", "0.54", "1.00", "1.00"])

        curve = clock.root.get_by_role("img", name="dot product by position").bounding_box()
        assert curve is not None
        clock.page.mouse.move(curve["x"] + 0.5 * curve["width"], curve["y"] + 0.4 * curve["height"])
        clock.page.mouse.down()
        for fraction in (0.7, 0.9, 1.2):
            clock.page.mouse.move(curve["x"] + fraction * curve["width"], curve["y"] + 0.4 * curve["height"])
        clock.page.mouse.up()
        clock.expect_description("Query at 0, key at 63, 63 apart")
        clock.expect_value("view.key_position", 63)

        clock.root.get_by_role("slider", name="key at").focus()
        clock.press("Home")
        clock.press("ArrowRight")
        clock.press("ArrowRight")
        clock.expect_value("(view.query_position, view.key_position)", (0, 2))
        before = clock.notebook.python("round(view.product, 2)")
        for _ in range(3):
            clock.root.get_by_role("button", name="+ 1").click()
        clock.expect_description(f"Query at 3, key at 5, 2 apart: dot product {before:.2f}.")
        clock.expect_value("(view.query_position, view.key_position)", (3, 5))
        for _ in range(5):  # the position must not fall below 0
            clock.root.get_by_role("button", name="− 1").click()
        clock.expect_description("Query at 0, key at 2, 2 apart")

        clock.change_theme("JupyterLab Dark")
        assert clock.contrast(clock.root.locator(".tl-product")) > 7
        clock.root.get_by_label("scheme").select_option("RoPE on query and key")
        clock.expect_value("view.scheme", "rotary")
        clock.root.get_by_role("slider", name="base").focus()
        clock.press("End")
        clock.expect_value("view.base", 1e9)
        clock.expect_description("dot product 2.58.")  # cos 2 + 3, because three of the four pairs barely rotate
        clock.execute("view.base = 12345.0; view.key_position = 60")
        expect(clock.root.get_by_role("slider", name="base")).to_have_attribute("aria-valuetext", "12,345")
        clock.expect_description("Query at 0, key at 60, 60 apart")
        turn = clock.root.get_by_role("button", name="turn")
        turn.focus()
        clock.press("Enter")
        # Screen readers must not announce intermediate states.
        expect(clock.root.locator(".tl-said")).to_have_attribute("aria-live", "off")
        clock.expect_value("(view.query_position, view.key_position)", (3, 63))
        expect(turn).to_have_attribute("aria-pressed", "false")  # the rotation stops without a click
        expect(clock.root.locator(".tl-said")).to_have_attribute("aria-live", "polite")
