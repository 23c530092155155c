"""Tests that calls are detected under any name, and that handwritten code does not count as a call."""

import pytest

from tests.transformer_course.sandbox.sample_submissions import grade_answer, linux
from transformer_course.exercises import every_exercise
from transformer_course.sandbox.sandbox import Sandbox

SOFTMAX = {
    "torch's": ("def softmax(s): return torch.softmax(s, -1)", "torch.softmax"),
    "a method": ("def softmax(s): return s.softmax(-1)", "torch.softmax"),
    "importlib": (
        "import importlib\nt = importlib.import_module('torch')\nsoftmax = lambda s: getattr(t, 'soft' + 'max')(s, -1)",
        "torch.softmax",
    ),
    "partial": ("import functools\nsoftmax = functools.partial(torch.softmax, dim=-1)", "torch.softmax"),
    "map": ("def softmax(s): return list(map(torch.nn.Softmax(-1), [s]))[0]", "torch.softmax"),
    "special": ("def softmax(s): return torch.special.softmax(s, -1)", "torch.softmax"),
    "another part": ("def softmax(s): return parts.attention_weights(s, torch.eye(s.shape[-1]))", "softmax"),
    "in an if": ("if True:\n    def softmax(s): return F.softmax(s, -1)", "torch.softmax"),
}


@linux
@pytest.mark.parametrize("variant", SOFTMAX)
def test_detects_every_call_variant(sandbox: Sandbox, variant: str):
    source, called = SOFTMAX[variant]
    graded = grade_answer(sandbox, source)
    assert graded.verdict.passed, graded.verdict.message
    assert any("calls" in remark and called in remark for remark in graded.remarks), graded.remarks


@linux
def test_detects_library_function_under_any_name(sandbox: Sandbox):
    source = "from transformer_lab.layers import norms\nlayer_norm = getattr(norms, 'layer_' + 'norm')"
    graded = grade_answer(sandbox, source, "layer_norm")
    assert graded.points and "`transformer_lab.layers.norms.layer_norm`" in graded.remarks[0]


@linux
@pytest.mark.parametrize("name", ["softmax", "attention", "layer_norm", "EncoderLayer", "sample_next"])
def test_solution_does_not_call_existing_implementation(sandbox: Sandbox, name: str):
    graded = grade_answer(sandbox, every_exercise()[name].solution, name)
    assert graded.verdict.passed and not [remark for remark in graded.remarks if "calls" in remark]


@linux
def test_ignores_comments_strings_and_own_methods(sandbox: Sandbox):
    source = """
class Mine:
    def softmax(self, s):  # not torch.softmax
        return (s - s.amax(-1, keepdim=True)).exp()
def softmax(s):
    'torch.softmax(s)'
    e = Mine().softmax(s)
    return e / e.sum(-1, keepdim=True)
"""
    assert grade_answer(sandbox, source).remarks == []
