"""Tests for the attention explorer's state, description and picture."""

import pytest
import torch
from traitlets import TraitError

from transformer_course.views import AttentionExplorer

SELF = torch.tensor([[[1.0, 0.0, 0.0], [0.3, 0.7, 0.0], [0.1, 0.2, 0.7]]]).expand(2, -1, -1)
CROSS = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])


@pytest.fixture
def explorer():
    queries = ["I", "like", "you"]
    keys = {"self": queries, "cross": ["je", "t'aime"]}
    return AttentionExplorer({"self": SELF, "cross": CROSS}, queries, keys)


def test_text_lists_largest_weights_in_selection(explorer):
    explorer.head, explorer.query = 0, 1
    assert explorer.words().endswith("The query like₁ attends most to like₁ 0.70, I₀ 0.30, you₂ 0.00.")
    explorer.layer, explorer.key = 1, 0
    assert explorer.query is None
    assert explorer.words().endswith("The key je₀ is attended to most by I₀ 0.90, you₂ 0.40, like₁ 0.20.")


def test_text_describes_each_head_separately():
    left, right = torch.eye(4)[None, :2], torch.eye(4)[None, 2:]
    explorer = AttentionExplorer(torch.cat([left, right]), ["b", "c"], list("abcd"), query=1)
    assert explorer.words().endswith("The query c₂ attends most to b₁ 1.00 (head 0), d₃ 1.00 (head 1).")
    explorer.key = 2
    assert explorer.words().endswith("The key c₂ is attended to most by b₁ 0.00 (head 0), b₁ 1.00 (head 1).")


def test_new_layer_deselects_missing_heads_and_tokens(explorer):
    explorer.key, explorer.head = 2, 1
    explorer.layer = 1
    assert (explorer.key, explorer.head) == (None, -1)


@pytest.mark.parametrize(("trait", "value"), [("layer", 2), ("sentence", 1), ("head", 2), ("head", -2), ("query", 3)])
def test_rejects_out_of_range_selections(explorer, trait, value):
    with pytest.raises(TraitError, match=f"{trait} must be from .* got {value}"):
        setattr(explorer, trait, value)


def test_picture_shows_a_map_for_each_shown_head(explorer):
    maps = [ax for ax in explorer.still().axes if ax.get_title().startswith("head")]
    assert [ax.get_title() for ax in maps] == ["head 0", "head 1"]
    weights, gray = maps[1].images
    torch.testing.assert_close(torch.tensor(weights.get_array().tolist()), SELF[1])
    assert (~gray.get_array().mask).tolist() == (SELF[1] == 0).tolist()
    explorer.layer = 1
    assert len(explorer.still().axes[0].images) == 1


@pytest.mark.parametrize(("n_heads", "size"), [(1, (1, 1)), (2, (1, 2)), (3, (2, 2)), (4, (2, 2)), (9, (3, 4))])
def test_more_than_two_maps_are_arranged_in_rows(n_heads, size):
    picture = AttentionExplorer(SELF[:1].expand(n_heads, -1, -1), ["I", "like", "you"]).still()
    assert picture.axes[0].get_subplotspec().get_gridspec().get_geometry() == size


def test_rejects_invalid_weights_and_tokens():
    with pytest.raises(
        ValueError, match=r"^all layers must have the same number of sentences; got \{'one': 1, 'two': 2\}$"
    ):
        AttentionExplorer(
            {"one": SELF, "two": torch.stack([SELF, SELF])}, {"one": list("abc"), "two": [list("abc")] * 2}
        )


def test_disabled_heads_are_neither_drawn_nor_described():
    explorer = AttentionExplorer(torch.eye(3).expand(3, 3, 3), ["a", "b", "c"], query=1, off=[1])
    assert [title for ax in explorer.still().axes if (title := ax.get_title())] == ["head 0", "head 2"]
    assert explorer.words().endswith("attends most to b₁ 1.00 (head 0), b₁ 1.00 (head 2).")
    explorer.off = [0, 1, 2]
    assert len([title for ax in explorer.still().axes if (title := ax.get_title())]) == 3
