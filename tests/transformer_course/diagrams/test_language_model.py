"""Diagrams of a decoder alone: what goes, how two heads copy, and which tokens count."""

from itertools import pairwise

import pytest

from transformer_course.diagrams.language_model import induction, losses, stripped
from transformer_lab.layers.decoder_layer import DecoderLayer


def test_what_stays_of_a_decoder_layer_is_one_attention_and_one_network():
    d = stripped()
    layer = {name for name, _ in DecoderLayer(d_model=8, n_heads=2, d_ff=16).named_children()} - {"dropout"}
    row = [box for box in d.boxes if box.y == 0.0 and box.name in layer]
    assert {box.name for box in row} == layer
    gone = {"cross_attention", "norm_2"}
    assert {box.name for box in row if box.look == "dimmed"} == gone
    assert all(box.look == "dimmed" for box in d.boxes if box.y > 0)
    assert d.flaws() == []


def test_the_decoder_goes_on_without_cross_attention():
    solid = {(a.points[0].of, a.points[-1].of) for a in stripped().arrows if not a.dashed}
    chain = ["target", "embedding", "self_attention", "norm_1", "feed_forward", "norm_3", "logits"]
    assert solid == set(pairwise(chain))


@pytest.mark.parametrize(
    ("tokens", "follower"), [(("7", "C", "4", "9", "7"), "C"), (("a", "b", "c", "d", "b"), "c"), (("x", "y", "x"), "y")]
)
def test_the_induction_head_predicts_what_followed_before(tokens, follower):
    d = induction(tokens)
    assert [box.name for box in d.boxes if box.look == "highlighted"] == [follower]
    [strong] = [arrow for arrow in d.arrows if arrow.thick and arrow.head]
    assert (strong.points[0].of, strong.points[-1].of) == (tokens[-1], follower)
    assert d.flaws() == []


def test_there_is_nothing_to_copy_where_a_token_is_new():
    with pytest.raises(ValueError, match="got 7 C 4"):
        induction(("7", "C", "4"))


def test_pretraining_counts_all_that_is_predicted_and_the_others_count_answers():
    d = losses(["so", "this", "one", "."], ["what", "?"], ["this", "one", "."], ["that", "."])
    rows = [[box for box in d.boxes if box.y == y] for y in sorted({box.y for box in d.boxes}, reverse=True)]
    counted = [[box.name for box in row if box.look != "dimmed"] for row in rows]
    assert counted == [["this", "one", "."], ["this", "one", "."], ["this", "one", "."], ["that", "."]]
    assert d.flaws() == []
