"""Tests that every block of the Transformer in the browser matches the stored model."""

from base64 import b64decode

import numpy as np
import pytest

from tests.transformer_course.views.javascript import call_each, needs_node
from tests.transformer_course.views.letter_model import LETTERS, new_model, read, stored
from transformer_course.views.browser_model import round_parameters
from transformer_course.views.model_run import record_run


def numbers(block):
    levels = np.frombuffer(b64decode(block["numbers"]), np.int8).astype(float)
    return levels / 127 * block["largest"]


@needs_node
def test_browser_matches_the_model_in_every_block():
    model = new_model()
    round_parameters(model)
    texts = ["cab!", "h", "deadbeef"]
    for text, run in zip(
        texts, call_each("translator", "runOf", [[stored(model), text] for text in texts]), strict=True
    ):
        expected = record_run(model, read(model, text), LETTERS.__getitem__)
        assert run["sequences"] == expected["sequences"]
        assert [block["name"] for block in run["blocks"]] == [block["name"] for block in expected["blocks"]]
        for block, other in zip(run["blocks"], expected["blocks"], strict=True):
            assert block.keys() == other.keys()
            assert {key: block[key] for key in ("class", "sequence", "width")} == {
                key: other[key] for key in ("class", "sequence", "width")
            }
            np.testing.assert_allclose(numbers(block), numbers(other), atol=block["largest"] / 60)
            if "adds" in block:
                assert block["adds"] == pytest.approx(other["adds"], abs=2e-3)
            if "weights" in block:
                weights, others = (np.frombuffer(b64decode(each["weights"]), np.uint8) for each in (block, other))
                assert np.abs(weights.astype(int) - others).max() <= 1
                assert (block["heads"], block["keys"]) == (other["heads"], other["keys"])
        for row, others in zip(run["next"], expected["next"], strict=True):
            assert [name for name, _ in row] == [name for name, _ in others]
            assert [p for _, p in row] == pytest.approx([p for _, p in others], abs=2e-4)


def test_rounding_error_is_at_most_half_a_step():
    model, before = new_model(), new_model()
    round_parameters(model)
    for parameter, original in zip(model.parameters(), before.parameters(), strict=True):
        step = original.reshape(-1, original.shape[-1]).abs().amax(dim=1, keepdim=True) / 127
        error = (parameter - original).reshape(-1, original.shape[-1]).abs()
        assert (error <= step / 2 + 1e-7).all()


@pytest.mark.parametrize("other", [{"pre_norm": False}, {"feed_forward": "gelu"}, {"learned_positions": True}])
def test_rejects_models_that_the_browser_cannot_run(other):
    with pytest.raises(ValueError, match="the model must be a pre-norm Transformer"):
        stored(new_model(**other))
