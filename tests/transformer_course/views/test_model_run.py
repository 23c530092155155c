"""Tests for recording a model's run on a single text."""

import dataclasses
from base64 import b64decode

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers.small_models import CONFIGS, build, inputs
from transformer_course.views.model_run import record_run
from transformer_lab.inspection.hooks import record_attention


@pytest.fixture
def model():
    return build(CONFIGS["two vocabularies, pre-norm"]).eval()


NAMES = [lambda i: f"s{i}", lambda i: f"t{i}"]


def outputs(model, given):
    found = {}
    for name, part in model.named_modules():
        part.register_forward_hook(lambda _part, _given, output, name=name: found.__setitem__(name, output))
    with torch.no_grad(), record_attention(model) as weights:
        logits = model(*given)
    return found, weights, logits


def test_records_outputs_of_blocks_and_attention_weights(model):
    given = inputs(model, batch=1, n=5)
    run = record_run(model, given, NAMES)
    found, weights, logits = outputs(model, given)
    names = [block["name"] for block in run["blocks"]]
    assert len(names) == len(set(names))
    assert set(weights) <= set(names)
    assert not any("w_q" in name or "dropout" in name for name in names), "the run must not list modules inside a block"
    for block in run["blocks"]:
        expected = found[block["name"]][0]
        levels = np.frombuffer(b64decode(block["numbers"]), np.int8).reshape(expected.shape)
        assert block["width"] == expected.shape[1]
        np.testing.assert_allclose(levels / 127 * block["largest"], expected, atol=block["largest"] / 200)
        if block["name"] in weights:
            sent = np.frombuffer(b64decode(block["weights"]), np.uint8) / 255
            np.testing.assert_allclose(sent, weights[block["name"]][0].flatten(), atol=0.01)
            n_key = len(run["sequences"][block["keys"]])
            assert n_key == weights[block["name"]].shape[-1]
    probabilities = logits[0].softmax(dim=-1)
    for row, following in zip(probabilities, run["next"], strict=True):
        assert [p for _, p in following] == pytest.approx(row.sort(descending=True).values[:5].tolist(), abs=1e-4)
        assert following[0][0] == f"t{int(row.argmax())}"


@pytest.mark.parametrize("pre_norm", [True, False])
def test_measures_additions_relative_to_the_stream(model, pre_norm):
    if not pre_norm:
        model = build(dataclasses.replace(CONFIGS["two vocabularies, pre-norm"], pre_norm=False)).eval()
    given = inputs(model, batch=1, n=5)
    run = record_run(model, given, NAMES)
    layer = model.encoder.layers[1]
    streams = []
    layer.register_forward_pre_hook(lambda _part, given: streams.append(given[0]))
    found, _, _ = outputs(model, given)
    [entered], attended = streams, found["encoder.layers.1.self_attention"]
    before = entered + attended if pre_norm else layer.norm_1(entered + attended)
    for name, stream in (("self_attention", entered), ("feed_forward", before)):
        [block] = [block for block in run["blocks"] if block["name"] == f"encoder.layers.1.{name}"]
        lengths = found[block["name"]][0].norm(dim=-1) / stream[0].norm(dim=-1)
        assert block["adds"] == pytest.approx(lengths.tolist(), abs=1e-3), name
    assert {block["name"].rpartition(".")[2] for block in run["blocks"] if "adds" in block} == {
        "self_attention",
        "cross_attention",
        "feed_forward",
    }


def test_language_model_has_one_sequence_and_removes_hooks():
    model = build(CONFIGS["GPT, rotary"]).eval()
    run = record_run(model, inputs(model, batch=1, n=5), [str])
    assert len(run["sequences"]) == 1
    assert {block["sequence"] for block in run["blocks"]} == {0}
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())


def test_rejects_batches_and_models_without_sequences(model):
    with pytest.raises(ValueError, match=r"got \[\(2, \d+\), \(2, \d+\)\] and 2 names"):
        record_run(model, inputs(model, batch=2, n=5), NAMES)
    with pytest.raises(ValueError, match=r"got \[\] and 0 names"):
        record_run(nn.Identity(), [torch.zeros(1, 3)], str)
