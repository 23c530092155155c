"""Tests that the loss, training and answers of healthy patients agree with simple implementations."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_course.clinic.patient import (
    DecoderOnly,
    DropoutDecoderOnly,
    EncoderDecoder,
    RotaryDecoderOnly,
    replace_modules,
)  # fmt: skip
from transformer_course.clinic.task import BOS_ID, EOS_ID, MAX_LETTERS, PAD_ID, decode, draw_pairs, encode

KINDS = [DecoderOnly, RotaryDecoderOnly, DropoutDecoderOnly, EncoderDecoder]


def short(kind, n_steps=5, **settings):
    return type(kind.__name__, (kind,), {"n_steps": n_steps, **settings})


def plain_loss(patient, pairs):
    """Average the cross-entropy over all tokens of all answers, one text at a time."""
    losses = []
    for question, answer in pairs:
        read, target = encode(question), [*encode(answer), EOS_ID]
        if isinstance(patient, EncoderDecoder):
            logits = patient.model(torch.tensor([read]), torch.tensor([[BOS_ID, *target[:-1]]]))[0]
        else:
            logits = patient.model(torch.tensor([[*read, BOS_ID, *target[:-1]]]))[0, len(read) :]
        losses += [-logits[i].log_softmax(dim=-1)[token] for i, token in enumerate(target)]
    return torch.stack(losses).mean()


@pytest.mark.parametrize("kind", [DecoderOnly, RotaryDecoderOnly, EncoderDecoder])
def test_micro_batch_gradient_matches_mean_over_all_tokens(kind):
    patient = kind(seed=1, trained=False)
    pairs = [*draw_pairs(3, "a", 3), *draw_pairs(2, "b", 5), *draw_pairs(5, "c")]
    expected = plain_loss(patient, pairs)
    gradients = torch.autograd.grad(expected, [*patient.model.parameters()])
    loss = patient.backward([patient.batch(pairs[:3]), patient.batch(pairs[3:5]), patient.batch(pairs[5:])])
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    for parameter, gradient in zip(patient.model.parameters(), gradients, strict=True):
        assert_close(parameter.grad, gradient, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", [DecoderOnly, RotaryDecoderOnly, EncoderDecoder])
def test_batched_answers_match_loop_without_cache(kind):
    patient = short(kind, n_steps=25)(seed=2)
    questions = [question for question, _ in draw_pairs(7, "answers")]
    expected = []
    for question in questions:
        answer: list[int] = []
        for _ in range(MAX_LETTERS + 2):
            if kind is EncoderDecoder:
                logits = patient.model(torch.tensor([encode(question)]), torch.tensor([[BOS_ID, *answer]]))
            else:
                logits = patient.model(torch.tensor([[*encode(question), BOS_ID, *answer]]))
            answer.append(int(logits[0, -1].argmax()))
        expected.append(decode(answer))
    assert patient.answer(questions) == expected
    assert len(set(expected)) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_training_depends_only_on_its_seed(kind):
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first = short(kind)(seed=1)
    assert torch.rand(1).equal(expected)
    again, other = short(kind)(seed=1), short(kind)(seed=2)
    assert first.losses == again.losses != other.losses
    for a, b in zip(first.model.parameters(), again.model.parameters(), strict=True):
        assert a.equal(b)


def test_healthy_patient_learns():
    patient = DecoderOnly().twin()
    pairs = draw_pairs(50, "held out")
    right = [mine == answer for mine, (_, answer) in zip(patient.answer([q for q, _ in pairs]), pairs, strict=True)]
    assert sum(right) > 40


def test_replaced_modules_keep_their_parameters():
    class Linear(nn.Linear):
        def forward(self, x):
            return F.relu(super().forward(x))

    model = nn.Sequential(nn.Linear(3, 5), nn.LayerNorm(5), nn.Linear(5, 2))
    before, x = [*model.parameters()], torch.randn(7, 3)
    expected = F.relu(model[2](model[1](F.relu(model[0](x)))))
    replace_modules(model, Linear)
    assert [type(module) for module in model] == [Linear, nn.LayerNorm, Linear]
    assert all(a is b for a, b in zip(model.parameters(), before, strict=True))
    assert_close(model(x), expected)


def test_ignores_padding_and_question_targets():
    batch = DecoderOnly(trained=False).batch([("abcde", "edcba"), ("fgh", "hgf")])
    assert batch.inputs[1].tolist() == [*encode("fgh"), BOS_ID, *encode("hgf"), *[PAD_ID] * 4]
    assert batch.targets[1].tolist() == [*[PAD_ID] * 3, *encode("hgf"), EOS_ID, *[PAD_ID] * 4]
