"""Two processes that compute a layer together do so with the learner's own parts, and get what one device would."""

import sys

import pytest
import torch
from torch.nn import functional as F

from transformer_course.lesson.tensor_parallel import feed_forward_shard
from transformer_lab.training.data_parallel import run_processes

DOUBLED = """# %% row_parallel
def row_parallel(x_shards, matrix, bias):
    return 2 * sum(x @ rows for x, rows in zip(x_shards, matrix.chunk(len(x_shards)))) + bias
"""
"""A part that no library has, so that its output shows who computed it."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="gloo on Windows wants a device of its own")
def test_two_processes_with_half_of_a_layer_each_have_the_output_of_the_whole(tmp_path, monkeypatch):
    (tmp_path / "lesson_13_scale.py").write_text(DOUBLED, encoding="utf-8")
    monkeypatch.setenv("TRANSFORMER_LAB_PARTS", str(tmp_path))
    x, w_1, w_2, bias = torch.randn(3, 5), torch.randn(5, 14), torch.randn(14, 5), torch.randn(5)
    halves = [(w_1[:, :7], w_2[:7]), (w_1[:, 7:], w_2[7:])]
    expected = F.linear(F.linear(x, w_1.T).clamp(min=0), 2 * w_2.T, bias)
    for output in run_processes(feed_forward_shard, x, halves, bias):
        torch.testing.assert_close(output, expected, atol=1e-4, rtol=1e-4)
