"""Tests for the attention explorer in JupyterLab, operated with the mouse, keys and Python."""

import pytest
from playwright.sync_api import expect

from tests.end_to_end.open_view import Lab, open_view

CELLS = (
    "import torch\n"
    "from transformer_course.views import AttentionExplorer\n"
    "causal = torch.tensor([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.004, 0.1, 0.896]])\n"
    "crossed = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])\n"
    "weights = {'self': [torch.stack([causal, causal]), causal[None, :2, :2].expand(2, -1, -1)],\n"
    "           'cross': [torch.stack([crossed, crossed.flip(1)]), crossed[:2].expand(2, -1, -1)]}\n"
    "queries = [['I', 'like', 'you'], ['I', 'know']]\n"
    "keys = {'self': queries, 'cross': [['je', \"t'aime\"], ['je', 'sais']]}\n"
    "view = AttentionExplorer(weights, queries, keys, head=0)",
    "view",
)


@pytest.mark.slow
def test_explorer_shows_attention_for_every_selection_method(lab: Lab) -> None:
    with open_view(lab, *CELLS) as explorer:
        groups = (explorer.root.get_by_role("group", name=name) for name in ("Queries", "Keys"))
        queries, keys = (group.get_by_role("button") for group in groups)
        expect(queries.locator(".ae-text")).to_have_text(["I", "like", "you"])

        explorer.expect_description("3 queries, 3 keys, head 0; lines show weights of at least 0.10.")
        lines = explorer.root.locator(".ae-lines path[d]")
        expect(lines).to_have_count(5)

        queries.nth(1).hover()
        explorer.expect_description("Query like₁ attends most to like₁ 0.75, I₀ 0.25 (head 0; 1 masked out).")
        explorer.expect_value("(view.query, view.key)", (1, None))
        expect(keys.nth(2)).to_have_attribute("data-hidden", "")
        expect(lines).to_have_count(2)

        queries.nth(1).click()  # the query must stay selected when the pointer leaves
        explorer.root.get_by_label("numbers").check()
        expect(keys.locator(".ae-number")).to_have_text(["0.25", "0.75", "hidden"])
        explorer.expect_value("view.numbers", True)

        queries.nth(1).focus()
        explorer.press("ArrowDown")
        explorer.expect_description("Query you₂ attends most to you₂ 0.90, like₁ 0.10, I₀ 0.00 (head 0).")
        assert keys.nth(0).get_attribute("data-hidden") is None, "a small weight must not count as hidden"
        keys.nth(0).click()
        explorer.expect_description("Key I₀ is attended to most by I₀ 1.00, like₁ 0.25, you₂ 0.00")
        explorer.expect_value("(view.query, view.key)", (None, 0))

        explorer.change_theme("JupyterLab Dark")
        assert explorer.contrast(queries.nth(0)) > 7
        explorer.root.get_by_label("layer").select_option("cross")
        explorer.root.get_by_role("combobox", name="head").select_option("all")
        explorer.expect_value("(view.layer, view.head)", (1, -1))
        maps = explorer.root.get_by_role("button", name="show head")
        expect(maps).to_have_count(2)
        keys.nth(0).hover()
        explorer.expect_description("Key je₀ is attended to most by I₀ 0.90 (head 0), like₁ 0.80 (head 1).")
        keys.nth(0).click()
        maps.nth(0).focus()
        explorer.press("ArrowRight")
        explorer.press("Enter")
        explorer.expect_description("Key je₀ is attended to most by like₁ 0.80")
        explorer.expect_value("view.head", 1)

        explorer.page.mouse.move(0, 0)  # keep the pointer off new tokens, because it would select a token
        explorer.root.get_by_label("sentence").select_option("1: I know")
        explorer.execute("view.query = 1; view.layer = 0")
        explorer.expect_description("Query know₁ attends most to know₁ 0.75, I₀ 0.25 (head 1).")
        explorer.execute("view.sentence = 0; view.query = 2; view.sentence = 1")
        explorer.expect_value("view.query", None)
