"""Tests that the arrows in the drawings match the connections in the models."""

import itertools

from authoring.page_to_keep.drawings import inside_attention, modern_block, transformer


def test_encoder_and_decoder_arrows_match_model():
    d = transformer()
    links = d.links()
    assert {("labels", "target"), ("source", "embedding"), ("target", "embedding"), ("positions", "+")} <= links
    assert ("memory", "cross_attention\npadding_mask") in links
    assert ("embedding.weight.T", "logits") in links
    assert [box.name for box in d.boxes if "attention" in box.name or box.name == "feed_forward"] == [
        "self_attention\npadding_mask",
        "feed_forward",
        "self_attention\ndecoder_mask",
        "cross_attention\npadding_mask",
        "feed_forward",
    ]
    assert d.flaws() == []


def test_attention_arrows_connect_consecutive_steps():
    d = inside_attention()
    names = [box.name for box in d.boxes]
    assert [(a.points[0].of, a.points[-1].of) for a in d.arrows] == list(itertools.pairwise(names))
    assert (names[0], names[-1]) == ("w_q, w_k, w_v", "w_o")
    assert d.flaws() == []


def test_modern_norms_come_before_sublayers():
    d = modern_block()
    assert {("RMSNorm", "w_q, w_k, w_v"), ("RMSNorm", "w_gate, w_up"), ("w_o", "+"), ("w_down", "+")} <= d.links()
    assert d.flaws() == []
