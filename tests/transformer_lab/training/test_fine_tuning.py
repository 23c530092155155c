"""Test the fine-tuning losses against loops and formulas."""

import math

import pytest
import torch
from torch.autograd import grad
from torch.testing import assert_close

from transformer_lab.training.fine_tuning import dpo_loss, sequence_log_probability

IS_ANSWER = torch.tensor(
    [[0, 0, 1, 1, 1], [0, 0, 0, 1, 0], [1, 1, 1, 0, 0]], dtype=torch.bool
)  # some rows end with padding


def draw() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(3, 5, 7, dtype=torch.float64, requires_grad=True), torch.randint(7, (3, 5))


def log_probabilities(logits, tokens):
    """Return the log-probability of each answer, computed one token at a time."""
    return [
        [math.log(logits[row, t - 1].softmax(dim=-1)[tokens[row, t]].item()) for t in range(1, 5) if IS_ANSWER[row, t]]
        for row in range(3)
    ]


def test_log_probability_sums_over_answer_tokens():
    logits, tokens = draw()
    expected = torch.tensor([sum(row) for row in log_probabilities(logits, tokens)])
    assert_close(sequence_log_probability(logits, tokens, IS_ANSWER), expected, rtol=1e-5, atol=1e-5)


def test_only_positions_before_answer_tokens_receive_gradients():
    logits, tokens = draw()
    total = sequence_log_probability(logits, tokens, IS_ANSWER).sum()
    reached = grad(total, logits)[0].abs().sum(dim=-1) > 0
    assert torch.equal(reached[:, :-1], IS_ANSWER[:, 1:])
    assert not reached[:, -1].any()


@pytest.mark.parametrize("beta", [0.1, 2.0])
def test_dpo_loss_matches_its_formula(beta):
    torch.manual_seed(0)
    pairs = torch.randn(4, 5, dtype=torch.float64)
    expected = 0.0
    for chosen, rejected, reference_chosen, reference_rejected in pairs.T.tolist():
        margin = beta * ((chosen - reference_chosen) - (rejected - reference_rejected))
        expected -= math.log(1 / (1 + math.exp(-margin))) / 5
    assert_close(dpo_loss(*pairs, beta=beta).item(), expected)


def test_dpo_gradient_raises_chosen_and_lowers_rejected():
    chosen, rejected = torch.zeros(3, requires_grad=True), torch.zeros(3, requires_grad=True)
    loss = dpo_loss(chosen, rejected, torch.zeros(3), torch.zeros(3), beta=0.5)
    assert_close(loss.item(), math.log(2))
    up, down = grad(loss, [chosen, rejected])
    assert_close(up, torch.full((3,), -0.5 / 2 / 3))
    assert_close(down, -up)


def test_dpo_loss_is_finite_when_the_sigmoid_underflows():
    loss = dpo_loss(torch.tensor([-1000.0]), torch.tensor([0.0]), torch.zeros(1), torch.zeros(1), beta=1.0)
    assert_close(loss, torch.tensor(1000.0))
