"""Tests for recording a call's raw results, constants without gradients, and samples."""

import torch
from torch.testing import assert_close

from transformer_course.running.case import Case
from transformer_course.running.observe import observation_of, observe
from transformer_course.running.record import record, seeded

X = torch.arange(6.0).view(2, 3)


def writes(x: torch.Tensor) -> torch.Tensor:
    x += 1
    return x * 2


def test_records_arguments_after_the_call():
    observed = record(writes, Case({"x": X}))
    assert_close(observed["left"]["x"], X + 1)
    assert_close(observed["output"], 2 * (X + 1))
    assert "changed" not in observed  # this key is derived later, outside the sandbox
    assert observation_of(observed, Case({"x": X}))["changed"] == ["x"]


def test_constants_have_no_gradients():
    """An answer may or may not detach a constant; both answers are correct."""
    inputs = {"x": X + 2, "constant": X + 1}

    def detaches(x: torch.Tensor, constant: torch.Tensor) -> torch.Tensor:
        return x * constant.detach()

    for attempt in (torch.mul, detaches):
        observed = observe(attempt, Case(inputs, constants=("constant",)))
        assert set(observed["gradients"]) == {"x"}
        assert_close(observed["gradients"], observe(torch.mul, Case(inputs, constants=("constant",)))["gradients"])
    assert observe(torch.mul, Case(inputs))["gradients"]["constant"].any()
    assert observe(detaches, Case(inputs))["gradients"]["constant"] is None


def test_records_samples():
    def draws(logits: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        return torch.multinomial(logits.softmax(-1), 1, generator=generator).squeeze(-1)

    case = Case({"logits": torch.zeros(2, 5)}, kind="sampler", n_samples=400)
    observed = record(draws, case)
    rows = torch.zeros(800, 5).softmax(-1)
    assert_close(observed["samples"], torch.multinomial(rows, 1, generator=seeded(0)).squeeze(-1))
    assert not torch.equal(observed["samples"], observed["samples_of_another_seed"])
    assert observe(draws, case)["varies_with_seed"]


def test_detects_tokens_in_fixed_proportion():
    """The frequencies are exact, and the seed determines only the order. Random draws would never be this similar."""

    def deals(logits: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        rows = [torch.arange(400)[torch.randperm(400, generator=generator)] % 5 for _ in range(2)]
        return torch.cat(rows)

    observed = observe(deals, Case({"logits": torch.zeros(2, 5)}, kind="sampler", n_samples=400))
    assert observed["repeatable"] and not observed["varies_with_seed"]
