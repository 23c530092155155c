"""Tests for diagrams of decoder-only models, including removed parts, a whole GPT, induction heads and losses."""

from itertools import pairwise

import pytest

from transformer_course.diagrams.language_model import gpt, induction, losses, stripped
from transformer_lab.layers.decoder_layer import DecoderLayer
from transformer_lab.layers.encoder_layer import PreNormEncoderLayer


def test_stripped_layer_keeps_self_attention_and_feed_forward():
    d = stripped()
    layer = {name for name, _ in DecoderLayer(d_model=8, n_heads=2, d_ff=16).named_children()} - {"dropout"}
    row = [box for box in d.boxes if box.y == 0.0 and box.name in layer]
    assert {box.name for box in row} == layer
    removed = {"cross_attention", "norm_2"}
    assert {box.name for box in row if box.look == "dimmed"} == removed
    assert all(box.look == "dimmed" for box in d.boxes if box.y > 0)


def test_stripped_decoder_skips_cross_attention():
    solid = {(a.points[0].of, a.points[-1].of) for a in stripped().arrows if not a.dashed}
    chain = ["target", "embedding", "self_attention", "norm_1", "feed_forward", "norm_3", "logits"]
    assert solid == set(pairwise(chain))


TOKENS, FOLLOWING = ["<bos>", "Return", " the"], ["Return", " the", " documentation"]


def test_gpt_has_stream_and_prediction_at_every_position():
    d = gpt(TOKENS, FOLLOWING, 4, ["0.10", "0.35", "0.01"])
    assert [box.name for box in d.boxes if box.look == "highlighted"] == FOLLOWING
    for i, token in enumerate(TOKENS):
        [x] = [box.x for box in d.boxes if box.y == 0.0 and box.name == token]
        thick = sorted((a.points[0].y, a.points[-1].y) for a in d.arrows if a.thick and a.points[0].x == x)
        assert len(thick) == 4  # the stream runs from the embedding through two sublayers to the final norm
        assert f"positions[{i}]" in [box.name for box in d.boxes]


def test_gpt_block_reads_and_writes_the_stream_twice():
    inside = {name for name, _ in PreNormEncoderLayer(d_model=8, n_heads=2, d_ff=16).named_children()} - {"dropout"}
    d = gpt(TOKENS[:1], FOLLOWING[:1], 1)
    assert inside <= {box.name for box in d.boxes}
    assert {("norm_1", "self_attention"), ("norm_2", "feed_forward"), ("self_attention", "+")} <= d.links()
    assert ("feed_forward", "+") in d.links()


def test_only_attention_connects_different_positions():
    d = gpt(TOKENS, FOLLOWING, 2)
    boxes = [box for box in d.boxes if box.name in ("norm_1", "self_attention")]
    column = {x: i for i, x in enumerate(sorted({box.x for box in boxes}))}
    reads = []
    for arrow in d.arrows:
        tail, head = arrow.points[0], arrow.points[-1]
        if head.of == "self_attention":
            read, by = (min(boxes, key=lambda box: abs(box.x - end.x)) for end in (tail, head))
            assert tail.of == "norm_1"
            reads.append((column[read.x], column[by.x]))
        else:
            assert abs(tail.x - head.x) < 1.1
    assert sorted(reads) == [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("tokens", "follower"), [(("7", "C", "4", "9", "7"), "C"), (("a", "b", "c", "d", "b"), "c"), (("x", "y", "x"), "y")]
)
def test_induction_head_predicts_token_after_earlier_match(tokens, follower):
    d = induction(tokens)
    assert [box.name for box in d.boxes if box.look == "highlighted"] == [follower]
    [strong] = [arrow for arrow in d.arrows if arrow.thick and arrow.head]
    assert f"after {tokens[-1]}?" in [label.words for label in d.labels]
    assert (strong.points[0].of, strong.points[-1].of) == (tokens[-1], follower)


def test_fine_tuning_losses_count_only_answers():
    d = losses(["so", "this", "one", "."], ["what", "?"], ["this", "one", "."], ["that", "."])
    rows = [[box for box in d.boxes if box.y == y] for y in sorted({box.y for box in d.boxes}, reverse=True)]
    counted = [[box.name for box in row if box.look != "dimmed"] for row in rows]
    assert counted == [["this", "one", "."], ["this", "one", "."], ["this", "one", "."], ["that", "."]]
